# Files of dtypes that NumPy lacks, from NumPy, ml_dtypes and safetensors to joist and back: all 256
# bytes, and all codes in either order of dimensions.
#
#   Rscript tests/files/narrow.R PYTHON
#
# PYTHON must have numpy, ml_dtypes and safetensors. If it has PyTorch too, files of its float8
# dtypes are compared as well.

suppressPackageStartupMessages(library(joist))

source(file.path(Sys.getenv("JOIST_FILE_TESTS", "tests/files"), "python.R"))

wide <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
  "c64", "c128", "c32", "bc32"
)
narrow <- setdiff(dtypes(), wide)
bits <- as.integer(sub("^[a-z]+([0-9]).*", "\\1", narrow))
names(bits) <- narrow

check <- function(ok, ...) {
  ok <- isTRUE(ok)
  if (!ok) cat("differs:", ..., "\n")
  counts <<- counts + c(ok, !ok)
}
# The codes in R's order of a cube that has them in the order of C.
codes <- function(dtype) {
  place <- aperm(array(0:255, c(8L, 8L, 4L)), 3:1)
  as.raw(as.vector(place) %% 2^bits[[dtype]])
}
check_cube <- function(x, dtype, ...) {
  check(format(dtype(x)) == dtype && identical(shape(x), c(4L, 8L, 8L)), dtype, ...)
  check(identical(nv_write_bin(x), codes(dtype)), dtype, ...)
}

run_python("narrow.py", "write")
path <- function(...) file.path(folder, paste0(...))
cubes <- list()
for (dtype in narrow) {
  x <- nv_read_npy(path(dtype, "-bytes.npy"), dtype = dtype)
  check(identical(nv_write_bin(x), as.raw(0:255 %% 2^bits[[dtype]])), dtype, "bytes")
  values <- as_array(nv_read_npy(path(dtype, "-values.npy")))
  check(identical(as_array(nv_convert(x, "f64")), values), dtype, "values")
  for (order in c("C", "F")) {
    file <- path(dtype, "-", order, ".npy")
    for (mmap in c(FALSE, TRUE)) {
      check_cube(nv_read_npy(file, mmap = mmap, dtype = dtype), dtype, order, mmap)
    }
    cube <- nv_read_npy(file, dtype = dtype)
    nv_write_npy(cube, path(dtype, "-", order, "-joist.npy"), order = order)
  }
  cubes[[dtype]] <- cube
}
theirs <- nv_read_npz(path("all.npz"), dtype = structure(as.list(narrow), names = narrow))
for (dtype in narrow) check_cube(theirs[[dtype]], dtype, "npz")
nv_write_npz(cubes, path("joist.npz"))
for (mmap in c(FALSE, TRUE)) {
  read <- c(nv_read(path("theirs.safetensors"), mmap = mmap), nv_read(path("six.safetensors")))
  check(length(read) == 8L, "safetensors")
  for (dtype in names(read)) check_cube(read[[dtype]], dtype, "safetensors", mmap)
}
nv_save(cubes[names(read)], path("joist.safetensors"))
for (dtype in narrow[file.exists(path(narrow, "-torch.safetensors"))]) {
  read <- nv_read(path(dtype, "-torch.safetensors"))
  check_cube(read$cube, dtype, "PyTorch")
  # In the order of C, as the file has them.
  bytes <- nv_read_bin(as.raw(0:255), dtype)
  check(identical(as_array(nv_convert(bytes, "f64")), as_array(read$values)), dtype, "PyTorch")
}

# Complex numbers of two halves.
for (dtype in c("c32", "bc32")) {
  x <- nv_read_npy(path(dtype, ".npy"), dtype = dtype)
  values <- as_array(nv_read_npy(path(dtype, "-values.npy")))
  check(identical(as_array(x), values), dtype, "values")
  nv_write_npy(x, path(dtype, "-joist.npy"), order = "C")
}

# Types without a dtype.
records <- nv_read_npy(path("records.npy"), raw = TRUE)
check(identical(shape(records), c(7L, 2L, 3L)), "records")
check(identical(as_array(records)[, 2L, 3L], c(5L, 0L, utf8ToInt("hello"))), "records")
days <- nv_read_npy(path("days.npy"), dtype = "i64")
check(identical(as_array(days), matrix(as.numeric(0:5), 2L, byrow = TRUE)), "days")
days <- nv_read_npy(path("days.npy"), raw = TRUE)
check(identical(as_array(days)[1L, , ], matrix(0:5, 2L, byrow = TRUE)), "days")
refused <- tryCatch(nv_read_npy(path("objects.npy"), raw = TRUE), joist_dtype_error = identity)
check(inherits(refused, "condition"), "objects")

run_python("narrow.py", "compare")
finish()
