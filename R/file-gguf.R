#' GGUF files
#'
#' `nv_read_gguf()` reads the tensors of a GGUF file, the format of llama.cpp, all of them or
#' some by name; `nv_gguf()` lists what is in the file, without reading a tensor.
#'
#' Opening a file takes the time of reading its header: tensors are mapped, so that elements are
#' read when they are first used (see [mapped_files]). Types that are dtypes (F32, F16, BF16,
#' F64, I8 to I64) become tensors; quantized types become [nv_packed] tensors, which keep their
#' blocks. Versions 2 and 3 are read, in either byte order. The header is checked as a whole:
#' types, shapes, that tensors are aligned, lie in the file and do not overlap.
#'
#' Dimensions have the order of the file, the first is the fastest, as in R: a weight that
#' PyTorch calls `out` x `in` has shape (`in`, `out`) here. So `x %*% w` is the layer's product
#' for inputs in the rows of `x`, and `t(w) %*% x` for those in its columns.
#'
#' Numbers of the metadata are tensors of their dtype, bools and strings are R vectors, and
#' arrays of arrays are lists. A model of several files, named `*-00001-of-00003.gguf` and so on,
#' is read as one: give the name of any of them.
#'
#' @param path The name of a file.
#' @param names The names of the tensors to read, in the order wanted; `NULL` for all.
#' @param raw `TRUE` to read the bytes of each tensor, `ui8`, in the place of its elements: of the
#'   shape of the elements but for the first extent, or of rank 1 if the type is unknown.
#' @param mmap `FALSE` to read the elements now.
#' @return `nv_read_gguf()`: a named list of tensors of the dtypes of their types, in the order of
#'   the file, with the metadata, a named list, in the attribute `metadata`. `nv_gguf()`: a data
#'   frame of `name`, `type` (a number if it is unknown), `shape` (a list), `bytes` and `bits` (per
#'   weight), with the attributes `metadata`, `version` and `big_endian`.
#' @section Errors: `joist_value_error` for an invalid GGUF file (the message names the field of
#'   the header), a missing part of a model, and names that the file does not have;
#'   `joist_dtype_error` for a type that is unknown, unless `raw = TRUE`.
#' @source The specification <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.
#' @examples
#' file <- tempfile(fileext = ".gguf")
#' w <- nv_tensor(matrix(rnorm(128), 64), "f32")
#' nv_write_gguf(list(w = nv_quantize(w, type = "q8_0"), b = w[1, ]), file)
#' nv_gguf(file)
#' nv_read_gguf(file)$w
#' @seealso [nv_write_gguf()], [nv_packed]
#' @export
nv_read_gguf <- function(path, names = NULL, raw = FALSE, mmap = TRUE) {
  check_path(path)
  check_names_wanted(names)
  check_flag(raw, "raw")
  check_flag(mmap, "mmap")
  parts <- gguf_parts(path)
  found <- do.call(rbind, lapply(parts$headers, function(part) {
    data.frame(name = part$names, type = part$types, at = seq_along(part$names))
  }))
  found$part <- rep(seq_along(parts$paths), lengths(lapply(parts$headers, `[[`, "names")))
  rows <- if (is.null(names)) seq_len(nrow(found)) else match(names, found$name)
  if (anyNA(rows)) {
    missing <- names[is.na(rows)][1L]
    stop_joist("joist_value_error", "there is no tensor \"", missing, "\" in the file")
  }
  tensors <- vector("list", length(rows))
  for (part in unique(found$part[rows])) {
    here <- which(found$part[rows] == part)
    tensors[here] <- .Call(joist_r_read_gguf, parts$paths[part], found$at[rows[here]], raw, mmap)
  }
  types <- found$type[rows]
  for (k in which(types %in% block_types() & !raw)) {
    tensors[[k]] <- new_packed(tensors[[k]], types[k])
  }
  structure(tensors, names = found$name[rows], metadata = parts$headers[[1L]]$metadata)
}

#' @rdname nv_read_gguf
#' @export
nv_gguf <- function(path) {
  check_path(path)
  headers <- gguf_parts(path)$headers
  all_of <- function(field) do.call(c, lapply(headers, `[[`, field))
  type <- all_of("types")
  type[is.na(type)] <- format(all_of("codes")[is.na(type)])
  listed <- data.frame(name = all_of("names"), type = type)
  listed$shape <- all_of("shapes")
  listed$bytes <- all_of("bytes")
  listed$bits <- all_of("bits")
  listed$bits[listed$bits == 0] <- NA
  structure(
    listed,
    metadata = headers[[1L]]$metadata, version = headers[[1L]]$version,
    big_endian = headers[[1L]]$big_endian
  )
}

# The headers of the files of a model, and their names.
gguf_parts <- function(path) {
  path <- found_path(path)
  check_format("GGUF", path)
  first <- .Call(joist_r_gguf, path)
  count <- as.integer(first$metadata[["split.count"]])
  if (length(count) == 0L || count <= 1L) {
    return(list(paths = path, headers = list(first)))
  }
  pattern <- "-[0-9]{5}-of-[0-9]{5}[.]gguf$"
  if (!grepl(pattern, path)) {
    stop_joist(
      "joist_value_error", "this is one of ", count, " files of a model, whose names end in ",
      "-00001-of-", sprintf("%05d", count), ".gguf and so on; \"", path, "\" does not"
    )
  }
  ends <- sprintf("-%05d-of-%05d.gguf", seq_len(count), count)
  paths <- paste0(sub(pattern, "", path), ends)
  missing <- paths[!file.exists(paths)]
  if (length(missing) > 0L) {
    stop_joist("joist_value_error", "a file of the model is missing: \"", missing[1L], "\"")
  }
  headers <- lapply(paths, function(path) .Call(joist_r_gguf, path))
  check_gguf_parts(headers)
  list(paths = paths, headers = headers)
}

check_gguf_parts <- function(headers) {
  number <- function(header, field) as.integer(header$metadata[[field]])
  fits <- vapply(seq_along(headers), function(k) {
    identical(number(headers[[k]], "split.no"), k - 1L) &&
      identical(number(headers[[k]], "split.count"), length(headers))
  }, NA)
  names <- unlist(lapply(headers, `[[`, "names"))
  total <- number(headers[[1L]], "split.tensors.count")
  if (!all(fits) || anyDuplicated(names) || length(total) == 1L && total != length(names)) {
    stop_joist(
      "joist_value_error", "the ", length(headers), " files of this name are not one model: ",
      "`split.no`, `split.count` or `split.tensors.count` of their metadata do not agree, or a ",
      "tensor is in two of them"
    )
  }
}

#' Write GGUF files
#'
#' Write tensors and packed tensors to a GGUF file of version 3, with metadata.
#'
#' Dimensions keep their order, the first is the fastest. Tensors are aligned to 32 bytes, or as
#' `general.alignment` of the metadata says, a `ui32`. Bytes of a [nv_packed] tensor are written as
#' they are; a packed matrix that is turned by `t()` is an error, as blocks have to lie along the
#' first dimension.
#'
#' Metadata is a named list: strings and logical values, R integers (written as i32), R doubles
#' (as f64), tensors of the integer dtypes of 8 to 64 bits, of `f32` or `f64` (as their dtype),
#' and lists of arrays. A value of length 1 is a single value; write `list()` around it or use a
#' tensor of rank 1 for an array of one. Readers of models expect most counts to be `ui32`.
#'
#' @param x A list of tensors, R vectors and packed tensors, with names.
#' @param path The name of a file.
#' @param metadata A named list, or `NULL`.
#' @param na The value to write in the place of missing values; `NULL` for an error if there are
#'   any.
#' @return `NULL`, invisibly.
#' @section Errors: `joist_dtype_error` for a dtype that the format does not have;
#'   `joist_value_error` for missing values unless `na` is given, metadata other than these, and
#'   files that cannot be written.
#' @examples
#' file <- tempfile(fileext = ".gguf")
#' nv_write_gguf(list(a = nv_tensor(1:6, "f16")), file, list(general.architecture = "none"))
#' attr(nv_gguf(file), "metadata")
#' @seealso [nv_read_gguf()]
#' @export
nv_write_gguf <- function(x, path, metadata = NULL, na = NULL) {
  check_path(path)
  if (!is.list(x) || is.object(x) || !has_names(x)) {
    stop_joist("joist_value_error", "`x` must be a list of tensors with different names")
  }
  if (!is.null(metadata) && (!is.list(metadata) || is.object(metadata) || !has_names(metadata))) {
    stop_joist("joist_value_error", "`metadata` must be a list with different names")
  }
  for (k in which(!vapply(x, is_packed, NA))) {
    own <- as_operand(x[[k]], guess = FALSE)
    x[[k]] <- filled_missing(own, na, "GGUF files", element_name(x, k))
  }
  alignment <- gguf_alignment(metadata$general.alignment)
  offset <- 0
  infos <- lapply(seq_along(x), function(k) {
    info <- gguf_info(x[[k]], names(x)[k], offset)
    offset <<- offset + ceiling(info$bytes / alignment) * alignment
    info
  })
  pair <- function(key, value) in_context(key, gguf_pair(key, value))
  pairs <- Map(pair, names(metadata), metadata)
  header <- c(
    charToRaw("GGUF"), gguf_number(3, 4L), gguf_number(length(x), 8L),
    gguf_number(length(pairs), 8L), unlist(pairs), unlist(lapply(infos, `[[`, "header"))
  )
  header <- c(header, raw(-length(header) %% alignment))
  bytes <- lapply(x, function(x) if (is_packed(x)) packed_parts(x)$bytes else x)
  .Call(joist_r_write_gguf, path, header, bytes, alignment, .Platform$endian == "big")
  invisible(NULL)
}

gguf_alignment <- function(x) {
  if (is.null(x)) {
    return(32)
  }
  valid <- is_tensor(x) && type_string(x) == "ui32" && length(x) == 1L
  if (!valid || !as.double(x) %of% 2^(3:20)) {
    stop_joist(
      "joist_value_error", "general.alignment of `metadata` must be a power of 2 from 8 to 2^20, ",
      "of dtype ui32"
    )
  }
  as.double(x)
}

# The header entry of a tensor, and its bytes.
gguf_info <- function(x, name, offset) {
  if (is_packed(x)) {
    parts <- packed_parts(x)
    if (parts$turned) {
      stop_joist(
        "joist_value_error", "the blocks of `x$", name, "` lie along its second dimension; write ",
        "t() of it"
      )
    }
    code <- parts$facts$code
    bytes <- length(parts$bytes)
  } else {
    code <- .Call(joist_r_gguf_code, dtype(x))
    if (is.null(code)) {
      stop_joist(
        "joist_dtype_error", "GGUF files have no type for ", format(dtype(x)), ", of `x$", name, "`"
      )
    }
    bytes <- length(x) * dtype_info(dtype(x))$bits / 8
  }
  extents <- if (is_packed(x)) dim(x) else shape(x)
  header <- c(
    gguf_string(name), gguf_number(length(extents), 4L), unlist(lapply(extents, gguf_number, 8L)),
    gguf_number(code, 4L), gguf_number(offset, 8L)
  )
  list(header = header, bytes = bytes)
}

# A whole number below 2^53, little end first.
gguf_number <- function(x, bytes) as.raw(x %/% 256^(seq_len(bytes) - 1) %% 256)

gguf_string <- function(x) {
  text <- charToRaw(enc2utf8(x))
  c(gguf_number(length(text), 8L), text)
}

gguf_value_types <- c(
  ui8 = 0L, i8 = 1L, ui16 = 2L, i16 = 3L, ui32 = 4L, i32 = 5L, f32 = 6L, bool = 7L, ui64 = 10L,
  i64 = 11L, f64 = 12L
)

# A value as the code of its type, the number of items and their bytes.
gguf_items <- function(value) {
  if (is.list(value) && !is.object(value)) {
    inner <- lapply(value, function(item) gguf_array(gguf_items(item)))
    return(list(code = 9L, count = length(value), bytes = unlist(inner), single = FALSE))
  }
  if (is.character(value) && !is.object(value) && !anyNA(value)) {
    bytes <- unlist(lapply(value, gguf_string))
    return(list(code = 8L, count = length(value), bytes = bytes, single = length(value) == 1L))
  }
  gguf_numbers(value)
}

gguf_numbers <- function(value) {
  single <- if (inherits(value, "nv_tensor")) ndims(value) == 0L else length(value) == 1L
  if (is.double(value) && !is.object(value)) value <- nv_tensor(value, "f64")
  value <- tryCatch(as_operand(value), joist_error = function(e) NULL)
  code <- if (is.null(value)) NA else gguf_value_types[format(dtype(value))]
  if (is.na(code) || ndims(value) > 1L || anyNA(value)) {
    stop_joist(
      "joist_value_error", "this is not a string, number or logical value, or a list of arrays"
    )
  }
  bytes <- nv_write_bin(value, raw(), endian = "little")
  list(code = unname(code), count = length(value), bytes = bytes, single = single)
}

gguf_array <- function(items) {
  c(gguf_number(items$code, 4L), gguf_number(items$count, 8L), items$bytes)
}

gguf_pair <- function(key, value) {
  items <- gguf_items(value)
  c(
    gguf_string(key),
    if (items$single) {
      c(gguf_number(items$code, 4L), items$bytes)
    } else {
      c(gguf_number(9L, 4L), gguf_array(items))
    }
  )
}
