# Random loops: a body of random operations, run by a loop of R, by nv_for(), nv_scan() and
# nv_while(), and within jit(). All give the same dtypes, flags and bits.

test_that("random loops give what R's loops give", {
  for (seed in 1:60) expect_identical(loop_disagreements(seed), character())
})

test_that("random loops over arrays give what R's loops give, and leave their arguments alone", {
  for (seed in 1:60) expect_identical(array_loop_disagreements(seed, "never"), character())
  skip_if_not(can_compile())
  for (seed in 61:66) expect_identical(array_loop_disagreements(seed, "wait"), character())
})

test_that("a loop that assigns one element at a time takes time in proportion to its length", {
  filled <- function(n) {
    f <- jit(function(p) {
      h <- nv_tensor(0, "f64")
      for (t in nv_seq(1L, n)) {
        h <- h * 0.5 + 1
        p[t] <- h
      }
      p
    }, native = "never")
    p <- nv_tensor(numeric(n), "f64")
    times <- replicate(3L, system.time(result <<- f(p))[["elapsed"]])
    min(times)
  }
  result <- NULL
  short <- filled(20000L)
  expect_identical(as_array(result)[c(1, 2, 3, 20000)], c(1, 1.5, 1.75, 2))
  # 16 times as long in proportion, 256 times if each iteration copies
  expect_lt(filled(320000L), 64 * max(short, 0.005))
})
