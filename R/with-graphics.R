# Base graphics of the values: exact, or the error of as_array().

#' @export
plot.nv_tensor <- function(x, y, ...) {
  if (missing(y)) plot(as_array(x), ...) else plot(as_array(x), plain(y), ...)
}

plain <- function(x) if (is_tensor(x)) as_array(x) else x

#' @importFrom graphics lines
#' @export
lines.nv_tensor <- function(x, ...) graphics::lines(as_array(x), ...)

#' @importFrom graphics points
#' @export
points.nv_tensor <- function(x, ...) graphics::points(as_array(x), ...)

#' @importFrom graphics hist
#' @export
hist.nv_tensor <- function(x, ...) graphics::hist(as_array(x), ...)

#' @importFrom graphics barplot
#' @export
barplot.nv_tensor <- function(height, ...) graphics::barplot(as_array(height), ...)

#' @importFrom graphics boxplot
#' @export
boxplot.nv_tensor <- function(x, ...) graphics::boxplot(as_array(x), ...)

#' @importFrom graphics stripchart
#' @export
stripchart.nv_tensor <- function(x, ...) graphics::stripchart(as_array(x), ...)

#' @importFrom graphics image
#' @export
image.nv_tensor <- function(x, ...) graphics::image(as.matrix(x), ...)

#' @importFrom graphics persp
#' @export
persp.nv_tensor <- function(x, ...) graphics::persp(as.matrix(x), ...)

#' @importFrom graphics contour
#' @export
contour.nv_tensor <- function(x, ...) graphics::contour(as.matrix(x), ...)

#' @importFrom graphics pairs
#' @export
pairs.nv_tensor <- function(x, ...) graphics::pairs(as.matrix(x), ...)

#' @importFrom stats density
#' @export
density.nv_tensor <- function(x, ...) stats::density(as.double(x), ...)

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
scale_type.nv_tensor <- function(x) {
  stop_joist(
    "joist_dtype_error", "ggplot2 takes R's own numbers: use ggplot(to_r(data), ...), ",
    "or as_array() of the tensor in aes()"
  )
}
