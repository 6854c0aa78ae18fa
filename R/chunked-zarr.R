#' Zarr arrays: tensors in stores
#'
#' `nv_zarr()` opens an array in a Zarr store, `nv_zarr_create()` makes one there: a tensor whose
#' elements stay in the store, in chunks, and may be larger than memory. See [chunked] for what can
#' be done with it. A Zarr group is opened as a list of its members, and an array of text as a
#' character vector or array.
#'
#' If the arrays beside an array have the names of its dimensions, as xarray keeps coordinates, what
#' is read from it has their values as its dimnames.
#'
#' Text of AnnData with missing values, a group with `values` and `mask`, is a character vector. A
#' sparse matrix, a group with `data`, `indices` and `indptr`, is a chunked tensor,
#' whose blocks of whole rows (CSR) or columns (CSC) are dense: sums, means, variances, `log1p()`,
#' subsets and products read a few megabytes at a time. `as(x, "dgCMatrix")` makes a matrix of the
#' package 'Matrix' of it, and of any chunked matrix.
#'
#' Version 3 of the format is read and written, version 2 is read: regular chunks, in either byte
#' order and any order of dimensions, the codecs `bytes`, `transpose`, `sharding_indexed`, `gzip`,
#' `zlib`, `crc32c`, `zstd` and `blosc` where joist was built with their libraries, `cast_value`,
#' `scale_offset`, `bitround`, `reshape` and `packbits`, and all of joist's dtypes. Grids of chunks
#' of different lengths (`rectilinear`) are read, and arrays of elements with fields (`struct`) as a
#' list of a chunked tensor for each field. Another codec or data type is an error that names it.
#'
#' Dtypes that the core specification lacks have the names by which the Zarr extensions register
#' them, most of which are those of the Python package ml_dtypes: `bfloat16`, `int2`, `int4`,
#' `uint2`, `uint4`, `float4_e2m1fn`, `float6_e2m3fn` and so on, but `complex_float16` and
#' `complex_bfloat16` for `c32` and `bc32`. `float8_e4m3fn`, `int1` and `uint1` are
#' written under such names, too, though they are not registered; the library TensorStore has the
#' first. An element has a byte, whose unused bits are written as 0 and may be set when they are
#' read. zarr-python (3.1.6) reads none of these, TensorStore (0.1.84) most.
#'
#' A chunk or shard is written under a temporary name and then renamed: a reader sees either all of
#' it or none. Two processes may write different chunks of an array at the same time, of an array of
#' shards different shards: writing to a part of a shard writes all of it.
#'
#' Of a shard, only its index and the chunks that are needed are read, neighbours together. Of a
#' chunk in a folder without codecs, or with `zstd` alone, no more than is needed is decoded.
#'
#' The format has no missing values: give `na` a value to write in their place.
#'
#' An array at an address, `http://`, `https://` or `s3://` (see [nv_zarr_store()]), can be read,
#' and written to S3. A group at an address of the web is read through its
#' consolidated metadata; without these it cannot list its members: give the address of the array.
#'
#' @param path The name of a folder, an address, or a store that [nv_zarr_store()] made.
#' @param dtype A dtype or its name.
#' @param shape An integer vector of extents.
#' @param chunks The extents of a chunk, or one number for all dimensions; `NULL` for chunks of
#'   about a million elements.
#' @param node The path of an array or group within the store, with slashes; `""` for the store
#'   itself. Groups on the way are made.
#' @param fill The value of elements that were never written, an R value or tensor; `NULL` for 0,
#'   or 1 for `f8E8M0FNU`, which has no 0.
#' @param codecs The names of codecs for the bytes, in the order in which they are applied:
#'   `"gzip"`, `"crc32c"`, and `"zstd"` and `"blosc"` if joist was built with their libraries;
#'   `"zstd"` also if R (>= 4.5) has it. Or a list of these and, before them, of lists for what is
#'   done to the elements of a chunk: the name, then the configuration by the names of the Zarr
#'   extensions, as `list("cast_value", data_type = "ui8", rounding = "towards-zero")`,
#'   `list("scale_offset", offset = 5, scale = 10)`, `list("bitround", keepbits = 8)`,
#'   `list("reshape", shape = c(10, -1))` and `"packbits"`.
#' @param order The order of the elements of a chunk: `"C"`, which all readers of Zarr support, or
#'   `"F"`, that of tensors, which is faster here; or the dimensions, the slowest first.
#' @param endian The order of the bytes of a number: `"little"`, `"big"`, or `"swap"` for the
#'   opposite of this machine's order.
#' @param dimension_names A name for each dimension, `NA` for none, or `NULL`. What is read from
#'   the array has dimensions of these names.
#' @param na The value to write to the array in the place of missing values; `NULL` for an error if
#'   there are any.
#' @param cf `TRUE` for values as the CF conventions mean them: multiplied by the attribute
#'   `scale_factor`, plus `add_offset`, and NaN where they are `_FillValue` or `missing_value` (a
#'   chunked tensor has no missing values). Integers become `f64` where there is one of these.
#'   `_Unsigned`, `"true"` or `"false"`, says whether integers have a sign.
#' @param attributes A named list that is kept with the array or group, of `NULL`, plain vectors of
#'   numbers, texts and logicals, and lists of these. `NA` becomes `NULL`; names of the elements of
#'   a vector, and its dimensions, are not kept.
#' @param shards The extents of a shard, a file of several chunks that is written as a whole:
#'   multiples
#'   of the extents of a chunk, or one number for all dimensions. `FALSE` for a file for each chunk;
#'   `NULL` for shards of about 64 MB where there would be more than 10,000 chunks.
#' @param consolidated `TRUE` for a group that keeps the metadata of all that is in it, too, as
#'   stores need that cannot list their keys. What is made in it by joist later is added to them.
#' @param overwrite `TRUE` replaces an existing array, chunks and all.
#' @return `nv_zarr()` and `nv_zarr_create()`: a chunked tensor, of the known dtype that the array
#'   has; its [attributes()] `zarr_attributes` and `dimension_names` are those of the array.
#'   `nv_zarr()` of a group: a list of arrays and groups, by their names, with the attribute
#'   `zarr_attributes`, or a chunked tensor for a sparse matrix; of an array of text a character
#'   vector. `nv_zarr_create_group()`: `NULL`,
#'   invisibly.
#' @section Errors: `joist_value_error` for an invalid Zarr array (the message names the field of
#'   the metadata), for a codec that joist does not have, for missing values unless `na` is given,
#'   for an array that exists already, and when reading or writing fails; `joist_dtype_error` for a
#'   data type without a dtype; `joist_shape_error` for an invalid shape or chunks.
#' @source The Zarr core specification, version 3.0, and version 2,
#'   <https://zarr-specs.readthedocs.io>; <https://github.com/zarr-developers/zarr-extensions>.
#' @examples
#' folder <- tempfile(fileext = ".zarr")
#' x <- nv_zarr_create(folder, "f32", c(6, 4), chunks = c(3, 4), codecs = "gzip")
#' x[1:2, ] <- matrix(1:8, 2)
#' nv_zarr(folder)
#' x[2, ]
#' @export
nv_zarr <- function(path, node = "", na = NULL, cf = FALSE) {
  check_na_value(na)
  check_flag(cf, "cf")
  store <- zarr_store(path)
  open_node(store, node_of(node), na, cf)
}

# The prefix of the keys of an array or group.
node_of <- function(node) {
  parts <- if (is_file_name(node)) strsplit(node, "/", fixed = TRUE)[[1L]]
  parts <- parts[nzchar(parts)]
  if (!is_file_name(node) || any(parts %in% c(".", "..") | startsWith(parts, "__"))) {
    stop_joist("joist_value_error", "`node` must be the path of an array or group in the store")
  }
  if (length(parts) == 0L) "" else paste0(paste(parts, collapse = "/"), "/")
}

open_node <- function(store, node, na = NULL, cf = FALSE) {
  metadata <- read_metadata(store, node)
  if (metadata$type == "array") {
    store$known <- NULL
    if (!is.null(metadata$fields)) {
      return(struct_tensors(store, node, metadata))
    }
    if (!is.null(metadata$edges)) {
      return(rectilinear_tensor(store, node, metadata))
    }
    if (is_text_array(metadata)) {
      return(read_text(c(metadata, list(store = store, node = node))))
    }
    x <- zarr_tensor(store, node, metadata, na)
    return(if (cf) {
      cf_decoded(x, metadata$attributes, paste0(store$name, "/", node), metadata$cf_fill)
    } else {
      x
    })
  }
  open_group(store, node, metadata, na, cf)
}

zarr_tensor <- function(store, node, metadata, na = NULL) {
  type <- nv_aval(metadata$dtype, metadata$shape)
  array <- c(metadata, list(store = store, node = node, na = na))
  array$size <- .Call(joist_r_dtype_size, type)
  # Several handles of an array are one leaf.
  x <- chunked_tensor(type, block_chunks(array), list(array = array, id = paste(store$id, node)))
  attr(x, "zarr_attributes") <- metadata$attributes
  attr(x, "dimension_names") <- metadata$dimension_names
  x
}

#' @rdname nv_zarr
#' @export
nv_zarr_create <- function(path, dtype, shape, chunks = NULL, node = "", fill = NULL,
                           codecs = character(), order = "C", endian = "little",
                           dimension_names = NULL, attributes = list(), overwrite = FALSE,
                           na = NULL, shards = NULL) {
  store <- writable_store(path)
  type <- nv_aval(dtype, shape)
  extents <- joist::shape(type)
  swapped <- is_swapped(endian)
  check_flag(overwrite, "overwrite")
  check_attributes(attributes)
  check_na_value(na)
  if (!is.null(dimension_names) &&
    (!is.character(dimension_names) || length(dimension_names) != length(extents))) {
    stop_joist("joist_value_error", "`dimension_names` must be a text for each dimension, or NULL")
  }
  codecs <- given_codecs(codecs)
  array <- list(
    type = "array", dtype = format(joist::dtype(type)), shape = extents,
    chunks = if (is.null(chunks)) usual_chunks(extents) else chunk_extents(chunks, extents),
    fill = fill_of(fill, type), codecs = codecs$bytes, steps = codecs$steps,
    packed = codecs$packed,
    order = order_of(order, length(extents)), swapped = swapped, separator = "/", prefix = "c",
    attributes = attributes, dimension_names = dimension_names
  )
  array$shard <- new_shard(shards, array, .Call(joist_r_dtype_size, type))
  node <- node_of(node)
  text <- charToRaw(enc2utf8(format_metadata(array)))
  if (!is.null(c(codecs$steps, codecs$packed))) {
    array <- metadata_of_v3(parse_json(text, "`codecs`"), "`codecs`")
  }
  make_room(store, node, overwrite)
  remove_strays(store, node, overwrite)
  store$put(paste0(node, "zarr.json"), text)
  consolidate_above(store, node)
  zarr_tensor(store, node, array, na)
}

#' @rdname nv_zarr
#' @export
nv_zarr_create_group <- function(path, node = "", attributes = list(), consolidated = FALSE) {
  store <- writable_store(path)
  check_attributes(attributes)
  check_flag(consolidated, "consolidated")
  node <- node_of(node)
  make_room(store, node, FALSE)
  text <- charToRaw(enc2utf8(format_group(attributes)))
  store$put(paste0(node, "zarr.json"), text)
  if (consolidated) consolidate(store, node, parse_json(text, node))
  consolidate_above(store, node)
  invisible(NULL)
}

writable_store <- function(path) {
  store <- zarr_store(path)
  if (is.null(store$put)) {
    stop_joist("joist_value_error", "nothing can be written to \"", store$name, "\"")
  }
  store
}

# Sees to it that there is nothing at a node, and to the groups that it is in.
make_room <- function(store, node, overwrite) {
  there <- any(vapply(marks_of(node), store$exists, TRUE))
  if (there && !overwrite) {
    stop_joist(
      "joist_value_error", "there is an array or group at \"", store$name, "\"",
      if (nzchar(node)) paste0(", ", sub("/$", "", node)), "; `overwrite = TRUE` replaces it"
    )
  }
  if (there) remove_node(store, node)
  parts <- strsplit(node, "/", fixed = TRUE)[[1L]]
  above <- if (length(parts) > 0L) {
    c("", vapply(seq_along(parts)[-length(parts)], function(k) {
      paste0(paste(parts[seq_len(k)], collapse = "/"), "/")
    }, ""))
  }
  for (group in above) {
    key <- paste0(group, "zarr.json")
    if (!store$exists(key)) store$put(key, charToRaw(format_group(NULL)))
  }
}

# The metadata first: what is left of chunks then belongs to nothing.
remove_node <- function(store, node) {
  check_deletes(store)
  store$delete(paste0(node, "zarr.json"))
  remove_keys(store, node)
}

# Chunks that belong to nothing, as where somebody was stopped who replaced an array, would belong
# to a new one.
remove_strays <- function(store, node, overwrite) {
  chunks <- paste0(node, "c/")
  single <- paste0(node, "c") # of rank 0; also the folder of the others
  if (!store$exists(single) && (is.null(store$list) || length(store$list(chunks)) == 0L)) {
    return(invisible(NULL))
  }
  if (!overwrite) {
    stop_joist(
      "joist_value_error", "there are chunks of another array at \"", store$name, "\"",
      if (nzchar(node)) paste0(", ", sub("/$", "", node)), "; `overwrite = TRUE` removes them"
    )
  }
  check_deletes(store)
  remove_keys(store, chunks)
  if (store$exists(single)) store$delete(single)
}

check_deletes <- function(store) {
  if (is.null(store$delete) || is.null(store$list)) {
    stop_joist("joist_value_error", "nothing can be deleted in \"", store$name, "\"")
  }
}

remove_keys <- function(store, prefix) {
  for (name in store$list(prefix)) {
    key <- paste0(prefix, name)
    remove_keys(store, paste0(key, "/"))
    if (store$exists(key)) store$delete(key)
  }
}

check_attributes <- function(attributes) {
  if (!is.list(attributes) || length(attributes) > 0L && is.null(names(attributes))) {
    stop_joist("joist_value_error", "`attributes` must be a list with different names")
  }
  check_json_value(attributes)
}

# What JSON has, too: a class would be lost, and others cannot be written.
check_json_value <- function(x) {
  plain <- is.null(x) || is.list(x) || is.logical(x) || is.numeric(x) || is.character(x)
  if (!plain || is.object(x)) {
    stop_joist(
      "joist_value_error", "`attributes` must have plain numbers, texts, logicals and lists of ",
      "them, not ", class(x)[1L]
    )
  }
  if (is.list(x)) {
    if (!is.null(names(x)) && !has_names(x)) {
      stop_joist("joist_value_error", "`attributes` must be a list with different names")
    }
    for (one in x) check_json_value(one)
  }
}

chunk_extents <- function(chunks, extents) {
  given <- per_dimension(chunks, length(extents), "chunks")
  if (any(given < 1L)) stop_joist("joist_shape_error", "`chunks` must be extents of at least 1")
  given
}

# About a million elements, halving the longest extent.
usual_chunks <- function(extents) {
  chunks <- pmax(extents, 1L)
  while (prod(chunks) > 2^20) {
    longest <- which.max(chunks)
    chunks[longest] <- (chunks[longest] + 1L) %/% 2L
  }
  chunks
}

fill_of <- function(fill, type) {
  if (is.null(fill)) {
    return(parse_fill(NULL, format(dtype(type)), ""))
  }
  if (!is_tensor(fill)) fill <- nv_tensor(exact_code(fill, dtype(type), "fill"), dtype(type))
  if (length(fill) != 1L || dtype(fill) != dtype(type) || is_missing(fill)) {
    stop_joist("joist_value_error", "`fill` must be one value of ", format(dtype(type)))
  }
  nv_reshape(fill, integer())
}

order_of <- function(order, rank) {
  if (identical(order, "C")) {
    return(seq_len(rank))
  }
  if (identical(order, "F")) {
    return(rev(seq_len(rank)))
  }
  if (!is_whole(order) || !identical(sort(as.integer(order)), seq_len(rank))) {
    stop_joist(
      "joist_value_error", "`order` must be \"C\", \"F\" or every dimension once, the slowest first"
    )
  }
  as.integer(order)
}
