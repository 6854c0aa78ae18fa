# Functions of integers beside definitions by bits and trial, in base R.

integers <- Filter(function(d) dtype_info(d)$kind %in% c("int", "uint"), dtypes())

# The bits of each element, the lowest first, as a column.
bits_of <- function(x) {
  bytes <- as.integer(nv_write_bin(nv_convert(x, paste0(
    if (startsWith(format(dtype(x)), "u")) "u", "i", max(8, dtype_info(dtype(x))$bits)
  )), raw(), "little"))
  width <- dtype_info(dtype(x))$bits
  bits <- matrix(bytes %/% rep(2^(0:7), each = length(bytes)) %% 2, ncol = 8)
  matrix(t(bits), ncol = length(x))[seq_len(width), , drop = FALSE]
}

samples <- function(d) {
  info <- dtype_info(d)
  low <- as.character(info$min)
  high <- as.character(info$max)
  x <- c(low, high, "0", if (info$digits > 1) "1", if (info$digits > 6) c("2", "100", "96"))
  if (info$kind == "int") x <- c(x, "-1")
  x <- unique(x)
  nv_tensor(if (grepl("64", d)) x else as.numeric(x), d)
}

test_that("bits are counted, reversed, rotated and swapped in every integer dtype", {
  for (d in integers) {
    x <- samples(d)
    bits <- bits_of(x)
    width <- nrow(bits)
    lines <- function(f) unname(apply(bits, 2, f))
    first <- function(b) if (any(b > 0)) which(b > 0)[1] - 1L else width
    expect_identical(as_array(nv_ctz(x)), as.integer(lines(first)), info = d)
    expect_identical(as_array(nv_clz(x)), as.integer(lines(function(b) first(rev(b)))), info = d)
    check <- function(made, order) {
      expect_true(dtype(made) == d)
      expect_identical(bits_of(made), bits[order, , drop = FALSE], info = d)
    }
    places <- seq_len(width)
    check(nv_reverse_bits(x), rev(places))
    for (n in c(0L, 1L, 3L, -1L, 67L)) {
      from <- (places - 1 - n) %% width + 1
      check(nv_rotate_left(x, n), from)
      check(nv_rotate_right(x, nv_scalar(-n, "i8")), from)
    }
    if (width >= 8) check(nv_byteswap(x), c(matrix(places, 8)[, rev(seq_len(width / 8))]))
    for (f in list(nv_clz, nv_ctz, nv_reverse_bits, nv_byteswap)) {
      expect_identical(jit(f)(x), f(x))
    }
  }
  expect_identical(as_array(nv_clz(nv_tensor(c(NA, 1L), "i8"))), c(NA, 7L))
  swapped <- nv_byteswap(nv_tensor(c(1.5, NA), "f32"))
  expect_identical(nv_write_bin(swapped[1]), rev(nv_write_bin(nv_tensor(1.5, "f32"))))
  expect_identical(as_array(nv_byteswap(swapped)), c(1.5, NA))
})

test_that("divisors and multiples are those found by trial", {
  pairs <- expand.grid(x = c(0:12, 18, 60, 64, 100), y = c(0, 1, 7, 12, 45, 64))
  trial <- mapply(function(x, y) {
    if (x == 0 || y == 0) max(x, y) else max(which(x %% 1:100 == 0 & y %% 1:100 == 0))
  }, pairs$x, pairs$y)
  multiple <- ifelse(trial == 0, 0, pairs$x * pairs$y / trial)
  for (d in setdiff(integers, c("int1", "uint1", "i2", "ui2", "i4", "ui4"))) {
    x <- nv_tensor(pairs$x, d)
    y <- nv_tensor(pairs$y, d)
    found <- nv_gcd(x, y)
    expect_true(dtype(found) == d)
    expect_equal(as_array(found, "double"), trial)
    if (!grepl("^u", d)) expect_identical(nv_gcd(-x, y), found)
    small <- multiple <= as.numeric(as.character(dtype_info(d)$max))
    expect_equal(as_array(nv_lcm(x[small], y[small]), "double"), multiple[small])
  }
  large <- nv_tensor("9223372036854775807", "i64")
  expect_identical(as.character(nv_gcd(large, nv_tensor("7", "i64"))), "7")
  x <- nv_tensor(c(12L, 18L, NA))
  expect_identical(jit(nv_gcd)(x, 8L), nv_gcd(x, 8L))
  for (dtype in c("i8", "ui8", "i32", "ui64")) {
    top <- nv_tensor(rep(dtype_info(dtype)$max, 2L), dtype)
    two <- nv_tensor(c(2L, 1L), dtype)
    for (f in list(nv_lcm, jit(nv_lcm))) {
      local_promotion(NULL, on = c(overflow = "warn"))
      expect_warning(f(top, two), "not fit", class = "joist_overflow_warning")
      expect_silent(f(top, top))
      local_promotion(NULL, on = c(overflow = "error"))
      expect_error(f(top, two), class = "joist_overflow_error")
      local_promotion(NULL, on = c(overflow = "saturate"))
      expect_identical(as.vector(f(top, two), "character"), as.vector(top, "character"))
    }
  }
  expect_identical(jit(nv_lcm)(x, nv_tensor(c(NA, 4L, 5L))), nv_lcm(x, c(NA, 4L, 5L)))
  local_promotion(NULL, on = c(overflow = "warn"))
  least <- nv_tensor(c(-128L, NA), "i8")
  for (f in list(nv_gcd, jit(nv_gcd))) {
    expect_warning(made <- f(least, 0L), "not fit", class = "joist_overflow_warning")
    expect_identical(as_array(made), c(-128L, NA))
  }
  for (f in list(nv_lcm, jit(nv_lcm))) {
    expect_warning(f(least, 1L), "not fit", class = "joist_overflow_warning")
    expect_identical(as_array(expect_silent(f(least, 0L))), c(0L, NA))
  }
  local_promotion(NULL, on = c(overflow = "error"))
  columns <- nv_tensor(matrix(c(4L, 6L, 9L, 10L), 2))
  each <- nv_vmap(function(x) nv_gcd(x, c(6L, 15L)))(columns)
  expect_identical(as_array(each), matrix(c(2L, 6L, 3L, 5L), 2))
  parts <- nv_divmod(nv_tensor(c(7, -7, 7.5)), 2)
  expect_identical(lapply(parts, as_array), list(quotient = c(3, -4, 3), remainder = c(1, 1, 1.5)))
})

test_that("operands that are not integers are refused", {
  x <- nv_tensor(c(1, 2))
  for (f in list(nv_clz, nv_ctz, nv_reverse_bits)) expect_error(f(x), class = "joist_dtype_error")
  expect_error(nv_gcd(x, 1L), class = "joist_dtype_error")
  expect_error(nv_byteswap(nv_tensor(1i)), class = "joist_dtype_error")
  expect_error(nv_rotate_left(nv_tensor(1L), 0.5), class = "joist_value_error")
  expect_error(nv_rotate_left(nv_tensor(1L), x), class = "joist_dtype_error")
})

test_that("counts of bits that a dtype of one or two bits does not hold are told of", {
  for (dtype in c("int1", "i2")) {
    expect_error(
      with_promotion(NULL, nv_popcnt(nv_tensor(-1, dtype)), on = c(overflow = "error")), "wraps",
      class = "joist_overflow_error"
    )
  }
  expect_identical(nv_popcnt(nv_tensor(c(1, 0), "i2")), nv_tensor(c(1, 0), "i2"))
  expect_named(nv_gcd(nv_tensor(c(a = 4, b = 6), "i16"), 2L), c("a", "b"))
  # As for other operations, where an operand does not fit the common dtype.
  huge <- nv_tensor("18446744073709551615", "ui64")
  for (f in list(nv_gcd, nv_lcm)) {
    told <- quote(with_promotion(NULL, f(nv_tensor(5L, "i8"), huge), on = c(overflow = "error")))
    expect_error(eval(told), class = "joist_overflow_error")
  }
})
