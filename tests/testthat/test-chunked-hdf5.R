# HDF5 files as lists of chunked tensors.

skip_if_not_installed("hdf5r")

numbers <- matrix(c(3, 1, 2, 5, 7, 6, -8, 11, 4, 0, 9, -2, 13, 12, -10, 14, 16, 15, 21, 17), 5)

# A file with a function that writes to it.
file_of <- function(f) {
  path <- tempfile(fileext = ".h5ad")
  file <- hdf5r::H5File$new(path, "w")
  f(file)
  file$close_all()
  path
}

test_that("datasets are chunked tensors in the order of their dimensions", {
  path <- file_of(function(file) {
    file[["x"]] <- t(numbers)
    group <- file$create_group("a")
    group[["i"]] <- 1:7
    group[["words"]] <- c("u", "long")
    group[["deep"]] <- aperm(array(1:24, 2:4))
    hdf5r::h5attr(group, "unit") <- "m"
    file$create_dataset("parts", t(numbers),
      dtype = hdf5r::h5types[["H5T_IEEE_F32BE"]], chunk_dims = c(2, 3)
    )
  })
  all <- nv_hdf5(path)
  expect_setequal(names(all), c("a", "parts", "x"))
  expect_identical(attr(all$a, "zarr_attributes"), list(unit = "m"))
  expect_identical(dtype(all$parts), as_dtype("f32"))
  expect_identical(all$a$words, c("u", "long"))
  expect_identical(as_array(nv_compute(all$a$i)), 1:7)
  expect_identical(as_array(nv_compute(all$a$deep)), array(1:24, 2:4))
  for (x in list(all$x, all$parts, nv_hdf5(path, "parts"))) {
    expect_s3_class(x, "nv_chunked")
    expect_identical(as_array(nv_compute(x)), numbers)
    expect_identical(as_array(x[c(4, 1), 2:3]), numbers[c(4, 1), 2:3])
    expect_equal(as_array(nv_compute(nv_reduce_sum(x + 1, 1))), colSums(numbers + 1))
    expect_identical(as_array(nv_store(x * 2, tempfile())[]), numbers * 2)
    expect_error(x[1, ] <- 0, "store", class = "joist_value_error")
  }
  # The file is closed again.
  file <- hdf5r::H5File$new(path, "r+")
  file[["more"]] <- 1
  file$close_all()
  expect_identical(as_array(nv_compute(nv_hdf5(path, "more"))), 1)
})

test_that("sparse matrices of a file are chunked tensors", {
  values <- rbind(c(0, 2, 0), c(1, 0, 0), 0, c(0, 3, 4))
  path <- file_of(function(file) {
    x <- file$create_group("X")
    x[["data"]] <- c(2, 1, 3, 4)
    x[["indices"]] <- c(1L, 0L, 1L, 2L)
    x[["indptr"]] <- c(0L, 1L, 2L, 2L, 4L)
    hdf5r::h5attr(x, "encoding-type") <- "csr_matrix" # nolint: object_name_linter.
    hdf5r::h5attr(x, "shape") <- c(4L, 3L)
  })
  x <- nv_hdf5(path)$X
  expect_identical(as_array(nv_compute(x)), values)
  expect_equal(as_array(nv_compute(nv_var(x, 1))), apply(values, 2, var))
})

test_that("missing nodes and values that cannot be read exactly are errors", {
  path <- file_of(function(file) file[["x"]] <- c(1L, NA))
  expect_error(nv_hdf5(path, "y"), "\"y\"", class = "joist_value_error")
  expect_error(nv_hdf5(path, "x/y"), class = "joist_value_error")
  expect_error(nv_compute(nv_hdf5(path, "x")), "NA", class = "joist_value_error")
  expect_error(nv_hdf5(tempfile()), "no file", class = "joist_value_error")
  text <- tempfile()
  writeLines("text", text)
  expect_error(nv_hdf5(text), "HDF5", class = "joist_value_error")
})

test_that("empty datasets, those without elements or extents, and half floats are read", {
  path <- file_of(function(file) {
    empty <- function(name, type, space) {
      file$create_dataset(name, dtype = hdf5r::h5types[[type]], space = space, chunk_dims = NULL)
    }
    empty("none", "H5T_NATIVE_DOUBLE", hdf5r::H5S$new("null"))
    empty("rows", "H5T_NATIVE_INT", hdf5r::H5S$new("simple", dims = c(3, 0), maxdims = c(3, 0)))
    one <- empty("one", "H5T_NATIVE_DOUBLE", hdf5r::H5S$new("scalar"))
    one$write(args = NULL, value = 2.5)
    half <- hdf5r::h5types[["H5T_IEEE_F32LE"]]$copy()
    half$set_fields(15, 10, 5, 0, 10)
    half$set_size(2)
    half$set_ebias(15)
    file$create_dataset("half", c(1.5, -65504), dtype = half)
  })
  all <- nv_hdf5(path)
  expect_identical(as_array(nv_compute(all$none)), numeric())
  expect_identical(as_array(nv_compute(all$rows)), matrix(integer(), 0, 3))
  expect_identical(shape(all$one), integer())
  expect_identical(as_array(nv_compute(all$one)), 2.5)
  expect_identical(dtype(all$half), as_dtype("f16"))
  expect_identical(as_array(nv_compute(all$half)), c(1.5, -65504))
})
