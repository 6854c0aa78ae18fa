#' Elementary functions
#'
#' Roots, exponentials, logarithms and trigonometric functions of each element, also by R's generics
#' of the same names (`sqrt()`, `exp()`, ...). A missing element stays missing. Angles are in
#' radians; `nv_sinpi()`, `nv_cospi()` and `nv_tanpi()` are functions of pi times the operand, exact
#' at whole numbers and halves of any size; at its poles `nv_tanpi()` is NaN, as in R.
#' `nv_logistic()` is 1 / (1 + exp(-x)), as `plogis()`; `nv_rsqrt()` is 1 / sqrt(x).
#'
#' Computed by vector code with the same bits on every instruction set; complex dtypes by the C
#' library's functions. Errors in units in the last place (ulp) are at most
#' `r stated_errors(elementary_functions())`, so that results may differ from base R in the last
#' digits. `f16` and `bf16` are computed in `f32` and rounded once.
#'
#' @param x A tensor, or an R number or array.
#' @return A tensor. Float and complex dtypes are kept; integers and bool become what the promotion
#'   rules say, see [promotion_facts()] (under anvil `sqrt()` of an `i32` is `f32?`).
#' @section Errors: `joist_promotion_error` when the rules know no float for the dtype;
#'   `joist_dtype_error` for `cbrt`, `sinpi`, `cospi` and `tanpi` of complex tensors.
#' @examples
#' sqrt(nv_tensor(c(1, 4, 9), "f64"))
#' nv_logistic(nv_tensor(c(-1, 0, 1)))
#' exp(nv_tensor(1:3, "i32"))
#' @concept plogis
#' @concept sigmoid
#' @eval same_page("nv_sqrt", "nv_rsqrt", "nv_cbrt", "nv_exp", "nv_expm1", "nv_log", "nv_log2",
#'   "nv_log10", "nv_log1p", "nv_logistic", "nv_sin", "nv_cos", "nv_tan", "nv_sinpi", "nv_cospi",
#'   "nv_tanpi", "nv_asin", "nv_acos", "nv_atan", "nv_sinh", "nv_cosh", "nv_tanh", "nv_asinh",
#'   "nv_acosh", "nv_atanh")
nv_sqrt <- function(x) .Call(joist_r_op1, "sqrt", x)
nv_rsqrt <- function(x) .Call(joist_r_op1, "rsqrt", x)
nv_cbrt <- function(x) .Call(joist_r_op1, "cbrt", x)
nv_exp <- function(x) .Call(joist_r_op1, "exp", x)
nv_expm1 <- function(x) .Call(joist_r_op1, "expm1", x)
nv_log <- function(x) .Call(joist_r_op1, "log", x)
nv_log2 <- function(x) .Call(joist_r_op1, "log2", x)
nv_log10 <- function(x) .Call(joist_r_op1, "log10", x)
nv_log1p <- function(x) .Call(joist_r_op1, "log1p", x)
nv_logistic <- function(x) .Call(joist_r_op1, "logistic", x)
nv_sin <- function(x) .Call(joist_r_op1, "sin", x)
nv_cos <- function(x) .Call(joist_r_op1, "cos", x)
nv_tan <- function(x) .Call(joist_r_op1, "tan", x)
nv_sinpi <- function(x) .Call(joist_r_op1, "sinpi", x)
nv_cospi <- function(x) .Call(joist_r_op1, "cospi", x)
nv_tanpi <- function(x) .Call(joist_r_op1, "tanpi", x)
nv_asin <- function(x) .Call(joist_r_op1, "asin", x)
nv_acos <- function(x) .Call(joist_r_op1, "acos", x)
nv_atan <- function(x) .Call(joist_r_op1, "atan", x)
nv_sinh <- function(x) .Call(joist_r_op1, "sinh", x)
nv_cosh <- function(x) .Call(joist_r_op1, "cosh", x)
nv_tanh <- function(x) .Call(joist_r_op1, "tanh", x)
nv_asinh <- function(x) .Call(joist_r_op1, "asinh", x)
nv_acosh <- function(x) .Call(joist_r_op1, "acosh", x)
nv_atanh <- function(x) .Call(joist_r_op1, "atanh", x)

#' Error and gamma functions
#'
#' Elementwise: the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, and
#' its complement `nv_erfc()`, which keeps its precision far into the tail; the gamma function, the
#' logarithm of its absolute value, and that logarithm's derivative. R's generics `gamma()`,
#' `lgamma()` and `digamma()` call them.
#'
#' Computed by vector code with the same bits on every instruction set. Errors in units in the last
#' place (ulp) are at most `r stated_errors(special_functions)`; near zeros at negative numbers, in
#' `f32` as in `f64`, those of `nv_lgamma()` are in ulp of 1, and those of `nv_digamma()` in ulp of
#' the larger of 1, log(-x) and itself. `f16` and `bf16` are computed in `f32` and rounded once.
#' At 0 and the negative whole numbers `nv_gamma()` and `nv_digamma()` are NaN and `nv_lgamma()` is
#' Inf, as in R. Unlike R's, `nv_gamma()` below -170.5 is a subnormal number before it is 0.
#'
#' @inheritParams nv_sqrt
#' @return A tensor. Float dtypes are kept; bool and integers become what the promotion rules say,
#'   see [promotion_facts()].
#' @section Errors: `joist_promotion_error` when the rules know no float for the dtype;
#'   `joist_dtype_error` for complex tensors.
#' @references
#' W. J. Cody (1969): Rational Chebyshev approximations for the error function.
#' Mathematics of Computation 23, 631-637.
#'
#' NIST Digital Library of Mathematical Functions, chapters 5 and 7.
#' @examples
#' nv_erf(nv_tensor(c(-1, 0, 0.5), "f64"))
#' nv_erfc(nv_tensor(c(5, 10), "f64"))
#' gamma(nv_tensor(1:5))
#' lgamma(nv_tensor(c(0.5, 100), "f64"))
#' digamma(nv_tensor(1, "f64"))
#' @eval same_page("nv_erf", "nv_erfc", "nv_gamma", "nv_lgamma", "nv_digamma")
nv_erf <- function(x) .Call(joist_r_op1, "erf", x)
nv_erfc <- function(x) .Call(joist_r_op1, "erfc", x)
nv_gamma <- function(x) .Call(joist_r_op1, "gamma", x)
nv_lgamma <- function(x) .Call(joist_r_op1, "lgamma", x)
nv_digamma <- function(x) .Call(joist_r_op1, "digamma", x)

#' Signs and rounding
#'
#' The negative, absolute value, sign and rounding of each element, also by unary `-`, `abs()`,
#' `sign()`, `floor()`, `ceiling()` and `trunc()`; [nv_round()] rounds to the nearest. Rounding
#' leaves integers unchanged. The negative and the absolute value of the
#' smallest integer wrap to itself, with a warning. The absolute value of a complex number is
#' accurate to `r stated_error("abs")`, and infinite if one of the parts is.
#'
#' @param x A tensor, or an R number or array.
#' @return A tensor of the operand's dtype; `nv_abs()` of a complex tensor has the dtype of
#'   its parts.
#' @section Errors: `joist_dtype_error` for `nv_negate()` and `nv_sign()` of bool, and for rounding
#'   of complex tensors.
#' @examples
#' floor(nv_tensor(c(0.5, 1.5, -2.5)))
#' abs(nv_tensor(c(3+4i, -1i)))
#' -nv_tensor(1:3, "ui8")
#' @eval same_page("nv_negate", "nv_abs", "nv_sign", "nv_floor", "nv_ceiling", "nv_trunc")
nv_negate <- function(x) .Call(joist_r_op1, "negate", x)
nv_abs <- function(x) .Call(joist_r_op1, "abs", x)
nv_sign <- function(x) .Call(joist_r_op1, "sign", x)
nv_floor <- function(x) .Call(joist_r_op1, "floor", x)
nv_ceiling <- function(x) .Call(joist_r_op1, "ceiling", x)
nv_trunc <- function(x) .Call(joist_r_op1, "trunc", x)

#' NaN and infinity
#'
#' Test each element for NaN, a finite value or an infinite value, also by R's `is.nan()`,
#' `is.finite()` and `is.infinite()`. Integers are finite. A missing value gives `FALSE` in all
#' three; see [nv_is_na()].
#'
#' @param x A tensor, or an R number or array.
#' @return A known `bool` tensor.
#' @examples
#' nv_is_nan(nv_tensor(c(1, NaN, Inf)))
#' is.finite(nv_tensor(c(1, NaN, Inf)))
#' @eval same_page("nv_is_nan", "nv_is_finite", "nv_is_infinite")
nv_is_nan <- function(x) .Call(joist_r_op1, "is_nan", x)
nv_is_finite <- function(x) .Call(joist_r_op1, "is_finite", x)
nv_is_infinite <- function(x) .Call(joist_r_op1, "is_infinite", x)

#' Parts of complex tensors
#'
#' The real part, imaginary part, angle and conjugate of each element, also by `Re()`, `Im()`,
#' `Arg()` and `Conj()`; `Mod()` is [nv_abs()]. A real number is its own real part and conjugate,
#' and its imaginary part is 0. `nv_arg()` is accurate to `r stated_error("arg")`.
#'
#' @param x A tensor, or an R number or array.
#' @return A tensor: `nv_real()`, `nv_imag()` and `nv_arg()` of a complex tensor have the float
#'   dtype of its parts, `nv_conj()` keeps the dtype. `nv_arg()` of an integer has the float dtype
#'   that the rules give ([promotion_facts()]). Angles are in radians.
#' @section Errors: `joist_promotion_error` when the rules know no float for the dtype of
#'   `nv_arg()`.
#' @examples
#' z <- nv_tensor(c(3+4i, -1i))
#' Re(z)
#' Arg(z)
#' Conj(z)
#' @eval same_page("nv_real", "nv_imag", "nv_arg", "nv_conj")
nv_real <- function(x) .Call(joist_r_op1, "real", x)
nv_imag <- function(x) .Call(joist_r_op1, "imag", x)
nv_arg <- function(x) .Call(joist_r_op1, "arg", x)
nv_conj <- function(x) .Call(joist_r_op1, "conj", x)

# ---- for the pages of operations ----

# Exports functions that a page describes together, with their usage.
same_page <- function(...) {
  names <- c(...)
  usage <- vapply(names, function(name) {
    sub("^function (.*?) *NULL$", paste0(name, "\\1"), deparse1(args(get(name, topenv())), " "))
  }, "")
  c(
    paste("@usage", paste(usage, collapse = "\n")), paste(c("@aliases", names), collapse = " "),
    paste(c("@export", names), collapse = " ")
  )
}

# The table of operations, ops.def, is read once.
op_table <- function() {
  if (is.null(op_memory$table)) op_memory$table <- as.data.frame(.Call(joist_r_op_names))
  op_memory$table
}
op_memory <- new.env(parent = emptyenv())

op_fact <- function(op, column) op_table()[[column]][match(op, op_table()$name)]

# The errors that ops.def states.

special_functions <- c("erf", "erfc", "gamma", "lgamma", "digamma")

elementary_functions <- function() {
  table <- op_table()
  known <- table$name[table$ulp_f64 > 0 & table$least == 1L]
  setdiff(known, c(special_functions, "abs", "arg"))
}

stated_errors <- function(names) {
  table <- op_table()
  table <- table[match(names, table$name), ]
  negative <- ifelse(table$ulp_f64 == table$ulp_f64_below, "", paste0(
    ", of negative numbers ", format_each(table$ulp_f64_below)
  ))
  larger <- table$ulp_f32 > min(table$ulp_f32)
  paste0(
    min(table$ulp_f32), " for `f32`, but ", errors_by_size(names[larger], table$ulp_f32[larger]),
    ", and for `f64` ", errors_by_size(names, table$ulp_f64, negative)
  )
}

errors_by_size <- function(names, error, more = "") {
  bound <- paste0(format_each(error), more)
  groups <- split(paste0("`", names, "`"), factor(bound, unique(bound[order(error)])))
  paste0(names(groups), " (", vapply(groups, toString, ""), ")", collapse = "; ")
}

stated_error <- function(name) {
  paste(op_fact(name, "ulp_f32"), "units in the last place in `f32` and",
    op_fact(name, "ulp_f64"), "in `f64`")
}

format_each <- function(x) vapply(x, format, "")
