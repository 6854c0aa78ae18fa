# The metadata of Zarr arrays and groups, of versions 3 and 2, as lists. An array has `shape`,
# `chunks`, `dtype`, `fill` (a scalar tensor), `codecs` (of bytes, a list of lists with a `name`),
# `order` (of the dims of a stored chunk, the slowest first), `swapped`, `separator` and `prefix`
# (of the keys of chunks), `attributes` and `dimension_names`.

stop_field <- function(key, field, ...) {
  stop_joist("joist_value_error", key, ": `", field, "` ", ...)
}

parse_json <- function(bytes, key) {
  tryCatch(.Call(joist_r_read_json, bytes), joist_value_error = function(e) {
    stop_joist("joist_value_error", key, ": ", conditionMessage(e))
  })
}

read_metadata <- function(store, node) {
  key <- paste0(node, "zarr.json")
  json <- metadata_at(store, key)
  if (!is.null(json)) {
    return(metadata_of_v3(json, key))
  }
  key <- paste0(node, ".zarray")
  json <- metadata_at(store, key)
  attributes <- function() {
    key <- paste0(node, ".zattrs")
    found <- metadata_at(store, key)
    if (!is.null(found) && !is_object_json(found)) {
      stop_joist("joist_value_error", key, ": is not a JSON object")
    }
    plain_json(found)
  }
  if (!is.null(json)) {
    array <- c(metadata_of_v2(json, key), list(attributes = attributes()))
    # As xarray keeps them in version 2.
    names <- array$attributes[["_ARRAY_DIMENSIONS"]]
    if (is.character(names) && length(names) == length(array$shape)) array$dimension_names <- names
    return(array)
  }
  if (!is.null(metadata_at(store, paste0(node, ".zgroup")))) {
    return(list(type = "group", attributes = attributes()))
  }
  stop_joist(
    "joist_value_error", "there is no Zarr array or group at \"", store$name, "\"",
    if (nzchar(node)) paste0(", ", sub("/$", "", node))
  )
}

# ---- fields ----

is_object_json <- function(x) is.list(x) && !is.null(names(x))

is_text_json <- function(x) is.character(x) && !inherits(x, "json_number")

# A list of whole numbers.
whole_field <- function(x, key, field, least) {
  numbers <- if (is.list(x)) lapply(x, function(one) if (inherits(one, "json_number")) one)
  values <- suppressWarnings(as.numeric(unlist(numbers)))
  fits <- is.list(x) && length(values) == length(x) && is_whole(c(0, values)) &&
    all(values >= least)
  if (!fits) {
    stop_field(key, field, "must be a list of whole numbers from ", least, " to 2^31 - 1")
  }
  as.integer(values)
}

text_field <- function(x, key, field) {
  if (!is_text_json(x)) stop_field(key, field, "must be text")
  as.character(x)
}

# A name, or an object with one; gives list(name =, configuration =).
named_field <- function(x, key, field) {
  if (is_text_json(x)) x <- list(name = x)
  if (!is_object_json(x) || !is_text_json(x[["name"]])) {
    stop_field(key, field, "must have a `name`")
  }
  configuration <- x[["configuration"]]
  if (!is.null(configuration) && !is_object_json(configuration)) {
    stop_field(key, field, "must have an object for its `configuration`")
  }
  list(name = as.character(x[["name"]]), configuration = as.list(configuration))
}

# Numbers as doubles, lists of numbers, texts and flags as vectors.
plain_json <- function(x) {
  if (inherits(x, "json_number")) {
    return(as.numeric(x))
  }
  if (!is.list(x)) {
    return(x)
  }
  x <- lapply(x, plain_json)
  kinds <- unique(vapply(x, function(one) if (length(one) == 1L) class(one)[1L] else "", ""))
  if (is.null(names(x)) && length(x) > 1L && length(kinds) == 1L && !kinds %in% c("", "list")) {
    return(unlist(x))
  }
  x
}

# ---- version 3 ----

metadata_of_v3 <- function(json, key) {
  if (!is_object_json(json)) stop_joist("joist_value_error", key, ": is not a JSON object")
  if (!identical(as.character(json[["zarr_format"]]), "3")) {
    stop_field(key, "zarr_format", "must be 3")
  }
  attributes <- json[["attributes"]]
  if (!is.null(attributes) && !is_object_json(attributes)) {
    stop_field(key, "attributes", "must be an object")
  }
  type <- text_field(json[["node_type"]], key, "node_type")
  if (type == "group") {
    known <- consolidated_in(json, key)
    return(list(type = "group", attributes = plain_json(attributes), consolidated = known))
  }
  if (type != "array") stop_field(key, "node_type", "must be \"array\" or \"group\"")
  fields <- struct_fields(json[["data_type"]], key)
  if (!is.null(fields)) {
    return(struct_bytes(json, fields, key))
  }
  text <- text_type(json[["data_type"]], key)
  dtype <- if (is.null(text)) zarr_dtype(json[["data_type"]], key) else "text"
  shape <- whole_field(json[["shape"]], key, "shape", 0)
  grid <- named_field(json[["chunk_grid"]], key, "chunk_grid")
  edges <- if (grid$name == "rectilinear") grid_edges(grid, shape, key)
  chunks <- if (is.null(edges)) regular_grid(grid, shape, key) else vapply(edges, `[`, 1L, 1L)
  keys <- chunk_keys(json[["chunk_key_encoding"]], key)
  refuse_extensions(json, key)
  fill <- parse_fill(json[["fill_value"]], dtype, key)
  codecs_at <- function(chunks) {
    codecs <- codecs_of_v3(json[["codecs"]], dtype, chunks, key, text$width)
    with_fill(codecs, fill, key)
  }
  codecs <- codecs_at(chunks)
  if (is.null(edges)) codecs <- opened_shard(codecs)
  if (!is.null(edges) && dtype == "text") {
    stop_field(key, "chunk_grid", "is \"rectilinear\", which joist does not read of text")
  }
  c(
    list(
      type = "array", dtype = dtype, shape = shape, fill = fill, edges = edges,
      codecs_at = if (!is.null(edges)) codecs_at,
      attributes = plain_json(attributes),
      dimension_names = dimension_names(json[["dimension_names"]], length(shape), key)
    ),
    keys, codecs
  )
}

zarr_dtype <- function(x, key) {
  name <- if (is_text_json(x)) as.character(x) else named_field(x, key, "data_type")$name
  at <- match(name, zarr_names())
  if (is.na(at)) {
    stop_joist(
      "joist_dtype_error", key, ": `data_type` is \"", name, "\", which joist does not have"
    )
  }
  dtypes()[at]
}

zarr_name <- function(dtype) {
  switch(format(as_dtype(dtype)),
    c32 = "complex_float16", bc32 = "complex_bfloat16", format(as_dtype(dtype), style = "jax")
  )
}

zarr_names <- function() vapply(dtypes(), zarr_name, "")

regular_grid <- function(grid, shape, key) {
  if (grid$name != "regular") {
    stop_field(
      key, "chunk_grid", "is \"", grid$name, "\"; joist reads \"regular\" and \"rectilinear\""
    )
  }
  check_chunks(whole_field(grid$configuration[["chunk_shape"]], key, "chunk_shape", 1), shape, key)
}

check_chunks <- function(chunks, shape, key, field = "chunk_shape") {
  if (length(chunks) != length(shape)) {
    stop_field(key, field, "must have ", length(shape), " extents, as `shape`")
  }
  chunks
}

chunk_keys <- function(x, key) {
  encoding <- named_field(x, key, "chunk_key_encoding")
  if (!encoding$name %in% c("default", "v2")) {
    stop_field(key, "chunk_key_encoding", "is \"", encoding$name, "\", which is not known")
  }
  separator <- encoding$configuration[["separator"]]
  if (is.null(separator)) separator <- if (encoding$name == "default") "/" else "."
  check_separator(separator, key, "separator")
  list(separator = separator, prefix = if (encoding$name == "default") "c" else "")
}

check_separator <- function(x, key, field) {
  if (!is_text_json(x) || !x %in% c("/", ".")) stop_field(key, field, "must be \"/\" or \".\"")
}

# The fill value of missing chunks, also of shards within shards.
with_fill <- function(codecs, fill, key) {
  if (!is.null(codecs$within)) {
    codecs$within <- with_fill(codecs$within, fill_within(fill, codecs$steps, key), key)
  }
  if (!is.null(codecs$inside)) {
    codecs$inside <- with_fill(codecs$inside, fill, key)
    codecs$inside$fill <- fill
  }
  codecs
}

# If there is nothing around the shards of an array, its chunks are those in the shards.
opened_shard <- function(codecs) {
  inside <- codecs$inside
  around <- length(codecs$codecs) > 0L || length(codecs$filters) > 0L ||
    !identical(codecs$order, seq_along(codecs$order))
  if (is.null(inside) || around) {
    return(codecs)
  }
  own <- c(
    "chunks", "order", "swapped", "codecs", "filters", "inside", "width", "packed", "steps",
    "within"
  )
  c(inside[names(inside) %in% own], list(shard = inside$shard_of))
}

codecs_of_v3 <- function(x, dtype, chunks, key, width = NULL) {
  if (!is.list(x) || !is.null(names(x)) || length(x) == 0L) {
    stop_field(key, "codecs", "must be a list of codecs")
  }
  all <- lapply(x, named_field, key, "codecs")
  last <- max(0L, which(vapply(all, function(codec) codec$name %in% step_names, NA)))
  if (last > 0L) {
    if (dtype == "text") stop_field(key, "codecs", "has \"", all[[last]]$name, "\" of text")
    return(stepped_codecs(x, all, last, dtype, chunks, key))
  }
  first <- first_codecs(all, length(chunks), key)
  all <- first$rest
  varies <- dtype == "text" && is.null(width)
  check_serializer(all, c(
    if (varies) "vlen-utf8" else "bytes", "sharding_indexed", if (dtype != "text") "packbits"
  ), key)
  how <- all[[1L]]$configuration
  size <- if (dtype != "text") .Call(joist_r_dtype_size, nv_aval(dtype)) else width
  sharded <- all[[1L]]$name == "sharding_indexed"
  packed <- if (all[[1L]]$name == "packbits") packbits_in(how, dtype, key)
  codecs <- lapply(all[-1L], function(codec) c(list(name = codec$name), codec$configuration))
  for (codec in codecs) check_codec(codec$name, key)
  c(
    list(
      chunks = chunks, order = first$order, codecs = codecs,
      filters = filters_of(first$filters, key),
      swapped = if (!is.null(packed)) {
        .Platform$endian == "big"
      } else {
        !sharded && !varies && is_other_order(how[["endian"]], size, key)
      },
      dtype = dtype, size = size, width = width, packed = packed
    ),
    if (sharded) list(inside = shard_in(how, dtype, chunks[first$order], key, width))
  )
}

# Array codecs must be followed by one that makes bytes.
check_serializer <- function(codecs, known, key) {
  if (length(codecs) == 0L || !codecs[[1L]]$name %in% known) {
    there <- if (length(codecs) > 0L) paste0("the codec \"", codecs[[1L]]$name, "\"") else "nothing"
    stop_field(
      key, "codecs", "has ", there, " where joist reads ",
      paste0("\"", known, "\"", collapse = " or ")
    )
  }
}

# Those that change elements: the order of the dims, filters, and the rest.
first_codecs <- function(all, rank, key) {
  order <- seq_len(rank)
  while (length(all) > 0L && all[[1L]]$name == "transpose") {
    one <- transposed_order(all[[1L]]$configuration[["order"]], rank, key)
    order <- order[one]
    all <- all[-1L]
  }
  filters <- list()
  while (length(all) > 0L && startsWith(all[[1L]]$name, "numcodecs.")) {
    id <- sub("numcodecs.", "", all[[1L]]$name, fixed = TRUE)
    filters <- c(filters, list(c(list(id = id), all[[1L]]$configuration)))
    all <- all[-1L]
  }
  list(order = order, filters = filters, rest = all)
}

is_other_order <- function(endian, size, key) {
  if (is.null(endian) && size == 1) {
    return(FALSE)
  }
  endian <- text_field(endian, key, "endian")
  if (!endian %in% c("little", "big")) stop_field(key, "endian", "must be little or big")
  endian != .Platform$endian
}

# The format of the chunks of a shard, and as `shard_of` what chunked-zarr_shards.R says.
shard_in <- function(how, dtype, extents, key, width) {
  chunks <- whole_field(how[["chunk_shape"]], key, "chunk_shape", 1)
  check_chunks(chunks, extents, key)
  if (any(extents %% chunks != 0L)) {
    stop_field(
      key, "chunk_shape", "of the chunks of a shard, ", toString(chunks), ", must divide ",
      toString(extents)
    )
  }
  first <- how[["index_location"]]
  first <- if (is.null(first)) "end" else text_field(first, key, "index_location")
  if (!first %in% c("start", "end")) stop_field(key, "index_location", "must be start or end")
  steps <- how[["index_codecs"]]
  if (!is.list(steps) || !is.null(names(steps))) {
    stop_field(key, "index_codecs", "must be a list of codecs")
  }
  steps <- lapply(steps, named_field, key, "index_codecs")
  names <- vapply(steps, function(step) step$name, "")
  if (!identical(names, "bytes") && !identical(names, c("bytes", "crc32c"))) {
    stop_field(
      key, "index_codecs", "has ", toString(names), "; joist reads \"bytes\", with \"crc32c\""
    )
  }
  inside <- codecs_of_v3(how[["codecs"]], dtype, chunks, key, width)
  inside$shard_of <- list(
    extents = extents, counts = extents %/% chunks, first = first == "start",
    swapped = is_other_order(steps[[1L]]$configuration[["endian"]], 8, key),
    sum = length(names) == 2L
  )
  inside
}

transposed_order <- function(x, rank, key) {
  order <- if (identical(x, "C")) {
    seq_len(rank)
  } else if (identical(x, "F")) {
    rev(seq_len(rank))
  } else {
    whole_field(x, key, "order", 0) + 1L
  }
  if (!identical(sort(order), seq_len(rank))) {
    stop_field(key, "order", "must have every dimension once, from 0 on")
  }
  order
}

dimension_names <- function(x, rank, key) {
  if (is.null(x)) {
    return(NULL)
  }
  fits <- is.list(x) && length(x) == rank &&
    all(vapply(x, function(one) is.null(one) || is_text_json(one), TRUE))
  if (!fits) stop_field(key, "dimension_names", "must have a text or null for each dimension")
  vapply(x, function(one) if (is.null(one)) NA_character_ else as.character(one), "")
}

refuse_extensions <- function(json, key) {
  known <- c(
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
    "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers",
    "consolidated_metadata"
  )
  if (length(json[["storage_transformers"]]) > 0L) {
    stop_field(key, "storage_transformers", "must be empty")
  }
  for (field in setdiff(names(json), known)) {
    if (!is_object_json(json[[field]]) || !isFALSE(json[[field]][["must_understand"]])) {
      stop_field(key, field, "is not known")
    }
  }
}

# ---- version 2 ----

metadata_of_v2 <- function(json, key) {
  if (!is_object_json(json)) stop_joist("joist_value_error", key, ": is not a JSON object")
  if (!identical(as.character(json[["zarr_format"]]), "2")) {
    stop_field(key, "zarr_format", "must be 2")
  }
  shape <- whole_field(json[["shape"]], key, "shape", 0)
  chunks <- check_chunks(whole_field(json[["chunks"]], key, "chunks", 1), shape, key, "chunks")
  filters <- json[["filters"]]
  type <- text_type_v2(json[["dtype"]], filters, key)
  if (is.null(type)) type <- dtype_of_v2(json[["dtype"]], key) else filters <- NULL
  order <- text_field(json[["order"]], key, "order")
  if (!order %in% c("C", "F")) stop_field(key, "order", "must be \"C\" or \"F\"")
  separator <- json[["dimension_separator"]]
  if (is.null(separator)) separator <- "."
  check_separator(separator, key, "dimension_separator")
  fill <- parse_fill(json[["fill_value"]], type$dtype, key)
  list(
    type = "array", dtype = type$dtype, shape = shape, chunks = chunks,
    fill = fill, dimension_names = NULL, cf_fill = if (!is.null(json[["fill_value"]])) fill,
    separator = separator, prefix = "",
    order = if (order == "C") seq_along(shape) else rev(seq_along(shape)),
    swapped = type$swapped, codecs = codecs_of_v2(json[["compressor"]], key),
    filters = filters_of(filters, key), width = type$width
  )
}

dtype_of_v2 <- function(x, key) {
  text <- text_field(x, key, "dtype")
  code <- substring(text, 2L)
  known <- vapply(dtypes(), function(dtype) {
    if (dtype == "bool") "b1" else format(as_dtype(dtype), style = "numpy")
  }, "")
  known <- known[is_numpy_code(known)]
  # TensorStore names those that NumPy lacks as version 3 does.
  at <- match(text, zarr_names())
  if (!is.na(at)) {
    return(list(dtype = dtypes()[at], swapped = .Platform$endian == "big"))
  }
  at <- match(code, known)
  if (is.na(at) || !substr(text, 1L, 1L) %in% c("<", ">", "|")) {
    stop_joist(
      "joist_dtype_error", key, ": `dtype` is \"", text, "\", which joist does not have"
    )
  }
  big <- startsWith(text, ">")
  list(dtype = names(known)[at], swapped = big != (.Platform$endian == "big"))
}

codecs_of_v2 <- function(x, key) {
  if (is.null(x)) {
    return(list())
  }
  if (!is_object_json(x) || !is_text_json(x[["id"]])) stop_field(key, "compressor", "has no `id`")
  check_codec(as.character(x[["id"]]), key, "compressor")
  list(c(list(name = as.character(x[["id"]])), x[names(x) != "id"]))
}

# ---- fill values ----

parse_fill <- function(x, dtype, key) {
  if (dtype == "text") {
    return(if (is_text_json(x)) as.character(x) else NA_character_)
  }
  wrong <- function(...) stop_field(key, "fill_value", "is not a value of ", dtype)
  if (is.null(x)) {
    return(zero_or_one(dtype))
  }
  kind <- dtype_kind(nv_aval(dtype))
  fill <- tryCatch(
    switch(kind,
      bool = if (isTRUE(x) || isFALSE(x)) nv_scalar(x) else wrong(),
      int = ,
      uint = fill_integer(x, dtype),
      float = fill_float(x, dtype),
      complex = fill_complex(x, dtype)
    ),
    joist_error = wrong
  )
  if (is.null(fill)) wrong() else fill
}

# A format of scales has no 0.
zero_or_one <- function(dtype) {
  if (dtype == "bool") {
    return(nv_scalar(FALSE))
  }
  tryCatch(nv_scalar(0L, dtype), joist_value_error = function(e) nv_scalar(1L, dtype))
}

fill_integer <- function(x, dtype) {
  if (inherits(x, "json_number") && grepl("^-?[0-9]+([.]0*)?$", x)) {
    number <- sub("[.].*", "", unclass(x))
    nv_convert_exactly(number, dtype)
  }
}

# Parses an integer; fails if the dtype cannot hold it.
nv_convert_exactly <- function(text, dtype) {
  if (dtype %in% c("i64", "ui64")) nv_scalar(text, dtype) else nv_scalar(as.numeric(text), dtype)
}

fill_float <- function(x, dtype) {
  if (inherits(x, "json_number")) {
    number <- as.numeric(x)
    # TensorStore writes this for the least value of a format without a zero.
    if (dtype == "f8E8M0FNU" && x == "0.0") {
      return(nv_bitcast_convert(nv_scalar(0L, "ui8"), dtype))
    }
    value <- nv_convert(nv_scalar(number, "f64"), dtype)
    return(if (!as_array(nv_is_nan(value))) value)
  }
  if (!is_text_json(x)) {
    return(NULL)
  }
  special <- list("NaN" = NaN, "Infinity" = Inf, "-Infinity" = -Inf)
  if (x %in% names(special)) {
    return(nv_scalar(special[[x]], dtype))
  }
  digits <- 2L * .Call(joist_r_dtype_size, nv_aval(dtype))
  if (grepl(sprintf("^0x[0-9a-fA-F]{%d}$", digits), x)) {
    pairs <- substring(x, seq(3L, digits + 1L, 2L), seq(4L, digits + 2L, 2L))
    nv_read_bin(as.raw(strtoi(pairs, 16L)), dtype, integer(), endian = "big")
  }
}

fill_complex <- function(x, dtype) {
  part <- format(dtype_info(dtype)$real)
  if (inherits(x, "json_number")) x <- list(x, structure("0", class = "json_number"))
  if (!is.list(x) || length(x) != 2L) {
    return(NULL)
  }
  parts <- lapply(x, fill_float, part)
  if (!is.null(parts[[1L]]) && !is.null(parts[[2L]])) {
    bytes <- c(nv_write_bin(parts[[1L]]), nv_write_bin(parts[[2L]]))
    nv_read_bin(bytes, dtype, integer())
  }
}

format_fill <- function(fill, dtype) {
  switch(dtype_kind(fill),
    bool = if (as_array(fill)) "true" else "false",
    int = ,
    uint = as_array(fill, "character"),
    float = format_float(fill),
    complex = {
      parts <- list(nv_real(fill), nv_imag(fill))
      paste0("[", paste(vapply(parts, format_float, ""), collapse = ","), "]")
    }
  )
}

# The bits where JSON has no number for it.
format_float <- function(x) {
  value <- as_array(nv_convert(x, "f64"))
  if (!is.na(value)) {
    infinite <- paste0("\"", if (value < 0) "-", "Infinity\"")
    return(if (is.finite(value)) exact_number(value) else infinite)
  }
  bytes <- nv_write_bin(x, endian = "big")
  plain <- nv_write_bin(parse_fill("NaN", format(dtype(x)), ""), endian = "big")
  if (identical(bytes, plain)) "\"NaN\"" else paste0("\"0x", paste(bytes, collapse = ""), "\"")
}

exact_number <- function(x) {
  if (x == 0 && 1 / x < 0) {
    return("-0.0")
  }
  short <- format(x, digits = 15L, decimal.mark = ".")
  if (as.numeric(short) == x) short else format(x, digits = 17L, decimal.mark = ".")
}

# ---- writing ----

format_metadata <- function(array) {
  shown <- function(x) as_json(lapply(x, json_one))
  size <- .Call(joist_r_dtype_size, nv_aval(array$dtype))
  codecs <- c(
    if (!identical(array$order, seq_along(array$shape))) {
      sprintf("{\"name\":\"transpose\",\"configuration\":{\"order\":%s}}", shown(array$order - 1L))
    },
    array$steps,
    if (!is.null(array$packed)) {
      array$packed
    } else {
      sprintf(
        "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}",
        if (array$swapped == (.Platform$endian == "little")) "big" else "little"
      )
    },
    vapply(array$codecs, format_codec, "", size)
  )
  shard <- array$shard
  if (!is.null(shard)) {
    codecs <- sprintf(
      paste0(
        "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":%s,\"codecs\":[%s],",
        "\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},",
        "{\"name\":\"crc32c\"}],\"index_location\":\"end\"}}"
      ), shown(array$chunks), paste(codecs, collapse = ",")
    )
  }
  names <- array$dimension_names
  fields <- c(
    zarr_format = "3", node_type = "\"array\"", shape = shown(array$shape),
    data_type = json_strings(zarr_name(array$dtype)),
    chunk_grid = sprintf(
      "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":%s}}", shown(unit_extents(array))
    ),
    chunk_key_encoding = sprintf(
      "{\"name\":\"default\",\"configuration\":{\"separator\":\"%s\"}}", array$separator
    ),
    fill_value = format_fill(array$fill), codecs = paste0("[", paste(codecs, collapse = ","), "]"),
    attributes = attributes_json(array$attributes),
    dimension_names = if (!is.null(names)) shown(names)
  )
  format_object(fields)
}

# The argument `codecs`: of steps and of `packbits` the JSON, of others what arrays have.
given_codecs <- function(x) {
  lists <- function(x) (is.character(x) || is.list(x)) && !is.object(x)
  x <- if (lists(x)) lapply(x, function(one) if (lists(one)) as.list(one)) else list(NULL)
  names <- vapply(x, function(one) {
    if (length(one) > 0L && is_text_json(one[[1L]]) && length(one[[1L]]) == 1L) one[[1L]] else ""
  }, "")
  own <- c(step_names, "packbits")
  if (!all(names %in% c(own, zarr_codecs()))) {
    stop_joist(
      "joist_value_error", "`codecs` must be ", toString(own), ", or among ",
      toString(zarr_codecs())
    )
  }
  kinds <- ifelse(names %in% step_names, 1L, ifelse(names == "packbits", 2L, 3L))
  named <- vapply(x, function(one) length(one) == 1L || has_names(one[-1L]), NA)
  if (is.unsorted(kinds) || !all(named) || any(kinds == 3L & lengths(x) > 1L)) {
    stop_joist(
      "joist_value_error", "`codecs` must begin with those that change elements, ", toString(own),
      ", which alone have a configuration, with names"
    )
  }
  text <- vapply(x, function(one) {
    how <- one[-1L]
    type <- how[["data_type"]]
    if (isTRUE(format(type) %in% dtypes())) how[["data_type"]] <- zarr_name(type)
    if (!is.null(how[["shape"]])) how[["shape"]] <- as.list(how[["shape"]])
    value_json(c(list(name = one[[1L]]), if (length(how) > 0L) list(configuration = how)))
  }, "")
  list(
    steps = if (any(kinds == 1L)) text[kinds == 1L],
    packed = if (any(kinds == 2L)) text[kinds == 2L],
    bytes = lapply(names[kinds == 3L], function(name) list(name = name))
  )
}

format_object <- function(fields) {
  paste0("{\n", paste0("  \"", names(fields), "\": ", fields, collapse = ",\n"), "\n}\n")
}

# With the settings that compression.c has.
format_codec <- function(codec, size) {
  settings <- switch(codec$name,
    gzip = sprintf("\"level\":%d", gzip_level),
    zstd = "\"level\":3,\"checksum\":false",
    blosc = sprintf(paste0(
      "\"cname\":\"lz4\",\"clevel\":5,\"shuffle\":\"shuffle\",\"typesize\":%d,\"blocksize\":0"
    ), size)
  )
  configuration <- if (!is.null(settings)) paste0(",\"configuration\":{", settings, "}")
  paste0("{\"name\":\"", codec$name, "\"", configuration, "}")
}

format_group <- function(attributes) {
  format_object(c(
    zarr_format = "3", node_type = "\"group\"", attributes = attributes_json(attributes)
  ))
}

# A vector of length 1 is a value by itself; all digits of numbers.
attributes_json <- function(x) if (length(x) == 0L) "{}" else value_json(x)

value_json <- function(x) {
  if (is.null(x)) {
    return("null")
  }
  if (is.list(x)) {
    parts <- vapply(x, value_json, "", USE.NAMES = FALSE)
    named <- !is.null(names(x))
    if (named) parts <- paste0(json_strings(names(x)), ":", parts)
    return(paste0(if (named) "{" else "[", paste(parts, collapse = ","), if (named) "}" else "]"))
  }
  parts <- if (is.double(x)) {
    vapply(x, function(one) {
      if (is.finite(one)) {
        return(exact_number(one))
      }
      if (is.nan(one) || !is.na(one)) {
        stop_joist(
          "joist_value_error", "attributes are JSON, which has no ", one, "; give it as a string"
        )
      }
      "null"
    }, "")
  } else {
    json_atoms(x)
  }
  if (length(x) == 1L) parts else paste0("[", paste(parts, collapse = ","), "]")
}
