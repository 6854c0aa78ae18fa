# Keys by which base R compares elements exactly: text where 64 bits do not fit a double, and
# doubles where -2^31 is no integer of R.
element_keys <- function(x) {
  switch(format(dtype(x)),
    i64 = , ui64 = as.vector(x, "character"),
    i32 = as.vector(x, "double"),
    as.vector(x)
  )
}

#' Unique and repeated elements
#'
#' By value, in column-major order: NaN equals NaN and `-0` equals `0`.
#'
#' @param x A tensor.
#' @param incomparables,... Passed on to base R.
#' @return `unique()` a tensor of rank 1 with the dtype of `x`; `duplicated()` a logical vector;
#'   `anyDuplicated()` the position of the first repeated element, or 0.
#' @section Errors: `joist_value_error` for traced tensors.
#' @examples
#' unique(nv_tensor(c(3, 1, 2, 1), "f16"))
#' @name unique
#' @method duplicated nv_tensor
#' @export
duplicated.nv_tensor <- function(x, incomparables = FALSE, ...) {
  duplicated(element_keys(x), incomparables, ...)
}

#' @rdname unique
#' @export
anyDuplicated.nv_tensor <- function(x, incomparables = FALSE, ...) {
  anyDuplicated(element_keys(x), incomparables, ...)
}

#' @rdname unique
#' @export
unique.nv_tensor <- function(x, incomparables = FALSE, ...) {
  nv_flatten(x)[which(!duplicated(x, incomparables, ...))]
}
