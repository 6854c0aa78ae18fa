# Arrays of text in Zarr stores, which are read as character vectors or arrays, and the names along
# dimensions that arrays of one dimension have, as xarray keeps them.

is_text_array <- function(metadata) identical(metadata$dtype, "text")

# As whole_field() and others: what is wrong names the field. A `width` is that of elements of
# UTF-32, NULL for those that have their lengths.
text_type <- function(x, key) {
  if (is_text_json(x)) x <- list(name = x)
  name <- if (is_object_json(x)) x[["name"]]
  if (identical(as.character(name), "string")) {
    return(list(dtype = "text"))
  }
  if (identical(as.character(name), "fixed_length_utf32")) {
    how <- named_field(x, key, "data_type")$configuration
    bytes <- whole_field(list(how[["length_bytes"]]), key, "length_bytes", 0)
    return(list(dtype = "text", width = bytes))
  }
}

# Text of version 2: objects that a filter makes bytes of, or UTF-32 of a fixed length.
text_type_v2 <- function(x, filters, key) {
  if (!is_text_json(x)) {
    return(NULL)
  }
  ids <- vapply(filters, function(filter) {
    if (is_object_json(filter) && is_text_json(filter[["id"]])) as.character(filter[["id"]]) else ""
  }, "")
  if (x == "|O" && identical(ids, "vlen-utf8")) {
    return(list(dtype = "text", swapped = FALSE))
  }
  if (grepl("^[<>]U[0-9]{1,6}$", x)) {
    big <- startsWith(x, ">")
    width <- 4L * as.integer(substring(x, 3L))
    list(dtype = "text", width = width, swapped = big != (.Platform$endian == "big"))
  }
}

# All of an array.
read_text <- function(array) {
  fill <- if (is.na(array$fill)) "" else array$fill
  out <- array(fill, if (length(array$shape) == 0L) 1L else array$shape)
  each_chunk(rep_len(1L, length(array$shape)), array$shape, array$chunks, function(at, low, high) {
    chunk <- read_chunk(array, at)
    if (is.null(chunk)) {
      return()
    }
    own <- Map(function(from, n) seq_len(n), low, high - low + 1L)
    part <- do.call(`[`, c(list(chunk), own, list(drop = FALSE)))
    out <<- do.call(`[<-`, c(list(out), Map(seq.int, low, high), list(value = part)))
  })
  if (length(array$shape) < 2L) as.vector(out) else out
}

# The elements of a chunk: the last dim is the fastest in its bytes.
decode_text <- function(bytes, array) {
  count <- prod(array$chunks)
  width <- array$width
  words <- if (is.null(width)) {
    counted_words(bytes, count)
  } else {
    wide_words(bytes, width, count, array)
  }
  order <- array$order
  out <- array(words, rev(c(array$chunks[order], if (length(order) == 0L) 1L)))
  if (length(order) > 1L) aperm(out, match(seq_along(order), rev(order))) else out
}

# How many there are, then the length and the bytes of each.
counted_words <- function(bytes, count) {
  number <- function(at) {
    if (at + 4 > length(bytes)) stop_joist("joist_value_error", "its text ends early")
    sum(as.integer(bytes[at + 1:4]) * 256^(0:3))
  }
  if (number(0) != count) {
    stop_joist(
      "joist_value_error", "it has ", number_text(number(0)), " texts, and ", number_text(count),
      " are needed"
    )
  }
  at <- 4
  words <- character(count)
  for (k in seq_len(count)) {
    n <- number(at)
    if (at + 4 + n > length(bytes)) stop_joist("joist_value_error", "its text ends early")
    words[k] <- text_of(bytes[at + 4 + seq_len(n)])
    at <- at + 4 + n
  }
  words
}

text_of <- function(bytes) {
  if (any(bytes == 0)) stop_joist("joist_value_error", "its text has a NUL")
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  if (!validUTF8(text)) stop_joist("joist_value_error", "its text is not UTF-8")
  text
}

wide_words <- function(bytes, width, count, array) {
  if (length(bytes) != width * count) {
    stop_joist(
      "joist_value_error", "it has ", number_text(length(bytes)), " bytes, and ",
      number_text(width * count), " are needed"
    )
  }
  if (width == 0L) {
    return(character(count))
  }
  codes <- readBin(bytes, "integer", length(bytes) / 4, endian = endian_of(array))
  codes <- matrix(codes, width %/% 4L)
  apply(codes, 2L, function(one) {
    one <- one[seq_len(max(0L, which(one != 0L)))]
    text <- intToUtf8(one)
    if (is.na(text)) stop_joist("joist_value_error", "its text is not UTF-32")
    text
  })
}

# ---- names along dimensions ----

# As dimnames: what arrays beside this one have whose names are those of its dimensions.
coordinates_of <- function(array) {
  named <- array$dimension_names
  if (all(is.na(named)) || !nzchar(array$node)) {
    return(NULL)
  }
  folder <- sub("[^/]*/$", "", array$node)
  values <- lapply(seq_along(named), function(d) {
    node <- paste0(folder, named[d], "/")
    if (is.na(named[d]) || node == array$node || !nzchar(named[d])) {
      return(NULL)
    }
    there <- vapply(paste0(node, c("zarr.json", ".zarray")), array$store$exists, TRUE)
    if (!any(there)) {
      return(NULL)
    }
    found <- open_node(array$store, node)
    fits <- (is_chunked(found) || is.character(found)) && length(dim(found)) < 2L &&
      length(found) == array$shape[d]
    if (!fits) {
      return(NULL)
    }
    if (is_chunked(found)) as.character(nv_compute(found)) else found
  })
  structure(values, names = ifelse(is.na(named), "", named))
}

# Writes names along dimensions as arrays of text beside an array.
write_coordinates <- function(store, node, names) {
  if (!nzchar(node)) {
    stop_joist(
      "joist_value_error", "`dimnames` are kept beside the array: give it a `node` in the store"
    )
  }
  folder <- sub("[^/]*/$", "", node)
  for (name in names(names)) {
    words <- names[[name]]
    if (is.null(words)) next
    beside <- paste0(folder, name, "/")
    make_room(store, beside, TRUE)
    shape <- length(words)
    store$put(paste0(beside, "zarr.json"), charToRaw(format_object(c(
      zarr_format = "3", node_type = "\"array\"", shape = sprintf("[%d]", shape),
      data_type = "\"string\"",
      chunk_grid = sprintf(
        "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[%d]}}", max(1L, shape)
      ),
      chunk_key_encoding = "{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}",
      fill_value = "\"\"", codecs = "[{\"name\":\"vlen-utf8\"}]", attributes = "{}",
      dimension_names = paste0("[", json_strings(name), "]")
    ))))
    each <- lapply(enc2utf8(words), function(word) {
      bytes <- charToRaw(word)
      c(low_bytes(length(bytes)), bytes)
    })
    if (shape > 0L) store$put(paste0(beside, "c/0"), c(low_bytes(shape), unlist(each)))
  }
}

check_dimnames <- function(names, extents) {
  fits <- is.list(names) && length(names) == length(extents) && has_names(names) &&
    all(vapply(seq_along(names), function(d) {
      is.null(names[[d]]) ||
        is.character(names[[d]]) && length(names[[d]]) == extents[d] && !anyNA(names[[d]])
    }, TRUE))
  if (!fits || !all(vapply(names(names), function(name) !grepl("/", name, fixed = TRUE), TRUE))) {
    stop_joist(
      "joist_value_error", "`dimnames` must be a list with a name for each dimension, of texts or ",
      "NULL"
    )
  }
}
