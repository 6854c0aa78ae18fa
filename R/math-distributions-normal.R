# Arguments have the names they have in base R.
# nolint start: object_name_linter.

#' The normal distribution
#'
#' Density, distribution function and quantiles of the normal distribution, elementwise, as R's
#' `dnorm()`, `pnorm()` and `qnorm()`.
#'
#' Computed in `f64` and rounded once to the dtype of the result. In `f64` errors are at most 16
#' ulp; those of a logarithm of a density are in ulp of the greater of 1 and the result. Logarithms
#' of distribution functions stay accurate where the functions themselves underflow. Where `sd` is
#' negative the result is NaN, without a warning.
#'
#' @param x,q,p Quantiles `x` and `q`, probabilities `p`: a tensor, or an R number or array.
#' @param mean,sd Mean and standard deviation, which broadcast with the first argument.
#' @param log,log.p `TRUE` for densities and probabilities as logarithms.
#' @param lower.tail `TRUE` for probabilities of values up to `q`, `FALSE` for those of values
#'   beyond it.
#' @return A tensor of a float dtype: the common dtype of the tensors and numbers if that is a
#'   float, otherwise the float that the promotion rules make of it, see [promotion_facts()].
#'   Elements are missing where an argument is.
#' @section Derivatives: With respect to all arguments.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype or no float for it;
#'   `joist_dtype_error` for complex tensors; `joist_shape_error` for shapes that do not broadcast;
#'   `joist_value_error` for strings, and for a flag that is neither `TRUE` nor `FALSE`.
#' @references
#' M. J. Wichura (1988): Algorithm AS 241. Applied Statistics 37, 477-484.
#' @examples
#' nv_dnorm(nv_tensor(c(-1, 0, 1), "f64"))
#' nv_pnorm(nv_tensor(c(-40, 0), "f64"), log.p = TRUE)
#' nv_qnorm(nv_tensor(c(0.025, 0.975), "f64"), mean = 100, sd = 15)
#' @export
nv_dnorm <- function(x, mean = 0, sd = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dnorm", list(x, mean, sd), function(x, mean, sd) {
    point <- sd == 0
    scale <- nv_ifelse(point, 1, sd)
    z <- (x - mean) / scale
    value <- if (log) {
      -(z * z / 2 + (base::log(2 * pi) / 2 + nv_log(scale)))
    } else {
      normal_density(z) / scale
    }
    mass <- nv_ifelse(x == mean, Inf, if (log) -Inf else 0)
    nv_ifelse(sd < 0, NaN, nv_ifelse(point, mass, value))
  })
}

#' @rdname nv_dnorm
#' @export
nv_pnorm <- function(q, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pnorm", list(q, mean, sd), function(q, mean, sd) {
    point <- sd == 0
    side <- nv_ifelse(q < mean, -Inf, Inf)
    z <- nv_ifelse(point, side, (q - mean) / nv_ifelse(point, 1, sd))
    share <- if (log.p) normal_log_share else normal_share
    nv_ifelse(sd < 0, NaN, share(if (lower.tail) z else -z))
  })
}

#' @rdname nv_dnorm
#' @export
nv_qnorm <- function(p, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  on.exit(distributions$depth <- 2)
  name <- name_by_depth("nv_qnorm", p, log.p)
  in_f64(name, list(p, mean, sd), function(p, mean, sd) {
    z <- if (log.p) normal_log_quantile(p) else normal_quantile(p)
    if (!lower.tail) z <- -z
    nv_ifelse(sd < 0, NaN, nv_ifelse(nv_is_infinite(z), z, mean + sd * z))
  })
}

# The square in two parts, of which the first is exact.
normal_density <- function(z) {
  custom_gradient(function(z) {
    high <- nv_round(z * 65536) / 65536
    rest <- z - high
    inside <- nv_abs(z) < 40
    power <- nv_exp(nv_ifelse(inside, high * high, 1e4) / -2) *
      nv_exp(nv_ifelse(inside, rest * (high + rest / 2), 0) * -1)
    power / sqrt(2 * pi)
  }, function(cotangent, value, z) list(-(cotangent * (value * z))))(z)
}

normal_share <- function(z) {
  custom_gradient(
    function(z) normal_share_at(z),
    function(cotangent, value, z) list(cotangent * normal_density(z))
  )(z)
}

# By erfc(), corrected for what rounding z / sqrt(2) loses (Dekker 1971).
normal_share_at <- function(z) {
  z <- nv_clamp(-40, z, 40)
  root <- sqrt(0.5)
  root_high <- 0x1.6a09e68p-1
  root_low <- root - root_high
  split <- z * 134217729
  high <- split - (split - z)
  low <- z - high
  product <- z * root
  lost <- ((high * root_high - product) + high * root_low + low * root_high) + low * root_low
  # What sqrt(1/2) is beyond its double.
  lost <- lost + z * -0x1.bdd3413b26456p-55
  share <- nv_erfc(-product) / 2
  share + lost * (nv_exp(-(product * product)) / sqrt(pi))
}

normal_log_share <- function(z) {
  custom_gradient(
    function(z) {
      far <- z < -30
      near <- nv_ifelse(far, -30, z)
      high <- near > -1
      middle <- nv_ifelse(
        high, nv_log1p(-normal_share_at(nv_ifelse(high, -near, 1))), nv_log(normal_share_at(near))
      )
      tail <- nv_ifelse(far, z, -30)
      w <- 1 / (tail * tail)
      # NIST DLMF 7.12.1
      series <- w * polynomial_in(w, c(-1, 3, -15, 105, -945, 10395, -135135, 2027025))
      outside <- -(tail * tail / 2) - (nv_log(-tail) + log(2 * pi) / 2) + nv_log1p(series)
      nv_ifelse(far, outside, middle)
    },
    function(cotangent, value, z) {
      list(cotangent * nv_exp(-(z * z / 2) - (log(2 * pi) / 2 + value)))
    }
  )(z)
}

normal_quantile <- function(p) {
  custom_gradient(
    function(p) {
      rest <- 1 - p
      tail <- nv_ifelse(p < 0.5, p, rest)
      normal_quantile_at(p - 0.5, nv_sqrt(-nv_log(tail)))
    },
    function(cotangent, value, p) list(cotangent / normal_density(value))
  )(p)
}

normal_log_quantile <- function(p) {
  custom_gradient(
    function(p) {
      low <- p < -log(2)
      upper <- -nv_expm1(nv_ifelse(low, -log(2), p))
      from_half <- nv_ifelse(low, nv_exp(p) - 0.5, 0.5 - upper)
      normal_quantile_at(from_half, nv_sqrt(-nv_ifelse(low, p, nv_log(upper))))
    },
    function(cotangent, value, p) {
      list(cotangent * nv_exp(p + (value * value / 2 + log(2 * pi) / 2)))
    }
  )(p)
}

# The function's name, which says how small the smallest tail is: `distributions$depth` is 0 if no
# root is beyond 5, and 1 if none is beyond 27, for which six more logarithms are computed for each
# element. A program is traced without what it does not need.
name_by_depth <- function(name, p, log) {
  if (is_tracing() || !is_tensor(p) || is_chunked(p) || !has_elements(p) || length(p) == 0L) {
    return(name)
  }
  distributions$depth <- as.vector(fused("depth", depth_of, p, log))
  paste(name, distributions$depth)
}

depth_of <- function(p, log) {
  p <- nv_convert(without_mask(p), "f64")
  if (log) {
    far <- p < -24 & p > -Inf | p > -2e-11 & p < 0
    deep <- p < -700 & p > -Inf | p > -1e-300 & p < 0
  } else {
    far <- p < 2e-11 & p > 0 | p > 1 - 2e-11 & p < 1
    deep <- p < 1e-300 & p > 0
  }
  by_anvil(nv_reduce_max(nv_ifelse(deep, 2L, nv_ifelse(far, 1L, 0L))))
}

# Of p - 1/2 and the root of -log of the smaller tail: algorithm AS 241 of Wichura (1988), and from
# 27 on the fixed point of what the continued fraction of the tail says, NIST DLMF 7.9.
normal_quantile_at <- function(from_half, root) {
  ratio <- function(x, above, below) polynomial_in(x, above) / polynomial_in(x, below)
  central <- nv_abs(from_half) <= 0.425
  inside <- nv_ifelse(central, from_half, 0)
  middle <- inside * ratio(0.180625 - inside * inside, wichura$a, wichura$b)
  r <- nv_ifelse(central, 2, root)
  near <- ratio(nv_min(r, 5) - 1.6, wichura$c, wichura$d)
  size <- near
  if (distributions$depth > 0) {
    farther <- ratio(nv_clamp(5, r, 27) - 5, wichura$e, wichura$f)
    if (distributions$depth > 1) farther <- nv_ifelse(r <= 27, farther, farthest_quantile(r))
    size <- nv_ifelse(r <= 5, near, farther)
  }
  size <- nv_ifelse(r == Inf, Inf, nv_ifelse(nv_is_nan(r), NaN, size))
  nv_ifelse(central, middle, nv_ifelse(from_half < 0, -size, size))
}

farthest_quantile <- function(r) {
  far <- nv_is_finite(r) & r > 27
  twice <- nv_ifelse(far, r, 28)
  twice <- 2 * (twice * twice)
  square <- twice - nv_log(2 * pi * twice)
  for (turn in 1:6) {
    part <- 1 - (1 - (5 - 9 / (8 + square)) / (6 + square)) / (4 + square)
    square <- twice - nv_log(2 * pi * square) + 2 * nv_log1p(-part / (2 + square))
  }
  nv_sqrt(square)
}

wichura <- list(
  a = c(
    3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
    1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
    3.3430575583588128105e4, 2.5090809287301226727e3
  ),
  b = c(
    1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
    2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
    5.2264952788528545610e3
  ),
  c = c(
    1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
    3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
    2.27238449892691845833e-2, 7.74545014278341407640e-4
  ),
  d = c(
    1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
    1.05075007164441684324e-9
  ),
  e = c(
    6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
    2.71155556874348757815e-5, 2.01033439929228813265e-7
  ),
  f = c(
    1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
    2.04426310338993978564e-15
  )
)

# nolint end
