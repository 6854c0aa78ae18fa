#' Rolling statistics
#'
#' `nv_rolling()` returns a statistic of the last `k` elements at each element along a dimension.
#'
#' Sums and means are those of [nv_reduce_window()], unless missing values are left out. The
#' variance and the median are computed from an array of all windows, `k` times as large as `x`.
#'
#' @param x A tensor or an R array of real numbers.
#' @param k The length of a window, a whole R number.
#' @param fun `"mean"`, `"sum"`, `"min"`, `"max"`, `"var"` (divided by the number of elements minus
#'   1) or `"median"`.
#' @param dim A dimension, or its name.
#' @param partial `TRUE` for a result of the extent of `x`, in which the first `k - 1` windows are
#'   shorter; `FALSE` leaves these out.
#' @param na_rm `TRUE` leaves out missing values and NaN.
#' @return A tensor of the shape of `x`, without `partial` of `k - 1` elements less along `dim`. Its
#'   dtype is that of [nv_reduce_sum()], [nv_reduce_min()] and [nv_reduce_max()], else that of
#'   [nv_mean()]. A result has the name of the last element of its window.
#' @section Errors: `joist_value_error` for a `k` that is not a positive whole number, or an unknown
#'   `fun`; `joist_shape_error` for a dimension that does not exist, or shorter than `k` (without
#'   `partial`); `joist_dtype_error` for complex numbers.
#' @examples
#' x <- nv_tensor(c(1, 4, 2, 8, 5), "f64")
#' nv_rolling(x, 3)
#' nv_rolling(x, 3, "max", partial = TRUE)
#' nv_rolling(nv_tensor(c(1, NA, 3, 5)), 2, "sum", na_rm = TRUE)
#' @export
nv_rolling <- function(x, k, fun = "mean", dim = 1L, partial = FALSE, na_rm = FALSE) {
  check_choice(fun, "fun", c("mean", "sum", "min", "max", "var", "median"))
  check_whole(k, "k", 1)
  check_flag(partial, "partial")
  check_flag(na_rm, "na_rm")
  x <- as_operand(x)
  check_real(x)
  dim <- dims_of(dim, x, "dim", single = TRUE)
  if (!partial && k > shape(x)[dim]) {
    stop_joist(
      "joist_shape_error", "windows of ", k, " elements do not fit into an extent of ",
      shape(x)[dim]
    )
  }
  if (!na_rm && !fun %of% c("var", "median")) {
    padding <- list(c(if (partial) k - 1 else 0, 0))
    made <- nv_reduce_window(x, k, fun, 1, padding, 1, dim, count_padding = !partial)
  } else {
    made <- fused("rolling", rolling_statistic, x, k, fun, dim, partial, na_rm)
  }
  if (any(lengths(labels_of(x)) > 0L) && !partial) {
    x <- window_part(x, list(dim = dim), k, shape(x)[dim] - k + 1)
  }
  same_names(made, x)
}

rolling_statistic <- function(x, k, fun, dim, partial, na_rm) {
  rank <- ndims(x)
  windows <- x
  if (partial) {
    before <- nv_broadcast_to(
      nv_mask(scalar_like(0, x), TRUE), replace(shape(x), dim, as.integer(k - 1))
    )
    windows <- nv_concatenate(before, x, dim = dim)
  }
  windows <- nv_unfold(windows, k, dim = dim)
  last <- rank + 1L
  made <- switch(fun,
    mean = nv_mean(windows, last, na_rm = TRUE), sum = nv_reduce_sum(windows, last, na_rm = TRUE),
    min = nv_reduce_min(windows, last, na_rm = TRUE),
    max = nv_reduce_max(windows, last, na_rm = TRUE), var = nv_var(windows, last, na_rm = TRUE),
    median = like(
      nv_reshape(
        middle_of_present(nv_sort(nan_as_missing(windows), last), last), shape(windows)[-last]
      ), nv_mean(none_of(windows))
    )
  )
  if (na_rm) {
    return(made)
  }
  # What was left out are only the elements before the first.
  among <- function(flags) {
    nv_reduce_window(flags, k, "max", 1, list(c(if (partial) k - 1 else 0, 0)), 1, dim)
  }
  nan <- nv_replace_na(nv_is_nan(x), FALSE)
  if (is_float_dtype(x)) made <- nv_ifelse(among(nan), scalar_like(NaN, made), made)
  nv_mask(made, among(nv_is_na(x) & !nan))
}
