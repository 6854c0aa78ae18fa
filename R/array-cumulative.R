#' Cumulative operations
#'
#' Sums, products, minima and maxima of the elements up to each one, along a dimension, or over
#' all elements in column-major order; also by R's `cumsum()`, `cumprod()`, `cummin()` and
#' `cummax()` (over all).
#'
#' Sums and products of bool and integers accumulate in 64 bits and have the dtype that the
#' promotion rules give ([promotion_facts()]). Those of floats accumulate in double, and every
#' element is rounded once; the order of the operations depends on the shape alone, so the bits do
#' not depend on the number of threads. Sums of numbers that are not negative never decrease.
#'
#' From a missing value on, all results are missing, and from a NaN on, all are NaN, as in base R.
#' With `na_rm = TRUE`, results are missing only at the positions of missing values and NaN; later
#' results are those of the other elements.
#'
#' Before it is rounded, element `k` of a sum in double is off by at most `k * 2^-53` of the sum of
#' the absolute values, and of a product by as much of the product. On a GPU the order is another
#' one, which also depends on the shape alone, and the same bounds hold. A product that has
#' overflowed or become zero stays so; one that has gone below the normal numbers (2.2e-308) has
#' lost digits on the CPU, but not all of them on a GPU. A complex one that has overflowed is
#' infinite there, whatever its parts are on the CPU.
#'
#' @param x A tensor, or an R number or array, whose values are exact.
#' @param dim The dimension along which to accumulate, or its name; negative ones count from the
#'   last. `NULL` for all elements in column-major order.
#' @param dtype The dtype of the result instead of the usual one. Elements that are floats are
#'   converted to an integer dtype before they are added or multiplied, and all to `bool`.
#' @param na_rm `TRUE` leaves missing values and NaN out; the result is missing at their positions.
#' @return A tensor of the shape of `x`, or of rank 1 if `dim` is `NULL`. Under the default rules
#'   sums and products of bool and signed integers have dtype `i64`, of unsigned ones `ui64`; those
#'   of floats and complex numbers have their own dtype; minima and maxima keep the dtype.
#' @section Errors: `joist_shape_error` for a dimension that does not exist, and for more than
#'   2^31 - 1 elements without `dim`; `joist_dtype_error` for minima and maxima of complex numbers,
#'   which have no order.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i8")
#' nv_cumsum(x, dim = 2)
#' nv_cumsum(x)
#' nv_cumprod(x, dim = 1, dtype = "f32")
#' cummax(nv_tensor(c(1, 3, 2, NaN, 4)))
#' cumsum(nv_tensor(c(1, NA, 3), "ui8"))
#' nv_cumsum(nv_tensor(c(1, NA, 3), "ui8"), na_rm = TRUE)
#' @export
nv_cumsum <- function(x, dim = NULL, dtype = NULL, na_rm = FALSE) {
  scan_dim("cumsum", x, dim, dtype, na_rm)
}

#' @rdname nv_cumsum
#' @export
nv_cumprod <- function(x, dim = NULL, dtype = NULL, na_rm = FALSE) {
  scan_dim("cumprod", x, dim, dtype, na_rm)
}

#' @rdname nv_cumsum
#' @export
nv_cummin <- function(x, dim = NULL, na_rm = FALSE) scan_dim("cummin", x, dim, NULL, na_rm)

#' @rdname nv_cumsum
#' @export
nv_cummax <- function(x, dim = NULL, na_rm = FALSE) scan_dim("cummax", x, dim, NULL, na_rm)

scan_dim <- function(name, x, dim, dtype, remove = FALSE) {
  if (!is.null(dtype)) x <- as_wholes(x, dtype)
  refuse_nan_in_chunks(x, remove)
  .Call(joist_r_operation, name, list(x), list(dim = dim, dtype = dtype, na_rm = remove))
}

#' Positions of extremes
#'
#' The position of the smallest or the largest element, along a dimension or among all elements in
#' column-major order: the first one if there are several. NaN counts as the extreme: if there is a
#' NaN, the position is that of the first. Missing values are left out; if all elements are missing,
#' so is the position.
#'
#' [which.min()] and [which.max()] of a tensor leave NaN out, too, and return R numbers.
#'
#' @inheritParams nv_cumsum
#' @param dim The dimension along which to search, or its name; negative ones count from the last.
#'   `NULL` for all elements.
#' @param drop `FALSE` keeps the dimensions that are searched, with extent 1.
#' @return A tensor of known dtype `i32`; positions count from 1.
#' @section Errors: `joist_shape_error` for a dimension that does not exist, and for more than
#'   2^31 - 1 elements without `dim`; `joist_value_error` without elements;
#'   `joist_dtype_error` for complex numbers, which have no order.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 6), 2))
#' nv_argmax(x)
#' nv_argmin(x, dim = 2)
#' nv_argmin(nv_tensor(c(NA, 2, 1), "ui8"))
#' nv_argmax(x, dim = 1, drop = FALSE)
#' @export
nv_argmin <- function(x, dim = NULL, drop = TRUE) position_of("argmin", x, dim, drop)

#' @rdname nv_argmin
#' @export
nv_argmax <- function(x, dim = NULL, drop = TRUE) position_of("argmax", x, dim, drop)

position_of <- function(name, x, dim, drop) {
  check_flag(drop, "drop")
  .Call(joist_r_operation, name, list(carried_number(x)), list(dim = dim, drop = drop))
}
