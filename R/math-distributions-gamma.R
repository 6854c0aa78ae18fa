# Arguments have the names they have in base R.
# nolint start: object_name_linter.

#' The exponential, gamma and Poisson distributions
#'
#' Densities or probabilities, distribution functions and quantiles, elementwise, as R's functions
#' of the same names.
#'
#' Computed in `f64` and rounded once to the dtype of the result. In `f64` a logarithm of a
#' distribution function is accurate to 64 ulp of the greater of 1 and itself, for shapes and means
#' up to 1e5; beyond that errors grow with the square root. The relative error of a probability is
#' the absolute error of its logarithm, and a quantile is that of a probability with such an error.
#' Densities next to the ends of their support have a relative error of at most 1e-12. Logarithms
#' stay accurate where the functions themselves underflow. For invalid parameters the result is NaN,
#' without a warning. Counts that are not whole have probability 0.
#'
#' @inheritParams nv_dnorm
#' @param rate,shape,lambda The parameters, which broadcast with the first argument.
#' @return A tensor of a float dtype: the common dtype of the tensors and numbers if that is a
#'   float, otherwise the float that the promotion rules make of it, see [promotion_facts()].
#'   Elements are missing where an argument is.
#' @section Derivatives: With respect to all arguments; for counts and quantiles that are counts
#'   they are zero. Those of `nv_pgamma()` and `nv_qgamma()` with respect to the `shape` cannot be
#'   differentiated again, which is a `joist_value_error`.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype or no float for it;
#'   `joist_dtype_error` for complex tensors; `joist_shape_error` for shapes that do not broadcast;
#'   `joist_value_error` for strings, and for a flag that is neither `TRUE` nor `FALSE`.
#' @references
#' C. Loader (2000): Fast and accurate computation of binomial probabilities.
#'
#' NIST Digital Library of Mathematical Functions, chapter 8.
#' @examples
#' nv_pexp(nv_tensor(c(0, 1, 2), "f64"), rate = 2)
#' nv_dpois(nv_tensor(0:3), 1.5)
#' nv_pgamma(nv_tensor(c(1, 100), "f64"), shape = 3, lower.tail = FALSE)
#' nv_qgamma(nv_tensor(c(0.1, 0.9), "f64"), shape = 3, rate = 0.5)
#' @export
nv_dexp <- function(x, rate = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dexp", list(x, rate), function(x, rate) {
    inside <- x >= 0
    t <- nv_ifelse(inside, x, 0)
    value <- if (log) nv_log(rate) - rate * t else rate * nv_exp(-(rate * t))
    nv_ifelse(rate > 0, nv_ifelse(inside, value, if (log) -Inf else 0), NaN)
  })
}

#' @rdname nv_dexp
#' @export
nv_pexp <- function(q, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pexp", list(q, rate), function(q, rate) {
    inside <- q > 0
    power <- -(rate * nv_ifelse(inside, q, 1))
    value <- if (lower.tail) {
      if (log.p) log_rest(power) else -nv_expm1(power)
    } else {
      if (log.p) power else nv_exp(power)
    }
    nv_ifelse(rate > 0, nv_ifelse(inside, value, whole_share(!lower.tail, log.p)), NaN)
  })
}

#' @rdname nv_dexp
#' @export
nv_qexp <- function(p, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qexp", list(p, rate), function(p, rate) {
    power <- if (lower.tail) {
      if (log.p) log_rest(p) else nv_log1p(-p)
    } else {
      log_share(p, log.p)
    }
    nv_ifelse(rate > 0 & power <= 0 & (if (log.p) p <= 0 else p >= 0), -power / rate, NaN)
  })
}

#' @rdname nv_dexp
#' @export
nv_dgamma <- function(x, shape, rate = 1, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dgamma", list(x, shape, rate), function(x, shape, rate) {
    t <- x * rate
    value <- gamma_log_density(shape, t) + nv_log(rate)
    # The product may be less than any double.
    tiny <- x > 0 & t < 1e-290 & rate > 0 & shape > 0
    a <- nv_ifelse(tiny, shape, 1)
    near <- a * nv_log(rate) + (a - 1) * nv_log(nv_ifelse(tiny, x, 1)) - nv_lgamma(a)
    value <- nv_ifelse(tiny, near, value)
    point <- nv_ifelse(x == 0, Inf, -Inf)
    value <- nv_ifelse(shape == 0, point, value)
    density_of(nv_ifelse(rate > 0 & shape >= 0, value, NaN), log)
  })
}

#' @rdname nv_dexp
#' @export
nv_pgamma <- function(q, shape, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pgamma", list(q, shape, rate), function(q, shape, rate) {
    nv_ifelse(rate > 0, gamma_share(shape, q * rate, lower.tail, log.p), NaN)
  })
}

#' @rdname nv_dexp
#' @export
nv_qgamma <- function(p, shape, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qgamma", list(p, shape, rate), function(p, shape, rate) {
    power <- list(shape, log_share(p, log.p))
    t <- distribution_operation("inverse_gamma", power, lower = lower.tail)
    nv_ifelse(rate > 0, t / rate, NaN)
  })
}

#' @rdname nv_dexp
#' @export
nv_dpois <- function(x, lambda, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dpois", list(x, lambda), function(x, lambda) {
    count <- nearest_count(x)
    inside <- is_count(x, count)
    value <- log_poisson(nv_ifelse(inside, count, 0), lambda)
    density_of(nv_ifelse(lambda >= 0, nv_ifelse(inside, value, -Inf), NaN), log)
  })
}

#' @rdname nv_dexp
#' @export
nv_ppois <- function(q, lambda, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_ppois", list(q, lambda), function(q, lambda) {
    count <- nv_stop_gradient(nv_floor(q + 1e-7))
    inside <- count >= 0
    value <- gamma_share(nv_ifelse(inside, count + 1, 1), lambda, !lower.tail, log.p)
    value <- nv_ifelse(inside, value, whole_share(!lower.tail, log.p))
    nv_ifelse(lambda >= 0 & lambda < Inf, value, NaN)
  })
}

#' @rdname nv_dexp
#' @export
nv_qpois <- function(p, lambda, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qpois", list(p, lambda), function(p, lambda) {
    operands <- list(lambda, log_share(p, log.p))
    distribution_operation("poisson_quantile", operands, lower = lower.tail)
  })
}

# nolint end
