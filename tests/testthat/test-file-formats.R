# npy, npz and safetensors files, against bytes that NumPy and safetensors wrote: what comes in,
# what goes out, and what is refused. tests/files has the living libraries.

hex <- function(text) {
  digits <- strsplit(gsub("[[:space:]]", "", text), "")[[1L]]
  as.raw(strtoi(paste0(digits[c(TRUE, FALSE)], digits[c(FALSE, TRUE)]), 16L))
}

# An npy file with this header of format 1.0.
npy <- function(header, data = raw()) {
  text <- charToRaw(paste0(header, "\n"))
  length <- as.raw(c(length(text) %% 256, length(text) %/% 256))
  c(as.raw(c(0x93, utf8ToInt("NUMPY"), 1, 0)), length, text, data)
}

npy_header <- function(descr, shape, fortran = "False") {
  sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
}

safetensors <- function(header, data = raw()) {
  text <- charToRaw(header)
  c(writeBin(length(text), raw(), 4L, "little"), raw(4), text, data)
}

test_that("a file of NumPy's is read bit by bit", {
  # numpy.save(file, numpy.array([[1, -2, 3], [4, 5, 70000]], ">i4"))
  bytes <- npy(
    npy_header(">i4", "(2, 3)"), hex("00000001fffffffe00000003000000040000000500011170")
  )
  want <- matrix(c(1L, -2L, 3L, 4L, 5L, 70000L), 2, byrow = TRUE)
  expect_identical(nv_read_npy(bytes), nv_tensor(want, "i32"))
  expect_identical(nv_read_npy(bytes, reversed = TRUE), nv_tensor(t(want), "i32"))
  # numpy.array([1, -2, 3.140625], ml_dtypes.bfloat16)
  brain <- nv_read_npy(npy(npy_header("<V2", "(3,)"), hex("803f00c04940")))
  expect_identical(brain, nv_tensor(c(1, -2, 3.140625), "bf16"))
  scalar <- nv_read_npy(npy(npy_header("<u8", "()"), as.raw(rep(255, 8))))
  expect_identical(as_array(scalar, "character"), "18446744073709551615")
  expect_identical(shape(scalar), integer())
  expect_identical(shape(nv_read_npy(npy(npy_header("|b1", "(3, 0)")))), c(3L, 0L))
  file <- withr::local_tempfile()
  writeBin(bytes, file)
  expect_identical(nv_read_npy(file), nv_tensor(want, "i32"))
  expect_identical(nv_read_npy(file(file)), nv_tensor(want, "i32"))
  con <- gzcon(rawConnection(memCompress(bytes, "none")))
  expect_identical(nv_read_npy(con), nv_tensor(want, "i32"))
  close(con)
})

test_that("what is written is what NumPy writes", {
  x <- nv_tensor(matrix(c(1, 2, 3, 4), 2), "f16")
  data <- list(F = hex("003c004000420044"), C = hex("003c004200400044"))
  for (order in c("F", "C")) {
    bytes <- nv_write_npy(x, order = order, endian = "little")
    expect_identical(length(bytes) %% 64L, 8L)
    expect_identical(bytes[129:136], data[[order]])
    header <- sprintf(
      "{'descr': '<f2', 'fortran_order': %s, 'shape': (2, 2), }", c(F = "True", C = "False")[order]
    )
    expect_identical(trimws(rawToChar(bytes[11:128])), header)
    swapped <- nv_write_npy(x, order = order, endian = "big")
    expect_identical(swapped[129:136], as.raw(matrix(as.integer(data[[order]]), 2)[2:1, ]))
    expect_identical(swapped[22], charToRaw(">"))
  }
  file <- withr::local_tempfile()
  expect_null(expect_invisible(nv_write_npy(x, file, "C")))
  expect_identical(readBin(file, "raw", 999), nv_write_npy(x, order = "C"))
  con <- file(file)
  expect_null(nv_write_npy(x, con))
  expect_identical(readBin(file, "raw", 999), nv_write_npy(x))
})

test_that("every dtype goes out and comes in, mapped too", {
  file <- withr::local_tempfile()
  # test-file-narrow.R and test-tensor-halves.R have the others.
  whole <- grepl("^[a-z]+[0-9]+$", dtypes()) & !grepl("^u?i(nt)?[124]$|^b?c32$", dtypes())
  for (d in c("bool", dtypes()[whole])) {
    n <- 60 * width_of(d) / 8
    bytes <- if (d == "bool") rep(as.raw(0:1), 30) else as.raw((seq_len(n) * 197 + 91) %% 256)
    for (shape in list(60, c(3, 20), 3:5, c(5, 1, 4, 3), c(3, 2, 2, 5), integer(), c(0, 2))) {
      x <- nv_read_bin(bytes[seq_len(prod(shape) * width_of(d) / 8)], d, shape)
      for (order in c("F", "C")) {
        for (endian in c("little", "big")) {
          nv_write_npy(x, file, order, endian)
          expect_identical(nv_read_npy(file), x)
          expect_identical(nv_read_npy(file, mmap = TRUE), x)
        }
        turned <- if (length(shape) > 0) nv_transpose(x) else x
        expect_identical(nv_read_npy(file, reversed = TRUE), turned)
      }
      if (d != "c128") {
        nv_save(list(x = x), file)
        expect_identical(nv_read(file), list(x = x))
        expect_identical(nv_read(file, mmap = TRUE), list(x = x))
      }
    }
  }
})

test_that("tensors of a safetensors file are read by name, with metadata", {
  # safetensors.numpy.save({"a": ..., "b": numpy.array(7)}, {"k": "v"})
  bytes <- safetensors(
    paste0(
      "{\"__metadata__\":{\"k\":\"v\"},",
      "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},",
      "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]}}"
    ),
    c(writeBin(c(7L, 0L), raw(), 4L, "little"), writeBin(c(1, 2, 3, 4, 5, 6), raw(), 4L, "little"))
  )
  a <- nv_tensor(matrix(1:6, 2, byrow = TRUE), "f32")
  b <- nv_scalar(7L, "i64")
  expect_identical(nv_unserialize(bytes), structure(list(b = b, a = a), metadata = c(k = "v")))
  file <- withr::local_tempfile()
  writeBin(bytes, file)
  expect_identical(nv_read(file, "a")$a, a)
  expect_identical(names(nv_read(file, c("a", "b"))), c("a", "b"))
  expect_identical(nv_read(file, "a", reversed = TRUE)$a, t(a))
  expect_length(nv_read(file, character()), 0L)
  error <- expect_refusal(nv_read(file, "c"), "joist_value_error", c("\"c\"", "\"b\""))
  expect_identical(conditionCall(error)[[1L]], as.name("nv_read"))
  expect_refusal(nv_read(file, c("a", "a")), "joist_value_error", "different")
  written <- list("\u00e9 \"\\\n" = a, x = b, y = nv_tensor(TRUE))
  metadata <- c(key = "\u20ac\t\"", "empty" = "")
  again <- nv_unserialize(nv_serialize(written, metadata))
  expect_identical(attr(again, "metadata"), metadata)
  attr(again, "metadata") <- NULL
  expect_identical(again, written)
  expect_identical(nv_unserialize(nv_serialize(list())), structure(list(), names = character()))
  nv_save(written, file, metadata)
  expect_identical(readBin(file, "raw", 1e4), nv_serialize(written, metadata))
  # A type that joist does not support, beside one that it does.
  other <- safetensors(
    paste0(
      "{\"x\":{\"dtype\":\"F8_NEW\",\"shape\":[2],\"data_offsets\":[0,2]},",
      "\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}"
    ),
    as.raw(1:3)
  )
  expect_refusal(nv_unserialize(other), "joist_dtype_error", c("F8_NEW", "names"))
  expect_identical(nv_unserialize(other, "y")$y, nv_tensor(3L, "ui8"))
  complex <- nv_tensor(1i, "c128")
  expect_refusal(nv_serialize(list(x = complex)), "joist_dtype_error", c("c128", "nv_write_npy()"))
  for (x in list(list(a), list(a = a, a), list(a = a, a = b), a, 1, NULL, data.frame(a = 1))) {
    expect_refusal(nv_serialize(x), "joist_value_error", "`x`")
  }
  for (metadata in list("a", c(a = NA), 1, c(a = "b", a = "c"), list(a = "b"))) {
    expect_refusal(nv_serialize(list(), metadata), "joist_value_error", "`metadata`")
  }
})

test_that("missing values are an error, or another value, in every format", {
  file <- tempfile()
  on.exit(unlink(file))
  x <- nv_tensor(matrix(c(1, NA, 3, NA, 5, 6), 2), "ui8")
  full <- nv_tensor(matrix(c(1, 9, 3, 9, 5, 6), 2), "ui8")
  both <- list(all = nv_tensor(1:2, "i16"), some = x)
  of_x <- c("`x` has 2 missing values", "the first at position 2", "`na =`")
  in_list <- sub("`x`", "`x$some`", of_x, fixed = TRUE)
  expect_refusal(nv_write_npy(x), "joist_value_error", c(of_x, "npy"))
  expect_refusal(nv_write_npy(x, file, order = "C"), "joist_value_error", of_x)
  expect_refusal(nv_write_safetensors(both, file), "joist_value_error", c(in_list, "safetensors"))
  expect_refusal(nv_serialize(both), "joist_value_error", in_list)
  expect_false(file.exists(file))
  for (order in c("F", "C")) {
    expect_identical(nv_write_npy(x, order = order, na = 9), nv_write_npy(full, order = order))
    expect_identical(nv_read_npy(nv_write_npy(x, order = order, na = 9)), full)
  }
  nv_write_safetensors(both, file, na = 9)
  expect_identical(nv_read_safetensors(file), list(all = both$all, some = full))
  expect_identical(nv_unserialize(nv_serialize(both, na = 9)), nv_read_safetensors(file))
  # What does not fit is an error only for tensors that need it.
  expect_identical(nv_serialize(both[1], na = 1e9), nv_serialize(both[1]))
  expect_refusal(nv_serialize(both, na = 1e9), "joist_value_error", "ui8")
  expect_refusal(nv_serialize(both[1], na = NA), "joist_value_error", "`na`")
  expect_refusal(nv_write_npy(1, na = NA), "joist_value_error", "`na`")
  expect_refusal(nv_write_npy(c(1, NA)), "joist_value_error", "1 missing value at position 2")
  expect_identical(nv_write_npy(c(1, NA), na = 2), nv_write_npy(c(1, 2)))
  skip_if_not_installed("zip")
  expect_refusal(nv_write_npz(both, file), "joist_value_error", in_list)
  nv_write_npz(both, file, na = 9)
  expect_identical(nv_read_npz(file), list(all = both$all, some = full))
})

test_that("archives are read and written", {
  skip_if_not_installed("zip")
  withr::local_dir(withr::local_tempdir())
  x <- list(a = nv_tensor(matrix(1:6, 2), "ui16"), "b c" = nv_scalar(TRUE), d = nv_tensor(1i))
  for (compress in c(TRUE, FALSE)) {
    expect_null(expect_invisible(nv_write_npz(x, "x.npz", compress)))
    expect_identical(nv_read_npz("x.npz"), x)
    expect_identical(list.files(), "x.npz")
  }
  expect_identical(nv_read_npz("x.npz", c("d", "a")), x[c("d", "a")])
  expect_identical(nv_read_npz("x.npz", "a", reversed = TRUE)$a, t(x$a))
  expect_refusal(nv_read_npz("x.npz", "e"), "joist_value_error", "\"e\"")
  writeLines("no archive", "y.npz")
  expect_refusal(nv_read_npz("y.npz"), "joist_value_error", "y.npz")
  expect_refusal(nv_read_npz("none.npz"), "joist_value_error", "none.npz")
  expect_refusal(nv_write_npz(x, "none/x.npz"), "joist_value_error", "none/x.npz")
  expect_refusal(nv_write_npz(list("../a" = x$a), "x.npz"), "joist_value_error", "path")
  writeLines("no array", "a.npy")
  zip::zip("z.npz", "a.npy")
  expect_refusal(nv_read_npz("z.npz"), "joist_value_error", "magic string")
  nv_write_npz(x[c("a", "d")], "twice.npz", FALSE)
  bytes <- readBin("twice.npz", "raw", 1e6)
  for (at in grepRaw("d.npy", bytes, fixed = TRUE, all = TRUE)) bytes[at] <- charToRaw("a")
  writeBin(bytes, "twice.npz")
  expect_refusal(nv_read_npz("twice.npz"), "joist_value_error", "a name twice")
})

test_that("arrays that follow each other are read one by one from an open connection", {
  file <- tempfile(fileext = ".npy")
  on.exit(unlink(file))
  arrays <- list(
    nv_tensor(matrix(1:6, 2), "i64"), nv_tensor(c(1.5, -2), "bf16"), nv_empty("f32", c(0, 3)),
    nv_scalar(TRUE), nv_tensor(c(7, 8), "ui16")
  )
  out <- file(file, "wb")
  for (x in arrays) nv_write_npy(x, out)
  writeBin(as.raw(1:3), out)
  close(out)
  expect_error(nv_read_npy(file), "npy", class = "joist_value_error")
  con <- file(file, "rb")
  for (x in arrays) {
    kept <- if (dtype(x) == "bf16") "bf16"
    expect_identical(nv_read_npy(con, dtype = kept), x)
  }
  expect_error(nv_read_npy(con), "npy", class = "joist_value_error")
  close(con)
  con <- file(file, "rb")
  readBin(con, "raw", 4)
  expect_error(nv_read_npy(con), "magic string", class = "joist_value_error")
  close(con)
  # Cut off in the header and in the elements; text.
  bytes <- readBin(file, "raw", 150)
  for (end in c(5, 11, 40, 130, 150)) {
    con <- rawConnection(bytes[seq_len(end)])
    expect_error(nv_read_npy(con), "npy", class = "joist_value_error")
    close(con)
  }
  con <- file(file, "r")
  expect_error(nv_read_npy(con), "open as text", class = "joist_value_error")
  close(con)
})

test_that("a damaged header is refused by the field that is damaged", {
  data <- raw(24)
  good <- npy(npy_header("<f4", "(2, 3)"), data)
  expect_identical(shape(nv_read_npy(good)), c(2L, 3L))
  file <- withr::local_tempfile()
  damaged <- list(
    "magic string" = replace(good, 1, raw(1)), version = replace(good, 7, as.raw(9)),
    "header length" = good[1:9], "header length" = replace(good, 10, as.raw(255)),
    descr = npy(npy_header("x4", "(2, 3)"), data), descr = npy("{}", data),
    fortran_order = npy(npy_header("<f4", "(2, 3)", "1"), data),
    shape = npy(npy_header("<f4", "(2, -3)"), data),
    shape = npy(npy_header("<f4", "(6)"), data),
    header = npy(paste(npy_header("<f4", "(2, 3)"), "x"), data),
    "24 bytes" = good[-1 * length(good)], "24 bytes" = c(good, raw(1)),
    shape = npy(npy_header("<f4", "(2147483647, 2147483647)"), data)
  )
  for (k in seq_along(damaged)) {
    expect_refusal(nv_read_npy(damaged[[k]]), "joist_value_error", names(damaged)[k])
    writeBin(damaged[[k]], file)
    expect_refusal(nv_read_npy(file), "joist_value_error", names(damaged)[k])
    expect_refusal(nv_read_npy(file, mmap = TRUE), "joist_value_error", names(damaged)[k])
  }
  for (descr in c("|O", "<U3", "|S3", "<M8[ns]", "<f16", "|V1")) {
    bytes <- npy(npy_header(descr, "(2, 3)"), data)
    expect_refusal(nv_read_npy(bytes), "joist_dtype_error", descr)
  }
  expect_refusal(nv_read_npy(npy(npy_header("|b1", "(3,)"), as.raw(0:2))), "joist_value_error", c(
    "02", "position 3"
  ))
  entry <- function(dtype = "\"F32\"", shape = "[2,3]", offsets = "[0,24]") {
    header <- "{\"a\":{\"dtype\":%s,\"shape\":%s,\"data_offsets\":%s}}"
    safetensors(sprintf(header, dtype, shape, offsets), data)
  }
  expect_identical(shape(nv_unserialize(entry())$a), c(2L, 3L))
  damaged <- list(
    "header length" = raw(7), "header length" = replace(entry(), 8, as.raw(1)), header =
      replace(entry(), 9, as.raw(32)), dtype = entry(dtype = "4"),
    shape = entry(shape = "[2,-3]"), shape = entry(shape = "[2,9999999999]"),
    data_offsets = entry(offsets = "[0,23]"), data_offsets = entry(offsets = "[24,0]"),
    data_offsets = entry(offsets = "[4,28]"), data_offsets = entry(shape = "[2,2]"),
    data = c(entry(), raw(1)), "__metadata__" = safetensors("{\"__metadata__\":3}")
  )
  for (k in seq_along(damaged)) {
    expect_refusal(nv_unserialize(damaged[[k]]), "joist_value_error", names(damaged)[k])
    writeBin(damaged[[k]], file)
    expect_refusal(nv_read(file), "joist_value_error", names(damaged)[k])
  }
})

test_that("files and connections that fail are conditions of joist's, and leave nothing behind", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "x")
  x <- nv_tensor(1:3, "i16")
  readers <- list(nv_read_npy, nv_read, nv_read_npz, function(path) nv_read_bin(path, "i16"))
  for (read in readers) {
    expect_refusal(read(file), "joist_value_error", "x")
    expect_refusal(read(folder), "joist_value_error", basename(folder))
  }
  writers <- list(
    function(path) nv_write_npy(x, path), function(path) nv_save(list(a = x), path),
    function(path) nv_write_bin(x, path)
  )
  for (write in writers) {
    expect_refusal(write(folder), "joist_value_error", basename(folder))
    expect_refusal(write(file.path(folder, "no", "x")), "joist_value_error", "no")
    full <- "/dev/full"
    if (file.exists(full)) expect_refusal(write(full), "joist_value_error", full)
    write(file)
    expect_identical(list.files(folder), "x")
  }
  expect_refusal(nv_write_npy(nv_aval("f32", 3), file), "joist_value_error", "nv_aval")
  expect_refusal(jit(function(x) nv_write_npy(x))(x), "joist_value_error", "jit")
  for (con in list(1, NULL, NA_character_, c("a", "b"))) {
    expect_refusal(nv_read_npy(con), "joist_value_error", "connection")
    expect_refusal(nv_write_npy(x, con), "joist_value_error", "connection")
    expect_refusal(nv_read(con), "joist_value_error", "`path`")
    expect_refusal(nv_save(list(), con), "joist_value_error", "`path`")
  }
  closed <- rawConnection(raw())
  close(closed)
  text <- textConnection("a")
  ends_with <- file(file.path(folder, "none", "x"))
  for (con in list(closed, text, ends_with)) {
    expect_refusal(nv_read_npy(con), "joist_value_error", "connection")
    expect_refusal(nv_read_bin(con, "i16"), "joist_value_error", "connection")
    expect_refusal(nv_write_bin(x, con), "joist_value_error", "connection")
  }
  close(text)
  close(ends_with)
  for (order in list("f", NA, 1, c("C", "F"), NULL)) {
    expect_refusal(nv_write_npy(x, order = order), "joist_value_error", "`order`")
  }
})

test_that("a device is read only as far as needed", {
  skip_if_not(file.exists("/dev/zero"))
  expect_identical(nv_read_bin("/dev/zero", "f32", c(2, 2)), nv_fill(0, c(2, 2), "f32"))
  expect_refusal(nv_read_npy("/dev/zero"), "joist_value_error", "regular")
  expect_refusal(nv_read("/dev/zero"), "joist_value_error", "regular")
  size <- file.path(withr::local_tempdir(), "size")
  writeBin(raw(9), size)
  expect_refusal(nv_read_bin(size, "i16"), "joist_value_error", "9 bytes")
  expect_refusal(nv_read_bin(size, "i8", 8), "joist_shape_error", "{8}")
})

test_that("safetensors files keep the name of their metadata for it", {
  x <- list(a = nv_tensor(1), `__metadata__` = nv_tensor(2))
  expect_error(nv_serialize(x), "__metadata__", class = "joist_value_error")
  expect_error(nv_write_safetensors(x, tempfile()), "__metadata__", class = "joist_value_error")
})

test_that("errors name the array of an archive, and the format of a file of another one", {
  skip_if_not_installed("zip")
  folder <- withr::local_tempdir()
  archive <- file.path(folder, "a.npz")
  nv_write_npz(list(a = nv_tensor(1:3), b = nv_tensor(1, "c128")), archive)
  expect_error(nv_read_npz(archive, dtype = "f32"), "array \"b\": ", class = "joist_dtype_error")
  heads <- list(
    HDF5 = as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a)), GGUF = charToRaw("GGUF0000"),
    Parquet = charToRaw("PAR10000"), Arrow = charToRaw("ARROW100")
  )
  for (name in names(heads)) {
    file <- file.path(folder, name)
    writeBin(c(heads[[name]], raw(64)), file)
    for (read in list(nv_read_npy, nv_read_safetensors, nv_read_npz)) {
      expect_error(read(file), paste("format", name), class = "joist_value_error")
    }
  }
  expect_error(nv_read_npy(archive), "nv_read_npz", class = "joist_value_error")
  npy <- file.path(folder, "x.npy")
  nv_write_npy(nv_tensor(1), npy)
  expect_error(nv_read_safetensors(npy), "nv_read_npy", class = "joist_value_error")
})

# The ranges that a file is asked for are in the file `asked` of the folder.
server_of_ranges <- c(
  "r = self.headers['Range']", "open('asked', 'a').write(f'{self.path} {r}\\n')",
  "if self.path.endswith('.safetensors') and os.path.exists('.' + self.path):",
  "  a, b = (int(k) for k in r[6:].split('-'))",
  "  part = open('.' + self.path, 'rb').read()[a:b + 1]", "  self.send_response(206)",
  "  self.send_header('Content-Length', str(len(part)))", "  self.end_headers()",
  "  self.wfile.write(part)", "  return"
)

test_that("tensors of a safetensors file at an address are read by ranges", {
  folder <- withr::local_tempdir()
  model <- list(
    a = nv_tensor(matrix(1:6, 2), "bf16"), b = nv_tensor(1:200, "i32"), c = nv_tensor(2, "f64"),
    none = nv_tensor(integer(), "i8"), "\u00fc" = nv_tensor(TRUE)
  )
  file <- file.path(folder, "x.safetensors")
  nv_write_safetensors(model, file, c(format = "joist"))
  address <- serve(server_of_ranges, folder)
  at <- function(name) paste0(address, "/", name)
  asked <- function() {
    lines <- readLines(file.path(folder, "asked"))
    unlink(file.path(folder, "asked"))
    ends <- do.call(rbind, strsplit(sub(".*bytes=", "", lines), "-", fixed = TRUE))
    unname(apply(ends, 1L, function(x) 1 - diff(rev(as.numeric(x)))))
  }
  whole <- nv_read_safetensors(file)
  expect_identical(nv_read_safetensors(at("x.safetensors")), whole)
  bytes <- asked()
  expect_identical(c(length(bytes), sum(bytes)), c(3, file.size(file)))
  expect_identical(
    nv_read_safetensors(at("x.safetensors"), c("\u00fc", "a", "none")),
    nv_read_safetensors(file, c("\u00fc", "a", "none"))
  )
  expect_identical(sum(asked()), file.size(file) - 808)
  expect_identical(
    nv_read_safetensors(at("x.safetensors"), "a", reversed = TRUE),
    nv_read_safetensors(file, "a", reversed = TRUE)
  )
  expect_error(nv_read_safetensors(at("x.safetensors"), "d"), "\"d\"", class = "joist_value_error")
  expect_error(nv_read_safetensors(at("y.safetensors")), "no file at", class = "joist_value_error")
  expect_error(
    nv_read_safetensors(at("x.safetensors"), mmap = TRUE), "mapped", class = "joist_value_error"
  )
  # A model of several files; a file that is cut; headers that say what cannot be.
  writeLines('{"weight_map": {"a": "x.safetensors", "b": "x.safetensors"}}',
    file.path(folder, "m.index.json"))
  expect_identical(nv_read_safetensors(at("m.index.json")), whole[c("a", "b")], ignore_attr = TRUE)
  cut <- readBin(file, "raw", file.size(file) - 8)
  writeBin(cut, file.path(folder, "cut.safetensors"))
  expect_error(nv_read_safetensors(at("cut.safetensors")), "fewer", class = "joist_value_error")
  wrong <- c(
    '{"a":{"dtype":"I8","shape":[4],"data_offsets":[4,0]}}' = "two positions", "[1]" = "",
    '{"a":{"dtype":"I8","shape":[4],"data_offsets":[0,8]}}' = "", '{"a":1}' = "two positions",
    '{"a":{"dtype":"I8","shape":[4]}}' = "two positions", "no JSON" = ""
  )
  for (header in names(wrong)) {
    size <- as.raw(c(nchar(header), rep(0, 7)))
    writeBin(c(size, charToRaw(header), raw(8)), file.path(folder, "w.safetensors"))
    expect_error(nv_read_safetensors(at("w.safetensors")), wrong[[header]],
      class = "joist_value_error"
    )
  }
  writeBin(as.raw(rep(255, 16)), file.path(folder, "w.safetensors"))
  expect_error(nv_read_safetensors(at("w.safetensors")), "100 MB", class = "joist_value_error")
  # A server without ranges.
  plain <- serve("pass", folder)
  expect_identical(nv_read_safetensors(paste0(plain, "/x.safetensors"), "b"), whole["b"],
    ignore_attr = TRUE
  )
})
