#' Derivatives of the digamma function
#'
#' `nv_polygamma(n, x)` is the derivative of order `n` of [nv_digamma()], elementwise;
#' `nv_trigamma()` is the first one. R's generic `trigamma()` calls it.
#'
#' Computed in `f64` from ordinary operations, and rounded once to the dtype of the result. For `n`
#' up to 10 the error in `f64` is at most 16 ulp, of higher orders 32 ulp. Negative numbers are
#' reflected: near the zeros that even orders have there, the error is in ulp of the terms whose
#' difference the result is. At 0 and the negative whole numbers odd orders are Inf and even ones
#' NaN.
#'
#' @param n The order, a whole R number from 0 to 20.
#' @param x A tensor, or an R number or array.
#' @return A tensor. Float dtypes are kept; bool and integers become what the promotion rules say,
#'   see [promotion_facts()].
#' @section Errors: `joist_value_error` for another order; `joist_promotion_error` when the rules
#'   know no float for the dtype; `joist_dtype_error` for complex tensors.
#' @references
#' NIST Digital Library of Mathematical Functions, 5.15.
#' @examples
#' nv_trigamma(nv_tensor(c(0.5, 1, 10), "f64"))
#' nv_polygamma(3, nv_tensor(1, "f64"))
#' @export
nv_polygamma <- function(n, x) {
  if (!is_whole(n) || length(n) != 1L || n < 0 || n > 20) {
    stop_joist("joist_value_error", "`n` must be a whole number from 0 to 20")
  }
  if (n == 0) {
    return(nv_digamma(x))
  }
  fused("polygamma", polygamma, x, n)
}

#' @rdname nv_polygamma
#' @export
nv_trigamma <- function(x) nv_polygamma(1, x)

polygamma <- function(x, n) {
  x <- as_operand(x)
  # What float the result is, digamma() decides.
  like <- nv_digamma(nv_aval(dtype(x), integer(), ambiguous(x)))
  slope <- custom_gradient(
    function(x) polygamma_f64(n, x),
    function(cotangent, value, x) list(cotangent * nv_polygamma(n + 1, x))
  )
  nv_convert(slope(to_float(x, "f64")), dtype(like), ambiguous(like))
}

polygamma_f64 <- function(n, x) {
  below <- x <= 0
  positive <- polygamma_positive(n, nv_ifelse(below, 1 - x, x))
  # pi times the derivative of order n of cot(pi x), a polynomial of the cotangent.
  part <- x - nv_round(x)
  high <- abs(part) > 0.25
  tangent <- nv_tan(pi * nv_ifelse(high, nv_sign(part) * 0.5 - part, part))
  cotangent <- nv_ifelse(high, tangent, 1 / tangent)
  slope <- pi^(n + 1) * polynomial_in(cotangent * cotangent, cotangent_slope(n))
  if (n %% 2 == 0) {
    slope <- nv_ifelse(part == 0, NaN, slope * cotangent)
    return(nv_ifelse(below, positive - slope, positive))
  }
  nv_ifelse(below, -slope - positive, positive)
}

# By recurrence to where the asymptotic series has converged: all terms have one sign.
polygamma_positive <- function(n, x) {
  shift <- 10 + n
  near <- Reduce(`+`, lapply(seq(shift - 1, 0), function(k) (1 / (x + k))^(n + 1)))
  far <- x + shift
  inverse <- 1 / far
  k <- seq_along(even_bernoulli)
  series <- even_bernoulli * exp(lfactorial(2 * k + n - 1) - lfactorial(2 * k) - lfactorial(n - 1))
  tail <- polynomial_in(inverse * inverse, c(1, series)) + n / 2 * inverse
  (factorial(n) * near + factorial(n - 1) * inverse^n * tail) * (if (n %% 2 == 0) -1 else 1)
}

# B(2), B(4), ...
even_bernoulli <- c(
  1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
  -174611 / 330, 854513 / 138, -236364091 / 2730
)

polynomial_in <- function(x, coefficients) {
  Reduce(function(sum, coefficient) sum * x + coefficient, rev(coefficients))
}

# The derivative of order n of cot(x) is a polynomial of cot(x), even or odd: its coefficients in
# the square, without the last factor where it is odd.
cotangent_slope <- function(n) {
  coefficients <- c(0, 1)
  for (k in seq_len(n)) {
    slope <- coefficients[-1L] * seq_along(coefficients[-1L])
    coefficients <- -(c(slope, 0, 0) + c(0, 0, slope))
  }
  coefficients[seq_along(coefficients) %% 2 == (n %% 2)]
}
