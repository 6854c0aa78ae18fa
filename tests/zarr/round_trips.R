# Stores of zarr-python, versions 2 and 3, to joist and back, bit by bit: every dtype, byte order,
# order of dims and codec, ranks 0 to 3, chunks that do not fill the array, extents of 0.
#
#   Rscript tests/zarr/round_trips.R PYTHON...
#
# Each PYTHON must have zarr; what joist writes is read by those that have version 3.

suppressPackageStartupMessages(library(joist))

script <- file.path(Sys.getenv("JOIST_ZARR_TESTS", "tests/zarr"), "round_trips.py")
source(file.path(dirname(script), "..", "files", "bytes.R"))
source(file.path(dirname(script), "..", "testthat", "helper-zarr.R"))
pythons <- commandArgs(TRUE)
folder <- tempfile("zarr")
dir.create(folder)
call_python <- function(python, what) {
  system2(python, c("-W", "ignore", shQuote(script), what, shQuote(folder)))
}

shapes <- list(
  scalar = integer(), vector = 11L, matrix = c(7L, 5L), cube = c(4L, 3L, 5L), none = c(0L, 3L)
)
chunks <- list(
  scalar = integer(), vector = 4L, matrix = c(3L, 5L), cube = c(2L, 2L, 3L), none = c(2L, 2L)
)
python_name <- function(dtype) format(as_dtype(dtype), style = "jax")

counts <- c(passed = 0L, failed = 0L)
count <- function(ok, what) {
  if (!ok) cat("differs:", what, "\n")
  counts <<- counts + c(ok, !ok)
}

have <- paste(intersect(c("zstd", "blosc"), written_codecs()), collapse = ",")
Sys.setenv(JOIST_ZARR_CODECS = have)
for (python in pythons) {
  if (call_python(python, "write") != 0L) stop("round_trips.py write failed")
}
for (name in list.files(folder)) {
  parts <- strsplit(name, "-", fixed = TRUE)[[1L]]
  dtype <- format(as_dtype(parts[2L], style = "jax"))
  x <- tryCatch(nv_compute(nv_zarr(file.path(folder, name))), error = conditionMessage)
  ok <- is_tensor(x) && dtype(x) == dtype && identical(shape(x), shapes[[parts[3L]]]) &&
    identical(nv_write_bin(x, endian = "little"), bytes_wanted(dtype, shapes[[parts[3L]]]))
  count(ok, paste(name, if (is.character(x)) x))
}

written <- character()
# Those of NumPy, which are all that zarr-python has: extensions.R has others.
in_numpy <- vapply(dtypes(), function(dtype) format(as_dtype(dtype), style = "numpy"), "")
for (dtype in dtypes()[grepl("^[a-z][0-9]+$", in_numpy)]) {
  for (kind in names(shapes)) {
    for (endian in c("little", "big")) {
      for (order in c("C", "F")) {
        for (codecs in c(list(character(), c("gzip", "crc32c")), as.list(written_codecs()))) {
          name <- paste(c("joist", dtype, kind, endian, order, codecs), collapse = "-")
          x <- nv_zarr_create(
            file.path(folder, name), dtype, shapes[[kind]], chunks[[kind]],
            endian = endian, order = order, codecs = codecs
          )
          bytes <- bytes_wanted(dtype, shapes[[kind]])
          value <- nv_read_bin(bytes, dtype, shapes[[kind]], endian = "little")
          if (length(value) > 0L) x[] <- value
          count(identical(nv_compute(nv_zarr(file.path(folder, name))), value), name)
          written <- c(written, paste(name, python_name(dtype), kind))
        }
      }
    }
  }
}
writeLines(written, file.path(folder, "written.txt"))
is_three <- vapply(pythons, function(python) {
  code <- shQuote("import zarr; assert zarr.__version__ > '3'")
  system2(python, c("-c", code), stderr = FALSE) == 0L
}, TRUE)
for (python in pythons[is_three]) count(call_python(python, "check") == 0L, "what joist wrote")

cat(counts[["passed"]], "passed,", counts[["failed"]], "failed\n")
unlink(folder, recursive = TRUE)
if (counts[["failed"]] > 0L) quit(status = 1L)
