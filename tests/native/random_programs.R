# Random programs by the interpreter and compiled to machine code; every second one has no loop, and
# also runs operation by operation:
#
#   R -f tests/native/random_programs.R --args [PROGRAMS [SEED [THREADS]]]
#
# Values, dtypes, flags, shapes, masks and errors have to be the same. The last line is "counts:".
suppressMessages(library(joist))
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
programs <- given(1, 100)
source("tests/testthat/helper-random_native.R")
set.seed(given(2, 1))
if (length(arguments) > 2) nv_set_threads(arguments[3])

values <- errors <- differ <- 0
for (k in seq_len(programs)) {
  wide <- k %% 2 == 0
  f <- if (wide) native_wide_program() else native_program()
  arguments <- if (wide) native_wide_arguments() else native_arguments()
  outcomes <- lapply(c("never", "wait"), function(native) {
    native_outcome(jit(f, native = native), arguments)
  })
  outcomes[[3L]] <- native_outcome(f, arguments)
  if (is.character(outcomes[[1L]])) errors <- errors + 1 else values <- values + 1
  if (length(unique(outcomes)) > 1L) {
    differ <- differ + 1
    cat("program", k, "differs:\n")
    print(body(f))
    str(lapply(arguments, function(x) paste(format(dtype(x)), collapse = "")))
    for (o in outcomes) if (is.character(o)) cat(o, "\n")
    for (o in outcomes[-1L]) str(all.equal(outcomes[[1L]], o))
  }
}
figures <- joist_info()$native
cat("counts:", values, "values", errors, "errors", differ, "differ;", figures$compiled, "compiled",
  figures$failed, "failed", figures$why, "\n")
