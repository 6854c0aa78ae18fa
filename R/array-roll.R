#' Roll elements along dimensions
#'
#' `nv_roll()` moves elements along dimensions, by `shift` positions towards the end; elements that
#' are moved beyond the end come back at the start.
#'
#' @param x A tensor, or an R number or array.
#' @param shift Whole R numbers, one for each of `dims`, or one for all; negative ones move towards
#'   the start.
#' @param dims Dimensions to move along, or their names; `NULL` for all elements in column-major
#'   order.
#' @return A tensor of the dtype, ambiguity and shape of `x`.
#' @section Errors: `joist_value_error` for shifts that are not whole numbers, and when there are
#'   not as many as `dims`; `joist_shape_error` for dimensions that do not exist.
#' @examples
#' nv_roll(nv_tensor(1:5), 2)
#' nv_roll(nv_tensor(matrix(1:6, 2)), c(1, -1), dims = 1:2)
#' @export
nv_roll <- function(x, shift, dims = NULL) {
  x <- as_operand(x)
  check_static(shift, "shift")
  if (!is.null(dims)) {
    dims <- dims_of(dims, x)
  } else if (ndims(x) == 1L && is.null(names(x))) {
    dims <- 1L
  } else {
    return(nv_reshape(nv_roll(nv_flatten(x), shift, 1L), shape(x)))
  }
  if (!is_whole(shift) || !length(shift) %of% c(1L, length(dims))) {
    stop_joist("joist_value_error", "`shift` must be whole numbers: one, or one for each of `dims`")
  }
  rolled(x, rep_len(shift, length(dims)), dims)
}

rolled <- function(x, shift, dims) {
  named <- names(dimnames(x))
  for (k in seq_along(dims)) {
    extent <- shape(x)[dims[k]]
    by <- if (extent > 0L) shift[k] %% extent else 0
    if (by > 0) {
      first <- slice_along(x, dims[k], extent - by + 1, by)
      rest <- slice_along(x, dims[k], 1, extent - by)
      x <- by_anvil(concatenated(list(first, rest), dims[k], NULL))
    }
  }
  if (is.null(named)) x else with_labels(x, stats::setNames(labels_of(x), named))
}

slice_along <- function(x, dim, start, count) {
  extents <- shape(x)
  first <- rep_len(1, length(extents))
  first[dim] <- start
  extents[dim] <- count
  slice(x, first, 1L, extents)
}
