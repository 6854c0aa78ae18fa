# Zarr arrays whose chunks differ in size (`rectilinear`), and those whose elements have several
# fields (`struct`): both are read by way of others, and not written.

# The lengths of the chunks along each dim.
grid_edges <- function(grid, shape, key) {
  wrong <- function(...) stop_field(key, "chunk_shapes", ...)
  kind <- grid$configuration[["kind"]]
  if (!is_text_json(kind) || kind != "inline") stop_field(key, "kind", "must be \"inline\"")
  all <- grid$configuration[["chunk_shapes"]]
  if (!is.list(all) || length(all) != length(shape)) {
    wrong("must have ", length(shape), " lists, as `shape`")
  }
  Map(function(edges, extent) {
    if (inherits(edges, "json_number")) {
      edge <- whole_field(list(edges), key, "chunk_shapes", 1)
      return(rep(edge, max(1, ceiling(extent / edge))))
    }
    if (!is.list(edges)) wrong("must be lists of lengths")
    runs <- lapply(edges, function(one) {
      if (inherits(one, "json_number")) one <- list(one, structure("1", class = "json_number"))
      run <- whole_field(one, key, "chunk_shapes", 1)
      if (length(run) != 2L) wrong("must have a length and a number in each run")
      run
    })
    if (sum(vapply(runs, function(run) run[2L], 0L)) > 1e7) wrong("has too many chunks")
    edges <- unlist(lapply(runs, function(run) rep(run[1L], run[2L])))
    if (sum(edges) < extent) wrong("must add up to ", extent)
    as.integer(edges)
  }, all, shape)
}

rectilinear_tensor <- function(store, node, metadata) {
  edges <- metadata$edges
  array <- c(metadata, list(store = store, node = node))
  shape <- metadata$shape
  stops <- lapply(edges, cumsum)
  read <- function(low, high, reversed) {
    out <- filled(array, as.integer(high - low + 1L))
    some <- Map(
      function(stop, edge, low, high) which(stop >= low & stop - edge < high),
      stops, edges, low, high
    )
    for (n in seq_len(prod(lengths(some))) - 1) {
      at <- unlist(Map(`[`, some, mixed_digits(n, lengths(some)) + 1L))
      key <- chunk_key(array, at)
      bytes <- store$get(key)
      if (is.null(bytes)) next
      extents <- unlist(Map(`[`, edges, at))
      corner <- as.integer(unlist(Map(`[`, stops, at)) - extents)
      chunk <- about_chunk(array, key, decode_chunk(bytes, metadata$codecs_at(extents)))
      from <- base::pmax(low, corner + 1L)
      part <- part_of(chunk, from - corner, base::pmin(high, corner + extents) - corner)
      out <- .Call(joist_r_place, out, as.integer(from - low + 1L), part, FALSE)
    }
    if (reversed) nv_transpose(out) else out
  }
  x <- derived_tensor(
    metadata$dtype, shape, vapply(edges, max, 1L), seq_along(shape), read,
    paste0(store$name, "/", node)
  )
  attr(x, "zarr_attributes") <- metadata$attributes
  attr(x, "dimension_names") <- metadata$dimension_names
  x
}

# ---- elements of several fields ----

# The names, dtypes and places of the fields of a data type; NULL for another type.
struct_fields <- function(x, key) {
  name <- if (is_object_json(x)) x[["name"]]
  if (!is_text_json(name) || !name %in% c("struct", "structured")) {
    return(NULL)
  }
  fields <- named_field(x, key, "data_type")$configuration[["fields"]]
  if (!is.list(fields) || length(fields) == 0L) stop_field(key, "fields", "must be a list")
  types <- lapply(fields, function(field) {
    pair <- if (is_object_json(field)) field[c("name", "data_type")] else field
    if (!is.list(pair) || length(pair) != 2L || !is_text_json(pair[[1L]])) {
      stop_field(key, "fields", "must have a name and a data type each")
    }
    dtype <- zarr_dtype(pair[[2L]], key)
    size <- .Call(joist_r_dtype_size, nv_aval(dtype))
    list(name = as.character(pair[[1L]]), dtype = dtype, size = size)
  })
  starts <- cumsum(c(0, vapply(types, function(type) type$size, 0)))
  starts <- as.integer(starts[seq_along(types)])
  Map(function(type, start) c(type, list(start = start)), types, starts)
}

# The metadata of the bytes of such elements: an array with one more dim.
struct_bytes <- function(json, fields, key) {
  last <- fields[[length(fields)]]
  size <- last$start + last$size
  number <- function(x) structure(format(x, scientific = FALSE), class = "json_number")
  rank <- length(whole_field(json[["shape"]], key, "shape", 0))
  grid <- named_field(json[["chunk_grid"]], key, "chunk_grid")
  if (!is.list(json[["codecs"]])) stop_field(key, "codecs", "must be a list of codecs")
  wider <- function(codec) {
    if (!is_object_json(codec)) {
      return(codec)
    }
    codec <- named_field(codec, key, "codecs")
    how <- codec$configuration
    if (codec$name == "transpose") {
      how[["order"]] <- c(how[["order"]], list(number(rank)))
    } else if (codec$name == "sharding_indexed") {
      how[["chunk_shape"]] <- c(how[["chunk_shape"]], list(number(size)))
      if (is.list(how[["codecs"]])) how[["codecs"]] <- lapply(how[["codecs"]], wider)
    }
    codec$configuration <- if (length(how) > 0L) how
    codec
  }
  fill <- json[["fill_value"]]
  none <- is.null(fill) || is_text_json(fill) && grepl("^A*=*$", fill) ||
    is.list(fill) && all(unlist(lapply(fill, as.character)) %in% c("0", "0.0", "FALSE"))
  if (!none) stop_field(key, "fill_value", "of an array of fields must be zeros")
  json[["fill_value"]] <- number(0)
  json[["data_type"]] <- "uint8"
  json[["shape"]] <- c(json[["shape"]], list(number(size)))
  chunks <- whole_field(grid$configuration[["chunk_shape"]], key, "chunk_shape", 1)
  grid$configuration[["chunk_shape"]] <- lapply(c(chunks, size), number)
  json[["chunk_grid"]] <- grid
  json[["codecs"]] <- lapply(json[["codecs"]], wider)
  json[["dimension_names"]] <- NULL
  c(metadata_of_v3(json, key), list(
    fields = fields, key_dims = rank, big = is_big_endian(json[["codecs"]])
  ))
}

# What the codec `bytes` says, within shards as well.
is_big_endian <- function(codecs) {
  any(vapply(codecs, function(codec) {
    how <- if (is_object_json(codec)) codec[["configuration"]]
    identical(as.character(how[["endian"]]), "big") || is_big_endian(how[["codecs"]])
  }, NA))
}

# A list of a chunked tensor for each field.
struct_tensors <- function(store, node, metadata) {
  array <- array_in(zarr_tensor(store, node, metadata[setdiff(names(metadata), "fields")]))
  rank <- length(array$shape) - 1L
  made <- lapply(metadata$fields, function(field) {
    read <- function(low, high, reversed) {
      part <- part_in(array, c(low, field$start + 1L), c(high, field$start + field$size), TRUE)
      bytes <- nv_write_bin(part) # those of a field together, the last dim the fastest
      out <- nv_read_bin(
        bytes, field$dtype, rev(high - low + 1L),
        endian = if (metadata$big) "big" else "little"
      )
      if (reversed || rank < 2L) out else nv_transpose(out)
    }
    derived_tensor(
      field$dtype, array$shape[seq_len(rank)], array$chunks[seq_len(rank)], seq_len(rank), read,
      paste0(store$name, "/", node, "[", field$name, "]")
    )
  })
  structure(
    made, names = vapply(metadata$fields, function(field) field$name, ""),
    zarr_attributes = metadata$attributes
  )
}
