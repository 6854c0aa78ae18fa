#' Sums and means of rows and columns
#'
#' Sums and means of the rows and columns of a matrix, as by `rowSums()` and its relatives, which
#' call these functions for tensors (see [base_functions]). Of a tensor of higher rank, the first
#' `dims` dimensions are the rows and the others the columns: `nv_row_sums()` keeps the former and
#' `nv_col_sums()` the latter.
#'
#' @param x A tensor or an R array of rank 2 or more.
#' @param dims The number of dimensions that are rows: the first ones.
#' @param dtype The dtype of the result instead of that of [nv_reduce_sum()] or [nv_mean()].
#' @param na_rm `TRUE` leaves out missing values and NaN: a mean is then that of the rest, a sum of
#'   nothing 0 and a mean of nothing NaN. Otherwise a result is missing if one of its elements is.
#' @return A tensor with the extents of the rows or of the columns, of the dtype of
#'   [nv_reduce_sum()] or [nv_mean()].
#' @section Errors: `joist_shape_error` when the rank is less than 2, or `dims` leaves no
#'   dimension for the columns; `joist_dtype_error` for a mean of another dtype than a float or
#'   complex one.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i8")
#' nv_row_sums(x)
#' nv_col_means(x)
#' nv_row_sums(nv_tensor(matrix(c(1, NA, 3, 4), 2), "ui8"), na_rm = TRUE)
#' @export
nv_row_sums <- function(x, dims = 1L, dtype = NULL, na_rm = FALSE) {
  nv_reduce_sum(x, -row_dims(x, dims), dtype = dtype, na_rm = na_rm)
}

#' @rdname nv_row_sums
#' @export
nv_col_sums <- function(x, dims = 1L, dtype = NULL, na_rm = FALSE) {
  nv_reduce_sum(x, row_dims(x, dims), dtype = dtype, na_rm = na_rm)
}

#' @rdname nv_row_sums
#' @export
nv_row_means <- function(x, dims = 1L, dtype = NULL, na_rm = FALSE) {
  nv_mean(x, -row_dims(x, dims), dtype = dtype, na_rm = na_rm)
}

#' @rdname nv_row_sums
#' @export
nv_col_means <- function(x, dims = 1L, dtype = NULL, na_rm = FALSE) {
  nv_mean(x, row_dims(x, dims), dtype = dtype, na_rm = na_rm)
}

row_dims <- function(x, dims) {
  rank <- length(part_shape(x))
  if (rank < 2L) {
    stop_joist("joist_shape_error", "rows and columns need rank 2 or more, not ", rank)
  }
  check_dims(dims, "dims", rank - 1L, single = TRUE)
  seq_len(dims)
}

#' Apply a function to slices
#'
#' `nv_apply()` calls `f` on every slice of a tensor, which is itself a tensor: for a matrix and
#' `dims = 1`, on every row. Base R's [apply()] takes tensors, too, but calls the function on R
#' vectors.
#'
#' @param x A tensor or an R array.
#' @param dims The dimensions to loop over, or their names, like `MARGIN` of [apply()]: there is a
#'   slice for each index along them, and slices do not have them.
#' @param f A function of a tensor.
#' @param ... Further arguments of `f`.
#' @return If all results are tensors of one shape: a tensor of their common dtype with the
#'   extents of one result, then those of `dims`, with their names; otherwise a list of the results
#'   in column-major order. Without slices, `f` is called on an [nv_aval()].
#' @section Errors: `joist_shape_error` for dimensions that do not exist; those of `f`.
#' @examples
#' x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
#' nv_apply(x, 1, sort)
#' nv_apply(x, 2, function(column) column / sum(column))
#' nv_apply(x, 1, as_array)
#' @export
nv_apply <- function(x, dims, f, ...) {
  force(f)
  f <- as_function(match.fun(f), "f")
  x <- as_operand(x)
  extents <- shape(x)
  dims <- dims_of(dims, x)
  if (length(dims) == 0L) {
    stop_joist("joist_shape_error", "`dims` must name some of the dimensions")
  }
  kept <- extents[-dims]
  if (prod(extents[dims]) == 0) {
    one <- f(nv_aval(dtype(x), kept, ambiguous(x)), ...)
    return(if (inherits(one, "nv_tensor")) empty_like(one, extents[dims], x) else list())
  }
  results <- each_slice(x, dims, kept, f, ...)
  one <- if (is_tensor(results[[1L]])) shape(results[[1L]])
  same <- function(y) is_tensor(y) && identical(shape(y), one)
  if (!all(vapply(results, same, NA))) {
    return(results)
  }
  out <- nv_reshape(.Call(joist_r_concatenate, results, 1L, TRUE), c(one, extents[dims]))
  with_labels(out, c(labels_of(results[[1L]]), labels_of(x)[dims]))
}

# The names along each dimension.
labels_of <- function(x) {
  labels <- if (ndims(x) > 1L) dimnames(x) else if (ndims(x) == 1L) list(names(x))
  if (is.null(labels)) vector("list", ndims(x)) else labels
}

with_labels <- function(x, labels) {
  if (all(lengths(labels) == 0L)) {
    return(x)
  }
  with_names(x, if (ndims(x) > 1L) labels else labels[[1L]])
}

# What f gives for every slice. Small ones that are in R's memory are made some at a time.
each_slice <- function(x, dims, kept, f, ...) {
  extents <- shape(x)
  count <- prod(extents[dims])
  at_once <- 2^16 %/% max(1, prod(kept))
  if (at_once > 1 && has_elements(x) && !is_chunked(x) &&
    is.null(.Call(joist_r_device_of, x))) {
    labels <- labels_of(x)[-dims]
    named <- any(lengths(labels) > 0L)
    x <- nv_transpose(x, c(seq_along(extents)[-dims], dims))
    results <- lapply(seq.int(1, count, at_once), function(first) {
      pieces <- .Call(joist_r_pieces, x, kept, first, min(at_once, count - first + 1))
      if (named) pieces <- lapply(pieces, with_labels, labels)
      lapply(pieces, function(slice) f(slice, ...))
    })
    return(unlist(results, recursive = FALSE))
  }
  at <- arrayInd(seq_len(count), extents[dims])
  lapply(seq_len(count), function(k) {
    start <- replace(rep(1L, length(extents)), dims, at[k, ])
    f(slice(x, start, 1L, replace(extents, dims, 1L), kept), ...)
  })
}

# No elements, of the type of `one`, with a shape that ends in `extents`, where `x` is.
empty_like <- function(one, extents, x) {
  none <- nv_tensor(logical(), shape = c(shape(one), extents))
  beside(nv_convert(none, dtype(one), ambiguous(one)), x)
}
