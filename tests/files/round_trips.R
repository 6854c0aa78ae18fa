# Files from NumPy, ml_dtypes and safetensors to joist and back, bit by bit: every dtype, byte
# order, order of dimensions, ranks 0 to 6 and extents of 0.
#
#   Rscript tests/files/round_trips.R PYTHON
#
# PYTHON must have numpy, ml_dtypes and safetensors.

suppressPackageStartupMessages(library(joist))

source(file.path(Sys.getenv("JOIST_FILE_TESTS", "tests/files"), "python.R"))
source(file.path(tests, "bytes.R"))

dtypes <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
  "c64", "c128"
)
shapes <- list(
  integer(), 7L, c(3L, 5L), 2:4, c(3L, 1L, 2L, 5L), c(2L, 3L, 2L, 1L, 3L),
  c(2L, 1L, 3L, 2L, 2L, 2L), 0L, c(3L, 0L, 2L)
)

check <- function(x, dtype, k, what) {
  ok <- format(dtype(x)) == dtype && identical(shape(x), shapes[[k]]) &&
    identical(nv_write_bin(x, endian = "little"), bytes_wanted(dtype, shapes[[k]]))
  if (!ok) cat("differs:", what, "\n")
  counts <<- counts + c(ok, !ok)
  invisible(x)
}

run_python("round_trips.py", "write")
everything <- list()
for (dtype in dtypes) {
  for (k in seq_along(shapes)) {
    for (endian in c("little", if (dtype != "bf16") "big")) {
      for (order in c("C", "F")) {
        stem <- file.path(folder, paste(dtype, k - 1L, endian, order, sep = "-"))
        path <- paste0(stem, ".npy")
        x <- check(nv_read_npy(path), dtype, k, path)
        check(nv_read_npy(path, mmap = TRUE), dtype, k, paste(path, "mapped"))
        check(nv_read_npy(readBin(path, "raw", 1e6)), dtype, k, paste(path, "bytes"))
        turned <- nv_read_npy(path, mmap = TRUE, reversed = TRUE)
        if (length(shapes[[k]]) > 0L) turned <- nv_transpose(turned)
        check(turned, dtype, k, paste(path, "reversed"))
        nv_write_npy(x, paste0(stem, "-joist.npy"), order = order, endian = endian)
      }
    }
    everything[[paste(dtype, k - 1L, sep = "-")]] <- x
  }
}
check_list <- function(x, what) {
  for (name in names(x)) {
    parts <- strsplit(name, "-")[[1L]]
    check(x[[name]], parts[1L], as.integer(parts[2L]) + 1L, paste(what, name))
  }
}
for (kind in c("plain", "compressed")) {
  theirs <- nv_read_npz(file.path(folder, paste0(kind, ".npz")))
  stopifnot(setequal(names(theirs), names(everything)))
  check_list(theirs, kind)
  own <- file.path(folder, paste0("joist-", kind, ".npz"))
  nv_write_npz(everything, own, compress = kind == "compressed")
  check_list(nv_read_npz(own), paste("own", kind))
}
path <- file.path(folder, "theirs.safetensors")
known <- everything[!startsWith(names(everything), "c128")]
metadata <- c(key = "\u00e9\n\"\\")
for (mmap in c(FALSE, TRUE)) {
  theirs <- nv_read(path, mmap = mmap)
  stopifnot(
    setequal(names(theirs), names(known)), identical(attr(theirs, "metadata"), metadata)
  )
  check_list(theirs, "safetensors")
}
check_list(nv_read(path, names = "f16-3"), "one tensor")
nv_save(known, file.path(folder, "joist.safetensors"), metadata)
check_list(nv_unserialize(nv_serialize(known)), "serialized")

run_python("round_trips.py", "compare")
finish()
