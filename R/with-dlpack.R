#' Tensors to and from other libraries, by DLPack
#'
#' [DLPack](https://dmlc.github.io/dlpack/latest/) is how libraries of arrays hand tensors to each
#' other in one process, without a copy. `nv_to_dlpack()` makes an external pointer to a tensor for
#' any other package that reads them; `nv_from_dlpack()` takes what another package gives. For
#' Python, see [python].
#'
#' @section Who may write:
#' `nv_to_dlpack()` lends the tensor's own memory and marks it read-only. It stays until it has been
#' given back, which may happen in any thread; meanwhile and later, R writes to copies. DLPack
#' before version 1 cannot say that memory is read-only: with `versioned = FALSE`, who takes the
#' pointer gets a copy of their own. Up to eight elements of `c128` may be a copy, too: R does not
#' always align so few as other libraries expect it.
#'
#' `nv_from_dlpack()` shares memory that has R's order of elements, the first dimension first, or
#' one dimension, and copies everything else. It never writes to that memory, but what its owner
#' writes there later is seen in the tensor.
#' @section Pointers:
#' The tag of the external pointer is the symbol `dltensor_versioned`, and it points to a
#' `DLManagedTensorVersioned` of version 1; or it is `dltensor`, for a `DLManagedTensor`. The
#' consumer of the struct clears the pointer and finally calls the struct's deleter. A pointer can
#' be consumed once; otherwise R's garbage collector frees it. Tensors on a GPU stay there.
#'
#' Elements of fewer than 8 bits, as of `i4` and `f4E2M1FN`, are lent with a byte each, which a flag
#' of DLPack 1.1 says (`DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED`). For consumers that do not know
#' it pass the bits, as `nv_bitcast_convert(x, "ui8")`; `versioned = FALSE` raises a
#' `joist_dtype_error`. `nv_from_dlpack()` copies such elements, which may be padded, packed, or
#' several in one, as those of PyTorch's `float4_e2m1fn_x2`, which become elements of the dimension
#' without gaps.
#'
#' Structs that are damaged or of another version raise a `joist_value_error`, elements without a
#' dtype and dtypes that DLPack lacks (`bc32`) a `joist_dtype_error`, and memory of a device that
#' this build does not support a `joist_device_error`; the pointer keeps the struct.
#'
#' @param x A tensor or an R vector.
#' @param versioned `TRUE` for a pointer of DLPack version 1, to the tensor's own memory, `FALSE`
#'   for one of the format before version 1, to a copy.
#' @param na The value that others see in the place of missing values; `NULL` for an error if there
#'   are any.
#' @param ptr An external pointer as described below.
#' @return `nv_to_dlpack()`: an external pointer of class `nv_dlpack`. `nv_from_dlpack()`: a tensor,
#'   of a known dtype.
#' @section Errors: `joist_value_error` for a tensor without data, for missing values unless `na` is
#'   given, and for a pointer that is invalid or whose tensor was already taken.
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), "bf16")
#' nv_from_dlpack(nv_to_dlpack(x))
#' @export
nv_to_dlpack <- function(x, versioned = TRUE, na = NULL) {
  x <- filled_missing(as_operand(x, guess = FALSE), na, "DLPack tensors")
  .Call(joist_r_to_dlpack, x, versioned)
}

#' @rdname nv_to_dlpack
#' @export
nv_from_dlpack <- function(ptr) .Call(joist_r_from_dlpack, ptr)
