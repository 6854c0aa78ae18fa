# Numbers at equal distances, and tensors like others.

test_that("nv_linspace() has both ends exactly, and in between what NumPy computes in double", {
  set.seed(3)
  for (k in 1:60) {
    from <- signif(rnorm(1, sd = 10^sample(-3:3, 1)), sample(3:15, 1))
    to <- rnorm(1, sd = 10^sample(-3:3, 1))
    n <- sample(2:300, 1)
    # numpy.linspace(): arange(n) * step + start, and the last number is stop.
    exact <- c((seq_len(n - 1) - 1) * ((to - from) / (n - 1)) + from, to)
    expect_identical(as_array(nv_linspace(from, to, n, "f64")), exact)
    for (d in floats()) {
      if (is_narrow(d) && (k > 20 || max(abs(exact)) > float_max(d) || !has_zero(d))) next
      x <- nv_linspace(from, to, n, d)
      expect_identical(x, nv_tensor(exact, d))
      expect_identical(x[[1]], nv_scalar(from, d))
      expect_identical(x[[n]], nv_scalar(to, d))
    }
  }
  z <- as_array(nv_linspace(1i, 1 + 3i, 5, "c128"))
  expect_equal(z, complex(real = 0:4 / 4, imaginary = 1 + 0:4 / 2), tolerance = 1e-15)
  expect_identical(as_array(nv_linspace(3, 4, 1)), 3)
  expect_identical(shape(nv_linspace(3, 4, 0)), 0L)
  expect_identical(as_array(nv_linspace(7, 7, 3, "f64")), c(7, 7, 7))
  wide <- function(from) nv_linspace(from, 1e308, 5, dtype = "f64")
  for (f in list(wide, jit(wide))) {
    expect_identical(as_array(f(nv_tensor(-1e308, "f64"))), c(-1e308, -5e307, 0, 5e307, 1e308))
  }
})

test_that("nv_linspace() tells of whole ends that its default dtype rounds", {
  big <- 2^24 + 1
  for (end in list(big, as.integer(big), nv_scalar(big, "i64"))) {
    expect_error(
      with_promotion(NULL, nv_linspace(0L, end, 3), on = c(loss = "error")), "nv_linspace\\(\\)"
    )
    expect_no_warning(nv_linspace(nv_scalar(0, "f64"), end, 3))
    expect_no_warning(nv_linspace(0L, end, 3, "f32"))
  }
  expect_no_warning(nv_linspace(0.1, 16, 3))
  expect_warning(nv_linspace(0L, big, 3), "nv_linspace() rounds 1 element of f64", fixed = TRUE)
})

test_that("nv_linspace() of integers is exact, rounded down", {
  for (d in ints()) {
    range <- pmin(pmax(as.numeric(c(int_min(d), int_max(d))), -2^24), 2^24)
    for (k in 1:20) {
      ends <- floor(runif(2, range[1], range[2]))
      n <- sample(2:200, 1)
      # Products of numbers below 2^25 and 200 are exact in double, and so are these quotients.
      exact <- ends[1] + floor((0:(n - 1)) * (ends[2] - ends[1]) / (n - 1))
      expect_identical(as.double(nv_linspace(ends[1], ends[2], n, d)), exact)
    }
  }
  text <- function(x) as_array(x, as = "character")
  # (2^64 - 1) / 3 and -1/2, by hand.
  expect_identical(
    text(nv_linspace("0", "18446744073709551615", 4, "ui64")),
    c("0", "6148914691236517205", "12297829382473034410", "18446744073709551615")
  )
  ends <- c("-9223372036854775808", "9223372036854775807")
  expect_identical(text(nv_linspace(ends[1], ends[2], 3, "i64")), c(ends[1], "-1", ends[2]))
  expect_identical(text(nv_linspace(ends[2], ends[1], 3, "i64")), c(ends[2], "-1", ends[1]))
  expect_error(nv_linspace(0.5, 3, 2, "i32"), class = "joist_value_error")
})

test_that("nv_linspace() takes traced ends, and has derivatives by them", {
  line <- function(from, to) nv_linspace(from, to, 7)
  a <- nv_scalar(0.1, "f64")
  b <- nv_scalar(-3.7, "f64")
  expect_identical(jit(line)(a, b), line(a, b))
  expect_identical(jit(line)(0.1, b), line(0.1, b))
  expect_identical(type_of(line(nv_scalar(1L, "i8"), nv_scalar(2, "bf16"))), "bf16")
  slope <- gradient(function(from, to) sum(line(from, to) * (1:7)))(a, b)
  expect_equal(as.double(slope$from), sum((6:0) / 6 * 1:7))
  expect_equal(as.double(slope$to), sum((0:6) / 6 * 1:7))
  whole <- function(from, to) nv_linspace(from, to, 5, "i64")
  i <- nv_scalar(9L)
  j <- nv_scalar(-3L)
  expect_identical(jit(whole)(i, j), whole(i, j))
  expect_identical(as.double(whole(i, j)), c(9, 6, 3, 0, -3))
})

test_that("nv_seq() gives the numbers of base R's seq()", {
  set.seed(4)
  for (k in 1:200) {
    from <- round(runif(1, -50, 50), sample(0:4, 1))
    to <- round(runif(1, -50, 50), sample(0:4, 1))
    by <- sign(to - from) * round(runif(1, 0.05, 9), sample(1:3, 1))
    if (by == 0) next
    expect_identical(as_array(nv_seq(from, to, by, "f64")), seq(from, to, by))
    expect_identical(as_array(nv_seq(from, to, dtype = "f64")), as.double(seq(from, to)))
    whole <- as.integer(c(from, to, sign(to - from) * ceiling(abs(by))))
    if (sign(whole[2] - whole[1]) * whole[3] <= 0) next
    got <- nv_seq(whole[1], whole[2], whole[3])
    expect_identical(as_array(got), seq(whole[1], whole[2], whole[3]))
  }
  expect_identical(as_array(nv_seq(0, 1, 0.1, "f64")), seq(0, 1, 0.1))
  expect_identical(as_array(nv_seq(1, 1 + 1e-15, 1e-16, "f64")), seq(1, 1 + 1e-15, 1e-16))
  expect_identical(as_array(nv_seq(1, 5.5)), 1:5)
  expect_identical(as_array(nv_seq(5, 1.5)), 5:2)
  expect_identical(as_array(nv_seq(4, 4)), 4L)
  expect_identical(as_array(nv_seq(4, 4, 2)), 4)
  for (dtype in c("i32", "f32")) {
    odd_ones <- list(c(1, 2, -1), c(2, 1, 1), c(1, 2, 0), c(NA, 1, 1), c(1, Inf, 1), c(1, 2, NaN))
    for (odd in odd_ones) {
      expect_error(nv_seq(odd[1], odd[2], odd[3], dtype), class = "joist_value_error")
    }
  }
  for (d in ints()) {
    if (is_narrow(d)) {
      ends <- as.numeric(c(int_min(d), int_max(d)))
      expect_identical(nv_seq(ends[1], ends[2], dtype = d), nv_tensor(ends[1]:ends[2], d))
      expect_error(nv_seq(3, 19, 8, d), "does not fit", class = "joist_value_error")
      next
    }
    expect_identical(nv_seq(3, 9, 3, d), nv_tensor(c(3, 6, 9), d))
    expect_identical(nv_seq(90, 0, -40, d), nv_tensor(c(90, 50, 10), d))
    top <- int_tensor(int_max(d), d, integer())
    expect_identical(nv_seq(top - 4L, top, 3L, d), c(top - 4L, top - 1L))
  }
  far <- nv_seq("-9223372036854775808", "9223372036854775807", "4611686018427387904", "i64")
  expect_identical(
    as_array(far, "character"),
    c("-9223372036854775808", "-4611686018427387904", "0", "4611686018427387904")
  )
})

test_that("sequences follow the default dtypes", {
  types <- function() {
    vapply(list(nv_seq(1, 3), nv_seq(1, 3, 0.5), nv_linspace(0, 1, 2)), type_of, "")
  }
  expect_identical(types(), c("i32", "f32", "f32"))
  with_default_dtypes(
    c(float = "f64", int = "i64"), expect_identical(types(), c("i64", "f64", "f64"))
  )
  expect_true(ambiguous(nv_seq(1, 3, ambiguous = TRUE)))
  expect_identical(type_of(nv_seq(nv_scalar(1L, "i8"), nv_scalar(4L, "i16"))), "i16")
})

test_that("tensors like others have their dtype, ambiguity and shape", {
  for (d in dtypes()) {
    one <- if (d == "bool") 1 else held(1, d)
    x <- nv_fill(one, c(2, 3), d, ambiguous = TRUE)
    refused <- function(code) expect_error(code, "does not fit", class = "joist_value_error")
    if (one == 1) expect_identical(nv_ones_like(x), x) else refused(nv_ones_like(x))
    if (has_zero(d)) {
      expect_identical(nv_zeros_like(x), nv_fill(0, c(2, 3), d, ambiguous = TRUE))
    } else {
      refused(nv_zeros_like(x))
    }
    expect_identical(nv_fill_like(x, TRUE, "i8"), nv_fill(1, c(2, 3), "i8"))
    expect_identical(nv_fill_like(x, nv_scalar(one, "f64"), shape = 4), nv_fill(one, 4, d, TRUE))
    if (has_zero(d)) {
      like <- nv_empty_like(x, shape = c(0, 2))
      expect_identical(list(dtype(like), shape(like)), list(as_dtype(d), c(0L, 2L)))
      expect_identical(type_of(nv_empty(d, 3)), d)
    }
    if (one == 1) expect_identical(jit(function(x) nv_ones_like(x))(x), x)
  }
  expect_identical(nv_zeros_like(c(1, 2)), nv_tensor(c(0, 0), ambiguous = TRUE))
  expect_identical(shape(nv_zeros_like(2L)), integer())
  value <- nv_scalar(2.5)
  filled <- function(x, value) sum(nv_fill_like(x, value) * c(1, 2, 4))
  slope <- gradient(filled, wrt = "value")(nv_tensor(1:3, "f32"), value)
  expect_identical(slope$value, nv_scalar(7))
})

test_that("nv_one_hot() has a one at each position, of any integer dtype", {
  expect_identical(as_array(nv_one_hot(c(2L, 1L, 5L), 3)), rbind(c(0, 1, 0), c(1, 0, 0), 0))
  expect_identical(shape(nv_one_hot(nv_tensor(matrix(1:4, 2), "ui8"), 5)), c(2L, 2L, 5L))
  expect_identical(as_array(nv_one_hot(nv_scalar(44L, "i8"), 300)), as.double(1:300 == 44))
  k <- nv_tensor(1:3)
  expect_identical(nv_vmap(function(k) nv_one_hot(k, 3))(k), nv_one_hot(k, 3))
})

test_that("nv_one_hot() takes whole R numbers", {
  expect_identical(nv_one_hot(c(2, 1), 2), nv_one_hot(nv_tensor(2:1), 2))
  expect_refusal(nv_one_hot(1.5, 2), "joist_value_error", "1.5")
  expect_refusal(nv_one_hot(nv_tensor(1, "f32"), 2), "joist_dtype_error", "f32")
})

test_that("nv_seq() tells of whole R numbers that its default dtype rounds", {
  expect_error(
    with_promotion(NULL, nv_seq(2^24, 2^24 + 2, by = 1), on = c(loss = "error")),
    class = "joist_value_error"
  )
  exact <- with_promotion(NULL, nv_seq(1, 9, by = 2), on = c(loss = "error"))
  expect_identical(as_array(exact), seq(1, 9, by = 2))
  expect_identical(as_array(nv_seq(2^24, 2^24 + 2, by = 1, dtype = "f64")), 2^24 + 0:2)
})

test_that("nv_one_hot() takes positions of integers of a few bits", {
  expect_identical(nv_one_hot(nv_tensor(c(3, 1), "i4"), 3), nv_one_hot(nv_tensor(c(3L, 1L)), 3))
})
