#' Round to decimal digits
#'
#' `nv_round()` rounds to whole numbers, or to a number of digits after the decimal point (or before
#' it, if `digits` is negative); `nv_signif()` rounds to a number of significant digits; also by R's
#' `round()` and `signif()`.
#'
#' For `f64` these are base R's results, bit by bit (those of R 4.0 and later, except for `signif()`
#' next to the largest number, which R rounds to the nearest only since 4.6): the nearer of the two
#' numbers with so many digits that are next to the operand, as doubles, and the even one of two
#' that are equally near. So `round(0.15, 1)` is 0.1, as 0.15 in double is less than 0.15. Other
#' floats are rounded as doubles, and then to their own precision; of complex numbers `nv_round()`
#' rounds both parts, to whole numbers only. Integers are exact: rounding to digits after the
#' decimal point leaves them unchanged; otherwise the result is the nearest multiple of a power of
#' 10, the even one of two, and wraps around if the dtype cannot hold it.
#'
#' @param x A tensor, or an R number or array.
#' @param digits A whole number: for `nv_round()` of digits after the decimal point, for
#'   `nv_signif()` of significant digits, at least 1 of which is kept.
#' @return A tensor of the operand's dtype.
#' @section Errors: `joist_dtype_error` for complex tensors, except for `nv_round()` to whole
#'   numbers; `joist_value_error` for `digits` that are not a single number.
#' @references M. Maechler: Rounding to decimal digits in binary. Vignette of the R package round
#'   (2020).
#' @examples
#' x <- nv_tensor(c(0.15, 2.675, -1234.5), "f64")
#' nv_round(x)
#' round(x, 2)
#' round(nv_tensor(c(15, 25, 149), "i16"), -1)
#' signif(x, 2)
#' @export
nv_round <- function(x, digits = 0) {
  if (identical(digits, 0)) {
    return(.Call(joist_r_op1, "round", x))
  }
  digits <- whole_digits(digits)
  type <- .Call(joist_r_op1, "round", none_of(x))
  stop_if_complex("nv_round", type)
  if (!is_float_dtype(type)) x <- as_operand(x) # of the default dtype
  if (digits == 0) {
    nv_round(x)
  } else if (is_float_dtype(type)) {
    like(with_promotion("anvil", fused("round", round_float, x, digits)), type)
  } else if (digits > 0) {
    x
  } else {
    in_whole_numbers(x, fused("round_integer", round_integer, x, digits))
  }
}

#' @rdname nv_round
#' @export
nv_signif <- function(x, digits = 6) {
  digits <- max(1, whole_digits(digits))
  type <- .Call(joist_r_op1, "round", none_of(x))
  stop_if_complex("nv_signif", type)
  if (is_float_dtype(type)) {
    if (digits > 22) {
      return(as_operand(x))
    }
    like(with_promotion("anvil", fused("signif", signif_float, x, digits)), type)
  } else {
    x <- as_operand(x) # of the default dtype
    in_whole_numbers(x, fused("signif_integer", signif_integer, x, digits))
  }
}

stop_if_complex <- function(name, type) {
  if (is_complex_dtype(type)) {
    stop_joist(
      "joist_dtype_error", name, "() does not round ", format(dtype(type)),
      " to digits: round nv_real() and nv_imag()"
    )
  }
}

whole_digits <- function(digits) {
  check_number(digits, "digits")
  floor(digits + 0.5)
}

# ---- floats, as doubles, which some promotion rules compute in f32 ----

round_float <- function(x, digits) {
  wide <- in_double(x)
  if (digits > 323) {
    return(wide)
  }
  size <- nv_abs(wide)
  # NaN and 0 remain what they are, and what has no digits to be rounded.
  limit <- if (digits < -308) Inf else 2^ceiling((15 - digits) * log2(10) - 0.5)
  rounded <- nv_is_finite(wide) & size < double_scalar(limit) & size != double_scalar(0)
  if (digits < -308) {
    return(nv_ifelse(rounded, double_scalar(0), wide))
  }
  # Beyond the largest power of 10 that a double can be there are two factors.
  most <- double_scalar(power_of_ten(min(digits, 308)))
  rest <- if (digits > 308) double_scalar(power_of_ten(digits - 308))
  scaled <- size * most
  if (!is.null(rest)) scaled <- scaled * rest
  below <- nv_floor(scaled)
  low <- below / most
  high <- nv_ceiling(scaled) / most
  if (!is.null(rest)) {
    low <- low / rest
    high <- high / rest
  }
  up <- high - size
  down <- size - low
  half <- below * double_scalar(0.5)
  nearest <- nv_ifelse(down < up | (down == up & nv_floor(half) == half), low, high)
  nv_ifelse(rounded, signed_as(wide, nearest), wide)
}

signif_float <- function(x, digits) {
  wide <- in_double(x)
  size <- nv_abs(wide)
  scales <- decimal_scales(digits)
  at <- nv_searchsorted(nv_tensor(scales$from, "f64"), size, "right") + nv_scalar(1L, "i32")
  factor <- nv_gather(nv_tensor(scales$factor, "f64"), at)
  second <- nv_gather(nv_tensor(scales$second, "f64"), at)
  divided <- nv_gather(nv_tensor(scales$divided), at)
  scaled <- nv_ifelse(divided, size / factor, size * factor * second)
  extreme <- nv_gather(nv_tensor(scales$extreme), at)
  whole <- nv_ifelse(extreme, nv_floor(scaled + double_scalar(0.5)), nv_round(scaled))
  multiple <- whole * factor
  # 2e308 is not representable as a double: the nearest double of one digit is 1e308.
  within <- nv_ifelse(nv_is_finite(multiple), multiple, nv_floor(scaled) * factor)
  value <- nv_ifelse(divided, within, whole / factor / second)
  rounded <- nv_is_finite(wide) & size != double_scalar(0)
  nv_ifelse(rounded, signed_as(wide, value), wide)
}

double_scalar <- function(x) nv_scalar(x, "f64")

signed_as <- function(x, size) nv_ifelse(x < double_scalar(0), -size, size)

# By squaring, as base R: it is not always the double that is nearest.
power_of_ten <- function(n) {
  if (n < 0) {
    return(1 / power_of_ten(-n))
  }
  power <- 1
  square <- 10
  while (n > 0) {
    if (n %% 2 == 1) power <- power * square
    square <- square * square
    n <- n %/% 2
  }
  power
}

# How base R scales doubles of each magnitude to whole numbers of that many digits: the elements
# from `from` on, which is where their logarithms are whole, are divided by `factor`, or multiplied
# by it and a `second` one. Those near the ends of the range are rounded by adding a half; those
# next to the largest, which base R cuts off in some versions, are multiples of the nearest power.
decimal_scales <- function(digits) {
  magnitude <- c(-324:-306, -306:308) # the smaller extreme ends within -306
  extreme <- seq_along(magnitude) <= 19L | magnitude == 306
  large <- magnitude > 306
  shift <- digits - 1 - magnitude
  first <- ifelse(extreme, digits + ifelse(shift > 0, 22, -22), base::pmin(abs(shift), 308))
  second <- ifelse(extreme, shift - first, base::pmax(shift - 308, 0))
  list(
    from = magnitude_starts(magnitude[-1L]),
    factor = ifelse(large, 10^first, vapply(first, power_of_ten, 0)),
    second = vapply(second, power_of_ten, 0),
    divided = !extreme & shift <= 0,
    extreme = extreme
  )
}

magnitude_starts <- function(magnitude) {
  if (is.null(compiled$magnitude_starts)) {
    repeated <- duplicated(magnitude)
    high <- base::pmin(2 * 10^magnitude, .Machine$double.xmax)
    compiled$magnitude_starts <- first_double(0.5 * 10^magnitude, high, function(x) {
      ifelse(repeated, log10(x) > magnitude, log10(x) >= magnitude)
    })
  }
  compiled$magnitude_starts
}

# The first doubles between `low` and `high` for which `holds`.
first_double <- function(low, high, holds) {
  repeat {
    middle <- low + (high - low) / 2
    if (all(middle == low | middle == high)) {
      return(high)
    }
    found <- holds(middle)
    high <- ifelse(found, middle, high)
    low <- ifelse(found, low, middle)
  }
}

# ---- integers, by their magnitudes: ui64, which some promotion rules do not have ----

# Negative numbers are magnitudes that wrap. Only the last step away from zero can leave the dtype
# of `x`: that is for the policy in force.
in_whole_numbers <- function(x, expr) {
  parts <- wrapping(by_anvil(expr))
  nv_convert(by_anvil(parts[[1L]] + parts[[2L]]), dtype(x), ambiguous(x))
}

round_integer <- function(x, digits) {
  if (digits < -19) {
    zero <- nv_convert(x != x, dtype(x))
    return(list(zero, zero))
  }
  to_multiple(x, nv_scalar(10^-digits, "ui64"))
}

signif_integer <- function(x, digits) {
  powers <- nv_tensor(10^(0:19), "ui64")
  count <- nv_searchsorted(powers, magnitude_of(x), "right")
  dropped <- nv_max(count - nv_scalar(as.integer(min(digits, 20)), "i32"), nv_scalar(0L, "i32"))
  to_multiple(x, nv_gather(powers, dropped + nv_scalar(1L, "i32")))
}

magnitude_of <- function(x) {
  if (dtype(x) != "ui64") x <- nv_abs(nv_convert(x, "i64")) # 2^63 is itself, unsigned
  nv_convert(x, "ui64")
}

to_multiple <- function(x, power) {
  size <- magnitude_of(x)
  beyond <- size %% power
  left <- power - beyond
  odd <- (size %/% power) %% nv_scalar(2L, "ui64") == nv_scalar(1L, "ui64")
  up <- beyond > left | (beyond == left & odd)
  half <- nv_ifelse(up, power %/% nv_scalar(2L, "ui64"), nv_scalar(0L, "ui64"))
  parts <- list(size - beyond + half, half) # 10^19 does not fit i64, but its half does
  if (!startsWith(format(dtype(x)), "u")) {
    negative <- nv_convert(x, "i64") < nv_scalar(0L, "i64")
    parts <- lapply(parts, function(part) nv_ifelse(negative, nv_negate(part), part))
  }
  lapply(parts, nv_convert, dtype(x))
}
