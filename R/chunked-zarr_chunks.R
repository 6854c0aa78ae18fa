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
    return(read_sharded(array, list(at))[[1L]])
  }
  key <- chunk_key(array, at)
  bytes <- array$store$get(key)
  if (!is.null(bytes)) about_chunk(array, key, decode_chunk(bytes, array))
}

# Several chunks. In a folder, and with codecs that C has, C does it without R, side by side; what
# it cannot read is read once more, to say what is wrong.
read_chunks <- function(array, places) {
  codecs <- own_codecs(array)
  sharded <- !is.null(array$shard)
  if (is.null(array$store$folder) || is.null(codecs)) {
    if (sharded) {
      return(read_sharded(array, places))
    }
    return(lapply(places, function(at) read_chunk(array, at)))
  }
  stored <- stored_as(array)
  chunks <- vector("list", length(places))
  there <- rep(TRUE, length(places))
  parts <- NULL
  if (sharded) {
    found <- chunk_parts(array, places)
    there <- !is.na(found$parts[1L, ])
    parts <- found$parts[, there]
    paths <- file.path(array$store$folder, found$keys[there])
  } else {
    paths <- chunk_paths(array, places)
  }
  chunks[there] <- .Call(
    joist_r_read_chunks, paths, parts, codecs, array$dtype, stored$extents, stored$c_order,
    array$swapped
  )
  for (k in which(there)) {
    chunk <- chunks[[k]]
    if (isFALSE(chunk)) {
      chunks[k] <- list(read_chunk(array, places[[k]]))
    } else if (!is.null(chunk)) {
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
    for (k in seq_along(places)) {
      array$store$put(chunk_key(array, places[[k]]), encode_chunk(chunks[[k]], array))
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

chunk_paths <- function(array, places) {
  file.path(array$store$folder, vapply(places, function(at) chunk_key(array, at), ""))
}

# The names of the codecs, NULL where C does not have all of them.
own_codecs <- function(array) {
  names <- vapply(array$codecs, function(codec) codec$name, "")
  known <- all(names %in% .Call(joist_r_codecs)) && length(names) <= 8L
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

# Calls f(at, start, stop) for each chunk that a part touches: where it is among the chunks, and
# what of it is in the part.
each_chunk <- function(start, stop, chunks, f) {
  first <- (start - 1L) %/% chunks
  last <- (stop - 1L) %/% chunks
  at <- first
  if (any(last < first)) {
    return(invisible(NULL))
  }
  repeat {
    from <- base::pmax(start, as.integer(at * chunks + 1))
    f(at + 1L, from, as.integer(base::pmin(stop, (at + 1) * chunks)))
    d <- 1L
    while (d <= length(at) && at[d] == last[d]) {
      at[d] <- first[d]
      d <- d + 1L
    }
    if (d > length(at)) {
      return(invisible(NULL))
    }
    at[d] <- at[d] + 1L
  }
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
  # Many requests at once, for chunks that are not in files.
  least <- if (is.null(array$store$folder)) base::pmax(1, 2^24 %/% bytes) else 1
  for (some in in_turns(touched_chunks(array, starts, stops), bytes, least)) {
    found <- read_chunks(array, lapply(some, function(one) one$at))
    if (any(vapply(found, is.null, TRUE))) check_there(array)
    for (j in seq_along(some)) {
      one <- some[[j]]
      k <- one$part
      extents <- stops[[k]] - starts[[k]] + 1L
      corner <- as.integer((one$at - 1L) * chunks)
      part <- if (is.null(found[[j]])) {
        filled(array, one$high - one$low + 1L)
      } else {
        part_of(found[[j]], one$low - corner, one$high - corner)
      }
      if (identical(shape(part), extents)) {
        out[[k]] <- part
      } else {
        if (is.null(out[[k]])) out[[k]] <- .Call(joist_r_blank, nv_aval(array$dtype, extents))
        at <- as.integer(one$low - starts[[k]] + 1L)
        out[[k]] <- .Call(joist_r_place, out[[k]], at, part, FALSE)
      }
    }
  }
  for (k in which(vapply(out, is.null, TRUE))) {
    out[[k]] <- filled(array, stops[[k]] - starts[[k]] + 1L)
  }
  out
}

# The chunks that each part touches, and where.
touched_chunks <- function(array, starts, stops) {
  touched <- list()
  for (k in seq_along(starts)) {
    each_chunk(starts[[k]], stops[[k]], array$chunks, function(at, low, high) {
      touched[[length(touched) + 1L]] <<- list(part = k, at = at, low = low, high = high)
    })
  }
  touched
}

# Those that are written at a time: of a shard all of them.
written_turns <- function(array, touched) {
  if (is.null(array$shard)) {
    return(in_turns(touched, prod(array$chunks) * array$size))
  }
  split(touched, shard_places(array, lapply(touched, function(one) one$at))$keys)
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
  for (some in written_turns(array, touched_chunks(array, starts, stops))) {
    made <- lapply(some, function(one) {
      start <- starts[[one$part]]
      corner <- as.integer((one$at - 1L) * array$chunks)
      part <- part_of(values[[one$part]], one$low - start + 1L, one$high - start + 1L)
      if (identical(shape(part), array$chunks)) {
        return(part)
      }
      end <- base::pmin(array$shape, corner + array$chunks)
      whole <- all(one$low == corner + 1L) && all(one$high == end)
      chunk <- if (!whole) read_chunk(array, one$at)
      if (is.null(chunk)) chunk <- filled(array, array$chunks)
      .Call(joist_r_place, chunk, as.integer(one$low - corner), part, FALSE)
    })
    write_chunks(array, lapply(some, function(one) one$at), made)
  }
}
