#' Subsets and assignment
#'
#' `[` and `[<-` with R's indices: positive, negative, zero, logical (recycled), a matrix
#' with a row per element, empty, and tensors of integers or bools. A mask of the tensor's
#' shape and a single index select in column-major order and give rank 1. `[[` gives one
#' element, of rank 0.
#'
#' Assignment keeps the tensor's dtype: an ambiguous value takes it, a known dtype that
#' promotes to it is converted, any other is an error. No other variable changes; when
#' nothing else holds the tensor, nothing is copied.
#'
#' @param x A tensor.
#' @param ... Indices: one for each dimension, or a single one.
#' @param drop `FALSE` keeps dimensions of extent 1; when all are dropped the rank is 0.
#' @param exact Ignored.
#' @param value A tensor or an R vector with one element, or as many as are replaced.
#' @return `[` and `[[`: a tensor of the dtype of `x`; `[<-` and `[[<-`: the changed tensor.
#' @section Errors: `joist_shape_error` for an index out of range (its position is named) or
#'   a wrong number of indices or values; `joist_promotion_error` for a value whose dtype does
#'   not promote to that of `x`; `joist_value_error` for `NA` or names as indices and values
#'   out of range.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i16")
#' x[1, ]
#' x[, -1, drop = FALSE]
#' x[x > 2L]
#' x[[2, 3]]
#' x[1, 2] <- 100L
#' x
#' @name subset
#' @export
`[.nv_tensor` <- function(x, ..., drop = TRUE) {
  extents <- .subset2(x, "shape")
  indices <- read_indices(extents, sys.call(), ...)
  if (is.null(indices)) {
    return(x)
  }
  result <- index_extents(indices, extents)
  if (length(indices) == length(extents) && length(extents) > 1L && drop) {
    result <- result[result != 1L]
  }
  if (inherits(x, "nv_traced")) {
    return(.Call(joist_r_take, x, .Call(joist_r_positions, extents, indices, result)))
  }
  .Call(joist_r_subset, x, indices, result)
}

#' @rdname subset
#' @export
`[[.nv_tensor` <- function(x, ..., exact = TRUE) {
  extents <- .subset2(x, "shape")
  indices <- read_indices(extents, sys.call(), ...)
  if (is.null(indices) || any(lengths(indices) != 1L)) {
    stop_joist("joist_shape_error", "[[ selects exactly one element")
  }
  if (inherits(x, "nv_traced")) {
    return(.Call(joist_r_take, x, .Call(joist_r_positions, extents, indices, integer())))
  }
  .Call(joist_r_subset, x, indices, integer())
}

#' @rdname subset
#' @export
`[<-.nv_tensor` <- function(x, ..., value) {
  in_place <- identical(substitute(x), quote(`*tmp*`))
  extents <- .subset2(x, "shape")
  if (length(extents) == 1L && ...length() == 1L && !missing(..1) && is_row_binding(..1, extents)) {
    return(c(x, value))
  }
  indices <- read_indices(extents, sys.call(), ...)
  if (is.null(indices)) indices <- vector("list", length(extents))
  where <- .Call(joist_r_positions, extents, indices, index_extents(indices, extents))
  .Call(joist_r_put, x, where, value, in_place)
}

#' @rdname subset
#' @export
`[[<-.nv_tensor` <- function(x, ..., value) {
  in_place <- identical(substitute(x), quote(`*tmp*`))
  extents <- .subset2(x, "shape")
  indices <- read_indices(extents, sys.call(), ...)
  if (is.null(indices) || any(lengths(indices) != 1L)) {
    stop_joist("joist_shape_error", "[[<- replaces exactly one element")
  }
  where <- .Call(joist_r_positions, extents, indices, integer())
  .Call(joist_r_put, x, where, value, in_place)
}

# Fields of a tensor are no part of it for its user.
#' @export
`$.nv_tensor` <- function(x, name) {
  stop_joist(
    "joist_value_error", "$ is not defined for tensors; see dtype(), shape(), ambiguous(), device()"
  )
}

#' @export
`$<-.nv_tensor` <- function(x, name, value) {
  stop_joist("joist_value_error", "$<- is not defined for tensors; make a new one with nv_tensor()")
}

# The positions that the indices in `...` select: a list with one vector for each dimension
# (NULL for all), or with one vector for the whole tensor; NULL for x[]. Takes the method's
# call, not its frame or the tensor: a frame that is kept would count as another holder of the
# tensor, and assignment would copy it.
read_indices <- function(extents, call, ...) {
  rank <- length(extents)
  n <- ...length()
  empty <- empty_arguments(call, n)
  given <- vector("list", n)
  for (k in which(!empty)) given[[k]] <- index_value(...elt(k))
  if (n == 0L || (n == 1L && empty)) {
    return(NULL)
  }
  if (n == 1L && rank != 1L) {
    return(list(linear_positions(given[[1L]], extents)))
  }
  if (n != rank) {
    stop_joist(
      "joist_shape_error", n, if (n == 1L) " index" else " indices", " for a tensor of rank ", rank
    )
  }
  for (d in which(!empty)) {
    given[[d]] <- positions(given[[d]], extents[d], paste0(" of dimension ", d))
  }
  given
}

# Which of the n indices of a call are empty, as the first of x[, 1] is. Indices that came
# through the dots of a caller are never empty.
empty_arguments <- function(call, n) {
  arguments <- as.list(call)[-(1:2)]
  named <- names(arguments)
  if (!is.null(named)) arguments <- arguments[!named %in% c("drop", "value", "exact")]
  if (length(arguments) != n || any(vapply(arguments, identical, NA, quote(...)))) {
    return(logical(n))
  }
  vapply(arguments, identical, NA, quote(expr = )) # nolint: spaces_inside_linter.
}

index_value <- function(index) {
  if (inherits(index, "nv_traced")) {
    stop_joist(
      "joist_value_error", "an index must be known while jit() traces; use nv_ifelse() with a mask"
    )
  }
  if (is.null(index)) {
    return(integer())
  }
  if (inherits(index, "nv_tensor")) {
    check_data_frame_index()
    index <- as_array(index)
  }
  if (is.factor(index) || is.character(index) || !(is.numeric(index) || is.logical(index))) {
    stop_joist("joist_value_error", "a tensor is indexed by numbers or logicals, not by names")
  }
  index
}

# The other columns of a data frame cannot be indexed by a tensor, nor can its row names.
check_data_frame_index <- function() {
  if (called_from(base::`[.data.frame`, 4L)) {
    stop_joist(
      "joist_value_error", "a data frame is indexed by R vectors; use as.vector() of the tensor"
    )
  }
}

linear_positions <- function(index, extents) {
  n <- prod(extents)
  if (is.numeric(index) && is.matrix(index) && ncol(index) == length(extents)) {
    strides <- cumprod(c(1, extents))[seq_along(extents)]
    for (d in seq_along(extents)) {
      where <- paste0(" of dimension ", d)
      if (anyNA(index[, d])) index_is_na(index[, d], where)
      bad <- which(index[, d] < 1 | index[, d] > extents[d])
      if (length(bad) > 0L) out_of_range(index[bad[1L], d], bad[1L], extents[d], where)
    }
    return(as.vector((trunc(index) - 1) %*% strides) + 1)
  }
  positions(as.vector(index), n, "")
}

# R's own rules for one index vector, on the positions 1 .. n.
positions <- function(index, n, where) {
  if (anyNA(index)) index_is_na(index, where)
  if (is.logical(index)) {
    if (length(index) > n) out_of_range(length(index), length(index), n, where)
    return(which(rep_len(index, n)))
  }
  index <- trunc(index)
  negative <- any(index < 0)
  if (negative && any(index > 0)) {
    stop_joist("joist_shape_error", "the index", where, " mixes positive and negative numbers")
  }
  if (any(abs(index) > n)) {
    bad <- which(abs(index) > n)[1L]
    out_of_range(index[bad], bad, n, where)
  }
  if (negative) {
    return(seq_len(n)[index])
  }
  if (all(index > 0)) index else index[index > 0]
}

index_is_na <- function(index, where) {
  bad <- which(is.na(index))[1L]
  stop_joist("joist_value_error", "the index", where, " is NA at position ", bad)
}

# Negative numbers beyond the extent are no position either, although R lets them pass.
out_of_range <- function(index, position, n, where) {
  stop_joist(
    "joist_shape_error", "index ", format(index, scientific = FALSE), " at position ", position,
    where, " is out of range (1 to ", format(n, scientific = FALSE), ")"
  )
}

index_extents <- function(indices, extents) {
  if (length(indices) == 1L && length(extents) != 1L) {
    return(length(indices[[1L]]))
  }
  as.integer(ifelse(vapply(indices, is.null, NA), extents, lengths(indices)))
}
