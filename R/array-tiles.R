#' Grids, tiles and turned matrices
#'
#' `nv_meshgrid()` repeats coordinates over a grid, `nv_tile()` repeats a whole tensor along its
#' dimensions, `nv_rot90()` turns it by quarters of a circle in the plane of two dimensions.
#'
#' @param ... Tensors of rank 1, or R vectors: the coordinates along each dimension.
#' @param indexing `"xy"` if the first two dimensions of the grid are those of the second and the
#'   first coordinates, as in NumPy; `"ij"` if dimension k has coordinates k.
#' @param x A tensor, or an R number or array.
#' @param times How often to repeat along each dimension: whole R numbers. Dimensions beyond the
#'   rank of `x` come last.
#' @param k The number of quarters from the first of `dims` towards the second: a whole R number,
#'   which may be negative.
#' @param dims Two dimensions, or their names.
#' @return `nv_meshgrid()`: a list of tensors of one shape, each of the dtype of its coordinates.
#'   The others: a tensor of the dtype of `x`.
#' @section Errors: `joist_value_error` for an invalid `indexing`, `times` or `k`;
#'   `joist_shape_error` for coordinates that are not of rank 1, and for `dims` that do not exist or
#'   are not two.
#' @examples
#' nv_meshgrid(nv_tensor(1:3), nv_tensor(1:2), indexing = "ij")
#' nv_tile(nv_tensor(1:2), 3)
#' nv_rot90(nv_tensor(matrix(1:6, 2)))
#' @export
nv_meshgrid <- function(..., indexing = "xy") {
  check_choice(indexing, "indexing", c("xy", "ij"))
  parts <- list(...)
  first <- first_tensor(parts)
  parts <- lapply(parts, function(x) {
    if (is.numeric(x) && !is.object(x) && is.null(dim(x))) x <- array(x)
    x <- tensor_beside(x, first)
    if (ndims(x) != 1L) stop_joist("joist_shape_error", "coordinates must be tensors of rank 1")
    x
  })
  n <- length(parts)
  order <- seq_len(n)
  if (indexing == "xy" && n > 1L) order[1:2] <- 2:1
  columns <- lapply(seq_len(n), function(k) {
    nv_reshape(parts[[k]], replace(rep(1L, n), order[k], length(parts[[k]])))
  })
  extents <- integer(n)
  extents[order] <- lengths(parts)
  lapply(columns, nv_broadcast_to, extents)
}

#' @rdname nv_meshgrid
#' @export
nv_tile <- function(x, times) {
  x <- as_operand(x)
  check_static(times, "times")
  if (!is_whole(times) || any(times < 0)) {
    stop_joist("joist_value_error", "`times` must be whole numbers of at least 0")
  }
  rank <- max(ndims(x), length(times))
  extents <- c(shape(x), rep(1L, rank - ndims(x)))
  times <- c(times, rep(1L, rank - length(times)))
  apart <- nv_reshape(x, c(rbind(extents, rep(1L, rank))))
  out <- nv_reshape(nv_broadcast_to(apart, c(rbind(extents, times))), extents * times)
  if (!has_labels(x)) {
    return(out)
  }
  labels <- c(labels_of(x), vector("list", rank - ndims(x)))
  with_labels(out, replace(labels, times != 1, list(NULL)))
}

#' @rdname nv_meshgrid
#' @export
nv_rot90 <- function(x, k = 1, dims = 1:2) {
  x <- as_operand(x)
  check_static(k, "k")
  if (!is_whole(k) || length(k) != 1L) stop_joist("joist_value_error", "`k` must be a whole number")
  dims <- dims_of(dims, x)
  if (length(dims) != 2L) stop_joist("joist_shape_error", "`dims` must be two dimensions")
  order <- replace(seq_len(ndims(x)), dims, rev(dims))
  switch(as.character(k %% 4),
    "0" = x,
    "1" = nv_transpose(nv_reverse(x, dims[2L]), order),
    "2" = nv_reverse(x, dims),
    "3" = nv_reverse(nv_transpose(x, order), dims[2L])
  )
}

#' Pack bits into bytes
#'
#' `nv_packbits()` packs eight elements in a row into a byte each, `nv_unpackbits()` takes bytes
#' apart.
#'
#' @param x `nv_packbits()`: a tensor of bool or integers, of which all but 0 are `TRUE`; the last
#'   byte is filled up with `FALSE`. `nv_unpackbits()`: a tensor of `ui8`.
#' @param dim The dimension along which the bits are, or its name; `NULL` for all elements in
#'   column-major order.
#' @param bitorder `"big"` if the first element is the highest bit, `"little"` if it is the lowest.
#' @param count How many bits to unpack along the dimension; `NULL` for all.
#' @return `nv_packbits()`: a known `ui8`; `nv_unpackbits()`: a known `bool`. The extent along `dim`
#'   is an eighth, rounded up, or `count`; without `dim` the rank is 1. A byte is missing where one
#'   of its bits is.
#' @section Errors: `joist_dtype_error` for other dtypes; `joist_shape_error` for a dimension that
#'   does not exist; `joist_value_error` for an invalid `bitorder` or `count`.
#' @examples
#' nv_packbits(nv_tensor(c(TRUE, FALSE, TRUE)))
#' nv_unpackbits(nv_tensor(160L, "ui8"), count = 3)
#' @export
nv_packbits <- function(x, dim = NULL, bitorder = "big") {
  check_choice(bitorder, "bitorder", c("big", "little"))
  x <- as_operand(x)
  if (is_inexact_dtype(x)) {
    stop_joist("joist_dtype_error", "bits are bool or integers, not ", format(dtype(x)))
  }
  line <- line_of(x, dim)
  extents <- shape(line$x)
  bits <- nv_convert(nv_convert(line$x, "bool"), "ui8")
  rest <- (-extents[line$dim]) %% 8L
  edge <- replace(rep(0, length(extents)), line$dim, rest)
  if (rest > 0) bits <- nv_pad(bits, scalar_like(0L, bits), 0, edge)
  apart <- bit_shape(extents, line$dim, (extents[line$dim] + rest) / 8)
  value <- bit_values(bitorder, apart, line$dim, bits)
  nv_reduce_sum(nv_reshape(bits, apart) * value, line$dim, dtype = "ui8")
}

#' @rdname nv_packbits
#' @export
nv_unpackbits <- function(x, dim = NULL, bitorder = "big", count = NULL) {
  check_choice(bitorder, "bitorder", c("big", "little"))
  x <- as_operand(x)
  if (format(dtype(x)) != "ui8") {
    stop_joist("joist_dtype_error", "bytes are ui8, not ", format(dtype(x)))
  }
  line <- line_of(x, dim)
  extents <- shape(line$x)
  n <- extents[line$dim]
  if (!is.null(count)) check_whole(count, "count")
  apart <- bit_shape(extents, line$dim, n)
  value <- bit_values(bitorder, apart, line$dim, x)
  bits <- nv_bitwise_and(nv_reshape(line$x, replace(apart, line$dim, 1L)), value) != 0L
  bits <- nv_reshape(bits, replace(extents, line$dim, 8 * n))
  if (is.null(count) || count == 8 * n) {
    return(bits)
  }
  if (count > 8 * n) {
    stop_joist("joist_value_error", "`count` is ", count, ", but there are ", 8 * n, " bits")
  }
  slice_along(bits, line$dim, 1, count)
}

# A tensor and a dimension of it: of all elements in a row without one.
line_of <- function(x, dim) {
  if (is.null(dim)) {
    list(x = nv_flatten(x), dim = 1L)
  } else {
    list(x = x, dim = dims_of(dim, x, "dim", single = TRUE))
  }
}

bit_shape <- function(extents, dim, bytes) append(replace(extents, dim, bytes), 8L, dim - 1L)

bit_values <- function(bitorder, extents, dim, x) {
  values <- as.integer(2^(0:7))
  if (bitorder == "big") values <- rev(values)
  made <- nv_tensor(values, "ui8", replace(rep(1L, length(extents)), dim, 8L))
  beside(made, x)
}
