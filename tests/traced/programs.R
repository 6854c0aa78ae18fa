# Random R programs that ask and do: what jit() makes of them, beside the plain run.
#
#   R -f tests/traced/programs.R --args [PROGRAMS [SEED [SHOWN [FRESH]]]]
#
# The programs are those of tests/testthat/helper-random_traced.R: program k has the seed SEED + k.
# FRESH more have seeds that no earlier run had, from one that is printed.
# A silent difference (in values, dtypes, names or effects), and an error that is not of joist or
# names nothing of the program ("unreadable"), is a failure, of which the first are printed with the
# smallest part of the program that shows it. The last lines
# are "note:" and "counts:".
suppressMessages(library(joist))
source("tests/testthat/helper-random_traced.R")
traced_classes()
arguments <- suppressWarnings(as.numeric(commandArgs(TRUE)))
given <- function(k, otherwise) if (length(arguments) < k) otherwise else arguments[k]
programs <- given(1, 1000)
seed <- given(2, 1)
shown <- given(3, 5)
invisible(compiler::enableJIT(0L))
Sys.setenv(JOIST_NATIVE = "never")

start <- floor(as.numeric(Sys.time()) * 10) %% 2e9
fresh <- given(4, 0)
if (fresh > 0) cat(sprintf("fresh seeds from %.0f on\n", start))
seeds <- c(seed + seq_len(programs), start + seq_len(fresh) - 1)
programs <- length(seeds)

kinds <- character(programs)
left <- c(silent = shown, unreadable = shown)
for (k in seq_len(programs)) {
  program <- traced_program(seeds[k])
  verdict <- traced_verdict(program)
  kind <- kinds[k] <- verdict$kind
  if (kind %in% names(left) && left[kind] > 0) {
    left[kind] <- left[kind] - 1
    small <- traced_shrunk(program, verdict)
    cat(traced_report(small, traced_verdict(small)), sep = "\n")
  }
}
counted <- table(factor(kinds, c("agree", "refused", "failing", "silent", "unreadable")))
failed <- sum(counted[c("silent", "unreadable")])
summary <- paste(counted, names(counted), collapse = ", ")
cat(sprintf("\nnote: %d random programs: %s\n", programs, summary))
cat(sprintf("counts: %d %d 0\n", programs - failed, failed))
quit("no", status = if (failed > 0L) 1L else 0L)
