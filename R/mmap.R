#' Tensors in mapped files
#'
#' With `mmap = TRUE`, [nv_read_npy()], [nv_read_safetensors()] and [nv_read_bin()] give tensors
#' whose memory is the file: nothing is read until elements are asked for, and then by the page.
#' Such a tensor is one like any other. What is assigned to it, also in place, stays in this
#' process: the file is never changed.
#'
#' A tensor is mapped where its elements lie in the file as in memory; otherwise it is read as
#' without `mmap`. That is so for `bool`, whose bytes have to be looked at, for dtypes of fewer bits
#' than a byte, whose unused bits may be set or which are packed, for the other byte order, for
#' elements that do not begin on a multiple of their size, and for those in the order of
#' C from rank 2 on, unless they are read with `reversed = TRUE`. On Windows all files are read.
#'
#' The file stays open as long as a tensor uses it, and must not be modified: a change to it may
#' show in the tensor. Replacing the file by another one of the same name, as all of joist's
#' functions that write files do, is safe. If the file was truncated, reading the tensor is an
#' error; if it is truncated during an operation, the operating system ends the process.
#'
#' [saveRDS()] and workers get the elements of a mapped tensor. `nv_share()` says that the file is
#' meant to stay: then they get its path, and map it where they are. That the file is the same is
#' checked there, by its size, its time of modification and a sample of the elements.
#'
#' @param x A mapped tensor.
#' @return A tensor of the dtype, shape and elements of `x`, over a separate map. It is not changed
#'   in place: assigning to it makes a copy.
#' @section Errors: `joist_value_error` for a tensor that is not mapped, that was changed since, or
#'   whose file was; and for a file that has become shorter.
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
