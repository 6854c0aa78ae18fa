# Elementwise operations against base R's double, complex and bit arithmetic, and against
# integer arithmetic modulo 2^64 by hand. Every operation is looked up in joist's own table of
# operations, so that one without a test here fails the first test.

op_table <- operation_table()

pairs_of <- function(x) {
  list(a = rep(x, times = length(x)), b = rep(x, each = length(x)))
}

identical_zero <- function(x, zero) x %in% 0 & 1 / x == 1 / zero

logistic <- function(x) 1 / (1 + exp(-x))

# What base R computes by the C library.
math_ops <- list(
  sqrt = sqrt, rsqrt = function(x) 1 / sqrt(x), exp = exp, expm1 = expm1, log = log, log2 = log2,
  log10 = log10, log1p = log1p, logistic = logistic, sin = sin, cos = cos, tan = tan, asin = asin,
  acos = acos, atan = atan, sinh = sinh, cosh = cosh, tanh = tanh, asinh = asinh, acosh = acosh,
  atanh = atanh
)
# Base R has the first two as distributions; none is exact to the last digit there.
special_ops <- list(
  erf = function(x) sign(x) * stats::pgamma(x^2, 0.5),
  erfc = function(x) ifelse(x < 0, 2, 0) + sign(x) * stats::pgamma(x^2, 0.5, lower.tail = FALSE),
  gamma = gamma, lgamma = lgamma, digamma = digamma, sinpi = sinpi, cospi = cospi, tanpi = tanpi
)
# The C library is off by up to two units in the last place itself.
f64_ulps <- 5
rounding_ops <- list(
  floor = floor, ceiling = ceiling, trunc = trunc, round = function(x) round(x),
  round_away = function(x) {
    size <- trunc(abs(x)) + (abs(x) - trunc(abs(x)) >= 0.5)
    ifelse(is.finite(x), ifelse(1 / x < 0, -size, size), x)
  },
  abs = abs, negate = function(x) -x
)
arithmetic_ops <- list(add = `+`, sub = `-`, mul = `*`, div = `/`)
compare_ops <- list(eq = `==`, ne = `!=`, lt = `<`, le = `<=`, gt = `>`, ge = `>=`)
logical_ops <- list(and = `&`, or = `|`, xor = xor)
bitwise_ops <- list(bitwise_and = bitwAnd, bitwise_or = bitwOr, bitwise_xor = bitwXor)
predicate_ops <- list(is_nan = is.nan, is_finite = is.finite, is_infinite = is.infinite)
complex_parts <- list(real = Re, imag = Im, arg = Arg, abs = Mod, conj = Conj)

test_that("every elementwise operation is tested here", {
  here <- c(
    names(c(
      math_ops, special_ops, rounding_ops, arithmetic_ops, compare_ops, logical_ops, bitwise_ops,
      predicate_ops, complex_parts
    )),
    "cbrt", "pow", "floor_div", "round_div", "mod", "remainder", "min", "max", "atan2", "clamp",
    "ifelse", "sign", "not", "bitwise_not", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "popcnt", "convert", "bitcast_convert", "broadcast_to"
  )
  elementwise <- op_table$name[op_table$family == "elementwise"]
  expect_identical(setdiff(elementwise, here), character())
  expect_identical(setdiff(here, op_table$name), character())
})

# ---- floats ----

test_that("float arithmetic is the double result, rounded once", {
  for (d in floats()) {
    v <- pairs_of(float_values(d))
    a <- nv_tensor(v$a, d)
    b <- nv_tensor(v$b, d)
    for (op in names(arithmetic_ops)) {
      got <- nv(op)(a, b)
      expect_identical(type_of(got), d)
      exact <- arithmetic_ops[[op]](v$a, v$b)
      want <- round_from_compute(exact, d)
      expect_values(any_zero(as_array(got), exact, d), want, paste(op, d))
    }
  }
})

test_that("float functions round the double result", {
  for (d in floats()) {
    v <- float_values(d)
    x <- nv_tensor(v, d)
    for (op in names(math_ops)) {
      want <- suppressWarnings(math_ops[[op]](v))
      got <- nv(op)(x)
      expect_identical(type_of(got), d)
      # f32's exp() may be infinite where the double's is not: subnormals or zero.
      if (op == "logistic") want[want < 2^-126 & as_array(got) == 0] <- 0
      ulps <- switch(d, f64 = f64_ulps, f32 = 2, 1)
      expect_ulps(as_array(got), round_to(want, d), d, ulps, paste(op, d))
    }
    exact <- suppressWarnings(sqrt(v))
    got <- any_zero(as_array(nv_sqrt(x)), exact, d)
    expect_values(got, round_to(exact, d), paste("sqrt", d))
  }
})

test_that("the cube root is a cube root", {
  some <- c(0, 0.5, 1, 2, 3, 10, 12.5, -1, -2, -7, Inf)
  for (d in floats()) {
    roots <- some[holds(some^3, d)]
    x <- nv_tensor(roots^3, d)
    expect_ulps(as_array(nv_cbrt(x)), round_to(roots, d), d, 1, paste("cbrt", d))
    if (has_nan(d)) expect_identical(as_array(nv_is_nan(nv_cbrt(nv_tensor(NaN, d)))), TRUE)
    tiny <- nv_tensor(float_min_subnormal(d), d)
    expect_ulps(as_array(nv_cbrt(tiny)), round_to(float_min_subnormal(d)^(1 / 3), d), d, 64)
  }
})

test_that("f64 functions of many values are base R's, or its neighbours", {
  set.seed(1)
  v <- c(rnorm(2000), runif(2000, -700, 700), 10^runif(1000, -300, 300))
  x <- nv_tensor(v, "f64")
  for (op in names(math_ops)) {
    want <- suppressWarnings(math_ops[[op]](v))
    expect_ulps(as_array(nv(op)(x)), want, "f64", f64_ulps, op)
  }
  w <- rev(v)
  y <- nv_tensor(w, "f64")
  for (op in names(arithmetic_ops)) {
    expect_values(as_array(nv(op)(x, y)), arithmetic_ops[[op]](v, w), op)
  }
  expect_ulps(as_array(nv_atan2(x, y)), atan2(v, w), "f64", 2, "atan2")
  power <- runif(length(v), -3, 3)
  expect_ulps(as_array(nv_pow(x, nv_tensor(power, "f64"))), v^power, "f64", 2, "pow")
  expect_values(as_array(x^2), v^2, "square")
  # R 4.6 multiplies three times.
  expect_ulps(as_array(x^4), v^4, "f64", if (getRversion() >= "4.6") 2 else 1, "fourth power")
  expect_ulps(as_array(x^-1), v^-1, "f64", 1, "inverse")
  expect_ulps(as_array(x^0.5), v^0.5, "f64", 1, "root")
})

test_that("powers of floats are base R's, and IEEE 754's where R differs", {
  v <- pairs_of(c(0, -0, 1, -1, 2, -2, 0.5, 3, -3, 4, Inf, -Inf, NaN))
  want <- v$a^v$b
  # IEEE 754-2019 9.2.1: R has Inf and NaN here.
  want[identical_zero(v$a, -0) & v$b %in% c(-1, -3)] <- -Inf
  want[v$a == -Inf & v$b %in% 0.5] <- Inf
  at <- v$a %in% c(-1, -2, -3, -Inf) & is.infinite(v$b)
  want[at] <- abs(v$a[at])^v$b[at]
  for (d in floats()) {
    keep <- holds(v$a, d) & holds(v$b, d)
    got <- as_array(nv_pow(nv_tensor(v$a[keep], d), nv_tensor(v$b[keep], d)))
    ulps <- if (d == "f64" || is_narrow(d)) 0 else 1
    expect_ulps(got, round_to(want[keep], d), d, ulps, paste("pow", d))
  }
})

test_that("rounding, signs and halves to even are exact", {
  halves <- c(-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5)
  for (d in floats()) {
    some <- held_of(halves, d)
    v <- c(float_values(d), some)
    x <- nv_tensor(v, d)
    for (op in names(rounding_ops)) {
      got <- nv(op)(x)
      expect_identical(type_of(got), d)
      expect_values(as_array(got), round_to(rounding_ops[[op]](v), d), paste(op, d))
    }
    # The sign of a zero is a zero of any sign.
    expect_identical(as_array(nv_sign(x)), sign(v))
    even <- c(-4, -2, -2, 0, 0, 2, 2, 4, 4)[holds(halves, d)]
    expect_identical(as_array(nv_round(nv_tensor(some, d))), round_to(even, d))
  }
})

test_that("floor division and modulus floor, as in R; the remainder truncates, as in C", {
  some <- c(-7.5, -7, -3, -2, -0.75, 0.75, 2, 3, 4, 7, 7.5)
  for (d in floats()) {
    v <- pairs_of(held_of(some, d))
    a <- nv_tensor(v$a, d)
    b <- nv_tensor(v$b, d)
    floors <- round_to(v$a %/% v$b, d)
    expect_identical(as_array(nv_floor_div(a, b)), floors, label = paste("floor_div", d))
    expect_identical(as_array(nv_mod(a, b)), round_to(v$a %% v$b, d), label = paste("mod", d))
    truncated <- round_to(v$a - v$b * trunc(v$a / v$b), d)
    expect_identical(as_array(nv_remainder(a, b)), truncated, label = paste("remainder", d))
    if (!all(holds(c(5, -5, Inf, 0), d))) next
    five <- nv_tensor(c(5, -5), d)
    expect_identical(as_array(five %% Inf), c(5, -5) %% Inf)
    expect_identical(as_array(five %/% Inf), c(5, -5) %/% Inf)
    far <- c(Inf, -Inf, Inf, -Inf, Inf, NaN, Inf)
    by <- c(2, 2, -2, 0, 0, 2, Inf)
    expect_identical(as_array(nv_tensor(far, d) %/% by), far %/% by)
    expect_identical(as_array(five %/% 0), c(Inf, -Inf))
    expect_identical(as_array(five %% 0), c(NaN, NaN))
    expect_identical(as_array(nv_tensor(c(Inf, NaN), d) %% 2), c(NaN, NaN))
  }
})

test_that("minimum and maximum propagate NaN", {
  for (d in floats()) {
    v <- pairs_of(float_values(d))
    nan <- is.nan(v$a) | is.nan(v$b)
    a <- nv_tensor(v$a, d)
    b <- nv_tensor(v$b, d)
    expect_identical(as_array(nv_min(a, b)), ifelse(nan, NaN, pmin(v$a, v$b)))
    expect_identical(as_array(nv_max(a, b)), ifelse(nan, NaN, pmax(v$a, v$b)))
    # To clamp is to take the minimum of the upper bound and the maximum of the lower one.
    low <- held(-1.5, d)
    high <- held(3, d)
    x <- float_values(d)
    got <- as_array(nv_clamp(low, nv_tensor(x, d), high))
    expect_identical(got, ifelse(is.nan(x), NaN, pmin(pmax(x, low), high)))
    if (!all(holds(c(NaN, 0, 3), d))) next
    expect_identical(as_array(nv_clamp(nv_scalar(NaN, d), nv_tensor(1, d), 2)), NaN)
    expect_identical(as_array(nv_clamp(0, nv_tensor(1, d), nv_scalar(NaN, d))), NaN)
    expect_identical(as_array(nv_clamp(3, nv_tensor(1, d), 2)), 2)
  }
})

test_that("nv_clamp() takes bounds of any shape, and what is clamped second", {
  bounds <- nv_tensor(c(0, 1, 2))
  expect_identical(as_array(nv_clamp(bounds, nv_scalar(1.5), 2)), c(1.5, 1.5, 2))
  expect_identical(as_array(jit(nv_clamp)(bounds, nv_scalar(1.5), 2)), c(1.5, 1.5, 2))
  expect_error(nv_clamp(bounds, 0, 1), "second argument", class = "joist_shape_error")
  expect_error(jit(nv_clamp)(bounds, 0, 1), "second argument", class = "joist_shape_error")
  expect_identical(as_array(jit(nv_clamp)(0, 3, 1)), 1)
})

test_that("the two-argument arc tangent knows its quadrants", {
  for (d in floats()) {
    v <- pairs_of(held_of(c(0, -0, 1, -1, 0.5, -3, Inf, -Inf), d))
    got <- as_array(nv_atan2(nv_tensor(v$a, d), nv_tensor(v$b, d)))
    want <- round_to(atan2(v$a, v$b), d)
    expect_ulps(got, want, d, 1, d)
    expect_identical(1 / got[got %in% 0], 1 / want[got %in% 0])
  }
  expect_identical(type_of(nv_atan2(nv_tensor(1L, "i8"), nv_tensor(1L, "i8"))), "f32?")
})

# ---- integers ----

test_that("integer arithmetic wraps modulo 2^n", {
  exact <- list(add = limbs_add, sub = limbs_sub, mul = limbs_mul)
  for (d in ints()) {
    v <- pairs_of(int_values(d))
    a <- int_tensor(v$a, d)
    b <- int_tensor(v$b, d)
    expect_identical(as_array(a, as = "character"), v$a)
    for (op in names(exact)) {
      want <- wrap_text(exact[[op]](limbs(v$a), limbs(v$b)), d)
      got <- nv(op)(a, b)
      expect_identical(type_of(got), d)
      expect_values(as_array(got, as = "character"), want, paste(op, d))
    }
    x <- limbs(int_values(d))
    negative <- wrap_text(limbs_negate(x), d)
    one <- int_tensor(int_values(d), d)
    expect_values(as_array(nv_negate(one), "character"), negative, paste("negate", d))
    magnitude <- ifelse(startsWith(int_values(d), "-"), negative, int_values(d))
    expect_values(as_array(nv_abs(one), "character"), magnitude, paste("abs", d))
  }
})

test_that("integer powers wrap and are right by repeated multiplication", {
  for (d in ints()) {
    base <- int_values(d)
    for (exponent in held_of(c(0, 1, 2, 3, 5, 13), d)) {
      want <- limbs(rep("1", length(base)))
      for (k in seq_len(exponent)) want <- limbs_mul(want, limbs(base))
      got <- nv_pow(int_tensor(base, d), nv_scalar(exponent, d))
      expect_values(as_array(got, "character"), wrap_text(want, d), paste("pow", d, exponent))
    }
  }
})

# Magnitudes of decimal texts in order.
is_less <- function(a, b) {
  a <- sub("^-", "", a)
  b <- sub("^-", "", b)
  nchar(a) < nchar(b) | (nchar(a) == nchar(b) & a < b)
}

test_that("integer quotient and remainder obey their definition", {
  for (d in ints()) {
    v <- pairs_of(int_values(d))
    keep <- v$b != "0"
    a <- v$a[keep]
    b <- v$b[keep]
    x <- int_tensor(a, d)
    y <- int_tensor(b, d)
    quotient <- as_array(nv_floor_div(x, y), "character")
    modulus <- as_array(nv_mod(x, y), "character")
    rest <- as_array(nv_remainder(x, y), "character")
    sum <- limbs_add(limbs_mul(limbs(quotient), limbs(b)), limbs(modulus))
    expect_values(wrap_text(sum, d), a, paste("floor_div", d))
    expect_true(all(is_less(modulus, b)), label = paste("mod", d))
    expect_true(all(modulus == "0" | startsWith(modulus, "-") == startsWith(b, "-")))
    expect_true(all(is_less(rest, b)), label = paste("remainder", d))
    expect_true(all(rest == "0" | startsWith(rest, "-") == startsWith(a, "-")))
    if (width_of(d) < 64) {
      floors <- sprintf("%.0f", as.numeric(a) %/% as.numeric(b))
      wrapped <- int_tensor(wrap_text(limbs(floors), d), d)
      expect_identical(quotient, as_array(wrapped, "character"), label = paste("floor_div", d))
      expect_identical(as.numeric(modulus), as.numeric(a) %% as.numeric(b))
    }
  }
})

test_that("integer order, sign and choice are exact at the extremes", {
  below <- function(a, b) {
    negative <- startsWith(a, "-")
    both <- startsWith(b, "-")
    ifelse(negative != both, negative, ifelse(negative, is_less(b, a), is_less(a, b)))
  }
  for (d in ints()) {
    v <- pairs_of(int_values(d))
    a <- int_tensor(v$a, d)
    b <- int_tensor(v$b, d)
    less <- below(v$a, v$b)
    equal <- v$a == v$b
    want <- list(
      eq = equal, ne = !equal, lt = less, le = less | equal, gt = !less & !equal, ge = !less
    )
    for (op in names(compare_ops)) {
      expect_identical(as_array(nv(op)(a, b)), want[[op]], label = paste(op, d))
    }
    expect_identical(as_array(nv_min(a, b), "character"), ifelse(less, v$a, v$b))
    expect_identical(as_array(nv_max(a, b), "character"), ifelse(less, v$b, v$a))
    expect_identical(
      as_array(nv_ifelse(nv_lt(a, b), a, b), "character"), ifelse(less, v$a, v$b)
    )
    texts <- int_values(d)
    sign <- ifelse(texts == "0", "0", ifelse(startsWith(texts, "-"), "-1", "1"))
    expect_identical(as_array(nv_sign(int_tensor(texts, d)), "character"), sign)
    bounds <- if (all(holds(c(2, 7), d))) c("2", "7") else c("0", int_max(d))
    clamped <- nv_clamp(as.integer(bounds[1]), int_tensor(texts, d), as.integer(bounds[2]))
    clamped <- as_array(clamped, "character")
    low <- rep(bounds[1], length(texts))
    high <- rep(bounds[2], length(texts))
    want <- ifelse(below(texts, low), low, ifelse(below(high, texts), high, texts))
    expect_identical(clamped, want)
  }
})

test_that("integers are round, finite and their own real part", {
  for (d in ints()) {
    x <- int_tensor(int_values(d), d)
    for (op in c("floor", "ceiling", "trunc", "round", "round_away", "real", "conj")) {
      expect_identical(nv(op)(x), x, label = paste(op, d))
    }
    expect_identical(bytes_of(nv_imag(x)), bytes_of(int_tensor(rep("0", length(x)), d)))
    expect_identical(as_array(nv_is_nan(x)), rep(FALSE, length(x)))
    expect_identical(as_array(nv_is_infinite(x)), rep(FALSE, length(x)))
    expect_identical(as_array(nv_is_finite(x)), rep(TRUE, length(x)))
  }
})

test_that("functions of integers are those of the ambiguous default float", {
  for (d in c("bool", ints())) {
    v <- if (d == "bool") c(TRUE, FALSE) else held_of(c(0, 1, 2, 100), d)
    for (op in names(math_ops)) {
      got <- nv(op)(nv_tensor(v, d))
      expect_identical(type_of(got), "f32?")
      want <- round_to(suppressWarnings(math_ops[[op]](v)), "f32")
      expect_ulps(as_array(got), want, "f32", 3, paste(op, d))
    }
    quotient <- nv_div(nv_tensor(v, d), nv_tensor(v, d))
    expect_identical(type_of(quotient), "f32?")
    expect_identical(as_array(quotient), v / v)
    if (is_narrow(d)) next
    # JAX has a known float of the integer's own size, from 32 bits on.
    known <- with_promotion("jax", nv_exp(nv_tensor(v, d)))
    float <- if (d %in% c("i64", "ui64")) "f64" else "f32"
    expect_identical(type_of(known), float)
    expect_ulps(as_array(known), round_to(exp(v), float), float, 1, d)
  }
})

test_that("division by zero and negative powers name the position", {
  for (d in ints()) {
    x <- nv_tensor(held(1:4, d), d)
    one <- if (is_signed(d)) -1 else 1
    y <- nv_tensor(c(one, one, 0, 0), d)
    for (op in c("floor_div", "mod", "remainder")) {
      expect_error(nv(op)(x, y), "position 3", class = "joist_value_error")
      expect_error(nv(op)(x, 0L), "position 1", class = "joist_value_error")
      expect_identical(length(nv(op)(nv_tensor(integer(), d), 0L)), 0L)
    }
    if (is_signed(d)) {
      expect_error(nv_pow(x, nv_tensor(c(0, 0, 0, -1), d)), "position 4",
        class = "joist_value_error"
      )
    }
  }
  n <- 100000L
  late <- nv_ifelse(nv_eq(nv_iota(1, "i32", n), 77777L), 0L, nv_fill(3L, n, "i32"))
  expect_error(nv_iota(1, "i32", n) %/% late, "position 77777", class = "joist_value_error")
})

# ---- bits ----

test_that("bitwise operations are base R's", {
  patterns <- c(0, 1, 2, 3, 85, 170, 127, 128, 255, 43690, 65535, 2147483647)
  for (d in ints()) {
    width <- min(width_of(d), 32)
    v <- pairs_of(as.integer(unique(patterns %% 2^min(width, 31))))
    unsigned <- sub("^i", "ui", d)
    as_dtype_bits <- function(x) {
      if (width_of(d) == 64) nv_tensor(x, d) else nv_bitcast_convert(nv_tensor(x, unsigned), d)
    }
    a <- as_dtype_bits(v$a)
    b <- as_dtype_bits(v$b)
    for (op in names(bitwise_ops)) {
      want <- as_dtype_bits(bitwise_ops[[op]](v$a, v$b))
      expect_identical(nv(op)(a, b), want, label = paste(op, d))
    }
    x <- int_tensor(int_values(d), d)
    complement <- wrap_text(limbs_sub(limbs(rep("-1", length(x))), limbs(int_values(d))), d)
    expect_values(as_array(nv_bitwise_not(x), "character"), complement, paste("not", d))
  }
  bits <- pairs_of(c(TRUE, FALSE))
  a <- nv_tensor(bits$a)
  b <- nv_tensor(bits$b)
  expect_identical(as_array(nv_bitwise_and(a, b)), bits$a & bits$b)
  expect_identical(as_array(nv_bitwise_or(a, b)), bits$a | bits$b)
  expect_identical(as_array(nv_bitwise_xor(a, b)), xor(bits$a, bits$b))
  expect_identical(as_array(nv_bitwise_not(a)), !bits$a)
})

# The bits of integers given as text, lowest first, one column each.
bit_matrix <- function(text, width) {
  x <- limbs(text)
  out <- matrix(0, width, length(text))
  for (k in seq_len(width)) {
    limb <- (k - 1) %/% 16 + 1
    out[k, ] <- x[limb, ] %/% 2^((k - 1) %% 16) %% 2
  }
  out
}

bits_text <- function(bits, dtype) {
  x <- matrix(0, 4, ncol(bits))
  for (k in seq_len(nrow(bits))) {
    limb <- (k - 1) %/% 16 + 1
    x[limb, ] <- x[limb, ] + bits[k, ] * 2^((k - 1) %% 16)
  }
  wrap_text(x, dtype)
}

test_that("shifts move bits, at and beyond the width too", {
  for (d in ints()) {
    width <- width_of(d)
    text <- int_values(d)
    x <- int_tensor(text, d)
    bits <- bit_matrix(text, width)
    amounts <- c(0, 1, 3, width - 1, width, width + 1, 127)
    if (is_signed(d)) amounts <- c(amounts, -1)
    for (amount in held_of(amounts, d)) {
      by <- nv_scalar(amount, d)
      n <- if (amount < 0) width else min(amount, width)
      shift <- function(fill, left) {
        new <- rbind(fill)[rep(1, n), , drop = FALSE]
        kept <- if (left) seq_len(width - n) else seq_len(width)[-seq_len(n)]
        if (n == 0) kept <- seq_len(width)
        bits_text(if (left) rbind(new, bits[kept, ]) else rbind(bits[kept, ], new), d)
      }
      label <- paste(d, "by", amount)
      zero <- rep(0, ncol(bits))
      sign <- if (is_signed(d)) bits[width, ] else zero
      expect_values(as_array(nv_shift_left(x, by), "character"), shift(zero, TRUE), label)
      expect_values(
        as_array(nv_shift_right_logical(x, by), "character"), shift(zero, FALSE), label
      )
      expect_values(
        as_array(nv_shift_right_arithmetic(x, by), "character"), shift(sign, FALSE), label
      )
    }
    counts <- wrap_text(limbs(as.character(colSums(bits))), d)
    expect_identical(as_array(nv_popcnt(x), "character"), counts)
    expect_identical(type_of(nv_popcnt(x)), d)
  }
})

# ---- bool ----

test_that("bool adds by or, multiplies by and, and cannot be subtracted", {
  bits <- pairs_of(c(TRUE, FALSE))
  a <- nv_tensor(bits$a)
  b <- nv_tensor(bits$b)
  expect_identical(as_array(a + b), bits$a | bits$b)
  expect_identical(as_array(a * b), bits$a & bits$b)
  expect_identical(as_array(nv_min(a, b)), bits$a & bits$b)
  expect_identical(as_array(nv_max(a, b)), bits$a | bits$b)
  expect_identical(type_of(a + b), "bool")
  for (op in names(compare_ops)) {
    expect_identical(as_array(nv(op)(a, b)), compare_ops[[op]](bits$a, bits$b), label = op)
  }
  expect_error(a - b, "bool", class = "joist_dtype_error")
  expect_error(-a, "bool", class = "joist_dtype_error")
  expect_identical(as_array(nv_clamp(FALSE, a, TRUE)), bits$a)
  expect_identical(as_array(nv_abs(a)), bits$a)
})

test_that("logical operations read any dtype as != 0", {
  for (d in dtypes()) {
    v <- pairs_of(sample_values(d, 4))
    a <- nv_tensor(v$a, d)
    b <- nv_tensor(v$b, d)
    for (op in names(logical_ops)) {
      got <- nv(op)(a, b)
      expect_identical(type_of(got), "bool")
      expect_identical(as_array(got), logical_ops[[op]](v$a != 0, v$b != 0), label = paste(op, d))
    }
    expect_identical(as_array(nv_not(a)), v$a == 0)
    expect_identical(as_array(nv_ifelse(a, 1L, 2L)), ifelse(v$a != 0, 1L, 2L))
  }
})

# ---- complex ----

test_that("complex arithmetic is base R's", {
  for (d in complexes()) {
    v <- pairs_of(complex_values(d))
    a <- nv_tensor(v$a, d)
    b <- nv_tensor(v$b, d)
    tolerance <- complex_tolerance(d, 2e-6, 1e-14)
    for (op in names(arithmetic_ops)) {
      keep <- op != "div" | v$b != 0
      got <- as_array(nv(op)(a, b))
      want <- arithmetic_ops[[op]](v$a, v$b)
      off <- Mod(got - want)[keep] / pmax(Mod(want), 1e-3)[keep]
      expect_lt(max(off), tolerance, label = paste(op, d))
    }
    if (d == "c128") {
      expect_identical(as_array(a + b), v$a + v$b)
      expect_identical(as_array(a * b), v$a * v$b)
    }
    keep <- v$a != 0 & Mod(v$a^v$b) < float_max(part_of(d))
    got <- as_array(nv_pow(a, b))[keep]
    want <- (v$a^v$b)[keep]
    expect_lt(max(Mod(got - want) / pmax(Mod(want), 1e-3)), 40 * tolerance, label = paste("pow", d))
    expect_identical(as_array(nv_eq(a, b)), v$a == v$b)
    expect_identical(as_array(nv_ne(a, b)), v$a != v$b)
    expect_identical(as_array(nv_negate(a)), -v$a)
    expect_identical(as_array(nv_ifelse(nv_eq(a, b), a, b)), v$b)
  }
})

test_that("complex functions and parts are base R's", {
  in_r <- setdiff(names(math_ops), c("log2", "log10", "log1p", "expm1", "acosh"))
  for (d in complexes()) {
    v <- complex_values(d)
    v <- v[v != 0 & Mod(v) != 1 & Im(v) != 0]
    x <- nv_tensor(v, d)
    tolerance <- complex_tolerance(d, 1e-5, 1e-13)
    for (op in in_r) {
      want <- math_ops[[op]](v)
      off <- max(Mod(as_array(nv(op)(x)) - want) / pmax(Mod(want), 1))
      expect_lt(off, tolerance, label = paste(op, d))
    }
    # R's acosh() does not always give the principal value.
    back <- as_array(nv_acosh(x))
    expect_lt(max(Mod(cosh(back) - v) / Mod(v)), tolerance)
    expect_true(all(Re(back) >= 0))
    logs <- list(log2 = log(v) / log(2), log10 = log(v) / log(10))
    for (op in names(logs)) {
      expect_lt(max(Mod(as_array(nv(op)(x)) - logs[[op]])), tolerance, label = paste(op, d))
    }
    for (op in names(complex_parts)) {
      got <- nv(op)(x)
      expect_identical(type_of(got), if (op == "conj") d else part_of(d))
      want <- complex_parts[[op]](v)
      off <- max(Mod(as_array(got) - want) / pmax(Mod(want), 1e-3))
      expect_lt(off, tolerance, label = paste(op, d))
    }
    expect_identical(as_array(nv_real(x)), Re(v))
    expect_identical(as_array(nv_imag(x)), Im(v))
    expect_identical(as_array(nv_conj(x)), Conj(v))
    unit <- as_array(nv_sign(nv_tensor(c(v, 0i), d)))
    expect_lt(max(Mod(unit - c(v / Mod(v), 0i))), tolerance)
  }
})

test_that("expm1(), log1p() and round() of complex numbers keep small parts", {
  sizes <- c(1e-12, 1e-5, 0.3, 0.9, 3)
  v <- as.vector(outer(sizes, exp(1i * c(0.1, 1, 2, 3, -0.5, -2.5))))
  # By their series, where the sum and the difference with 1 would lose the digits.
  small <- Mod(v) <= 1e-5
  for (d in c("c64", "c128")) {
    x <- nv_tensor(v, d)
    v <- as_array(x)
    tolerance <- if (d == "c64") 1e-6 else 1e-14
    want <- ifelse(small, v + v^2 / 2 + v^3 / 6, exp(v) - 1)
    expect_lt(max(Mod(as_array(nv_expm1(x)) - want) / Mod(want)), tolerance)
    want <- ifelse(small, v - v^2 / 2 + v^3 / 3, log(1 + v))
    expect_lt(max(Mod(as_array(nv_log1p(x)) - want) / Mod(want)), tolerance)
    expect_identical(as_array(expm1(x)), as_array(nv_expm1(x)))
    expect_identical(as_array(round(nv_tensor(c(0.5 - 1.5i, 2.5 + 3.4i), d))), c(0 - 2i, 2 + 3i))
    expect_identical(as_array(jit(log1p)(x)), as_array(nv_log1p(x)))
    # As the real functions on the real line, with their poles.
    real <- c(-1, -0.25, 0, 0.25, 7)
    line <- nv_tensor(complex(real = real, imaginary = 0), d)
    expect_equal(Re(as_array(nv_log1p(line))), log1p(real), tolerance = tolerance)
    expect_equal(Re(as_array(nv_expm1(line))), expm1(real), tolerance = tolerance)
    expect_identical(Im(as_array(nv_expm1(line))), numeric(5))
  }
})

test_that("log2() and log10() of complex 0 and Inf have no NaN", {
  v <- complex(real = c(0, Inf, -Inf, 1, 0), imaginary = c(0, 0, 0, Inf, -Inf))
  angle <- c(0, 0, pi, pi / 2, -pi / 2)
  for (d in complexes()) {
    for (base in c(2, 10)) {
      got <- as_array(nv(paste0("log", base))(nv_tensor(v, d)))
      expect_identical(Re(got), c(-Inf, Inf, Inf, Inf, Inf))
      expect_equal(Im(got), angle / log(base), tolerance = complex_tolerance(d, 1e-6, 1e-15))
    }
  }
})

# IEEE 754-2019: maximum(0, -0) is 0 and minimum(0, -0) is -0.
test_that("of 0 and -0 the first is the larger one, in any order and anywhere", {
  sign_of <- function(x) 1 / as_array(nv_convert(x, "f64"))
  for (d in Filter(has_minus_zero, floats())) {
    for (n in c(1, 7, 300)) {
      plus <- nv_fill(0, n, d)
      minus <- nv_fill(-0, n, d)
      for (f in list(nv_max, jit(nv_max))) {
        expect_true(all(sign_of(f(plus, minus)) == Inf & sign_of(f(minus, plus)) == Inf))
        expect_true(all(sign_of(f(minus, minus)) == -Inf))
      }
      for (f in list(nv_min, jit(nv_min))) {
        expect_true(all(sign_of(f(plus, minus)) == -Inf & sign_of(f(minus, plus)) == -Inf))
        expect_true(all(sign_of(f(plus, plus)) == Inf))
      }
      for (x in list(nv_concatenate(plus, minus), nv_concatenate(minus, plus))) {
        expect_identical(sign_of(max(x)), Inf)
        expect_identical(sign_of(min(x)), -Inf)
        expect_identical(sign_of(nv_cummax(x))[2 * n], Inf)
        expect_identical(sign_of(nv_cummin(x))[2 * n], -Inf)
        rows <- nv_reshape(x, c(n, 2))
        expect_true(all(sign_of(nv_reduce_max(rows, 2)) == Inf))
        expect_true(all(sign_of(nv_reduce_min(rows, 2)) == -Inf))
      }
    }
  }
})

test_that("moduli of c128 neither overflow nor underflow", {
  power <- c(-1074, -1000, -600, -30, 0, 30, 600, 1000, 1020)
  z <- complex(real = 3 * 2^power, imaginary = -4 * 2^power)
  expect_identical(as_array(nv_abs(nv_tensor(z, "c128"))), 5 * 2^power)
  wild <- complex(
    real = c(Inf, -Inf, NaN, NaN, 1, NaN), imaginary = c(NaN, 1, Inf, -Inf, NaN, NaN)
  )
  want <- c(Inf, Inf, Inf, Inf, NaN, NaN)
  for (d in complexes()) expect_identical(as_array(nv_abs(nv_tensor(wild, d))), want)
})

test_that("parts of real numbers are theirs", {
  for (d in floats()) {
    v <- held_of(c(-2, 0, 4, Inf, -Inf, NaN), d)
    x <- nv_tensor(v, d)
    expect_identical(as_array(nv_real(x)), v)
    expect_identical(as_array(nv_conj(x)), v)
    expect_identical(as_array(nv_imag(x)), round_to(0 * seq_along(v), d))
    expect_ulps(as_array(nv_arg(x)), round_to(ifelse(is.nan(v), NaN, ifelse(v < 0, pi, 0)), d), d,
      0)
  }
  angle <- nv_arg(nv_tensor(c(-1L, 1L), "i8"))
  expect_identical(type_of(angle), "f32?")
  expect_identical(as_array(angle), c(round_to(pi, "f32"), 0))
})

# ---- predicates and comparison ----

test_that("floats compare like doubles; NaN is equal to nothing", {
  for (d in floats()) {
    v <- pairs_of(float_values(d))
    a <- nv_tensor(v$a, d)
    b <- nv_tensor(v$b, d)
    nan <- is.nan(v$a) | is.nan(v$b)
    for (op in names(compare_ops)) {
      want <- compare_ops[[op]](v$a, v$b)
      want[nan] <- op == "ne"
      expect_identical(as_array(nv(op)(a, b)), want, label = paste(op, d))
    }
    x <- nv_tensor(float_values(d), d)
    for (op in names(predicate_ops)) {
      expect_identical(as_array(nv(op)(x)), predicate_ops[[op]](float_values(d)))
      expect_identical(type_of(nv(op)(x)), "bool")
    }
  }
  for (d in complexes()) {
    parts <- pairs_of(c(1, NaN, Inf, -Inf, 0))
    x <- nv_tensor(complex(real = parts$a, imaginary = parts$b), d)
    expect_identical(as_array(nv_is_nan(x)), is.nan(parts$a) | is.nan(parts$b))
    expect_identical(as_array(nv_is_finite(x)), is.finite(parts$a) & is.finite(parts$b))
    expect_identical(as_array(nv_is_infinite(x)), is.infinite(parts$a) | is.infinite(parts$b))
  }
})

test_that("comparison with a literal out of range is mathematically right", {
  for (d in ints()) {
    bounds <- c(as.numeric(int_min(d)), as.numeric(int_max(d)))
    x <- int_tensor(c(int_min(d), "0", int_max(d), "0"), d)
    literals <- c(-2147483647L, -70000L, -300L, -129L, -1L, 256L, 300L, 70000L, 2147483647L)
    outside <- literals[literals < bounds[1] | literals > bounds[2]]
    for (literal in outside) {
      above <- literal > bounds[2]
      want <- list(eq = FALSE, ne = TRUE, lt = above, le = above, gt = !above, ge = !above)
      for (op in names(compare_ops)) {
        expect_identical(as_array(nv(op)(x, literal)), rep(want[[op]], 4))
        turned <- c(eq = "eq", ne = "ne", lt = "gt", le = "ge", gt = "lt", ge = "le")[[op]]
        expect_identical(as_array(nv(turned)(literal, x)), rep(want[[op]], 4))
      }
    }
  }
  for (d in setdiff(floats(), "f64")) {
    x <- nv_tensor(held(c(-float_max(d), 0, float_max(d)), d), d)
    expect_identical(as_array(x < 1e300), rep(TRUE, 3))
    expect_identical(as_array(x > -1e300), rep(TRUE, 3))
    expect_identical(as_array(x == 1e300), rep(FALSE, 3))
    special <- round_to(c(Inf, NaN), d)
    y <- nv_tensor(special, d)
    expect_identical(as_array(y < 1e300), !is.nan(special) & special < 1e300)
    expect_identical(as_array(y > 1e300), !is.nan(special) & special > 1e300)
    expect_identical(as_array(y != 1e300), c(TRUE, TRUE))
  }
  mixed <- nv_tensor(c(1L, 2L, 255L), "ui8")
  expect_identical(as_array(mixed == c(1L, 300L, -1L)), c(TRUE, FALSE, FALSE))
  expect_identical(as_array(mixed < c(-5L, 300L, 255L)), c(FALSE, TRUE, FALSE))
})

# ---- conversion ----

test_that("floats convert to integers by truncation and saturation", {
  v <- c(-1e30, -40000.7, -129, -128.9, -1.5, -0.5, 0, 0.5, 1.9, 127.9, 300, 70000, 1e30)
  for (from in floats()) {
    exact <- round_to(c(v, Inf, -Inf, NaN), from)
    x <- nv_tensor(exact, from)
    for (to in small_ints()) {
      low <- as.numeric(int_min(to))
      high <- as.numeric(int_max(to))
      want <- ifelse(is.nan(exact), 0, pmin(pmax(trunc(exact), low), high)) + 0
      expect_identical(as_array(nv_convert(x, to), "double"), want, label = paste(from, to))
    }
    for (to in setdiff(ints(), small_ints())) {
      some <- c(Inf, -Inf, NaN, -1.5)
      want <- c(int_max(to), int_min(to), "0", if (is_signed(to)) "-1" else "0")
      got <- nv_convert(nv_tensor(held_of(some, from), from), to)
      want <- want[holds(some, from)]
      expect_identical(as_array(got, "character"), want, label = paste(from, to))
    }
  }
  big <- nv_tensor(c(2^62, -2^62, 2^63, -2^63, 2^64), "f64")
  expect_identical(as_array(nv_convert(big, "i64"), "character"), c(
    "4611686018427387904", "-4611686018427387904", int_max("i64"), int_min("i64"), int_max("i64")
  ))
  expect_identical(as_array(nv_convert(big, "ui64"), "character"), c(
    "4611686018427387904", "0", "9223372036854775808", "0", int_max("ui64")
  ))
})

test_that("integers convert to integers by wrapping, and to floats by rounding", {
  for (from in ints()) {
    text <- int_values(from)
    x <- int_tensor(text, from)
    for (to in ints()) {
      expect_values(
        as_array(nv_convert(x, to), "character"), wrap_text(limbs(text), to), paste(from, to)
      )
    }
    for (to in floats()) {
      if (width_of(from) == 64 && to != "f64") next
      want <- round_to(as.numeric(text), to)
      expect_identical(as_array(nv_convert(x, to)), want, label = paste(from, to))
    }
    expect_identical(as_array(nv_convert(x, "bool")), text != "0")
  }
  # 2^24 + 1, 2^40 + 1 halfway between two floats, and one more above it.
  odd <- int_tensor(c("16777217", "16777219", "9007199791611905", "9007199254740993"), "i64")
  expect_identical(
    as_array(nv_convert(odd, "f32")), c(16777216, 16777220, 2^53 + 2^30, 2^53)
  )
  expect_identical(as_array(nv_convert(odd, "f64"))[4], 2^53)
})

test_that("conversion between the other kinds", {
  for (from in floats()) {
    v <- float_values(from)
    x <- nv_tensor(v, from)
    for (to in floats()) {
      expect_values(any_zero(as_array(nv_convert(x, to)), v, to), round_to(v, to), paste(from, to))
    }
    expect_identical(as_array(nv_convert(x, "bool")), is.nan(v) | v != 0)
    for (to in complexes()) {
      got <- as_array(nv_convert(x, to))
      expect_identical(Re(got), round_to(v, part_of(to)), label = paste(from, to))
      expect_identical(Im(got), rep(0, length(v)))
    }
  }
  for (to in dtypes()) {
    is_true <- c(TRUE, if (has_zero(to)) FALSE else NA)
    expect_identical(as_array(nv_convert(nv_tensor(c(TRUE, FALSE)), to)) != 0, is_true)
    got <- nv_convert(sample_tensor("i8"), to, ambiguous = TRUE)
    expect_identical(type_of(got), paste0(to, "?"))
    expect_identical(type_of(nv_convert(sample_tensor("i8"), to)), to)
  }
  for (from in complexes()) {
    expect_identical(as_array(nv_convert(nv_tensor(c(1.7 + 2i, -3i), from), "i8")), c(1L, 0L))
    expect_identical(as_array(nv_convert(nv_tensor(c(0.5 + 2i, -3i), from), "f64")), c(0.5, 0))
    expect_identical(as_array(nv_convert(nv_tensor(c(0i, -3i), from), "bool")), c(FALSE, TRUE))
  }
})

test_that("a bitcast keeps the bits", {
  patterns <- list(
    f16 = c(
      "1" = 15360, "-2" = 49152, "65504" = 31743, "Inf" = 31744, "5.9604644775390625e-08" = 1
    ),
    bf16 = c("1" = 16256, "-2" = 49152, "Inf" = 32640),
    f32 = c("1" = 1065353216, "-2" = 3221225472, "Inf" = 2139095040)
  )
  for (d in names(patterns)) {
    unsigned <- paste0("ui", width_of(d))
    x <- nv_tensor(as.numeric(names(patterns[[d]])), d)
    bits <- nv_bitcast_convert(x, unsigned)
    expect_identical(as_array(bits, "double"), unname(patterns[[d]]), label = d)
    expect_identical(nv_bitcast_convert(bits, d), x)
  }
  expect_identical(as_array(nv_bitcast_convert(nv_scalar(-0, "f64"), "ui64"), "character"),
    "9223372036854775808"
  )
  expect_identical(as_array(nv_bitcast_convert(nv_scalar(255, "ui8"), "i8")), -1L)
  # Fewer bits than 8 are the lowest ones of a byte, which are also those of a ui8.
  low_bits <- function(x, d) {
    bytes <- bytes_of(x)
    if (width_of(d) < 8) bytes & as.raw(2^width_of(d) - 1) else bytes
  }
  for (from in dtypes()) {
    for (to in dtypes()) {
      if (from == to) next
      codes <- "ui8" %in% c(from, to) && storage_of(from) == storage_of(to)
      fits <- (codes || width_of(from) == width_of(to)) && !"bool" %in% c(from, to)
      if (fits) {
        got <- nv_bitcast_convert(sample_tensor(from), to)
        fewer <- if (width_of(from) < width_of(to)) from else to
        expect_identical(low_bits(got, fewer), low_bits(sample_tensor(from), fewer))
        if (to == "ui8") expect_true(all(as_array(got) < 2^width_of(from)))
        expect_identical(type_of(got), to)
      } else {
        expect_error(nv_bitcast_convert(sample_tensor(from), to), class = "joist_dtype_error")
      }
    }
  }
})

# ---- operations that a dtype lacks ----

test_that("an operation a dtype does not have is an error with class", {
  never <- list(
    bool = c("sub", "negate", "sign", "pow", "floor_div", "round_div", "mod", "remainder",
      "shift_left", "shift_right_arithmetic", "shift_right_logical", "popcnt"),
    float = c("round_div", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "shift_left",
      "shift_right_arithmetic", "shift_right_logical", "popcnt"),
    complex = c("lt", "le", "gt", "ge", "min", "max", "floor_div", "round_div", "mod", "remainder",
      "atan2", "clamp", "cbrt", names(special_ops), "floor", "ceiling", "trunc", "round_away",
      "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "shift_left",
      "shift_right_arithmetic", "shift_right_logical", "popcnt")
  )
  elementwise <- op_table[op_table$family == "elementwise", ]
  moved <- c("convert", "bitcast_convert", "broadcast_to")
  elementwise <- elementwise[!elementwise$name %in% moved, ]
  for (d in dtypes()) {
    # Ones divide and shift everywhere.
    x <- nv_tensor(held(c(1, 1), d), d)
    for (row in seq_len(nrow(elementwise))) {
      op <- elementwise$name[row]
      operands <- rep(list(x), elementwise$least[row])
      if (op %in% never[[kind_of(d)]]) {
        error <- expect_error(do.call(nv(op), operands), class = "joist_dtype_error")
        expect_match(conditionMessage(error), d, fixed = TRUE)
      } else if (d == "int1" && op == "pow") {
        expect_error(nv_pow(x, x), "negative power", class = "joist_value_error")
      } else {
        expect_s3_class(do.call(nv(op), operands), "nv_tensor")
      }
    }
  }
})

# ---- shapes ----

# Base R: every extent of 1 is repeated by indexing.
broadcast_in_r <- function(x, extents) {
  index <- Map(function(have, want) rep_len(seq_len(have), want), dim(x), extents)
  array(do.call(`[`, c(list(x), index, list(drop = FALSE))), extents)
}

test_that("operands broadcast where an extent is 1", {
  for (rank in 1:4) {
    full <- c(3L, 2L, 4L, 2L)[seq_len(rank)]
    masks <- expand.grid(rep(list(c(TRUE, FALSE)), rank))
    shapes <- lapply(seq_len(nrow(masks)), function(k) ifelse(unlist(masks[k, ]), full, 1L))
    for (left in shapes) {
      for (right in shapes) {
        common <- pmax(left, right)
        a <- array(as.numeric(seq_len(prod(left))), left)
        b <- array(as.numeric(seq_len(prod(right))) * 10, right)
        got <- nv_sub(nv_tensor(a, "f64", left), nv_tensor(b, "f64", right))
        want <- broadcast_in_r(a, common) - broadcast_in_r(b, common)
        same <- identical(shape(got), as.integer(common)) &&
          identical(as.vector(as_array(got)), as.vector(want))
        if (!same) fail(paste("shapes", deparse1(left), "and", deparse1(right)))
      }
    }
    expect_identical(as_array(nv_broadcast_to(nv_scalar(7, "i8"), full), "double"),
      if (rank == 1) rep(7, 3) else array(7, full)
    )
  }
})

test_that("scalars fit every shape, and zero extents stay", {
  x <- nv_tensor(matrix(1:6, 2), "i16")
  expect_identical(as_array(nv_scalar(2L, "i16") * x), matrix(2L * 1:6, 2))
  expect_identical(as_array(x - 1L), matrix(0:5, 2))
  for (d in dtypes()) {
    none <- nv_tensor(sample_values(d, 0), d, shape = c(0, 3))
    expect_identical(shape(nv_add(none, sample_tensor(d, 3, shape = c(1, 3)))), c(0L, 3L))
    expect_identical(shape(nv_add(none, nv_scalar(sample_values(d, 1), d))), c(0L, 3L))
    expect_identical(shape(nv_eq(none, none)), c(0L, 3L))
    expect_identical(length(none), 0L)
  }
  empty <- nv_tensor(numeric(), "f64", shape = c(0, 1))
  expect_identical(shape(empty + nv_tensor(1:3, "f64", shape = c(1, 3))), c(0L, 3L))
  expect_identical(shape(exp(empty)), c(0L, 1L))
})

test_that("three operands broadcast together", {
  low <- matrix(c(0, 2), 2, 1)
  x <- matrix(as.numeric(1:6), 2)
  high <- matrix(c(3, 4, 5), 1)
  got <- nv_clamp(nv_tensor(low), nv_tensor(x), nv_tensor(high))
  want <- pmin(pmax(x, low[, c(1, 1, 1)]), high[c(1, 1), ])
  expect_identical(as_array(got), matrix(want, 2))
  chosen <- nv_ifelse(nv_tensor(matrix(c(TRUE, FALSE), 2, 1)), nv_tensor(x), nv_tensor(high))
  expect_identical(as_array(chosen), rbind(x[1, ], high[1, ]))
})

test_that("large tensors are computed like small ones, whatever the tiles", {
  n <- 300001L
  v <- as.numeric(seq_len(n) %% 1000L)
  x <- nv_tensor(v, "f32")
  y <- nv_tensor(rev(v), "i16")
  expect_identical(as_array(x + y), v + rev(v))
  columns <- nv_tensor(v, "f32", shape = c(1, n)) * nv_tensor(1:3, "f32", shape = c(3, 1))
  expect_identical(as_array(columns), outer(1:3, v))
  rows <- nv_tensor(v, "f32", shape = c(n, 1)) - nv_tensor(1:3, "f32", shape = c(1, 3))
  expect_identical(as_array(rows), outer(v, 1:3, `-`))
})

test_that("error, gamma and half-turn functions are those of base R", {
  v <- c(seq(-5.45, 9.5, by = 0.1), 1e-10, -1e-10, 20.5, 50, 1.4616321449683622, 170.6)
  for (name in names(special_ops)) {
    want <- suppressWarnings(special_ops[[name]](v))
    expect_equal(as_array(nv(name)(nv_tensor(v, "f64"))), want, tolerance = 1e-12, label = name)
    for (d in c("f32", "f16", "bf16")) {
      x <- nv_tensor(v, d)
      y <- as_array(nv(name)(x))
      exact <- suppressWarnings(special_ops[[name]](as_array(x)))
      ulp <- 2^-c(f32 = 23, f16 = 10, bf16 = 7)[[d]]
      within <- abs(y - exact) <= ulp * abs(exact) | abs(exact) > 3e38 | abs(exact) < 1e-37 |
        d == "f16" & (abs(exact) > 65000 | abs(exact) < 1e-4)
      expect_true(all(within, na.rm = TRUE), label = paste(name, d))
      expect_identical(is.nan(y), is.nan(exact))
      expect_identical(type_of(nv(name)(x)), d)
    }
    expect_identical(type_of(nv(name)(nv_tensor(1:3, "i16"))), type_of(sqrt(nv_tensor(1:3, "i16"))))
    expect_error(nv(name)(nv_tensor(1i)), class = "joist_dtype_error")
  }
  x <- nv_tensor(c(0, -1, -2, NaN, Inf), "f64")
  expect_identical(as_array(gamma(x)), c(NaN, NaN, NaN, NaN, Inf))
  expect_identical(as_array(lgamma(x)), c(Inf, Inf, Inf, NaN, Inf))
  expect_identical(as_array(digamma(x)), c(NaN, NaN, NaN, NaN, Inf))
  expect_identical(as_array(gamma(nv_tensor(1:20, "f64"))), factorial(0:19))
  expect_identical(as_array(nv_erfc(nv_tensor(c(-Inf, 0, Inf), "f64"))), c(2, 1, 0))
  for (name in c("gamma", "lgamma", "digamma")) {
    f <- get(name, baseenv())
    expect_identical(f(nv_tensor(3.5)), nv(name)(nv_tensor(3.5)))
  }
  program <- capture.output(print(program(function(x) gamma(x) + nv_erf(x), nv_aval("f32", 2L))))
  expect_length(grep("(gamma|erf)\\(%1\\)", program), 2L)
})

test_that("sines of whole numbers and halves of pi are exact, of any size", {
  v <- c(0, 0.5, 1, 1.5, 2, 2.5, 1e6, 1e6 + 0.5, 1e6 + 1, 2^52 - 0.5, 2^52 + 1, 2^53, 2^60, 1e300)
  v <- c(v, -v)
  x <- nv_tensor(v, "f64")
  expect_equal(as_array(sinpi(x)), suppressWarnings(sinpi(v)), tolerance = 0)
  expect_equal(as_array(cospi(x)), suppressWarnings(cospi(v)), tolerance = 0)
  halves <- suppressWarnings(v %% 1 == 0.5)
  expect_identical(as_array(tanpi(x)), ifelse(halves, NaN, suppressWarnings(tanpi(v))))
  quarters <- nv_tensor(c(0.25, 1.25, -0.25, 1e9 + 0.75), "f64")
  expect_identical(as_array(nv_tanpi(quarters)), c(1, 1, -1, -1))
  # Exact arguments, where pi times them is rounded: 1/6 is not one.
  sixths <- nv_tensor(c(1, 5, 7, 11) / 6, "f64")
  expect_ulps(as_array(nv_sinpi(sixths)), c(1, 1, -1, -1) / 2, "f64", 4)
  zeros <- as_array(nv_sinpi(nv_tensor(c(0, -0, 3, -3), "f64")))
  expect_identical(1 / zeros, c(Inf, -Inf, Inf, -Inf))
  expect_identical(as_array(nv_cospi(nv_tensor(c(Inf, -Inf, NaN)))), c(NaN, NaN, NaN))
  for (d in setdiff(dtypes(), complexes())) {
    x <- nv_convert(nv_tensor(held(c(0, 1, 3), d)), d)
    expect_identical(type_of(nv_sinpi(x)), type_of(nv_sin(x)))
    to <- if (d %in% floats()) d else "f32"
    expect_identical(as_array(nv_cospi(x)), round_to(cospi(as.double(x)), to))
    expect_identical(as_array(nv_tanpi(x)), round_to(c(0, 0, 0), to))
  }
  for (d in c("f32", "f16", "bf16")) {
    x <- nv_tensor(seq(-4, 4, by = 1 / 16), d)
    expect_identical(as_array(nv_sinpi(x)), round_to(sinpi(as.double(x)), d))
    expect_identical(as_array(nv_cospi(x)), round_to(cospi(as.double(x)), d))
  }
})

test_that("NA_real_ stays NA in f64, and x^0 and 1^x are 1, as in base R", {
  unary <- c(
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceiling", "cos", "cosh",
    "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "logistic", "negate", "round",
    "round_away",
    "rsqrt", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "erf", "erfc", "gamma",
    "lgamma", "digamma", "sinpi", "cospi", "tanpi"
  )
  is_missing <- function(x) is.na(x) & !is.nan(x)
  for (n in c(1, 3, 8, 17)) {
    na <- nv_tensor(rep(NA_real_, n), "f64")
    for (name in unary) {
      f <- nv(name)
      expect_true(all(is_missing(as_array(f(na)))), info = name)
      expect_true(all(is.nan(as_array(f(nv_fill(NaN, n, "f64"))))), info = name)
    }
    binary <- c(
      "add", "sub", "mul", "div", "mod", "remainder", "floor_div", "min", "max", "atan2"
    )
    for (name in binary) {
      f <- nv(name)
      expect_true(all(is_missing(as_array(f(na, 2.5)))), info = name)
    }
    for (y in c(-1, 0, 0.5, 1, 2, Inf)) {
      expect_identical(as_array(na^y), rep(NA_real_, n)^y, info = y)
      expect_identical(as_array(nv_fill(y, n, "f64")^NA_real_), rep(y, n)^NA_real_, info = y)
    }
    # Base R leaves it to the C library which of the two comes out.
    expect_true(all(is_missing(as_array(na^NaN))))
    expect_true(all(is_missing(as_array(nv_fill(NaN, n, "f64")^NA_real_))))
  }
  expect_true(is_missing(as_array(nv_median(nv_tensor(c(2, NA, 1), "f64")))))
  expect_true(is.nan(as_array(nv_median(nv_tensor(c(2, NaN, 1), "f64")))))
})

test_that("a message says which dtypes an operation on bits takes", {
  calls <- list(
    nv_bitwise_not, nv_popcnt, function(x) bitwAnd(x, 1L), function(x) bitwShiftL(x, 1L)
  )
  for (d in c("f16", "bf16", "f32", "f64")) {
    for (f in calls) {
      expect_error(
        f(nv_tensor(c(1, 2), d)), "takes integers, so call nv_convert() first",
        fixed = TRUE, class = "joist_dtype_error"
      )
    }
  }
})

test_that("the operand of nv_clamp() in first place is an error", {
  x <- nv_tensor(matrix(c(-1, 0.5, 2, 3), 2))
  both <- list(function(...) nv_clamp(...), jit(nv_clamp))
  for (clamp in both) {
    expect_error(clamp(x, 0, 1), "second argument", class = "joist_shape_error")
    expect_error(clamp(x, 0, nv_scalar(1)), "second argument", class = "joist_shape_error")
    # A tensor of rank 0 may well be clamped between others; here it makes no difference.
    expect_identical(clamp(x, nv_scalar(0), nv_scalar(1)), clamp(nv_scalar(0), x, nv_scalar(1)))
    expect_identical(as_array(clamp(0, x, 1)), matrix(c(0, 0.5, 1, 1), 2))
    expect_identical(clamp(nv_scalar(0), x, nv_fill(1, c(2, 2))), clamp(0, x, 1))
    expect_identical(as_array(clamp(0, 2, 1)), 1)
  }
  expect_error(nv_clamp(nv_scalar(5), 0, 1), "second", class = "joist_shape_error")
})
