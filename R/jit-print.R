#' Print the values of tensors in compiled code
#'
#' `nv_print()` prints a tensor and returns it. In a function that [jit()] traces, and in the bodies
#' of loops and branches, `print()` would show the traced tensor, once. `nv_print()` becomes a part
#' of the program there, and prints the value each time the program comes to it.
#'
#' Values are printed in the order of the calls, and before an error of anything that comes after
#' them. A loop prints in each iteration, and of [nv_if()] only the branch that is taken prints. The
#' output is that of `print()`, but without names in compiled code. It goes to the standard output
#' of R, where [utils::capture.output()] and [base::sink()] get it. Printing keeps the program from
#' fusing operations across it: remove it before you measure times.
#'
#' @param x A tensor or an R number.
#' @param label A string that is printed before the value, or `NULL`.
#' @return `x`, with its dtype, invisibly.
#' @section Derivatives: [gradient()] goes through `x` and prints it once, with its value before
#'   differentiation: values that it computes again, in a loop or for [nv_checkpoint()], are not
#'   printed again.
#' @section Errors: `joist_value_error` for an `x` that is neither a tensor nor a number, and for a
#'   `label` that is not one string.
#' @examples
#' f <- jit(function(x) {
#'   y <- nv_print(x * 2, "twice")
#'   sum(y)
#' })
#' f(nv_tensor(1:3))
#' halve <- function(i, x) nv_print(x / 2, "half")
#' nv_for(2, nv_scalar(1), halve)
#' @export
nv_print <- function(x, label = NULL) {
  if (!is.null(label) && (!is.character(label) || length(label) != 1L || is.na(label))) {
    stop_joist("joist_value_error", "`label` must be one string, or NULL")
  }
  if (!is_tracing()) {
    show_value(if (is_tensor(x)) x else as_operand(x), label_number(label))
  } else if (!prints$quiet) {
    value <- traced_constant(as_operand(x))
    operands <- if (has_mask(value)) list(without_mask(value), mask_of(value)) else list(value)
    apply_operation("print", operands, list(label = label_number(label)))
    note_effect()
  }
  invisible(x)
}

# Programs have the numbers of labels, which last as long as the session: a label is used often.
prints <- new.env(parent = emptyenv())
prints$labels <- character()
prints$conditions <- list()
prints$quiet <- FALSE

# Raises the error of a program whose requirement is not met.
stop_required <- function(number) stop_joist("joist_value_error", prints$labels[number])

label_number <- function(label) {
  if (is.null(label)) {
    return(0)
  }
  at <- match(label, prints$labels)
  if (is.na(at)) {
    prints$labels <- c(prints$labels, label)
    at <- length(prints$labels)
  }
  at
}

# Called by the core when a program comes to a print, which may stand for a condition to raise.
show_value <- function(x, number) {
  condition <- prints$conditions[[as.character(number)]]
  if (!is.null(condition)) {
    if (inherits(condition, "error")) stop(condition)
    if (inherits(condition, "warning")) warning(condition) else message(condition)
    return()
  }
  if (number > 0) cat(prints$labels[number], ":\n", sep = "")
  print(x)
}

# Evaluates what computes again what has been computed, and printed, before.
without_prints <- function(expr) {
  before <- prints$quiet
  on.exit(prints$quiet <- before)
  prints$quiet <- TRUE
  expr
}
