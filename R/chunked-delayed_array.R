# The package DelayedArray: chunked tensors as seeds of its arrays, and its arrays as chunked
# tensors. The methods are set when it is loaded; joist itself does not need it.

join_delayed_array <- function(package, ...) {
  where <- new.env(parent = topenv())
  assign(".packageName", "joist", envir = where)
  generic <- function(name) get(name, envir = asNamespace(package), mode = "function")
  setMethod(generic("extract_array"), "nv_chunked", extract_chunked, where = where)
  setMethod(generic("chunkdim"), "nv_chunked", function(x) chunks_of(x), where = where)
}

# An array of R: what its type cannot hold is an error.
extract_chunked <- function(x, index) {
  positions <- lapply(index, function(one) if (is.null(one)) NULL else as.integer(one))
  kept <- new_kept()
  program <- last_program(x, 0L, kept)
  part <- if (!is_tensor(program) && program$role == "each") {
    chosen_part(program, positions)
  } else {
    whole <- if (is_tensor(program)) program else computed(program, 0L, kept)[[1L]]
    .Call(joist_r_subset, whole, positions, FALSE, FALSE)
  }
  values <- as_array(part)
  dim(values) <- shape(part)
  values
}

# A chunked tensor of an array of DelayedArray or of a package that goes with it: a store that has
# nothing but what it extracts.
chunked_from_delayed <- function(x, chunks = NULL) {
  need_package("DelayedArray")
  kind <- get("type", asNamespace("DelayedArray"))(x)
  known <- c(logical = "bool", integer = "i32", double = "f64", complex = "c128", raw = "ui8")
  if (!kind %in% names(known)) {
    stop_joist("joist_dtype_error", "an array of type ", kind, " has no dtype")
  }
  extents <- as.integer(dim(x))
  if (is.null(chunks)) chunks <- DelayedArray::chunkdim(x)
  chunks <- if (is.null(chunks)) usual_chunks(extents) else chunk_extents(chunks, extents)
  chunks <- base::pmax(1L, chunks)
  dtype <- known[[kind]]
  fill <- parse_fill(NULL, dtype, "")
  extract <- get("extract_array", asNamespace("DelayedArray"))
  store <- nv_zarr_store(label = class(x)[1L], get = function(key) {
    at <- as.integer(strsplit(sub("^c/", "", key), "/", fixed = TRUE)[[1L]])
    start <- at * chunks
    stop <- base::pmin(extents, start + chunks)
    values <- extract(x, Map(function(low, high) seq.int(low + 1L, high), start, stop))
    part <- nv_tensor(if (is.raw(values)) as.integer(values) else values, dtype, stop - start)
    first <- rep_len(1L, length(at))
    nv_write_bin(.Call(joist_r_place, nv_broadcast_to(fill, chunks), first, part, FALSE))
  })
  zarr_tensor(store, "", list(
    type = "array", dtype = dtype, shape = extents, chunks = chunks, codecs = list(),
    fill = fill, order = rev(seq_along(extents)), swapped = FALSE,
    separator = "/", prefix = "c", attributes = NULL, dimension_names = NULL
  ))
}

#' @export
as_tensor.DelayedArray <- function(x, na = "missing", ...) { # nolint: object_name_linter.
  nv_compute(chunked_from_delayed(x))
}
