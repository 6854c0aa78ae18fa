#' Arithmetic
#'
#' Elementwise arithmetic, also by the operators `+ - * / ^ %/% %%`. Operands of different dtypes
#' are promoted by the current rules, see [common_dtype()]. Shapes broadcast: a scalar is combined
#' with every element, and of tensors of equal rank, extents of 1 are repeated.
#'
#' Powers of floats by 1, 2, 3, 0.5 and their negatives are products, quotients and roots: exact
#' where those are, and as fast. Which formula is used depends on the exponent's value alone, not on
#' where it comes from. Powers of floats are accurate to `r stated_error("pow")`.
#'
#' Integer results that do not fit wrap modulo 2^n, with a warning; [with_promotion()] can make
#' them saturate, or change the warning. `nv_floor_div()` and `nv_mod()` round down, so the sign
#' of the modulus is that of the divisor, as in R; `nv_remainder()` truncates, so the sign is
#' that of the dividend, as in C. For bool, `+` is *or* and `*` is *and*; `-` is an error. `f16` and
#' `bf16` are computed in `f32` and rounded once. `nv_min()` and `nv_max()` compare two operands
#' element by element, as [pmin()] and [pmax()] do, and give NaN where an operand is NaN; 0 is
#' larger than -0, in either order. The smallest and largest elements of one tensor are
#' [nv_reduce_min()] and [nv_reduce_max()], or `min()` and `max()`.
#'
#' Results are missing where an operand is (see [nv_mask()]), but `x^0` and `1^x` are 1 for all `x`.
#' Overflow of integers does not give missing values.
#'
#' `nv_atan2()` is accurate to `r stated_error("atan2")`, also by [atan2()].
#'
#' @param lhs,rhs A tensor or an R number; a bare R number keeps its exact value until the
#'   common dtype is known.
#' @return A tensor of the common dtype. `nv_div()` and `nv_atan2()` give a float: a common dtype
#'   that is neither float nor complex is promoted with the rules' ambiguous default float (under
#'   anvil `i32 / i32` is `f32?`). Rules that divide integers as integers (`c`, `arrow`,
#'   `jax_lax`, `anvl_2026_09`) truncate the quotient; `octave` rounds it to the
#'   nearest, halves away from zero, where the quotient of a number and 0 is an integer that does
#'   not fit, and that of 0 and 0 is 0.
#'   Under `octave`, `+`, `-`, `*`, `/` and `^` of an integer of up to 32 bits and a float are
#'   computed in double and rounded to that integer dtype, halves away from zero, as in Octave.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype,
#'   `joist_shape_error` when shapes do not fit, `joist_dtype_error` when the dtype has no
#'   such operation, `joist_value_error` for integer division by zero, negative integer powers
#'   (the position is named) and R numbers out of the dtype's range.
#' @examples
#' nv_add(nv_tensor(1:3, "i8"), 1L)
#' nv_tensor(c(7, -7), "i32") %/% 2L
#' nv_tensor(c(7, -7), "i32") %% 2L
#' nv_tensor(1:3, "i16") / nv_tensor(2L, "i16")
#' nv_tensor(c(100, NA), "i8") + 100L
#' @eval same_page("nv_add", "nv_sub", "nv_mul", "nv_div", "nv_pow", "nv_floor_div",
#'   "nv_mod", "nv_remainder", "nv_min", "nv_max", "nv_atan2")
nv_add <- function(lhs, rhs) .Call(joist_r_op2, "add", lhs, rhs)
nv_sub <- function(lhs, rhs) .Call(joist_r_op2, "sub", lhs, rhs)
nv_mul <- function(lhs, rhs) .Call(joist_r_op2, "mul", lhs, rhs)
nv_div <- function(lhs, rhs) .Call(joist_r_op2, "div", lhs, rhs)
nv_pow <- function(lhs, rhs) .Call(joist_r_op2, "pow", lhs, rhs)
nv_floor_div <- function(lhs, rhs) .Call(joist_r_op2, "floor_div", lhs, rhs)
nv_mod <- function(lhs, rhs) .Call(joist_r_op2, "mod", lhs, rhs)
nv_remainder <- function(lhs, rhs) .Call(joist_r_op2, "remainder", lhs, rhs)
nv_min <- function(lhs, rhs) .Call(joist_r_op2, "min", lhs, rhs)
nv_max <- function(lhs, rhs) .Call(joist_r_op2, "max", lhs, rhs)
nv_atan2 <- function(lhs, rhs) .Call(joist_r_op2, "atan2", lhs, rhs)

#' Clamp and choose
#'
#' `nv_clamp()` limits values to an interval; `nv_ifelse()` chooses each element from one of two
#' tensors, also by [ifelse()]. A result of `nv_clamp()` is missing where one of its operands is,
#' and one of `nv_ifelse()` where `pred` or the chosen element is.
#'
#' @param min_val,max_val Bounds: a tensor or an R number; a bare R number keeps its exact
#'   value until the common dtype is known.
#' @param x The values to clamp, which are the second argument: a tensor, or, if `min_val` is an R
#'   number, also an R number, which keeps its exact value until the common dtype is known.
#' @param pred A tensor or an R vector; other dtypes and R numbers are read as `!= 0`.
#' @param true,false A tensor or an R number; a bare R number keeps its exact
#'   value until the common dtype is known.
#' @return A tensor of the common dtype of the operands (of the two values for
#'   `nv_ifelse()`). NaN in any operand of `nv_clamp()` gives NaN.
#' @section Errors: `joist_promotion_error` when the rules know no common dtype, `joist_shape_error`
#'   when shapes do not fit, and for the values of `nv_clamp()` as the first argument,
#'   `joist_dtype_error` for `nv_clamp()` of complex tensors, `joist_value_error` for R numbers out
#'   of the dtype's range, and for NaN in a `pred` that is an R vector.
#' @examples
#' nv_clamp(0, nv_tensor(c(-1, 0.5, 2)), 1)
#' nv_ifelse(c(TRUE, FALSE), nv_tensor(1:2, "i8"), 0L)
#' nv_ifelse(c(TRUE, NA, FALSE), nv_tensor(1:3, "i8"), NA)
#' @export
nv_clamp <- function(min_val, x, max_val) {
  # Other libraries have the array first: nv_clamp(x, 0, 1) would clamp the 0.
  is_known <- function(x) is_tensor(x) && !is_number(x)
  if (is_known(min_val) && !is_known(x)) {
    stop_joist(
      "joist_shape_error", "what is clamped is the second argument: nv_clamp(0, x, 1) for ",
      "nv_clamp(x, 0, 1)"
    )
  }
  .Call(joist_r_op3, "clamp", min_val, x, max_val)
}

#' @rdname nv_clamp
#' @export
nv_ifelse <- function(pred, true, false) {
  .Call(joist_r_op3, "ifelse", pred, true, false)
}
