#' Tensors in mapped files
#'
#' With `mmap = TRUE`, [nv_read_npy()], [nv_read_safetensors()] and [nv_read_bin()] give tensors
#' whose memory is the file: elements are read when they are first used, a page at a time. Use such
#' a tensor like any other. Assignments to it, even in place, stay in this process: the file is
#' never changed. `nv_share()` lets workers map the file, too, instead of receiving the elements.
#'
#' A tensor is mapped if the file stores its elements in the same form as memory; otherwise it is
#' read as without `mmap`. These are read: `bool`, whose bytes have to be checked; dtypes of fewer
#' bits than a byte, whose unused bits may be set or which are packed; elements in the other byte
#' order; elements that do not begin on a multiple of their size; and elements in C order
#' from rank 2 on, unless you use `reversed = TRUE`. On Windows all files are read.
#'
#' The file stays open as long as a tensor uses it, and must not be modified: a change to it may
#' show in the tensor. Replacing the file by another one of the same name, as all of joist's
#' functions that write files do, is safe. If the file was truncated, reading the tensor is an
#' error; if it is truncated during an operation, the operating system ends the process.
#'
#' [saveRDS()] and workers get the elements of a mapped tensor. With `nv_share()` you say that the
#' file will stay: then they get its path, and map it themselves. They check that it is the same
#' file by its size, its time of modification and a sample of the elements.
#'
#' @param x A mapped tensor.
#' @return A tensor of the dtype, shape and elements of `x`, over a separate map. It is not changed
#'   in place: assigning to it makes a copy.
#' @section Errors: `joist_value_error` for a tensor that is not mapped, or that was changed since
#'   or whose file was changed, and for a file that was truncated.
#' @examples
#' file <- tempfile(fileext = ".npy")
#' nv_write_npy(nv_tensor(1:6, "i32"), file)
#' x <- nv_read_npy(file, mmap = TRUE)
#' x[2:3]
#' if (.Platform$OS.type != "windows") length(serialize(nv_share(x), NULL))
#' rm(x)
#' @name mapped_files
NULL

#' @rdname mapped_files
#' @export
nv_share <- function(x) {
  if (!inherits(x, "nv_tensor")) {
    stop_joist("joist_value_error", "only a tensor that is mapped can be shared")
  }
  .Call(joist_r_share, x)
}
