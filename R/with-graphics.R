# Pictures: other plots see the values of a tensor without a method. These two ask for a vector, and
# compute with the values, which f16 would round.

#' @importFrom graphics barplot
#' @export
barplot.nv_tensor <- function(height, ...) graphics::barplot(as_array(height), ...)

#' @importFrom graphics image
#' @export
image.nv_tensor <- function(x, ...) graphics::image(as.matrix(x), ...)

#' @importFrom grDevices as.raster
#' @export
as.raster.nv_tensor <- function(x, max = raster_white(x), ...) {
  grDevices::as.raster(as_array(x), max = max, ...)
}

# White in the dtype of a raster: floats go to 1.
raster_white <- function(x) {
  switch(format(dtype(x)),
    ui8 = 255,
    ui16 = 65535,
    1
  )
}

#' @exportS3Method ggplot2::scale_type
scale_type.nv_tensor <- function(x) if (dtype(x) == "bool") "discrete" else "continuous"

#' @exportS3Method scales::rescale
rescale.nv_tensor <- function(x, ...) scales::rescale(as_array(x), ...)

#' @exportS3Method scales::rescale_mid
rescale_mid.nv_tensor <- function(x, ...) scales::rescale_mid(as_array(x), ...)
