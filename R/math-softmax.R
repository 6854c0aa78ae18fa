#' Log-sum-exp, softmax and related functions
#'
#' `nv_logsumexp()` is the logarithm of the sum of exponentials, `nv_softmax()` the share of each
#' exponential in that sum, and `nv_log_softmax()` the logarithm of the share. The greatest element
#' is subtracted first, so that nothing overflows. `nv_softplus()` is log(1 + exp(x)), and
#' `nv_gelu()` is x times the distribution function of the normal distribution, elementwise.
#'
#' `f16` and `bf16` are computed in `f32` and rounded once. In `f64` and `f32` errors are at most 8
#' ulp, for `nv_logsumexp()` and `nv_log_softmax()` of the greater of 1 and the largest element;
#' those of a sum of many elements grow as those of [nv_reduce_sum()]. `nv_gelu()` loses at most 2
#' x^2 ulp in the negative tail.
#'
#' @param x A tensor, or an R number or array.
#' @param dims Dimensions to sum over, or their names; `NULL` for all.
#' @param drop `FALSE` keeps the dimensions that are summed over, with extent 1.
#' @return A tensor. Float dtypes are kept; bool and integers become what the promotion rules say,
#'   see [promotion_facts()].
#' @section Errors: `joist_promotion_error` when the rules know no float for the dtype;
#'   `joist_dtype_error` for complex tensors; `joist_shape_error` for dimensions that do not exist.
#' @examples
#' x <- nv_tensor(matrix(c(1, 2, 3, 1000, 1001, 1002), 3), "f64")
#' nv_logsumexp(x, 1)
#' nv_softmax(x, 1)
#' nv_softplus(nv_tensor(c(-800, 0, 800)))
#' nv_gelu(nv_tensor(c(-1, 0, 1)))
#' @export
nv_logsumexp <- function(x, dims = NULL, drop = TRUE) {
  fused("logsumexp", logsumexp, x, dims_by_name(dims, x), drop)
}

#' @rdname nv_logsumexp
#' @export
nv_softmax <- function(x, dims = NULL) fused("softmax", softmax, x, dims_by_name(dims, x))

#' @rdname nv_logsumexp
#' @export
nv_log_softmax <- function(x, dims = NULL) {
  fused("log_softmax", log_softmax, x, dims_by_name(dims, x))
}

#' @rdname nv_logsumexp
#' @export
nv_softplus <- function(x) fused("softplus", softplus, x)

#' @rdname nv_logsumexp
#' @export
nv_gelu <- function(x) fused("gelu", gelu, x)

logsumexp <- function(x, dims, drop) {
  in_wide_float(x, function(x, top) {
    sum <- nv_log(nv_reduce_sum(nv_exp(x), dims, drop))
    sum + (if (drop) nv_reshape(top, shape(sum)) else top)
  }, dims = dims)
}

softmax <- function(x, dims) {
  in_wide_float(x, function(x, top) {
    part <- nv_exp(x)
    part / nv_reduce_sum(part, dims, drop = FALSE)
  }, dims = dims)
}

log_softmax <- function(x, dims) {
  in_wide_float(x, function(x, top) x - nv_log(nv_reduce_sum(nv_exp(x), dims, drop = FALSE)),
    dims = dims
  )
}

softplus <- function(x) {
  in_wide_float(x, custom_gradient(
    function(x) nv_max(x, 0) + nv_log1p(nv_exp(-nv_abs(x))),
    function(cotangent, value, x) list(cotangent * nv_logistic(x))
  ))
}

gelu <- function(x) in_wide_float(x, function(x) x * (nv_erfc(x * -sqrt(0.5)) * 0.5))

# The greatest element along dims, as a constant; 0 where that is infinite.
greatest <- function(x, dims) {
  top <- nv_stop_gradient(nv_reduce_max(x, dims, drop = FALSE))
  nv_ifelse(nv_is_finite(top), top, 0)
}

# What `f` gives for floats, computed in `least` at least and rounded to the float that belongs to
# the dtype of `x`: what exp() makes of it. With `dims`, also NULL for all, `f` gets the distances
# from the greatest element along them and that element, and the float is that of a maximum.
in_wide_float <- function(x, f, least = "f32", dims) {
  x <- as_operand(x)
  check_real(x)
  like <- nv_exp(nv_aval(dtype(x), 1L, ambiguous(x)))
  if (!missing(dims)) like <- nv_reduce_max(like)
  wide <- if (format(dtype(like)) == "f64") "f64" else least
  result <- if (missing(dims)) {
    f(to_float(x, wide))
  } else if (is_int64(x)) {
    top <- nv_reduce_max(x, dims, drop = FALSE)
    distance <- half_by_half(in_halves(x), in_halves(top))
    f(nv_convert(distance, wide), nv_convert(top, wide))
  } else if (type_string(x) %of% c("i32", "ui32")) {
    # Distances are exact, and then rounded.
    x <- nv_convert(x, "f64")
    top <- greatest(x, dims)
    f(nv_convert(x - top, wide), nv_convert(top, wide))
  } else {
    x <- to_float(x, wide)
    top <- greatest(x, dims)
    f(x - top, top)
  }
  nv_convert(result, dtype(like), ambiguous(like))
}
