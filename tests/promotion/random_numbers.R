# Random functions of tensors and R numbers under all built-in rule sets: compiled they must give
# what they give eagerly, in dtype, flag, shape and bits, or the same class of error. What disagrees
# is made as small as it can be, and printed.
#
#   Rscript tests/promotion/random_numbers.R [functions] [seed] [processes]
#
# 10,000 functions take two processors about ten minutes. tests/testthat has some hundreds.

suppressPackageStartupMessages(library(joist))

arguments <- as.integer(commandArgs(TRUE))
count <- if (length(arguments) > 0L) arguments[1L] else 100000L
seed <- if (length(arguments) > 1L) arguments[2L] else 1L
processes <- if (length(arguments) > 2L) arguments[3L] else 2L
source("tests/testthat/helper-random_functions.R")
source("tests/testthat/helper-random_numbers.R")

wrong <- unlist(parallel::mclapply(seq_len(processes), function(part) {
  unlist(lapply(seq(part, count, by = processes), function(k) {
    found <- number_disagreements(seed * 1000003L %% 2147483L + k)
    if (length(found) > 0L) cat(found[1L], "\n\n")
    unname(found)
  }))
}, mc.cores = processes))

cat(sprintf(
  "%d functions under %d rule sets, %d disagreements\n",
  count, length(promotion_rule_sets()$id), length(wrong)
))
quit("no", status = if (length(wrong) > 0L) 1L else 0L)
