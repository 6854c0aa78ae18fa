#' npy and npz files
#'
#' `nv_read_npy()` reads an array from a NumPy file and `nv_write_npy()` writes one, without
#' changing a bit; `nv_read_npz()` and `nv_write_npz()` read and write several arrays in one zip
#' archive, as NumPy's `savez()` and `savez_compressed()` do.
#'
#' Formats 1.0, 2.0 and 3.0 are read, in either byte order and in the order of Fortran or C; format
#' 1.0 is written. Dtypes that NumPy lacks are written as it writes arrays of the Python package
#' ml_dtypes: `bf16` as two bytes without a meaning (`V2`), integers and floats of up to a byte as
#' one (`V1`, but `f1` for `f8E5M2`), with unused bits of 0, and `c32` and `bc32` as four (`V4`;
#' NumPy's own `W4` is read, too, but not by NumPy). NumPy reads them again by
#' `.view(ml_dtypes.bfloat16)`, `.view(ml_dtypes.int4)` and so on, but not `f1`, which it only
#' writes (version 2.4): write `nv_bitcast_convert(x, "ui8")` for it.
#'
#' A file of `V1`, `V4` or `W4` does not say which dtype its elements have: name it, as in
#' `dtype = "f8E4M3FN"`.
#' Elements with fewer bits than their byte are read from the lowest bits; the other bits may be
#' set. `dtype` can also be used to read the elements of another type by their
#' bits, such as dates (`M8[s]`) as `"i64"`: it must have as many bytes.
#'
#' Other NumPy types (text, dates, records) are refused, unless `raw = TRUE` asks for their bytes as
#' `ui8`. Python objects are never read.
#'
#' Elements of a file in C order are rearranged while they are read. With `reversed = TRUE` the
#' tensor has its dimensions in reverse order instead, the same as `nv_transpose(nv_read_npy(con))`;
#' then a file in C order is read without rearrangement, which is faster, and can be mapped.
#'
#' npz archives are read by base R, and written by the package \pkg{zip}.
#'
#' The format has no missing values: give `na` a value to write in their place.
#'
#' Several arrays that follow each other in one file, as NumPy's `save()` appends them, are read one
#' by one, in order, from an open connection; `nv_write_npy()` to such a connection appends them.
#'
#' @param con The name of a file, a raw vector, or a connection: of one that is open as binary the
#'   next array is read and the rest left (with `raw = TRUE` all of it is read, as of one that is
#'   not open). For `nv_write_npy()` a raw vector stands for a result in memory, and a file is
#'   replaced: it is written under a temporary name until it is complete.
#' @param mmap `TRUE` for a tensor whose memory is the file, see [mapped_files].
#' @param reversed `TRUE` for the dimensions in reverse order.
#' @param device Where the tensor is to be, see [nv_device()]; `NULL` for the CPU.
#' @param dtype The dtype to read the elements as, which must have the element size of the file;
#'   `NULL` for the dtype named in the file. For `nv_read_npz()` one for all arrays that are read,
#'   or a list or character vector of dtypes with the names of arrays.
#' @param raw `TRUE` to read elements of a type without a dtype as their bytes: a tensor of `ui8`
#'   with one more dimension, the first, whose extent is the number of bytes of an element. Types
#'   that have a dtype are read as usual.
#' @param order `"F"` for the order of Fortran, which is that of tensors, or `"C"`.
#' @param endian The order of the bytes of a number: `"little"`, `"big"`, or `"swap"` for the
#'   opposite of this machine's order. Dtypes that NumPy lacks are always `"little"`.
#' @param path The name of an npz archive.
#' @param names The names of the arrays to read, without `.npy`; `NULL` for all.
#' @param compress Whether the archive is compressed.
#' @param x A tensor or an R vector; for `nv_write_npz()` a list of them with names.
#' @param na The value to write in the place of missing values; `NULL` for an error if there are
#'   any.
#' @return `nv_read_npy()`: a tensor of the known dtype that the file has. `nv_read_npz()`: a named
#'   list of such tensors. `nv_write_npy()`: a raw vector if `con` is one, otherwise `NULL`,
#'   invisibly. `nv_write_npz()`: `NULL`, invisibly.
#' @section Errors: `joist_value_error` for missing values unless `na` is given, for an invalid npy
#'   or npz file (the message names the field of the header), for one with fewer or more bytes than
#'   its shape needs, for files that cannot be read or written, and when the package zip is missing;
#'   `joist_dtype_error` for a type without a dtype, for `V1`, `V4` and `W4` without a `dtype`, for
#'   a `dtype` of another size, and with `raw = TRUE` for Python objects and for an array without
#'   elements.
#' @source NumPy Enhancement Proposal 1 and the documentation of `numpy.lib.format`.
#' @examples
#' file <- tempfile(fileext = ".npy")
#' nv_write_npy(nv_tensor(matrix(1:6, 2), "ui16"), file)
#' nv_read_npy(file)
#' nv_read_npy(file, reversed = TRUE)
#' nv_write_npy(nv_tensor(c(-8, 7), "i4"), file)
#' nv_read_npy(file, dtype = "i4")
#' nv_write_npy(nv_scalar(1.5, "f16"))
#' @export
nv_read_npy <- function(con, mmap = FALSE, reversed = FALSE, device = NULL, dtype = NULL,
                        raw = FALSE) {
  check_flag(mmap, "mmap")
  check_flag(raw, "raw")
  check_flag(reversed, "reversed")
  if (!is.null(device)) device <- nv_device(device)
  if (!is.null(dtype)) dtype <- as_dtype(dtype)
  made <- if (is_file_name(con)) {
    path <- found_path(con)
    check_format("npy", path)
    .Call(joist_r_read_npy, path, NULL, dtype, raw, reversed, mmap)
  } else {
    check_no_map(mmap)
    bytes <- if (!raw && is_open(con)) next_npy(con, dtype) else all_bytes(con)
    check_format("npy", bytes)
    .Call(joist_r_read_npy, NULL, bytes, dtype, raw, reversed, FALSE)
  }
  place_on(made, device)
}

# The bytes of the next array of a connection: of 12 bytes, its header, and what that says follows.
next_npy <- function(con, dtype) {
  open_connection(con, "rb")
  bytes <- read_bytes(con, 12)
  for (part in c("header", "elements")) {
    if (length(bytes) < 12L) break
    check_format("npy", bytes)
    bytes <- c(bytes, read_bytes(con, .Call(joist_r_npy_size, bytes, dtype) - length(bytes)))
  }
  bytes
}

#' @rdname nv_read_npy
#' @export
nv_write_npy <- function(x, con = raw(), order = "F", endian = .Platform$endian, na = NULL) {
  write_npy(x, con, order, endian, na)
}

write_npy <- function(x, con, order, endian, na, name = "`x`") {
  swapped <- is_swapped(endian)
  if (!identical(order, "F") && !identical(order, "C")) {
    stop_joist("joist_value_error", "`order` must be \"F\" or \"C\"")
  }
  x <- filled_missing(as_operand(x, guess = FALSE), na, "npy files", name)
  if (is_file_name(con)) {
    invisible(.Call(joist_r_write_npy, x, con, order == "C", swapped))
  } else {
    send_bytes(con, function() .Call(joist_r_write_npy, x, NULL, order == "C", swapped))
  }
}

#' @rdname nv_read_npy
#' @export
nv_read_npz <- function(path, names = NULL, reversed = FALSE, device = NULL, dtype = NULL,
                        raw = FALSE) {
  check_path(path)
  check_names_wanted(names)
  check_flag(reversed, "reversed")
  check_flag(raw, "raw")
  if (!is.null(device)) device <- nv_device(device)
  members <- npz_members(path)
  there <- sub("[.]npy$", "", members)
  at <- if (is.null(names)) seq_along(there) else match(names, there)
  if (anyNA(at)) {
    stop_joist(
      "joist_value_error", "there is no array \"", names[is.na(at)][1L], "\" in the archive"
    )
  }
  dtypes <- dtypes_of_arrays(dtype, there[at])
  made <- lapply(at, function(k) {
    con <- unz(path, members[k])
    on.exit(tryCatch(close(con), error = function(e) NULL)) # it may be closed by now
    bytes <- bytes_of_connection(con, NULL)
    wanted <- dtypes[[there[k]]]
    read <- function() .Call(joist_r_read_npy, NULL, bytes, wanted, raw, reversed, FALSE)
    place_on(in_context(paste0("array \"", there[k], "\""), read()), device)
  })
  structure(made, names = there[at])
}

# A list with names of the dtypes by which the arrays are read.
dtypes_of_arrays <- function(dtype, arrays) {
  if (is.null(dtype)) {
    return(list())
  }
  if (is.null(names(dtype)) || is.object(dtype)) {
    return(structure(rep(list(as_dtype(dtype)), length(arrays)), names = arrays))
  }
  if (!has_names(dtype) || !all(names(dtype) %in% arrays)) {
    stop_joist(
      "joist_value_error", "`dtype` must be a dtype, or have names of arrays that are read, ",
      "each once"
    )
  }
  lapply(as.list(dtype), as_dtype)
}

npz_members <- function(path) {
  listed <- tryCatch(
    utils::unzip(path, list = TRUE),
    error = function(e) NULL, warning = function(w) NULL
  )
  if (is.null(listed)) {
    check_format("npz", path)
    stop_joist("joist_value_error", "\"", path, "\" is not a readable zip archive")
  }
  if (anyDuplicated(listed$Name)) {
    stop_joist("joist_value_error", "the archive has a name twice")
  }
  listed$Name
}

#' @rdname nv_read_npy
#' @export
nv_write_npz <- function(x, path, compress = TRUE, na = NULL) {
  check_path(path)
  check_flag(compress, "compress")
  x <- named_tensors(x)
  if (length(x) == 0L) stop_joist("joist_value_error", "`x` must have at least one array")
  if (any(names(x) != basename(names(x)) | names(x) %in% c(".", ".."))) {
    stop_joist("joist_value_error", "the name of an array cannot be a path")
  }
  need_package("zip")
  folder <- tempfile("npz")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  members <- paste0(names(x), ".npy")
  for (k in seq_along(x)) {
    file <- file.path(folder, members[k])
    write_npy(x[[k]], file, "F", .Platform$endian, na, element_name(x, k))
  }
  archive <- file.path(folder, "npz") # where zip() can write: elsewhere it may end R
  zip::zip(archive, members, compression_level = if (compress) 6L else 0L, root = folder)
  put_file(archive, path)
}

# Copies a file under a temporary name, and renames it when it is complete.
put_file <- function(from, path) {
  to <- path.expand(path)
  whole <- tempfile(paste0(basename(to), "."), dirname(to), ".tmp")
  on.exit(unlink(whole))
  done <- tryCatch(
    if (file.copy(from, whole) && file.rename(whole, to)) "" else "it cannot be copied there",
    warning = conditionMessage
  )
  if (nzchar(done)) stop_joist("joist_value_error", "cannot write file \"", path, "\": ", done)
  invisible(NULL)
}

check_names_wanted <- function(names) {
  if (!is.null(names) && (!is.character(names) || anyNA(names) || anyDuplicated(names))) {
    stop_joist("joist_value_error", "`names` must be different names, or NULL for all")
  }
}

# Checks that `x` is a list of tensors with unique names.
named_tensors <- function(x) {
  if (!is.list(x) || is.object(x)) {
    stop_joist("joist_value_error", "`x` must be a list of tensors")
  }
  if (!has_names(x)) {
    stop_joist("joist_value_error", "each tensor of `x` must have a name of its own")
  }
  lapply(x, as_operand, guess = FALSE)
}

# An element of a list in messages.
element_name <- function(x, k) paste0("`x$", names(x)[k], "`")

# Whether each element has a unique name.
has_names <- function(x) {
  given <- names(x)
  length(given) == length(x) && !anyNA(given) && all(nzchar(given)) && !anyDuplicated(given)
}
