#' Tensors from bytes, and bytes from tensors
#'
#' `nv_read_bin()` reads elements of any dtype from a raw vector, a file or a connection, as
#' [readBin()] does for R's own types, and NumPy's `frombuffer()`; `nv_write_bin()` writes them, as
#' [writeBin()] and NumPy's `tobytes()`. No bit of an element is changed on the way, not even of
#' NaN.
#'
#' Elements follow each other in R's order, that of the first dimension first. To read data that a
#' program wrote in rows, as NumPy and C do, give the extents in reverse order and transpose:
#' `nv_transpose(nv_read_bin(con, dtype, rev(shape)))`. A bool is a byte 00 or 01, a complex number
#' its real part and then its imaginary part. An integer or float of fewer than 8 bits has the
#' lowest bits of a byte, as in NumPy with the package ml_dtypes; the other bits are written as 0
#' and not looked at when they are read, so that -1 of `i4` is written as 0f and read from 0f and
#' ff. For the bits of a tensor in another dtype, see [nv_bitcast_convert()].
#'
#' @param con A raw vector, the name of a file, or a connection. A raw vector or a file is read as a
#'   whole; an open connection is read from its current position. For `nv_write_bin()`, a raw vector
#'   stands for a result in memory, and a file is replaced: it is written under a temporary name
#'   until it is complete.
#' @param dtype A dtype or its name.
#' @param shape An integer vector of extents; `NULL` for one dimension with all elements. From a
#'   connection, this many elements are read.
#' @param endian The order of the bytes of a number: `"little"`, `"big"`, or `"swap"` for the
#'   opposite of this machine's order.
#' @param device Where the tensor is to be, see [nv_device()]; `NULL` for the CPU.
#' @param mmap `TRUE` for a tensor whose memory is the file, see [mapped_files].
#' @param x A tensor or an R vector.
#' @param na The value to write in the place of missing values; `NULL` for an error if there are
#'   any.
#' @return `nv_read_bin()`: a tensor of the known dtype `dtype`. `nv_write_bin()`: a raw vector if
#'   `con` is one, otherwise `NULL`, invisibly.
#' @section Errors: `joist_value_error` for missing values unless `na` is given, for bytes that do
#'   not make a whole number of elements, a connection with too few bytes, a byte that is not a
#'   bool, for an invalid `con` or `endian`, and for files and connections that cannot be read or
#'   written, with the system's message; `joist_shape_error` when the elements do not fill the
#'   shape; `joist_dtype_error` for an unknown dtype.
#' @examples
#' nv_read_bin(as.raw(c(0x00, 0x3c, 0x00, 0xc0)), "f16", endian = "little")
#' bytes <- nv_write_bin(nv_tensor(c(1, -2), "bf16"), endian = "big")
#' bytes
#' nv_read_bin(bytes, "bf16", endian = "big")
#' file <- tempfile()
#' nv_write_bin(nv_tensor(matrix(1:6, 2), "i16"), file)
#' nv_read_bin(file, "i16", shape = c(2, 3))
#' @export
nv_read_bin <- function(con, dtype, shape = NULL, endian = .Platform$endian, device = NULL,
                        mmap = FALSE) {
  swapped <- is_swapped(endian)
  check_flag(mmap, "mmap")
  if (!is.null(device)) device <- nv_device(device)
  aval <- nv_aval(dtype, if (is.null(shape)) 1L else shape) # says what is wrong with them
  made <- if (is_file_name(con)) {
    .Call(joist_r_read_bin, found_path(con), dtype, shape, swapped, mmap)
  } else {
    check_no_map(mmap)
  }
  if (is.null(made)) {
    if (is_file_name(con)) { # a device or a pipe
      con <- file(con, "rb", raw = TRUE)
      on.exit(close(con))
    }
    bytes <- all_bytes(con, if (!is.null(shape)) aval)
    made <- .Call(joist_r_from_bytes, bytes, dtype, shape, swapped)
  }
  place_on(made, device)
}

#' @rdname nv_read_bin
#' @export
nv_write_bin <- function(x, con = raw(), endian = .Platform$endian, na = NULL) {
  swapped <- is_swapped(endian)
  x <- filled_missing(as_operand(x), na, "bytes of elements")
  if (is_file_name(con)) {
    invisible(.Call(joist_r_write_bin, x, con, swapped))
  } else {
    send_bytes(con, function() .Call(joist_r_to_bytes, x, swapped))
  }
}

is_swapped <- function(endian) {
  if (!is.character(endian) || length(endian) != 1L || !endian %of% c("little", "big", "swap")) {
    stop_joist("joist_value_error", "`endian` must be \"little\", \"big\" or \"swap\"")
  }
  endian != .Platform$endian
}

# Those of a tensor like `aval`, or all that are left.
bytes_of_connection <- function(con, aval) {
  if (open_connection(con, "rb")) on.exit(close(con))
  if (is.null(aval)) {
    return(read_bytes(con, Inf))
  }
  wanted <- prod(shape(aval)) * .Call(joist_r_dtype_size, aval)
  bytes <- read_bytes(con, wanted)
  if (length(bytes) != wanted) {
    stop_joist(
      "joist_value_error", "the connection has ", number_text(length(bytes)), " bytes; ",
      number_text(wanted), " are needed for shape ", shape_text(aval)
    )
  }
  bytes
}
