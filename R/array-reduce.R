#' Reductions
#'
#' Sums, products, minima, maxima, ranges, means, and whether any or all elements are not zero: over
#' all dimensions, or over some; also by R's `sum()`, `prod()`, `min()`, `max()`, `range()`,
#' `mean()`, `any()` and `all()` (over all).
#'
#' Sums and products of bool and integers accumulate in 64 bits, where they wrap around beyond 2^63
#' (2^64 for unsigned ones), with a warning, of floats in double. The promotion rules give the dtype
#' of the result for integers ([promotion_facts()]: 64 bits under anvil, where a sum of `i8` is
#' `i64`). The order of the additions is a fixed tree, so the bits do not depend on the number of
#' threads. A NaN makes a minimum or maximum NaN. `nv_reduce_min()` and `nv_reduce_max()` reduce one
#' tensor; [nv_min()] and [nv_max()] compare the elements of two.
#'
#' A reduction is missing if one of its elements is, unless `na_rm = TRUE` leaves it out.
#' `nv_reduce_any()` and `nv_reduce_all()` follow R's three-valued logic: any of `NA` and `TRUE` is
#' `TRUE`.
#'
#' @param x A tensor, or an R number or array.
#' @param dims Dimensions to reduce: positive numbers, their names (those of `dimnames(x)`),
#'   or negative numbers of those to keep; `NULL` for all. A traced tensor has no names.
#' @param drop `FALSE` keeps the reduced dimensions with extent 1.
#' @param dtype The dtype of the result instead of the usual one. Elements that are floats are
#'   converted to an integer dtype before they are added or multiplied, and all to `bool`.
#' @param na_rm `TRUE` leaves out missing values and NaN: a mean is then that of the rest. Where
#'   nothing is left, a sum is 0, a product 1, a mean NaN, and an extreme is infinite in a float
#'   dtype and missing in others.
#' @return A tensor. Under the default rules sums and products of bool and signed integers have
#'   dtype `i64`, of unsigned ones `ui64`; those of floats and complex numbers have their own
#'   dtype; minima and maxima keep the dtype; `nv_range()` has both, minima first, along a new first
#'   dimension; `nv_mean()` gives a float as [nv_div()] does; `nv_reduce_any()` and
#'   `nv_reduce_all()` are known `bool`.
#' @section Errors: `joist_shape_error` for a dimension that does not exist; `joist_value_error` for
#'   the minimum or maximum of a tensor without elements; `joist_dtype_error` for minima and maxima
#'   of complex numbers, which have no order.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i8")
#' nv_reduce_sum(x)
#' nv_reduce_sum(x, dims = 2)
#' nv_mean(x, dims = 1, drop = FALSE)
#' max(x)
#' nv_range(x, dims = 2)
#' nv_reduce_sum(nv_tensor(c(1, NA, 3), "ui8"), na_rm = TRUE)
#' @export
nv_reduce_sum <- function(x, dims = NULL, drop = TRUE, dtype = NULL, na_rm = FALSE) {
  if (!is.null(dtype)) x <- as_wholes(x, dtype)
  if (is_chunked(x) && is_int64(x) && !is.null(dtype) && dtype_kind(as_dtype(dtype)) == "float") {
    x <- to_float(x, "f64")
  }
  attributes <- list(dims = dims, drop = drop, dtype = dtype, na_rm = na_rm)
  if (has_nan_in_chunks(x, na_rm)) x <- nan_to(0, x)
  add_up <- function(x) .Call(joist_r_operation, "reduce_sum", list(x), attributes)
  sum <- add_up(x)
  # Sums of chunks may exceed 64 bits where the sum of all does not.
  if (!is_chunked(x) || !is_int64(x) || dtype(sum) != dtype(x)) {
    return(sum)
  }
  nv_convert(joined_halves(lapply(integer_halves(x), add_up)), dtype(x), ambiguous(sum))
}

#' @rdname nv_reduce_sum
#' @export
nv_reduce_prod <- function(x, dims = NULL, drop = TRUE, dtype = NULL, na_rm = FALSE) {
  if (!is.null(dtype)) x <- as_wholes(x, dtype)
  attributes <- list(dims = dims, drop = drop, dtype = dtype, na_rm = na_rm)
  if (has_nan_in_chunks(x, na_rm)) x <- nan_to(1, x)
  .Call(joist_r_operation, "reduce_prod", list(x), attributes)
}

#' @rdname nv_reduce_sum
#' @export
nv_reduce_min <- function(x, dims = NULL, drop = TRUE, na_rm = FALSE) {
  attributes <- list(dims = dims, drop = drop, na_rm = na_rm)
  refuse_nan_in_chunks(x, na_rm)
  .Call(joist_r_operation, "reduce_min", list(x), attributes)
}

#' @rdname nv_reduce_sum
#' @export
nv_reduce_max <- function(x, dims = NULL, drop = TRUE, na_rm = FALSE) {
  attributes <- list(dims = dims, drop = drop, na_rm = na_rm)
  refuse_nan_in_chunks(x, na_rm)
  .Call(joist_r_operation, "reduce_max", list(x), attributes)
}

#' @rdname nv_reduce_sum
#' @export
nv_range <- function(x, dims = NULL, drop = TRUE, na_rm = FALSE) {
  low <- nv_reduce_min(x, dims, drop, na_rm)
  high <- nv_reduce_max(x, dims, drop, na_rm)
  if (!is_chunked(low)) {
    extents <- c(1L, shape(low))
    return(joined_as(low, .Call(
      joist_r_concatenate, list(low, high), 1L, list(extents, extents)
    )))
  }
  first <- nv_tensor(c(TRUE, FALSE), shape = c(2L, rep_len(1L, ndims(low))))
  nv_ifelse(first, nv_unsqueeze(low, 1L), nv_unsqueeze(high, 1L))
}

#' @rdname nv_reduce_sum
#' @export
nv_mean <- function(x, dims = NULL, drop = TRUE, dtype = NULL, na_rm = FALSE) {
  refuse_nan_in_chunks(x, na_rm)
  if (isTRUE(na_rm) && is_gapped_int64(x) && count_reduced(x, dims_by_name(dims, x)) > 0) {
    dims <- dims_by_name(dims, x)
    exact <- with_promotion("anvil", fused("mean", exact_mean, x, dims, drop, span_of(x)))
    return(like(exact, nv_mean(none_of(x), dtype = dtype)))
  }
  if (is_chunked(x) && is_int64(x) && !isTRUE(na_rm)) {
    return(delayed_moments(x, dims_by_name(dims, x), drop, dtype = dtype))
  }
  attributes <- list(dims = dims, drop = drop, dtype = dtype, na_rm = na_rm)
  .Call(joist_r_operation, "mean", list(x), attributes)
}

# Elements that are summed in an integer dtype or bool become that first, so that what does not fit
# is found.
as_wholes <- function(x, dtype) {
  first <- is_tensor(x) && switch(dtype_kind(as_dtype(dtype)),
    bool = TRUE,
    int = ,
    uint = is_inexact_dtype(x),
    FALSE
  )
  if (first) nv_convert(x, dtype) else x
}

# Elements that a store may have, which a reduction of chunks does not leave out.
has_nan_in_chunks <- function(x, na_rm) isTRUE(na_rm) && is_chunked(x) && is_inexact(x)

refuse_nan_in_chunks <- function(x, na_rm) {
  if (has_nan_in_chunks(x, na_rm)) stop_in_store()
}

stop_in_store <- function() {
  stop_joist("joist_value_error", "`na_rm` needs the elements in memory; call nv_compute() first")
}

is_gapped_int64 <- function(x) is_tensor(x) && !is_chunked(x) && is_int64(x) && may_be_na(x)

#' @rdname nv_reduce_sum
#' @export
nv_reduce_any <- function(x, dims = NULL, drop = TRUE, na_rm = FALSE) {
  if (has_nan_in_chunks(x, na_rm)) x <- nan_to(0, x)
  attributes <- list(dims = dims, drop = drop, na_rm = na_rm)
  .Call(joist_r_operation, "reduce_any", list(x), attributes)
}

#' @rdname nv_reduce_sum
#' @export
nv_reduce_all <- function(x, dims = NULL, drop = TRUE, na_rm = FALSE) {
  attributes <- list(dims = dims, drop = drop, na_rm = na_rm)
  .Call(joist_r_operation, "reduce_all", list(x), attributes)
}
