# What tests of random numbers need.

draws <- function(x) as.vector(as_array(x))

# Each part of a family of tests may fail once in 10^5; the keys were not chosen.
expect_likely <- function(p, label) {
  testthat::expect_true(p > 1e-5, label = paste0(label, ": p = ", format(p)))
}

# Counts of draws of a discrete distribution in at most 60 cells against their probabilities.
chi_square <- function(x, q, p) {
  breaks <- unique(q(seq(0.01, 0.99, length.out = 59)))
  cell <- findInterval(x, breaks, left.open = TRUE) + 1
  probability <- diff(c(0, p(breaks), 1))
  kept <- probability > 1e-4
  suppressWarnings(
    chisq.test(tabulate(cell, length(probability))[kept], p = probability[kept], rescale.p = TRUE)
  )$p.value
}
