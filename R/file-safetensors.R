#' safetensors files
#'
#' `nv_write_safetensors()` writes a list of tensors to a file in the format safetensors,
#' `nv_read_safetensors()` reads it, all of it or some tensors by name; `nv_serialize()` and
#' `nv_unserialize()` do the same with a raw vector. `nv_save()` and `nv_read()` are other names of
#' the first two. No bit of an element is changed.
#'
#' The format has no `c32`, `bc32` and `c128`, no integers of fewer than 8 bits, and of the floats
#' of 8 bits only `f8E4M3FN` (in the format `F8_E4M3`), `f8E4M3FNUZ`, `f8E5M2`, `f8E5M2FNUZ` and
#' `f8E8M0FNU`: convert others, or write the bits of those of up to 8 bits as
#' `nv_bitcast_convert(x, "ui8")`, and of `c128` `Re(x)` and `Im(x)`. Tensors of types that a later
#' version of the format has are refused, unless `raw = TRUE` asks for their bytes; the other
#' tensors of such a file can be read by `names`. The header is checked as a whole before an element
#' is read: names, types, shapes, and that the tensors lie side by side and fill the file.
#'
#' Elements of `f4E2M1FN`, `f6E2M3FN` and `f6E3M2FN` are packed: two elements of 4 bits take one
#' byte, and four of 6 bits take three. A tensor must fill whole bytes; PyTorch also wants an
#' even last extent. The format does not say in which order the bits are. joist puts the first
#' element in the lowest bits, as PyTorch does for floats of 4 bits (`float4_e2m1fn_x2`); for 6
#' bits that is an assumption, as no library that writes such files has published an order. In
#' memory each element has a byte, so these are not mapped.
#'
#' The elements of a file are in C order, and from rank 2 on they are rearranged while they are
#' read. With `reversed = TRUE` the tensors have their dimensions in reverse order instead, and are
#' read without rearrangement, which is faster, and can be mapped.
#'
#' The format has no missing values: give `na` a value to write in their place, in every tensor
#' that has some.
#'
#' A model of several files is read by its index, `model.safetensors.index.json`: give the name of
#' that.
#'
#' A file at a web address is read by ranges: its header, and of its other bytes those of the
#' tensors in `names`. A server that knows no ranges sends all of it.
#'
#' @param x A list of tensors or R vectors, with names.
#' @param path The name of a file; for `nv_read_safetensors()` also an address, `https://` or
#'   `http://`.
#' @param na The value to write in the place of missing values; `NULL` for an error if there are
#'   any.
#' @param metadata A character vector with names that is kept with the tensors, or `NULL`.
#' @param names The names of the tensors to read, in the order wanted; `NULL` for all.
#' @param mmap `TRUE` for tensors whose memory is the file, see [mapped_files].
#' @param reversed `TRUE` for the dimensions in reverse order.
#' @param device Where the tensors are to be, see [nv_device()]; `NULL` for the CPU.
#' @param raw `TRUE` to read tensors of a type that joist does not have as their bytes: a tensor of
#'   `ui8` with one more dimension, the first, whose extent is the number of bytes of an element.
#' @param con A raw vector, the name of a file, or a connection, which is read to its end.
#' @return `nv_read_safetensors()` and `nv_unserialize()`: a named list of tensors, of the known
#'   dtypes that the file has, in its order; with metadata in the attribute `metadata`, if there is
#'   any. `nv_write_safetensors()`: `NULL`, invisibly. `nv_serialize()`: a raw vector.
#' @section Errors: `joist_value_error` for missing values unless `na` is given, for an invalid
#'   safetensors file (the message names the field of the header), for missing or duplicated names,
#'   for packed elements that end within a byte, and for files and addresses that cannot be read or
#'   written, and `mmap` of an address;
#'   `joist_dtype_error` for a type without a dtype, with `raw = TRUE` only if its elements do not
#'   have whole bytes, and for a dtype that the format does not have.
#' @source The section "Format" of <https://github.com/huggingface/safetensors>.
#' @examples
#' file <- tempfile(fileext = ".safetensors")
#' model <- list(weight = nv_tensor(matrix(1:6, 2), "bf16"), bias = nv_tensor(1:2, "f16"))
#' nv_write_safetensors(model, file, metadata = c(format = "joist"))
#' nv_read_safetensors(file)
#' nv_read_safetensors(file, names = "bias")
#' identical(nv_unserialize(nv_serialize(model)), model)
#' @export
nv_write_safetensors <- function(x, path, metadata = NULL, na = NULL) {
  check_path(path)
  check_metadata(metadata)
  invisible(.Call(joist_r_write_safetensors, filled_tensors(x, na), metadata, path))
}

#' @rdname nv_write_safetensors
#' @export
nv_read_safetensors <- function(path, names = NULL, mmap = FALSE, reversed = FALSE, device = NULL,
                                raw = FALSE) {
  check_path(path)
  check_names_wanted(names)
  check_flag(mmap, "mmap")
  check_flag(reversed, "reversed")
  check_flag(raw, "raw")
  if (!is.null(device)) device <- nv_device(device)
  if (is_web(path)) check_no_map(mmap) else path <- found_path(path)
  read <- function(path, names) {
    if (is_web(path)) {
      bytes <- safetensors_at(path, names)
      return(.Call(joist_r_read_safetensors, NULL, bytes, names, raw, reversed, FALSE))
    }
    check_format("safetensors", path)
    .Call(joist_r_read_safetensors, path, NULL, names, raw, reversed, mmap)
  }
  made <- if (endsWith(path, ".json")) read_shards(path, names, read) else read(path, names)
  place_each(made, device)
}

# A file with some of the tensors of one at a web address, of which no other bytes are asked for.
safetensors_at <- function(address, names) {
  part <- function(from, size) {
    got <- if (size > 0) web_bytes(address, function() range_header(from, size)) else raw()
    if (is.null(got)) stop_joist("joist_value_error", "there is no file at ", address)
    if (length(got) < size) {
      stop_joist(
        "joist_value_error", "the file at ", address, " has fewer than ", number_text(from + size),
        " bytes"
      )
    }
    got
  }
  first <- part(0, 8)
  check_format("safetensors", first)
  if (length(first) > 8L) { # a server that knows no ranges
    return(first)
  }
  n <- sum(as.integer(first) * 256^(0:7))
  if (n > 1e8) stop_joist("joist_value_error", "the header at ", address, " is longer than 100 MB")
  header <- parse_json(ranged(part(8, n), 8, n), address)
  spans <- spans_of_header(header, address)
  if (!is.null(names)) spans <- spans[names(spans) %in% names]
  spans <- spans[order(vapply(spans, `[`, 0, 1L), vapply(spans, `[`, 0, 2L))]
  from <- vapply(spans, `[`, 0, 1L)
  size <- vapply(spans, `[`, 0, 2L) - from
  end <- cumsum(size)
  header <- header[names(header) %in% c("__metadata__", names(spans))]
  places <- match(names(spans), names(header))
  for (k in seq_along(spans)) {
    ends <- number_text(c(end[[k]] - size[[k]], end[[k]]))
    header[[places[k]]]$data_offsets <- lapply(ends, structure, class = "json_number")
  }
  text <- charToRaw(enc2utf8(json_text(header)))
  # What lies side by side is one request.
  run <- cumsum(c(TRUE, utils::tail(from, -1L) != utils::head(from + size, -1L)))[seq_along(from)]
  bytes <- lapply(split(seq_along(from), run), function(k) {
    at <- 8 + n + from[[k[1L]]]
    ranged(part(at, sum(size[k])), at, sum(size[k]))
  })
  do.call(c, c(list(as.raw(length(text) %/% 256^(0:7) %% 256), text), unname(bytes)))
}

# Where tensors lie, by name.
spans_of_header <- function(header, address) {
  tensors <- header[setdiff(names(header), "__metadata__")]
  for (k in seq_along(tensors)) {
    told <- if (is.list(tensors[[k]])) tensors[[k]][["data_offsets"]]
    span <- suppressWarnings(as.numeric(unlist(told)))
    if (length(span) != 2L || anyNA(span) || span[1L] < 0 || span[2L] < span[1L]) {
      stop_field(address, "data_offsets", "of \"", names(tensors)[k], "\" must be two positions")
    }
    tensors[[k]] <- span
  }
  tensors
}

# The tensors of a model whose index, in JSON, says which file of its folder each is in.
read_shards <- function(path, names, read) {
  bytes <- if (is_web(path)) web_bytes(path) else readBin(path, "raw", file.size(path))
  if (is.null(bytes)) stop_joist("joist_value_error", "there is no file at ", path)
  map <- parse_json(bytes, path)$weight_map
  files <- unlist(map)
  if (!is.list(map) || !has_names(map) || !is.character(files) || length(files) != length(map)) {
    stop_joist(
      "joist_value_error", "\"", path, "\" is not the index of a model: it has no ",
      "`weight_map` of tensors and their files"
    )
  }
  outside <- files[files != basename(files) | files %in% c(".", "..")]
  if (length(outside) > 0L) {
    stop_joist(
      "joist_value_error", "the index names a file outside of its folder: \"", outside[1L], "\""
    )
  }
  if (is.null(names)) names <- names(map)
  missing <- setdiff(names, names(map))
  if (length(missing) > 0L) {
    stop_joist("joist_value_error", "the index has no tensor \"", missing[1L], "\"")
  }
  tensors <- list()
  for (file in unique(files[names])) {
    tensors <- c(tensors, read(file.path(dirname(path), file), names[files[names] == file]))
  }
  tensors[names]
}

#' @rdname nv_write_safetensors
#' @export
nv_save <- nv_write_safetensors

#' @rdname nv_write_safetensors
#' @export
nv_read <- nv_read_safetensors

#' @rdname nv_write_safetensors
#' @export
nv_serialize <- function(x, metadata = NULL, na = NULL) {
  check_metadata(metadata)
  .Call(joist_r_write_safetensors, filled_tensors(x, na), metadata, NULL)
}

filled_tensors <- function(x, na) {
  x <- named_tensors(x)
  if ("__metadata__" %in% names(x)) {
    stop_joist(
      "joist_value_error", "safetensors files keep the name \"__metadata__\" for `metadata`; give ",
      "the tensor another name"
    )
  }
  for (k in seq_along(x)) {
    x[[k]] <- filled_missing(x[[k]], na, "safetensors files", element_name(x, k))
  }
  x
}

#' @rdname nv_write_safetensors
#' @export
nv_unserialize <- function(con, names = NULL, reversed = FALSE, device = NULL, raw = FALSE) {
  check_names_wanted(names)
  check_flag(reversed, "reversed")
  check_flag(raw, "raw")
  if (is_file_name(con)) {
    return(nv_read_safetensors(con, names, reversed = reversed, device = device, raw = raw))
  }
  if (!is.null(device)) device <- nv_device(device)
  made <- .Call(joist_r_read_safetensors, NULL, all_bytes(con), names, raw, reversed, FALSE)
  place_each(made, device)
}

place_each <- function(tensors, device) {
  if (!is.null(device)) tensors[] <- lapply(tensors, place_on, device)
  tensors
}

check_metadata <- function(metadata) {
  if (is.null(metadata)) {
    return()
  }
  if (!is.character(metadata) || is.object(metadata) || anyNA(metadata) || !has_names(metadata)) {
    stop_joist("joist_value_error", "`metadata` must be a character vector with different names")
  }
}
