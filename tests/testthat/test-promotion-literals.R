# A bare R value is exact until it meets a dtype, eager and in jit().

both_ways <- function(f, ...) {
  eager <- f(...)
  compiled <- jit(f)(...)
  expect_identical(compiled, eager)
  eager
}

test_that("pi stays pi until a dtype is chosen", {
  for (d in floats()) {
    x <- nv_scalar(1, d)
    want <- round_from_compute(1 + round_to(pi, d), d)
    expect_identical(as_array(both_ways(function(x) x + pi, x)), want, label = d)
    expect_identical(as_array(both_ways(function(x) pi + x, x)), want, label = d)
    # As an argument of the compiled function, too.
    expect_identical(as_array(both_ways(function(x, y) x + y, x, pi)), want, label = d)
  }
  expect_identical(as_array(nv_scalar(1, "f64") + pi), 1 + pi)
  expect_identical(as_array(jit(function(x) x + pi)(nv_scalar(1, "f64"))), 1 + pi)
  expect_identical(as_array(nv_scalar(1, "c128") * pi), pi + 0i)
  expect_identical(as_array(nv_scalar(2, "c128") + (1 / 3 + 0.1i)), 2 + (1 / 3 + 0.1i))
})

test_that("a literal keeps its value through convert, fill and comparison", {
  convert <- function() nv_convert(1.1, "f64")
  expect_identical(as_array(convert()), 1.1)
  expect_identical(as_array(jit(convert)()), 1.1)
  expect_identical(as_array(jit(function(v) nv_convert(v, "f64"))(1.1)), 1.1)
  expect_identical(as_array(nv_convert(c(0.1, 1 / 3), "f64")), c(0.1, 1 / 3))
  expect_identical(as_array(nv_convert(0.1 + 0.2i, "c128")), 0.1 + 0.2i)
  expect_identical(as_array(nv_fill(0.1, 2, "f64")), c(0.1, 0.1))
  x <- nv_tensor(c(0.1, 1 / 3), "f64")
  expect_identical(as_array(x == 0.1), c(TRUE, FALSE))
  expect_identical(as_array(both_ways(function(x) x == 1 / 3, x)), c(FALSE, TRUE))
  expect_identical(as_array(both_ways(function(x) nv_max(x, 0.2), x)), c(0.2, 1 / 3))
  expect_identical(as_array(both_ways(function(x) nv_clamp(0.15, x, 0.3), x)), c(0.15, 0.3))
  chosen <- both_ways(function(x) nv_ifelse(nv_gt(x, 0.2), x, 0.1), x)
  expect_identical(as_array(chosen), c(0.1, 1 / 3))
})

test_that("vectors of literals are exact, short and long", {
  for (n in c(2, 3, 1000, 200000)) {
    v <- 1 / seq_len(n)
    x <- nv_tensor(rep(1, n), "f64")
    expect_identical(as_array(both_ways(function(x) x + v, x)), 1 + v)
    expect_identical(as_array(both_ways(function(x, w) x + w, x, v)), 1 + v)
    f32 <- nv_tensor(rep(1, n), "f32")
    expect_identical(as_array(f32 * v), round_to(v, "f32"))
  }
  m <- matrix(1 / (1:6), 2)
  expect_identical(as_array(nv_fill(1, c(2, 3), "f64") * m), m)
  integers <- c(1L, .Machine$integer.max, -5L)
  sum <- nv_tensor(c(0, 0, 0), "f64") + integers
  expect_identical(as_array(sum), as.double(integers))
  expect_identical(as_array(nv_tensor(c(0, 0, 0), "i64") + integers), as.double(integers))
})

test_that("an integer literal is exact in 64 bits and in double", {
  x <- nv_scalar(0, "i64")
  expect_identical(as_array(both_ways(function(x) x + 2147483647L, x)), 2147483647)
  expect_identical(as_array(nv_scalar(0, "f64") + 16777217L), 16777217)
  expect_identical(as_array(both_ways(function(x) x + 16777217L, nv_scalar(0, "f64"))), 16777217)
  expect_identical(as_array(nv_scalar(0, "f32") + 16777217L), 16777216)
})

test_that("literals of two dtypes in one function are each converted once", {
  f <- function(x, y, z) list(x + z, y + z)
  x <- nv_scalar(1, "f64")
  y <- nv_scalar(1, "bf16")
  for (out in list(f(x, y, 0.1), jit(f)(x, y, 0.1))) {
    expect_identical(as_array(out[[1]]), 1.1)
    expect_identical(as_array(out[[2]]), round_from_compute(1 + round_to(0.1, "bf16"), "bf16"))
  }
})

test_that("constants and closures of compiled functions are exact", {
  constant <- 0.1
  compiled <- jit(function(x) {
    third <- 1 / 3
    (x + constant) * third
  })
  expect_identical(as_array(compiled(nv_scalar(1, "f64"))), (1 + 0.1) * (1 / 3))
  make <- function(k) jit(function(x) x * k)
  expect_identical(as_array(make(0.1)(nv_scalar(3, "f64"))), 3 * 0.1)
  expect_identical(as_array(make(0.7)(nv_scalar(3, "f64"))), 3 * 0.7)
  outer_tensor <- nv_tensor(c(0.1, 0.2), "f64")
  add_outer <- jit(function(x) x + outer_tensor)
  expect_identical(as_array(add_outer(1)), c(1.1, 1.2))
  expect_identical(as_array(add_outer(0.7)), 0.7 + c(0.1, 0.2))
})

test_that("another value of a literal argument is another result of the same program", {
  f <- jit(function(x, y) x * y)
  x <- nv_tensor(c(1, 2), "f64")
  for (v in c(0.1, 0.2, pi, -1e300)) expect_identical(as_array(f(x, v)), c(1, 2) * v)
  expect_match(utils::capture.output(print(f))[1], "1 program")
})

test_that("literals on their own have the default dtype of the rules", {
  expect_identical(type_of(nv_add(1L, 1L)), "i32?")
  expect_identical(type_of(nv_add(1L, 1)), "f32?")
  expect_identical(type_of(nv_add(TRUE, TRUE)), "bool")
  expect_identical(type_of(nv_add(1, 1i)), "c64?")
  expect_identical(type_of(with_promotion("jax", nv_add(1L, 1))), "f64?")
  expect_identical(as_array(with_promotion("jax", nv_add(0.1, 0.2))), 0.1 + 0.2)
  expect_identical(as_array(nv_add(0.1, 0.2)), round_to(
    round_to(0.1, "f32") + round_to(0.2, "f32"), "f32"
  ))
  expect_error(nv_add(1e300, 1), "1e+300", fixed = TRUE, class = "joist_value_error")
  expect_identical(as_array(with_promotion("jax", nv_mul(2147483647L, 2L))), 2^32 - 2)
})

test_that("a literal that does not fit is an error in jit() as well", {
  f <- jit(function(x, y) x + y)
  expect_error(f(nv_tensor(1:3, "ui8"), 300L), "300", class = "joist_value_error")
  expect_identical(as_array(f(nv_tensor(1:3, "ui8"), 4L)), 5:7)
  expect_error(f(nv_tensor(1:3, "ui8"), -1L), "-1", class = "joist_value_error")
  expect_error(jit(function(x) x + 300L)(nv_tensor(1:3, "ui8")), "300", class = "joist_value_error")
  expect_identical(as.vector(f(nv_tensor(1:3, "i8"), NA_integer_)), rep(NA_integer_, 3))
  compare <- jit(function(x, y) x < y)
  expect_identical(as_array(compare(nv_tensor(1:3, "ui8"), 2L)), c(TRUE, FALSE, FALSE))
  expect_identical(as_array(compare(nv_tensor(1:3, "ui8"), 300L)), rep(TRUE, 3))
  expect_identical(as_array(compare(nv_tensor(1:3, "ui8"), -1L)), rep(FALSE, 3))
  expect_identical(as_array(jit(function(x) x < 300L)(nv_tensor(1:3, "ui8"))), rep(TRUE, 3))
  expect_identical(as_array(jit(function(x) x == -1L)(nv_tensor(1:3, "ui8"))), rep(FALSE, 3))
})

test_that("a number that the dtype would round to 0 is compared exactly", {
  operators <- list(`<`, `<=`, `>`, `>=`, `==`, `!=`)
  for (d in setdiff(floats(), "f64")) {
    if (!has_zero(d)) next
    v <- c(0, held(1, d))
    x <- nv_tensor(v, d)
    for (tiny in c(5e-324, 1e-60)) for (number in c(tiny, -tiny)) {
      for (f in operators) {
        want <- f(v, number)
        expect_identical(as.vector(f(x, number)), want, info = paste(d, number))
        expect_identical(as.vector(f(number, x)), f(number, v), info = paste(d, number))
        expect_identical(as.vector(jit(function(x) f(x, number))(x)), want, info = d)
        expect_identical(as.vector(jit(f)(x, number)), want, info = d)
      }
    }
  }
  expect_identical(as.vector(nv_tensor(0.1, "f32") == 0.1), TRUE) # others are rounded
})

test_that("logical operations and the test of nv_ifelse() ask of R numbers whether they are zero", {
  numbers <- list(
    c(2, 0), c(0L, -7L), c(1e-300, -0), c(-Inf, 0.5), c(0i, 1i), as.raw(c(0, 200)), c(TRUE, FALSE)
  )
  for (d in dtypes()) {
    for (v in numbers) {
      if (!has_zero(d)) next
      one <- if (d == "bool") 1 else held(1, d)
      x <- nv_tensor(c(one, 0), d)
      truth <- v != 0
      undefined <- function(e) NULL # narrow dtypes meet numbers of their own kind
      if (is.null(tryCatch(result_dtype(x, v), joist_promotion_error = undefined))) {
        expect_error(x & v, class = "joist_promotion_error")
        next
      }
      turned <- nv_tensor(c(0, one), d)
      checks <- function(x, v) list(x & v, v | x, nv_xor(x, v), nv_ifelse(v, x, turned))
      want <- list(
        c(TRUE, FALSE) & truth, c(TRUE, FALSE) | truth, xor(c(TRUE, FALSE), truth),
        base::ifelse(truth, c(TRUE, FALSE), c(FALSE, TRUE))
      )
      truth_of <- function(results) lapply(results, function(r) as_array(nv_convert(r, "bool")))
      expect_identical(truth_of(checks(x, v)), want, label = d)
      expect_identical(truth_of(jit(checks)(x, v)), want, label = d)
      expect_identical(truth_of(jit(function(x) checks(x, v))(x)), want, label = d)
    }
  }
  expect_identical(as_array(nv_not(c(0, 2))), c(TRUE, FALSE))
  x <- nv_tensor(c(TRUE, FALSE))
  for (v in list(c(TRUE, NA), c(1L, NA), c(1, NA), c(1i, NA))) {
    expect_identical(as.vector(x & v), c(TRUE, FALSE))
    expect_identical(as.vector(nv_ifelse(v, x, x)), c(TRUE, NA))
    expect_identical(as.vector(jit(function(x, v) x | v)(x, v)), c(TRUE, NA))
  }
  for (v in list(c(1, NaN), complex(real = c(1, NaN), imaginary = 1))) {
    expect_refusal(x & v, "joist_value_error", "position 2")
    expect_refusal(nv_ifelse(v, x, x), "joist_value_error", "position 2")
    expect_refusal(jit(function(x, v) x | v)(x, v), "joist_value_error", "position 2")
  }
  expect_refusal(nv_tensor(2, "bool"), "joist_value_error", "0 to 1") # loses nothing
})
