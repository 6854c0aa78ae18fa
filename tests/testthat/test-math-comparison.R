# Comparisons against the order of decimal digits, which no dtype has a part in.

# Where whole numbers in decimal stand to each other: -1, 0 or 1.
decimal_order <- function(x, y) {
  negative <- startsWith(x, "-")
  if (negative != startsWith(y, "-")) {
    return(if (negative) -1 else 1)
  }
  digits <- sub("^-", "", c(x, y))
  long <- max(nchar(digits))
  padded <- paste0(strrep("0", long - nchar(digits)), digits)
  at <- which(strsplit(padded[1], "")[[1]] != strsplit(padded[2], "")[[1]])
  if (length(at) == 0L) {
    return(0)
  }
  less <- substr(padded[1], at[1], at[1]) < substr(padded[2], at[1], at[1])
  if (less != negative) -1 else 1
}

# Where a whole number in decimal stands to a double; NA for NaN.
number_order <- function(x, y) {
  if (is.nan(y)) {
    return(NA)
  }
  if (is.infinite(y)) {
    return(-sign(y))
  }
  whole <- sub("^-0$", "0", sprintf("%.0f", trunc(y)))
  order <- decimal_order(x, whole)
  if (order == 0) -sign(y - trunc(y)) else order
}

operators <- list(
  "==" = function(o) !is.na(o) & o == 0, "!=" = function(o) is.na(o) | o != 0,
  "<" = function(o) !is.na(o) & o < 0, "<=" = function(o) !is.na(o) & o <= 0,
  ">" = function(o) !is.na(o) & o > 0, ">=" = function(o) !is.na(o) & o >= 0
)

decimals <- list(
  i8 = c("-128", "-1", "0", "2", "127"), ui8 = c("0", "2", "127", "128", "255"),
  i32 = c("-2147483648", "-1", "0", "2", "16777217", "123456789", "123456790", "2147483647"),
  ui32 = c("0", "2", "2147483648", "4294967295"),
  i64 = c(
    "-9223372036854775808", "-9007199254740993", "-1", "0", "2", "9007199254740992",
    "9007199254740993", "9007199254740995", "9223372036854775807"
  ),
  ui64 = c(
    "0", "2", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "18446744073709551615"
  ),
  int1 = c("-1", "0"), i2 = c("-2", "-1", "0", "1"), i4 = as.character(-8:7),
  uint1 = c("0", "1"), ui2 = c("0", "1", "2", "3"), ui4 = as.character(0:15)
)

numbers <- c(
  -Inf, -2^64, -2^63, -9007199254740994, -2147483649, -129, -1.5, -1, -0.5, -0, 0.5, 1.999, 2, 2.5,
  127, 128, 255.5, 300, 16777216, 16777217, 123456790, 2^31, 2^32, 9007199254740992,
  9007199254740994, 2^63, 2^64, 1e300, Inf, NaN
)

integer_tensor <- function(dtype) {
  text <- decimals[[dtype]]
  nv_tensor(if (width_of(dtype) < 64) as.numeric(text) else text, dtype)
}

test_that("integers are compared with R numbers exactly, in jit too", {
  local_promotion(on = c(loss = "ok")) # the numbers are those that they look like
  for (rules in c("anvil", "jax", "numpy", "torch")) {
    with_promotion(rules, for (d in names(decimals)) {
      if (rules == "torch" && d %in% c("ui32", "ui64")) next # these meet nothing
      if (is_narrow(d) && !rules %in% c("anvil", "jax")) next
      x <- integer_tensor(d)
      want <- outer(decimals[[d]], numbers, Vectorize(number_order))
      for (op in names(operators)) {
        f <- match.fun(op)
        traced <- jit(function(x, y) f(x, y))
        # One number at a time, and all at once.
        each <- vapply(numbers, function(y) as_array(f(x, y)), logical(length(x)))
        column <- nv_reshape(x, c(length(x), 1L))
        row <- matrix(numbers, 1)
        expect_identical(each, operators[[op]](want), label = paste(rules, d, op))
        expect_identical(as_array(f(column, row)), each, label = paste(rules, d, op))
        expect_identical(as_array(traced(column, row)), each, label = paste(rules, d, op))
        each <- vapply(numbers, function(y) as_array(f(y, x)), logical(length(x)))
        expect_identical(each, operators[[op]](-want), label = paste(rules, d, op))
        each <- vapply(numbers, function(y) as_array(traced(x, y)), logical(length(x)))
        expect_identical(each, operators[[op]](want), label = paste(rules, d, op))
        inside <- jit(function(x) lapply(numbers, function(y) f(x, y)))
        each <- vapply(inside(x), as_array, logical(length(x)))
        expect_identical(each, operators[[op]](want), label = paste(rules, d, op))
      }
    })
  }
})

test_that("integers of any two dtypes are compared exactly", {
  for (rules in c("anvil", "jax", "numpy")) {
    with_promotion(rules, for (d in names(decimals)) for (e in names(decimals)) {
      x <- nv_reshape(integer_tensor(d), c(length(decimals[[d]]), 1L))
      y <- nv_reshape(integer_tensor(e), c(1L, length(decimals[[e]])))
      want <- outer(decimals[[d]], decimals[[e]], Vectorize(decimal_order))
      for (op in names(operators)) {
        f <- match.fun(op)
        got <- tryCatch(f(x, y), joist_promotion_error = function(e) NULL)
        # Two tensors need a common dtype.
        if (rules == "anvil" && d != e && is_narrow(d)) expect_null(got)
        if (is.null(got)) next
        expect_identical(as_array(got), operators[[op]](want), label = paste(rules, d, op, e))
        expect_identical(jit(function(x, y) f(x, y))(x, y), got)
      }
    })
  }
})

test_that("integers are found among R numbers exactly", {
  local_promotion(on = c(loss = "ok")) # the numbers are those that they look like
  for (d in c("i32", "i64", "ui64", "i4", "ui2")) {
    x <- integer_tensor(d)
    order <- outer(decimals[[d]], numbers, Vectorize(number_order))
    equal <- !is.na(order) & order == 0
    first <- function(m) apply(m, 1, function(row) c(which(row), 0L)[1])
    expect_identical(as_array(nv_match(x, numbers)), as.integer(first(equal)), label = d)
    expect_identical(as_array(nv_match(numbers, x)), as.integer(first(t(equal))), label = d)
    expect_identical(jit(nv_match)(x, numbers), nv_match(x, numbers))
    expect_identical(as_array(nv_is_in(x, numbers)), rowSums(equal) > 0, label = d)
    expect_identical(match(x, numbers, 0L), as.integer(first(equal)), label = d)
    expect_identical(match(numbers, x, 0L), as.integer(first(t(equal))), label = d)
    expect_identical(x %in% numbers, rowSums(equal) > 0, label = d)
    # NaN is the largest.
    less <- is.na(order) | order < 0
    not_greater <- less | equal
    expect_identical(as_array(nv_searchsorted(x, numbers)), as.integer(colSums(less)), label = d)
    expect_identical(
      as_array(nv_searchsorted(x, numbers, side = "right")), as.integer(colSums(not_greater))
    )
    expect_identical(as_array(nv_searchsorted(numbers, x)), as.integer(rowSums(!not_greater)))
    expect_identical(
      as_array(nv_searchsorted(numbers, x, side = "right")), as.integer(rowSums(!less))
    )
    expect_error(nv_searchsorted(rev(numbers), x), class = "joist_value_error")
  }
  far <- nv_tensor(c("9007199254740993", "100000"), "i64")
  expect_identical(match(far, c(100000, 9007199254740992)), c(NA, 1L))
  largest <- nv_tensor("18446744073709551615", "ui64")
  expect_identical(as_array(nv_match(largest, nv_tensor(-1, "i64"))), 0L)
})

test_that("rows are found by an integer beyond 2^24", {
  df <- data.frame(id = I(nv_tensor(c(16777217L, 123456789L))), v = 1:2)
  expect_identical(as_array(df$id == 123456790), c(FALSE, FALSE))
  expect_identical(df[which(as_array(df$id == 123456789)), "v"], 2L)
})

test_that("integers are equal to complex R numbers exactly", {
  x <- nv_tensor(c("9007199254740993", "2"), "i64")
  expect_identical(as_array(x == complex(real = 2^53)), c(FALSE, FALSE))
  expect_identical(as_array(2 + c(0i, 1i) == nv_tensor("2", "ui64")), c(TRUE, FALSE))
  expect_identical(as_array(nv_match(x, c(complex(real = 2^53), 2 + 5e-324i, 2 + 0i))), c(0L, 3L))
  expect_identical(as_array(nv_tensor(16777217L) != 2^24 + 0i), TRUE)
  expect_error(x < 2i, class = "joist_dtype_error")
  expect_error(2i < x, class = "joist_dtype_error")
  expect_error(nv_searchsorted(x[2], 2i), class = "joist_dtype_error")
})

test_that("R numbers take the dtype of floats, and NA has no order", {
  expect_identical(as_array(nv_tensor(0.1, "f32") == 0.1), TRUE)
  expect_identical(as_array(nv_eq(0.1, 0.1 + 1e-12)), FALSE)
  expect_identical(as_array(jit(nv_eq)(0.1, 0.1 + 1e-12)), FALSE)
  for (d in c("i32", "i64", "ui64", "bool")) {
    x <- nv_tensor(0:1, d)
    for (na in list(NA_real_, NA_integer_, NA_complex_)) {
      expect_identical(as.vector(x == na), c(NA, NA))
      expect_identical(as.vector(jit(function(x, y) x == y)(x, na)), c(NA, NA))
      expect_identical(as.vector(jit(function(x) x == na)(x)), c(NA, NA))
    }
  }
})

test_that("narrow floats are compared exactly with whole numbers and with any beyond them", {
  whole <- c(-100000L, -449L, -17L, -6L, -1L, 0L, 1L, 2L, 3L, 7L, 9L, 17L, 448L, 449L, NA)
  for (d in setdiff(narrow(), byte_ints)) {
    codes <- seq_len(2^dtype_info(d)$bits) - 1L
    x <- nv_read_bin(as.raw(codes), d)
    values <- as_array(nv_convert(x, "f64"))
    # Numbers that are not rounded in any of these dtypes, or lie beyond.
    beyond <- c(-Inf, -1e300, 1, 4, 1e300, Inf, NaN, NA)
    for (op in names(operators)) {
      f <- match.fun(op)
      traced <- jit(function(x, y) f(x, y))
      for (numbers in list(whole, beyond)) {
        want <- outer(values, numbers, f)
        want[is.na(want)] <- op == "!=" # NaN has no order
        want[, is.na(numbers) & !is.nan(numbers)] <- NA
        for (g in list(f, traced)) {
          each <- vapply(numbers, function(y) as.vector(g(x, y)), logical(length(x)))
          expect_identical(each, want, label = paste(d, op))
          every <- g(nv_reshape(x, c(length(x), 1L)), matrix(numbers, 1))
          expect_identical(as.vector(every), as.vector(want), label = paste(d, op))
        }
        turned <- vapply(numbers, function(y) as.vector(f(y, x)), logical(length(x)))
        want <- t(outer(numbers, values, f))
        want[is.na(want)] <- op == "!="
        want[, is.na(numbers) & !is.nan(numbers)] <- NA
        expect_identical(turned, want, label = paste(d, op))
        inside <- jit(function(x) lapply(numbers, function(y) f(y, x)))
        expect_identical(vapply(inside(x), as.vector, logical(length(x))), want)
      }
    }
    table <- whole[!is.na(whole)]
    expect_identical(x %in% table, values %in% table, label = d)
    expect_identical(match(table, x), match(table, values), label = d)
    expect_identical(as_array(nv_match(x, table)), match(values, table, 0L), label = d)
  }
})

test_that("numbers beside NaN are compared as those alone", {
  for (d in c("f16", "f32", "f4E2M1FN", "f8E8M0FNU", "i4", "i8")) {
    x <- nv_tensor(1, d)
    expect_identical(as_array(x < c(1e300, NaN)), c(TRUE, FALSE), label = d)
    expect_identical(as_array(c(-1e300, NaN) != x), c(TRUE, TRUE), label = d)
    expect_identical(as_array(x > c(0, NaN)), c(TRUE, FALSE), label = d)
    expect_identical(as_array(jit(function(x, y) x < y)(x, c(1e300, NaN))), c(TRUE, FALSE))
  }
})

test_that("rules that have no common dtype for i8 and a number have none for i4", {
  for (d in c("i8", "i4")) {
    refused <- function(expr) expect_error(expr, class = "joist_promotion_error")
    with_promotion("array_api", refused(nv_tensor(1, d) < 1.5))
    # Nor have tensors of different kinds.
    if (d == "i4") refused(nv_tensor(1, d) < nv_tensor(1.5))
  }
})
