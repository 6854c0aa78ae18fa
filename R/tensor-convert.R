#' Convert dtypes
#'
#' `nv_convert()` converts a tensor to another dtype. As an explicit cast it may lose information:
#' floats become integers by truncating toward zero and saturating, and NaN becomes 0; integers wrap
#' to smaller integers; anything becomes bool as `!= 0`; complex numbers become real by keeping the
#' real part. Missing values stay missing. `nv_bitcast_convert()` reads the same bits as another
#' dtype of as many bits. A dtype of fewer than 8 bits can be read as `ui8`, and `ui8` as it: its
#' bits are the lowest of the byte, and the others are zero, or ignored. For bytes in memory and in
#' files, see [nv_read_bin()].
#'
#' @param x A tensor, or an R number or array, which is converted from its exact values.
#' @param dtype A dtype or its name.
#' @param ambiguous Whether the new dtype is only a guess.
#' @return A tensor of dtype `dtype`.
#' @section Errors: `joist_dtype_error` for an unknown dtype, and for a bitcast between dtypes of
#'   different sizes or to or from bool.
#' @examples
#' nv_convert(nv_tensor(c(1.7, -1.7, 300)), "i8")
#' nv_convert(nv_tensor(300L), "ui8")
#' nv_convert(nv_tensor(c(1.5, NaN, NA)), "ui8")
#' nv_bitcast_convert(nv_tensor(1, "f32"), "ui32")
#' nv_bitcast_convert(nv_tensor(c(1.5, -2), "f8E4M3FN"), "ui8")
#' @export
nv_convert <- function(x, dtype, ambiguous = FALSE) {
  if (is_packed(x)) x <- unpacked(x)
  .Call(joist_r_operation, "convert", list(x), list(dtype = dtype, ambiguous = ambiguous))
}

# The same of a value that is joined with others of that dtype, unasked: the policy in force covers
# what that changes. A value that is assigned must be within the range of the dtype.
converted_into <- function(x, dtype, ambiguous, assigns = FALSE) {
  if (!is_tensor(x) || is_number(x)) {
    return(nv_convert(x, dtype, ambiguous))
  }
  .Call(joist_r_convert_into, x, dtype, ambiguous, assigns)
}

# nv_convert(), but the policy in force covers elements of integers that the float cannot hold.
to_float <- function(x, dtype, ambiguous = FALSE) {
  integers <- is_tensor(x) && is_integer_dtype(x)
  if (integers) converted_into(x, dtype, ambiguous) else nv_convert(x, dtype, ambiguous)
}

#' @rdname nv_convert
#' @export
nv_bitcast_convert <- function(x, dtype) {
  .Call(joist_r_operation, "bitcast_convert", list(x), list(dtype = dtype))
}

#' Reshape and broadcast
#'
#' `nv_reshape()` gives the elements another shape, in column-major order; an extent of -1 is what
#' the others leave.
#' `nv_broadcast_to()` repeats a scalar, or extents of 1.
#'
#' @param x A tensor, or an R number or array.
#' @param shape An integer vector of extents.
#' @return A tensor of the operand's dtype and of shape `shape`.
#' @section Errors: `joist_shape_error` when the number of elements differs, or the shape
#'   cannot be repeated to `shape`.
#' @examples
#' nv_reshape(nv_tensor(1:6), c(2, 3))
#' nv_broadcast_to(nv_tensor(1:2, shape = c(2, 1)), c(2, 3))
#' @export
nv_reshape <- function(x, shape) {
  if (is.numeric(shape) && -1 %of% shape) shape <- full_shape(shape, x)
  if (inherits(x, "nv_tensor") && !inherits(x, "nv_chunked") && !is_traced(x)) {
    return(.Call(joist_r_with_shape, x, shape))
  }
  .Call(joist_r_operation, "reshape", list(x), list(shape = shape))
}

# With an extent of as many elements as remain in the place of -1.
full_shape <- function(shape, x) {
  if (is.object(shape) || sum(shape == -1, na.rm = TRUE) > 1L) {
    return(shape) # which is an error
  }
  count <- length(as_operand(x))
  rest <- count / prod(shape[shape != -1])
  if (is.na(rest) || rest != trunc(rest)) {
    stop_joist(
      "joist_shape_error", count_of(count, "element"), " cannot be given the shape ",
      extents_text(shape)
    )
  }
  replace(shape, shape == -1, rest)
}

#' @rdname nv_reshape
#' @export
nv_broadcast_to <- function(x, shape) {
  .Call(joist_r_operation, "broadcast_to", list(x), list(shape = shape))
}
