# Data of other packages in the dtype in which they store it.

test_that("R's own data are what nv_tensor() makes of them", {
  expect_identical(as_tensor(as.raw(1:3)), nv_tensor(1:3, "ui8"))
  expect_identical(as_tensor(c(1.5, 2)), nv_tensor(c(1.5, 2)))
  expect_identical(as_tensor(1:3, dtype = "i8"), nv_tensor(1:3, "i8"))
  x <- nv_tensor(1:3, "i16")
  expect_identical(as_tensor(x), x)
  expect_refusal(as_tensor(factor("a")), "joist_value_error", "factor")
  expect_refusal(as_tensor(list(1)), "joist_value_error")
  skip_if_not_installed("bit64")
  id <- bit64::as.integer64("9007199254740993")
  expect_identical(as_tensor(id), nv_tensor("9007199254740993", "i64"))
})

test_that("pictures are bytes, rows first", {
  colours <- matrix(c("#FF0000", "#00FF00", "#0000FF80", "white", "black", NA), 2)
  wanted <- array(grDevices::col2rgb(colours, alpha = TRUE), c(4, 2, 3))
  picture <- as_tensor(as.raster(colours))
  expect_identical(dtype(picture), as_dtype("ui8"))
  expect_identical(as_array(picture), aperm(wanted, c(2, 3, 1)))
})

test_that("the bytes of a png are the file's", {
  skip_if_not_installed("png")
  bytes <- array(c(0:255, 255:0, rep(c(7, 255), 128), 0:255), c(16, 16, 4))
  # Grey, grey with alpha, colours, colours with alpha: all are read as the last.
  layers <- list(1L, c(1L, 4L), 1:3, 1:4)
  for (stored in layers) {
    picture <- as_tensor(png::readPNG(png::writePNG(drop(bytes[, , stored]) / 255), native = TRUE))
    expect_identical(dtype(picture), as_dtype("ui8"))
    wanted <- bytes
    if (!2L %in% stored) wanted[, , 2:3] <- bytes[, , 1]
    if (!4L %in% stored) wanted[, , 4] <- 255
    expect_equal(as_array(picture), wanted)
  }
  every <- 0:65535 # as the manual shows for 16 bits
  expect_identical(as_array(nv_tensor(round(every / 65535 * 65535), "ui16")), every)
})

test_that("a bitmap of magick is ui8", {
  skip_if_not_installed("magick")
  colours <- matrix(c("#FF0000", "#00FF00", "#0000FF", "#0A0B0C", "#FFFFFF", "#000000"), 2)
  image <- magick::image_read(as.raster(colours))
  picture <- as_tensor(magick::image_data(image, "rgb"))
  expect_identical(dtype(picture), as_dtype("ui8"))
  wanted <- aperm(array(grDevices::col2rgb(colours), c(3, 2, 3)), c(2, 3, 1))
  expect_identical(as_array(picture), wanted)
})

test_that("rasters of terra keep the type of their file", {
  skip_if_not_installed("terra")
  extremes <- list(
    INT1U = c(0, 254), INT2U = c(0, 65534), INT2S = c(-32767, 32767), INT4U = c(3e9, 4294967294),
    INT4S = c(-2147483647, 2147483647), FLT4S = c(-1.5, 2^100), FLT8S = c(0.1, -1e300)
  )
  types <- c(
    INT1U = "ui8", INT2U = "ui16", INT2S = "i16", INT4U = "ui32", INT4S = "i32", FLT4S = "f32",
    FLT8S = "f64"
  )
  for (type in names(types)) {
    file <- tempfile(fileext = ".tif")
    values <- matrix(c(1, 2, 3, 4, extremes[[type]]), 2)
    terra::writeRaster(terra::rast(values), file, datatype = type)
    x <- as_tensor(terra::rast(file))
    expect_identical(format(dtype(x)), types[[type]], label = type)
    expect_identical(as_array(x, "double"), values, label = type)
    both <- c(terra::rast(file), terra::rast(file))
    expect_identical(as_array(as_tensor(both), "double"), array(values, c(2, 3, 2)), label = type)
  }
})

test_that("cells of a raster without a value are missing", {
  skip_if_not_installed("terra")
  missing <- matrix(c(FALSE, TRUE, FALSE, FALSE), 2)
  for (type in c("INT1U", "INT2S", "FLT4S", "FLT8S")) {
    file <- tempfile(fileext = ".tif")
    values <- matrix(c(1, NA, 3, 4), 2)
    terra::writeRaster(terra::rast(values), file, datatype = type)
    x <- as_tensor(terra::rast(file))
    expect_identical(as_array(nv_is_na(x)), missing, label = type)
    expect_identical(as_array(x, "double"), values, label = type)
  }
})

test_that("what a raster cannot give exactly is refused", {
  skip_if_not_installed("terra")
  write <- function(type, values) {
    file <- tempfile(fileext = ".tif")
    terra::writeRaster(terra::rast(matrix(values, 2)), file, datatype = type)
    terra::rast(file)
  }
  bytes <- write("INT1U", c(1, NA, 3, 4))
  expect_refusal(as_tensor(bytes, na = "error"), "joist_value_error", c("NA", "ui8"))
  floats <- write("FLT4S", c(1, NA, 3, 4))
  expect_refusal(as_tensor(floats, na = "error"), "joist_value_error", c("NA", "f32"))
  filled <- as_array(as_tensor(floats, na = "nan"))
  expect_identical(is.nan(filled), matrix(c(FALSE, TRUE, FALSE, FALSE), 2))
  expect_refusal(as_tensor(c(floats, bytes)), "joist_dtype_error", c("FLT4S", "INT1U"))
  scaled <- write("INT1U", 1:4)
  terra::scoff(scaled) <- cbind(0.5, 10)
  expect_refusal(as_tensor(scaled), "joist_value_error", c("scale", "scoff"))
  # terra gives doubles of 64-bit integers: from 2^53 on two of them may be one.
  large <- 2^53 - 1
  expect_identical(as_array(as_tensor(write("INT8S", c(1, -large, 3, large))), "character"),
    matrix(c("1", "-9007199254740991", "3", "9007199254740991"), 2))
  for (type in c("INT8S", "INT8U")) {
    expect_refusal(as_tensor(write(type, c(1, 2, 3, 2^53))), "joist_value_error",
      c("value 4", "9007199254740992", "terra"))
  }
})

test_that("a package that is not installed is named", {
  skip_on_cran()
  skip_on_os("windows") # without links
  skip_if("zip" %in% dir(.Library), "zip is in R's own library")
  library <- withr::local_tempdir()
  file.symlink(find.package("joist"), file.path(library, "joist"))
  said <- run_in_fresh_r(c(
    sprintf(".libPaths(%s, include.site = FALSE)", deparse1(library)),
    "file <- tempfile()",
    "refused <- function(e) cat(class(e)[1L], conditionMessage(e), file.exists(file))",
    "tryCatch(joist::nv_write_npz(list(a = 1), file), error = refused)"
  ))
  expect_identical(said,
    "joist_value_error this needs the package 'zip', which is not installed FALSE")
})

# The same values from both packages; each has what it cannot give.
hdf5_values <- list(
  U8 = c(0, 200, 255), I8 = c(-128, 0, 127), U16 = c(0, 40000, 65535), I16 = c(-32768, 0, 32767),
  U32 = c(0, 3e9, 4294967295), I32 = c(-2147483647, 0, 2147483647), F32 = c(0.5, -2^100, 2^-140),
  F64 = c(0.1, -1e300, -Inf)
)
hdf5_dtypes <- c(
  U8 = "ui8", I8 = "i8", U16 = "ui16", I16 = "i16", U32 = "ui32", I32 = "i32", F32 = "f32",
  F64 = "f64"
)

hdf5_file <- function(values, ids) {
  path <- tempfile(fileext = ".h5")
  file <- hdf5r::H5File$new(path, "w")
  on.exit(file$close_all())
  type <- function(name) {
    kind <- if (startsWith(name, "F")) "H5T_IEEE_" else "H5T_STD_"
    hdf5r::h5types[[paste0(kind, name, if (name %in% c("U16", "F64")) "BE" else "LE")]]
  }
  for (name in names(values)) {
    set <- file$create_dataset(name, dtype = type(name), dims = 3)
    set[] <- values[[name]]
  }
  set <- file$create_dataset("matrix", dtype = type("U32"), dims = c(2, 3))
  set[, ] <- matrix(c(1, 2, 3, 4, 5, 3e9), 2)
  for (name in c("I64", "U64")) {
    set <- file$create_dataset(name, dtype = type(name), dims = 3)
    set[] <- bit64::as.integer64(ids)
  }
  file$create_dataset("text", robj = c("a", "b"))
  none <- hdf5r::H5S$new("simple", dims = c(0, 3), maxdims = c(Inf, 3))
  file$create_dataset("none", dtype = type("U16"), space = none, chunk_dims = c(2, 3))
  path
}

# How as_tensor() reads a dataset by each package that is here.
hdf5_readers <- function(path) {
  readers <- list(hdf5r = function(name) {
    file <- hdf5r::H5File$new(path, "r")
    on.exit(file$close_all())
    as_tensor(file[[name]])
  })
  if (requireNamespace("rhdf5", quietly = TRUE)) {
    readers$rhdf5 <- function(name) {
      file <- rhdf5::H5Fopen(path)
      set <- rhdf5::H5Dopen(file, name)
      on.exit({
        rhdf5::H5Dclose(set)
        rhdf5::H5Fclose(file)
      })
      as_tensor(set)
    }
  }
  readers
}

test_that("datasets of HDF5 keep their type", {
  skip_if_not_installed("hdf5r")
  skip_if_not_installed("bit64")
  ids <- c("0", "9007199254740993", "9223372036854775806")
  readers <- hdf5_readers(hdf5_file(hdf5_values, ids))
  for (package in names(readers)) {
    read <- readers[[package]]
    for (name in names(hdf5_values)) {
      x <- read(name)
      expect_identical(format(dtype(x)), hdf5_dtypes[[name]], label = paste(package, name))
      expect_identical(as_array(x, "double"), hdf5_values[[name]], label = paste(package, name))
    }
    expect_identical(as_array(read("matrix")), matrix(c(1, 2, 3, 4, 5, 3e9), 2), label = package)
    expect_identical(read("none"), nv_tensor(integer(), "ui16", c(0, 3)), label = package)
    expect_identical(as_array(read("I64"), "character"), ids, label = package)
    expect_identical(as_array(read("U64"), "character"), ids, label = package)
    expect_identical(format(dtype(read("U64"))), "ui64", label = package)
    expect_refusal(read("text"), "joist_dtype_error", "HDF5 type")
  }
})

test_that("what R's packages for HDF5 cannot give is refused", {
  skip_if_not_installed("hdf5r")
  skip_if_not_installed("rhdf5") # which can write it
  skip_if_not_installed("bit64")
  path <- hdf5_file(hdf5_values, c("0", "1", "2"))
  file <- rhdf5::H5Fopen(path)
  write <- function(name, values) {
    set <- rhdf5::H5Dopen(file, name)
    rhdf5::H5Dwrite(set, values)
    rhdf5::H5Dclose(set)
  }
  write("U64", c(1, 2, 2^63 + 2048))
  write("I64", c(1, -2^63, 2))
  write("I32", c(-2^31, 1, 2))
  rhdf5::H5Fclose(file)
  readers <- hdf5_readers(path)
  for (package in names(readers)) {
    read <- readers[[package]]
    expect_refusal(read("U64"), "joist_value_error", c(package, "ui64", "position 3"))
    expect_refusal(read("I64"), "joist_value_error", c(package, "i64", "position 2"))
    expect_refusal(read("I32"), "joist_value_error", c(package, "i32", "position 1"))
  }
})

# The package float has the bits of its numbers in a slot of integers; its NA is one NaN of many.
test_that("numbers of the package float are f32, bit by bit", {
  here <- environment()
  float32 <- methods::setClass("float32", slots = c(Data = "integer"), where = here)
  withr::defer(methods::removeClass("float32", where = here))
  bits <- function(values) readBin(writeBin(values, raw(), size = 4), "integer", length(values))
  values <- c(1.5, -2, 0.1, -0, Inf)
  x <- nv_tensor(float32(Data = bits(values)))
  expect_identical(dtype(x), as_dtype("f32"))
  expect_false(ambiguous(x))
  expect_identical(nv_write_bin(x, endian = "little"), writeBin(values, raw(), 4, "little"))
  expect_identical(as_array(nv_tensor(1) + float32(Data = bits(2.5))), 3.5)
  expect_identical(as_array(nv_tensor(float32(Data = bits(NaN)))), NaN)
  na <- float32(Data = 0x7f8007a2L)
  expect_identical(as_array(nv_tensor(na)), NA_real_)
  expect_error(nv_tensor(na, na = "error"), "NA at position 1", class = "joist_value_error")
  expect_identical(as_array(nv_tensor(na, na = "nan")), NaN)
})
