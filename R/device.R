#' Devices
#'
#' Where the data of a tensor is. The `cpu` is always there.
#'
#' @param name `"cpu"`, or `"cuda:0"` where joist was built with CUDA.
#' @return A `joist_device`.
#' @section Errors: `joist_device_error` when there is no such device.
#' @examples
#' nv_device("cpu")
#' device(nv_scalar(1))
#' @export
nv_device <- function(name = "cpu") {
  if (inherits(name, "joist_device")) {
    return(name)
  }
  if (!identical(name, "cpu")) {
    stop_joist(
      "joist_device_error", "there is no device ", encodeString(format(name)[1L], quote = "\""),
      " in this build of joist; the device is \"cpu\""
    )
  }
  structure("cpu", class = "joist_device")
}

#' @export
format.joist_device <- function(x, ...) unclass(x)[[1L]]

#' @export
print.joist_device <- function(x, ...) {
  cat("<device ", format(x), ">\n", sep = "")
  invisible(x)
}
