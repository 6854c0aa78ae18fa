# Parts of Zarr arrays: from `start` to `stop` in each dimension, both from 1 on.

chunk_key <- function(array, at) {
  if (isTRUE(array$reversed)) at <- rev(at)
  if (!is.null(array$key_dims)) at <- at[seq_len(array$key_dims)] # not of the bytes of an element
  path <- paste(at - 1L, collapse = array$separator)
  parts <- if (nzchar(array$prefix)) c(array$prefix, if (length(at) > 0L) path) else path
  if (length(at) == 0L && !nzchar(array$prefix)) parts <- "0"
  paste0(array$node, paste(parts, collapse = array$separator))
}

# One chunk, as large as all of them; NULL for one that is not there.
read_chunk <- function(array, at) {
  if (!is.null(array$shard)) {
    return(read_sharded(array, cbind(at))[[1L]])
  }
  key <- chunk_key(array, at)
  bytes <- array$store$get(key)
  if (!is.null(bytes)) about_chunk(array, key, decode_chunk(bytes, array))
}

# What touched_chunks() found of several chunks, as tensors; NULL for one that is not there. In a
# folder, and with codecs that C has, C does it without R, side by side; what it cannot read is read
# once more, to say what is wrong.
read_boxes <- function(array, boxes) {
  codecs <- own_codecs(array)
  sharded <- !is.null(array$shard)
  n <- ncol(boxes$at)
  low <- boxes$low - (boxes$at - 1L) * array$chunks - 1L
  extents <- boxes$high - boxes$low + 1L
  cut <- function(chunk, k) {
    if (!is.null(chunk)) part_of(chunk, low[, k] + 1L, low[, k] + extents[, k])
  }
  if (is.null(array$store$folder) || is.null(codecs)) {
    chunks <- if (sharded) {
      read_sharded(array, boxes$at)
    } else {
      if (!is.null(array$store$ahead)) array$store$ahead(unique(keys_at(array, boxes$at)))
      lapply(seq_len(n), function(k) read_chunk(array, boxes$at[, k]))
    }
    return(Map(cut, chunks, seq_len(n)))
  }
  stored <- stored_as(array)
  chunks <- vector("list", n)
  there <- rep(TRUE, n)
  parts <- NULL
  if (sharded) {
    found <- chunk_parts(array, boxes$at)
    there <- !is.na(found$parts[1L, ])
    parts <- found$parts[, there]
    paths <- file.path(array$store$folder, found$keys[there])
  } else {
    paths <- chunk_paths(array, boxes$at)
  }
  dims <- if (is.null(stored$permutation)) seq_along(array$chunks) else stored$permutation
  chunks[there] <- .Call(
    joist_r_read_chunks, paths, parts, codecs, array$dtype, stored$extents, stored$c_order,
    array$swapped, if (any(extents != array$chunks)) low[dims, there], extents[dims, there]
  )
  for (k in which(there)) {
    chunk <- chunks[[k]]
    if (isFALSE(chunk)) {
      chunks[k] <- list(cut(read_chunk(array, boxes$at[, k]), k))
    } else if (!is.null(chunk) && !is.null(stored$permutation)) {
      chunks[[k]] <- from_stored(chunk, array, stored)
    }
  }
  chunks
}

write_chunks <- function(array, places, chunks) {
  chunks <- lapply(chunks, filled_for, array, "a chunk")
  codecs <- own_codecs(array)
  if (!is.null(array$shard)) {
    return(write_sharded(array, places, chunks))
  }
  if (is.null(array$store$folder) || is.null(codecs)) {
    for (k in seq_along(chunks)) {
      array$store$put(chunk_key(array, places[, k]), encode_chunk(chunks[[k]], array))
    }
    return(invisible(NULL))
  }
  stored <- stored_as(array)
  paths <- chunk_paths(array, places)
  for (folder in unique(dirname(paths))) {
    if (!dir.exists(folder)) dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  }
  chunks <- lapply(chunks, to_stored, stored)
  .Call(joist_r_write_chunks, chunks, paths, codecs, stored$c_order, array$swapped)
  invisible(NULL)
}

# A tensor without missing values, to be written to the array.
filled_for <- function(x, array, name) {
  filled_missing(
    x, array$na, "Zarr arrays", name,
    "nv_zarr() and nv_store() take `na =`, the value to write instead"
  )
}

keys_at <- function(array, places) {
  vapply(seq_len(ncol(places)), function(k) chunk_key(array, places[, k]), "")
}

chunk_paths <- function(array, places) {
  file.path(array$store$folder, keys_at(array, places))
}

# The names of the codecs, NULL where C does not have all of them.
own_codecs <- function(array) {
  names <- vapply(array$codecs, function(codec) codec$name, "")
  known <- all(names %in% core_codecs()) && length(names) <= 8L
  plain <- is.null(array$inside) && is.null(array$steps) && is.null(array$packed)
  if (known && length(array$filters) == 0L && plain) names
}

filled <- function(array, extents) nv_broadcast_to(array$fill, extents)

# Takes what is from `start` to `stop` of a tensor.
part_of <- function(x, start, stop) {
  if (all(start == 1L) && all(stop == shape(x))) {
    return(x)
  }
  .Call(joist_r_subset, x, Map(positions_from, start, stop - start + 1L), FALSE, FALSE)
}

positions_from <- function(start, n) seq.int(start, length.out = n)

# The chunks that a part touches, a column each of three matrices: where it is among the chunks
# (`at`), and what of it is in the part, from `low` to `high`.
chunk_boxes <- function(start, stop, chunks) {
  first <- (start - 1L) %/% chunks
  counts <- base::pmax((stop - 1L) %/% chunks - first + 1L, 0L)
  n <- prod(counts)
  at <- matrix(0, length(chunks), n)
  step <- 1
  for (d in seq_along(counts)) {
    at[d, ] <- rep(first[d] + seq_len(counts[d]), each = step, length.out = n)
    step <- step * counts[d]
  }
  boxes <- list(
    at = at, low = base::pmax((at - 1) * chunks + 1, start), high = base::pmin(at * chunks, stop)
  )
  lapply(boxes, function(one) {
    storage.mode(one) <- "integer"
    one
  })
}

each_chunk <- function(start, stop, chunks, f) {
  boxes <- chunk_boxes(start, stop, chunks)
  for (k in seq_len(ncol(boxes$at))) f(boxes$at[, k], boxes$low[, k], boxes$high[, k])
}

# A chunk that is not there has the fill value, but not in an array that is not there either, whose
# folder was moved, or is not seen by a worker.
check_there <- function(array) {
  if (!any(vapply(paste0(array$node, c("zarr.json", ".zarray")), array$store$exists, TRUE))) {
    stop_joist(
      "joist_value_error", "the array is no longer at \"", array$store$name, "\"",
      if (nzchar(array$node)) paste0(", ", sub("/$", "", array$node))
    )
  }
}

# The parts from each of `starts` to the same of `stops`.
read_parts <- function(array, starts, stops) {
  if (!is.null(array$read)) {
    return(read_derived(array, starts, stops))
  }
  chunks <- array$chunks
  out <- vector("list", length(starts))
  if (is.null(array$indexes)) array$indexes <- new.env(parent = emptyenv())
  bytes <- prod(chunks) * array$size
  least <- if (is.null(array$store$folder)) asked_at_once(bytes) else 1
  boxes <- touched_chunks(array, starts, stops)
  for (some in in_turns(seq_along(boxes$part), bytes, least)) {
    found <- read_boxes(array, lapply(boxes[-1L], function(one) one[, some, drop = FALSE]))
    if (any(vapply(found, is.null, TRUE))) check_there(array)
    for (j in seq_along(some)) {
      k <- boxes$part[some[j]]
      low <- boxes$low[, some[j]]
      extents <- stops[[k]] - starts[[k]] + 1L
      part <- found[[j]]
      if (is.null(part)) part <- filled(array, boxes$high[, some[j]] - low + 1L)
      if (identical(shape(part), extents)) {
        out[[k]] <- part
      } else {
        if (is.null(out[[k]])) out[[k]] <- .Call(joist_r_blank, nv_aval(array$dtype, extents))
        out[[k]] <- .Call(joist_r_place, out[[k]], low - starts[[k]] + 1L, part, FALSE)
      }
    }
  }
  for (k in which(vapply(out, is.null, TRUE))) {
    out[[k]] <- filled(array, stops[[k]] - starts[[k]] + 1L)
  }
  out
}

# Whether an array is of a server or of a user's functions, which get many requests at once.
is_far <- function(array) !is.null(array) && is_stored(array) && is.null(array$store$folder)
asked_at_once <- function(bytes) max(1, 2^24 %/% max(1, bytes))

# The boxes of chunks that parts touch, and which `part` each is of.
touched_chunks <- function(array, starts, stops) {
  boxes <- Map(chunk_boxes, starts, stops, list(array$chunks))
  part <- rep(seq_along(boxes), vapply(boxes, function(one) ncol(one$at), 1L))
  if (length(boxes) == 1L) {
    return(c(list(part = part), boxes[[1L]]))
  }
  together <- function(what) do.call(cbind, lapply(boxes, `[[`, what))
  list(part = part, at = together("at"), low = together("low"), high = together("high"))
}

# Those that are written at a time: of a shard all of them.
written_turns <- function(array, boxes) {
  all <- seq_along(boxes$part)
  if (is.null(array$shard)) {
    return(in_turns(all, prod(array$chunks) * array$size))
  }
  split(all, shard_places(array, boxes$at)$keys)
}

# What chunked tensors may take beside the tensors of the session.
memory_budget <- function() {
  budget <- getOption("joist.memory", 2^28)
  if (!is.numeric(budget) || length(budget) != 1L || is.na(budget) || budget <= 0) {
    stop_joist("joist_value_error", "the option `joist.memory` must be a number of bytes")
  }
  budget
}

# As many at a time as there are threads, of a part of the budget, but at least `least`.
in_turns <- function(all, bytes, least = 1) {
  if (length(all) == 0L) {
    return(list())
  }
  n <- length(all)
  at_once <- max(least, min(nv_get_threads(), (memory_budget() / 4) %/% max(1, bytes)))
  lapply(seq.int(1, n, at_once), function(first) all[seq.int(first, min(n, first + at_once - 1))])
}

# Writes `values` from `starts` on. Chunks that are not written as a whole are read before.
write_parts <- function(array, starts, values) {
  stops <- Map(function(start, value) start + shape(value) - 1L, starts, values)
  boxes <- touched_chunks(array, starts, stops)
  for (some in written_turns(array, boxes)) {
    made <- lapply(some, function(k) {
      start <- starts[[boxes$part[k]]]
      low <- boxes$low[, k]
      high <- boxes$high[, k]
      corner <- as.integer((boxes$at[, k] - 1L) * array$chunks)
      part <- part_of(values[[boxes$part[k]]], low - start + 1L, high - start + 1L)
      if (identical(shape(part), array$chunks)) {
        return(part)
      }
      whole <- all(low == corner + 1L & high == base::pmin(array$shape, corner + array$chunks))
      chunk <- if (!whole) read_chunk(array, boxes$at[, k])
      if (is.null(chunk)) chunk <- filled(array, array$chunks)
      .Call(joist_r_place, chunk, as.integer(low - corner), part, FALSE)
    })
    write_chunks(array, boxes$at[, some, drop = FALSE], made)
  }
}
