# Random functions in R's control flow: what jit() makes of them, beside what R gives.
#
#   R -f tests/base/random_control_flow.R --args [FUNCTIONS [SEED [SHOWN]]]
#
# The functions are those of tests/testthat/helper-random_control.R. Values have to be the same, to
# the bit. The last lines are "note:" and "counts:".
suppressMessages(library(joist))
source("tests/testthat/helper-random_control.R")
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
functions <- given(1, 1000)
seed <- given(2, 1)
shown <- given(3, 5)
# R's compiler takes longer than the functions, which run a few times each.
invisible(compiler::enableJIT(0L))

failures <- character()
for (k in seq_len(functions)) {
  wrong <- control_difference(seed + k)
  if (!is.null(wrong)) failures <- c(failures, wrong)
}
cat(head(failures, shown), sep = "\n\n")
passed <- functions - length(failures)
cat(sprintf("\nnote: %d random functions, %d differ from R\n", functions, length(failures)))
cat(sprintf("counts: %d %d 0\n", passed, length(failures)))
quit("no", status = if (length(failures) > 0L) 1L else 0L)
