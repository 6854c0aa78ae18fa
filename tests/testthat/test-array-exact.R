# Statistics of integers beside fractions of Python (tests/numpy/integer_statistics.py), under rules
# that give doubles.

cases <- utils::read.delim(test_path("saved", "integer_statistics.tsv"), colClasses = "character")

column_of <- function(text, dtype) {
  values <- strsplit(text, " ", fixed = TRUE)[[1L]]
  nv_tensor(if (dtype == "i32") as.numeric(values) else values, dtype)
}

statistics <- list(
  mean = function(x, y) nv_mean(x),
  median = function(x, y) nv_median(x),
  quantile = function(x, y) nv_flatten(nv_quantile(x, 0.375)),
  var = function(x, y) nv_var(x),
  sd = function(x, y) nv_sd(x),
  cov = function(x, y) nv_cov(x, y),
  cor = function(x, y) nv_cor(x, y)
)

expect_exact <- function(f, name) {
  wrong <- character()
  for (k in seq_len(nrow(cases))) {
    case <- cases[k, ]
    got <- expect_silent(f(column_of(case$x, case$dtype), column_of(case$y, case$dtype)))
    want <- as.numeric(case[[name]])
    if (!identical(as.vector(got) + 0, want + 0)) wrong <- c(wrong, paste(k, case$dtype))
  }
  expect_identical(wrong, character(), label = name)
}

test_that("statistics of integers are rounded once", {
  local_promotion("numpy", on = c(loss = "error"))
  for (name in names(statistics)) expect_exact(statistics[[name]], name)
})

test_that("means are so without missing values, too, and where losses are allowed", {
  gaps <- function(x) x[c(NA, seq_len(length(x)), NA)]
  remaining <- list(mean = function(x, y) nv_mean(gaps(x), na_rm = TRUE))
  several <- list(mean = function(x, y) {
    x <- gaps(x)
    mean(c(x, x), na.rm = TRUE)
  })
  for (loss in c("error", "ok")) {
    local_promotion("numpy", on = c(loss = loss))
    expect_exact(statistics$mean, "mean")
    expect_exact(remaining$mean, "mean")
    expect_exact(several$mean, "mean")
  }
  none <- nv_tensor(c(NA_character_, NA_character_), "i64")
  expect_identical(as.vector(mean(none, na.rm = TRUE)), NaN)
  m <- nv_tensor(matrix(c("9007199254740993", NA, "9007199254740995", "1", NA, NA), 2), "i64")
  expect_identical(as.vector(nv_mean(m, 2, na_rm = TRUE)), c(9007199254740994, 1))
  expect_identical(
    as.vector(nv_mean(m, 1, na_rm = TRUE)), c(9007199254740992, 4503599627370498, NaN)
  )
})

test_that("compiled ones, too", {
  local_promotion("numpy", on = c(loss = "error"))
  for (name in c("mean", "quantile", "sd", "cor")) expect_exact(jit(statistics[[name]]), name)
})

test_that("of rows and columns, without missing values, and of pairs that are observed", {
  local_promotion("numpy")
  taken <- which(cases$dtype == "i64" & lengths(strsplit(cases$x, " ")) == 3L)[1:4]
  columns <- lapply(taken, function(k) column_of(cases$x[k], "i64"))
  m <- do.call(cbind, columns)
  want <- as.numeric(cases$var[taken])
  expect_identical(as.vector(nv_var(m, 1)), want)
  expect_identical(as.vector(nv_sd(nv_transpose(m), 2)), as.numeric(cases$sd[taken]))
  expect_identical(diag(as_array(cov(m))), want)
  expect_true(isSymmetric(as_array(cor(m))))
  expect_identical(diag(as_array(cor(m))), rep(1, 4))
  expect_identical(as.vector(nv_mean(m, 1)), as.numeric(cases$mean[taken]))
  expect_identical(as.vector(nv_mean(nv_transpose(m), 2)), as.numeric(cases$mean[taken]))
  # Rows of missing values between those that are not.
  gaps <- m[c(NA, 1, NA, 2, 3), ]
  expect_identical(as.vector(nv_var(gaps, 1, na_rm = TRUE)), want)
  for (use in c("complete.obs", "pairwise.complete.obs")) {
    expect_identical(as_array(cov(gaps, use = use)), as_array(cov(m)))
    expect_identical(as_array(cor(gaps, use = use)), as_array(cor(m)))
  }
  expect_true(all(is.na(as_array(cov(gaps)))))
  # Of each pair of columns those rows that both have.
  apart <- m
  apart[1, 1] <- NA
  pairs <- as_array(cov(apart, use = "pairwise.complete.obs"))
  expect_identical(pairs[2:4, 2:4], as_array(cov(m))[2:4, 2:4])
  expect_identical(pairs[1, ], as.vector(cov(m[2:3, 1], m[2:3, ])))
})

test_that("no spread, one element and no degrees of freedom", {
  local_promotion("numpy")
  same <- nv_tensor(rep("9223372036854775807", 3), "i64")
  expect_identical(as.vector(nv_var(same)), 0)
  expect_identical(as.vector(nv_sd(same)), 0)
  expect_identical(as.vector(nv_cor(same, nv_tensor(c("1", "2", "4"), "i64"))), NaN)
  expect_identical(as.vector(nv_var(same[1])), NaN)
  expect_identical(as.vector(nv_var(same[1], correction = 0)), 0)
  far <- nv_tensor(c("-9223372036854775808", "9223372036854775807"), "i64")
  expect_identical(as.vector(nv_var(far, correction = 2)), Inf)
  expect_identical(as.vector(nv_sd(far, correction = 3)), Inf)
  expect_identical(as.vector(nv_cov(far, far, correction = 2)), Inf)
  expect_identical(as.vector(mean(far)), -0.5)
})

test_that("sums of many elements that the accumulator would round", {
  local_promotion("numpy", on = c(loss = "error"))
  half <- c("4503599627370497", "4503599627370499", "-4503599627370496", "-4503599627370498")
  x <- nv_tensor(rep(half, 300), "i64")
  expect_identical(as.vector(mean(x)), 0.5)
  expect_identical(as.vector(jit(nv_mean)(nv_reshape(x, c(4, 300)))), 0.5)
  expect_equal(as.vector(nv_var(x)), {
    # Distances from the mean, which are in halves, are doubles.
    distance <- c(4503599627370496.5, 4503599627370498.5, -4503599627370496.5, -4503599627370498.5)
    300 * sum(distance[c(1, 3)]^2 + distance[c(2, 4)]^2) / 1199
  }, tolerance = 4e-16)
})
