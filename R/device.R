#' Devices
#'
#' Where the data of a tensor is and programs run. The `cpu` is always there.
#'
#' @param name Name of a device.
#' @return `nv_device()` a `joist_device`; `nv_devices()` the names of the devices of this
#'   build.
#' @section Errors: `joist_device_error` when there is no such device.
#' @examples
#' nv_devices()
#' nv_device("cpu")
#' device(nv_scalar(1))
#' @export
nv_device <- function(name = "cpu") {
  if (inherits(name, "joist_device")) name else .Call(joist_r_device, name)
}

#' @rdname nv_device
#' @export
nv_devices <- function() .Call(joist_r_device_names)

#' @export
format.joist_device <- function(x, ...) unclass(x)[[1L]]

#' @export
print.joist_device <- function(x, ...) {
  cat("<device ", format(x), ">\n", sep = "")
  invisible(x)
}
