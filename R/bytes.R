#' Tensors from bytes, and bytes from tensors
#'
#' `nv_read_bin()` reads elements of any dtype from a raw vector, a file or a connection, as
#' [readBin()] does for R's own types, and NumPy's `frombuffer()`; `nv_write_bin()` writes them, as
#' [writeBin()] and NumPy's `tobytes()`. No bit is changed on the way, be it of NaN or `NA_real_`.
#'
#' Elements follow each other in R's order, that of the first dimension first. What a program wrote
#' in rows, as NumPy and C do, is read with the extents in reverse order and transposed:
#' `nv_transpose(nv_read_bin(con, dtype, rev(shape)))`. A bool is a byte 00 or 01, a complex number
#' its real part and then its imaginary part. For the bits of a tensor in another dtype, see
#' [nv_bitcast_convert()].
#'
#' @param con A raw vector, the name of a file, or a connection. A raw vector and a file are read as
#'   a whole; a connection from where it is, if it is open. For `nv_write_bin()`, a raw vector
#'   stands for a result in memory, and a file is written anew.
#' @param dtype A dtype or its name.
#' @param shape An integer vector of extents; `NULL` for one dimension of all that there is. From a
#'   connection so many elements are read.
#' @param endian The order of the bytes of a number: `"little"`, `"big"`, or `"swap"` for what this
#'   machine has not.
#' @param device Where the tensor is to be, see [nv_device()]; `NULL` for the CPU.
#' @param x A tensor or an R vector.
#' @return `nv_read_bin()`: a tensor of the known dtype `dtype`. `nv_write_bin()`: a raw vector if
#'   `con` is one, otherwise `NULL`, invisibly.
#' @section Errors: `joist_value_error` for bytes that are no whole number of elements, a connection
#'   that has not as many, a byte that is no bool, a file that is not there, and for a `con` or
#'   `endian` that is none;
#'   `joist_shape_error` when the elements do not fill the shape; `joist_dtype_error` for an unknown
#'   dtype. What goes wrong with files and connections is said by base R.
#' @examples
#' nv_read_bin(as.raw(c(0x00, 0x3c, 0x00, 0xc0)), "f16", endian = "little")
#' bytes <- nv_write_bin(nv_tensor(c(1, -2), "bf16"), endian = "big")
#' bytes
#' nv_read_bin(bytes, "bf16", endian = "big")
#' file <- tempfile()
#' nv_write_bin(nv_tensor(matrix(1:6, 2), "i16"), file)
#' nv_read_bin(file, "i16", shape = c(2, 3))
#' @export
nv_read_bin <- function(con, dtype, shape = NULL, endian = .Platform$endian, device = NULL) {
  swapped <- is_swapped(endian)
  if (!is.null(device)) device <- nv_device(device)
  aval <- nv_aval(dtype, if (is.null(shape)) 1L else shape) # says what is wrong with them
  bytes <- if (inherits(con, "connection")) {
    bytes_of_connection(con, if (!is.null(shape)) aval)
  } else if (is_file_name(con)) {
    if (!file.exists(con)) stop_joist("joist_value_error", "there is no file \"", con, "\"")
    from <- file(con, "rb")
    on.exit(close(from))
    read_bytes(from, Inf)
  } else if (is.raw(con) && !is.object(con)) {
    con
  } else {
    stop_no_bytes()
  }
  place_on(.Call(joist_r_from_bytes, bytes, dtype, shape, swapped), device)
}

#' @rdname nv_read_bin
#' @export
nv_write_bin <- function(x, con = raw(), endian = .Platform$endian) {
  swapped <- is_swapped(endian)
  to_memory <- is.raw(con) && !is.object(con)
  if (!to_memory && !inherits(con, "connection") && !is_file_name(con)) stop_no_bytes()
  bytes <- .Call(joist_r_to_bytes, as_tensor(x), swapped)
  if (to_memory) {
    return(bytes)
  }
  if (is.character(con)) {
    con <- file(con, "wb")
    on.exit(close(con))
  } else if (open_connection(con, "wb")) {
    on.exit(close(con))
  }
  write_bytes(con, bytes)
}

is_swapped <- function(endian) {
  if (!is.character(endian) || length(endian) != 1L || !endian %in% c("little", "big", "swap")) {
    stop_joist("joist_value_error", "`endian` must be \"little\", \"big\" or \"swap\"")
  }
  endian != .Platform$endian
}

is_file_name <- function(con) is.character(con) && length(con) == 1L && !is.na(con)

stop_no_bytes <- function() {
  stop_joist("joist_value_error", "`con` must be a raw vector, a connection or the name of a file")
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

# Whether it had to be opened.
open_connection <- function(con, mode) {
  closed <- !isOpen(con)
  if (closed) open(con, mode)
  closed
}

number_text <- function(x) format(x, scientific = FALSE, trim = TRUE)

at_a_time <- 2^26 # bytes: R reads and writes fewer than 2^31, and is not interrupted on the way

# Fewer bytes only where there are no more.
read_bytes <- function(con, bytes, most = at_a_time) {
  parts <- list()
  repeat {
    wanted <- min(bytes, most)
    part <- readBin(con, "raw", wanted)
    parts[[length(parts) + 1L]] <- part
    bytes <- bytes - length(part)
    if (length(part) < wanted || bytes == 0) {
      return(if (length(parts) == 1L) part else do.call(c, parts))
    }
  }
}

write_bytes <- function(con, bytes, most = at_a_time) {
  start <- 0
  while (start < length(bytes)) {
    end <- min(length(bytes), start + most)
    whole <- start == 0 && end == length(bytes)
    writeBin(if (whole) bytes else bytes[(start + 1):end], con)
    start <- end
  }
  invisible(NULL)
}
