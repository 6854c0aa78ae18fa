# Codecs of Zarr that make arrays of arrays, grids of chunks of different lengths, and fields.

# A store with the metadata of an array, in which a chunk may be given as bytes.
described <- function(dtype, shape, chunks, codecs, fill = "0", grid = NULL, put = list(),
                      type = NULL) {
  folder <- tempfile()
  dir.create(folder)
  list_of <- function(x) paste0("[", paste(x, collapse = ","), "]")
  if (is.null(grid)) {
    grid <- sprintf(
      "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":%s}}", list_of(chunks)
    )
  }
  if (is.null(type)) type <- sprintf("\"%s\"", dtype)
  writeLines(sprintf(paste0(
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":%s,\"data_type\":%s,\"chunk_grid\":%s,",
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":%s,\"codecs\":[%s]}"
  ), list_of(shape), type, grid, fill, codecs), file.path(folder, "zarr.json"))
  for (key in names(put)) {
    path <- file.path(folder, key)
    dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
    writeBin(put[[key]], path)
  }
  folder
}

codec <- function(name, ...) {
  how <- c(...)
  sprintf("{\"name\":\"%s\",\"configuration\":{%s}}", name, paste0("\"", names(how), "\":", how,
    collapse = ",", recycle0 = TRUE
  ))
}
bytes <- codec("bytes", endian = "\"little\"")
chunk_of <- function(folder, key) readBin(file.path(folder, key), "raw", 1e4)

test_that("values are cast as the package cast-value 0.2.1 casts them", {
  cases <- utils::read.csv(test_path("zarr-casts.csv"), colClasses = "character")
  cast <- function(case) {
    x <- nv_tensor(as.numeric(case$input), case$from)
    y <- tryCatch(
      joist:::plainly(joist:::cast_value(x, case$to, case$rounding, case$range)),
      joist_value_error = function(e) NULL
    )
    if (is.null(y)) {
      return("error")
    }
    if (startsWith(case$to, "f")) as.numeric(as_array(y)) else as_array(y, "character")
  }
  got <- lapply(split(cases, seq_len(nrow(cases))), cast)
  same <- mapply(function(got, want) {
    identical(got, if (is.numeric(got) && want != "error") as.numeric(want) else want)
  }, got, cases$output)
  expect_identical(unname(which(!same)), integer())
})

test_that("arrays are made with the codecs of elements, and have the bytes that these say", {
  made <- function(dtype, ..., codecs, values = matrix(c(0, 1.25, 2.5, 100), 2), fill = NULL) {
    folder <- tempfile()
    x <- nv_zarr_create(folder, dtype, c(2, 2), ..., codecs = codecs, fill = fill)
    x[] <- nv_tensor(values, dtype)
    list(x = nv_zarr(folder), bytes = chunk_of(folder, "c/0/0"))
  }
  cast <- list("cast_value", data_type = "ui8", rounding = "towards-zero", out_of_range = "clamp")
  got <- made("f32", codecs = list(list("scale_offset", scale = 10), cast))
  expect_identical(got$bytes, as.raw(c(0, 25, 12, 255)))
  expect_identical(as_array(got$x[]), matrix(as_array(nv_tensor(c(0, 1.2, 2.5, 25.5), "f32")), 2))
  got <- made("f32", codecs = list(list("bitround", keepbits = 1L), "crc32c"), fill = 3)
  expect_identical(as_array(got$x[]), matrix(c(0, 1, 2, 96), 2)) # ties to even
  expect_identical(length(got$bytes), 20L)
  got <- made("bool", codecs = "packbits", values = matrix(c(TRUE, TRUE, FALSE, TRUE), 2))
  expect_identical(got$bytes, as.raw(1 + 4 + 8))
  flat <- list(list("reshape", shape = -1))
  got <- made("ui8", codecs = flat, shards = 2, values = matrix(1:4, 2))
  expect_identical(got$bytes[1:4], as.raw(c(1, 3, 2, 4)))
  expect_identical(as_array(got$x[2, ]), c(2L, 4L))
  got <- made("i16", codecs = list(
    list("cast_value", data_type = "int8", scalar_map = list(encode = list(c(500L, -1L)))), "gzip"
  ), values = matrix(c(5, 500, 7, 8), 2))
  expect_identical(as_array(got$x[]), matrix(c(5L, -1L, 7L, 8L), 2))
  stored <- nv_store(nv_tensor(c(1.5, 2.25), "f32"), tempfile(), codecs = list(cast))
  expect_identical(as_array(stored[]), c(1, 2))
  wrong <- function(said, codecs, dtype = "f32") {
    path <- tempfile()
    expect_error(
      nv_zarr_create(path, dtype, 4, codecs = codecs), said, class = "joist_value_error"
    )
    expect_false(file.exists(path))
  }
  wrong("begin with", list("crc32c", list("bitround", keepbits = 3)))
  wrong("configuration", list(list("gzip", level = 3)))
  wrong("configuration", list(list("bitround", 3)))
  wrong("must be cast_value", list(list("delta", dtype = "<f4")))
  wrong("must be cast_value", list(3))
  wrong("`keepbits`", list(list("bitround")))
  wrong("`rounding`", list(list("cast_value", data_type = "ui8", rounding = "up")))
  wrong("`data_type`", list(list("scale_offset", scale = 2)), "bool")
})

test_that("integers of 64 bits wrap exactly", {
  wrapped <- function(values) {
    x <- nv_tensor(values, "f64")
    as_array(joist:::plainly(joist:::cast_value(x, "ui64", "towards-zero", "wrap")), "character")
  }
  expect_identical(wrapped(c(-2.5, -2^63, -2^64 - 2^12, 2^64 + 2^13, 2^63)), c(
    "18446744073709551614", "9223372036854775808", "18446744073709547520", "8192",
    "9223372036854775808"
  ))
})

test_that("cast_value by the words of its specification", {
  cast <- function(values, from, to, ...) {
    folder <- described(from, length(values), length(values), paste0(codec("cast_value",
      data_type = sprintf("\"%s\"", to), ...
    ), ",", bytes))
    x <- nv_zarr(folder)
    x[] <- nv_tensor(values, dtype(x))
    as_array(nv_read_bin(chunk_of(folder, "c/0"), sub("uint", "ui", sub("^int", "i", to))))
  }
  clamp <- c(out_of_range = "\"clamp\"")
  expect_identical(cast(c(-Inf, 300, Inf), "float64", "uint8", clamp), c(0L, 255L, 255L))
  for (range in c("clamp", "wrap")) {
    how <- c(out_of_range = sprintf("\"%s\"", range))
    expect_error(cast(c(1, NaN), "float32", "uint8", how), "NaN", class = "joist_value_error")
  }
  expect_error(cast(c(1, Inf), "float64", "int8"), "Inf", class = "joist_value_error")
  expect_error(cast(c(1, Inf), "float64", "int8", out_of_range = "\"wrap\""), "Inf",
    class = "joist_value_error"
  )
  expect_identical(cast(c(0.49999999999999994, 0.5), "float64", "int8",
    rounding = "\"nearest-away\""
  ), 0:1)
  maps <- c(scalar_map = "{\"encode\":[[\"NaN\",-1],[7,8]],\"decode\":[[-1,\"NaN\"]]}")
  expect_identical(cast(c(NaN, 7, 3), "float64", "int16", maps), c(-1L, 8L, 3L))
  folder <- described("float64", 3, 3, paste0(codec("cast_value",
    data_type = "\"int16\"", maps
  ), ",", bytes), fill = "\"NaN\"", put = list(`c/0` = as.raw(c(255, 255, 1, 0, 8, 0))))
  expect_identical(as_array(nv_zarr(folder)[]), c(NaN, 1, 8))
})

test_that("scale_offset, also of integers, is that of its specification", {
  codecs <- paste(codec("scale_offset", offset = "5", scale = "0.5"), codec("cast_value",
    data_type = "\"uint8\"", out_of_range = "\"clamp\""
  ), codec("bytes"), sep = ",")
  folder <- described("float32", c(2, 3), c(2, 2), codecs)
  x <- nv_zarr(folder)
  values <- matrix(c(5, 7, 9, 10.9, 600, -3), 2)
  x[] <- values
  expect_identical(chunk_of(folder, "c/0/0"), as.raw(c(0, 2, 1, 3)))
  expect_identical(as_array(x[]), matrix(c(5, 7, 9, 11, 515, 5), 2))
  codecs <- paste0(codec("scale_offset", offset = "-1", scale = "3"), ",", bytes)
  folder <- described("int16", 2, 2, codecs)
  x <- nv_zarr(folder)
  x[] <- c(4L, -2L)
  expect_identical(chunk_of(folder, "c/0"), as.raw(c(15, 0, 253, 255)))
  expect_identical(as_array(x[]), c(4L, -2L))
  expect_error(x[] <- c(20000L, 1L), "scale_offset|cast_value", class = "joist_value_error")
  writeBin(as.raw(c(15, 0, 1, 0)), file.path(folder, "c/0"))
  expect_error(x[], "c/0.*scale_offset", class = "joist_value_error")
})

test_that("bitround rounds as numcodecs does", {
  # BitRound(keepbits = 5) of numcodecs 0.16.6
  folder <- described("float32", 6, 6, paste0(codec("bitround", keepbits = "5"), ",", bytes))
  x <- nv_zarr(folder)
  x[] <- nv_tensor(c(1, 1.01, 1.046875, 3.14159274, -2.71828175, 1e10), "f32")
  want <- c(1, 1, 1.0625, 3.125, -2.6875, 9932111872)
  expect_identical(as_array(x[]), want)
  folder <- described("int8", 2, 2, paste0(codec("bitround", keepbits = "1"), ",", codec("bytes")),
    put = list(`c/0` = as.raw(1:2))
  )
  expect_identical(as_array(nv_zarr(folder)[]), 1:2)
  x <- nv_zarr(folder)
  expect_error(x[] <- 1:2, "bitround", class = "joist_value_error")
})

test_that("reshape keeps the order of elements, also with transpose and in shards", {
  values <- array(seq_len(2 * 3 * 4), c(2, 3, 4))
  rows <- as.integer(aperm(values)) # in the order of C
  little <- function(x) writeBin(as.integer(x), raw(), endian = "little")
  for (shape in c("[[0,1],4]", "[[0],-1]", "[24]", "[6,4]", "[[0,1,2]]", "[2,[1,2]]")) {
    codecs <- paste0(codec("reshape", shape = shape), ",", bytes)
    folder <- described("int32", c(2, 3, 4), c(2, 3, 4), codecs)
    x <- nv_zarr(folder)
    x[] <- nv_tensor(values)
    expect_identical(chunk_of(folder, "c/0/0/0"), little(rows))
    expect_identical(as_array(x[]), values)
  }
  codecs <- paste(codec("transpose", order = "[2,0,1]"), codec("reshape", shape = "[4,6]"),
    codec("transpose", order = "[1,0]"), bytes, sep = ","
  )
  folder <- described("int32", c(2, 3, 4), c(2, 3, 4), codecs)
  x <- nv_zarr(folder)
  x[] <- nv_tensor(values)
  expect_identical(as_array(x[]), values)
  shards <- codec("sharding_indexed", chunk_shape = "[1,3,4]", codecs = sprintf("[%s]", codecs),
    index_codecs = sprintf("[%s]", bytes)
  )
  folder <- described("int32", c(2, 3, 4), c(2, 3, 4), sub("4,6", "4,3", shards), fill = "7")
  x <- nv_zarr(folder)
  x[2, , ] <- nv_tensor(values[2, , ])
  expect_identical(as_array(x[]), {
    values[1, , ] <- 7L
    values
  })
})

test_that("blocks with their dimensions reversed have the same elements", {
  values <- matrix(as.double(1:24), 4)
  cast <- paste0(codec("cast_value", data_type = "\"int16\""), ",")
  shard <- codec("sharding_indexed", chunk_shape = "[2,3]", codecs = sprintf("[%s%s]", cast, bytes),
    index_codecs = sprintf("[%s]", bytes)
  )
  for (codecs in c(
    paste0(cast, bytes), paste0(cast, codec("packbits")),
    paste0(cast, codec("packbits", last_bit = "7")),
    paste0(codec("transpose", order = "[1,0]"), ",", cast, bytes), shard,
    paste0(cast, codec("reshape", shape = "[2,-1]"), ",", bytes)
  )) {
    for (shape in list(c(4, 6), c(4, 4))) {
      want <- values[, seq_len(shape[2])]
      x <- nv_zarr(described("float64", shape, if (codecs == shard) c(4, 6) else c(2, 2), codecs))
      x[] <- want
      expect_identical(as_array(nv_compute(x)), want)
      expect_identical(as_array(nv_compute(x * 2 + 1)), want * 2 + 1)
      expect_identical(as_array(nv_compute(nv_reduce_sum(x, 1))), colSums(want))
      expect_identical(as_array(x[3:1, c(4, 2)]), want[3:1, c(4, 2)])
      array <- joist:::reversed_array(joist:::array_in(x))
      other <- nv_transpose(nv_tensor(want * 3 - 1, "f64"))
      joist:::write_parts(array, list(c(1L, 1L)), list(other))
      expect_identical(as_array(x[]), want * 3 - 1)
    }
  }
})

test_that("packbits packs bits from the lowest on", {
  packed <- function(dtype, values, chunk, ...) {
    folder <- described(dtype, length(values), length(values), codec("packbits", ...),
      fill = if (dtype == "bool") "false" else "0"
    )
    x <- nv_zarr(folder)
    x[] <- nv_tensor(values, dtype(x))
    expect_identical(chunk_of(folder, "c/0"), as.raw(chunk))
    expect_identical(as_array(x[]), values)
  }
  packed("bool", c(TRUE, FALSE, TRUE, TRUE, rep(FALSE, 5), TRUE), c(13, 2))
  packed("bool", c(TRUE, FALSE, TRUE), c(5, 5), padding_encoding = "\"last_byte\"")
  packed("bool", c(TRUE, FALSE, TRUE), c(5, 5), padding_encoding = "\"first_byte\"")
  packed("int4", c(-8L, 7L, -1L), c(0x78, 0x0f))
  packed("uint2", c(3L, 0L, 1L, 2L, 3L), c(0x93, 3))
  packed("int16", c(-3L, 5L, 2L, -8L), c(0x5d, 0x82), last_bit = "3")
  packed("uint8", c(12L, 4L, 8L), c(0x27), first_bit = "2", last_bit = "3")
  packed("uint8", c(1L, 255L), c(1, 255))
  folder <- described("bool", 3, 3, codec("packbits", padding_encoding = "\"last_byte\""),
    fill = "false", put = list(`c/0` = as.raw(c(5, 4)))
  )
  expect_error(nv_zarr(folder)[], "c/0.*padding", class = "joist_value_error")
  writeBin(as.raw(5), file.path(folder, "c/0"))
  expect_error(nv_zarr(folder)[], "c/0.*bytes", class = "joist_value_error")
})

test_that("codecs that are wrong are errors that name the field", {
  wrong <- function(field, ..., dtype = "float32", fill = "0") {
    folder <- described(dtype, c(2, 3), c(2, 3), paste(c(...), collapse = ","), fill)
    expect_error(nv_zarr(folder), field, class = "joist_error")
  }
  cast <- function(...) c(codec("cast_value", ...), bytes)
  wrong("data_type", cast())
  wrong("data_type", cast(data_type = "\"int3\""))
  wrong("data_type", cast(data_type = "\"bool\""))
  wrong("rounding", cast(data_type = "\"int8\"", rounding = "\"up\""))
  wrong("rounding", cast(data_type = "\"int8\"", rounding = "3"))
  wrong("out_of_range", cast(data_type = "\"int8\"", out_of_range = "\"ignore\""))
  wrong("more", cast(data_type = "\"int8\"", more = "1"))
  wrong("scalar_map", cast(data_type = "\"int8\"", scalar_map = "3"))
  wrong("scalar_map", cast(data_type = "\"int8\"", scalar_map = "{\"encode\":[[1]]}"))
  wrong("scalar_map", cast(data_type = "\"int8\"", scalar_map = "{\"encode\":[[1,300]]}"))
  wrong("scale", codec("scale_offset", scale = "0"), bytes)
  wrong("offset", codec("scale_offset", offset = "\"x\""), bytes)
  wrong("scale_offset", codec("scale_offset", scale = "2"), bytes, dtype = "bool", fill = "false")
  wrong("keepbits", codec("bitround", keepbits = "0"), bytes)
  wrong("keepbits", codec("bitround"), bytes)
  for (shape in c(
    "[5]", "[-1,-1]", "[[1],[0]]", "[[0,2]]", "[[3]]", "7", "[-2,-3]", "[4,[1]]", "[0]"
  )) {
    wrong("shape", codec("reshape", shape = shape), bytes)
  }
  wrong("last_bit", codec("packbits", last_bit = "32"))
  wrong("last_bit", codec("packbits", first_bit = "3", last_bit = "2"))
  wrong("padding_encoding", codec("packbits", padding_encoding = "\"both\""))
  wrong("codecs", codec("gzip", level = "1"), codec("bitround", keepbits = "3"), bytes)
  shards <- codec("sharding_indexed", chunk_shape = "[1]", codecs = sprintf("[%s]", codec("bytes")),
    index_codecs = sprintf("[%s]", bytes)
  )
  shards <- paste0(codec("cast_value", data_type = "\"int8\""), ",", shards)
  expect_error(nv_zarr(described("float32", 2, 2, shards, "\"NaN\"")), "fill_value",
    class = "joist_value_error"
  )
  expect_identical(as_array(nv_zarr(described("float32", 2, 2, shards, "3"))[]), c(3, 3))
})

test_that("grids of chunks of different lengths are read", {
  little <- function(x) writeBin(as.integer(x), raw(), endian = "little")
  values <- matrix(1:42, 6)
  grid <- function(edges) {
    paste0(
      "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",\"chunk_shapes\":",
      edges, "}}"
    )
  }
  rows <- list(1:1, 2:4, 5:6)
  columns <- list(1:4, 5:7)
  put <- list()
  for (i in 1:3) {
    for (j in 1:2) {
      part <- values[rows[[i]], columns[[j]], drop = FALSE]
      if (j == 2) part <- cbind(part, 0L) # beyond the array
      put[[paste0("c/", i - 1, "/", j - 1)]] <- little(t(part))
    }
  }
  for (edges in c("[[1,3,2],4]", "[[1,[3,1],2],[[4,2]]]", "[[[1,1],3,2,9],[4,4,4]]")) {
    x <- nv_zarr(described("int32", c(6, 7), NULL, bytes, grid = grid(edges), put = put))
    expect_identical(as_array(nv_compute(x)), values)
    expect_identical(as_array(x[c(6, 2), 3:5]), values[c(6, 2), 3:5])
    expect_equal(as_array(nv_compute(nv_reduce_sum(x, 1))), colSums(values))
    expect_error(x[1, 1] <- 1L, "store", class = "joist_value_error")
  }
  x <- nv_zarr(described("int32", c(6, 7), NULL, bytes,
    fill = "-1", grid = grid("[[1,3,2],4]"), put = put["c/1/0"]
  ))
  want <- array(-1L, c(6, 7))
  want[2:4, 1:4] <- values[2:4, 1:4]
  expect_identical(as_array(nv_compute(x)), want)
  for (edges in c("[[1,3,1],4]", "[4]", "[[1,[3],2],4]", "[[1,-3],4]", "[\"a\",4]", "[0,4]", "7")) {
    expect_error(nv_zarr(described("int32", c(6, 7), NULL, bytes, grid = grid(edges))),
      "chunk_shapes",
      class = "joist_value_error"
    )
  }
  put[["c/0/0"]] <- raw(3)
  x <- nv_zarr(described("int32", c(6, 7), NULL, bytes, grid = grid("[[1,3,2],4]"), put = put))
  expect_error(x[1, 1], "c/0/0", class = "joist_value_error")
})

test_that("arrays of elements with fields are a list of their fields", {
  type <- paste0(
    "{\"name\":\"structured\",\"configuration\":{\"fields\":",
    "[[\"a\",\"int16\"],[\"b\",\"float32\"]]}}"
  )
  other <- paste0(
    "{\"name\":\"struct\",\"configuration\":{\"fields\":",
    "[{\"name\":\"a\",\"data_type\":\"int16\"},",
    "{\"name\":\"b\",\"data_type\":\"float32\"}]}}"
  )
  element <- function(a, b, endian) {
    c(writeBin(a, raw(), 2, endian), writeBin(b, raw(), 4, endian))
  }
  for (endian in c("little", "big")) {
    put <- list(
      `c/0/0` = c(element(1L, 0.5, endian), element(-2L, 1.5, endian)),
      `c/1/0` = c(element(7L, 2.5, endian), element(8L, -4, endian))
    )
    for (one in c(type, other)) {
      codecs <- codec("bytes", endian = sprintf("\"%s\"", endian))
      x <- nv_zarr(described(NULL, c(2, 3), c(1, 2), codecs,
        fill = "\"AAAAAAAA\"", put = put, type = one
      ))
      expect_identical(names(x), c("a", "b"))
      expect_identical(dtype(x$b), as_dtype("f32"))
      expect_identical(as_array(nv_compute(x$a)), rbind(c(1L, -2L, 0L), c(7L, 8L, 0L)))
      expect_identical(as_array(nv_compute(x$b)), rbind(c(0.5, 1.5, 0), c(2.5, -4, 0)))
      expect_identical(as_array(nv_compute(x$b * 2)[2, ]), c(5, -8, 0))
    }
  }
  shards <- codec("sharding_indexed", chunk_shape = "[1,2]", codecs = sprintf("[%s]", bytes),
    index_codecs = sprintf("[%s]", bytes)
  )
  x <- nv_zarr(described(NULL, c(2, 3), c(2, 4), shards, fill = "\"AAAAAAAA\"", type = type))
  expect_identical(as_array(nv_compute(x$a)), matrix(0L, 2, 3))
  for (fields in c("3", "[]", "[[\"a\"]]", "[[\"a\",\"int3\"]]", "[[1,\"int8\"]]")) {
    one <- sub("\\[\\[.*\\]\\]", fields, type)
    expect_error(nv_zarr(described(NULL, 2, 2, bytes, type = one)), "fields|data_type",
      class = "joist_error"
    )
  }
  filled <- described(NULL, 2, 2, bytes, fill = "\"AQAAAAAA\"", type = type)
  expect_error(nv_zarr(filled), "fill_value", class = "joist_value_error")
})

test_that("metadata of which a value is replaced by another is read, or an error of joist", {
  withr::local_seed(1)
  seeds <- c(
    described("float64", c(4, 6), c(4, 6), paste(
      codec("scale_offset", offset = "1", scale = "2"), codec("cast_value",
        data_type = "\"int16\"", rounding = "\"nearest-even\"", out_of_range = "\"clamp\"",
        scalar_map = "{\"encode\":[[\"NaN\",-1]],\"decode\":[[-1,\"NaN\"]]}"
      ), codec("reshape", shape = "[[0,1]]"), bytes,
      sep = ","
    )),
    described("int8", c(4, 6), c(2, 3), paste(
      codec("transpose", order = "[1,0]"), codec("bitround", keepbits = "3"),
      codec("packbits", first_bit = "1", padding_encoding = "\"last_byte\""),
      sep = ","
    )),
    described("int32", c(6, 7), NULL, bytes, grid = paste0(
      "{\"name\":\"rectilinear\",\"configuration\":{\"kind\":\"inline\",",
      "\"chunk_shapes\":[[1,3,2],[[4,2]]]}}"
    )),
    described(NULL, c(2, 3), c(1, 2), bytes, fill = "\"AAAAAAAA\"", type = paste0(
      "{\"name\":\"struct\",\"configuration\":{\"fields\":[[\"a\",\"int16\"],[\"b\",\"float32\"]]}}"
    )),
    described(NULL, 3, 2, bytes, fill = "\"\"", type = paste0(
      "{\"name\":\"fixed_length_utf32\",\"configuration\":{\"length_bytes\":8}}"
    ))
  )
  # Values, not the names of fields; of lists and objects the innermost.
  values <- paste0(
    "\"[^\"]*\":(*SKIP)(*FAIL)|\"[^\"]*\"|-?[0-9.]+|\\[[^][]*\\]|\\{[^{}]*\\}|null|true|false"
  )
  others <- c(
    "1", "0", "-1", "3", "1e9", "99999999999", "null", "true", "\"x\"", "[]", "{}", "[1]",
    "[[1,2]]", "\"int8\"", "\"NaN\"", "0.5", "{\"name\":\"bytes\"}", "\"\""
  )
  other_errors <- character()
  for (k in 1:300) {
    text <- readLines(file.path(sample(seeds, 1L), "zarr.json"))
    found <- gregexpr(values, text, perl = TRUE)[[1L]]
    at <- sample(length(found), 1L)
    end <- found[at] + attr(found, "match.length")[at]
    text <- paste0(substr(text, 1L, found[at] - 1L), sample(others, 1L), substring(text, end))
    folder <- tempfile()
    dir.create(folder)
    writeLines(text, file.path(folder, "zarr.json"))
    tryCatch(
      {
        x <- nv_zarr(folder)
        if (is.list(x)) x <- x[[1L]]
        if (is_tensor(x) && length(x) < 1e5) nv_compute(x)
      },
      joist_error = identity, error = function(e) other_errors <<- c(other_errors, text)
    )
  }
  expect_identical(other_errors, character())
})
