# Exponentials of many, the inverse error function, rolled elements, default dtypes.

type_of <- function(x) paste0(format(dtype(x)), if (ambiguous(x)) "?")
ulps <- function(got, want, scale = abs(want)) max(abs(got - want) / (2^-52 * scale))

test_that("softmax and its relatives are what formulas in R say, without overflow", {
  set.seed(2)
  m <- matrix(rnorm(12) * 10, 4)
  x <- nv_tensor(m, "f64")
  e <- exp(m)
  expect_lt(ulps(as_array(nv_logsumexp(x, 1)), log(colSums(e)), max(abs(m))), 8)
  expect_lt(ulps(as_array(nv_logsumexp(x)), log(sum(e)), max(abs(m))), 8)
  expect_lt(ulps(as_array(nv_softmax(x, 2)), e / rowSums(e)), 16)
  expect_lt(ulps(as_array(nv_softmax(x)), e / sum(e)), 16)
  expect_lt(ulps(as_array(nv_log_softmax(x, 2)), m - log(rowSums(e)), max(abs(m))), 8)
  expect_identical(shape(nv_logsumexp(x, 1, drop = FALSE)), c(1L, 3L))
  far <- nv_tensor(c(1000, 1001, -2000), "f64")
  expect_equal(as.double(nv_logsumexp(far)), 1001 + log1p(exp(-1)), tolerance = 1e-15)
  expect_equal(as.double(nv_softmax(far)), c(1, exp(1), 0) / (1 + exp(1)), tolerance = 1e-15)
  expect_identical(as.double(nv_logsumexp(nv_tensor(c(-Inf, -Inf)))), -Inf)
  expect_identical(as.double(nv_logsumexp(nv_tensor(c(1, Inf)))), Inf)
  expect_identical(as.double(nv_log_softmax(nv_tensor(c(0, -Inf), "f64"))), c(0, -Inf))
  z <- c(-700, -36, -3, -1, -0.1, 0.1, 2, 36, 800)
  low <- z[z < 30]
  expect_lt(ulps(as.double(nv_softplus(nv_tensor(low, "f64"))), log1p(exp(low))), 8)
  expect_identical(as.double(nv_softplus(nv_tensor(c(800, -Inf, Inf)))), c(800, 0, Inf))
  z <- c(-37, -10, -3, -1, -0.1, 0.1, 2, 40)
  want <- z * pnorm(z)
  expect_lt(ulps(as.double(nv_gelu(nv_tensor(z, "f64"))), want, abs(want) * (1 + z^2)), 8)
})

test_that("the inverse error function inverts, with all digits next to zero and one", {
  p <- c(1e-3, 0.01, 0.2, 0.499, 0.5, 0.51, 0.9, 0.99, 0.999999)
  want <- qnorm((1 - p) / 2, lower.tail = FALSE) / sqrt(2)
  got <- as.double(nv_erf_inv(nv_tensor(p, "f64")))
  expect_equal(got, want, tolerance = 1e-12)
  # 1 - x has few digits: exact by qnorm() of the tail.
  tail <- 2^-(2:52)
  want <- qnorm(tail / 2, lower.tail = FALSE) / sqrt(2)
  expect_lt(ulps(as.double(nv_erf_inv(nv_tensor(1 - tail, "f64"))), want), 16)
  small <- c(2^-1000, 1e-300, 1e-20, 1e-9)
  expect_lt(ulps(as.double(nv_erf_inv(nv_tensor(small, "f64"))), small * sqrt(pi) / 2), 2)
  expect_identical(as.double(nv_erf_inv(nv_tensor(-p, "f64"))), -got)
  expect_identical(as.double(nv_erf_inv(nv_tensor(c(-1, 0, 1, 2, NaN)))), c(-Inf, 0, Inf, NaN, NaN))
  # Rounded once.
  expect_identical(as.double(nv_erf_inv(nv_tensor(p, "f32"))), {
    round_to(as.double(nv_erf_inv(nv_tensor(round_to(p, "f32"), "f64"))), "f32")
  })
})

test_that("these functions have the dtypes of exp(), in jit() too, and derivatives", {
  functions <- list(
    nv_logsumexp, nv_softmax, nv_log_softmax, nv_softplus, nv_gelu, nv_erf_inv
  )
  for (f in functions) {
    for (d in setdiff(dtypes(), complexes())) {
      x <- nv_convert(nv_tensor(c(0, 1, 0)), d)
      got <- f(x)
      expect_identical(type_of(got), type_of(nv_exp(x)))
      expect_identical(jit(f)(x), got)
    }
    expect_error(f(nv_tensor(1i)), class = "joist_dtype_error")
    x <- nv_tensor(c(0.3, -0.5, 0.72), "f64")
    check_gradient(function(x) sum(f(x)^2), x)
    slope <- function(x) sum(gradient(function(x) sum(f(x)^2))(x)$x^2)
    check_gradient(jit(slope), x, tolerance = 1e-5)
  }
  # Where max() and abs() have no derivative.
  expect_identical(as.double(gradient(nv_softplus)(nv_scalar(0))[[1]]), 0.5)
  second <- gradient(function(x) gradient(nv_softplus)(x)[[1]])
  expect_identical(as.double(second(nv_scalar(0))$x), 0.25)
})

test_that("nv_roll() moves what indices of base R move", {
  x <- nv_tensor(1:5)
  expect_identical(as.integer(nv_roll(x, 2)), c(4L, 5L, 1L, 2L, 3L))
  expect_identical(nv_roll(x, -8), nv_roll(x, 2))
  expect_identical(nv_roll(x, 0), x)
  m <- matrix(1:12, 3)
  got <- nv_roll(nv_tensor(m), c(1, -1), 1:2)
  expect_identical(as_array(got), m[c(3, 1, 2), c(2, 3, 4, 1)])
  expect_identical(as_array(nv_roll(nv_tensor(m), 2)), matrix(as.vector(m)[c(11, 12, 1:10)], 3))
  for (d in dtypes()) expect_identical(dtype(nv_roll(nv_convert(x, d), 1)), as_dtype(d))
  expect_identical(shape(nv_roll(nv_tensor(numeric(), shape = c(0, 2)), 1, 1)), c(0L, 2L))
  check_gradient(function(x) sum(nv_roll(x, 2)^3 * c(1, 2, 3)), nv_tensor(c(0.5, 2, -1), "f64"))
})

test_that("default dtypes hold for an expression", {
  made <- function() {
    list(
      nv_tensor(c(1, 2)), nv_tensor(1:2), nv_fill(0, 2L), nv_iota(1L, NULL, 2L), nv_scalar(1) * 2,
      nv_tensor(1, "f32") * 2, nv_tensor(1L, "i8") + 1L
    )
  }
  types <- function(x) vapply(x, type_of, "")
  plain <- c("f32", "i32", "f32", "i32", "f32", "f32", "i8")
  wide <- c("f64", "i64", "f64", "i64", "f64", "f32", "i8")
  expect_identical(types(made()), plain)
  expect_identical(types(with_default_dtypes(c(float = "f64", int = "i64"), made())), wide)
  whole <- replace(plain, c(2, 4), "i64")
  expect_identical(types(with_default_dtypes(c(int = "i64"), made())), whole)
  nested <- with_default_dtypes(list(float = "f64"), with_default_dtypes(c(int = "i64"), made()))
  expect_identical(types(nested), wide)
  expect_error(with_default_dtypes(c(float = "f64"), stop("inside")), "inside")
  expect_identical(types(made()), plain)
  # A jitted function is compiled for each.
  f <- jit(function() nv_tensor(1.5))
  expect_identical(type_of(f()), "f32")
  expect_identical(type_of(with_default_dtypes(c(float = "f64"), f())), "f64")
})

test_that("of a guess they are known under JAX's rules, whose maximum is", {
  for (d in c("i32", "f32", "f64")) {
    x <- nv_tensor(c(1, 0, 1), d, ambiguous = TRUE)
    float <- if (d == "f64") "f64" else "f32"
    for (f in list(nv_logsumexp, nv_softmax, nv_log_softmax)) {
      expect_identical(type_of(f(x)), paste0(float, "?"))
      expect_identical(type_of(with_promotion("jax_x32", f(x))), float)
      expect_identical(type_of(with_promotion("jax", jit(f)(x))), float)
    }
    expect_identical(type_of(with_promotion("jax", nv_softplus(x))), paste0(float, "?"))
  }
})
