#' Resize images and interpolate
#'
#' `nv_resize()` makes an array larger or smaller along dimensions, as images are resized.
#' `nv_interp()` interpolates linearly between points.
#'
#' The method, with pixels as areas (the center of the first one is at 0.5) and weights that are
#' zero outside the array and sum to 1, is that of JAX's `jax.image.resize()`; `"linear"` with
#' `antialias = FALSE` is that of PyTorch's `interpolate()` without `align_corners`, and
#' `"nearest"` its `"nearest-exact"`. `"cubic"` is the kernel of Keys with a = -0.5. With
#' `antialias`, a kernel is as much wider as the array becomes smaller.
#'
#' One dimension is resized after the other: each element is a sum of a few elements of the
#' dimension, which are added in `f32` for `f16` and `bf16`.
#'
#' `nv_interp()` is NumPy's `interp()`: at `x` the value of the line through the points `(xp, fp)`,
#' before the first and after the last point their `fp`, or `left` and `right`.
#'
#' @param x A tensor or an R array: the array to resize, or the positions to interpolate at.
#' @param size The new extents along `dims`: whole R numbers.
#' @param method `"linear"`, `"nearest"` or `"cubic"`.
#' @param dims Dimensions, or their names; `NULL` for the first ones, as many as `size` has.
#' @param antialias `FALSE` reads the nearest elements only, also where the array becomes smaller.
#' @param xp,fp Tensors or R vectors of equal length: positions in increasing order, and values.
#' @param left,right Values before the first and after the last position; `NULL` for the first and
#'   the last of `fp`.
#' @return `nv_resize()`: a tensor of the dtype of `x` and with the names of its elements for
#'   `"nearest"`, else of the dtype of [nv_mean()], without names where it is resized.
#'   `nv_interp()`: a tensor of the shape of `x`, of the dtype of a quotient of `fp` and `xp`. Both
#'   have derivatives.
#' @section Errors: `joist_value_error` for an unknown method or a `size` that is not positive whole
#'   numbers; `joist_shape_error` for dimensions that do not exist or are empty, and for points that
#'   are not two vectors of equal length.
#' @references Robert Keys: Cubic convolution interpolation for digital image processing. IEEE
#'   Transactions on Acoustics, Speech, and Signal Processing 29 (1981), 1153-1160.
#' @examples
#' image <- nv_tensor(matrix(1:6, 2), "f32")
#' nv_resize(image, c(4, 6))
#' nv_resize(image, 2, "nearest", dims = 2)
#' nv_interp(c(0.5, 1.5, 9), 1:3, c(10, 20, 40))
#' @export
nv_resize <- function(x, size, method = "linear", dims = NULL, antialias = TRUE) {
  check_choice(method, "method", c("linear", "nearest", "cubic"))
  check_flag(antialias, "antialias")
  check_static(size, "size")
  x <- as_operand(x)
  dims <- if (is.null(dims)) seq_along(size) else dims_of(dims, x)
  check_dims(dims, "dims", ndims(x))
  if (!is_whole(size) || length(size) != length(dims) || any(size < 1)) {
    stop_joist(
      "joist_value_error", "`size` must be positive whole numbers, one for each of `dims`"
    )
  }
  if (any(shape(x)[dims] < 1L)) {
    stop_joist("joist_shape_error", "no elements to resize: `x` is ", shape_text(x))
  }
  made <- fused("resize", resized, x, as.double(size), method, dims, antialias)
  if (method == "nearest") made else other_names(made, x, dims[size != shape(x)[dims]])
}

resized <- function(x, size, method, dims, antialias) {
  if (method == "nearest") {
    for (k in seq_along(dims)) {
      extent <- shape(x)[dims[k]]
      at <- base::pmin(floor((seq_len(size[k]) - 0.5) * extent / size[k]), extent - 1) + 1
      x <- nv_gather(x, nv_tensor(at, "i64"), dims[k])
    }
    return(x)
  }
  made <- nv_mean(none_of(x))
  result <- to_float(x, dtype(made), ambiguous(made))
  result <- nv_convert(result, dtype_facts(dtype(made))$compute, ambiguous(made))
  # What makes the array smaller goes first.
  for (k in order(size / shape(x)[dims])) {
    if (size[k] != shape(x)[dims[k]]) {
      result <- resized_along(result, size[k], method, dims[k], antialias)
    }
  }
  like(result, made)
}

resized_along <- function(x, size, method, dim, antialias) {
  taps <- resize_taps(shape(x)[dim], size, method, antialias)
  across <- replace(rep(1L, ndims(x)), dim, as.integer(size))
  parts <- lapply(seq_len(ncol(taps$at)), function(k) {
    weights <- nv_tensor(taps$weights[, k], dtype(x), across, ambiguous(x))
    nv_gather(x, nv_tensor(taps$at[, k], "i64"), dim) * weights
  })
  Reduce(`+`, parts)
}

# The positions that each new element is a sum of, and their weights: a row for each.
resize_taps <- function(extent, size, method, antialias) {
  scale <- extent / size
  wide <- if (antialias) max(scale, 1) else 1
  kernel <- switch(method,
    linear = function(d) base::pmax(1 - d, 0),
    cubic = function(d) {
      outer <- ifelse(d < 2, ((-0.5 * d + 2.5) * d - 4) * d + 2, 0)
      ifelse(d < 1, ((1.5 * d - 2.5) * d) * d + 1, outer)
    }
  )
  reach <- wide * if (method == "linear") 1 else 2
  center <- (seq_len(size) - 0.5) * scale - 0.5
  first <- ceiling(center - reach)
  at <- outer(first, seq(0, floor(2 * reach)), `+`)
  weights <- kernel(abs(at - center) / wide)
  dim(weights) <- dim(at)
  weights[at < 0 | at > extent - 1] <- 0
  used <- colSums(weights != 0) > 0
  at <- base::pmin(base::pmax(at[, used, drop = FALSE], 0), extent - 1) + 1
  list(at = at, weights = (weights / rowSums(weights))[, used, drop = FALSE])
}

#' @rdname nv_resize
#' @export
nv_interp <- function(x, xp, fp, left = NULL, right = NULL) {
  parts <- lapply(list(x, xp, fp), function(x) none_of(as_operand(x)))
  type <- parts[[3L]] + nv_div(nv_sub(parts[[1L]], parts[[2L]]), parts[[2L]]) * parts[[3L]]
  x <- as_points(x, type)
  xp <- if (is_tensor(xp)) as_points(xp, type) else nv_flatten(as_points(xp))
  fp <- if (is_tensor(fp)) as_points(fp, type) else nv_flatten(as_points(fp))
  n <- length(xp)
  if (ndims(xp) != 1L || ndims(fp) != 1L || length(fp) != n || n < 1L) {
    stop_joist(
      "joist_shape_error", "`xp` and `fp` must be two vectors of equal length, not ",
      shape_text(xp), " and ", shape_text(fp)
    )
  }
  points <- list(x, xp, fp)
  floats <- is_float_dtype(x) && is_float_dtype(xp) && is_float_dtype(fp)
  made <- if (floats && is.null(left) && is.null(right)) {
    near <- .Call(joist_r_can_fuse, points) && isTRUE(all(abs(step_sizes(xp, fp)) < 1e38))
    fused("interp", between_points, points, left, right, near)
  } else {
    between_points(points, left, right)
  }
  # Rules may give an integer dtype, to which fractions are lost.
  if (is_float_dtype(type)) like(made, type) else converted_into(made, dtype(type), ambiguous(type))
}

step_sizes <- function(xp, fp) diff.default(c(0, as.vector(xp), 0, as.vector(fp), 0))

# `regular` for points that are finite, as their differences are, in f32, too.
between_points <- function(points, left = NULL, right = NULL, regular = FALSE) {
  x <- points[[1L]]
  xp <- points[[2L]]
  fp <- points[[3L]]
  n <- length(xp)
  if (n == 1L) {
    made <- nv_broadcast_to(nv_reshape(fp / nv_ifelse(xp == xp, 1, xp), integer()), shape(x))
  } else {
    at <- by_anvil(nv_clamp(1L, nv_searchsorted(xp, x, "right"), n - 1L))
    ends <- lapply(list(xp, fp), function(points) {
      list(low = nv_gather(points, at), high = nv_gather(points, by_anvil(at + 1L)))
    })
    made <- on_line(x, ends[[1L]], ends[[2L]], regular)
  }
  before <- if (is.null(left)) nv_gather(fp, 1L) else as_points(left)
  behind <- if (is.null(right)) nv_gather(fp, n) else as_points(right)
  made <- nv_ifelse(x < nv_gather(xp, 1L), like(before, made), made)
  nv_ifelse(x > nv_gather(xp, n), like(behind, made), made)
}

# The value at x of the line through two points, which at a point is that of the point.
on_line <- function(x, xp, fp, regular) {
  width <- exact_difference(xp$high, xp$low)
  width <- nv_ifelse(width == 0, 1, width)
  rise <- exact_difference(fp$high, fp$low)
  share <- exact_difference(x, xp$low) / width
  made <- fp$low + share * rise
  if (!regular) made <- on_long_line(made, x, xp, fp, width, rise)
  made <- nv_ifelse(x == xp$high, like(fp$high, made), made)
  nv_ifelse(x == xp$low, like(fp$low, made), made)
}

# Where one end or a difference is not finite.
on_long_line <- function(made, x, xp, fp, width, rise) {
  share <- exact_difference(x, xp$low) / width
  if (is_float_dtype(x) && is_float_dtype(xp$low)) {
    half <- nv_ifelse(xp$high == xp$low, 1, xp$high / 2 - xp$low / 2)
    share <- (x / 2 - xp$low / 2) / half
  }
  mixed <- like(fp$low * (1 - share) + fp$high * share, made)
  from_high <- fp$high + exact_difference(x, xp$high) / width * rise
  from_high <- nv_ifelse(fp$low == fp$high & x == x, like(fp$low, made), from_high)
  other <- nv_ifelse(nv_is_finite(mixed), mixed, nv_ifelse(nv_is_nan(made), from_high, made))
  nv_ifelse(nv_is_finite(made) & nv_is_finite(width), made, other)
}

# Differences of 64-bit integers are exact.
as_points <- function(x, type = NULL) {
  if (is_tensor(x) && is_int64(x)) {
    return(x)
  }
  if (is.null(type)) summed_in_double(x) else computed_for(x, type)
}
