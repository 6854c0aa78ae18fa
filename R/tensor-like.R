#' Make tensors like another
#'
#' Make a tensor filled with one value. It has the dtype, ambiguity, shape and device of another
#' tensor, except those that you give.
#'
#' `nv_empty()` and `nv_empty_like()` are for tensors without elements, or whose elements are all
#' assigned before they are read: nothing is promised about them. (They are 0.)
#'
#' @param like A tensor, or an R number or array.
#' @param value One value, as for [nv_fill()], or a tensor with one element, which is converted.
#' @param dtype A dtype or its name; `NULL` for that of `like`.
#' @param shape An integer vector of extents; `NULL` for that of `like`.
#' @param ambiguous,device As for [nv_tensor()]; `NULL` for those of `like`. A `dtype` that is given
#'   is known unless `ambiguous` is `TRUE`.
#' @return A tensor of dtype `dtype`, or of that of `like`.
#' @section Errors: `joist_value_error` for a value that the dtype cannot hold; `joist_dtype_error`
#'   for an unknown dtype; `joist_shape_error` for invalid extents, and for more than one value.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "i16")
#' nv_zeros_like(x)
#' nv_ones_like(x, dtype = "f32")
#' nv_fill_like(x, 7, shape = 3)
#' shape(nv_empty("f32", c(0, 3)))
#' @export
nv_fill_like <- function(like, value, dtype = NULL, shape = NULL, ambiguous = NULL,
                         device = NULL) {
  like <- as_operand(like)
  if (is.null(ambiguous)) ambiguous <- is.null(dtype) && ambiguous(like)
  if (is.null(dtype)) judged(value, dtype <- dtype(like))
  if (is.null(shape)) shape <- shape(like)
  value <- if (is_tensor(value) && length(value) == 1) {
    converted_into(reshaped_number(value, integer()), dtype, ambiguous, assigns = TRUE)
  } else {
    one_number(value, "value", dtype, ambiguous)
  }
  value <- if (is.null(device)) beside(value, like) else nv_to(value, nv_device(device))
  nv_broadcast_to(value, shape)
}

#' @rdname nv_fill_like
#' @export
nv_zeros_like <- function(like, dtype = NULL, shape = NULL, ambiguous = NULL, device = NULL) {
  nv_fill_like(like, 0, dtype, shape, ambiguous, device)
}

#' @rdname nv_fill_like
#' @export
nv_ones_like <- function(like, dtype = NULL, shape = NULL, ambiguous = NULL, device = NULL) {
  nv_fill_like(like, 1, dtype, shape, ambiguous, device)
}

#' @rdname nv_fill_like
#' @export
nv_empty_like <- function(like, dtype = NULL, shape = NULL, ambiguous = NULL, device = NULL) {
  nv_fill_like(like, 0, dtype, shape, ambiguous, device)
}

#' @rdname nv_fill_like
#' @export
nv_empty <- function(dtype, shape, ambiguous = FALSE, device = NULL) {
  nv_fill(0, shape, dtype, ambiguous, device)
}
