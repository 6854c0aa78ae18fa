#' The inverse of the error function
#'
#' `nv_erf_inv(x)` is the number whose [nv_erf()] is x, elementwise: infinite for 1 and -1, NaN
#' beyond them. Computed in `f64` with an error of at most 4 ulp there, and rounded once to other
#' dtypes.
#'
#' @param x A tensor, or an R number or array.
#' @return A tensor. Float dtypes are kept; bool and integers become what the promotion rules say,
#'   see [promotion_facts()].
#' @section Errors: `joist_promotion_error` when the rules know no float for the dtype;
#'   `joist_dtype_error` for complex tensors.
#' @references
#' S. Winitzki (2008): A handy approximation for the error function and its inverse.
#' @examples
#' nv_erf_inv(nv_tensor(c(-1, -0.5, 0, 0.999), "f64"))
#' sqrt(2) * nv_erf_inv(2 * nv_scalar(0.975, "f64") - 1)
#' @export
nv_erf_inv <- function(x) fused("erf_inv", erf_inv, x)

erf_inv <- function(x) {
  inverse <- custom_gradient(
    erf_inv_f64,
    function(cotangent, value, x) list(cotangent * (sqrt(pi) / 2 * nv_exp(value * value)))
  )
  in_wide_float(x, inverse, "f64")
}

# Winitzki's approximation, whose error is 0.2 percent, and three steps of Halley's method,
# which cube it: below one half with erf(), above with erfc(), of which 1 - x has all digits.
erf_inv_f64 <- function(x) {
  size <- nv_abs(x)
  inside <- nv_ifelse(size < 1, size, 0.5)
  rest <- 1 - inside
  near <- inside < 0.5
  logarithm <- nv_ifelse(near, nv_log1p(-inside * inside), nv_log(rest * (1 + inside)))
  middle <- 2 / (pi * 0.147) + logarithm / 2
  root <- nv_sqrt(middle * middle - logarithm / 0.147)
  # root - middle, where these are nearly equal
  guess <- nv_sqrt(-logarithm / 0.147 / (root + middle))
  for (step in 1:3) {
    error <- nv_ifelse(near, nv_erf(guess) - inside, rest - nv_erfc(guess))
    newton <- error / (2 / sqrt(pi) * nv_exp(-guess * guess))
    guess <- guess - newton / (1 + guess * newton)
  }
  edge <- nv_ifelse(size == 1, Inf, nv_ifelse(size < 1, guess, NaN))
  # The smallest numbers are not divided by.
  edge <- nv_ifelse(size < 1e-8, size * (sqrt(pi) / 2), edge)
  nv_ifelse(x < 0, -edge, edge)
}
