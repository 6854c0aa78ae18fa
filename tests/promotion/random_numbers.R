# Random functions of tensors and R numbers under all built-in rule sets: compiled they must give
# what they give eagerly, in dtype, flag, shape and bits, or the same class of error. What disagrees
# is made as small as it can be, and printed.
#
#   Rscript tests/promotion/random_numbers.R [functions] [seed] [processes]
#
# 10,000 functions take two processors about two minutes. tests/testthat has some hundreds.

count <- 100000L
source("tests/promotion/many.R")
source("tests/testthat/helper-random_numbers.R")

wrong <- unlist(in_processes(function(seeds) {
  unlist(lapply(seeds, function(seed) {
    found <- number_disagreements(seed)
    if (length(found) > 0L) cat(found[1L], "\n\n")
    unname(found)
  }))
}))

cat(sprintf(
  "%d functions under %d rule sets, %d disagreements\n",
  count, length(promotion_rule_sets()$id), length(wrong)
))
quit("no", status = if (length(wrong) > 0L) 1L else 0L)
