#' Pad and split tensors, triangles and diagonals
#'
#' `nv_pad()` puts a value around a tensor, and between its elements. `nv_tril()` and `nv_triu()`
#' keep the lower and the upper triangle of the matrices in the first two dimensions, and make the
#' rest 0. `nv_diag()` makes a diagonal matrix of a vector, and takes the diagonal of a matrix, with
#' names where those of rows and columns are the same. `nv_split()` cuts a tensor into parts along a
#' dimension; `split()` divides all of its elements, in column-major order, into groups.
#'
#' @param x A tensor or an R array.
#' @param padding_value The value to pad with, a scalar; it takes the dtype of the tensor as in
#'   assignment, see [subset].
#' @param edge_padding_low,edge_padding_high Number of values before and after each dimension, one
#'   number or one for each; negative ones remove elements instead.
#' @param interior_padding Number of values between neighbours along each dimension.
#' @param diagonal The diagonal up to which elements are kept: 0 is the main one, 1 the next
#'   to its right, -1 to its left.
#' @param n Number of parts of equal extent.
#' @param sizes Instead of `n`: the extents of the parts. If both are given, `n` must be the number
#'   of `sizes`.
#' @param dim The dimension to split.
#' @param f A factor, or what [split()] makes one of.
#' @param drop `TRUE` leaves out levels without elements.
#' @param ... Passed on to [split()] for the positions.
#' @return A tensor of the dtype of the operand. `nv_split()`: a list of such tensors. `split()`: a
#'   named list of them.
#' @section Errors: `joist_shape_error` when ranks, extents or numbers do not fit;
#'   `joist_promotion_error` and `joist_value_error` for a value that does not fit the dtype;
#'   `joist_value_error` for `n` and `sizes` that contradict each other.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i16")
#' nv_pad(x, -1L, edge_padding_low = 1, edge_padding_high = c(0, 1))
#' nv_tril(x)
#' nv_diag(nv_tensor(1:3))
#' nv_diag(x)
#' nv_split(x, 3, dim = 2)
#' split(nv_tensor(c(1, 2, 3)), c("a", "b", "a"))
#' @export
nv_pad <- function(x, padding_value, edge_padding_low, edge_padding_high, interior_padding = 0) {
  x <- as_operand(x)
  rank <- ndims(x)
  edges <- list(
    low = per_dimension(edge_padding_low, rank, "edge_padding_low"),
    high = per_dimension(edge_padding_high, rank, "edge_padding_high"),
    interior = per_dimension(interior_padding, rank, "interior_padding")
  )
  if (is.object(padding_value) && !is_r_number(padding_value)) {
    padding_value <- nv_reshape(padding_value, integer())
  }
  .Call(joist_r_operation, "pad", list(x, padding_value), edges)
}

# A scalar of the dtype of a tensor.
scalar_like <- function(value, x) {
  if (!is.object(value)) {
    return(.Call(joist_r_scalar_like, value, x))
  }
  beside(nv_scalar(value, dtype(x), ambiguous(x)), x)
}

#' @rdname nv_pad
#' @export
nv_tril <- function(x, diagonal = 0) {
  fused("triangle", triangle, as_operand(x), per_dimension(diagonal, 1L, "diagonal"), TRUE)
}

#' @rdname nv_pad
#' @export
nv_triu <- function(x, diagonal = 0) {
  fused("triangle", triangle, as_operand(x), per_dimension(diagonal, 1L, "diagonal"), FALSE)
}

triangle <- function(x, diagonal, lower) {
  extents <- shape(x)
  if (length(extents) < 2L) {
    stop_joist("joist_shape_error", "a tensor of rank ", length(extents), " has no triangle")
  }
  ones <- rep(1L, length(extents) - 2L)
  rows <- nv_iota(1L, "i64", c(extents[1L], 1L, ones), start = 1 + diagonal)
  columns <- nv_iota(2L, "i64", c(1L, extents[2L], ones))
  by_anvil({
    kept <- if (lower) nv_le(columns, rows) else nv_ge(columns, rows)
    same_names(nv_ifelse(beside(kept, x), x, scalar_like(0, x)), x)
  })
}

#' @rdname nv_pad
#' @export
nv_diag <- function(x) {
  x <- as_operand(x)
  extents <- shape(x)
  if (length(extents) == 1L) {
    if (extents == 0L) {
      return(nv_reshape(x, c(0L, 0L)))
    }
    return(diagonal_matrix(x, extents))
  }
  if (length(extents) != 2L) {
    stop_joist("joist_shape_error", "nv_diag() of a tensor of rank ", length(extents))
  }
  found <- slice(nv_flatten(x), 1L, extents[1L] + 1L, min(extents))
  labels <- lapply(dimnames(x), `[`, seq_along(found))
  same <- length(labels) > 0L && identical(labels[[1L]], labels[[2L]])
  if (same) found <- with_labels(found, unname(labels[1L]))
  # As in JAX, where a diagonal is the result of a sum.
  known <- ambiguous(x) && .Call(joist_r_rules_info, NULL)$extremes_known
  if (known) nv_convert(found, dtype(x)) else found
}

# The matrix with these n elements on its diagonal. A matrix of more than `longest` elements is cut
# from rows that have one element more than it has columns. Everything has one dtype, which some
# rule sets do not have.
diagonal_matrix <- function(x, n, longest = .Machine$integer.max) {
  with_promotion("anvil", {
    zero <- scalar_like(0, x)
    if (n^2 <= longest) {
      edges <- list(low = 0L, high = 0L, interior = n)
      nv_reshape(.Call(joist_r_operation, "pad", list(x, zero), edges), c(n, n))
    } else {
      padded <- nv_pad(nv_reshape(x, c(1L, n)), zero, 0L, c(n, 0L))
      slice(nv_reshape(padded, c(n, n + 1L)), c(1L, 1L), 1L, c(n, n))
    }
  })
}

#' @rdname nv_pad
#' @export
nv_split <- function(x, n, dim = 1L, sizes = NULL) {
  x <- as_operand(x)
  extents <- shape(x)
  dim <- dims_of(dim, x, "dim", single = TRUE)
  extent <- extents[dim]
  if (is.null(sizes)) {
    if (missing(n)) stop_missing("n")
    count <- is_whole(n) && length(n) == 1L && n >= 1
    if (!count || extent %% n != 0) {
      stop_joist(
        "joist_shape_error", "an extent of ", extent, " has no ",
        if (count) paste(n, "equal parts; see `sizes`") else "such number of equal parts"
      )
    }
    sizes <- rep(extent %/% n, n)
  }
  if (!is_whole(sizes)) stop_joist("joist_shape_error", "`sizes` must be whole numbers")
  if (!missing(n) && !(is_whole(n) && identical(as.integer(n), length(sizes)))) {
    stop_joist(
      "joist_value_error", "`n` and `sizes` do not agree: `sizes` has ",
      count_of(length(sizes), "element"), "; leave out `n`"
    )
  }
  sizes <- as.integer(sizes)
  if (any(sizes < 0L) || sum(sizes) != extent) {
    stop_joist("joist_shape_error", "`sizes` must add up to the extent, which is ", extent)
  }
  lapply(seq_along(sizes), function(k) {
    start <- rep(1L, length(extents))
    extents[dim] <- sizes[k]
    if (sizes[k] > 0L) start[dim] <- sum(sizes[seq_len(k - 1L)]) + 1L
    slice(x, start, 1L, extents)
  })
}

#' @rdname nv_pad
#' @export
split.nv_tensor <- function(x, f, drop = FALSE, ...) {
  if (ndims(x) != 1L) x <- nv_flatten(x)
  # Levels are exact, where doubles would not be.
  if (inherits(f, "nv_tensor")) f <- if (is_int64(f)) factor(f) else as.vector(f)
  groups <- split_factor(f, drop, ...)
  parts <- .Call(joist_r_split, x, groups)
  if (is.null(parts)) lapply(split(seq_len(length(x)), groups), function(at) x[at]) else parts
}

# The factor that split() makes of what it is given.
split_factor <- function(f, drop, sep = ".", lex.order = FALSE, ...) { # nolint
  if (is.list(f)) {
    return(interaction(f, drop = drop, sep = sep, lex.order = lex.order))
  }
  if (is_tensor(f) && .Call(joist_r_can_fuse, f) && is.null(names(f))) {
    codes <- as.vector(f)
    if (is.integer(codes)) f <- codes # whose levels base R writes in the same way
  }
  if (is.factor(f)) {
    return(if (drop) factor(f) else f)
  }
  as.factor(if (is.integer(f) && !is.object(f)) f + 0L else f) # R reads what it wraps slowly
}

#' @export
`split<-.nv_tensor` <- function(x, f, drop = FALSE, ..., value) {
  groups <- split_factor(f, drop, ...)
  whole <- length(groups) == length(x) && !anyNA(groups)
  all <- if (whole) .Call(joist_r_unsplit, groups, value)
  if (is.null(all) && whole && are_numbers_for(x, value)) {
    all <- rep_len(unlist(value, use.names = FALSE), nlevels(groups))[groups]
  }
  if (!is.null(all)) {
    x[] <- all
    return(x)
  }
  at <- split(seq_along(x), groups)
  for (k in seq_along(at)) x[at[[k]]] <- value[[(k - 1L) %% length(value) + 1L]]
  x
}

# Whether each value is one R number that elements of `x` hold.
are_numbers_for <- function(x, value) {
  fits <- switch(type_string(x), f64 = is.numeric, i32 = is.integer, function(value) FALSE)
  one <- function(value) fits(value) && !is.object(value) && length(value) == 1L
  length(value) > 0L && .Call(joist_r_can_fuse, x) && !ambiguous(x) && all(vapply(value, one, NA))
}

#' Broadcast tensors, and combine all pairs of elements
#'
#' `nv_broadcast_arrays()` repeats tensors to their common shape; `nv_outer()` applies an
#' elementwise function to every pair of elements of two tensors, as [outer()] does.
#'
#' @param ... Tensors and R vectors or arrays: scalars, and others of one rank whose extents
#'   are equal or 1.
#' @param x,y Tensors or R vectors or arrays.
#' @param f A function of two tensors that broadcasts them, such as [nv_add()] or an operator.
#' @return `nv_broadcast_arrays()`: a list of tensors, each of which keeps its dtype. `nv_outer()`:
#'   the result of `f`, of shape `c(shape(x), shape(y))`.
#' @section Errors: `joist_shape_error` for shapes that do not fit, for a result with too many
#'   dimensions, and for an `f` that returns another shape.
#' @examples
#' nv_broadcast_arrays(nv_tensor(matrix(1:2, 2)), nv_tensor(matrix(1:3, 1)), 0L)
#' nv_outer(nv_tensor(1:3), nv_tensor(1:2))
#' nv_outer(nv_tensor(1:3), nv_tensor(1:2), nv_sub)
#' @export
nv_broadcast_arrays <- function(...) {
  parts <- list(...)
  if (length(parts) == 0L) {
    return(parts)
  }
  parts <- lapply(parts, tensor_beside, first_tensor(parts))
  shapes <- lapply(parts, shape)
  extents <- shapes[lengths(shapes) > 0L]
  same <- length(extents) > 0L && all(vapply(extents[-1L], identical, NA, extents[[1L]]))
  if (!same) {
    extents <- list(shape(Reduce(nv_eq, lapply(shapes, function(own) nv_aval("bool", own)))))
  }
  whole <- extents[[1L]]
  lapply(parts, function(x) if (identical(shape(x), whole)) x else nv_broadcast_to(x, whole))
}

# R's doubles as ambiguous, of the dtype of a tensor of floats, which they would take beside it.
in_float_of <- function(x, tensor) {
  takes <- is.double(x) && !is.object(x) && is_tensor(tensor) && is_float_dtype(tensor)
  if (!takes) {
    return(x)
  }
  shape <- if (is.null(dim(x)) && length(x) == 1L) integer()
  nv_tensor(judged(x, dtype(tensor)), dtype(tensor), shape, ambiguous = TRUE)
}

#' @rdname nv_broadcast_arrays
#' @export
nv_outer <- function(x, y, f = nv_mul) {
  if (missing(x)) stop_missing("x")
  if (missing(y)) stop_missing("y")
  x <- tensor_beside(in_float_of(x, y), y)
  y <- tensor_beside(in_float_of(y, x), x)
  if (!is.function(f)) f <- as_function(match.fun(f), "f")
  rows <- nv_reshape(x, c(shape(x), rep(1L, ndims(y))))
  columns <- nv_reshape(y, c(rep(1L, ndims(x)), shape(y)))
  result <- as_operand(f(rows, columns))
  extents <- c(shape(x), shape(y))
  if (!identical(shape(result), extents)) {
    stop_joist(
      "joist_shape_error", "`f` made shape ", extents_text(shape(result)), " of what broadcasts ",
      "to ", extents_text(extents)
    )
  }
  result
}

#' Take elements at positions
#'
#' `nv_gather()` takes the elements (or slices) of a tensor at given positions along a dimension. A
#' missing position gives missing elements. The positions may be a tensor that [jit()] traces: they
#' are checked when the program runs. Of a [chunked] tensor, which gives another one, they must be a
#' vector in memory.
#'
#' @param x A tensor or an R array.
#' @param indices Positions from 1 on: a tensor of integers or whole R numbers, of any shape. For
#'   zero, negative and logical indices use `[`.
#' @param dim The dimension along which the positions count, or its name; negative ones count from
#'   the last.
#' @return A tensor of the dtype of the operand, in whose shape the shape of the indices takes
#'   the place of dimension `dim`.
#' @section Errors: `joist_shape_error` for a position out of range, which it names, and for a
#'   dimension that does not exist; `joist_dtype_error` for a tensor of indices that are not
#'   integers; `joist_value_error` for R numbers that are not whole.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "f32")
#' nv_gather(x, nv_tensor(c(3L, 1L)), dim = 2)
#' jit(function(x, i) nv_gather(x, i, 2))(x, nv_tensor(c(2L, 2L)))
#' @export
nv_gather <- function(x, indices, dim = 1L) {
  if (missing(indices)) stop_missing("indices")
  if (is.null(dim)) dim <- NA
  if (!inherits(indices, "nv_tensor")) {
    if (is.character(indices)) {
      stop_joist("joist_value_error", "`indices` must be positions, not names")
    }
    scalar <- is.null(base::dim(indices)) && length(indices) == 1L
    indices <- beside(nv_tensor(indices, "i64", shape = if (scalar) integer()), x)
  } else if (is_traced(indices) && ambiguous(indices)) {
    indices <- nv_convert(indices, "i64")
  } else if (!is_integer_dtype(indices)) {
    stop_joist(
      "joist_dtype_error", "indices of dtype ", format(dtype(indices)), ": they must be integers"
    )
  }
  x <- tensor_beside(x, indices)
  if (is_chunked(x)) {
    last <- is.numeric(dim) && length(dim) == 1L && isTRUE(dim < 0) # counted from the last
    return(gathered(x, indices, if (last) dim + ndims(x) + 1 else dim))
  }
  .Call(joist_r_operation, "gather", list(x, indices), list(dim = dim))
}

#' Combine values at positions
#'
#' `nv_scatter_add()` adds values to the elements of a tensor at given positions, as often as a
#' position occurs: the counterpart of [nv_gather()]. `nv_scatter_mul()` multiplies by them, and
#' `nv_scatter_min()` and `nv_scatter_max()` keep the least and the greatest. A result is missing if
#' one of its values is, and NaN if one is.
#'
#' Sums of floats are computed in `f64` and rounded once; but if the number of values is less than
#' half the number of elements of `x`, those of `f32` and `c64` are added in their own dtype, one
#' after the other; products are computed in `f64`, those of integers in 64 bits. The order depends
#' on the shapes alone, so that a result has the same bits however many threads there are.
#'
#' @param x A tensor or an R array, of numbers.
#' @param index Positions from 1 on in column-major order: a tensor of integers or whole R numbers.
#'   They may be traced by [jit()] and are checked when the program runs.
#' @param values As many values as there are positions, or one for all. Or rows: a tensor whose
#'   first extent is the number of positions and whose other extents are those of `x`; positions
#'   are then those of rows of `x`.
#' @return A tensor of the dtype, ambiguity and shape of `x`.
#' @section Errors: `joist_shape_error` for a position out of range, which it names, and for a
#'   wrong number of values; `joist_value_error` for a missing position and for R numbers that are
#'   not whole; `joist_dtype_error` for a tensor of positions that are not integers, for sums of
#'   bools and extremes of complex numbers; `joist_promotion_error` for
#'   values that do not promote to the dtype of `x`.
#' @examples
#' nv_scatter_add(nv_tensor(c(0, 0, 0)), c(1, 3, 3), nv_tensor(c(1, 2, 5)))
#' nv_scatter_add(nv_tensor(matrix(0, 3, 2)), c(3, 3), nv_tensor(matrix(1:4, 2), "f32"))
#' @export
nv_scatter_add <- function(x, index, values) combined_at("scatter_add", x, index, values)

#' @rdname nv_scatter_add
#' @export
nv_scatter_min <- function(x, index, values) combined_at("scatter_min", x, index, values)

#' @rdname nv_scatter_add
#' @export
nv_scatter_max <- function(x, index, values) combined_at("scatter_max", x, index, values)

#' @rdname nv_scatter_add
#' @export
nv_scatter_mul <- function(x, index, values) combined_at("scatter_mul", x, index, values)

combined_at <- function(operation, x, index, values) {
  index <- as_positions(index, "positions")
  x <- tensor_beside(x, index)
  positions <- beside(by_anvil(index - nv_scalar(1L, "i64")), x)
  .Call(joist_r_operation, operation, list(x, positions, values), NULL)
}

# Positions as i64, which refuses fractions of R numbers; tensors must be of integers.
as_positions <- function(positions, what) {
  if (missing(positions)) stop_missing(substitute(positions))
  if (!is_tensor(positions)) {
    return(nv_tensor(if (is.character(positions)) nv_tensor(positions) else positions, "i64"))
  }
  if (!is_integer_dtype(positions) && !is_number(positions)) {
    stop_joist(
      "joist_dtype_error", what, " of dtype ", format(dtype(positions)), ": they must be integers"
    )
  }
  nv_convert(positions, "i64")
}

#' Differences and scaling along the first dimension
#'
#' Methods of [diff()] and [scale()] for tensors, computed with joist's operators. The means and
#' deviations of `scale()` are those of the numbers in a column: NaN is left out, as in base R.
#'
#' @param x A tensor; for `scale()` of rank 2, or 1 for a column.
#' @param lag,differences As in [diff()].
#' @param center,scale As in [scale()]: `TRUE`, `FALSE`, or a number for each column.
#' @param ... Ignored; `dims` and other arguments of reductions are refused.
#' @return A tensor. `diff()` has the dtype of `x`, and unsigned integers wrap. `scale()` has the
#'   dtype of [nv_mean()], without the attributes `scaled:center` and `scaled:scale`.
#' @section Errors: `joist_shape_error` when ranks, extents or numbers do not fit;
#'   `joist_dtype_error` for differences of bools.
#' @examples
#' diff(nv_tensor(c(1, 4, 9, 16)))
#' scale(nv_tensor(matrix(c(1, 2, 3, 4, 6, 8), 3)))
#' @export
diff.nv_tensor <- function(x, lag = 1L, differences = 1L, ...) {
  check_no_dims("diff", "nv_transpose()", ...)
  lag <- per_dimension(lag, 1L, "lag")
  differences <- per_dimension(differences, 1L, "differences")
  if (lag < 1L || differences < 1L) {
    stop_joist("joist_shape_error", "`lag` and `differences` must be at least 1")
  }
  if (ndims(x) == 0L) {
    stop_joist("joist_shape_error", "a scalar has no differences")
  }
  for (round in seq_len(differences)) {
    extents <- shape(x)
    first <- rep(1L, length(extents))
    left <- max(extents[1L] - lag, 0L)
    second <- first
    if (left > 0L) second[1L] <- lag + 1L
    extents[1L] <- left
    x <- slice(x, second, 1L, extents) - slice(x, first, 1L, extents)
  }
  x
}

#' @rdname diff.nv_tensor
#' @export
scale.nv_tensor <- function(x, center = TRUE, scale = TRUE) {
  if (ndims(x) == 1L) x <- nv_unsqueeze(x, 2L) # a column, as in base R
  extents <- shape(x)
  if (length(extents) != 2L) {
    stop_joist(
      "joist_shape_error", "scale() of a tensor of rank ", length(extents), ", not 2; nv_mean() ",
      "and nv_sd() take any rank"
    )
  }
  if (!identical(center, FALSE)) {
    if (isTRUE(center)) center <- colMeans(x, na.rm = TRUE)
    x <- x - row_of(center, extents[2L], "center")
  }
  if (identical(scale, FALSE)) {
    return(x)
  }
  x / (if (isTRUE(scale)) root_mean_square(x) else row_of(scale, extents[2L], "scale"))
}

# Of the numbers in each column, divided by one less than they are; in double.
root_mean_square <- function(x) {
  wide <- in_double(x)
  squares <- without_nan(wide * wide, TRUE)
  count <- nv_reduce_sum(!nv_is_na(wide), 1L, FALSE, dtype = "f64")
  one <- double_beside(1, x)
  like(sqrt(nv_reduce_sum(squares, 1L, FALSE) / nv_max(count - one, one)), nv_mean(none_of(x)))
}

# A number for each column, as a row.
row_of <- function(x, n, what) {
  if (length(x) != n) {
    stop_joist("joist_shape_error", "`", what, "` must have a number for each of ", n, " columns")
  }
  if (inherits(x, "nv_tensor")) reshaped_number(x, c(1L, n)) else matrix(x, 1L)
}
