#' joist: typed arrays with lattice-based type promotion
#'
#' Typed n-dimensional arrays in 15 dtypes, with known and ambiguous types and the
#' promotion rules of your choice. Start with [nv_tensor()], [common_dtype()] and
#' [jit()]; `vignette("type-promotion")` shows how they fit together.
#'
#' @section Errors:
#' Every error is a condition that inherits from `joist_error`:
#' `joist_promotion_error` (no common dtype), `joist_dtype_error` (unknown dtype, or an
#' operation that a dtype does not have), `joist_shape_error` (shapes that do not fit),
#' `joist_value_error` (a value that cannot be represented, NA, division by zero),
#' `joist_device_error` (a device that is missing) and `joist_memory_error`.
#'
#' @useDynLib joist, .registration = TRUE
#' @keywords internal
"_PACKAGE"
