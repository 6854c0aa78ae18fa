#' Random numbers of further distributions
#'
#' Draws from the log-normal, Weibull, logistic, Cauchy, t, chi-squared, F and beta distributions,
#' and counts of the geometric, negative binomial and hypergeometric distributions.
#'
#' Keys and shapes are as for [nv_runif()], and parameters as for R's functions, but the shape of
#' the Weibull distribution is `alpha`, as that of [nv_rgamma()]. Everything is computed in double
#' and rounded once, from uniform, normal, exponential and gamma numbers, and so are the derivatives
#' of floats. Beta numbers come from logarithms of gamma numbers, which do not underflow. Counts of
#' the geometric and negative binomial distribution are Poisson counts whose mean is a gamma number;
#' those of the hypergeometric distribution are quantiles of a uniform number, by [nv_qhyper()].
#' Derivatives of counts are 0.
#'
#' @inheritParams nv_runif
#' @param meanlog,sdlog,alpha,scale,location,df,df1,df2,shape1,shape2 Parameters of the
#'   distributions: numbers or tensors with one value, or of shape `shape` (or that can be broadcast
#'   to it).
#' @param size,prob,mu,m,n,k The same for counts; the negative binomial distribution has either the
#'   probability `prob` or the mean `mu`.
#' @param dtype The dtype of the result: a float dtype, for counts an integer or float one. `NULL`
#'   is the dtype that the promotion rules give a double, or an integer.
#' @return A tensor of dtype `dtype` and shape `shape`.
#' @section Errors: `joist_value_error` for missing parameters and those for which R's functions
#'   return NaN, for a negative scale, for shapes of the beta distribution that are 0 or infinite,
#'   for counts that do not fit the dtype, and without a key while [jit()] traces;
#'   `joist_dtype_error` for a dtype that the function does not give; `joist_shape_error` for
#'   parameters that do not fit.
#' @seealso [nv_runif()], [nv_rexp()], [nv_rmvnorm()].
#' @examples
#' key <- nv_key(1)
#' nv_rlnorm(3, meanlog = 2, key = key)
#' nv_rweibull(3, alpha = 2, scale = 10, key = key)
#' nv_rt(c(2, 2), df = nv_tensor(c(1, 5, 1, 5), shape = c(2, 2)), key = key)
#' nv_rbeta(3, 0.5, 0.5, "f64", key)
#' nv_rnbinom(5, size = 3, mu = 10, key = key)
#' nv_rhyper(5, m = 10, n = 20, k = 8, key = key)
#' nv_rgeom(5, prob = 0.3, key = key)
#' nv_rlogis(2, key = key)
#' nv_rcauchy(2, key = key)
#' nv_rchisq(2, df = 3, key = key)
#' nv_rf(2, df1 = 3, df2 = 10, key = key)
#' @export
nv_rlnorm <- function(shape, meanlog = 0, sdlog = 1, dtype = NULL, key = NULL) {
  random_floats("nv_rlnorm", shape, dtype, key, list(meanlog = meanlog, sdlog = sdlog),
    list(meanlog = any_number, sdlog = from_zero),
    function(shape, key, meanlog, sdlog) nv_exp(wide_normal(shape, key) * sdlog + meanlog)
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rweibull <- function(shape, alpha, scale = 1, dtype = NULL, key = NULL) {
  random_floats("nv_rweibull", shape, dtype, key, list(alpha = alpha, scale = scale),
    list(alpha = positive, scale = from_zero),
    function(shape, key, alpha, scale) scale * nv_pow(nv_rexp(shape, 1, "f64", key), 1 / alpha)
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rlogis <- function(shape, location = 0, scale = 1, dtype = NULL, key = NULL) {
  random_floats("nv_rlogis", shape, dtype, key, list(location = location, scale = scale),
    list(location = any_number, scale = from_zero),
    # The odds of a uniform number exp(-t) are 1 / (exp(t) - 1).
    function(shape, key, location, scale) {
      location - scale * nv_log(nv_expm1(nv_rexp(shape, 1, "f64", key)))
    }
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rcauchy <- function(shape, location = 0, scale = 1, dtype = NULL, key = NULL) {
  random_floats("nv_rcauchy", shape, dtype, key, list(location = location, scale = scale),
    list(location = any_number, scale = from_zero),
    function(shape, key, location, scale) {
      location + scale * nv_tan(pi * nv_runif(shape, -0.5, 0.5, "f64", key))
    }
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rt <- function(shape, df, dtype = NULL, key = NULL) {
  random_floats("nv_rt", shape, dtype, key, list(df = df), list(df = above_zero),
    function(shape, key, df) {
      keys <- nv_key_split(key)
      wide_normal(shape, keys[[1L]]) * nv_exp(log_mean_square(shape, df, keys[[2L]]) * -0.5)
    }
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rchisq <- function(shape, df, dtype = NULL, key = NULL) {
  random_floats("nv_rchisq", shape, dtype, key, list(df = df), list(df = from_zero),
    function(shape, key, df) nv_rgamma(shape, df / 2, 0.5, "f64", key)
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rf <- function(shape, df1, df2, dtype = NULL, key = NULL) {
  random_floats("nv_rf", shape, dtype, key, list(df1 = df1, df2 = df2),
    list(df1 = above_zero, df2 = above_zero),
    function(shape, key, df1, df2) {
      keys <- nv_key_split(key)
      first <- log_mean_square(shape, df1, keys[[1L]])
      nv_exp(first - log_mean_square(shape, df2, keys[[2L]]))
    }
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rbeta <- function(shape, shape1, shape2, dtype = NULL, key = NULL) {
  random_floats("nv_rbeta", shape, dtype, key, list(shape1 = shape1, shape2 = shape2),
    list(shape1 = positive, shape2 = positive),
    function(shape, key, shape1, shape2) {
      keys <- nv_key_split(key)
      first <- log_gamma_number(shape, shape1, keys[[1L]])
      1 / (1 + nv_exp(log_gamma_number(shape, shape2, keys[[2L]]) - first))
    }
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rgeom <- function(shape, prob, dtype = NULL, key = NULL) {
  random_counts("nv_rgeom", shape, dtype, key, list(prob = prob), list(prob = share_above_zero),
    function(shape, key, prob) nv_rexp(shape, 1, "f64", key) * ((1 - prob) / prob)
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rnbinom <- function(shape, size, prob = NULL, mu = NULL, dtype = NULL, key = NULL) {
  if (is.null(prob) == is.null(mu)) {
    stop_joist("joist_value_error", "nv_rnbinom() needs one of `prob` and `mu`")
  }
  if (is.null(mu)) {
    return(random_counts("nv_rnbinom", shape, dtype, key, list(size = size, prob = prob),
      list(size = from_zero, prob = share_above_zero),
      function(shape, key, size, prob) nv_rgamma(shape, size, 1, "f64", key) * ((1 - prob) / prob)
    ))
  }
  random_counts("nv_rnbinom", shape, dtype, key, list(size = size, mu = mu),
    list(size = above_zero, mu = from_zero),
    function(shape, key, size, mu) { # Poisson counts, if `size` is infinite
      finite <- nv_ifelse(size < Inf, size, 1)
      mu * nv_ifelse(size < Inf, nv_rgamma(shape, finite, finite, "f64", key), 1)
    }
  )
}

#' @rdname nv_rlnorm
#' @export
nv_rhyper <- function(shape, m, n, k, dtype = NULL, key = NULL) {
  dtype <- count_dtype("nv_rhyper", dtype)
  made <- random_values("nv_rhyper", shape, key, list(m = m, n = n, k = k),
    list(m = whole_number, n = whole_number, k = whole_number),
    function(shape, key, m, n, k) {
      k <- valid_parameter("nv_rhyper", "k", k, list(k <= m + n, "at most `m + n`"))
      nv_qhyper(nv_runif(shape, 0, 1, "f64", key), m, n, k)
    },
    compile = FALSE
  )
  most <- largest_count(dtype)
  made <- valid_parameter("nv_rhyper", "a count", made, list(made <= most, paste("at most", most)))
  nv_convert(made, dtype)
}

#' Multinomial counts and multivariate normal numbers
#'
#' `nv_rmultinom()` draws how often each category occurs among `size` draws, `nv_rmvnorm()` normal
#' vectors with a covariance matrix; `nv_dmultinom()` and `nv_dmvnorm()` are their probability and
#' density. Categories and elements of a vector are the last dimension.
#'
#' Multinomial counts are binomial counts, one category after the other, of what the categories
#' before have left, and their probability is the product of those of [nv_dbinom()], whose accuracy
#' it has. Normal vectors are `mean + chol %*% z`, where `chol` is the lower Cholesky factor of
#' `sigma` and z are numbers of [nv_rnorm()]. Everything is computed in `f64` and rounded once.
#'
#' @inheritParams nv_rlnorm
#' @param shape An integer vector of extents, without the last one; `integer()` for one vector.
#' @param x A tensor or an R array whose last dimension has categories or elements.
#' @param size How many draws: one number, or a tensor of shape `shape`.
#' @param prob A vector with a weight for each category, at least 0; they need not sum to 1.
#' @param mean A vector: the means of the elements.
#' @param sigma The covariance matrix, symmetric and positive definite.
#' @param log `TRUE` for the logarithm.
#' @return `nv_rmultinom()` and `nv_rmvnorm()`: a tensor of dtype `dtype`, of shape `shape` and one
#'   more dimension. `nv_dmultinom()` and `nv_dmvnorm()`: a tensor of the shape of `x` without its
#'   last dimension, of the dtype that [nv_dnorm()] returns; counts that are not whole have
#'   probability 0.
#' @section Derivatives: Of `nv_rmvnorm()` and `nv_dmvnorm()` with respect to all tensors, of
#'   `nv_dmultinom()` with respect to `prob`.
#' @section Errors: `joist_value_error` for weights that are negative, not finite or all 0, a `size`
#'   that [nv_rbinom()] does not take, a `sigma` that is not symmetric or not positive definite, and
#'   without a key while [jit()] traces; `joist_shape_error` for parameters that do not fit;
#'   `joist_dtype_error` for a dtype that the function does not give, and complex numbers.
#' @examples
#' key <- nv_key(1)
#' counts <- nv_rmultinom(2, 100, c(0.2, 0.3, 0.5), key = key)
#' counts
#' nv_dmultinom(counts, c(0.2, 0.3, 0.5))
#' sigma <- matrix(c(2, 1, 1, 3), 2)
#' nv_rmvnorm(3, c(0, 10), sigma, key = key)
#' nv_dmvnorm(nv_tensor(c(0, 10), "f64"), c(0, 10), sigma)
#' @export
nv_rmultinom <- function(shape, size, prob, dtype = NULL, key = NULL) {
  dtype <- count_dtype("nv_rmultinom", dtype)
  shape <- drawn_shape(shape)
  key <- as_key(key, first_tensor(list(size, prob)))
  wide <- wide_operands(list(prob, fit_parameter(size, shape)), key)
  wide[[1L]] <- valid_weights("nv_rmultinom", wide[[1L]])
  again <- identical(distributions$nv_rmultinom, shape)
  distributions$nv_rmultinom <- shape
  operands <- c(list(key), wide)
  if (again) {
    fused("nv_rmultinom", multinomial, operands, shape, dtype)
  } else {
    multinomial(operands, shape, dtype)
  }
}

multinomial <- function(operands, shape, dtype) {
  shares <- shares_of_rest(operands[[2L]])
  left <- operands[[3L]]
  keys <- nv_key_split(operands[[1L]], length(shares))
  counts <- lapply(seq_along(keys), function(j) {
    count <- nv_rbinom(shape, left, nv_reshape(slice_along(shares, 1L, j, 1L), integer()), dtype,
      keys[[j]]
    )
    left <<- left - nv_convert(count, "f64")
    count
  })
  do.call(nv_stack, c(counts, list(dim = length(shape) + 1L)))
}

valid_weights <- function(name, prob) {
  if (ndims(prob) == 0L) prob <- nv_reshape(prob, 1L)
  if (ndims(prob) != 1L || length(prob) == 0L) {
    stop_joist("joist_shape_error", "`prob` must be a vector with a weight for each category")
  }
  prob <- valid_parameter(name, "prob", prob, list(prob >= 0 & prob < Inf, "finite and at least 0"))
  valid_parameter(name, "prob", prob, list(
    nv_broadcast_to(nv_reduce_any(prob > 0), shape(prob)), "positive for some category"
  ))
}

# What each category has of the weight of it and those after it.
shares_of_rest <- function(prob) {
  rest <- nv_reverse(nv_cumsum(nv_reverse(prob), 1L))
  nv_min(prob / nv_ifelse(rest > 0, rest, 1), 1)
}

#' @rdname nv_rmultinom
#' @export
nv_dmultinom <- function(x, prob, log = FALSE) {
  check_flags(log = log)
  vectors_in_f64(list(x, prob), function(x, prob) {
    shares <- shares_of_rest(valid_weights("nv_dmultinom", prob))
    check_vectors(x, length(shares), "prob")
    last <- ndims(x)
    count <- nearest_count(x)
    inside <- is_count(x, count)
    count <- nv_ifelse(inside, count, 0)
    left <- nv_reverse(nv_cumsum(nv_reverse(count, last), last), last)
    value <- nv_reduce_sum(nv_dbinom(count, left, along_last(shares, last), log = TRUE), last)
    value <- nv_ifelse(nv_reduce_all(inside, last), value, -Inf)
    # NaN and missing counts are none.
    unknown <- nv_reduce_sum(nv_ifelse(nv_is_na(x), x, 0), last)
    density_of(nv_ifelse(nv_is_na(unknown), unknown, value), log)
  })
}

#' @rdname nv_rmultinom
#' @export
nv_rmvnorm <- function(shape, mean, sigma, dtype = NULL, key = NULL) {
  dtype <- dtype_or_default(dtype, 0)
  check_float("nv_rmvnorm", dtype)
  shape <- drawn_shape(shape)
  parameters <- list(mean, sigma)
  key <- as_key(key, first_tensor(parameters))
  parameters <- wide_operands(parameters, key)
  factor <- factor_of_covariance(parameters[[2L]])
  n <- nrow(factor)
  check_vectors(parameters[[1L]], n, "sigma")
  valid_parameter("", "mean", parameters[[1L]], any_number(parameters[[1L]]))
  z <- nv_rnorm(c(prod(shape), n), 0, 1, "f64", key)
  made <- nv_matmul(z, nv_transpose(factor)) + along_last(parameters[[1L]], 2L)
  nv_convert(nv_reshape(made, c(shape, n)), dtype)
}

#' @rdname nv_rmultinom
#' @export
nv_dmvnorm <- function(x, mean, sigma, log = FALSE) {
  check_flags(log = log)
  vectors_in_f64(list(x, mean, sigma), function(x, mean, sigma) {
    factor <- factor_of_covariance(sigma)
    n <- nrow(factor)
    check_vectors(x, n, "sigma")
    check_vectors(mean, n, "sigma")
    lines <- nv_reshape(x - along_last(mean, ndims(x)), c(-1, n))
    masked <- has_mask(lines)
    z <- nv_triangular_solve(factor, nv_transpose(if (masked) without_mask(lines) else lines))
    size <- nv_reduce_sum(nv_log(nv_diag(factor))) + n / 2 * base::log(2 * pi)
    value <- nv_reduce_sum(z * z, 1L) / -2 - size
    if (masked) value <- nv_mask(value, nv_reduce_any(mask_of(lines), 2L))
    density_of(nv_reshape(value, shape(x)[-ndims(x)]), log)
  })
}

factor_of_covariance <- function(sigma) {
  extents <- shape(sigma)
  if (length(extents) != 2L || extents[1L] != extents[2L] || extents[1L] == 0L) {
    stop_joist("joist_shape_error", "`sigma` must be a square matrix, not of ", shape_text(sigma))
  }
  turned <- nv_transpose(sigma)
  near <- nv_abs(sigma - turned) <= 1e-8 * nv_max(nv_abs(sigma), nv_abs(turned))
  sigma <- valid_parameter("", "sigma", sigma, list(near, "finite and symmetric"))
  nv_chol(sigma, lower = TRUE)
}

check_vectors <- function(x, n, other) {
  extents <- shape(x)
  if (length(extents) == 0L || extents[length(extents)] != n) {
    stop_joist(
      "joist_shape_error", "the last dimension must have ", n, " elements, as `", other,
      "` has; the shape is ", shape_text(x)
    )
  }
}

along_last <- function(x, rank) nv_reshape(x, c(rep(1, rank - 1L), length(x)))

# in_f64() of functions that combine elements.
vectors_in_f64 <- function(operands, f) {
  type <- distribution_type(operands)
  nv_convert(do.call(f, wide_operands(operands)), dtype(type), ambiguous(type))
}

# ---- what the draws have in common ----

# Floats that `f` makes in double of a key and parameters.
random_floats <- function(name, shape, dtype, key, parameters, valid, f) {
  dtype <- dtype_or_default(dtype, 0)
  check_float(name, dtype)
  nv_convert(random_values(name, shape, key, parameters, valid, f), dtype)
}

# Poisson counts of the means that `f` makes.
random_counts <- function(name, shape, dtype, key, parameters, valid, f) {
  dtype <- count_dtype(name, dtype)
  keys <- nv_key_split(as_key(key, first_tensor(parameters)))
  means <- random_values(name, shape, keys[[1L]], parameters, valid, f)
  nv_rpois(shape, means, dtype, keys[[2L]])
}

# Compiled for a shape that is drawn again; numbers that are the parameters again were checked, and
# are tensors already. `f` reads nothing of the function that it is written in,
# whose operands would be kept.
random_values <- function(name, shape, key, parameters, valid, f, compile = TRUE) {
  shape <- drawn_shape(shape)
  key <- as_key(key, first_tensor(parameters))
  kind <- paste(c(name, names(parameters)), collapse = " ")
  last <- distributions[[kind]]
  again <- identical(last$shape, shape)
  here <- .Call(joist_r_can_fuse, key) && is.null(.Call(joist_r_device_of, key))
  same <- again && here && identical(last$parameters, parameters, num.eq = FALSE)
  operands <- if (same) last$operands else valid_operands(name, parameters, valid, key, shape)
  if (!same) {
    one <- here && all(vapply(parameters, is_plain_number, NA) & lengths(parameters) == 1L)
    distributions[[kind]] <- list(
      shape = shape, parameters = if (one) parameters, operands = if (one) operands
    )
  }
  environment(f) <- environment(random_values)
  operands <- c(list(key), operands)
  if (again && compile) fused(kind, drawn_by(f), operands, shape) else drawn_by(f)(operands, shape)
}

valid_operands <- function(name, parameters, valid, key, shape) {
  wide <- wide_operands(parameters, key)
  for (which in names(wide)) {
    x <- parameters[[which]]
    if (is.numeric(x) && !is.object(x) && isTRUE(valid[[which]](x)[[1L]])) next
    wide[[which]] <- valid_parameter(name, which, wide[[which]], valid[[which]](wide[[which]]))
  }
  lapply(unname(wide), fit_parameter, shape)
}

drawn_by <- function(f) {
  force(f)
  function(operands, shape) nv_broadcast_to(do.call(f, c(list(shape), operands)), shape)
}

# `x`, or an error for an element for which the first part of `test` does not hold; the second one
# says what must.
valid_parameter <- function(name, which, x, test) {
  holds <- test[[1L]]
  if (!has_elements(holds) || !is.null(mask_of(holds))) holds <- nv_replace_na(holds, FALSE)
  what <- paste0(if (nzchar(name)) paste0(name, "(): "), "`", which, "` ")
  if (!has_elements(holds)) {
    return(required(x, nv_reduce_all(holds), paste0(what, "must be ", test[[2L]])))
  }
  wrong <- which(!as.vector(holds))
  if (length(wrong) > 0L) {
    position <- if (length(holds) > 1L) paste0(" (position ", wrong[1L], ")")
    stop_joist(
      "joist_value_error", what, "is ", format(as.vector(nv_flatten(x)[wrong[1L]])), position,
      ", but must be ", test[[2L]]
    )
  }
  x
}

drawn_shape <- function(shape) part_shape(nv_aval("f64", shape))

any_number <- function(x) list(x == x, "a number")
from_zero <- function(x) list(x >= 0 & x < Inf, "finite and at least 0")
positive <- function(x) list(x > 0 & x < Inf, "finite and greater than 0")
above_zero <- function(x) list(x > 0, "greater than 0")
share_above_zero <- function(x) list(x > 0 & x <= 1, "greater than 0 and at most 1")
whole_number <- function(x) list(is_count(x, nearest_count(x)), "a whole number of at least 0")

check_float <- function(name, dtype) {
  if (dtype_kind(dtype) != "float") stop_undefined(name, dtype)
}

count_dtype <- function(name, dtype) {
  dtype <- dtype_or_default(dtype, 1L)
  if (!dtype_kind(dtype) %of% c("int", "uint", "float")) stop_undefined(name, dtype)
  dtype
}

# Up to which a dtype has all counts.
largest_count <- function(dtype) {
  facts <- dtype_facts(dtype)
  2^facts$digits - (facts$kind != "float")
}

stop_undefined <- function(name, dtype) {
  stop_joist("joist_dtype_error", name, "() is not defined for ", format(as_dtype(dtype)))
}

wide_normal <- function(shape, key) nv_rnorm(shape, 0, 1, "f64", key)

# The logarithm of a gamma number: one of shape a + 1, times a uniform number to the power of 1 / a.
log_gamma_number <- function(shape, a, key) {
  keys <- nv_key_split(key)
  nv_log(nv_rgamma(shape, a + 1, 1, "f64", keys[[1L]])) - nv_rexp(shape, 1, "f64", keys[[2L]]) / a
}

# Of a chi-squared number over its degrees of freedom, 0 if these are infinite.
log_mean_square <- function(shape, df, key) {
  finite <- nv_ifelse(df < Inf, df, 1) / 2
  nv_ifelse(df < Inf, log_gamma_number(shape, finite, key) - nv_log(finite), 0)
}
