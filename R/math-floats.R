#' Signs, neighbours, and sums that do not overflow
#'
#' Elementwise: `nv_hypot()` is `sqrt(x^2 + y^2)`, and `nv_logaddexp()` `log(exp(x) + exp(y))`, also
#' where the squares or exponentials would overflow. `nv_copysign()` has the size of `x` and the
#' sign of `y`, `nv_signbit()` is `TRUE` for a negative sign, also of -0 and NaN, and
#' `nv_nextafter()` is the next number of the dtype after `x` towards `y`.
#'
#' In `f64` and `f32` errors are at most 3 ulp, for `nv_logaddexp()` of the greater of 1, `x` and
#' `y`; `f16` and `bf16` are computed in `f32` and rounded once. `nv_hypot()` of an infinite number
#' and NaN is infinite, as in C.
#'
#' @param x,y Tensors, or R numbers or arrays.
#' @return A tensor: of bool from `nv_signbit()`, otherwise of the common dtype of the operands if
#'   it is a float, or of the float that the promotion rules make of it.
#' @section Errors: `joist_promotion_error` when the rules know no float for the dtype;
#'   `joist_dtype_error` for complex tensors, for bool in `nv_signbit()`, and for floats of less
#'   than 16 bits in `nv_nextafter()`.
#' @examples
#' nv_hypot(nv_tensor(c(3, 1e200), "f64"), c(4, 1e200))
#' nv_logaddexp(nv_tensor(c(0, 1000), "f64"), c(0, 1000))
#' nv_copysign(nv_tensor(c(1, -2)), c(-0, 1))
#' nv_signbit(nv_tensor(c(0, -0, -Inf)))
#' nv_nextafter(nv_tensor(1), 2) - 1
#' @export
nv_hypot <- function(x, y) fused("hypot", hypot, list(x, y))

hypot <- function(parts) {
  value_of <- custom_gradient(
    function(x, y) {
      large <- nv_max(nv_abs(x), nv_abs(y))
      share <- nv_min(nv_abs(x), nv_abs(y)) / nv_ifelse(large == 0, 1, large)
      infinite <- nv_is_infinite(x) | nv_is_infinite(y)
      nv_ifelse(infinite, Inf, large * nv_sqrt(1 + share * share))
    },
    function(cotangent, value, x, y) {
      slope <- cotangent / nv_ifelse(value == 0, 1, value)
      list(slope * x, slope * y)
    }
  )
  of_common_float(parts[[1L]], parts[[2L]], value_of)
}

#' @rdname nv_hypot
#' @export
nv_logaddexp <- function(x, y) fused("logaddexp", logaddexp, list(x, y))

logaddexp <- function(parts) {
  value_of <- custom_gradient(
    function(x, y) {
      rest <- nv_log1p(nv_exp(-nv_abs(x - y)))
      nv_max(x, y) + nv_ifelse(x == y, log(2), rest)
    },
    function(cotangent, value, x, y) {
      list(cotangent * nv_logistic(x - y), cotangent * nv_logistic(y - x))
    }
  )
  of_common_float(parts[[1L]], parts[[2L]], value_of)
}

#' @rdname nv_hypot
#' @export
nv_copysign <- function(x, y) {
  fused("copysign", with_sign, list(x, y))
}

with_sign <- function(pair) {
  of_common_float(pair[[1L]], pair[[2L]], function(x, y) {
    size <- nv_abs(x)
    nv_ifelse(nv_signbit(y), -size, size)
  })
}

#' @rdname nv_hypot
#' @export
nv_signbit <- function(x) {
  x <- as_operand(x)
  check_real(x)
  if (!is_float_dtype(x)) {
    if (dtype_kind(x) == "bool") {
      stop_joist("joist_dtype_error", "nv_signbit() is not defined for bool")
    }
    return(x < 0L)
  }
  integer_bits(x) < 0L
}

#' @rdname nv_hypot
#' @export
nv_nextafter <- function(x, y) {
  of_common_float(x, y, wide = FALSE, function(x, y) {
    if (!format(dtype(x)) %of% c("f16", "bf16", "f32", "f64")) {
      stop_joist("joist_dtype_error", "nv_nextafter() is not defined for ", format(dtype(x)))
    }
    bits <- integer_bits(x)
    one <- nv_scalar(1L, dtype(bits))
    # Those of -0 and NaN may be the least or the largest.
    bits <- nv_ifelse(x == 0 | nv_is_nan(x), one, bits)
    away <- (y > x) == (x > 0)
    from_bits <- function(bits) nv_bitcast_convert(bits, dtype(x))
    least <- nv_copysign(from_bits(one), y)
    moved <- from_bits(nv_ifelse(away, bits + one, bits - one))
    after <- nv_ifelse(x == y, y, nv_ifelse(x == 0, least, moved))
    nv_ifelse(nv_is_nan(x) | nv_is_nan(y), NaN, after)
  })
}

# The bits of floats as signed integers, negative where the sign is. Narrow floats are widened.
integer_bits <- function(x) {
  integer <- switch(format(dtype(x)), f16 = , bf16 = "i16", f64 = "i64", "i32")
  if (integer == "i32") x <- nv_convert(x, "f32")
  nv_bitcast_convert(x, integer)
}

# A function of two floats of the dtype that nv_atan2() makes of both; narrower floats are computed
# in f32, if that is `wide` enough to.
of_common_float <- function(x, y, f, wide = TRUE) {
  # A bare R number is exact until it meets a dtype.
  type_of <- function(x) if (is_tensor(x)) nv_aval(dtype(x), shape(x), ambiguous(x)) else x
  made <- nv_atan2(type_of(x), type_of(y))
  narrow <- wide && !format(dtype(made)) %of% c("f32", "f64")
  type <- if (narrow) "f32" else dtype(made)
  first <- first_tensor(list(x, y))
  converted <- function(x) {
    made <- to_float(x, type, ambiguous(made))
    if (is_tensor(x)) made else beside(made, first)
  }
  value <- masked_as(f(converted(x), converted(y)), list(x, y))
  if (narrow) nv_convert(value, dtype(made), ambiguous(made)) else value
}
