# What tests of many random functions share: their arguments, [functions] [seed] [processes], their
# seeds, and the work of the processes. They have set `count`, how many functions there are unless
# somebody says so.

suppressPackageStartupMessages(library(joist))
source("tests/testthat/helper-random_functions.R")

given <- as.integer(commandArgs(TRUE))
if (length(given) > 0L) count <- given[1L]
seed <- if (length(given) > 1L) given[2L] else 1L
processes <- if (length(given) > 2L) given[3L] else 2L

# A list of what `work` gives for the seeds of each process.
in_processes <- function(work) {
  parallel::mclapply(seq_len(processes), function(part) {
    work(seed * 1000003L %% 2147483L + seq(part, count, by = processes))
  }, mc.cores = processes)
}
