# Random loops: a body of random operations, run by a loop of R, by nv_for(), nv_scan() and
# nv_while(), and within jit(). All give the same dtypes, flags and bits.

test_that("random loops give what R's loops give", {
  for (seed in 1:60) expect_identical(loop_disagreements(seed), character())
})
