# Branches by number and scans of associative functions, beside R.

test_that("nv_switch() computes the branch of a number, the first or last beyond them", {
  x <- nv_tensor(c(2, 3, 4), "f64")
  f <- function(k, x) nv_switch(k, sum(x), prod(x), function() max(x), min(x), mean(x))
  want <- c(9, 24, 4, 2, 3)
  for (k in -1:7) {
    expect_identical(as_array(f(k, x)), want[min(max(k, 1), 5)])
    expect_identical(jit(f)(nv_scalar(k, "i16"), x), f(k, x))
  }
  expect_identical(as_array(nv_vmap(f, c(1, NA))(nv_tensor(0:6), x)), want[c(1, 1:5, 5)])
  slopes <- nv_vmap(gradient(f, "x"), c(1, NA))(nv_tensor(1:5), x)$x
  expect_identical(
    as_array(slopes),
    rbind(c(1, 1, 1), c(12, 8, 6), c(0, 0, 1), c(1, 0, 0), c(1, 1, 1) / 3)
  )
  nested <- function(k, x) nv_switch(k, x, nv_switch(k, 2 * x, 3 * x), x * x)
  expect_identical(as_array(jit(nested)(nv_scalar(2L), x)), c(6, 9, 12))
  expect_identical(nv_switch(2, list(a = x, b = 1), list(a = -x, b = 2))$a, -x)
  # Only one is computed.
  safe <- jit(function(k) {
    nv_switch(k, nv_scalar(1), {
      if (k > 0L) stop("taken")
      nv_scalar(2)
    })
  })
  expect_identical(as_array(safe(nv_scalar(1L))), 1)
  expect_error(safe(nv_scalar(2L)), "taken")
})

test_that("nv_associative_scan() is a loop over the slices", {
  set.seed(1)
  for (n in c(0:9, 33)) {
    x <- nv_tensor(array(sample(-9:9, 3 * n, TRUE), c(n, 3)), "i32")
    if (n > 0) dimnames(x) <- list(NULL, c("a", "b", "c"))
    for (reverse in c(FALSE, TRUE)) {
      f <- function(x) nv_associative_scan(x, nv_add, reverse)
      want <- nv_cumsum(if (reverse) nv_reverse(x, 1) else x, 1, dtype = "i32")
      if (reverse) want <- nv_reverse(want, 1)
      expect_identical(f(x), want)
      expect_identical(jit(f)(x), f(x))
    }
  }
  m <- nv_tensor(array(rnorm(20), c(5, 2, 2)), "f64")
  products <- as_array(nv_associative_scan(m, nv_matmul))
  want <- Reduce(`%*%`, lapply(1:5, function(k) as_array(m)[k, , ]), accumulate = TRUE)
  for (k in 1:5) expect_equal(products[k, , ], want[[k]])
  expect_identical(
    nv_associative_scan(nv_tensor(c(3L, NA, 5L)), pmax), nv_tensor(c(3L, NA, NA))
  )
})

test_that("a linear recurrence has the values, derivatives and slices of nv_scan()", {
  set.seed(2)
  x <- list(a = nv_tensor(runif(37), "f64"), b = nv_tensor(rnorm(37), "f64"))
  fast <- function(x) {
    nv_associative_scan(x, function(p, q) list(a = p$a * q$a, b = q$a * p$b + q$b))$b
  }
  slow <- function(x) {
    nv_scan(nv_scalar(0, "f64"), x, function(h, at) {
      h <- at$a * h + at$b
      list(h, h)
    })$ys
  }
  expect_equal(as_array(fast(x)), as_array(slow(x)))
  slopes <- lapply(list(fast, slow), function(f) gradient(function(x) sum(f(x)^2))(x)$x)
  expect_equal(lapply(slopes[[1]], as_array), lapply(slopes[[2]], as_array))
  both <- lapply(x, function(v) nv_stack(v, rev(v)))
  each <- nv_vmap(fast)(both)
  expect_equal(as_array(each[1, ]), as_array(fast(x)))
  expect_equal(as_array(each[2, ]), as_array(fast(lapply(x, rev))))
})
