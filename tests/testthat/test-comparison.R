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
  )
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
  for (rules in c("anvil", "jax", "numpy", "torch")) {
    with_promotion(rules, for (d in names(decimals)) {
      if (rules == "torch" && d %in% c("ui32", "ui64")) next # these meet nothing
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
        if (is.null(got)) next
        expect_identical(as_array(got), operators[[op]](want), label = paste(rules, d, op, e))
        expect_identical(jit(function(x, y) f(x, y))(x, y), got)
      }
    })
  }
})

test_that("integers are found among R numbers exactly", {
  for (d in c("i32", "i64", "ui64")) {
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
