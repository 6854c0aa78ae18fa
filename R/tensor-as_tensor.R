# Tensors of what other packages have: one function, a method for each class.

#' Make tensors of other packages' data
#'
#' `as_tensor()` makes a tensor of the dtype in which another package stores its data, rather than
#' of the R type in which it shows them: the bytes of a picture stay `ui8`, counts beyond 2^31
#' `ui32`, and 64-bit integers 64-bit integers. A value that cannot be read exactly is an error. R's
#' own vectors become what [nv_tensor()] makes of them; under the default rules doubles are rounded
#' to `f32`.
#'
#' | `x` | dtype | dimensions |
#' |:--|:--|:--|
#' | R vector, `integer64`, `float32`, tensor | as [nv_tensor()] | of `x` |
#' | `nativeRaster`, `raster` | `ui8` | rows, columns, 4: red, green, blue, alpha |
#' | 'magick' `bitmap` | `ui8` | rows, columns, channels |
#' | 'terra' `SpatRaster` | that of `terra::datatype()` | rows, columns, several layers |
#' | 'hdf5r' `H5D` | that of the dataset | of the dataset, as 'hdf5r' has them |
#' | 'rhdf5' `H5IdComponent` | that of the dataset | of the dataset, as 'rhdf5' has them |
#' | Arrow arrays | that of the array | rows first, see [nv_to_arrow()] |
#'
#' A `nativeRaster` comes from `png::readPNG(native = TRUE)`, which has all four channels for gray
#' pictures, too: `x[, , 1:3]` is without alpha, `x[, , 1]` the gray. A `bitmap` comes from
#' `magick::image_data()`, an `H5IdComponent` from `rhdf5::H5Dopen()`. Of the types of 'terra',
#' INT1U is `ui8`, INT2S `i16`, INT4U `ui32`, FLT4S `f32`, and so on.
#'
#' `png::readPNG()` without `native` gives doubles from 0 to 1, of which `as_tensor()` makes `f32`:
#' those of a file with 8 bits are k / 255, with 16 bits k / 65535, so that
#' `nv_tensor(round(picture * 255), "ui8")` and `nv_tensor(round(picture * 65535), "ui16")` restore
#' the stored numbers. To write a `ui8` tensor `x`, call `png::writePNG(x / 255L, file)`; to draw
#' it, `plot(as.raster(x))`.
#'
#' 'terra' reads doubles, which cannot hold all 64-bit integers beyond 2^53. 'hdf5r' and 'rhdf5'
#' cannot read `ui64` numbers beyond 2^63 - 1 (nor can 'hdf5r' read 2^63 - 1, which it also returns
#' for all larger ones), nor -2^63 and -2^31, which are `NA` in R. All of these are errors.
#'
#' @param x The data: an object of one of the kinds below.
#' @param na What `NA` becomes: `"missing"`, `"error"` or `"nan"`, see [nv_tensor()].
#' @param ... Passed on to [nv_tensor()] for the objects that it takes; ignored for the others.
#' @return A tensor of a known dtype.
#' @section Errors: `joist_value_error` for values that the dtype cannot hold, or that the package
#'   cannot give exactly, and for an `x` that cannot become a tensor;
#'   `joist_dtype_error` for a stored type without a dtype.
#' @examples
#' picture <- as.raster(matrix(c("red", "#00FF0080"), 1))
#' as_array(as_tensor(picture))[1, 2, ]
#' as_tensor(as.raw(1:3))
#' @concept image
#' @concept pixel
#' @concept png
#' @export
as_tensor <- function(x, na = "missing", ...) UseMethod("as_tensor")

#' @export
as_tensor.default <- function(x, na = "missing", ...) nv_tensor(x, ..., na = na)

#' @export
as_tensor.nv_tensor <- function(x, na = "missing", ...) x

# Whether a package that is suggested only is there.
need_package <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop_joist(
      "joist_value_error", "this needs the package '", package, "', which is not installed"
    )
  }
}

# ---- pictures ----

# Bytes with channels varying fastest, then columns.
picture <- function(bytes, channels, columns, rows) {
  nv_transpose(nv_tensor(bytes, "ui8", c(channels, columns, rows)))
}

# A pixel is an integer, red in its lowest byte, and pixels follow each other in rows.
#' @export
as_tensor.nativeRaster <- function(x, na = "missing", ...) {
  bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
  picture(bytes, 4L, ncol(x), nrow(x))
}

#' @export
as_tensor.raster <- function(x, na = "missing", ...) {
  colours <- grDevices::col2rgb(as.vector(unclass(t(as.matrix(x)))), alpha = TRUE)
  picture(as.vector(colours), 4L, ncol(x), nrow(x))
}

#' @export
as_tensor.bitmap <- function(x, na = "missing", ...) {
  extents <- dim(x)
  picture(as.vector(unclass(x)), extents[1L], extents[2L], extents[3L])
}

# ---- terra ----

terra_dtypes <- c(
  INT1U = "ui8", INT1S = "i8", INT2U = "ui16", INT2S = "i16", INT4U = "ui32", INT4S = "i32",
  INT8U = "ui64", INT8S = "i64", FLT4S = "f32", FLT8S = "f64"
)

#' @export
as_tensor.SpatRaster <- function(x, na = "missing", ...) {
  stored <- unique(terra::datatype(x))
  if (length(stored) != 1L || !stored %of% names(terra_dtypes)) {
    stop_joist(
      "joist_dtype_error", "the layers of this raster are of type ",
      paste0("\"", stored, "\"", collapse = ", "), ", which is not one dtype; take layers of one ",
      "type, or give the dtype: nv_tensor(terra::as.array(x), dtype)"
    )
  }
  if (!identical(unname(unique(terra::scoff(x))), matrix(c(1, 0), 1L))) {
    stop_joist(
      "joist_value_error", "this raster has a scale and an offset, so that its values are not ",
      "those that are stored; drop them by terra::scoff(x) <- NULL, or take the scaled values: ",
      "nv_tensor(terra::as.array(x), \"f64\")"
    )
  }
  dtype <- terra_dtypes[[stored]]
  values <- terra::values(x, mat = FALSE)
  values[is.na(values)] <- NA # NaN in memory
  check_doubles(values, dtype, "terra")
  layers <- terra::nlyr(x)
  by_row <- nv_tensor(values, dtype, c(terra::ncol(x), terra::nrow(x), layers), na = na)
  out <- nv_transpose(by_row, c(2L, 1L, 3L))
  if (layers == 1) nv_squeeze(out, 3L) else out
}

# Integers of 64 bits that were read as doubles.
check_doubles <- function(values, dtype, package) {
  large <- if (dtype %of% c("i64", "ui64")) which(abs(values) >= 2^53)
  if (length(large) > 0L) {
    stop_joist(
      "joist_value_error", "value ", large[1L], " is ", format(values[large[1L]], digits = 17),
      " or near to it: '", package, "' reads ", dtype, " as doubles, which are not exact from ",
      "2^53 on"
    )
  }
}

# ---- HDF5 ----

#' @export
as_tensor.H5D <- function(x, na = "missing", ...) {
  hdf5_part(x, lapply(x$dims, seq_len))
}

# Positions in each dimension of a dataset, by 'hdf5r'.
hdf5_part <- function(x, at) {
  dtype <- hdf5r_dtype(x)
  extents <- lengths(at)
  if (any(extents == 0L)) {
    return(nv_tensor(numeric(), dtype, extents))
  }
  whole <- identical(as.integer(x$dims), extents)
  values <- x$read(
    if (!whole) at, flags = hdf5r::h5const$H5TOR_CONV_NONE, drop = FALSE
  )
  out <- hdf5_tensor(values, dtype, extents, "hdf5r")
  if (dtype == "ui64") {
    most <- as_array(nv_which(nv_flatten(out == nv_scalar("9223372036854775807", "ui64"))))
    if (length(most) > 0L) stop_hdf5("hdf5r", dtype, most[1L]) # or more, all read as this
  }
  out
}

# Floats of half a word are of four bytes in memory, where the type that R sees is.
hdf5r_dtype <- function(x) {
  type <- x$get_type()
  stored <- x$get_type(native = FALSE)
  half <- inherits(stored, "H5T_FLOAT") && stored$get_size() == 2 && stored$get_ebias() == 15
  if (half) "f16" else hdf5_dtype(type$to_text(), type$get_size())
}

#' @export
as_tensor.H5IdComponent <- function(x, na = "missing", ...) {
  type <- rhdf5::H5Dget_type(x)
  dtype <- hdf5_dtype(rhdf5_type(x), rhdf5::H5Tget_size(type))
  space <- rhdf5::H5Dget_space(x)
  extents <- as.integer(rhdf5::H5Sget_simple_extent_dims(space)$size)
  rhdf5::H5Sclose(space)
  if (any(extents == 0L)) {
    return(nv_tensor(numeric(), dtype, extents))
  }
  # What it says is an error below.
  values <- suppressMessages(suppressWarnings(rhdf5::H5Dread(x, bit64conversion = "bit64")))
  hdf5_tensor(values, dtype, extents, "rhdf5")
}

# 'rhdf5' tells the type of a dataset where it prints it, and nowhere else.
rhdf5_type <- function(x) {
  lines <- trimws(utils::capture.output(methods::show(x)))
  sub("^type +", "", grep("^type ", lines, value = TRUE)[1L])
}

# The dtype of a type as HDF5 writes it: H5T_STD_U32LE, H5T_IEEE_F32BE. Types of h5py are
# enumerations of FALSE and TRUE, and pairs of r and i; of those, and of floats of two bytes,
# 'rhdf5' tells only the kind and the size.
hdf5_dtype <- function(text, size) {
  fields <- gsub("\\s+", " ", text)
  if (fields == "H5T_ENUM" && size == 1 || grepl("\"FALSE\" 0; \"TRUE\" 1; }$", fields)) {
    return("bool")
  }
  parts <- "^H5T_COMPOUND \\{[^;]*\"r\"[^;]*;[^;]*\"i\"[^;]*; }$"
  pair <- fields == "H5T_COMPOUND" || grepl(parts, fields)
  if (pair && size %of% c(8, 16)) {
    return(if (size == 8) "c64" else "c128")
  }
  float <- grepl("^H5T_IEEE_F|floating-point", text)
  if (float && size == 2) {
    return("f16")
  }
  parts <- regmatches(text, regexec("^H5T_(STD|IEEE)_([UIF])([0-9]+)[BL]E$", text))[[1L]]
  name <- if (length(parts) > 0L) paste0(c(U = "ui", I = "i", F = "f")[[parts[3L]]], parts[4L])
  if (is.null(name) || !name %of% c("f16", terra_dtypes)) {
    stop_no_hdf5_dtype(text)
  }
  name
}

stop_no_hdf5_dtype <- function(text) {
  stop_joist("joist_dtype_error", "the HDF5 type ", text, " has no dtype")
}

hdf5_tensor <- function(values, dtype, extents, package) {
  if (dtype %of% c("c64", "c128")) {
    named <- is.data.frame(values) && identical(names(values), c("r", "i"))
    if (!named) stop_no_hdf5_dtype("H5T_COMPOUND")
    values <- complex(real = as.vector(values$r), imaginary = as.vector(values$i))
  }
  if (dtype == "bool" && is.factor(values)) {
    if (!identical(levels(values), c("FALSE", "TRUE"))) stop_no_hdf5_dtype("H5T_ENUM")
    values <- values == "TRUE"
  }
  changed <- if (dtype == "f16" && length(values) > 0L) {
    .Call(joist_r_first_change, nv_tensor(as.vector(values), "f64"), "f16")[1L]
  }
  if (isTRUE(changed > 0)) stop_no_hdf5_dtype("of a float of 2 bytes") # bf16, or another one
  missing <- if (!grepl("^[fc]", dtype)) which(is.na(values))
  if (length(missing) > 0L) stop_hdf5(package, dtype, missing[1L])
  attr(values, "dim") <- NULL
  nv_tensor(values, dtype, extents)
}

# R's integers and integer64 take their least value for NA, and have none beyond the largest.
stop_hdf5 <- function(package, dtype, position) {
  stop_joist(
    "joist_value_error", "'", package, "' cannot give the value of ", dtype, " at position ",
    position, ": it is NA, or out of the range of ",
    if (endsWith(dtype, "64")) "integer64" else "R's integers"
  )
}
