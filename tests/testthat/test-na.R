# NA, where a dtype holds it.

x <- nv_tensor(c(1.5, NA, NaN, -2.5), "f64")

test_that("NA of f64 and c128 is NA in text, and in the groups of it", {
  v <- c(1.5, NA, NaN, -2.5)
  expect_identical(is.na(as.character(x)), c(FALSE, TRUE, FALSE, FALSE))
  expect_identical(as.character(x), as.character(v))
  expect_identical(as_array(x, as = "character"), as.character(v))
  expect_identical(as.character(nv_tensor(c(NA, 1 + 2i), "c128")), c(NA, "1+2i"))
  v <- c(2, NA, 2, 1)
  y <- nv_tensor(v, "f64")
  expect_identical(factor(as.character(y)), factor(as.character(v)))
  expect_identical(as.vector(table(y)), c(1L, 2L))
  expect_identical(factor(y), factor(v))
  expect_identical(lengths(split(1:4, y)), lengths(split(1:4, v)))
  expect_identical(c(tapply(1:4, y, sum)), c(tapply(1:4, v, sum)))
})

test_that("NA becomes NA in integers, as in logicals, and NaN does not", {
  expect_identical(as.integer(x[c(1, 2, 4)]), c(1L, NA, -2L))
  expect_identical(as.logical(x[1:2]), c(TRUE, NA))
  expect_error(as.integer(x), class = "joist_value_error")
  expect_error(as.integer(nv_tensor(3e9, "f64")), class = "joist_value_error")
  expect_identical(as.integer(nv_tensor(c(2.7, -2.7), "f16")), c(2L, -2L))
})
