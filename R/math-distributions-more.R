# Arguments have the names they have in base R.
# nolint start: object_name_linter.

#' The log-normal, Weibull, logistic, Cauchy, chi-squared and F distributions
#'
#' Densities, distribution functions and quantiles, elementwise, as R's functions of the same names.
#' Non-central distributions are not supported.
#'
#' Computed in `f64` and rounded once to the dtype of the result, from the functions of the normal,
#' exponential, gamma and beta distributions, whose accuracy they have; see [nv_dexp()] and
#' [nv_dbeta()]. Logarithms stay accurate where the functions themselves underflow. For invalid
#' parameters, and for infinite degrees of freedom of the F distribution, the result is NaN, without
#' a warning.
#'
#' @inheritParams nv_dnorm
#' @param meanlog,sdlog,shape,scale,location,df,df1,df2 The parameters, which broadcast with the
#'   first argument.
#' @inherit nv_dexp return
#' @section Derivatives: With respect to all arguments. Those of distribution functions and
#'   quantiles with respect to degrees of freedom cannot be differentiated again, which is a
#'   `joist_value_error`.
#' @inheritSection nv_dexp Errors
#' @examples
#' nv_plnorm(nv_tensor(c(0.5, 1, 2), "f64"))
#' nv_dlnorm(nv_qlnorm(nv_tensor(0.5, "f64")))
#' nv_dweibull(nv_tensor(1, "f64"), shape = 2)
#' nv_pweibull(nv_tensor(1, "f64"), shape = 2)
#' nv_qweibull(nv_tensor(c(0.1, 0.9), "f64"), shape = 2, scale = 3)
#' nv_dlogis(nv_tensor(c(-1, 0, 1), "f64"))
#' nv_plogis(nv_qlogis(nv_tensor(0.9, "f64")))
#' nv_dcauchy(nv_qcauchy(nv_tensor(0.9, "f64")))
#' nv_pcauchy(nv_tensor(-1e10, "f64"))
#' nv_qchisq(nv_tensor(0.95, "f64"), df = 1:3)
#' nv_dchisq(nv_tensor(2, "f64"), df = 1:3)
#' nv_pchisq(nv_tensor(2, "f64"), df = 1:3)
#' nv_df(nv_qf(nv_tensor(0.5, "f64"), 2, 10), 2, 10)
#' nv_pf(nv_tensor(c(1, 4), "f64"), 2, 10, lower.tail = FALSE)
#' @export
nv_dlnorm <- function(x, meanlog = 0, sdlog = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dlnorm", list(x, meanlog, sdlog), function(x, mean, sd) {
    t <- nv_log(nv_ifelse(x > 0, x, 1))
    density <- nv_dnorm(t, mean, sd, log = TRUE) - nv_ifelse(sd == 0, 0, t)
    valid <- nv_ifelse(sd < 0, NaN, if (log) -Inf else 0)
    nv_ifelse(x > 0, density_of(density, log), valid)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_plnorm <- function(q, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_plnorm", list(q, meanlog, sdlog), function(q, mean, sd) {
    share <- nv_pnorm(nv_log(nv_ifelse(q > 0, q, 1)), mean, sd, lower.tail, log.p)
    nv_ifelse(q > 0, share, nv_ifelse(sd < 0, NaN, whole_share(!lower.tail, log.p)))
  })
}

#' @rdname nv_dlnorm
#' @export
nv_qlnorm <- function(p, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  on.exit(distributions$depth <- 2)
  name <- name_by_depth("nv_qlnorm", p, log.p)
  in_f64(name, list(p, meanlog, sdlog), function(p, mean, sd) {
    nv_exp(nv_qnorm(p, mean, sd, lower.tail, log.p))
  })
}

#' @rdname nv_dlnorm
#' @export
nv_dweibull <- function(x, shape, scale = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dweibull", list(x, shape, scale), function(x, shape, scale) {
    inside <- x > 0 & x < Inf
    t <- nv_log(nv_ifelse(inside, x, 1) / scale)
    value <- nv_log(shape / scale) + (shape - 1) * t - nv_exp(shape * t)
    edge <- nv_ifelse(shape < 1, Inf, nv_ifelse(shape == 1, -nv_log(scale), -Inf))
    value <- nv_ifelse(inside, value, nv_ifelse(x == 0, edge, -Inf))
    density_of(nv_ifelse(shape > 0 & scale > 0, value, NaN), log)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_pweibull <- function(q, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pweibull", list(q, shape, scale), function(q, shape, scale) {
    inside <- q > 0
    power <- nv_pow(nv_ifelse(inside, q, 1) / scale, shape)
    share <- nv_pexp(nv_ifelse(inside, power, 0), 1, lower.tail, log.p)
    nv_ifelse(shape > 0 & scale > 0, share, NaN)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_qweibull <- function(p, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qweibull", list(p, shape, scale), function(p, shape, scale) {
    value <- scale * nv_pow(nv_qexp(p, 1, lower.tail, log.p), 1 / shape)
    nv_ifelse(shape > 0 & scale > 0, value, NaN)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_dlogis <- function(x, location = 0, scale = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dlogis", list(x, location, scale), function(x, location, scale) {
    z <- nv_abs((x - location) / scale)
    value <- -(z + nv_log(scale) + 2 * nv_log1p(nv_exp(-z)))
    density_of(nv_ifelse(scale > 0, value, NaN), log)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_plogis <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_plogis", list(q, location, scale), function(q, location, scale) {
    z <- (q - location) / scale
    if (!lower.tail) z <- -z
    value <- nv_min(z, 0) - nv_log1p(nv_exp(-nv_abs(z)))
    nv_ifelse(scale > 0, density_of(value, log.p), NaN)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_qlogis <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qlogis", list(p, location, scale), function(p, location, scale) {
    z <- if (log.p) {
      p - log_rest(p)
    } else {
      # Near 0.5 the logarithms of both shares are nearly equal.
      near <- p > 0.25 & p < 0.75
      far <- nv_ifelse(near, 0.25, p)
      nv_ifelse(near, 2 * nv_atanh(2 * nv_ifelse(near, p, 0.5) - 1), nv_log(far) - nv_log1p(-far))
    }
    value <- location + scale * (if (lower.tail) z else -z)
    nv_ifelse(scale < 0, NaN, nv_ifelse(scale == 0, location, value))
  })
}

#' @rdname nv_dlnorm
#' @export
nv_dcauchy <- function(x, location = 0, scale = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dcauchy", list(x, location, scale), function(x, location, scale) {
    z <- nv_abs((x - location) / scale)
    far <- z > 1e8
    near <- nv_ifelse(far, 1, z)
    square <- nv_ifelse(far, 2 * nv_log(nv_ifelse(far, z, 1)), nv_log1p(near * near))
    value <- -(base::log(pi) + nv_log(scale) + square)
    density_of(nv_ifelse(scale > 0, value, NaN), log)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_pcauchy <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pcauchy", list(q, location, scale), function(q, location, scale) {
    z <- (q - location) / scale
    if (!lower.tail) z <- -z
    far <- nv_abs(z) > 1
    # Of the smaller tail.
    tail <- nv_atan(1 / nv_ifelse(far, nv_abs(z), 1)) / pi
    tail <- nv_ifelse(far, tail, 0.5 - nv_atan(nv_ifelse(far, 0, nv_abs(z))) / pi)
    value <- if (log.p) {
      nv_ifelse(z > 0, nv_log1p(-tail), nv_log(tail))
    } else {
      nv_ifelse(z > 0, 1 - tail, tail)
    }
    nv_ifelse(scale > 0, value, NaN)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_qcauchy <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qcauchy", list(p, location, scale), function(p, location, scale) {
    upper <- if (log.p) p > -base::log(2) else p > 0.5
    tail <- if (log.p) {
      nv_ifelse(upper, -nv_expm1(nv_ifelse(upper, p, 0)), nv_exp(p))
    } else {
      nv_ifelse(upper, 1 - p, p)
    }
    size <- nv_ifelse(tail == 0.5, 0, 1 / nv_tanpi(nv_ifelse(tail == 0.5, 0.25, tail)))
    size <- nv_ifelse(tail == 0, Inf, size)
    z <- nv_ifelse(upper, size, -size)
    known <- scale >= 0 & (if (log.p) p <= 0 else p >= 0 & p <= 1)
    value <- nv_ifelse(scale == 0, location, location + scale * (if (lower.tail) z else -z))
    nv_ifelse(known, value, NaN)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_dchisq <- function(x, df, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dchisq", list(x, df), function(x, df) nv_dgamma(x, df / 2, 0.5, log))
}

#' @rdname nv_dlnorm
#' @export
nv_pchisq <- function(q, df, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pchisq", list(q, df), function(q, df) nv_pgamma(q, df / 2, 0.5, lower.tail, log.p))
}

#' @rdname nv_dlnorm
#' @export
nv_qchisq <- function(p, df, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qchisq", list(p, df), function(p, df) nv_qgamma(p, df / 2, 0.5, lower.tail, log.p))
}

# What the beta distribution is asked of F: shapes and the share r / (1 + r), or those of the other
# end, where the share has more digits.
of_ratio <- function(ratio, df1, df2) {
  turned <- ratio > 1
  small <- nv_ifelse(turned, 1 / nv_ifelse(turned, ratio, 1), ratio)
  list(
    a = nv_ifelse(turned, df2, df1) / 2, b = nv_ifelse(turned, df1, df2) / 2,
    share = small / (1 + small), turned = turned
  )
}

known_degrees <- function(df1, df2) df1 > 0 & df2 > 0 & df1 < Inf & df2 < Inf

#' @rdname nv_dlnorm
#' @export
nv_df <- function(x, df1, df2, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_df", list(x, df1, df2), function(x, df1, df2) {
    inside <- x > 0 & x < Inf
    quotient <- df1 / df2
    ratio <- quotient * nv_ifelse(inside, x, 1)
    at <- of_ratio(ratio, df1, df2)
    value <- beta_log_density(at$a, at$b, at$share) + nv_log(quotient) - 2 * nv_log1p(ratio)
    edge <- nv_ifelse(df1 < 2, Inf, nv_ifelse(df1 == 2, 0, -Inf))
    value <- nv_ifelse(inside, value, nv_ifelse(x == 0, edge, -Inf))
    density_of(nv_ifelse(known_degrees(df1, df2), value, NaN), log)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_pf <- function(q, df1, df2, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pf", list(q, df1, df2), function(q, df1, df2) {
    at <- of_ratio(df1 / df2 * nv_max(q, 0), df1, df2)
    # One of them is asked of 1/2, for all elements at once.
    own <- beta_share(at$a, at$b, nv_ifelse(at$turned, 0.5, at$share), lower.tail, log.p)
    other <- beta_share(at$a, at$b, nv_ifelse(at$turned, at$share, 0.5), !lower.tail, log.p)
    nv_ifelse(known_degrees(df1, df2), nv_ifelse(at$turned, other, own), NaN)
  })
}

#' @rdname nv_dlnorm
#' @export
nv_qf <- function(p, df1, df2, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qf", list(p, df1, df2), function(p, df1, df2) {
    share <- log_share(p, log.p)
    ends <- beta_quantiles(df1 / 2, df2 / 2, share, lower.tail)
    ratio <- ends[[1L]] / ends[[2L]]
    # Far out, where the share of the beta distribution would not be a double.
    tail <- if (lower.tail) log_rest(share) else share
    logarithm <- -(tail + nv_log(df2 / 2) + log_beta(df1 / 2, df2 / 2)) / (df2 / 2)
    value <- df2 / df1 * ratio
    value <- nv_ifelse(logarithm > 690, nv_exp(logarithm + nv_log(df2 / df1)), value)
    nv_ifelse(known_degrees(df1, df2), value, NaN)
  })
}

#' The geometric, negative binomial and hypergeometric distributions
#'
#' Probabilities, distribution functions and quantiles, elementwise, as R's functions of the same
#' names; the negative binomial distribution with `size` and `prob`.
#'
#' Computed in `f64` and rounded once to the dtype of the result. Probabilities and distribution
#' functions have the accuracy of [nv_dbinom()] and [nv_pbinom()], those of the hypergeometric
#' distribution a relative error of at most 1e-11 for populations up to 1e6. A quantile is the least
#' count whose distribution function is not less than the probability, up to rounding; it is found
#' by bisection. Counts that are not whole have probability 0. For invalid parameters the result is
#' NaN, without a warning.
#'
#' @inheritParams nv_dnorm
#' @param prob,size,m,n,k The parameters, which broadcast with the first argument: of the
#'   hypergeometric distribution the white balls, the black ones, and those that are drawn, at most
#'   2^53 of each.
#' @inherit nv_dexp return
#' @section Derivatives: With respect to `prob`, and of the negative binomial distribution to
#'   `size`; for counts and quantiles they are zero.
#' @inheritSection nv_dexp Errors
#' @examples
#' nv_dgeom(nv_tensor(0:3), 0.5)
#' nv_pgeom(nv_qgeom(nv_tensor(0.9), 0.5), 0.5)
#' nv_pnbinom(nv_tensor(0:3), size = 2, prob = 0.5)
#' nv_dnbinom(nv_qnbinom(nv_tensor(0.9), size = 2, prob = 0.5), size = 2, prob = 0.5)
#' nv_dhyper(nv_tensor(0:5), m = 10, n = 20, k = 5)
#' nv_phyper(nv_tensor(0:5), m = 10, n = 20, k = 5)
#' nv_qhyper(nv_tensor(c(0.1, 0.9)), m = 10, n = 20, k = 5)
#' @export
nv_dgeom <- function(x, prob, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dgeom", list(x, prob), function(x, prob) {
    count <- nearest_count(x)
    inside <- is_count(x, count)
    value <- log_binomial(scalar_like(0, prob), nv_ifelse(inside, count, 0), prob) + nv_log(prob)
    density_of(nv_ifelse(prob > 0 & prob <= 1, nv_ifelse(inside, value, -Inf), NaN), log)
  })
}

#' @rdname nv_dgeom
#' @export
nv_pgeom <- function(q, prob, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pgeom", list(q, prob), function(q, prob) {
    count <- nv_stop_gradient(nv_floor(q + 1e-7))
    tried <- nv_ifelse(count >= 0, count + 1, 0)
    all <- prob == 1
    rate <- -nv_log1p(-nv_ifelse(all, 0.5, prob))
    tried <- nv_ifelse(all & tried > 0, Inf, tried)
    nv_ifelse(prob > 0 & prob <= 1, nv_pexp(tried, rate, lower.tail, log.p), NaN)
  })
}

#' @rdname nv_dgeom
#' @export
nv_qgeom <- function(p, prob, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qgeom", list(p, prob), function(p, prob) {
    all <- prob == 1
    wait <- nv_qexp(p, 1, lower.tail, log.p) / -nv_log1p(-nv_ifelse(all, 0.5, prob))
    count <- nv_max(nv_ceiling(wait - 1 - 1e-12), 0)
    known <- nv_ifelse(nv_is_nan(wait), NaN, nv_ifelse(all, 0, count))
    nv_stop_gradient(nv_ifelse(prob > 0 & prob <= 1, known, NaN))
  })
}

#' @rdname nv_dgeom
#' @export
nv_dnbinom <- function(x, size, prob, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dnbinom", list(x, size, prob), function(x, size, prob) {
    count <- nearest_count(x)
    inside <- is_count(x, count)
    k <- nv_ifelse(inside, count, 0)
    none <- size == 0
    n <- nv_ifelse(none, 1, size)
    value <- log_binomial(n, k, prob) - nv_log1p(k / n)
    value <- nv_ifelse(none, nv_ifelse(k == 0, 0, -Inf), value)
    known <- prob > 0 & prob <= 1 & size >= 0
    density_of(nv_ifelse(known, nv_ifelse(inside, value, -Inf), NaN), log)
  })
}

negative_binomial_share <- function(count, size, prob, lower, log) {
  inside <- count >= 0 & size > 0
  tail <- nv_ifelse(inside, count + 1, 1)
  share <- beta_share(nv_ifelse(size > 0, size, 1), tail, prob, lower, log)
  nv_ifelse(inside, share, nv_ifelse(count < 0, whole_share(!lower, log), whole_share(lower, log)))
}

#' @rdname nv_dgeom
#' @export
nv_pnbinom <- function(q, size, prob, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pnbinom", list(q, size, prob), function(q, size, prob) {
    count <- nv_stop_gradient(nv_floor(q + 1e-7))
    value <- negative_binomial_share(count, size, prob, lower.tail, log.p)
    nv_ifelse(prob > 0 & prob <= 1 & size >= 0, value, NaN)
  })
}

#' @rdname nv_dgeom
#' @export
nv_qnbinom <- function(p, size, prob, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qnbinom", list(p, size, prob), function(p, size, prob) {
    operands <- list(size, prob, log_share(p, log.p))
    distribution_operation("negative_binomial_quantile", operands, lower = lower.tail)
  })
}

log_hypergeometric <- function(x, m, n, k) {
  share <- k / nv_max(m + n, 1)
  white <- log_binomial(x, m - x, share)
  white + log_binomial(k - x, n - (k - x), share) - log_binomial(k, m + n - k, share)
}

# m, n and k as whole numbers, and which of them are valid.
hypergeometric <- function(m, n, k) {
  whole <- lapply(list(m, n, k), nearest_count)
  known <- is_count(m, whole[[1L]]) & is_count(n, whole[[2L]]) & is_count(k, whole[[3L]]) &
    whole[[3L]] <= whole[[1L]] + whole[[2L]]
  known <- nv_replace_na(known, FALSE)
  c(lapply(whole, function(w) nv_ifelse(known, w, 1)), list(known))
}

#' @rdname nv_dgeom
#' @export
nv_dhyper <- function(x, m, n, k, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dhyper", list(x, m, n, k), function(x, m, n, k) {
    own <- hypergeometric(m, n, k)
    count <- nearest_count(x)
    least <- nv_max(own[[3L]] - own[[2L]], 0)
    inside <- is_count(x, count) & count >= least & count <= nv_min(own[[1L]], own[[3L]])
    value <- do.call(log_hypergeometric, c(list(nv_ifelse(inside, count, least)), own[1:3]))
    value <- nv_ifelse(own[[4L]], nv_ifelse(inside, value, -Inf), NaN)
    nv_stop_gradient(density_of(value, log))
  })
}

#' @rdname nv_dgeom
#' @export
nv_phyper <- function(q, m, n, k, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_phyper", list(q, m, n, k), function(q, m, n, k) {
    distribution_operation(
      "hypergeometric_share", list(m, n, k, q), lower = lower.tail, logarithm = log.p
    )
  })
}

#' @rdname nv_dgeom
#' @export
nv_qhyper <- function(p, m, n, k, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qhyper", list(p, m, n, k), function(p, m, n, k) {
    operands <- list(m, n, k, log_share(p, log.p))
    distribution_operation("hypergeometric_quantile", operands, lower = lower.tail)
  })
}

# nolint end
