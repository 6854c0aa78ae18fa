# Zarr arrays: stores written by hand, chunk by chunk; what is wrong in them; what joist writes,
# against the bytes that the format's specification asks for.

zarr_file <- function(folder, name, content) {
  path <- file.path(folder, name)
  dir.create(dirname(path), showWarnings = FALSE, recursive = TRUE)
  if (is.character(content)) content <- charToRaw(content)
  writeBin(content, path)
}

hex <- function(text) {
  at <- seq(1L, nchar(text), 2L)
  as.raw(strtoi(substring(text, at, at + 1L), 16L))
}

# Metadata of version 3, with fields of JSON replaced or left out (NULL).
array_json <- function(...) {
  fields <- list(
    zarr_format = "3", node_type = "\"array\"", shape = "[2,3]", data_type = "\"int16\"",
    chunk_grid = "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,3]}}",
    chunk_key_encoding = "{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}",
    fill_value = "0", codecs = "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]"
  )
  fields <- utils::modifyList(fields, list(...))
  paste0("{", paste0("\"", names(fields), "\":", fields, collapse = ","), "}")
}

array_of <- function(chunk, ..., key = "c/0/0") {
  folder <- tempfile(fileext = ".zarr")
  zarr_file(folder, "zarr.json", array_json(...))
  if (!is.null(chunk)) zarr_file(folder, key, chunk)
  folder
}

codecs <- function(...) {
  parts <- c("{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}", ...)
  paste0("[", paste(parts, collapse = ","), "]")
}
named <- function(name) paste0("{\"name\":\"", name, "\"}")

# 1, -2, 3 and -4, 5, -6 as rows of int16, with the last extent the fastest.
rows <- matrix(c(1, -4, -2, 5, 3, -6), 2)
little <- hex("0100feff0300fcff0500faff")

test_that("a chunk written by hand is read", {
  x <- nv_zarr(array_of(little))
  expect_identical(dtype(x), as_dtype("i16"))
  expect_identical(shape(x), 2:3)
  expect_identical(as_array(nv_compute(x)) + 0, rows)
  big <- gsub("little", "big", codecs())
  x <- nv_zarr(array_of(hex("0001fffe0003fffc0005fffa"), codecs = big))
  expect_identical(as_array(x[]) + 0, rows)
  # The first extent the fastest.
  turned <- paste0(
    "[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},", substring(codecs(), 2L)
  )
  x <- nv_zarr(array_of(hex("0100fcfffeff05000300faff"), codecs = turned))
  expect_identical(as_array(x[]) + 0, rows)
})

test_that("compressed chunks are read, as Python's gzip, zlib and numcodecs write them", {
  packed <- "1f8b08000000000002036364f8f79f99e1cf7f56865fff01e4358e750c000000"
  x <- nv_zarr(array_of(hex(packed), codecs = codecs(named("gzip"))))
  expect_identical(as_array(x[]) + 0, rows)
  packed <- "78da6364f8f79f99e1cf7f56865fff0120fd05fb"
  x <- nv_zarr(array_of(hex(packed), codecs = codecs(named("numcodecs.zlib"))))
  expect_silent(seen <- as_array(x[]))
  expect_identical(seen + 0, rows)
})

test_that("Python's version of a checksum is read", {
  x <- nv_zarr(array_of(c(little, hex("a8019ba4")), codecs = codecs(named("crc32c"))))
  expect_identical(as_array(x[]) + 0, rows)
})

test_that("a chunk that is not there has the fill value", {
  fill <- function(value, type, ...) {
    folder <- array_of(NULL, fill_value = value, data_type = paste0("\"", type, "\""))
    nv_zarr(folder)[1, 2]
  }
  expect_identical(as_array(fill("-7", "int16")), -7L)
  expect_identical(as_array(fill("true", "bool")), TRUE)
  expect_identical(as_array(fill("18446744073709551615", "uint64"), "character"),
    "18446744073709551615")
  expect_identical(as_array(fill("1.5", "float32")), 1.5)
  expect_identical(as_array(fill("\"-Infinity\"", "float16")), -Inf)
  bits <- function(x) nv_write_bin(x, endian = "big")
  expect_identical(bits(fill("\"NaN\"", "float64")), hex("7ff8000000000000"))
  expect_identical(bits(fill("\"0x7fc00001\"", "float32")), hex("7fc00001"))
  infinite <- complex(real = 1.5, imaginary = Inf)
  expect_identical(as_array(fill("[1.5,\"Infinity\"]", "complex64")), infinite)
  expect_identical(as_array(fill("0.5", "bfloat16")), 0.5)
})

test_that("version 2 is read", {
  folder <- tempfile()
  meta <- function(order, dtype, more = "") {
    paste0(
      "{\"zarr_format\":2,\"shape\":[3,3],\"chunks\":[2,3],\"dtype\":\"", dtype,
      "\",\"compressor\":null,\"fill_value\":9,\"filters\":null,",
      "\"order\":\"", order, "\"", more, "}"
    )
  }
  zarr_file(folder, ".zarray", meta("C", "<i2"))
  zarr_file(folder, ".zattrs", "{\"units\":\"m\",\"range\":[1,2.5]}")
  zarr_file(folder, "0.0", little)
  x <- nv_zarr(folder)
  expect_identical(as_array(x[]) + 0, rbind(rows, 9))
  expect_identical(attr(x, "zarr_attributes"), list(units = "m", range = c(1, 2.5)))
  zarr_file(folder, ".zarray", meta("F", ">i2", ",\"dimension_separator\":\"/\""))
  unlink(file.path(folder, "0.0"))
  zarr_file(folder, "0/0", hex("0001fffcfffe00050003fffa"))
  expect_identical(as_array(nv_zarr(folder)[]) + 0, rbind(rows, 9))
})

test_that("version 2's compressed chunks are read and written, and its groups", {
  folder <- tempfile()
  zarr_file(folder, ".zgroup", "{\"zarr_format\":2}")
  zarr_file(folder, ".zattrs", "{\"title\":\"t\"}")
  zarr_file(folder, "a/.zarray", paste0(
    "{\"zarr_format\":2,\"shape\":[2,3],\"chunks\":[2,3],\"dtype\":\"<i2\",",
    "\"compressor\":{\"id\":\"zlib\",\"level\":9},\"fill_value\":0,\"filters\":null,",
    "\"order\":\"C\"}"
  ))
  zarr_file(folder, "a/0.0", hex("78da6364f8f79f99e1cf7f56865fff0120fd05fb")) # Python's
  group <- nv_zarr(folder)
  expect_named(group, "a")
  expect_identical(attr(group, "zarr_attributes"), list(title = "t"))
  x <- group$a
  expect_identical(as_array(x[]) + 0, rows)
  x[1, 1] <- 258L
  packed <- readBin(file.path(folder, "a/0.0"), "raw", 99)
  expect_identical(memDecompress(packed, "gzip"), c(hex("0201"), little[-(1:2)]))
})

test_that("orders by letter, and types of one byte without an order of bytes, are read", {
  expect_rows <- function(chunk, first) {
    codecs <- paste0("[", first, "{\"name\":\"bytes\"}]")
    x <- nv_zarr(array_of(chunk, data_type = "\"int8\"", codecs = codecs))
    expect_identical(dtype(x), as_dtype("i8"))
    expect_identical(as_array(x[]) + 0, rows)
  }
  transpose <- "{\"name\":\"transpose\",\"configuration\":{\"order\":\"%s\"}},"
  expect_rows(hex("01fe03fc05fa"), "")
  expect_rows(hex("01fe03fc05fa"), sprintf(transpose, "C"))
  expect_rows(hex("01fcfe0503fa"), sprintf(transpose, "F"))
})

test_that("metadata that is wrong is an error that names the field", {
  wrong <- function(field, ..., class = "joist_value_error") {
    expect_error(nv_zarr(array_of(little, ...)), field, class = class)
  }
  wrong("`zarr_format`", zarr_format = "4")
  wrong("`node_type`", node_type = "\"tree\"")
  wrong("`shape`", shape = "[2,-3]")
  wrong("`shape`", shape = "[2,3.5]")
  wrong("`shape`", shape = "[2,3000000000]")
  wrong("`shape`", shape = "\"2\"")
  wrong("`data_type`.*int3", data_type = "\"int3\"", class = "joist_dtype_error")
  wrong("`data_type`", data_type = "7")
  wrong("`chunk_grid`.*hexagonal", chunk_grid = "{\"name\":\"hexagonal\"}")
  set <- function(name, what, value) {
    paste0("{\"name\":\"", name, "\",\"configuration\":{\"", what, "\":", value, "}}")
  }
  wrong("`chunk_shape`", chunk_grid = set("regular", "chunk_shape", "[2]"))
  wrong("`chunk_shape`", chunk_grid = set("regular", "chunk_shape", "[2,0]"))
  wrong("`separator`", chunk_key_encoding = set("default", "separator", "\"-\""))
  wrong("`chunk_key_encoding`", chunk_key_encoding = "{\"name\":\"other\"}")
  for (value in c("1.5", "\"NaN\"", "40000", "[1,2]", "true", "\"0x1\"")) {
    wrong("`fill_value`", fill_value = value)
  }
  wrong("`fill_value`", fill_value = "true", data_type = "\"float32\"")
  for (value in c("[1]", "[1,true]", "\"NaN\"")) {
    wrong("`fill_value`", fill_value = value, data_type = "\"complex64\"")
  }
  wrong("`codecs` must have an object", codecs = "[{\"name\":\"bytes\",\"configuration\":7}]")
  wrong("`codecs`", codecs = "[]")
  wrong("chunk_shape", codecs = "[{\"name\":\"sharding_indexed\"}]")
  wrong("`codecs`.*zfpy", codecs = codecs(named("zfpy")))
  wrong("`endian`", codecs = "[{\"name\":\"bytes\"}]")
  wrong("`order`", codecs = paste0(
    "[{\"name\":\"transpose\",\"configuration\":{\"order\":[0,0]}},", substring(codecs(), 2L)
  ))
  wrong("`dimension_names`", dimension_names = "[\"a\"]")
  wrong("`attributes`", attributes = "[]")
  wrong("`storage_transformers`", storage_transformers = "[{\"name\":\"x\"}]")
  wrong("`novelty` is not known", novelty = "{\"name\":\"x\"}")
  expect_no_error(nv_zarr(array_of(little, novelty = "{\"must_understand\":false}")))
  folder <- array_of(little)
  for (text in c("", "{", "[1,]", "{\"a\":1}x", "nul", strrep("[", 100), "{\"zarr_format\":01}")) {
    zarr_file(folder, "zarr.json", text)
    expect_error(nv_zarr(folder), "zarr.json", class = "joist_value_error")
  }
  expect_error(nv_zarr(tempfile()), "no Zarr array", class = "joist_value_error")
})

test_that("attributes of version 2 other than an object are an error that names the key", {
  folder <- tempfile()
  dir.create(folder)
  writeLines("{\"zarr_format\": 2}", file.path(folder, ".zgroup"))
  writeLines("64", file.path(folder, ".zattrs"))
  expect_error(nv_zarr(folder), ".zattrs: is not a JSON object", class = "joist_value_error")
})

test_that("version 2's fields are named, too", {
  folder <- tempfile()
  fields <- c(
    zarr_format = "2", shape = "[2,3]", chunks = "[2,3]", dtype = "\"<i2\"", compressor = "null",
    fill_value = "0", order = "\"C\"", filters = "null"
  )
  wrong <- function(field, value, class = "joist_value_error", pattern = field) {
    fields[field] <- value
    members <- paste0("\"", names(fields), "\":", fields, collapse = ",")
    zarr_file(folder, ".zarray", paste0("{", members, "}"))
    expect_error(nv_zarr(folder), pattern, class = class)
  }
  wrong("zarr_format", "3")
  wrong("shape", "2")
  wrong("chunks", "[2]")
  wrong("dtype", "\"<M8[ns]\"", "joist_dtype_error")
  wrong("dtype", "[[\"a\",\"<i2\"]]")
  wrong("order", "\"A\"")
  wrong("filters", "[{\"id\":\"delta\"}]", pattern = "delta")
  wrong("compressor", "{\"id\":\"lzo\"}", pattern = "lzo")
  wrong("fill_value", "\"x\"")
})

test_that("metadata with random bytes in it is read or refused", {
  set.seed(3)
  folder <- array_of(little, dimension_names = "[\"a\",null]", attributes = "{\"b\":[1,{}]}")
  good <- charToRaw(array_json(dimension_names = "[\"a\",null]", attributes = "{\"b\":[1,{}]}"))
  pieces <- c(as.list(as.raw(1:255)), lapply(c(
    "null", "{}", "[]", "-1", "1e999", "true", "\"\"", "[[", "]]", "\\u0000", "99999999999"
  ), charToRaw))
  for (k in 1:3000) {
    at <- sort(sample(length(good), 2L))
    if (k %% 2 == 0) at[2L] <- at[1L]
    piece <- pieces[[sample(length(pieces), 1L)]]
    bytes <- c(good[seq_len(at[1L] - 1L)], piece, good[-seq_len(at[2L])])
    zarr_file(folder, "zarr.json", bytes)
    x <- tryCatch(nv_zarr(folder), joist_error = identity)
    if (!is_tensor(x) && !inherits(x, "joist_error") && !is.list(x)) fail(rawToChar(bytes))
  }
  succeed()
})

test_that("a chunk that is wrong is an error that names it", {
  broken <- function(chunk, pattern, ...) {
    x <- nv_zarr(array_of(chunk, ...))
    expect_no_warning(
      expect_error(x[], paste0("c/0/0.*", pattern), class = "joist_value_error")
    )
  }
  broken(little[-1], "11 bytes, and 12 are needed")
  broken(c(little, raw(1)), "13 bytes")
  broken(raw(), "0 bytes")
  packed <- hex("1f8b08000000000002036364f8f79f99e1cf7f56865fff01e4358e750c000000")
  for (n in seq_along(packed)) {
    broken(packed[seq_len(n - 1L)], "", codecs = codecs(named("gzip")))
    changed <- replace(packed, n, xor(packed[n], as.raw(0x10)))
    got <- tryCatch(as_array(nv_zarr(array_of(changed, codecs = codecs(named("gzip"))))[]) + 0,
      joist_value_error = conditionMessage)
    expect_true(identical(got, rows) || is.character(got) && grepl("c/0/0", got))
  }
  summed <- c(little, hex("a8019ba4"))
  for (n in seq_along(summed)) {
    changed <- replace(summed, n, xor(summed[n], as.raw(1)))
    broken(changed, "CRC-32C", codecs = codecs(named("crc32c")))
  }
  broken(as.raw(0:5), "bool", data_type = "\"bool\"", fill_value = "false")
})

test_that("zstd is that of R, from 4.5 on, where joist was built without its library", {
  own <- joist:::core_codecs()
  if (joist:::base_has_zstd() && "zstd" %in% own) {
    x <- nv_store(nv_tensor(1:1000), tempfile(), chunks = 300, codecs = "zstd")
    local_mocked_bindings(core_codecs = function() setdiff(own, "zstd"), .package = "joist")
    expect_identical(as_array(x[]), 1:1000)
    x[5] <- 7L
    local_mocked_bindings(core_codecs = function() own, .package = "joist")
    expect_identical(as_array(x[]), replace(1:1000, 5, 7L))
  } else {
    expect_identical("zstd" %in% joist:::zarr_codecs(), "zstd" %in% own)
  }
})

test_that("gzip and zlib have the streams of R, in folders and in stores of functions", {
  # R's functions, which joist uses where it was built without zlib.
  deflate <- joist:::deflate
  inflate <- joist:::inflate
  in_memory <- function() {
    kept <- new.env()
    list(kept = kept, store = nv_zarr_store(
      get = function(key) kept[[key]], put = function(key, bytes) assign(key, bytes, envir = kept)
    ))
  }
  written <- function(path, key) {
    file <- file.path(path, key)
    readBin(file, "raw", file.size(file))
  }
  # Elements of uint8 in one chunk.
  bytes_array <- function(chunk, n, codec) {
    array_of(chunk, shape = sprintf("[%d]", n), data_type = "\"uint8\"",
      chunk_grid = sprintf(
        "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[%d]}}", n
      ),
      fill_value = "255", codecs = codecs(named(codec)), key = "c/0")
  }
  # From R 4.4 on memCompress() may be libdeflate's, with other streams of the same bytes.
  of_zlib <- !("libdeflate" %in% names(extSoftVersion())) || extSoftVersion()["libdeflate"] == ""
  set.seed(5)
  for (bytes in list(as.raw(7), raw(1e5), as.raw(sample(0:255, 7e4, TRUE)),
    rep(as.raw(0:99), 999))) {
    n <- length(bytes)
    value <- nv_read_bin(bytes, "ui8")
    of_r <- memCompress(bytes, "gzip") # within the ends of zlib
    for (codec in c("gzip", "numcodecs.zlib")) {
      folder <- bytes_array(NULL, n, codec)
      x <- nv_zarr(folder)
      x[] <- value
      packed <- written(folder, "c/0")
      ends <- if (codec == "gzip") c(10L, 8L) else c(2L, 4L)
      if (of_zlib) {
        expect_identical(packed[seq(ends[1L] + 1L, length(packed) - ends[2L])],
          of_r[3:(length(of_r) - 4L)])
      }
      expect_identical(memDecompress(packed, "gzip"), bytes)
      expect_identical(nv_compute(nv_zarr(folder)), value)
      memory <- in_memory()
      assign("zarr.json", written(folder, "zarr.json"), envir = memory$kept)
      x <- nv_zarr(memory$store)
      x[] <- value
      expect_identical(memory$kept[["c/0"]], packed)
      expect_identical(nv_compute(nv_zarr(memory$store)), value)
      if (of_zlib) expect_identical(deflate(bytes, codec), packed)
      expect_identical(inflate(deflate(bytes, codec), codec, n), bytes)
      expect_identical(inflate(packed, codec, n), bytes)
      # Neither less nor more than the stream.
      for (odd in list(packed[-length(packed)], c(packed, as.raw(1)))) {
        expect_error(nv_zarr(bytes_array(odd, n, codec))[], "c/0", class = "joist_value_error")
        assign("c/0", odd, envir = memory$kept)
        expect_error(nv_zarr(memory$store)[], "c/0", class = "joist_value_error")
        expect_error(inflate(odd, codec, n), class = "joist_value_error")
      }
    }
    if (of_zlib) expect_identical(of_r, packed)
    twice <- c(deflate(bytes, "gzip"), deflate(rev(bytes), "gzip"))
    expect_identical(nv_zarr(bytes_array(twice, 2 * n, "gzip"))[],
      nv_read_bin(c(bytes, rev(bytes)), "ui8"))
  }
})

test_that("zstd and blosc are read and written where joist has them, or named", {
  have <- written_codecs()
  # Of Python's zstd and numcodecs.
  packed <- c(
    zstd = "28b52ffd200c6100000100feff0300fcff0500faff",
    blosc = "020133010c0000000c0000001c0000000100feff0300fcff0500faff"
  )
  for (name in names(packed)) {
    folder <- array_of(hex(packed[[name]]), codecs = codecs(named(name)))
    if (!name %in% have) {
      expect_error(nv_zarr(folder), paste0("lib", name), class = "joist_value_error")
      next
    }
    expect_identical(as_array(nv_zarr(folder)[]) + 0, rows)
    for (n in seq_len(nchar(packed[[name]]) / 2) - 1L) {
      folder <- array_of(hex(packed[[name]])[seq_len(n)], codecs = codecs(named(name)))
      expect_error(nv_zarr(folder)[], "c/0/0", class = "joist_value_error")
    }
  }
})

test_that("a small stream that would fill the memory is refused by its length", {
  bomb <- memCompress(raw(5e7), "gzip")
  folder <- array_of(bomb, codecs = codecs(named("numcodecs.zlib")))
  expect_error(nv_zarr(folder)[], "c/0/0", class = "joist_value_error")
})

test_that("what is written is what is read, for every dtype, codec, order and part of a chunk", {
  shapes <- list(7L, c(5L, 4L), c(4L, 3L, 5L))
  chunks <- list(3L, c(2L, 4L), c(3L, 3L, 2L))
  codecs <- c(list(character(), c("gzip", "crc32c")), as.list(written_codecs()))
  ways <- expand.grid(codec = seq_along(codecs), order = 1:3, endian = c("little", "big"))
  # Two dtypes in all ways, of each other one every fifth way, another one for each.
  way <- 0L
  for (dtype in dtypes()) {
    size <- length(nv_write_bin(nv_convert(nv_scalar(0), dtype)))
    for (k in seq_along(shapes)) {
      n <- prod(shapes[[k]])
      bytes <- if (dtype == "bool") as.raw(seq_len(n) %% 3 == 0) else
        as.raw((seq_len(n * size) * 197 + 91) %% 256)
      value <- nv_read_bin(bytes, dtype, shapes[[k]])
      orders <- list("C", "F", c(seq_along(shapes[[k]])[-1L], 1L))
      some <- (way + seq_len(nrow(ways))) %% 5L == 0L
      way <- way + nrow(ways)
      for (w in which(some | dtype %in% c("i16", "c64"))) {
        codec <- codecs[[ways$codec[w]]]
        order <- orders[[ways$order[w]]]
        endian <- as.character(ways$endian[w])
        folder <- tempfile()
        x <- nv_zarr_create(folder, dtype, shapes[[k]], chunks[[k]],
          codecs = codec, order = order, endian = endian)
        x[] <- value
        if (!identical(nv_zarr(folder)[], value)) {
          fail(paste(c(dtype, shapes[[k]], endian, order, codec), collapse = " "))
        }
        unlink(folder, recursive = TRUE)
      }
    }
  }
  succeed()
})

test_that("the bytes of a chunk that is written are those of the format", {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "i16", c(3, 3), c(2, 3), codecs = "crc32c", fill = 9L)
  x[1:2, ] <- nv_tensor(rows, "i16")
  expect_identical(readBin(file.path(folder, "c/0/0"), "raw", 99), c(little, hex("a8019ba4")))
  expect_identical(list.files(folder, recursive = TRUE), c("c/0/0", "zarr.json"))
  expect_identical(as_array(nv_zarr(folder)[]) + 0, rbind(rows, 9))
  x[3, 2] <- 1L # half a chunk, the rest of which has the fill value
  nine <- "0900"
  wanted <- hex(paste0(nine, "0100", strrep(nine, 4)))
  expect_identical(readBin(file.path(folder, "c/1/0"), "raw", 12), wanted)
})

test_that("chunks have about a million elements where nothing is said", {
  chunks_of <- function(...) {
    nv_zarr_create(folder <- tempfile(), "i8", c(...))
    text <- readLines(file.path(folder, "zarr.json"), warn = FALSE)
    found <- regmatches(text, regexpr("(?<=\"chunk_shape\":\\[)[0-9,]*", text, perl = TRUE))
    as.numeric(strsplit(found, ",")[[1L]])
  }
  expect_identical(chunks_of(1000, 0), c(1000, 1))
  expect_identical(chunks_of(1024, 1024), c(1024, 1024))
  # The longest is halved, and half of an odd number is rounded up.
  expect_identical(chunks_of(3000, 1000), c(750, 1000))
  expect_identical(chunks_of(2^21 + 1), 2^19 + 1)
})

test_that("fill values, names and attributes are kept", {
  for (fill in list(
    nv_scalar(NaN, "f32"), nv_scalar(-Inf, "f64"), nv_convert(nv_scalar(0.1), "f16"),
    nv_scalar(complex(real = NaN, imaginary = 2), "c64"), nv_scalar(TRUE),
    nv_scalar(3.140625, "bf16"), nv_scalar(-128L, "i8"), nv_scalar(1 / 3, "f64")
  )) {
    folder <- tempfile()
    nv_zarr_create(folder, dtype(fill), 3L, fill = fill)
    expect_identical(nv_write_bin(nv_zarr(folder)[2]), nv_write_bin(fill))
  }
  most <- nv_tensor("18446744073709551615", "ui64", shape = integer())
  nv_zarr_create(folder <- tempfile(), "ui64", 3L, fill = most)
  expect_identical(nv_zarr(folder)[[1]], most)
  payload <- nv_read_bin(hex("7fc0beef"), "f32", integer(), endian = "big")
  nv_zarr_create(folder <- tempfile(), "f32", 3L, fill = payload)
  expect_match(paste(readLines(file.path(folder, "zarr.json")), collapse = ""), "0x7fc0beef")
  expect_identical(nv_write_bin(nv_zarr(folder)[1]), nv_write_bin(payload))
  kept <- list(
    units = "m\u00b2 \"x\"", scale = 1 / 3, flags = c(TRUE, FALSE),
    inner = list(a = 1, b = list("z", 2))
  )
  folder <- tempfile()
  nv_zarr_create(folder, "f32", c(3, 2), attributes = kept, dimension_names = c("time", NA))
  x <- nv_zarr(folder)
  expect_identical(attr(x, "zarr_attributes"), kept)
  expect_identical(attr(x, "dimension_names"), c("time", NA))
  x[] <- nv_tensor(matrix(1:6, 3), "f32")
  expect_identical(dimnames(nv_compute(x)), list(time = NULL, NULL))
  expect_identical(dimnames(x[2:3, 1, drop = FALSE]), list(time = NULL, NULL))
  expect_null(dimnames(x[, 1]))
  expect_equal(as_array(nv_compute(nv_mean(x, "time"))), c(2, 5))
})

test_that("missing values are an error, or the value of `na`", {
  folder <- tempfile(fileext = ".zarr")
  values <- c(1, NA, 3, 4, NA, 6)
  x <- nv_tensor(matrix(values, 2), "i16")
  full <- nv_tensor(matrix(ifelse(is.na(values), 9, values), 2), "i16")
  expect_refusal(
    nv_store(x, folder), "joist_value_error", c("`x` has 2 missing values", "position 2", "`na =`")
  )
  expect_false(dir.exists(folder))
  expect_identical(nv_store(x, folder, chunks = c(2, 1), na = 9)[], full)
  expect_identical(nv_zarr(folder)[], full)
  z <- nv_zarr(folder)
  expect_refusal(z[] <- x, "joist_value_error", c("missing value", "nv_zarr()", "`na =`"))
  z <- nv_zarr(folder, na = -5)
  z[1, ] <- c(NA, 2L, NA)
  expect_identical(as_array(z[]) + 0, rbind(c(-5, 2, -5), c(9, 4, 6)))
  z <- nv_zarr_create(folder, "f64", 4, chunks = 3, overwrite = TRUE, na = NaN)
  z[2:4] <- c(1, NA, 2)
  expect_identical(as_array(nv_zarr(folder)[]), c(0, 1, NaN, 2))
  z <- nv_zarr_create(folder, "bool", 2, overwrite = TRUE, na = 7)
  expect_refusal(z[1] <- NA, "joist_value_error", "7")
  members <- tempfile()
  nv_zarr_create_group(members)
  nv_zarr_create(members, "i8", 2, node = "a")
  group <- nv_zarr(members, na = 3)
  group$a[] <- c(1L, NA)
  expect_identical(as_array(group$a[]), c(1L, 3L))
  for (na in list(NA, 1:2, list(1))) {
    expect_refusal(nv_zarr(folder, na = na), "joist_value_error", "`na`")
    expect_refusal(nv_zarr_create(tempfile(), "i8", 1, na = na), "joist_value_error", "`na`")
    expect_refusal(nv_store(full, tempfile(), na = na), "joist_value_error", "`na`")
  }
  expect_refusal(nv_zarr_create(tempfile(), "i8", 1, fill = NA), "joist_value_error", "`fill`")
})

test_that("metadata are JSON, whatever R's decimal mark is and what attributes are given", {
  old <- options(OutDec = ",")
  on.exit(options(old))
  folder <- tempfile()
  kept <- list(
    scale = 1.5, pair = c(0.25, 1e300), nothing = NULL, unknown = c(TRUE, NA), none = character()
  )
  nv_zarr_create(folder, "f64", 3L, fill = 0.5, attributes = kept)
  expect_true(any(grepl(
    "\"scale\":1.5,\"pair\":[0.25,1e+300],\"nothing\":null,\"unknown\":[true,null],\"none\":[]",
    readLines(file.path(folder, "zarr.json")),
    fixed = TRUE
  )))
  x <- nv_zarr(folder)
  expect_identical(as.vector(x[2]), 0.5)
  read <- attr(x, "zarr_attributes")
  expect_identical(read[1:2], kept[1:2])
  expect_identical(read[3:5], list(nothing = NULL, unknown = list(TRUE, NULL), none = list()))
  # What was read can be kept with another array, that of nv_store(), too.
  y <- nv_store(x + 1, tempfile(), attributes = read)
  z <- nv_store(y + 1, tempfile(), attributes = attr(y, "zarr_attributes"))
  expect_identical(attr(z, "zarr_attributes")[names(read)], read)
  for (bad in list(
    factor("u"), 1i, as.raw(1), quote(x), sum, globalenv(), Sys.Date(), as.POSIXlt(Sys.time()),
    data.frame(a = 1), list(1, sum), list(u = 1, u = 2), nv_tensor(1)
  )) {
    folder <- tempfile()
    expect_error(
      nv_zarr_create(folder, "f32", 3L, attributes = list(a = bad)), "`attributes` must",
      class = "joist_value_error"
    )
    expect_false(file.exists(folder))
  }
  expect_error(nv_zarr_create("", "f32", 3L), "`path` must be", class = "joist_value_error")
})

test_that("an array that is no longer there is not read as its fill value", {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "f32", c(4, 2), chunks = c(2, 2), node = "a")
  x[1:2, ] <- matrix(1:4, 2)
  expect_identical(as.vector(nv_compute(sum(x))), 10) # with a chunk that was never written
  y <- x + 1
  file.rename(folder, paste0(folder, "-moved"))
  for (read in list(function() x[1, 1], function() nv_compute(y), function() nv_compute(sum(x)))) {
    expect_error(read(), "the array is no longer at .*, a$", class = "joist_value_error")
  }
  expect_error(x[1, 1] <- 1, "no longer at", class = "joist_value_error")
  expect_false(file.exists(folder))
  file.rename(paste0(folder, "-moved"), folder)
  expect_identical(as.vector(nv_compute(sum(x))), 10)
})

test_that("groups are lists of their members", {
  folder <- tempfile()
  nv_zarr_create_group(folder, attributes = list(title = "t"))
  x <- nv_zarr_create(folder, "i32", 2L, node = "a/b")
  x[] <- 1:2
  nv_zarr_create(folder, "f32", 3L, node = "c")
  all <- nv_zarr(folder)
  expect_named(all, c("a", "c"))
  expect_identical(attr(all, "zarr_attributes"), list(title = "t"))
  expect_identical(as_array(all$a$b[]), 1:2)
  expect_identical(as_array(nv_zarr(folder, "a/b")[2]), 2L)
  expect_identical(as_array(nv_zarr(file.path(folder, "a", "b"))[2]), 2L)
  create <- function(...) nv_zarr_create(folder, "i32", 2L, node = "a/b", ...)
  expect_error(create(), "overwrite", class = "joist_value_error")
  expect_identical(as_array(create(overwrite = TRUE)[]), c(0L, 0L))
  expect_error(nv_zarr(folder, "../x"), "`node`", class = "joist_value_error")
})

test_that("a store is five functions", {
  kept <- new.env()
  asked <- character()
  store <- nv_zarr_store(
    get = function(key) {
      asked <<- c(asked, key)
      kept[[key]]
    },
    put = function(key, bytes) assign(key, bytes, envir = kept),
    list = function(prefix) {
      keys <- ls(kept)
      unique(sub("/.*", "", substring(keys[startsWith(keys, prefix)], nchar(prefix) + 1)))
    },
    delete = function(key) rm(list = key, envir = kept),
    exists = function(key) exists(key, kept, inherits = FALSE), label = "memory"
  )
  x <- nv_zarr_create(store, "i32", c(6, 6), 2L, node = "in/here")
  x[] <- matrix(1:36, 6)
  asked <- character()
  expect_identical(as_array(x[c(6, 1), 3]), c(18L, 13L))
  expect_setequal(asked, c("in/here/c/2/1", "in/here/c/0/1"))
  expect_named(nv_zarr(store)$`in`, "here")
  nv_zarr_create(store, "i8", 1L, node = "in/here", overwrite = TRUE)
  expect_identical(ls(kept), c("in/here/zarr.json", "in/zarr.json", "zarr.json"))
  only <- nv_zarr_store(get = function(key) kept[[key]])
  expect_identical(as_array(nv_zarr(only, "in/here")[]), 0L)
  expect_error(nv_zarr(only), "by `node`", class = "joist_value_error")
  expect_error(nv_zarr_create(only, "i8", 1L), "written", class = "joist_value_error")
  y <- nv_zarr(only, "in/here")
  expect_error(y[1] <- 1L, "written", class = "joist_value_error")
  expect_output(print(only), "read only")
  lasting <- nv_zarr_store(
    get = function(key) kept[[key]], put = function(key, bytes) assign(key, bytes, envir = kept)
  )
  expect_error(
    nv_zarr_create(lasting, "i8", 1L, node = "in/here", overwrite = TRUE), "nothing can be deleted",
    class = "joist_value_error"
  )
})

test_that("a chunk that cannot be written leaves what was there", {
  skip_on_os("windows")
  folder <- tempfile()
  x <- nv_zarr_create(folder, "i16", 4L, 4L)
  x[] <- 1:4
  before <- list.files(folder, recursive = TRUE, all.files = TRUE)
  expect_identical(before, c("c/0", "zarr.json"))
  unlink(file.path(folder, "c"), recursive = TRUE)
  writeBin(raw(1), file.path(folder, "c")) # where a folder would have to be
  expect_error(x[] <- 4:1, class = "joist_value_error")
  expect_identical(list.files(folder, all.files = TRUE, no.. = TRUE), c("c", "zarr.json"))
})

test_that("arrays are read over HTTP", {
  python <- Sys.which("python3")
  skip_if(!nzchar(python), "no python3")
  folder <- tempfile()
  x <- nv_zarr_create(folder, "f32", c(5, 3), c(2, 3), codecs = "gzip", node = "deep/x")
  x[1:4, ] <- matrix(1:12, 4)
  said <- tempfile()
  script <- paste(
    "import http.server, os, sys", "os.chdir(sys.argv[1])",
    "s = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)",
    "open(sys.argv[2], 'w').write(f'{os.getpid()} {s.server_port}\\n')", "s.serve_forever()",
    sep = "\n"
  )
  system2(python, c("-c", shQuote(script), shQuote(folder), shQuote(said)),
    wait = FALSE, stdout = FALSE, stderr = FALSE)
  for (k in 1:100) {
    answer <- if (file.exists(said)) scan(said, quiet = TRUE)
    if (length(answer) == 2L) break
    Sys.sleep(0.1)
  }
  on.exit(tools::pskill(answer[1L]))
  address <- sprintf("http://127.0.0.1:%d", answer[2L])
  y <- nv_zarr(paste0(address, "/deep/x"))
  expect_identical(y[], x[])
  expect_identical(as_array(nv_compute(sum(nv_zarr(address, "deep/x")))), 78)
  expect_error(y[1, 1] <- 0, "written", class = "joist_value_error")
  expect_error(nv_zarr(paste0(address, "/none")), "no Zarr", class = "joist_value_error")
  expect_error(nv_zarr(address), "by `node`", class = "joist_value_error")
  expect_error(nv_zarr("http://127.0.0.1:1/x"), "cannot read", class = "joist_value_error")
})

test_that("fill values are those that the writer meant", {
  # a negative zero, also of a complex number
  for (d in c("f16", "f32", "f64", "f8E5M2", "c64")) {
    folder <- withr::local_tempdir()
    zero <- if (d == "c64") nv_tensor(complex(real = -0, imaginary = -0), d) else nv_tensor(-0, d)
    nv_zarr_create(folder, d, 2L, fill = zero)
    got <- nv_write_bin(nv_compute(nv_zarr(folder)))
    expect_identical(got, nv_write_bin(c(zero, zero)), label = d)
  }
  # what TensorStore 0.1.86 writes for its default fill of a format without a zero, and how it names
  # dtypes that NumPy lacks in version 2
  store <- function(name, lines) {
    folder <- withr::local_tempdir(.local_envir = parent.frame())
    writeLines(lines, file.path(folder, name))
    folder
  }
  scales <- store("zarr.json", c(
    "{\"chunk_grid\":{\"configuration\":{\"chunk_shape\":[2]},\"name\":\"regular\"},",
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[{\"name\":\"bytes\"}],",
    "\"data_type\":\"float8_e8m0fnu\",\"fill_value\":0.0,\"node_type\":\"array\",\"shape\":[2],",
    "\"zarr_format\":3}"
  ))
  expect_identical(nv_write_bin(nv_compute(nv_zarr(scales))), as.raw(c(0, 0)))
  for (name in c("bfloat16", "int4", "float8_e5m2")) {
    plain <- store(".zarray", c(
      "{\"chunks\":[2,2],\"compressor\":null,\"dimension_separator\":\".\",",
      sprintf("\"dtype\":\"%s\",\"fill_value\":null,\"filters\":null,\"order\":\"C\",", name),
      "\"shape\":[2,2],\"zarr_format\":2}"
    ))
    want <- nv_tensor(matrix(c(1, -2, 3, 0), 2), as_dtype(name))
    writeBin(nv_write_bin(t(want), endian = "little"), file.path(plain, "0.0"))
    expect_identical(nv_compute(nv_zarr(plain)), want, label = name)
  }
})

# What numcodecs 0.16.6 writes by zarr-python 3.1.6: dtype, filters and compressor, the bytes of a
# chunk and those of its elements.
written_by_numcodecs <- list(
  `delta` = c(
    "\"<i4\"",
    "[{\"id\":\"delta\",\"dtype\":\"<i4\",\"astype\":\"<i4\"}]",
    "null",
    "ffffff7f0100000005000080f4ffffff6b0000009fffffff",
    "ffffff7f0000008005000000f9ffffff6400000003000000"
  ),
  `delta wider` = c(
    "\"<u2\"",
    "[{\"id\":\"delta\",\"dtype\":\"<u2\",\"astype\":\"<i4\"}]",
    "{\"id\":\"zlib\",\"level\":1}",
    "7801fbff9f8181918181811d88ff00d920c006c400464a0408",
    "ffff00000700030003000900"
  ),
  `delta 64` = c(
    "\"<i8\"",
    "[{\"id\":\"delta\",\"dtype\":\"<i8\",\"astype\":\"<i8\"}]",
    "{\"id\":\"bz2\",\"level\":1}",
    paste0(
      "425a6831314159265359c4a1f29500000be0c0f80008000000c0000001a00021a62680",
      "832621a42a167829ac56f78bb9229c28486250f94a80"
    ),
    paste0(
      "ffffffffffffff7f000000000000008003000000000000000100000000000000000000",
      "0000000000ffffffffffffffff"
    )
  ),
  `scaled` = c(
    "\"<f8\"",
    paste0(
      "[{\"id\":\"fixedscaleoffset\",\"scale\":100,\"offset\":1,\"dtype\":\"<f8\",\"astype",
      "\":\"<i2\"}]"
    ),
    "{\"id\":\"lzma\",\"format\":1,\"check\":-1,\"preset\":null,\"filters\":null}",
    paste0(
      "fd377a585a000004e6d6b4460200210116000000742fe5a301000b19003efe9eff6400",
      "5802de26001a2f9f9f9dfe0dec0001240ca618d8d81fb6f37d010000000004595a"
    ),
    paste0(
      "000000000000f43f0000000000000cc08014ae47e17a943f0000000000000040000000",
      "0000001c400000000000205940"
    )
  ),
  `quantize` = c(
    "\"<f8\"",
    "[{\"id\":\"quantize\",\"digits\":2,\"dtype\":\"<f8\",\"astype\":\"<f4\"}]",
    "null",
    "0000a03f000060c00000803c000000400000e0400000c942",
    paste0(
      "000000000000f43f0000000000000cc0000000000000903f0000000000000040000000",
      "0000001c400000000000205940"
    )
  ),
  `bitround` = c(
    "\"<f4\"",
    "[{\"id\":\"bitround\",\"keepbits\":7}]",
    "null",
    "0000a03f000060c00000763c000000400000e0400000c942",
    "0000a03f000060c00000763c000000400000e0400000c942"
  ),
  `packbits` = c(
    "\"|b1\"",
    "[{\"id\":\"packbits\"}]",
    "null",
    "02b4",
    "010001010001"
  ),
  `shuffle` = c(
    "\"<i4\"",
    paste0(
      "[{\"id\":\"delta\",\"dtype\":\"<i4\",\"astype\":\"<i4\"},{\"id\":\"shuffle\",\"elements",
      "ize\":4}]"
    ),
    "{\"id\":\"zlib\",\"level\":1}",
    "7801fbcfc8fa257bfe7f0686ff0cff21643d4303900d00935e0bfb",
    "ffffff7f0000008005000000f9ffffff6400000003000000"
  ),
  `crc32` = c(
    "\"<i4\"",
    "[{\"id\":\"crc32\"}]",
    "null",
    "7de99a20ffffff7f0000008005000000f9ffffff6400000003000000",
    "ffffff7f0000008005000000f9ffffff6400000003000000"
  ),
  `adler32` = c(
    "\"<i4\"",
    "[{\"id\":\"adler32\"}]",
    "null",
    "5f08c884ffffff7f0000008005000000f9ffffff6400000003000000",
    "ffffff7f0000008005000000f9ffffff6400000003000000"
  ),
  `fletcher32` = c(
    "\"<i4\"",
    "[{\"id\":\"fletcher32\"}]",
    "null",
    "ffffff7f0000008005000000f9ffffff640000000300000000660199",
    "ffffff7f0000008005000000f9ffffff6400000003000000"
  )
)

test_that("filters of version 2 are read as numcodecs has them", {
  bytes_of <- function(hex) {
    at <- seq(1, nchar(hex), 2)
    as.raw(strtoi(substring(hex, at, at + 1), 16L))
  }
  open <- function(case, bytes) {
    folder <- withr::local_tempdir(.local_envir = parent.frame())
    writeLines(sprintf(
      paste0(
        "{\"shape\":[6],\"chunks\":[6],\"dtype\":%s,\"fill_value\":null,\"order\":\"C\",",
        "\"filters\":%s,\"dimension_separator\":\".\",\"compressor\":%s,\"zarr_format\":2}"
      ), case[1], case[2], case[3]
    ), file.path(folder, ".zarray"))
    writeBin(bytes, file.path(folder, "0"))
    nv_zarr(folder)
  }
  for (name in names(written_by_numcodecs)) {
    case <- written_by_numcodecs[[name]]
    bytes <- bytes_of(case[4])
    x <- open(case, bytes)
    got <- nv_write_bin(nv_compute(x), endian = "little")
    expect_identical(got, bytes_of(case[5]), label = name)
    expect_error(x[1] <- x[2], "only read", class = "joist_value_error")
    if (name %in% c("crc32", "adler32", "fletcher32")) {
      bytes[7] <- !bytes[7]
      expect_error(nv_compute(open(case, bytes)), "checksum", class = "joist_value_error")
    }
  }
  case <- written_by_numcodecs$delta
  expect_error(
    open(c(case[1], "[{\"id\":\"categorize\"}]", case[3]), raw()), "categorize.*joist reads delta"
  )
})

test_that("attributes that JSON has no numbers for are read, and refused when written", {
  folder <- tempfile()
  nv_zarr_create(folder, "i8", 3, attributes = list(a = 1))
  file <- file.path(folder, "zarr.json")
  text <- readLines(file)
  writeLines(sub("\"a\" *: *1", "\"a\": [NaN, -Infinity], \"b\": Infinity", text), file)
  expect_identical(attr(nv_zarr(folder), "zarr_attributes"), list(a = c(NaN, -Inf), b = Inf))
  for (value in list(NaN, c(1, -Inf))) {
    expect_error(
      nv_zarr_create(tempfile(), "i8", 3, attributes = list(a = value)), "give it as a string",
      class = "joist_value_error"
    )
  }
})

test_that("64-bit integers that the CF conventions make doubles of are told of", {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "i64", 2, attributes = list(missing_value = -1L))
  x[] <- nv_tensor(c("9007199254740993", "-1"), "i64")
  expect_error(
    with_promotion(NULL, nv_compute(nv_zarr(folder, cf = TRUE)), on = c(loss = "error")), "rounds",
    class = "joist_value_error"
  )
})
