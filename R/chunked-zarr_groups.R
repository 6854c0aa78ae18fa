# Groups of Zarr stores, and their consolidated metadata: that of all members in one place, which a
# store has to have that cannot list its keys.

open_group <- function(store, node, metadata, na, cf = FALSE) {
  if (is.null(store$list) && is.null(store$known)) {
    store$known <- known_metadata(store, node, metadata)
    if (is.null(store$known)) {
      stop_joist(
        "joist_value_error", "\"", store$name, "\" is a group that cannot say what it has; open ",
        "its arrays by `node`"
      )
    }
  }
  inside <- if (is.null(store$known)) listed(store, node) else names_in(store$known, node)
  members <- lapply(inside, function(name) {
    open_node(store, paste0(node, name, "/"), na, cf)
  })
  names(members) <- inside
  where <- paste0(store$name, "/", node)
  sparse <- sparse_tensor(members, metadata$attributes, where)
  if (!is.null(sparse)) {
    return(sparse)
  }
  text <- text_with_gaps(members, metadata$attributes, where)
  if (is.null(text)) structure(members, zarr_attributes = metadata$attributes) else text
}

# Text of AnnData with missing values, `mask`, as a character vector; NULL for another group.
text_with_gaps <- function(members, attributes, where) {
  if (!identical(attributes[["encoding-type"]], "nullable-string-array") ||
    !is.character(members$values)) {
    return(NULL)
  }
  mask <- members$mask
  if (!is_chunked(mask) || dtype(mask) != "bool" || length(mask) != length(members$values)) {
    stop_field(where, "mask", "must be as many truths as `values`")
  }
  replace(members$values, which(as.vector(as_array(nv_compute(mask)))), NA)
}

marks_of <- function(node) paste0(node, c("zarr.json", ".zarray", ".zgroup"))

# The names of the arrays and groups in a group.
listed <- function(store, node) {
  inside <- sort(store$list(node))
  inside[vapply(inside, function(name) {
    any(vapply(marks_of(paste0(node, name, "/")), store$exists, TRUE))
  }, TRUE)]
}

names_in <- function(known, node) {
  keys <- names(known)
  keys <- grep("/", substring(keys[startsWith(keys, node)], nchar(node) + 1), value = TRUE)
  sort(unique(sub("/.*", "", keys)))
}

# Parsed metadata by their keys; NULL where they are not consolidated.
known_metadata <- function(store, node, metadata) {
  found <- metadata$consolidated
  if (!is.null(found)) {
    names(found) <- paste0(node, names(found), "/zarr.json", recycle0 = TRUE)
    return(found)
  }
  key <- paste0(node, ".zmetadata")
  bytes <- store$get(key)
  if (is.null(bytes)) {
    return(NULL)
  }
  found <- parse_json(bytes, key)[["metadata"]]
  if (!is_object_json(found)) stop_field(key, "metadata", "must be an object")
  names(found) <- paste0(node, names(found), recycle0 = TRUE)
  found
}

# The metadata at a key, parsed; NULL where there is none.
metadata_at <- function(store, key) {
  if (!is.null(store$known)) {
    return(store$known[[key]])
  }
  bytes <- store$get(key)
  if (!is.null(bytes)) parse_json(bytes, key)
}

consolidated_in <- function(json, key) {
  x <- json[["consolidated_metadata"]]
  if (is.null(x)) {
    return(NULL)
  }
  if (!is_object_json(x) || !is_object_json(x[["metadata"]])) {
    stop_field(key, "consolidated_metadata", "must be an object with `metadata`")
  }
  x[["metadata"]]
}

# Parsed JSON as text.
json_text <- function(x) {
  if (inherits(x, "json_number")) {
    return(unclass(x))
  }
  if (is.null(x)) {
    return("null")
  }
  if (!is.list(x)) {
    return(json_atoms(x))
  }
  parts <- vapply(x, json_text, "", USE.NAMES = FALSE)
  if (is.null(names(x))) {
    return(paste0("[", paste(parts, collapse = ","), "]"))
  }
  paste0("{", paste0(json_strings(names(x)), ":", parts, recycle0 = TRUE, collapse = ","), "}")
}

# After something was made at a node: the groups that it is in, if they have consolidated metadata,
# get that of it.
consolidate_above <- function(store, node) {
  parts <- strsplit(node, "/", fixed = TRUE)[[1L]]
  for (k in seq_along(parts) - 1L) {
    group <- if (k == 0L) "" else paste0(paste(parts[seq_len(k)], collapse = "/"), "/")
    key <- paste0(group, "zarr.json")
    json <- metadata_at(store, key)
    if (!is.null(json) && !is.null(consolidated_in(json, key))) consolidate(store, group, json)
  }
}

consolidate <- function(store, group, json) {
  known <- if (is.null(store$list)) consolidated_in(json, group) else found_below(store, group, "")
  members <- if (length(known) == 0L) structure(list(), names = character()) else known
  json[["consolidated_metadata"]] <- list(
    kind = "inline", must_understand = FALSE, metadata = members
  )
  store$put(paste0(group, "zarr.json"), charToRaw(enc2utf8(json_text(json))))
}

# The metadata of version 3 of all that is in a group.
found_below <- function(store, group, path) {
  inside <- paste0(path, listed(store, paste0(group, path)), recycle0 = TRUE)
  found <- lapply(inside, function(name) {
    key <- paste0(group, name, "/zarr.json")
    json <- metadata_at(store, key)
    json[["consolidated_metadata"]] <- NULL
    own <- if (!is.null(json)) structure(list(json), names = name)
    c(own, if (identical(as.character(json[["node_type"]]), "group")) {
      found_below(store, group, paste0(name, "/"))
    })
  })
  do.call(c, found)
}
