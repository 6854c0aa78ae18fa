#' Comparison
#'
#' Compare tensors element by element, also by `== != < <= > >=`.
#'
#' What is compared, under every rule set that knows a common dtype:
#' * Integers, `bool` among them, with integers: exactly, whatever their dtypes are. No `ui64`
#'   equals a negative `i64`.
#' * Integers with R numbers, and R numbers with each other: exactly. `ui8 < 300L` and `i32 < 2.5`
#'   mean what they say, and so do `Inf` and whole numbers beyond 2^53.
#' * Floats and complex numbers with R numbers: in the common dtype, to which the R number is
#'   rounded, so that `nv_tensor(0.1, "f32") == 0.1` is true. A number beyond the range of that
#'   dtype is still compared as what it is, and so is an infinity or NaN that the dtype lacks.
#' * Integers and floats of up to a byte with R numbers that the rules join only to wider dtypes,
#'   as `i4 > 1.5` and `f8E4M3FN > 1L`: exactly.
#' * Other tensors: in their common dtype, as arithmetic would compute. An `i32` that `f32` rounds
#'   can equal an `f32`.
#'
#' @param lhs,rhs A tensor, or an R number or array.
#' @return A known `bool` tensor, missing where an operand is, also in `x == NA`: use [nv_is_na()].
#'   NaN is equal to nothing, and neither less nor greater than anything.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype, `joist_shape_error`
#'   when shapes do not fit, `joist_dtype_error` for comparisons other than `==` and `!=` of complex
#'   numbers, which have no order.
#' @examples
#' nv_lt(nv_tensor(1:3, "i8"), 2L)
#' nv_tensor(1:3, "ui8") < 300L
#' nv_tensor(1:3) < 2.5
#' nv_tensor(c(1, NA, 3), "ui8") == c(1, 2, NA)
#' @eval same_page("nv_eq", "nv_ne", "nv_lt", "nv_le", "nv_gt", "nv_ge")
nv_eq <- function(lhs, rhs) .Call(joist_r_op2, "eq", lhs, rhs)
nv_ne <- function(lhs, rhs) .Call(joist_r_op2, "ne", lhs, rhs)
nv_lt <- function(lhs, rhs) .Call(joist_r_op2, "lt", lhs, rhs)
nv_le <- function(lhs, rhs) .Call(joist_r_op2, "le", lhs, rhs)
nv_gt <- function(lhs, rhs) .Call(joist_r_op2, "gt", lhs, rhs)
nv_ge <- function(lhs, rhs) .Call(joist_r_op2, "ge", lhs, rhs)

#' Logical operations
#'
#' Elementwise logical and, or, exclusive or and not, also by `&`, `|`, `!` and `xor()`. Tensors of
#' other dtypes and R numbers are read as `!= 0`. The logic is three-valued, as R's: `NA & FALSE` is
#' `FALSE` and `NA | TRUE` is `TRUE`; other results are missing where an operand is.
#'
#' @param lhs,rhs,x A tensor or an R vector.
#' @return A known `bool` tensor.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype,
#'   `joist_shape_error` when shapes do not fit; `joist_value_error` for NaN in R vectors, which is
#'   neither TRUE nor FALSE.
#' @examples
#' nv_tensor(c(TRUE, FALSE)) & TRUE
#' nv_xor(nv_tensor(c(TRUE, FALSE)), TRUE)
#' !nv_tensor(0:2)
#' nv_tensor(c(TRUE, FALSE)) & NA
#' @eval same_page("nv_and", "nv_or", "nv_xor", "nv_not")
nv_and <- function(lhs, rhs) .Call(joist_r_op2, "and", lhs, rhs)
nv_or <- function(lhs, rhs) .Call(joist_r_op2, "or", lhs, rhs)
nv_xor <- function(lhs, rhs) .Call(joist_r_op2, "xor", lhs, rhs)
nv_not <- function(x) .Call(joist_r_op1, "not", x)

#' Operations on bits
#'
#' Elementwise operations on the bits of bool and integers. A shift by a negative amount, or by at
#' least the width of the dtype, moves every bit out. `nv_shift_right_arithmetic()` fills with the
#' sign, `nv_shift_right_logical()` with zeros. `nv_popcnt()` counts the bits that are set.
#' [bitwAnd()] and its relatives call these functions for tensors.
#'
#' @param lhs,rhs,x A tensor or an R vector.
#' @return A tensor of the common dtype, missing where an operand is.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype,
#'   `joist_shape_error` when shapes do not fit, `joist_dtype_error` for floats and complex
#'   numbers, and for shifts of bool.
#' @examples
#' nv_bitwise_and(nv_tensor(12L, "ui8"), 10L)
#' nv_shift_left(nv_tensor(1L, "i32"), 0:4)
#' nv_popcnt(nv_tensor(255L, "ui8"))
#' @eval same_page("nv_bitwise_and", "nv_bitwise_or", "nv_bitwise_xor", "nv_shift_left",
#'   "nv_shift_right_logical", "nv_bitwise_not", "nv_popcnt")
nv_bitwise_and <- function(lhs, rhs) .Call(joist_r_op2, "bitwise_and", lhs, rhs)
nv_bitwise_or <- function(lhs, rhs) .Call(joist_r_op2, "bitwise_or", lhs, rhs)
nv_bitwise_xor <- function(lhs, rhs) .Call(joist_r_op2, "bitwise_xor", lhs, rhs)
nv_shift_left <- function(lhs, rhs) .Call(joist_r_op2, "shift_left", lhs, rhs)

#' @rdname nv_bitwise_and
#' @export
nv_shift_right_arithmetic <- function(lhs, rhs) {
  .Call(joist_r_op2, "shift_right_arithmetic", lhs, rhs)
}
nv_shift_right_logical <- function(lhs, rhs) .Call(joist_r_op2, "shift_right_logical", lhs, rhs)
nv_bitwise_not <- function(x) .Call(joist_r_op1, "bitwise_not", x)
nv_popcnt <- function(x) {
  # Their counts may not fit.
  if (!is_tensor(x) || !type_string(x) %of% c("int1", "int1?", "i2", "i2?")) {
    return(.Call(joist_r_op1, "popcnt", x))
  }
  converted_into(.Call(joist_r_op1, "popcnt", unsigned(x)), dtype(x), ambiguous(x))
}
