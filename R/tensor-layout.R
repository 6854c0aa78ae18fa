#' Rearrange dimensions
#'
#' `nv_transpose()` permutes the dimensions, also by `t()` and `aperm()`; `nv_squeeze()` removes
#' dimensions of extent 1, `nv_unsqueeze()` adds one, `nv_flatten()` makes a tensor of rank 1, and
#' `nv_reverse()` reverses the order of elements along dimensions (`rev()` along all).
#'
#' @param x,a A tensor.
#' @param permutation,perm The dimensions, or their names, in their new order; `NULL` reverses them.
#' @param dims Dimensions or their names; `NULL` for all of extent 1 (`nv_squeeze()`), or for all
#'   (`nv_reverse()`).
#' @param dim Where the new dimension goes, from 1 to the rank plus 1.
#' @param ... Ignored.
#' @return A tensor of the dtype of the operand. `t()` of rank 1 is a row, as in R.
#' @section Errors: `joist_shape_error` when the dimensions do not fit.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2))
#' t(x)
#' nv_reverse(x, dims = 2)
#' shape(nv_unsqueeze(x, 1))
#' @export
nv_transpose <- function(x, permutation = NULL) {
  if (!is.null(permutation)) {
    if (!is_whole(permutation) && !is.character(permutation)) {
      stop_joist("joist_shape_error", "`permutation` must name every dimension once")
    }
  }
  x <- as_operand(x)
  if (is.null(permutation)) permutation <- downwards(length(shape(x)))
  .Call(joist_r_operation, "transpose", list(x), list(permutation = permutation))
}

downwards <- function(n) if (n > 0L) n:1L else integer()

#' @rdname nv_transpose
#' @export
nv_squeeze <- function(x, dims = NULL) {
  x <- as_operand(x)
  extents <- shape(x)
  dims <- if (is.null(dims)) which(extents == 1L) else dims_by_name(dims, x)
  if (!is_whole(dims) || !all(dims %of% which(extents == 1L))) {
    stop_joist("joist_shape_error", "only dimensions of extent 1 can be squeezed")
  }
  kept <- !seq_along(extents) %of% dims
  made <- nv_reshape(x, extents[kept])
  if (all(kept)) made else with_labels(unname(made), labels_of(x)[kept])
}

#' @rdname nv_transpose
#' @export
nv_unsqueeze <- function(x, dim) {
  x <- as_operand(x)
  extents <- shape(x)
  check_dims(dim, "dim", length(extents) + 1L, single = TRUE)
  before <- seq_len(dim - 1L)
  made <- nv_reshape(x, c(extents[before], 1L, if (dim > 1L) extents[-before] else extents))
  if (!1L %of% extents) {
    return(made)
  }
  with_labels(unname(made), append(labels_of(x), list(NULL), dim - 1L))
}

#' @rdname nv_transpose
#' @export
nv_flatten <- function(x) {
  x <- as_operand(x)
  extents <- shape(x)
  if (length(extents) == 1L) x else nv_reshape(x, prod(extents))
}

#' @rdname nv_transpose
#' @export
nv_reverse <- function(x, dims = NULL) {
  x <- as_operand(x)
  extents <- shape(x)
  dims <- dims_of(if (is.null(dims)) seq_along(extents) else dims, x)
  if (length(extents) == 0L) {
    return(x)
  }
  dims <- dims[extents[dims] > 0L]
  start <- step <- rep.int(1L, length(extents))
  start[dims] <- extents[dims]
  step[dims] <- -1L
  slice(x, start, step, extents)
}

#' @rdname nv_transpose
#' @export
t.nv_tensor <- function(x) {
  rank <- length(shape(x))
  if (rank > 2L) {
    stop_joist("joist_shape_error", "t() of a tensor of rank ", rank, "; use nv_transpose()")
  }
  if (rank == 1L) nv_unsqueeze(x, 1L) else nv_transpose(x)
}

#' @rdname nv_transpose
#' @export
aperm.nv_tensor <- function(a, perm = NULL, ...) nv_transpose(a, perm)

#' @export
rev.nv_tensor <- function(x) {
  if (length(shape(x)) != 1L) x <- nv_flatten(x)
  n <- shape(x)
  if (n > 0L) slice(x, n, -1L, n) else x
}

# The elements from `start` on, `step` apart, `count` of them along each dimension, in `shape`.
slice <- function(x, start, step, count, shape = NULL) {
  at <- list(start = start, stop = start + (count - 1) * step)
  if (!all(step == 1L)) at$step <- rep_len(step, length(count))
  at$shape <- shape
  .Call(joist_r_operation, "slice", list(x), at)
}

# R values become tensors of their default dtype, still ambiguous; also arguments of jit().
as_operand <- function(x, guess = TRUE) {
  if (missing(x)) stop_missing(substitute(x))
  if (.Call(joist_r_is_operand, x)) {
    return(x)
  }
  scalar <- is.null(dim(x)) && length(x) == 1L
  if (is.atomic(x) && !is.object(x)) {
    ambiguous <- if (guess) is.numeric(x) || is.complex(x)
    return(.Call(joist_r_make, x, NULL, if (scalar) integer(), ambiguous, "missing", NULL))
  }
  if (inherits(x, "nv_tensor")) {
    return(nv_tensor(x, NULL, shape(x), ambiguous(x)))
  }
  if (is_packed(x)) {
    return(unpacked(x))
  }
  nv_tensor(
    x,
    shape = if (scalar) integer(),
    ambiguous = if (guess) is.numeric(x) && !inherits(x, "integer64") || is.complex(x)
  )
}

#' Combine tensors
#'
#' `nv_concatenate()` joins tensors along a dimension, also by `c()` (flattened), `rbind()` and
#' `cbind()`; `nv_stack()` joins them along a new dimension.
#'
#' @param ... Tensors and R vectors. Vectors are rows for `rbind()` and columns for
#'   `cbind()`; one element is repeated. `nv_concatenate()` and `nv_stack()` take one list of them,
#'   too.
#' @param dim The dimension along which to join the parts.
#' @param use.names `FALSE` leaves the names out.
#' @param deparse.level How `rbind()` and `cbind()` label vectors, as in [base::cbind()].
#' @param recursive Ignored.
#' @return A tensor of the common dtype of the parts, see [result_dtype()]. Names of arguments, or
#'   of the elements of a list, become names as in base R: `nv_stack()` names the positions along
#'   the new dimension, and `nv_concatenate()` of vectors names elements as `c()` does.
#' @section Errors: `joist_shape_error` when the other extents differ;
#'   `joist_promotion_error` without a common dtype; `joist_value_error` for an argument
#'   named `dims`, `axis` or the like, which is probably meant as the `dim`, and for a list
#'   within a list or next to other arguments.
#' @examples
#' x <- nv_tensor(1:3, "i8")
#' c(x, 4L)
#' rbind(x, nv_tensor(4:6, "i16"))
#' nv_stack(x, x, dim = 2)
#' nv_stack(list(a = x, b = x))
#' @export
nv_concatenate <- function(..., dim = 1L) {
  check_no_dims("nv_concatenate", "`dim`", ...)
  parts <- given_parts("nv_concatenate", list(...))
  joined <- concatenated(unname(parts), dim, NULL)
  if (is.null(names(parts)) || ndims(joined) > 1L) {
    return(joined)
  }
  named_along(joined, 1L, joined_names(parts))
}

#' @rdname nv_concatenate
#' @export
nv_stack <- function(..., dim = 1L) {
  check_no_dims("nv_stack", "`dim`", ...)
  given <- given_parts("nv_stack", list(...))
  parts <- as_parts(given)
  if (length(parts) < length(given)) given <- given[!vapply(given, is.null, NA)]
  shapes <- lapply(parts, part_shape)
  for (k in seq_along(shapes)) {
    check_dims(dim, "dim", length(shapes[[k]]) + 1L, single = TRUE)
    shapes[[k]] <- append(shapes[[k]], 1L, dim - 1L)
  }
  named_along(concatenated(parts, dim, shapes), dim, names(given))
}

# The arguments, or the elements of the one list among them.
given_parts <- function(operation, parts) {
  is_list <- function(part) is.list(part) && !is.object(part)
  if (length(parts) == 1L && is_list(parts[[1L]])) parts <- parts[[1L]]
  for (k in seq_along(parts)) {
    if (is_list(parts[[k]])) {
      stop_joist(
        "joist_value_error", "part ", k, " of ", operation, "() is a list; give it tensors, or ",
        "one list of tensors"
      )
    }
  }
  parts
}

# A tensor with names along one dimension.
named_along <- function(x, dim, names) {
  if (is.null(names) || !any(nzchar(names)) || is_chunked(x)) {
    return(x)
  }
  if (inherits(x, "nv_aval")) {
    return(x)
  }
  if (ndims(x) == 1L) {
    return(with_names(x, names))
  }
  all <- dimnames(x)
  if (is.null(all)) all <- vector("list", ndims(x))
  all[[dim]] <- names
  with_names(x, all)
}

#' @rdname nv_concatenate
#' @export
c.nv_tensor <- function(..., recursive = FALSE, use.names = TRUE) { # nolint: object_name_linter.
  given <- list(...)
  joined <- concatenated(as_parts(given), 1L, TRUE)
  if (!use.names) {
    return(unname(joined))
  }
  if (is.null(names(given))) joined else with_names(joined, joined_names(given))
}

# Those that base R gives c(a = x, y): of the arguments and, behind a dot, of their elements.
joined_names <- function(parts) {
  names(unlist(lapply(parts, function(part) {
    stats::setNames(logical(length(part)), if (is.null(dim(part))) names(part))
  })))
}

# A result of the shape of x that was computed by way of other shapes.
same_names <- function(out, x) with_names(out, if (is.null(dim(x))) names(x) else dimnames(x))

# A result whose elements are made of several elements of x along `dims`, and have no names there.
other_names <- function(out, x, dims) {
  if (has_labels(out)) out <- unname(out) else if (!has_labels(x)) return(out)
  with_labels(out, replace(labels_of(x), dims, list(NULL)))
}

# A tensor with other names (rank 1) or dimnames.
with_names <- function(x, names) {
  if (is.null(names)) {
    return(x)
  }
  if (is_chunked(x) || inherits(x, "nv_aval")) {
    return(x)
  }
  if (is.null(dim(x))) names(x) <- names else dimnames(x) <- names
  x
}

#' @rdname nv_concatenate
#' @export
rbind.nv_tensor <- function(..., deparse.level = 1) {
  level <- given_level(deparse.level, base::rbind)
  bind_parts(list(...), 1L, line_labels(substitute(list(...)), level))
}

#' @rdname nv_concatenate
#' @export
cbind.nv_tensor <- function(..., deparse.level = 1) {
  level <- given_level(deparse.level, base::cbind)
  bind_parts(list(...), 2L, line_labels(substitute(list(...)), level))
}

# R does not hand this argument to methods.
given_level <- function(level, generic) {
  if (identical(sys.function(-2L), generic)) sys.frame(-2L)$deparse.level else level
}

# The labels that base R gives vectors: the names of the arguments, or variables.
line_labels <- function(call, level) {
  arguments <- as.list(call)[-1L]
  labels <- character(length(arguments))
  for (k in seq_along(arguments)) {
    argument <- arguments[[k]]
    if (!is.name(argument)) {
      if (level == 2) labels[k] <- deparse1(argument)
    } else if (level == 1 || level == 2) {
      name <- as.character(argument)
      if (!startsWith(name, ".joist_argument")) labels[k] <- name
    }
  }
  given <- names(arguments)
  if (is.null(given)) {
    return(labels)
  }
  named <- nzchar(given)
  labels[named] <- given[named]
  labels
}

# Lines of a matrix are vectors as long as the matrix, or of one element, which is repeated.
bind_parts <- function(parts, dimension, labels) {
  for (k in rev(seq_along(parts))) {
    if (isS4(parts[[k]])) {
      return(bind_matrices(parts, dimension))
    }
    if (is.null(parts[[k]])) labels <- labels[-k]
  }
  parts <- as_parts(parts)
  shapes <- lapply(parts, part_shape)
  ranks <- lengths(shapes)
  lines <- ranks < 2L
  if (any(ranks > 2L)) {
    stop_joist("joist_shape_error", "rows and columns have rank 2 at most; use nv_concatenate()")
  }
  other <- 3L - dimension
  extent <- function() max(0, vapply(shapes, function(s) c(s[min(other, length(s))], 1)[1L], 1))
  for (k in which(lines)) {
    own <- shapes[[k]]
    line <- if (ranks[k] == 1L && own != 1) own else extent()
    shapes[[k]] <- if (dimension == 1L) c(1L, line) else c(line, 1L)
  }
  bound <- concatenated(parts, dimension, shapes)
  if (inherits(bound, "nv_aval") || is_chunked(bound) || !any(nzchar(labels[lines]))) {
    return(bound)
  }
  all <- dimnames(bound)
  if (is.null(all)) all <- list(NULL, NULL)
  of_parts <- all[[dimension]]
  if (is.null(of_parts)) of_parts <- character(shape(bound)[dimension])
  at <- if (all(lines)) lines else cumsum(vapply(shapes, function(s) s[dimension], 1))[lines]
  of_parts[at] <- labels[lines]
  all[[dimension]] <- of_parts
  with_names(bound, all)
}

# With matrices of the package Matrix.
bind_matrices <- function(parts, dimension) {
  plain <- if (dimension == 1L) rbind else cbind
  of_matrices <- if (dimension == 1L) methods::rbind2 else methods::cbind2
  Reduce(function(x, y) if (isS4(x) || isS4(y)) of_matrices(x, y) else plain(x, y), parts)
}

# What is put together; R numbers stay what they are until the common dtype is known.
as_parts <- function(parts) {
  names(parts) <- NULL
  for (part in parts) {
    if (is.null(part) || is.object(part) && !inherits(part, "nv_tensor")) {
      parts <- parts[!vapply(parts, is.null, NA)]
      return(lapply(parts, function(x) if (is.object(x)) as_operand(x) else x))
    }
  }
  parts
}

part_shape <- function(x) {
  if (inherits(x, "nv_tensor")) {
    return(.Call(joist_r_shape_of, x))
  }
  if (is.null(x) || !is.atomic(x)) {
    return(shape(as_operand(x)))
  }
  if (!is.null(dim(x))) dim(x) else if (length(x) == 1L) integer() else length(x)
}

#' @export
rep.nv_tensor <- function(x, times = 1, length.out = NA, each = 1, ...) {
  if (!is.null(names(x))) {
    return(x[rep(seq_along(x), times = times, length.out = length.out, each = each)])
  }
  taken_of(x, function(x) rep_tensor(x, times, length.out, each))
}

rep_tensor <- function(x, times, length.out, each) { # nolint: object_name_linter.
  flat <- nv_flatten(x)
  if (!identical(as.numeric(each), 1)) {
    flat <- nv_flatten(nv_broadcast_to(nv_unsqueeze(flat, 1L), c(each, length(flat))))
  }
  n <- length(flat)
  if (!is.na(length.out)) {
    if (n == 0L && length.out > 0) {
      stop_joist("joist_value_error", "there is no element to repeat")
    }
    times <- ceiling(length.out / max(n, 1L))
  } else if (length(times) != 1L) {
    return(flat[rep(seq_len(n), times)])
  }
  if (times != 1) {
    columns <- nv_broadcast_to(nv_reshape(flat, c(n, 1L)), c(n, times))
    flat <- nv_reshape(columns, n * times)
  }
  if (is.na(length.out)) flat else slice(flat, 1L, 1L, as.integer(length.out))
}

#' @importFrom utils head
#' @export
head.nv_tensor <- function(x, n = 6L, ...) ends(x, n, first = TRUE)

#' @importFrom utils tail
#' @export
tail.nv_tensor <- function(x, n = 6L, ...) ends(x, n, first = FALSE)

# `n` positions along each dimension, NA for all, a negative number for all but so many.
ends <- function(x, n, first) {
  extents <- shape(x)
  if (length(extents) == 0L) {
    return(x)
  }
  if (!is.numeric(n) || !length(n) %of% seq_along(extents)) {
    stop_joist("joist_shape_error", "`n` must be a number, or one for each dimension")
  }
  start <- rep(1L, length(extents))
  count <- extents
  for (d in which(!is.na(n))) {
    kept <- if (n[d] < 0) max(extents[d] + n[d], 0) else min(n[d], extents[d])
    count[d] <- if (first) floor(kept) else ceiling(kept) # as R's
    if (!first) start[d] <- extents[d] - count[d] + 1
  }
  if (is_traced(x)) {
    return(slice(x, start, 1L, count))
  }
  if (length(extents) == 1L) {
    return(x[positions_from(start, count)])
  }
  do.call(`[`, c(list(x), Map(positions_from, start, count), drop = FALSE))
}

#' @export
`dim<-.nv_tensor` <- function(x, value) {
  taken_of(x, function(x) unname(nv_reshape(x, if (is.null(value)) length(x) else value)))
}
