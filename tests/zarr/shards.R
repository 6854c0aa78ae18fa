# Random arrays with shards of zarr-python and TensorStore to joist and back, bit by bit: any dtype
# of NumPy, codecs, orders, shards within shards, parts that were never written.
#
#   Rscript tests/zarr/shards.R COUNT PYTHON...
#
# Each PYTHON must have zarr 3 or tensorstore.

suppressPackageStartupMessages(library(joist))

script <- file.path(Sys.getenv("JOIST_ZARR_TESTS", "tests/zarr"), "shards.py")
source(file.path(dirname(script), "..", "testthat", "helper-zarr.R"))
count <- commandArgs(TRUE)[1L]
pythons <- commandArgs(TRUE)[-1L]
folder <- tempfile("shards")
dir.create(folder)
Sys.setenv(JOIST_ZARR_CODECS = paste(written_codecs(), collapse = ","))
call_python <- function(python, what) {
  status <- system2(python, c("-W", "ignore", shQuote(script), what, shQuote(folder), count))
  if (status != 0L) stop("shards.py ", what, " failed")
}

set.seed(1)
counts <- c(passed = 0L, failed = 0L)
for (python in pythons) call_python(python, "write")
for (name in list.files(folder, "-[0-9]+$")) {
  path <- file.path(folder, name)
  if (!file.exists(file.path(path, "zarr.json"))) next
  bytes <- readBin(paste0(path, ".bytes"), "raw", 1e7)
  x <- tryCatch(nv_zarr(path), error = conditionMessage)
  got <- tryCatch(nv_compute(x), error = conditionMessage)
  ok <- is_tensor(got) && identical(nv_write_bin(got, endian = "little"), bytes)
  if (!ok) cat("differs:", name, if (is.character(got)) got, "\n")
  counts <- counts + c(ok, !ok)
  if (!ok) next
  # A part of it is read, and another one written, which all are to read.
  ranges <- lapply(shape(x), function(n) {
    ends <- sort(sample(n, 2L, TRUE))
    ends[1L]:ends[2L]
  })
  part <- do.call(`[`, c(list(x), ranges, list(drop = FALSE)))
  same <- identical(part, do.call(`[`, c(list(got), ranges, list(drop = FALSE))))
  other <- nv_read_bin(rev(nv_write_bin(part)), dtype(part), shape(part))
  x <- do.call(`[<-`, c(list(x), ranges, list(value = other)))
  again <- nv_compute(nv_zarr(path))
  want <- do.call(`[<-`, c(list(got), ranges, list(value = other)))
  ok <- same && identical(nv_write_bin(again), nv_write_bin(want))
  if (!ok) cat("differs in a part:", name, "\n")
  counts <- counts + c(ok, !ok)
  writeBin(nv_write_bin(want, endian = "little"), paste0(path, ".bytes"))
  own <- paste0(name, "-own")
  shards <- base::pmax(1L, sample(3L, length(ranges), TRUE))
  y <- nv_store(x, file.path(folder, own),
    chunks = rep(2L, length(ranges)), shards = 2L * shards, order = sample(c("C", "F"), 1L),
    codecs = sample(written_codecs(), sample(0:2, 1L))
  )
  file.copy(paste0(path, ".bytes"), file.path(folder, paste0(own, ".bytes")))
  to <- file.path(folder, paste0("written-", sub("-.*", "", name), ".txt"))
  cat(c(name, own), file = to, sep = "\n", append = TRUE)
}
for (python in pythons) call_python(python, "check")
unlink(folder, recursive = TRUE)
cat(sprintf("counts: %d %d 0\n", counts[["passed"]], counts[["failed"]]))
quit("no", status = as.integer(counts[["failed"]] > 0L))
