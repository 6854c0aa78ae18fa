# nv_hypot() and its neighbours beside definitions in double, which base R computes.

special <- c(
  0, -0, 1, -1, 0.1, 3e-39, -1e-45, 5e-324, 3e38, -3e38, 1.7e308, Inf, -Inf, NaN, 2, -7.5
)
pairs <- expand.grid(x = special, y = special)

test_that("signs are those of the bits", {
  for (d in c("f16", "bf16", "f32", "f64")) {
    x <- nv_tensor(pairs$x, "f64")
    x <- nv_convert(x, d)
    y <- nv_convert(nv_tensor(pairs$y, "f64"), d)
    bits <- as_array(nv_signbit(x))
    own <- as_array(x, "double")
    negative <- own < 0 | 1 / own < 0
    expect_identical(bits[!is.nan(own)], negative[!is.nan(own)], info = d)
    made <- nv_copysign(x, y)
    expect_true(dtype(made) == d)
    expect_identical(as_array(nv_signbit(made)), as_array(nv_signbit(y)), info = d)
    expect_identical(abs(as_array(made, "double")), abs(own), info = d)
    expect_identical(jit(nv_copysign)(x, y), made)
  }
  expect_identical(as_array(nv_signbit(nv_tensor(c(-1L, 0L, 5L), "i8"))), c(TRUE, FALSE, FALSE))
  expect_identical(as_array(nv_signbit(nv_tensor(c(200L, 0L), "ui8"))), c(FALSE, FALSE))
  expect_identical(as_array(nv_signbit(nv_tensor(c(-1, NA)))), c(TRUE, NA))
})

test_that("hypotenuses and sums of exponentials do not overflow", {
  x <- pairs$x
  y <- pairs$y
  large <- pmax(abs(x), abs(y))
  small <- pmin(abs(x), abs(y))
  want <- ifelse(is.infinite(x) | is.infinite(y), Inf, large * sqrt(1 + (small / large)^2))
  want[which(large == 0)] <- 0
  got <- as_array(nv_hypot(nv_tensor(x, "f64"), nv_tensor(y, "f64")))
  expect_equal(got, want, tolerance = 1e-15)
  expect_identical(is.nan(got), is.nan(want))
  expect_equal(as_array(nv_hypot(nv_tensor(c(3, 3e30), "f32"), c(4, 4e30))), c(5, 5e30),
    tolerance = 1e-7
  )
  expect_equal(as_array(nv_hypot(nv_tensor(3e4, "f16"), 4e4)), 49984)
  sums <- as_array(nv_logaddexp(nv_tensor(x, "f64"), nv_tensor(y, "f64")))
  largest <- pmax(x, y)
  want <- largest + log1p(exp(-abs(x - y)))
  want[which(x == y)] <- x[which(x == y)] + log(2)
  expect_equal(sums, want, tolerance = 1e-15)
  expect_identical(is.nan(sums), is.nan(x) | is.nan(y))
  expect_equal(as_array(nv_logaddexp(1:2, 3L)), log(exp(1:2) + exp(3)), tolerance = 1e-6)
  expect_true(ambiguous(nv_hypot(1L, 2L)))
  expect_true(dtype(nv_hypot(nv_tensor(1, "f16"), nv_tensor(1, "f32"))) == "f32")
})

test_that("the next number has no other before it", {
  unit <- c(f16 = 2^-24, bf16 = 2^-133, f32 = 2^-149, f64 = 2^-1074)
  digits <- c(f16 = 11, bf16 = 8, f32 = 24, f64 = 53)
  for (d in names(unit)) {
    x <- nv_tensor(c(0, 1, -1, unit[[d]], -0), d)
    up <- as_array(nv_nextafter(x, nv_scalar(Inf, d)), "double")
    down <- as_array(nv_nextafter(x, nv_scalar(-Inf, d)), "double")
    step <- 2^(1 - digits[[d]])
    expect_identical(up, c(unit[[d]], 1 + step, -1 + step / 2, 2 * unit[[d]], unit[[d]]))
    expect_identical(down, c(-unit[[d]], 1 - step / 2, -1 - step, 0, -unit[[d]]))
    expect_identical(as_array(nv_nextafter(x, x), "double"), c(0, 1, -1, unit[[d]], 0))
    zeros <- nv_nextafter(nv_tensor(c(0, -0), d), nv_tensor(c(-0, 0), d))
    expect_identical(as_array(nv_signbit(zeros)), c(TRUE, FALSE))
    top <- nv_nextafter(nv_scalar(Inf, d), nv_scalar(0, d))
    expect_true(as.logical(nv_is_finite(top)))
    expect_identical(as_array(nv_nextafter(top, nv_scalar(Inf, d)), "double"), Inf)
    expect_true(is.nan(as_array(nv_nextafter(nv_scalar(NaN, d), nv_scalar(1, d)), "double")))
    expect_silent(after <- nv_nextafter(nv_tensor(rep(-0, 99), d), nv_scalar(-1, d)))
    expect_identical(as_array(after, "double"), rep(-unit[[d]], 99))
    expect_true(is.nan(as_array(nv_nextafter(nv_scalar(1, d), nv_scalar(NaN, d)), "double")))
  }
  expect_identical(as_array(nv_nextafter(nv_tensor(c(1, NA), "f64"), 2)), c(1 + 2^-52, NA))
})

test_that("they have derivatives, also at zero and where operands are equal", {
  slopes <- gradient(function(x, y) sum(nv_hypot(x, y)))
  slopes <- slopes(nv_tensor(c(3, 0, 1)), nv_tensor(c(4, 0, 1)))
  expect_equal(as_array(slopes$x), c(0.6, 0, sqrt(0.5)), tolerance = 1e-6)
  check_gradient(function(x, y) sum(nv_logaddexp(x, y) * y), c(1, 2, 300), c(2, 2, 1))
  check_gradient(function(x, y) sum(nv_hypot(x, y) * nv_copysign(y, x)), c(1, -2), c(2, 2))
})

test_that("an R number is exact until it meets a dtype", {
  x <- nv_tensor(c(3, 1e200), "f64")
  expect_identical(as.vector(nv_hypot(x, c(4, 1e200))), c(5, sqrt(2) * 1e200))
  expect_identical(as.vector(nv_copysign(x, -1e300)), -as.vector(x))
  expect_identical(type_of(nv_hypot(x, 4)), "f64")
  expect_identical(as.vector(jit(function(x) nv_hypot(x, 1e200))(x)), c(1e200, sqrt(2) * 1e200))
})

test_that("nv_nextafter() of floats of 8 bits is an error that names them", {
  x <- nv_tensor(1, "f8E4M3FN")
  expect_refusal(nv_nextafter(x, x), "joist_dtype_error", "f8E4M3FN")
})

test_that("integers that the float does not hold are a loss", {
  x <- nv_tensor(c(16777217L, 16777219L), "i32")
  id <- nv_tensor("9007199254740993", "i64")
  lossy <- list(
    function() nv_copysign(x, 1L), function() nv_nextafter(x, 0L), function() nv_ldexp(x, 0L),
    function() nv_frexp(x), function() nv_hypot(x, x), function() nv_logaddexp(x, x),
    function() nv_softplus(x), function() nv_resize(x, 3), function() nv_dnorm(id),
    function() nv_dpois(id, id), function() nv_beta(id, id), function() nv_polygamma(1, id),
    function() jit(function(x) nv_hypot(x, x))(x)
  )
  for (f in lossy) {
    label <- deparse(body(f))
    name <- grep("^nv_", all.names(body(f)), value = TRUE)[1L]
    jitted <- "jit" %in% all.names(body(f))
    expect_error(with_promotion(NULL, f(), on = c(loss = "error")),
      paste(if (!jitted) paste0(name, "()"), "rounds"), fixed = TRUE,
      class = "joist_value_error", info = label
    )
    if ("id" %in% all.names(body(f))) next
    expect_error(with_promotion(NULL, f(), on = c(int_to_float = "error")),
      paste0(name, "() promotes operand 1"), fixed = TRUE,
      class = "joist_int_to_float_error", info = label
    )
  }
  expect_no_error(with_promotion(NULL, nv_dnorm(x), on = c(loss = "error")))
  expect_no_error(with_promotion(NULL, nv_hypot(nv_tensor(3L), 4L), on = c(loss = "error")))
})

test_that("results are missing where an operand is, beside NaN and infinite ones too", {
  missing <- nv_tensor(NA, "f64")
  for (run in list(identity, jit)) {
    for (f in list(nv_hypot, nv_logaddexp, nv_copysign, nv_nextafter, nv_pnorm, nv_beta)) {
      f <- run(f)
      for (other in c(Inf, NaN)) {
        other <- nv_tensor(other, "f64")
        expect_identical(f(missing, other), missing)
        expect_identical(f(other, missing), missing)
      }
    }
  }
})
