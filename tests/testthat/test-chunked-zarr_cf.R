# Packed values of the CF conventions.

packed <- function(values, dtype, ...) {
  folder <- tempfile()
  x <- nv_zarr_create(folder, dtype, length(values), 2, attributes = list(...))
  x[] <- nv_tensor(values, dtype)
  folder
}

test_that("values are scaled, and fill values are NaN", {
  read <- function(...) {
    x <- nv_zarr(packed(...), cf = TRUE)
    list(format(dtype(x)), as_array(nv_compute(x)))
  }
  want <- list("f64", c(10.5, NaN, 12))
  scaled <- function(...) read(c(1L, -99L, 4L), "i16", scale_factor = 0.5, add_offset = 10, ...)
  expect_identical(scaled(`_FillValue` = -99), want)
  expect_identical(scaled(missing_value = c(-99, 7)), want)
  # 1.5 in Base64, the example of the page of `_FillValue`
  filled <- function(fill) read(c(1.5, 2, 3), "f32", `_FillValue` = fill)
  expect_identical(filled("AAAAAAAA+D8="), list("f32", c(NaN, 2, 3)))
  expect_identical(filled("AAAAAAAA+H8="), list("f32", c(1.5, 2, 3)))
  expect_identical(read(1:3, "i32", unit = "m"), list("i32", 1:3))
  # As xarray reads them.
  bytes <- c(-2L, -1L, 3L)
  unsigned <- function(...) read(bytes, "i8", `_Unsigned` = "true", ...)
  expect_identical(unsigned(), list("ui8", c(254L, 255L, 3L)))
  expect_identical(unsigned(`_FillValue` = -1), list("f64", c(254, NaN, 3)))
  expect_identical(unsigned(`_FillValue` = 255, scale_factor = 2), list("f64", c(508, NaN, 6)))
  expect_identical(read(bytes, "i8", `_Unsigned` = "false"), list("i8", bytes))
  expect_identical(read(c(254L, 3L), "ui8", `_Unsigned` = "false"), list("i8", c(-2L, 3L)))
  kept <- nv_zarr(packed(bytes, "i8", `_Unsigned` = "true", unit = "m"), cf = TRUE)
  expect_identical(attr(kept, "zarr_attributes")$unit, "m")
  expect_identical(read(c(1, 2), "f32", scale_factor = 2), list("f32", c(2, 4)))
  expect_identical(as_array(nv_compute(nv_zarr(packed(1:2, "i8", scale_factor = 2)))), 1:2)
})

test_that("members of a group and the fill value of version 2 are read so", {
  folder <- tempfile()
  x <- nv_zarr_create(folder, "ui8", 2, node = "t", attributes = list(add_offset = 100))
  x[] <- 1:2
  expect_identical(as_array(nv_compute(nv_zarr(folder, cf = TRUE)$t)), c(101, 102))
  old <- tempfile()
  dir.create(old)
  writeLines(paste0(
    "{\"zarr_format\":2,\"shape\":[3],\"chunks\":[3],\"dtype\":\"|i1\",\"order\":\"C\",",
    "\"compressor\":null,\"filters\":null,\"fill_value\":-1}"
  ), file.path(old, ".zarray"))
  writeBin(as.raw(c(255, 1, 2)), file.path(old, "0"))
  expect_identical(as_array(nv_compute(nv_zarr(old, cf = TRUE))), c(NaN, 1, 2))
  expect_identical(as_array(nv_zarr(old)[]), c(-1L, 1L, 2L))
})

test_that("packed values of an HDF5 file are read so", {
  skip_if_not_installed("hdf5r")
  path <- tempfile()
  file <- hdf5r::H5File$new(path, "w")
  file[["x"]] <- c(1L, 2L, -9L)
  hdf5r::h5attr(file[["x"]], "scale_factor") <- 0.25 # nolint: object_name_linter.
  hdf5r::h5attr(file[["x"]], "_FillValue") <- -9L # nolint: object_name_linter.
  file$close_all()
  expect_identical(as_array(nv_compute(nv_hdf5(path, "x", cf = TRUE))), c(0.25, 0.5, NaN))
})

test_that("attributes that are wrong are errors that name them", {
  wrong <- function(field, ...) {
    expect_error(nv_zarr(packed(...), cf = TRUE), field, class = "joist_value_error")
  }
  wrong("scale_factor", 1:2, "i8", scale_factor = "2")
  wrong("add_offset", 1:2, "i8", add_offset = c(1, 2))
  wrong("_FillValue", 1:2, "i8", `_FillValue` = 300)
  wrong("_FillValue", 1:2, "i8", `_FillValue` = 1.5)
  wrong("_FillValue", 1:2, "i8", `_FillValue` = "AA==")
  wrong("_FillValue", c(1, 2), "f32", `_FillValue` = "AA==")
  wrong("missing_value", c(1, 2), "f32", missing_value = "??")
  wrong("_FillValue", c(TRUE, FALSE), "bool", `_FillValue` = 1)
  expect_error(nv_zarr(packed(1:2, "i8"), cf = NA), "cf", class = "joist_value_error")
})
