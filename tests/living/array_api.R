# The test suite of the array API in the process of R, in which joist_array_api computes:
#
#   R -f tests/living/array_api.R --args PYTHON RULES ARGUMENTS-OF-PYTEST...
#
# in a checkout of data-apis/array-api-tests, with JOIST_LIVING_TESTS naming this folder.
#
# An array is held as the tensor of the reversed shape: R's order of its elements, the first
# dimension first, is then the standard's, the last axis first, and no element has to be moved.

arguments <- commandArgs(TRUE)
Sys.setenv(RETICULATE_PYTHON = arguments[1L])
suppressPackageStartupMessages(library(joist))
options(joist.promotion = arguments[2L])
source(file.path(Sys.getenv("JOIST_LIVING_TESTS", "tests/living"), "compositions.R"))

# What Python is told of a value: of a tensor its dtype and shape.
describe <- function(x) {
  if (is_tensor(x)) {
    return(paste(c(format(dtype(x)), rev(shape(x))), collapse = " "))
  }
  if (is.raw(x)) x else paste(as.character(x), collapse = " ")
}

blob <- raw() # bytes that the code reads
# The class of an error, or "", and its message, or what the code gives.
answer <- function(code, bytes) {
  blob <<- bytes
  tryCatch(
    list("", suppressWarnings(describe(eval(parse(text = code), globalenv())))),
    error = function(e) list(class(e)[1L], conditionMessage(e))
  )
}

lend <- function(name) reticulate::r_to_py(nv_to_dlpack(get(name, globalenv())))

borrow <- function(x) {
  borrowed <<- nv_tensor(x)
  NULL
}

main <- reticulate::py_run_string("
import os, sys, types
def start(answer, lend, borrow, arguments):
    sys.modules['joist_r'] = types.SimpleNamespace(answer=answer, lend=lend, borrow=borrow)
    sys.path[:0] = [os.getcwd(), os.environ['JOIST_LIVING_TESTS']]
    import pytest
    return int(pytest.main(arguments))
")
status <- main$start(answer, lend, borrow, as.list(arguments[-(1:2)]))
quit(status = status)
