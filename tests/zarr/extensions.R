# Zarr arrays of dtypes of ml_dtypes, from TensorStore to joist and back, bit by bit.
#
#   Rscript tests/zarr/extensions.R PYTHON
#
# PYTHON must have tensorstore and ml_dtypes.

suppressPackageStartupMessages(library(joist))

python <- commandArgs(TRUE)[1L]
script <- file.path(Sys.getenv("JOIST_ZARR_TESTS", "tests/zarr"), "extensions.py")
folder <- tempfile("tensorstore")
dir.create(folder)
call_python <- function(what) {
  status <- system2(python, c(shQuote(script), what, shQuote(folder)))
  if (status != 0L) stop("extensions.py ", what, " failed")
}

call_python("write")
counts <- c(passed = 0L, failed = 0L)
for (path in list.files(folder, full.names = TRUE)) {
  name <- sub("-.*", "", basename(path))
  bits <- if (name == "bfloat16") 8L else as.integer(sub("^[a-z]+([0-9]+).*", "\\1", name))
  x <- nv_compute(nv_zarr(path))
  size <- if (name == "bfloat16") 2L else 1L
  codes <- matrix((seq_len(256L * size) - 1L) %% 2^bits, size)
  place <- as.vector(matrix(seq_len(256L), 16L, byrow = TRUE))
  one <- nv_tensor(rep(1, 16L), dtype(x))
  if (name == "int2") one <- nv_tensor(rep(1L, 16L), "i2")
  ok <- format(dtype(x), style = "jax") == name && identical(shape(x), c(17L, 16L)) &&
    identical(nv_write_bin(x[1:16, ], endian = "little"), as.raw(codes[, place])) &&
    identical(x[17L, ], one)
  if (!ok) cat("differs:", basename(path), "\n")
  counts <- counts + c(ok, !ok)
  if (!endsWith(path, "-plain")) next
  for (order in c("C", "F")) {
    own <- file.path(folder, paste(name, order, "joist", sep = "-"))
    nv_store(x, own, chunks = c(4L, 6L), order = order)
  }
}
call_python("check")
unlink(folder, recursive = TRUE)
cat(sprintf("counts: %d %d 0\n", counts[["passed"]], counts[["failed"]]))
quit("no", status = as.integer(counts[["failed"]] > 0L))
