#' Parts of floats, and numbers that are close
#'
#' `nv_frexp()` takes floats apart: `x` is `mantissa * 2^exponent`, with a mantissa of at least 0.5
#' and less than 1 in size. `nv_ldexp()` is `x * 2^exponent`, rounded once. `nv_nan_to_num()`
#' replaces NaN and infinite numbers; missing values stay. `nv_is_close()` says whether
#' `abs(x - y) <= atol + rtol * abs(y)`; infinite numbers are close to themselves only.
#'
#' The mantissa of 0, infinite numbers and NaN is the number itself, and their exponent is 0.
#' Differences of `nv_is_close()` are computed in `f64`, those of complex numbers in `c128`, and of
#' 64-bit integers exactly. R numbers beside integers, or beside each other, are not rounded.
#'
#' @param x,y Tensors, or R numbers or arrays.
#' @param exponent A tensor of integers, or whole R numbers.
#' @param nan,posinf,neginf Numbers for NaN, `Inf` and `-Inf`; `NULL` for the greatest and the
#'   least finite number of the dtype.
#' @param rtol,atol Numbers: the relative and the absolute tolerance.
#' @param equal_nan `TRUE` if NaN is close to NaN.
#' @return `nv_frexp()`: a list of `mantissa`, of the dtype of `x` if that is a float and otherwise
#'   of the float that the promotion rules make of it, and `exponent`, a known `i32`. `nv_ldexp()`:
#'   a tensor of the dtype of such a mantissa. `nv_nan_to_num()`: a tensor of the dtype of `x`.
#'   `nv_is_close()`: a known `bool`. Results are missing where an operand is.
#' @section Derivatives: With respect to `x`, in `nv_frexp()` of the mantissa for an exponent that
#'   stays, in `nv_nan_to_num()` where the number stays.
#' @section Errors: `joist_dtype_error` for complex numbers in `nv_frexp()` and `nv_ldexp()`, and
#'   for exponents that are not integers; `joist_promotion_error` when the rules know no float for
#'   the dtype; `joist_shape_error` for shapes that do not fit; `joist_value_error` for R numbers
#'   that are not whole, as exponents, and for invalid tolerances and replacements.
#' @examples
#' nv_frexp(nv_tensor(c(1, 10, -0.3)))
#' nv_ldexp(nv_tensor(c(0.5, 0.625)), 1:2)
#' nv_nan_to_num(nv_tensor(c(1, NaN, Inf)), posinf = 9)
#' nv_is_close(nv_tensor(c(1, 1)), c(1 + 1e-7, 1.1))
#' @export
nv_frexp <- function(x) {
  x <- float_operand(x)
  bits <- float_parts(x)
  mantissa <- custom_gradient(
    function(x) nv_convert(float_parts(x)$mantissa, dtype(x), ambiguous(x)),
    function(cotangent, value, x) list(nv_ldexp(cotangent, -float_parts(x)$exponent))
  )
  list(mantissa = mantissa(x), exponent = nv_stop_gradient(nv_convert(bits$exponent, "i32")))
}

#' @rdname nv_frexp
#' @export
nv_ldexp <- function(x, exponent) {
  x <- float_operand(if (is_tensor(x)) x else tensor_beside(x, exponent))
  if (is_whole(exponent) && length(exponent) == 1L && abs(exponent) < 1000) { # a factor is exact
    if (type_string(x) %of% c("f64", if (abs(exponent) <= 126) "f32")) {
      return(by_anvil(x * 2^exponent))
    }
    return(nv_convert(by_anvil(nv_convert(x, "f64") * 2^exponent), dtype(x), ambiguous(x)))
  }
  large <- is_tensor(exponent) && type_string(exponent) %of% c("ui64", "ui64?")
  if (large) exponent <- nv_min(exponent, nv_scalar(2200L, "ui64"))
  exponent <- whole_operand(exponent, "exponent", x)
  scaled <- by_anvil({
    n <- nv_clamp(-2200L, exponent, 2200L)
    last <- nv_clamp(-1000L, n, 1000L)
    first <- nv_clamp(-1000L, n - last, 1000L)
    # Numbers that get too small for all of their digits are rounded at the last step only, unless
    # they are too small for any.
    rest <- power_of_two(n - last - first)
    nv_convert(x, "f64") * rest * power_of_two(first) * power_of_two(last)
  })
  nv_convert(scaled, dtype(x), ambiguous(x))
}

#' @rdname nv_frexp
#' @export
nv_nan_to_num <- function(x, nan = 0, posinf = NULL, neginf = NULL) {
  x <- as_operand(x)
  check_number(nan, "nan")
  if (!is.null(posinf)) check_number(posinf, "posinf")
  if (!is.null(neginf)) check_number(neginf, "neginf")
  if (is_complex_dtype(x)) {
    parts <- lapply(list(nv_real(x), nv_imag(x)), nv_nan_to_num, nan, posinf, neginf)
    finite <- nv_convert(parts[[1L]], dtype(x)) + nv_convert(parts[[2L]], dtype(x)) * 1i
    return(nv_ifelse(nv_is_finite(x), x, finite))
  }
  if (!is_float_dtype(x)) {
    return(x)
  }
  for (value in list(nan, posinf, neginf)) if (!is.null(value)) judged(value, dtype(x))
  fused("finite_numbers", finite_numbers, x, nan, posinf, neginf)
}

finite_numbers <- function(x, nan, posinf, neginf) {
  bounds <- dtype_facts(dtype(x))
  high <- scalar_like(if (is.null(posinf)) bounds$max else posinf, x)
  low <- scalar_like(if (is.null(neginf)) bounds$min else neginf, x)
  value <- nv_ifelse(nv_is_infinite(x), nv_ifelse(x > 0, high, low), x)
  nv_ifelse(nv_is_nan(x), scalar_like(nan, x), value)
}

#' @rdname nv_frexp
#' @export
nv_is_close <- function(x, y, rtol = 1e-5, atol = 1e-8, equal_nan = FALSE) {
  check_number(rtol, "rtol")
  check_number(atol, "atol")
  check_flag(equal_nan, "equal_nan")
  if (missing(x)) stop_missing("x")
  if (missing(y)) stop_missing("y")
  fused("close", are_close, list(x, y), rtol, atol, equal_nan)
}

are_close <- function(pair, rtol, atol, equal_nan) {
  x <- pair[[1L]]
  y <- pair[[2L]]
  same <- nv_eq(x, y)
  operand <- function(x, other) {
    floats <- is_tensor(other) && (is_float_dtype(other) || is_complex_dtype(other))
    (if (floats) tensor_beside else exact_beside)(x, other)
  }
  both <- list(operand(x, y), operand(y, x))
  x <- both[[1L]]
  y <- both[[2L]]
  complex <- is_complex_dtype(x) || is_complex_dtype(y)
  wide <- lapply(list(x, y), nv_convert, if (complex) "c128" else "f64")
  distance <- if (is_int64(x) && is_int64(y)) {
    nv_abs(exact_difference(x, y))
  } else {
    nv_abs(wide[[1L]] - wide[[2L]])
  }
  near <- distance <= atol + rtol * nv_abs(wide[[2L]])
  near <- same | near & nv_is_finite(wide[[2L]])
  if (equal_nan) near | nv_is_nan(x) & nv_is_nan(y) else near
}

# A real tensor of floats: of the dtype that nv_sqrt() gives.
float_operand <- function(x) {
  x <- as_operand(x)
  if (is_float_dtype(x)) {
    return(x)
  }
  check_real(x)
  float <- nv_sqrt(nv_aval(dtype(x), integer(), ambiguous(x)))
  to_float(x, dtype(float), ambiguous(float))
}

# The mantissas and exponents of floats, as f64 and i64.
float_parts <- function(x) by_anvil(parts_of_double(x))

parts_of_double <- function(x) {
  wide <- nv_convert(nv_stop_gradient(x), "f64")
  small <- nv_abs(wide) < 2^-1022
  bits <- nv_bitcast_convert(nv_ifelse(small, wide * 2^54, wide), "i64")
  integer <- function(value) beside(nv_scalar(value, "i64"), bits)
  field <- nv_bitwise_and(nv_shift_right_logical(bits, 52L), 2047L)
  plain <- field != 2047L & wide != 0
  exponent <- field - nv_ifelse(small, 1076L, 1022L)
  own <- nv_bitwise_and(bits, integer("-9218868437227405313")) # without the field
  unit <- nv_bitcast_convert(nv_bitwise_or(own, integer("4602678819172646912")), "f64")
  list(mantissa = nv_ifelse(plain, unit, wide), exponent = nv_ifelse(plain, exponent, 0L))
}

# 2^n in f64, for i64 from -1022 to 1023.
power_of_two <- function(n) {
  by_anvil(nv_bitcast_convert(wrapping(nv_shift_left(n + 1023L, 52L)), "f64"))
}
