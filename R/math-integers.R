#' Divisors, quotients with remainders, and reordered bits
#'
#' Elementwise functions of integers. `nv_gcd()` is the greatest common divisor, `nv_lcm()` the
#' least common multiple; `nv_divmod()` gives the results of [nv_floor_div()] and [nv_mod()].
#'
#' `nv_clz()` and `nv_ctz()` count the zero bits above the highest and below the lowest bit that is
#' set. `nv_reverse_bits()` reverses the order of all bits, `nv_byteswap()` that of the bytes, and
#' `nv_rotate_left()` and `nv_rotate_right()` move bits by `n` places, those that leave at one end
#' entering at the other.
#'
#' Divisors and multiples are not negative, and 0 divides 0 only. One that does not fit wraps: in
#' `i8`, `nv_gcd(-128, 0)` is -128.
#'
#' @param x,y Tensors of integers, or R integers. `nv_divmod()` takes floats, `nv_byteswap()` takes
#'   floats of 2, 4 and 8 bytes, too.
#' @param n The number of places, modulo the width of the dtype: a tensor of integers, or R
#'   integers.
#' @return A tensor of the common dtype of `x` and `y`, or the dtype of `x`; `nv_divmod()`: a list
#'   of `quotient` and `remainder`; `nv_clz()` and `nv_ctz()`: a known `i32`. Results
#'   are missing where an operand is.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype;
#'   `joist_dtype_error` for other dtypes than integers; `joist_shape_error` for shapes that do not
#'   fit; `joist_value_error` for a division by zero of integers in `nv_divmod()`.
#' @examples
#' nv_gcd(nv_tensor(c(12L, 18L)), 8L)
#' nv_lcm(nv_tensor(c(4L, 6L)), 10L)
#' nv_divmod(nv_tensor(c(7L, -7L)), 2L)
#' nv_clz(nv_tensor(1L, "ui8"))
#' nv_ctz(nv_tensor(8L, "ui8"))
#' nv_reverse_bits(nv_tensor(1L, "ui8"))
#' nv_rotate_left(nv_tensor(129L, "ui8"), 1L)
#' nv_rotate_right(nv_tensor(129L, "ui8"), 1L)
#' nv_byteswap(nv_tensor(1L, "i16"))
#' @export
nv_gcd <- function(x, y) {
  of_common_integer(x, y, function(x, y) as_size(divisor(size_of(x), size_of(y)), x))
}

#' @rdname nv_gcd
#' @export
nv_lcm <- function(x, y) {
  of_common_integer(x, y, function(x, y) {
    a <- size_of(x)
    b <- size_of(y)
    by <- divisor(a, b)
    # In the dtype of the result, so that it is told of if it does not fit.
    as_size(nv_floor_div(a, nv_ifelse(by == 0L, 1L, by)), x) * as_size(nv_ifelse(a == 0L, 0L, b), x)
  })
}

#' @rdname nv_gcd
#' @export
nv_divmod <- function(x, y) list(quotient = nv_floor_div(x, y), remainder = nv_mod(x, y))

#' @rdname nv_gcd
#' @export
nv_clz <- function(x) {
  x <- integer_operand(x)
  width <- dtype_facts(dtype(x))$bits
  bits <- unsigned(x)
  for (s in halvings(width)) bits <- nv_bitwise_or(bits, nv_shift_right_logical(bits, s))
  width - nv_convert(nv_popcnt(bits), "i32")
}

#' @rdname nv_gcd
#' @export
nv_ctz <- function(x) nv_clz(nv_reverse_bits(x))

#' @rdname nv_gcd
#' @export
nv_reverse_bits <- function(x) reversed_groups(integer_operand(x), 1)

#' @rdname nv_gcd
#' @export
nv_rotate_left <- function(x, n) rotated(x, n, nv_shift_left, nv_shift_right_logical)

#' @rdname nv_gcd
#' @export
nv_rotate_right <- function(x, n) rotated(x, n, nv_shift_right_logical, nv_shift_left)

#' @rdname nv_gcd
#' @export
nv_byteswap <- function(x) {
  x <- as_operand(x)
  if (format(dtype(x)) %of% c("f16", "bf16", "f32", "f64")) {
    bits <- nv_bitcast_convert(x, paste0("ui", dtype_facts(dtype(x))$bits))
    swapped <- nv_bitcast_convert(reversed_groups(bits, 8), dtype(x))
    return(nv_convert(swapped, dtype(x), ambiguous(x)))
  }
  reversed_groups(integer_operand(x), 8)
}

integer_operand <- function(x) {
  x <- as_operand(x)
  if (!is_integer_dtype(x)) {
    stop_joist("joist_dtype_error", "a function of integers, not of ", format(dtype(x)))
  }
  x
}

# Whole numbers beside `x`, as i64.
whole_operand <- function(n, name, x) {
  if (is_tensor(n)) {
    return(nv_convert(integer_operand(n), "i64"))
  }
  if (!is_whole(n)) stop_joist("joist_value_error", "`", name, "` must be whole numbers")
  nv_convert(tensor_beside(n, x), "i64")
}

# Half the width, a quarter, ... down to `least`.
halvings <- function(width, least = 1) {
  as.integer(rev(least * 2^(seq_len(max(0, log2(width / least))) - 1)))
}

unsigned <- function(x) {
  type <- format(dtype(x))
  if (startsWith(type, "u")) x else nv_bitcast_convert(x, paste0("u", type))
}

# An unsigned integer as one of the dtype of `x`, of the same bits.
with_bits_as <- function(bits, x) {
  made <- if (dtype(bits) == dtype(x)) bits else nv_bitcast_convert(bits, dtype(x))
  nv_convert(made, dtype(x), ambiguous(x))
}

# An unsigned size in the dtype of `x`: that of its least integer, which does not fit, is told of.
as_size <- function(bits, x) nv_abs(with_bits_as(bits, x))

# Neighbours of 1, 2, 4, ... bits change places, from `least` bits on.
reversed_groups <- function(x, least) {
  bits <- unsigned(x)
  width <- dtype_facts(dtype(x))$bits
  wrapping({
    ones <- nv_bitwise_not(scalar_like(0, bits))
    for (s in halvings(width, least)) {
      # 0...01...1 of s bits each, repeated
      low <- nv_floor_div(ones, scalar_like(2^s + 1, bits))
      upper <- nv_bitwise_and(nv_shift_right_logical(bits, s), low)
      bits <- nv_bitwise_or(upper, nv_shift_left(nv_bitwise_and(bits, low), s))
    }
  })
  with_bits_as(bits, x)
}

rotated <- function(x, n, forth, back) {
  x <- integer_operand(x)
  width <- dtype_facts(dtype(x))$bits
  n <- nv_mod(whole_operand(n, "n", x), width)
  bits <- unsigned(x)
  moved <- function(f, n) f(bits, nv_convert(n, dtype(bits)))
  with_bits_as(wrapping(nv_bitwise_or(moved(forth, n), moved(back, width - n))), x)
}

# The size of integers, which unsigned ones always hold.
size_of <- function(x) {
  if (startsWith(format(dtype(x)), "u")) x else unsigned(wrapping(nv_abs(x)))
}

# By Euclid's algorithm, until all remainders are 0.
divisor <- function(a, b) {
  nv_while(
    list(a = a, b = b),
    function(s) nv_reduce_any(s$b != 0L),
    function(s) {
      rest <- nv_mod(s$a, nv_ifelse(s$b == 0L, 1L, s$b))
      list(a = nv_ifelse(s$b == 0L, s$a, s$b), b = nv_ifelse(s$b == 0L, 0L, rest))
    }
  )$a
}

# A function of two integers of the common dtype and shape, both 0 where one is missing.
of_common_integer <- function(x, y, f) {
  for (part in list(x, y)) if (is.character(part)) as_operand(part)
  common <- .Call(joist_r_result_dtype, list(x, y), NULL)
  integer_operand(nv_aval(common$dtype))
  first <- first_tensor(list(x, y))
  parts <- lapply(list(x, y), function(x) {
    made <- converted_into(x, common$dtype, common$ambiguous)
    if (is_tensor(x)) made else beside(made, first)
  })
  parts <- do.call(nv_broadcast_arrays, parts)
  value <- by_anvil({
    known <- lapply(parts, nv_replace_na, 0L)
    gaps <- Filter(may_be_na, parts)
    for (part in gaps) known <- lapply(known, function(x) nv_ifelse(nv_is_na(part), 0L, x))
    value <- f(known[[1L]], known[[2L]])
    for (part in gaps) value <- nv_ifelse(nv_is_na(part), part, value)
    value
  })
  for (part in rev(parts)) value <- same_names(value, part)
  value
}
