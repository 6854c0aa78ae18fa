#' Programs
#'
#' `program()` returns the program that [jit()] makes of a function, of a jitted one or of any
#' function of tensors, for arguments of given dtypes and shapes. It consists of typed instructions,
#' each of which computes new values of operands that are arguments, constants or results before it.
#'
#' A program prints a line per instruction: the result, its dtype (with `?` where it is ambiguous)
#' and shape, the operation, its operands and its attributes by name. The first dimension and the
#' first position are 1. The line of R code that an instruction comes from follows it, if the
#' function has kept its source (`options(keep.source = TRUE)`, which is R's default in interactive
#' sessions). An instruction whose results are not used is marked "not run".
#'
#' @param f A function, jitted or not.
#' @param ... Arguments of `f`: tensors, [nv_aval()], R numbers, and nested lists of them. Without
#'   any, the program that a jitted function used last.
#' @param what `"instructions"` for the program, or `"c"` for the C source of the program's loops
#'   and of its expressions on wide arrays, which [jit()] compiles where it is worth it: a string of
#'   class `joist_source`, empty for a program without any.
#' @param x,object A program.
#' @param row.names,optional Ignored.
#' @return An object of class `joist_program`. `as.data.frame()` of it has a row per instruction,
#'   with columns `result`, `op`, `operands`, `operand_dtypes`, `attributes`, `dtype`, `ambiguous`,
#'   `shape`, `bytes` (of the results), `kept` (bytes of them that get an array, as other
#'   instructions read them later or they are returned; the others exist in pieces only, or are
#'   another array reshaped: in the program of a [gradient()], these arrays are what it keeps),
#'   `source` (`NA` where it is not known) and `depth`: the instructions within a loop or branch
#'   follow it, one deeper, and number their values from `%1` on. An instruction with several
#'   results lists them in `result`, `dtype` and `shape`.
#'   `summary()` is a vector of bytes: of the `arguments`, of the `constants`, of the `results`, of
#'   the `temporaries` that a run allocates between them, and of all of these, the `peak`.
#'   Operations on whole arrays may need some more while they run.
#' @section Errors: `joist_value_error` if `f` has no program: without arguments, for a function
#'   that is not jitted or was not called yet; and for another `what`.
#' @examples
#' f <- function(x, y) sum(x[2:3, ] * y)
#' p <- program(f, nv_aval("i32", c(3, 2)), nv_aval("f16", integer()))
#' p
#' as.data.frame(p)[c("op", "operand_dtypes", "dtype", "attributes")]
#' summary(p)
#' @export
program <- function(f, ..., what = "instructions") {
  if (!is.character(what) || length(what) != 1L || !what %of% c("instructions", "c")) {
    stop_joist("joist_value_error", "`what` must be \"instructions\" or \"c\"")
  }
  if (!inherits(f, "joist_jit")) f <- jit(f)
  state <- environment(f)$.jit_state
  if (...length() > 0L) f(...)
  programs <- .Call(joist_r_jit_programs, state)
  if (length(programs) == 0L) {
    stop_joist(
      "joist_value_error", "this function has no program yet; give arguments to trace it with, ",
      "such as nv_aval(\"f32\", c(2, 3))"
    )
  }
  if (what == "c") {
    return(structure(.Call(joist_r_program_c, programs[[1L]]), class = "joist_source"))
  }
  structure(list(compiled = programs[[1L]]), class = "joist_program")
}

#' @export
print.joist_source <- function(x, ...) {
  cat(if (nzchar(x)) x else "nothing of this program is compiled\n")
  invisible(x)
}

#' @rdname program
#' @export
print.joist_program <- function(x, ...) {
  cat("{\n", .Call(joist_r_program_text, x$compiled), "}\n", sep = "")
  invisible(x)
}

#' @rdname program
#' @export
as.data.frame.joist_program <- function(x, row.names = NULL, optional = FALSE, ...) { # nolint
  as.data.frame(.Call(joist_r_program_table, x$compiled), stringsAsFactors = FALSE)
}

#' @rdname program
#' @export
summary.joist_program <- function(object, ...) {
  bytes <- .Call(joist_r_program_bytes, object$compiled)
  c(bytes, peak = sum(bytes))
}
