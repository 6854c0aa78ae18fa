# Bytes of tensors: patterns of bits that base R's readBin() and writeBin() know, every dtype there
# and back in both orders, and what does not fit.

orders <- c(little = "little", big = "big")

# The bytes of elements of `size`, in the other order.
reversed <- function(bytes, size) as.raw(matrix(as.integer(bytes), size)[size:1, ])

# All kinds of bits, NaN with payloads among them.
some_bytes <- function(dtype, n = 257) {
  if (dtype == "bool") {
    return(as.raw(seq_len(n) %% 3 == 0))
  }
  as.raw((seq_len(n * width_of(dtype) / 8) * 197 + 91) %% 256)
}

part_size <- function(dtype) {
  width_of(if (kind_of(dtype) == "complex") part_of(dtype) else dtype) / 8
}

test_that("every dtype is read and written bit by bit, in both orders", {
  for (d in wide(dtypes())) { # test-file-narrow.R has the others
    bytes <- some_bytes(d)
    other <- reversed(bytes, part_size(d))
    for (endian in orders) {
      own <- if (endian == .Platform$endian) bytes else other
      x <- nv_read_bin(own, d, endian = endian)
      expect_identical(type_of(x), d)
      expect_identical(shape(x), 257L)
      expect_identical(bytes_of(x), bytes, label = paste(d, endian))
      expect_identical(nv_write_bin(x, endian = endian), own, label = paste(d, endian))
    }
    x <- nv_read_bin(bytes, d)
    expect_identical(nv_write_bin(x), bytes)
    expect_identical(nv_write_bin(x, endian = "swap"), other)
    expect_identical(bytes_of(nv_read_bin(other, d, endian = "swap")), bytes)
    some <- nv_read_bin(bytes[seq_len(6 * width_of(d) / 8)], d, c(3, 2))
    expect_identical(shape(some), c(3L, 2L))
    expect_identical(nv_write_bin(t(some)), nv_write_bin(nv_flatten(some)[c(1, 4, 2, 5, 3, 6)]))
    expect_identical(shape(nv_read_bin(raw(), d)), 0L)
    expect_identical(nv_write_bin(nv_read_bin(raw(), d, c(0, 2))), raw())
    expect_identical(shape(nv_read_bin(bytes[seq_len(width_of(d) / 8)], d, integer())), integer())
  }
})

test_that("base R's readBin() and writeBin() agree", {
  whole <- c(0, 1, 2, 100, 127, -1, -100, -127)
  cases <- list(
    list("i8", as.integer(whole), 1), list("i16", as.integer(whole * 255), 2),
    list("i32", as.integer(whole * 16777215), 4), list("f32", whole / 4, 4),
    list("f64", c(pi, NaN, Inf, -0), 8), list("c128", c(1 + 2i, -1i), 8)
  )
  for (case in cases) {
    for (endian in orders) {
      # writeBin() has one size for complex.
      size <- if (is.complex(case[[2]])) NA_integer_ else case[[3]]
      bytes <- writeBin(case[[2]], raw(), size, endian)
      x <- nv_tensor(case[[2]], case[[1]])
      expect_identical(nv_write_bin(x, endian = endian), bytes, label = case[[1]])
      expect_identical(nv_read_bin(bytes, case[[1]], endian = endian), x, label = case[[1]])
    }
  }
  # 1, -2, the largest and the smallest number and a NaN, as IEEE 754 has them
  half <- as.raw(c(0x3c, 0x00, 0xc0, 0x00, 0x7b, 0xff, 0x00, 0x01, 0x7e, 0x01))
  expect_identical(as_array(nv_read_bin(half, "f16", endian = "big")), c(1, -2, 65504, 2^-24, NaN))
  brain <- as.raw(c(0x3f, 0x80, 0xc0, 0x00, 0x7f, 0x7f, 0x00, 0x01))
  expect_identical(as_array(nv_read_bin(brain, "bf16", endian = "big")),
    c(1, -2, float_max("bf16"), float_min_subnormal("bf16"))
  )
  expect_identical(nv_write_bin(1:3), writeBin(1:3, raw()))
})

test_that("missing values are an error, or another value", {
  for (d in setdiff(wide(dtypes()), "bool")) {
    x <- nv_tensor(matrix(c(1, NA, 3, 2, NA, NA), 2), d)
    expect_refusal(
      nv_write_bin(x), "joist_value_error",
      c("`x` has 3 missing values", "the first at position 2", "`na =`")
    )
    expect_identical(nv_write_bin(x, na = 7), nv_write_bin(nv_tensor(c(1, 7, 3, 2, 7, 7), d)))
    expect_identical(nv_write_bin(x, na = nv_scalar(7, d)), nv_write_bin(x, na = 7))
  }
  expect_identical(nv_write_bin(nv_tensor(c(TRUE, NA)), na = FALSE), as.raw(c(1, 0)))
  expect_identical(nv_write_bin(nv_tensor(c(2, NA), "f64"), na = NaN), writeBin(c(2, NaN), raw()))
  ids <- nv_tensor(c("9007199254740993", NA), "i64")
  expect_identical(
    nv_write_bin(ids, na = "-9223372036854775808", endian = "big"),
    as.raw(c(0, 0x20, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 0))
  )
  strictly <- with_promotion(NULL, nv_write_bin(ids, na = "0"), on = c(literal = "error"))
  expect_identical(strictly, nv_write_bin(ids, na = 0))
  expect_identical(nv_write_bin(nv_scalar(NA, "i16"), na = 3, endian = "big"), as.raw(c(0, 3)))
  expect_identical(nv_write_bin(1:2, na = 3), writeBin(1:2, raw()))
  x <- nv_tensor(c(1, NA), "ui8")
  for (na in list(NA, NA_real_, 1:2, list(1), numeric(), nv_tensor(NA), sum)) {
    expect_refusal(nv_write_bin(x, na = na), "joist_value_error", "`na` must be one number")
    expect_refusal(nv_write_bin(1L, na = na), "joist_value_error", "`na` must be one number")
  }
  expect_refusal(nv_write_bin(x, na = 256), "joist_value_error", c("256", "ui8"))
  expect_refusal(nv_write_bin(x, na = 0.5), "joist_value_error", c("0.5", "ui8"))
  expect_refusal(nv_write_bin(x, na = "a"), "joist_value_error", "`na` must be one number")
  expect_refusal(nv_write_bin(x, na = "1"), "joist_value_error", "character")
  expect_refusal(nv_write_bin(x, na = nv_scalar(1)), "joist_dtype_error", c("f32", "ui8"))
  file <- tempfile()
  on.exit(unlink(file))
  expect_refusal(nv_write_bin(x, file), "joist_value_error", "1 missing value at position 2")
  expect_false(file.exists(file))
  nv_write_bin(x, file, na = 9)
  expect_identical(readBin(file, raw(), 9), as.raw(c(1, 9)))
})

test_that("files and connections are read and written", {
  file <- tempfile()
  on.exit(unlink(file))
  x <- nv_tensor(matrix(c(1.5, -2, 3, 4, 5, 6), 2), "f32")
  expect_null(expect_invisible(nv_write_bin(x, file, "big")))
  expect_identical(readBin(file, "numeric", 9, 4, endian = "big"), as.vector(x))
  expect_identical(nv_read_bin(file, "f32", c(2, 3), "big"), x)
  expect_identical(as_array(nv_transpose(nv_read_bin(file, "f32", c(2, 3), "big"))), t(as_array(x)))
  con <- file(file, "rb")
  expect_identical(nv_read_bin(con, "f32", c(2, 1), "big"), x[, 1, drop = FALSE])
  expect_identical(nv_read_bin(con, "f32", integer(), "big"), x[[3]])
  expect_refusal(nv_read_bin(con, "f32", c(2, 2), "big"), "joist_value_error", c("12", "16"))
  close(con)
  con <- file(file, "rb")
  invisible(nv_read_bin(con, "ui8", 4))
  expect_identical(nv_read_bin(con, "f32", endian = "big"), nv_flatten(x)[-1])
  expect_identical(shape(nv_read_bin(con, "f32")), 0L)
  close(con)
  con <- file(file)
  expect_identical(nv_read_bin(con, "f32", endian = "big"), nv_flatten(x)) # opened and closed
  expect_error(isOpen(con))
  con <- rawConnection(raw(), "wb")
  nv_write_bin(nv_tensor(1:2, "i16"), con, "little")
  nv_write_bin(nv_tensor(3L, "ui8"), con)
  expect_identical(rawConnectionValue(con), as.raw(c(1, 0, 2, 0, 3)))
  close(con)
  con <- gzfile(file, "wb")
  nv_write_bin(x, con)
  close(con)
  con <- gzfile(file)
  expect_identical(nv_read_bin(con, "f32", c(2, 3)), x)
})

test_that("long files are read and written in parts", {
  file <- tempfile()
  on.exit(unlink(file))
  internal <- asNamespace("joist")
  for (n in c(0, 8, 10, 20, 26)) {
    bytes <- as.raw(seq_len(n))
    con <- file(file, "wb")
    internal$write_bytes(con, bytes, 10)
    close(con)
    expect_identical(readBin(file, "raw", 99), bytes)
    for (wanted in c(0, 3, 10, 20, 25, Inf)) {
      con <- file(file, "rb")
      got <- internal$read_bytes(con, wanted, 10)
      close(con)
      expect_identical(got, bytes[seq_len(min(n, wanted))], label = paste(wanted, "of", n))
    }
  }
})

test_that("a tensor and the bytes that it was made of do not change each other", {
  bytes <- as.raw(1:4)
  x <- nv_read_bin(bytes, "ui8")
  bytes[1] <- as.raw(9)
  x[2] <- 7L
  written <- nv_write_bin(x)
  x[3] <- 8L
  expect_identical(bytes, as.raw(c(9, 2, 3, 4)))
  expect_identical(as_array(x), c(1L, 7L, 8L, 4L))
  expect_identical(written, as.raw(c(1, 7, 3, 4)))
})

test_that("bytes that are not those of a tensor are refused", {
  for (d in setdiff(wide(dtypes()), c("bool", "i8", "ui8"))) {
    expect_refusal(nv_read_bin(raw(width_of(d) / 8 + 1), d), "joist_value_error", d)
  }
  no_bool <- as.raw(c(1, 0, 2))
  expect_refusal(nv_read_bin(no_bool, "bool"), "joist_value_error", c("02", "position 3"))
  expect_refusal(nv_read_bin(raw(8), "f32", 3), "joist_shape_error", "{3}")
  expect_refusal(nv_read_bin(raw(8), "f32", -1), "joist_shape_error", "extent 1")
  for (con in list(1:4, "a"[0], NA_character_, NULL, list(), structure(raw(4), class = "other"))) {
    expect_refusal(nv_read_bin(con, "i8"), "joist_value_error", "connection")
    expect_refusal(nv_write_bin(nv_tensor(1), con), "joist_value_error", "connection")
  }
  for (endian in list("middle", NA, 1, c("big", "little"), NULL)) {
    expect_refusal(nv_read_bin(raw(4), "f32", endian = endian), "joist_value_error", "endian")
    expect_refusal(nv_write_bin(1, endian = endian), "joist_value_error", "endian")
  }
  expect_refusal(nv_write_bin(nv_aval("f32", 2)), "joist_value_error", "nv_aval")
  expect_refusal(jit(function(x) nv_write_bin(x))(nv_tensor(1)), "joist_value_error", "jit")
  missing <- tempfile()
  expect_refusal(nv_read_bin(missing, "f32"), "joist_value_error", basename(missing))
})
