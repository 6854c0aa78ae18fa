# Mantissas and exponents beside powers of two in double; tolerances beside their definition.

values <- c(0, -0, 1, -1, 0.1, 10, 3e-39, 5e-324, -2^-1022, 1.7e308, Inf, -Inf, NaN)
floats <- c("f16", "bf16", "f32", "f64")

test_that("mantissas and exponents make up the number, in every float dtype", {
  for (d in floats) {
    x <- nv_convert(nv_tensor(values, "f64"), d)
    own <- as_array(x, "double")
    parts <- nv_frexp(x)
    mantissa <- as_array(parts$mantissa, "double")
    exponent <- as_array(parts$exponent)
    plain <- is.finite(own) & own != 0
    expect_true(dtype(parts$mantissa) == d && dtype(parts$exponent) == "i32")
    expect_true(all(abs(mantissa[plain]) >= 0.5 & abs(mantissa[plain]) < 1))
    half <- trunc(exponent / 2)
    expect_identical((mantissa * 2^half * 2^(exponent - half))[plain], own[plain])
    expect_identical(mantissa[!plain], own[!plain])
    expect_identical(exponent[!plain], integer(sum(!plain)))
    expect_identical(nv_ldexp(parts$mantissa, parts$exponent), x)
    expect_identical(jit(nv_frexp)(x), parts)
  }
  expect_identical(as_array(nv_frexp(nv_tensor(c(8L, NA)))$mantissa), c(0.5, NA))
  expect_identical(as_array(nv_frexp(nv_tensor(c(8, NA)))$exponent), c(4L, NA))
})

test_that("numbers times powers of two are rounded once", {
  x <- nv_tensor(c(1 + 2^-52, 1.5, 1 + 2^-51 + 2^-52), "f64")
  # Ties of the last digit that remains, exact and not.
  expect_identical(as_array(nv_ldexp(x, -1074L)), c(1, 2, 1) * 2^-1074)
  tie <- 2^-50 * (1 + 2^-28 + c(0, 2^-52))
  rounded <- nv_ldexp(nv_tensor(tie, "f64"), -997L)
  expect_identical(as_array(rounded), 2^-1047 * (1 + c(0, 2^-27)))
  expect_identical(as_array(nv_ldexp(nv_tensor(1), nv_tensor("18446744073709551615", "ui64"))), Inf)
  far <- nv_ldexp(nv_tensor(c(2^-1074, 2^1000, 2^-1000), "f64"), c(2000L, -2060L, -100000L))
  expect_identical(as_array(far), c(2^926, 2^-1060, 0))
  expect_identical(as_array(nv_ldexp(nv_tensor(1), c(128L, 127L, -149L, -151L))), {
    c(Inf, 2^127, 2^-149, 0)
  })
  singles <- nv_tensor(c(1.1, -3.3, 2^-120, 1e38, NA, Inf, 0))
  for (exponent in c(-149, -127, -126, -30, 126, 127, 160)) { # rounded once, from exact products
    exact <- nv_convert(nv_tensor(as_array(singles) * 2^exponent, "f64"), "f32")
    expect_identical(nv_ldexp(singles, exponent), exact)
  }
  expect_identical(as_array(nv_ldexp(nv_tensor(c(1, NA)), nv_tensor(c(NA, 1L)))), c(NA_real_, NA))
  expect_identical(as_array(nv_ldexp(3L, nv_tensor(2L))), 12)
  scaled <- function(x) sum(nv_ldexp(x, 3L) * nv_frexp(x)$mantissa)
  expect_equal(as_array(gradient(scaled)(nv_tensor(c(3, 5)))$x), c(12, 10))
  expect_error(nv_ldexp(nv_tensor(1), 0.5), class = "joist_value_error")
  expect_error(nv_frexp(nv_tensor(1i)), class = "joist_dtype_error")
})

test_that("NaN and infinite numbers are replaced, missing ones stay", {
  for (d in floats) {
    x <- nv_tensor(c(1, NaN, Inf, -Inf, NA), d)
    largest <- as_array(dtype_info(d)$max, "double")
    expect_identical(as_array(nv_nan_to_num(x), "double"), c(1, 0, largest, -largest, NA))
    expect_identical(as_array(nv_nan_to_num(x, 2, 3, 4), "double"), c(1, 2, 3, 4, NA))
  }
  expect_identical(nv_nan_to_num(nv_tensor(1:2)), nv_tensor(1:2))
  z <- nv_tensor(complex(real = c(1, NaN), imaginary = c(Inf, 2)), "c128")
  largest <- .Machine$double.xmax
  expect_identical(as_array(nv_nan_to_num(z)), complex(real = c(1, 0), imaginary = c(largest, 2)))
  slopes <- gradient(function(x) sum(nv_nan_to_num(x) * 2))(nv_tensor(c(1, Inf, NaN)))
  expect_identical(as_array(slopes$x), c(2, 0, 0))
})

test_that("closeness is by the tolerances, of all dtypes", {
  x <- c(1, 1, 1e6, 0, Inf, Inf, NaN, NA)
  y <- c(1 + 1e-6, 1.1, 1e6 + 1, 1e-9, Inf, -Inf, NaN, 1)
  want <- c(TRUE, FALSE, TRUE, TRUE, TRUE, FALSE, FALSE, NA)
  expect_identical(as_array(nv_is_close(nv_tensor(x, "f64"), y)), want)
  equal <- as_array(nv_is_close(nv_tensor(x, "f64"), y, equal_nan = TRUE))
  expect_identical(equal, replace(want, 7, TRUE))
  expect_identical(as_array(nv_is_close(nv_tensor(1:3, "ui8"), c(2L, 2L, 2L))), 1:3 == 2)
  complex <- nv_is_close(nv_tensor(c(1 + 1i, 2)), c(1 + 1.000001i, 1))
  expect_identical(as_array(complex), c(TRUE, FALSE))
  expect_identical(as_array(nv_is_close(nv_tensor(5), c(4, 6), rtol = 0, atol = 1)), c(TRUE, TRUE))
  expect_error(nv_is_close(1, 1, rtol = "a"), class = "joist_value_error")
})

test_that("nv_is_close() compares 64-bit integers by their exact difference", {
  ends <- c("9223372036854775807", "9223372036854775806", "-9223372036854775808")
  for (run in list(identity, jit)) {
    close <- run(function(x, y) nv_is_close(x, y, rtol = 0, atol = 1))
    x <- nv_tensor(ends, "i64")
    expect_identical(as.vector(close(x, x[c(2L, 2L, 1L)])), c(TRUE, TRUE, FALSE))
    same <- run(function(x, y) nv_is_close(x, y, rtol = 0, atol = 0))
    expect_identical(as.vector(same(x, x[c(2L, 2L, 3L)])), c(FALSE, TRUE, TRUE))
    big <- nv_tensor(c("18446744073709551615", "18446744073709551614"), "ui64")
    expect_identical(as.vector(same(big, rev(big))), c(FALSE, FALSE))
    of_two <- nv_tensor(c("9007199254740992", "0"), "ui64")
    signed <- nv_tensor(c("9007199254740993", "-1"), "i64")
    expect_identical(as.vector(same(of_two, signed)), c(FALSE, FALSE))
    expect_identical(as.vector(close(signed, of_two)), c(TRUE, TRUE))
  }
})

test_that("nv_is_close() does not round R numbers beside integers or beside each other", {
  close <- function(x, y) nv_is_close(x, y, rtol = 0, atol = 0.5)
  for (x in list(16777216, nv_tensor(16777216L))) {
    expect_false(as.logical(close(x, 16777217)))
    expect_false(as.logical(jit(close)(x, 16777217)))
  }
  expect_false(as.logical(nv_is_close(1, 1 + 1e-9, rtol = 1e-10, atol = 0)))
  expect_true(as.logical(nv_is_close(nv_tensor(0.1, "f16"), 0.1, rtol = 0, atol = 0)))
})
