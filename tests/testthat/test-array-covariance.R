# Covariance and correlation against base R in double, with and without NaN.

moments <- list(
  cov = list(ours = cov, base = stats::cov), cor = list(ours = cor, base = stats::cor)
)

# Small whole numbers, exact in every dtype, that vary in every column.
columns_of <- function(rows, columns, from) {
  matrix((seq_len(rows * columns) * 7 + from * seq_len(rows)^2) %% 11, rows, columns)
}

with_gaps <- function(v) {
  v[cbind(c(1, 3, 3, 7), c(1, 2, 3, 1))] <- NaN
  v
}

expect_moments <- function(f, ..., want, label) {
  tolerance <- switch(type_of(..1), f16 = , bf16 = 2^-7, f64 = 1e-13, 1e-5)
  for (got in list(f(...), jit(f)(...))) {
    expect_equal(as_array(got), want, tolerance = tolerance, label = label)
    expect_identical(is.na(as_array(got)), is.na(want), label = label)
  }
}

test_that("cov() and cor() are those of base R, of matrices and vectors", {
  v <- columns_of(8, 4, 3)
  w <- columns_of(8, 3, 5)
  # Moments of these numbers are far off in floats of few bits; test-array-statistics.R has
  # variances.
  for (d in wide(c(ints(), floats()))) {
    x <- nv_tensor(v, d)
    y <- nv_tensor(w, d)
    for (name in names(moments)) {
      f <- moments[[name]]$ours
      want <- moments[[name]]$base
      label <- paste(name, d)
      expect_moments(function(x) f(x), x, want = want(v), label = label)
      expect_moments(function(x, y) f(x, y), x, y, want = want(v, w), label = label)
      expect_moments(function(x) f(x, w), x, want = want(v, w), label = label)
      expect_moments(function(y) f(v, y), y, want = want(v, w), label = label)
      expect_moments(function(x, y) f(x, y), x[, 1], y, want = want(v[, 1], w), label = label)
      expect_moments(function(x, y) f(x, y), x, y[, 2], want = want(v, w[, 2]), label = label)
      expect_moments(function(x, y) f(x, y), x[, 1], y[, 2], want = want(v[, 1], w[, 2]),
        label = label
      )
      expect_identical(type_of(f(x, y)), type_of(nv_mean(x)))
      expect_identical(type_of(f(x)), type_of(f(nv_aval(d, c(8, 4)))))
      expect_identical(shape(f(nv_aval(d, c(8, 4)), w)), c(4L, 3L))
      expect_identical(shape(f(x[, 1], y[, 1])), integer())
    }
  }
  frame <- data.frame(a = c(1, 2, 4), b = c(3, 3, 1))
  column <- nv_tensor(c(1, 5, 2), "f64")
  expect_equal(as_array(cov(frame, column)), stats::cov(frame, c(1, 5, 2)))
  expect_equal(as_array(nv_cov(nv_tensor(v, "f64"), correction = 0)), stats::cov(v) * 7 / 8)
  expect_equal(as_array(nv_cov(nv_tensor(v[, 1], "f64"))), stats::var(v[, 1]))
})

test_that("`use` leaves out what base R leaves out", {
  v <- with_gaps(columns_of(9, 4, 3))
  w <- columns_of(9, 3, 5)
  w[5, 2] <- NaN
  for (d in wide(floats())) {
    x <- nv_tensor(v, d)
    y <- nv_tensor(w, d)
    for (use in c("everything", "complete.obs", "na.or.complete", "pairwise.complete.obs")) {
      for (name in names(moments)) {
        f <- function(...) moments[[name]]$ours(..., use = use)
        want <- function(...) moments[[name]]$base(..., use = use)
        label <- paste(name, d, use)
        expect_moments(f, x, want = want(v), label = label)
        expect_moments(f, x, y, want = want(v, w), label = label)
        expect_moments(function(x) f(x, w), x, want = want(v, w), label = label)
        expect_moments(f, x[, 2], y, want = want(v[, 2], w), label = label)
        expect_moments(f, x[, 1], y[, 2], want = want(v[, 1], w[, 2]), label = label)
      }
      expect_moments(function(x) var(x, use = use), x, want = stats::var(v, use = use),
        label = paste(d, use)
      )
    }
    expect_moments(function(x) var(x, na.rm = TRUE), x, want = stats::var(v, na.rm = TRUE),
      label = d
    )
    for (k in 1:4) {
      expect_moments(function(x) var(x, na.rm = TRUE), x[, k], label = d,
        want = stats::var(v[, k], na.rm = TRUE)
      )
      expect_moments(function(x) sd(x, na.rm = TRUE), x[, k], label = d,
        want = stats::sd(v[, k], na.rm = TRUE)
      )
    }
    expect_moments(function(x) sd(x, TRUE), x, label = d, want = stats::sd(v, TRUE))
    expect_moments(function(x) sd(x), y[, 1], label = d, want = stats::sd(w[, 1]))
    expect_identical(type_of(sd(x, na.rm = TRUE)), d)
    expect_identical(cor(x, use = "pair"), cor(x, use = "pairwise.complete.obs"))
  }
  none <- nv_tensor(matrix(c(1, NaN, NaN, 2), 2))
  for (use in c("complete.obs", "na.or.complete")) {
    expect_identical(as_array(cov(none, use = use)), matrix(NaN, 2, 2))
  }
  expect_identical(as_array(sd(nv_tensor(c(NaN, 1)), na.rm = TRUE)), NaN)
  integers <- nv_tensor(columns_of(5, 2, 1), "i32")
  expect_identical(cor(integers, use = "complete.obs"), cor(integers))
  expect_identical(sd(integers, na.rm = TRUE), nv_sd(integers))
})

test_that("a correlation is within -1 and 1, and 1 of a column with itself", {
  v <- columns_of(9, 4, 3) / 10
  v <- cbind(v, v[, 1] * 0.3, -v[, 2] * 0.7, 1e100 * v[, 1], 0.1)
  x <- nv_tensor(v, "f64")
  pairwise <- as_array(cor(x, use = "pairwise.complete.obs"))
  expect_identical(diag(pairwise), c(rep(1, 7), NaN))
  for (r in list(pairwise, as_array(cor(x)), as_array(jit(nv_cor)(x)))) {
    expect_identical(diag(r)[-8], rep(1, 7))
    expect_true(all(abs(r[-8, -8]) <= 1))
    expect_equal(r[1, 5], 1)
    expect_equal(r[2, 6], -1)
    expect_equal(r[1, 7], 1)
    expect_true(all(is.nan(r[8, -8])))
  }
  for (use in c("everything", "complete.obs", "pairwise.complete.obs")) {
    for (v in list(cbind(1, 1:3), cbind(1:3, c(1, NaN, 2)), matrix(1, 1, 2))) {
      want <- suppressWarnings(stats::cor(v, use = use))
      expect_equal(as_array(cor(nv_tensor(v, "f64"), use = use)), replace(want, is.na(want), NaN))
    }
  }
  # One column does not vary in the rows of the pair.
  pair <- nv_tensor(cbind(c(0.1, 0.1, 0.1, 7), c(1, 2, 3, NaN)), "f64")
  expect_identical(is.nan(as_array(cor(pair, use = "pairwise"))), !diag(TRUE, 2))
})

test_that("distances are from the mean, so that large means lose nothing", {
  v <- columns_of(9, 3, 3) + 2^40
  x <- nv_tensor(v, "f64")
  expect_equal(as_array(cov(x)), stats::cov(v - 2^40), tolerance = 1e-13)
  v[1, 2] <- NaN
  x <- nv_tensor(v, "f64")
  for (use in c("complete.obs", "pairwise.complete.obs")) {
    expect_equal(as_array(cov(x, use = use)), stats::cov(v - 2^40, use = use), tolerance = 1e-13)
  }
})

test_that("what has no covariance is refused", {
  x <- nv_tensor(matrix(c(1, 2, 4, NaN), 2))
  expect_refusal(cov(x[, 1]), "joist_shape_error", "nv_var")
  expect_refusal(cor(x[, 1]), "joist_shape_error", "matrix")
  expect_refusal(nv_cov(x, 1:3), "joist_shape_error", c("2", "3"))
  expect_refusal(cor(x, 1:3), "joist_shape_error", c("2", "3"))
  expect_refusal(cor(nv_tensor(diag(2) + 1i)), "joist_dtype_error", "complex")
  expect_refusal(cov(x, matrix(1i, 2, 2)), "joist_dtype_error", "complex")
  expect_refusal(sd(nv_tensor(1i), na.rm = TRUE), "joist_dtype_error", "complex")
  expect_refusal(cor(x, method = "spearman"), "joist_value_error", "Pearson")
  for (use in list("some", NA, 1, "")) {
    expect_refusal(cov(x, use = use), "joist_value_error", "complete.obs")
  }
  expect_refusal(cov(x, use = "all.obs"), "joist_value_error", "NaN")
  expect_refusal(jit(function(x) cov(x, use = "all.obs"))(x), "joist_value_error", "all.obs")
  expect_equal(as_array(cov(x[, 1], 1:2, use = "all.obs")), 0.5)
  expect_refusal(nv_cov(x, correction = NA), "joist_value_error", "correction")
  expect_refusal(sd(x, na.rm = NA), "joist_value_error", "na.rm")
  expect_refusal(var(x, na.rm = "no"), "joist_value_error", "na.rm")
})

test_that("correlations have the names of the columns", {
  m <- matrix(c(1, 2, 4, 8, 3, 1, 2, 5), 4, dimnames = list(NULL, c("A", "B")))
  x <- nv_tensor(m, "f64")
  expect_identical(dimnames(cor(x)), dimnames(cor(m)))
  one <- m[, "A", drop = FALSE]
  expect_identical(dimnames(cor(x, one)), dimnames(cor(m, one)))
  expect_identical(dimnames(cor(x, use = "complete.obs")), dimnames(cor(m)))
  expect_equal(as_array(cor(x)["A", "B"]), cor(m)["A", "B"])
})

test_that("correlations of integers with a missing element are missing, not NaN", {
  v <- c(4, 0, 2, NA, 1, 3)
  w <- c(1, 2, 5, 4, 2, 6)
  x <- nv_tensor(v, "i64")
  f <- nv_tensor(w, "f64")
  missing <- function(x) is.na(as_array(x)) & !is.nan(as_array(x))
  expect_identical(missing(cor(x, f)), TRUE)
  expect_identical(missing(nv_cor(f, x)), TRUE)
  both <- cbind(v, w)
  local_promotion("numpy")
  found <- as_array(nv_cor(nv_tensor(both, "i32")))
  expect_identical(is.na(found) & !is.nan(found), is.na(stats::cor(both)))
})
