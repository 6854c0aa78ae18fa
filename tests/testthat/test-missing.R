# One rule: where the dtype has NA (f64, c128) it goes in and comes out, elsewhere it is an error
# that names the way. What R gives for a double vector is the reference.

missing_of <- list(NA, NA_integer_, NA_real_)
wide <- c("f64", "c128")

same_bits <- function(x, values) {
  got <- as.vector(x)
  if (is.complex(got)) values <- as.complex(values)
  expect_identical(is.na(got) & !is.nan(got), is.na(values) & !is.nan(values))
  expect_identical(got[!is.na(got)], values[!is.na(values)])
}

test_that("NA of every type goes into f64 and c128, and comes out", {
  v <- c(1.5, 2, -3)
  for (d in wide) {
    x <- nv_tensor(v, d)
    for (na in missing_of) {
      same_bits(nv_tensor(na, d), NA_real_)
      same_bits(nv_tensor(c(1L, na, 3L), d), c(1, NA, 3))
      same_bits(nv_scalar(na, d), NA_real_)
      same_bits(nv_fill(na, 2, d), c(NA_real_, NA))
      y <- x
      y[2] <- na
      same_bits(y, c(1.5, NA, -3))
      y[c(TRUE, FALSE, TRUE)] <- c(na, 7L)
      same_bits(y, c(NA, NA, 7))
      same_bits(c(x, na), c(v, NA))
      same_bits(nv_concatenate(na, x), c(NA, v))
      same_bits(replace(x, 3, na), c(1.5, 2, NA))
      same_bits(append(x, na, 1), c(1.5, NA, 2, -3))
      same_bits(ifelse(nv_tensor(c(TRUE, FALSE, TRUE)), x, na), c(1.5, NA, -3))
      same_bits(x + na, rep(NA_real_, 3))
      same_bits(jit(function(x) nv_concatenate(x, na))(x), c(v, NA))
      same_bits(jit(function(x) replace(x, 2, na))(x), c(1.5, NA, -3))
      same_bits(rbind(x, c(1L, na, 3L))[2, ], c(1, NA, 3))
    }
    same_bits(jit(function(x, y) x * y)(x, NA_integer_), rep(NA_real_, 3))
    expect_identical(dtype(c(x, NA)), as_dtype(d))
  }
  big <- c(.Machine$integer.max, -.Machine$integer.max, NA)
  same_bits(nv_tensor(big, "f64"), as.double(big))
  same_bits(nv_tensor(c(TRUE, FALSE, NA), "f64"), c(1, 0, NA))
  skip_if_not_installed("bit64")
  same_bits(nv_tensor(bit64::as.integer64(c(5, NA)), "f64"), c(5, NA))
})

test_that("NA for another dtype is an error that says what to do, or NaN", {
  for (d in setdiff(dtypes(), wide)) {
    whole <- !d %in% c("f16", "bf16", "f32", "c64")
    x <- nv_tensor(c(1, 0), d)
    for (na in missing_of) {
      words <- c("NA at position 1", d, if (whole) "replace it" else c("na = \"nan\"", "f64"))
      expect_refusal(nv_tensor(na, d), "joist_value_error", words)
      if (whole) {
        expect_refusal(nv_tensor(c(1L, na), d, na = "nan"), "joist_value_error", "position 2")
      } else {
        read <- as.vector(nv_tensor(c(1L, na), d, na = "nan"))
        expect_identical(as.complex(read)[1], 1 + 0i)
        expect_true(is.nan(Re(read[2])))
      }
    }
    expect_error(x[1] <- NA, class = "joist_error")
    expect_error(as_array(x[NA_integer_]), paste("NA at position 1:", d, "has no NA"),
      class = "joist_value_error"
    )
  }
})

test_that("the text of NA is NA, and that of NaN is not", {
  v <- c(1.5, NA, NaN, 1.5)
  x <- nv_tensor(v, "f64")
  expect_identical(as.character(x), as.character(v))
  expect_identical(as_array(x, as = "character"), as.character(v))
  expect_identical(
    as.character(nv_tensor(c(1i, NA), "c128"))[2], NA_character_
  )
  k <- c(2, NA, 1, 2)
  group <- nv_tensor(k, "f64")
  expect_identical(factor(group), factor(k))
  expect_identical(as.vector(table(group)), as.vector(table(k)))
  expect_identical(split(1:4, group), split(1:4, k))
  expect_identical(tapply(1:4, group, sum), tapply(1:4, k, sum))
  expect_identical(as.character(nv_tensor(NaN)), "NaN")
})

test_that("as.integer() and as.logical() give NA for NaN and NA", {
  v <- c(1.9, NA, NaN, -1.9)
  expect_identical(as.integer(nv_tensor(v, "f64")), as.integer(v))
  expect_identical(as.logical(nv_tensor(v, "f64")), as.logical(v))
  for (d in c("f16", "bf16", "f32")) {
    expect_identical(as.integer(nv_tensor(c(2, NaN), d)), c(2L, NA))
  }
  expect_error(as.integer(nv_tensor(c(NA, 1e10), "f64")), "1e\\+10", class = "joist_value_error")
  expect_error(as.integer(nv_tensor(Inf)), "Inf", class = "joist_value_error")
})

test_that("an index that is NA gives NA where there is one", {
  v <- c(1.5, 2, -3, 4)
  m <- matrix(1:6 / 2, 2)
  frame <- data.frame(v = v)
  for (d in wide) {
    x <- nv_tensor(v, d)
    for (at in list(
      NA, NA_integer_, NA_real_, c(2, NA, 4), c(NA, 0, 1L), c(TRUE, NA), c(FALSE, NA, TRUE, TRUE),
      nv_tensor(c(1, NA), "f64"), -5:-6 * NA
    )) {
      same_bits(x[at], v[as.vector(at)])
      expect_identical(dtype(x[at]), as_dtype(d))
    }
    y <- nv_tensor(m, d)
    pick <- list(c(2, NA), c(1, NA, 3), c(NA, TRUE, FALSE))
    for (i in pick[1]) {
      for (j in pick[-1]) {
        same_bits(y[i, j], as.vector(m[i, j]))
        expect_identical(shape(y[i, j]), dim(m[i, j]))
      }
    }
    same_bits(y[NA_integer_, ], m[NA_integer_, ])
    expect_identical(shape(y[NA_integer_, , drop = FALSE]), c(1L, 3L))
    same_bits(y[2, NA_integer_], NA_real_)
    same_bits(y[c(NA, 6)], c(NA, 3))
    same_bits(nv_tensor(numeric(), d)[c(NA_integer_, NA)], c(NA_real_, NA))
    expect_error(x[c(NA, 9)], "9", class = "joist_shape_error")
    expect_error(x[[NA_integer_]], "NA", class = "joist_value_error")
    same_bits(jit(function(x) x[c(2, NA)])(x), c(2, NA))
    frame$x <- x
    same_bits(frame[c(1, NA), "x"], c(1.5, NA))
  }
  f <- nv_tensor(v, "f64")
  expect_identical(shape(nv_aval("f64", 4)[c(1, NA)]), 2L)
  left <- data.frame(k = 1:3, a = nv_tensor(1:3 / 2, "f64"))
  right <- data.frame(k = c(2L, 5L), b = nv_tensor(c(7, 8), "f64"))
  both <- merge(left, right, all = TRUE)
  same_bits(both$a, c(0.5, 1, 1.5, NA))
  same_bits(both$b, c(NA, 7, NA, 8))
  skip_if_not_installed("dplyr")
  same_bits(dplyr::if_else(c(TRUE, NA, FALSE, TRUE), f, -f), c(1.5, NA, 3, 4))
})

test_that("NA of f64 and c128 is NA in text, and in the groups of it", {
  x <- nv_tensor(c(1.5, NA, NaN, -2.5), "f64")
  v <- c(1.5, NA, NaN, -2.5)
  expect_identical(is.na(as.character(x)), c(FALSE, TRUE, FALSE, FALSE))
  expect_identical(as.character(x), as.character(v))
  expect_identical(as_array(x, as = "character"), as.character(v))
  expect_identical(as.character(nv_tensor(c(NA, 1 + 2i), "c128")), c(NA, "1+2i"))
  v <- c(2, NA, 2, 1)
  y <- nv_tensor(v, "f64")
  expect_identical(factor(as.character(y)), factor(as.character(v)))
  expect_identical(as.vector(table(y)), c(1L, 2L))
  expect_identical(factor(y), factor(v))
  expect_identical(lengths(split(1:4, y)), lengths(split(1:4, v)))
  expect_identical(c(tapply(1:4, y, sum)), c(tapply(1:4, v, sum)))
})
