# Dask and xarray read what joist wrote, with the names of its dimensions, and the reverse.
#
#   Rscript tests/zarr/neighbours.R PYTHON
#
# PYTHON must have zarr 3, dask and xarray.

suppressPackageStartupMessages(library(joist))

script <- file.path(Sys.getenv("JOIST_ZARR_TESTS", "tests/zarr"), "neighbours.py")
python <- commandArgs(TRUE)[1L]
folder <- tempfile("zarr")
dir.create(folder)
call_python <- function(what) {
  system2(python, c("-W", "ignore", shQuote(script), what, shQuote(folder)))
}
at <- function(name) file.path(folder, name)

# As NumPy counts: the last dimension first.
weather <- aperm(array(0:104 / 4, c(3, 5, 7)))
counts <- t(matrix(0:39, 5))

checked <- 0L
check <- function(ok, what) {
  checked <<- checked + 1L
  if (!isTRUE(ok)) stop(what, " differs", call. = FALSE)
}

if (call_python("write") != 0L) stop("neighbours.py write failed")
dask <- nv_zarr(at("dask.zarr"))
check(dtype(dask) == "i16", "the dtype of Dask's array")
check(identical(as_array(nv_compute(dask)) + 0, counts * 2), "Dask's array")
check(identical(as_array(nv_compute(nv_reduce_sum(dask, 1))) + 0, colSums(counts) * 2), "its sums")
group <- nv_zarr(at("xarray.zarr"))
check(setequal(names(group), c("weather", "time", "x")), "xarray's group")
check(identical(attr(group, "zarr_attributes")$title, "made"), "its title")
check(
  identical(attr(group$weather, "dimension_names"), c("time", "y", "x")), "the names of dimensions"
)
check(identical(attr(group$weather, "zarr_attributes")$units, "K"), "an attribute")
read <- as_array(nv_compute(group$weather))
check(identical(names(dimnames(read)), c("time", "y", "x")), "the names of dimensions of R's array")
check(identical(unname(read), weather), "xarray's array")
check(identical(as_array(nv_compute(group$x)), c(10, 20, 30)), "a coordinate")

nv_zarr_create_group(at("joist.zarr"), attributes = list(title = "made"))
x <- nv_zarr_create(
  at("joist.zarr"), "f32", c(7, 5, 3),
  chunks = c(3, 5, 2), node = "weather", codecs = "gzip", dimension_names = c("time", "y", "x"),
  attributes = list(units = "K")
)
x[] <- nv_tensor(weather, "f32")
y <- nv_zarr_create(at("joist.zarr"), "f64", 3L, node = "x", dimension_names = "x")
y[] <- c(10, 20, 30)
invisible(nv_store(x * 2 + 1, at("computed.zarr"), order = "F"))
check(call_python("check") == 0L, "what joist wrote")

cat(checked, "passed\n")
unlink(folder, recursive = TRUE)
