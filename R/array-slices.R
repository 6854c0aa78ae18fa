# A function of each slice of a tensor.

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
#'   extents of one result, then those of `dims`, with their names, those of results where all have
#'   the same; otherwise a list of the results in column-major order. Without slices, `f` is called
#'   on an [nv_aval()].
#' @section Traced tensors: In [jit()] a function of many slices is traced once, for all of them, as
#'   by [nv_vmap()]: sums may then add in another order. One that changes variables, or returns
#'   something else than a tensor, is called for each slice, and its operations are part of the
#'   program as often.
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
  if (is_traced(x)) {
    f <- rewritten(f)
    all <- slices_at_once(x, dims, f, ...)
    if (!is.null(all)) {
      own <- seq_len(ndims(all) - 1L)
      out <- nv_reshape(all, c(shape(all)[own], extents[dims]))
      return(with_labels(out, c(labels_of(all)[own], labels_of(x)[dims])))
    }
  }
  results <- each_slice(x, dims, kept, f, ...)
  one <- if (is_tensor(results[[1L]])) shape(results[[1L]])
  same <- function(y) is_tensor(y) && identical(shape(y), one)
  if (!all(vapply(results, same, NA))) {
    return(results)
  }
  out <- nv_reshape(.Call(joist_r_concatenate, results, 1L, TRUE), c(one, extents[dims]))
  own <- labels_of(results[[1L]])
  for (d in which(lengths(own) > 0L)) {
    if (!all(vapply(results, function(y) identical(labels_of(y)[[d]], own[[d]]), NA))) {
      own[d] <- list(NULL)
    }
  }
  rest <- labels_of(x)[-dims]
  if (identical(unname(rest), unname(own))) own <- rest
  with_labels(out, c(own, labels_of(x)[dims]))
}

# What f gives for all slices of a traced tensor, along the last dim; NULL if it is to be called for
# each, as it gives no tensor or changes variables.
slices_at_once <- function(x, dims, f, ...) {
  rest <- seq_along(shape(x))[-dims]
  count <- prod(shape(x)[dims])
  all <- nv_reshape(nv_transpose(x, c(rest, dims)), c(shape(x)[rest], count))
  all <- with_labels(all, c(labels_of(x)[rest], list(NULL)))
  one <- function(slice) {
    value <- f(slice, ...)
    if (is_tensor(value)) value else stop_joist("joist_value_error", "no tensor")
  }
  without_changes(vmapped(one, list(all), list(length(rest) + 1L), Inf))
}

# The names along each dimension.
labels_of <- function(x) {
  rank <- ndims(x)
  labels <- if (rank > 1L) dimnames(x) else if (rank == 1L) list(names(x))
  if (is.null(labels)) vector("list", rank) else labels
}

with_labels <- function(x, labels) {
  if (all(lengths(labels) == 0L) && (ndims(x) < 2L || is.null(names(labels)))) {
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
