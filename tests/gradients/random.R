# Random loops and gradients of random functions: compiled they must give what they give eagerly, in
# dtype, flag, shape and bits, and loops what R's own loops give. What disagrees is printed.
#
#   Rscript tests/gradients/random.R [programs of each] [seed] [processes]
#
# 10,000 of each take two processors some minutes. tests/testthat has some hundreds.

count <- 10000L
source("tests/promotion/many.R")
source("tests/testthat/helper-random_loops.R")

for (kind in c("loop", "gradient")) {
  disagreements <- get(paste0(kind, "_disagreements"))
  wrong <- unlist(in_processes(function(seeds) {
    unlist(lapply(seeds, function(seed) {
      found <- disagreements(seed)
      if (length(found) > 0L) cat(found, sep = "\n\n")
      found
    }))
  }))
  cat(sprintf("%d %ss, %d disagreements\n", count, kind, length(wrong)))
  if (length(wrong) > 0L) quit("no", status = 1L)
}
