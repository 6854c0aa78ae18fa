# Derivatives of the digamma function.

test_that("trigamma and its derivatives are what base R and closed forms say", {
  x <- c(1e-5, 0.1, 0.5, 1, 1.46, 2, 3.7, 10, 25, 1e3, 1e8)
  for (n in 1:8) {
    got <- as.double(nv_polygamma(n, nv_tensor(x, "f64")))
    expect_equal(got, psigamma(x, n), tolerance = 1e-13)
    expect_lt(max(abs(got / psigamma(x, n) - 1)), 1e-12)
  }
  at <- function(n, x) as.double(nv_polygamma(n, nv_scalar(x, "f64")))
  ulp <- 2^-52
  exact <- c(at(1, 1) * 6, at(1, 0.5) * 2, at(3, 1) * 15, at(5, 0.5) / 8) / pi^c(2, 2, 4, 6)
  expect_lt(max(abs(exact - 1)), 16 * ulp)
  # Below zero by recurrence from above, in units of the largest term.
  below <- c(-0.25, -0.5, -0.75, -1.3, -2.999, -7.5)
  for (n in 1:6) {
    terms <- lapply(below, function(z) {
      c(psigamma(z + 9, n), (-1)^(n + 1) * factorial(n) / (z + 0:8)^(n + 1))
    })
    want <- vapply(terms, sum, 0)
    scale <- vapply(terms, function(t) max(abs(t)), 0)
    got <- as.double(nv_polygamma(n, nv_tensor(below, "f64")))
    expect_lt(max(abs(got - want) / scale), 1e-14)
  }
  expect_identical(nv_trigamma(nv_tensor(x, "f64")), nv_polygamma(1, nv_tensor(x, "f64")))
  expect_identical(nv_polygamma(0, nv_tensor(x)), digamma(nv_tensor(x)))
  expect_identical(trigamma(nv_tensor(x)), nv_trigamma(nv_tensor(x)))
})

test_that("polygamma functions have the dtypes of digamma, in jit() too, and their own poles", {
  for (d in setdiff(dtypes(), complexes())) {
    x <- nv_convert(nv_tensor(if (is_narrow(d)) rep_len(few_values(d), 3) else c(1, 2, 3)), d)
    got <- nv_polygamma(2, x)
    like <- nv_digamma(x)
    expect_identical(dtype(got), dtype(like))
    expect_identical(ambiguous(got), ambiguous(like))
    want <- suppressWarnings(psigamma(as.double(x), 2))
    want <- round_to(want, format(dtype(like)))
    expect_identical(as.double(got) + 0, want + 0, tolerance = 1e-14)
    expect_identical(jit(function(x) nv_polygamma(2, x))(x), got)
  }
  special <- nv_tensor(c(0, -1, Inf, -Inf, NaN), "f64")
  expect_identical(as.double(nv_trigamma(special)), c(Inf, Inf, 0, NaN, NaN))
  expect_identical(as.double(nv_polygamma(2, special)), c(NaN, NaN, 0, NaN, NaN))
  expect_error(nv_polygamma(-1, 2), "0 to 20", class = "joist_value_error")
  expect_error(nv_polygamma(1.5, 2), class = "joist_value_error")
  expect_error(nv_polygamma(1:2, 2), class = "joist_value_error")
  expect_error(nv_polygamma(1, 1i), class = "joist_dtype_error")
})

test_that("the derivative of a polygamma function is the next one", {
  x <- nv_tensor(c(0.3, 1.7, 4, -0.6), "f64")
  for (n in c(0, 1, 4)) {
    slope <- gradient(function(x) sum(nv_polygamma(n, x)))(x)$x
    expect_identical(slope, nv_polygamma(n + 1, x))
  }
  half <- gradient(function(x) sum(nv_trigamma(x)))(nv_tensor(c(1, 2), "f16"))$x
  expect_identical(format(dtype(half)), "f16")
})
