# Arguments have the names they have in base R.
# nolint start: object_name_linter.

#' The beta, binomial and t distributions
#'
#' Densities or probabilities, distribution functions and quantiles, elementwise, as R's functions
#' of the same names. Non-central distributions are not supported.
#'
#' Computed in `f64` and rounded once to the dtype of the result. In `f64` a logarithm of a
#' distribution function is accurate to 64 ulp of the greater of 1 and itself, for shapes and sizes
#' up to 1e5; beyond that errors grow with the square root. The relative error of a probability is
#' the absolute error of its logarithm, and a quantile is that of a probability with such an error.
#' Densities next to the ends of their support have a relative error of at most 1e-12. Logarithms
#' stay accurate where the functions themselves underflow. For invalid parameters the result is NaN,
#' without a warning. Counts that are not whole have probability 0.
#'
#' @inheritParams nv_dnorm
#' @param shape1,shape2,size,prob,df The parameters, which broadcast with the first argument.
#' @return A tensor of a float dtype: the common dtype of the tensors and numbers if that is a
#'   float, otherwise the float that the promotion rules make of it, see [promotion_facts()].
#'   Elements are missing where an argument is.
#' @section Derivatives: With respect to all arguments; for counts, sizes and quantiles that are
#'   counts they are zero. Those of distribution functions and quantiles with respect to shapes and
#'   degrees of freedom cannot be differentiated again, which is a `joist_value_error`.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype or no float for it;
#'   `joist_dtype_error` for complex tensors; `joist_shape_error` for shapes that do not broadcast;
#'   `joist_value_error` for strings, and for a flag that is neither `TRUE` nor `FALSE`.
#' @references
#' C. Loader (2000): Fast and accurate computation of binomial probabilities.
#'
#' NIST Digital Library of Mathematical Functions, chapter 8.
#' @examples
#' nv_dbinom(nv_tensor(0:3), size = 3, prob = 0.5)
#' nv_pbeta(nv_tensor(c(0.1, 0.5), "f64"), 2, 3)
#' nv_dbeta(nv_qbeta(nv_tensor(0.5, "f64"), 2, 3), 2, 3)
#' nv_dt(nv_tensor(2, "f64"), df = c(1, 5, 30))
#' nv_pt(nv_tensor(2, "f64"), df = c(1, 5, 30))
#' nv_qt(nv_tensor(0.975, "f64"), df = c(1, 5, 30))
#' @export
nv_dbeta <- function(x, shape1, shape2, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dbeta", list(x, shape1, shape2), function(x, a, b) {
    density_of(nv_ifelse(a >= 0 & b >= 0, beta_log_density(a, b, x), NaN), log)
  })
}

#' @rdname nv_dbeta
#' @export
nv_pbeta <- function(q, shape1, shape2, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pbeta", list(q, shape1, shape2), function(q, a, b) {
    beta_share(a, b, q, lower.tail, log.p)
  })
}

#' @rdname nv_dbeta
#' @export
nv_qbeta <- function(p, shape1, shape2, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qbeta", list(p, shape1, shape2), function(p, a, b) {
    beta_quantiles(a, b, log_share(p, log.p), lower.tail)[[1L]]
  })
}

# x, and 1 - x.
beta_quantiles <- function(a, b, log_p, lower) {
  distribution_operation("inverse_beta", list(a, b, log_p), lower = lower)
}

#' @rdname nv_dbeta
#' @export
nv_dbinom <- function(x, size, prob, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dbinom", list(x, size, prob), function(x, size, prob) {
    count <- nearest_count(x)
    total <- nearest_count(size)
    inside <- is_count(x, count) & count <= total
    value <- log_binomial(
      nv_ifelse(inside, count, 0), nv_ifelse(inside, total - count, 1), prob
    )
    known <- is_count(size, total) & prob >= 0 & prob <= 1
    density_of(nv_ifelse(known, nv_ifelse(inside, value, -Inf), NaN), log)
  })
}

#' @rdname nv_dbeta
#' @export
nv_pbinom <- function(q, size, prob, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_pbinom", list(q, size, prob), function(q, size, prob) {
    count <- nv_stop_gradient(nv_floor(q + 1e-7))
    total <- nearest_count(size)
    inside <- count >= 0 & count < total
    shapes <- list(nv_ifelse(inside, count + 1, 1), nv_ifelse(inside, total - count, 1))
    value <- beta_share(shapes[[1L]], shapes[[2L]], prob, !lower.tail, log.p)
    all <- whole_share(lower.tail, log.p)
    none <- whole_share(!lower.tail, log.p)
    value <- nv_ifelse(inside, value, nv_ifelse(count < 0, none, all))
    nv_ifelse(is_count(size, total) & prob >= 0 & prob <= 1, value, NaN)
  })
}

#' @rdname nv_dbeta
#' @export
nv_qbinom <- function(p, size, prob, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  in_f64("nv_qbinom", list(p, size, prob), function(p, size, prob) {
    operands <- list(size, prob, log_share(p, log.p))
    distribution_operation("binomial_quantile", operands, lower = lower.tail)
  })
}

#' @rdname nv_dbeta
#' @export
nv_dt <- function(x, df, log = FALSE) {
  check_flags(log = log)
  in_f64("nv_dt", list(x, df), function(x, df) density_of(t_log_density(x, df), log))
}

#' @rdname nv_dbeta
#' @export
nv_pt <- function(q, df, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  share <- custom_gradient(
    function(q, df) t_share(if (lower.tail) q else -q, df, log.p),
    function(cotangent, value, q, df) {
      density <- t_log_density(q, df)
      slope <- nv_exp(if (log.p) density - value else density)
      list(
        cotangent * (if (lower.tail) slope else -slope),
        function() cotangent * t_share_slope(if (lower.tail) q else -q, df, value, log.p)
      )
    }
  )
  in_f64("nv_pt", list(q, df), share)
}

#' @rdname nv_dbeta
#' @export
nv_qt <- function(p, df, lower.tail = TRUE, log.p = FALSE) {
  check_flags(lower.tail = lower.tail, log.p = log.p)
  quantile <- custom_gradient(
    function(p, df) if (lower.tail) t_quantile(p, df, log.p) else -t_quantile(p, df, log.p),
    function(cotangent, value, p, df) {
      density <- t_log_density(value, df)
      slope <- nv_exp(if (log.p) p - density else -density)
      list(
        cotangent * (if (lower.tail) slope else -slope),
        function() cotangent * t_quantile_slope(value, df)
      )
    }
  )
  in_f64("nv_qt", list(p, df), quantile)
}

t_log_density <- function(x, df) {
  normal <- df == Inf
  n <- nv_ifelse(normal, 1, df)
  # The square of a large number would be infinite.
  large <- nv_abs(x) > 1e150
  t <- nv_ifelse(large, 1, x)
  rise <- nv_log1p(t * t / n)
  rise <- nv_ifelse(large, 2 * nv_log(nv_ifelse(large, nv_abs(x), 1)) - nv_log(n), rise)
  value <- -(nv_log(n) / 2 + log_beta(scalar_like(0.5, n), n / 2)) - (n + 1) / 2 * rise
  value <- nv_ifelse(normal, -(x * x / 2) - log(2 * pi) / 2, value)
  nv_ifelse(df > 0, value, NaN)
}

# |T| is beyond |q| with the share of a beta distribution beyond q^2 / (df + q^2), or below what
# that lacks of 1: the smaller of them has all its digits.
t_share <- function(q, df, log) {
  normal <- df == Inf
  n <- nv_ifelse(normal, 1, df)
  ratio <- nv_abs(q) / nv_sqrt(n)
  square <- ratio * ratio
  wide <- square > 1
  half <- scalar_like(0.5, n)
  inner <- beta_share(half, n / 2, nv_ifelse(wide, 0.5, square / (1 + square)), FALSE, log)
  far <- nv_ifelse(wide, ratio, 1)
  outer <- beta_share(n / 2, half, 1 / (1 + far * far), TRUE, log)
  beyond <- -(n * (nv_log(nv_abs(q)) - nv_log(n) / 2)) - t_tail_scale(n)
  outer <- nv_ifelse(far > 1e100, if (log) beyond else nv_exp(beyond), outer)
  both <- nv_ifelse(wide, outer, inner)
  below <- q < 0
  value <- if (log) {
    tail <- both - base::log(2)
    nv_ifelse(below, tail, nv_log1p(-nv_exp(tail)))
  } else {
    nv_ifelse(below, both / 2, 1 - both / 2)
  }
  value <- nv_ifelse(normal, (if (log) normal_log_share else normal_share)(q), value)
  nv_ifelse(df > 0, value, NaN)
}

# How the logarithm of the share beyond |q| changes with the degrees of freedom, and the logarithms
# of that share and of the density.
t_tail_slope <- function(q, df) {
  size <- nv_abs(q)
  n <- nv_ifelse(df == Inf, 1, df)
  ratio <- size / nv_sqrt(n)
  wide <- ratio > 1
  far <- nv_ifelse(wide, ratio, 1)
  near <- nv_ifelse(wide, 1, ratio * ratio)
  half <- scalar_like(0.5, n)
  outer <- beta_slopes(n / 2, half, 1 / (1 + far * far), TRUE)[[1L]]
  inner <- beta_slopes(half, n / 2, near / (1 + near), FALSE)[[2L]]
  share <- t_share(-size, df, TRUE)
  density <- t_log_density(size, df)
  slope <- (nv_ifelse(wide, outer, inner) + size / n * nv_exp(density - share)) / 2
  list(slope = nv_ifelse(df == Inf, 0, slope), share = share, density = density)
}

t_share_slope <- function(q, df, value, log) {
  tail <- t_tail_slope(q, df)
  own <- if (log) 1 else value
  other <- -nv_exp(if (log) tail$share - value else tail$share)
  nv_ifelse(q < 0, own, other) * tail$slope
}

# At a fixed share.
t_quantile_slope <- function(q, df) {
  tail <- t_tail_slope(q, df)
  nv_sign(q) * nv_exp(tail$share - tail$density) * tail$slope
}

# Far out, where r is |t| / sqrt(n), the logarithm of the share of both tails is -n log(r) less it.
t_tail_scale <- function(n) nv_log(n / 2) + log_beta(n / 2, scalar_like(0.5, n))

t_quantile <- function(p, df, log) {
  normal <- df == Inf
  n <- nv_ifelse(normal, 1, df)
  below <- if (log) p < -base::log(2) else p < 0.5
  both <- if (log) {
    nv_ifelse(below, p, log_rest(nv_ifelse(below, -1, p))) + base::log(2)
  } else {
    tail <- nv_ifelse(below, p, 1 - p)
    nv_ifelse(tail > 0.25, nv_log1p(2 * tail - 1), nv_log(2 * nv_ifelse(tail > 0.25, 0.25, tail)))
  }
  both <- nv_min(both, 0)
  half <- scalar_like(0.5, n)
  ends <- beta_quantiles(half, n / 2, both, FALSE)
  ratio <- ends[[1L]] / ends[[2L]]
  # Of the square, where that would not be a double.
  logarithm <- -(both + t_tail_scale(n)) / n
  size <- nv_sqrt(n) * nv_ifelse(logarithm > 230, nv_exp(logarithm), nv_sqrt(ratio))
  size <- nv_ifelse(logarithm > 700, nv_exp(logarithm + nv_log(n) / 2), size)
  value <- nv_ifelse(below, -size, size)
  value <- nv_ifelse(normal, if (log) normal_log_quantile(p) else normal_quantile(p), value)
  known <- df > 0 & (if (log) p <= 0 else p >= 0 & p <= 1)
  nv_ifelse(known, value, NaN)
}

# nolint end
