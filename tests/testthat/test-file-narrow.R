# Files and exchange of dtypes of up to a byte: bits are compared with codes, and values with what
# the dtypes' definitions say; tests/files/narrow.R compares with other libraries.

bits <- c(
  int1 = 1L, i2 = 2L, i4 = 4L, uint1 = 1L, ui2 = 2L, ui4 = 4L, f4E2M1FN = 4L, f6E2M3FN = 6L,
  f6E3M2FN = 6L, f8E3M4 = 8L, f8E4M3 = 8L, f8E4M3B11FNUZ = 8L, f8E4M3FN = 8L, f8E4M3FNUZ = 8L,
  f8E5M2 = 8L, f8E5M2FNUZ = 8L, f8E8M0FNU = 8L
)
signed <- c("int1", "i2", "i4")
codes_of <- function(dtype, n = 2^bits[[dtype]]) as.raw((seq_len(n) - 1L) %% 2^bits[[dtype]])
all_codes <- function(dtype, shape = NULL) {
  nv_read_bin(codes_of(dtype, if (is.null(shape)) 2^bits[[dtype]] else prod(shape)), dtype, shape)
}
# What the elements of a dtype of fewer than 8 bits are in memory.
in_memory <- function(dtype) {
  codes <- as.integer(codes_of(dtype))
  negative <- dtype %in% signed & codes >= 2^(bits[[dtype]] - 1)
  as.raw(ifelse(negative, codes + 256L - 2^bits[[dtype]], codes))
}
with_npy <- function(descr, shape, data) {
  text <- sprintf("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n", descr, shape)
  c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0, nchar(text), 0)), charToRaw(text), data)
}

test_that("these are all dtypes of up to a byte that other tests of files leave out", {
  wide <- c(
    "bool", paste0("i", c(8, 16, 32, 64)), paste0("ui", c(8, 16, 32, 64)), "f16", "bf16", "f32",
    "f64", "c64", "c128", "c32", "bc32"
  )
  expect_setequal(names(bits), setdiff(dtypes(), wide))
})

test_that("bytes have the codes in their low bits, and others are not looked at", {
  for (dtype in names(bits)) {
    x <- all_codes(dtype)
    expect_identical(format(dtype(x)), dtype)
    expect_identical(nv_write_bin(x), codes_of(dtype))
    every <- nv_read_bin(as.raw(0:255), dtype)
    wanted <- as.raw(0:255 %% 2^bits[[dtype]])
    expect_identical(nv_write_bin(every), wanted)
    expect_identical(nv_read_bin(wanted, dtype), every)
    file <- withr::local_tempfile()
    nv_write_bin(every, file)
    expect_identical(readBin(file, "raw", 300L), wanted)
    writeBin(as.raw(0:255), file)
    for (mmap in c(FALSE, TRUE)) {
      expect_identical(nv_read_bin(file, dtype, c(16L, 16L), mmap = mmap),
        nv_reshape(every, c(16, 16)))
    }
  }
  expect_identical(as.integer(as_array(nv_read_bin(as.raw(c(0x0f, 0xff, 0x08, 0x07)), "i4"))),
    c(-1L, -1L, -8L, 7L))
  expect_identical(nv_write_bin(nv_tensor(c(-1, 7, -8), "i4")), as.raw(c(15, 7, 8)))
  expect_identical(nv_write_bin(nv_tensor(c(-1, 0), "int1")), as.raw(c(1, 0)))
})

test_that("npy files have the bytes and types of ml_dtypes", {
  for (dtype in names(bits)) {
    x <- all_codes(dtype, c(2L, 3L, 5L))
    bytes <- nv_write_npy(x)
    type <- if (dtype == "f8E5M2") "'<f1'" else "'<V1'"
    expect_match(rawToChar(bytes[11:60]), type, fixed = TRUE)
    expect_identical(tail(bytes, 30L), codes_of(dtype, 30L))
    for (order in c("F", "C")) {
      file <- withr::local_tempfile()
      nv_write_npy(x, file, order = order)
      for (mmap in c(FALSE, TRUE)) expect_identical(nv_read_npy(file, mmap, dtype = dtype), x)
      turned <- nv_read_npy(file, reversed = TRUE, dtype = as_dtype(dtype))
      expect_identical(nv_transpose(turned), x)
    }
    dirty <- nv_read_npy(with_npy(type, "(256,)", as.raw(0:255)), dtype = dtype)
    expect_identical(dirty, nv_read_bin(as.raw(0:255), dtype))
    if (dtype == "f8E5M2") {
      expect_identical(nv_read_npy(bytes), x)
    } else {
      expect_error(nv_read_npy(bytes), "not which dtype", class = "joist_dtype_error")
      expect_error(nv_read_npy(bytes), "dtype =", class = "joist_dtype_error")
    }
    expect_error(nv_read_npy(bytes, dtype = "f16"), "1 byte", class = "joist_dtype_error")
  }
  expect_error(nv_read_npy(nv_write_npy(1:3), dtype = "i5"), class = "joist_dtype_error")
  expect_error(nv_read_npy(raw(), raw = NA), class = "joist_value_error")
  expect_identical(
    nv_read_npy(nv_write_npy(nv_tensor(c(1, -2), "bf16")), dtype = "bf16"), nv_tensor(c(1, -2),
      "bf16")
  )
})

test_that("npz archives take one dtype or one for each array", {
  skip_if_not_installed("zip")
  file <- withr::local_tempfile(fileext = ".npz")
  tensors <- lapply(structure(names(bits), names = names(bits)), all_codes)
  tensors$plain <- nv_tensor(1:3, "i32")
  nv_write_npz(tensors, file)
  expect_identical(nv_read_npz(file, dtype = structure(as.list(names(bits)), names = names(bits))),
    tensors)
  expect_identical(nv_read_npz(file, "i4", dtype = "i4")$i4, tensors$i4)
  expect_identical(nv_read_npz(file, c("i4", "plain"), dtype = c(i4 = "i4"))$plain, tensors$plain)
  expect_error(nv_read_npz(file, "i4", dtype = c(i2 = "i4")), class = "joist_value_error")
  expect_error(nv_read_npz(file, "i4"), class = "joist_dtype_error")
})

test_that("safetensors packs floats of fewer than 8 bits, the first element lowest", {
  written <- c(
    "f4E2M1FN", "f6E2M3FN", "f6E3M2FN", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ",
    "f8E8M0FNU"
  )
  for (dtype in names(bits)) {
    x <- list(first = nv_tensor(1:3, "i16"), x = all_codes(dtype, c(4L, 3L, 8L)))
    if (!dtype %in% written) {
      expect_error(nv_serialize(x), "nv_bitcast_convert", class = "joist_dtype_error")
      next
    }
    bytes <- nv_serialize(x)
    expect_identical(nv_unserialize(bytes), x)
    start <- 8 + sum(as.integer(bytes[1:4]) * 256^(0:3))
    expect_length(bytes, start + 6 + 96 * bits[[dtype]] / 8)
    turned <- nv_unserialize(bytes, reversed = TRUE)$x
    expect_identical(nv_transpose(turned), x$x)
    place <- as.vector(aperm(array(0:95, c(8L, 3L, 4L)), 3:1)) # of each element in the file
    own <- as.integer(nv_write_bin(x$x))[order(place)]
    stream <- packBits(as.vector(vapply(own,
      function(code) intToBits(code)[seq_len(bits[[dtype]])], raw(bits[[dtype]]))))
    expect_identical(tail(bytes, length(stream)), stream)
    file <- withr::local_tempfile()
    nv_save(x, file)
    for (mmap in c(FALSE, TRUE)) {
      read <- nv_read(file, mmap = mmap)
      expect_identical(read, x)
      turned <- nv_read(file, mmap = mmap, reversed = TRUE)$x
      expect_identical(nv_write_bin(nv_transpose(turned)), nv_write_bin(x$x))
    }
    for (n in 0:9) {
      whole <- (n * bits[[dtype]]) %% 8 == 0
      some <- list(a = all_codes(dtype, n))
      if (whole) {
        expect_identical(nv_unserialize(nv_serialize(some)), some)
      } else {
        expect_error(nv_serialize(some), "within a byte", class = "joist_value_error")
      }
    }
  }
})

test_that("types that joist does not have are read as bytes", {
  header <- paste0(
    "{\"a\":{\"dtype\":\"NEW\",\"shape\":[2,3],\"data_offsets\":[0,12]},",
    "\"b\":{\"dtype\":\"U3\",\"shape\":[8],\"data_offsets\":[12,15]},",
    "\"c\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[15,17]}}"
  )
  bytes <- c(as.raw(c(nchar(header), 0, 0, 0, 0, 0, 0, 0)), charToRaw(header), as.raw(1:17))
  bytes[2] <- as.raw(nchar(header) %/% 256)
  bytes[1] <- as.raw(nchar(header) %% 256)
  expect_error(nv_unserialize(bytes), "raw = TRUE", class = "joist_dtype_error")
  expect_error(nv_unserialize(bytes, "b", raw = TRUE), "3 bytes for 8", class = "joist_dtype_error")
  read <- nv_unserialize(bytes, c("a", "c"), raw = TRUE)
  expect_identical(read$c, nv_tensor(16:17, "i8"))
  wanted <- aperm(array(1:12, c(2L, 3L, 2L)), c(1L, 3L, 2L))
  expect_identical(read$a, nv_tensor(wanted, "ui8"))
  turned <- nv_unserialize(bytes, "a", reversed = TRUE, raw = TRUE)$a
  expect_identical(turned, nv_tensor(array(1:12, c(2L, 3L, 2L)), "ui8"))
  file <- withr::local_tempfile()
  writeBin(bytes, file)
  expect_identical(nv_read(file, "a", mmap = TRUE, raw = TRUE)$a, read$a)

  days <- with_npy("'<M8[s]'", "(3,)", nv_write_bin(nv_tensor(c("1", "-2", "9007199254740993"),
    "i64")))
  expect_error(nv_read_npy(days), "raw = TRUE", class = "joist_dtype_error")
  expect_identical(nv_read_npy(days, dtype = "i64"),
    nv_tensor(c("1", "-2", "9007199254740993"), "i64"))
  expect_identical(shape(nv_read_npy(days, raw = TRUE)), c(8L, 3L))
  fields <- with_npy("[('a', '<i2'), ('b', '|S1')]", "(2, 2)", as.raw(1:12))
  expect_error(nv_read_npy(fields), "raw = TRUE", class = "joist_dtype_error")
  wanted <- aperm(array(1:12, c(3L, 2L, 2L)), c(1L, 3L, 2L))
  expect_identical(nv_read_npy(fields, raw = TRUE), nv_tensor(wanted, "ui8"))
  expect_identical(nv_read_npy(with_npy("'<V1'", "(2,)", as.raw(1:2)), raw = TRUE),
    nv_tensor(matrix(1:2, 1L), "ui8"))
  expect_error(nv_read_npy(with_npy("'|O'", "(1,)", raw(8)), raw = TRUE), "Python objects",
    class = "joist_dtype_error")
  expect_error(nv_read_npy(with_npy("'<M8[s]'", "(0,)", raw()), raw = TRUE), "size is unknown",
    class = "joist_dtype_error")
  expect_error(nv_read_npy(with_npy("'|S3'", "(2,)", raw(7)), raw = TRUE), "same number of bytes",
    class = "joist_dtype_error")
  expect_identical(nv_read_npy(nv_write_npy(nv_tensor(1:3, "i16")), raw = TRUE),
    nv_tensor(1:3, "i16"))
})

test_that("saved tensors have their codes, and damaged ones are not taken", {
  for (dtype in names(bits)) {
    x <- all_codes(dtype)
    expect_identical(unserialize(serialize(x, NULL)), x)
    file <- withr::local_tempfile()
    saveRDS(x, file)
    expect_identical(nv_write_bin(readRDS(file)), codes_of(dtype))
    if (bits[[dtype]] == 8L) next
    bytes <- serialize(nv_read_bin(codes_of(dtype, 64L), dtype), NULL, xdr = FALSE)
    memory <- rep_len(in_memory(dtype), 64L)
    at <- which(vapply(seq_len(length(bytes) - 63L),
      function(k) identical(bytes[k + 0:63], memory), NA))
    expect_length(at, 1L)
    bytes[at + 5L] <- as.raw(bitwXor(as.integer(bytes[at + 5L]), 0x80L))
    expect_error(nv_write_bin(unserialize(bytes)), class = "error")
  }
})

test_that("Zarr stores narrow dtypes a byte each", {
  for (dtype in names(bits)) {
    for (order in c("C", "F")) {
      folder <- withr::local_tempfile()
      x <- all_codes(dtype, c(7L, 5L))
      nv_store(x, folder, chunks = c(7L, 5L), order = order)
      expect_identical(nv_compute(nv_zarr(folder)), x)
      chunk <- readBin(file.path(folder, "c", "0", "0"), "raw", 100L)
      expect_identical(chunk, nv_write_bin(if (order == "C") nv_transpose(x) else x))
      dirty <- as.raw(bitwOr(as.integer(chunk), as.integer(256L - 2^bits[[dtype]])))
      writeBin(dirty, file.path(folder, "c", "0", "0"))
      expect_identical(nv_compute(nv_zarr(folder)), x)
    }
    folder <- withr::local_tempfile()
    codes <- nv_read_bin(as.raw(1L), dtype, integer())
    nv_zarr_create(folder, dtype, 3L, fill = codes, codecs = "gzip")
    expect_identical(nv_compute(nv_zarr(folder)), nv_broadcast_to(codes, 3L))
    unlink(folder, recursive = TRUE)
    zero <- if (dtype == "f8E8M0FNU") nv_scalar(1, dtype) else nv_read_bin(as.raw(0L), dtype,
      integer())
    nv_zarr_create(folder, dtype, 3L)
    expect_identical(nv_compute(nv_zarr(folder)), nv_broadcast_to(zero, 3L))
  }
  # Bits that have no number are kept, and numbers that the dtype lacks are errors.
  folder <- withr::local_tempfile()
  for (code in list(c("f8E4M3FN", 0x7f), c("f8E4M3FN", 0xff), c("f8E5M2", 0x7e),
    c("f8E8M0FNU", 0xff))) {
    fill <- nv_read_bin(as.raw(as.integer(code[2L])), code[1L], integer())
    nv_zarr_create(folder, code[1L], 2L, fill = fill, overwrite = TRUE)
    expect_identical(nv_write_bin(nv_compute(nv_zarr(folder))),
      rep(as.raw(as.integer(code[2L])), 2L))
  }
  with_fill <- function(dtype, text) {
    nv_zarr_create(folder, dtype, 2L, overwrite = TRUE)
    lines <- readLines(file.path(folder, "zarr.json"))
    lines <- sub("\"fill_value\": [^,]*,", paste0("\"fill_value\": ", text, ","), lines)
    writeLines(lines, file.path(folder, "zarr.json"))
    nv_compute(nv_zarr(folder))
  }
  expect_identical(nv_write_bin(with_fill("f4E2M1FN", "1.5")), as.raw(c(3L, 3L)))
  expect_identical(nv_write_bin(with_fill("f8E4M3", "\"Infinity\"")), as.raw(c(0x78, 0x78)))
  expect_identical(as_array(with_fill("f8E8M0FNU", "2.0")), c(2, 2))
  expect_error(with_fill("i4", "8"), "not a value of i4", class = "joist_value_error")
  expect_error(with_fill("f4E2M1FN", "\"NaN\""), "not a value of", class = "joist_value_error")
  expect_error(with_fill("f8E4M3FN", "\"Infinity\""), "not a value of", class = "joist_value_error")
  expect_error(with_fill("f8E8M0FNU", "0"), "not a value of", class = "joist_value_error")
})

test_that("Arrow lacks them, but for their bytes", {
  for (dtype in names(bits)) {
    x <- all_codes(dtype, c(2L, 8L))
    expect_error(nv_to_arrow(x), "nv_bitcast_convert", class = "joist_dtype_error")
    as_bytes <- nv_bitcast_convert(x, "ui8")
    lent <- nv_to_arrow(as_bytes)
    expect_identical(nv_bitcast_convert(nv_from_arrow(lent$array, lent$schema), dtype), x)
  }
})
