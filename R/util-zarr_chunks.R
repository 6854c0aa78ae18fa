# Parts of Zarr arrays: from `start` to `stop` in each dimension, both from 1 on.

chunk_key <- function(array, at) {
  path <- paste(at - 1L, collapse = array$separator)
  parts <- if (nzchar(array$prefix)) c(array$prefix, if (length(at) > 0L) path) else path
  if (length(at) == 0L && !nzchar(array$prefix)) parts <- "0"
  paste0(array$node, paste(parts, collapse = array$separator))
}

# One chunk, as large as all of them; NULL for one that is not there.
read_chunk <- function(array, at) {
  key <- chunk_key(array, at)
  bytes <- array$store$get(key)
  if (is.null(bytes)) {
    return(NULL)
  }
  tryCatch(decode_chunk(bytes, array), error = function(e) {
    stop_joist(
      "joist_value_error", "chunk \"", key, "\" of ", array$store$name, " cannot be read: ",
      conditionMessage(e)
    )
  })
}

write_chunk <- function(array, at, chunk) {
  array$store$put(chunk_key(array, at), encode_chunk(chunk, array))
}

filled <- function(array, extents) nv_broadcast_to(array$fill, extents)

# Takes what is from `start` to `stop` of a tensor.
part_of <- function(x, start, stop) {
  if (all(start == 1L) && all(stop == shape(x))) {
    return(x)
  }
  .Call(joist_r_subset, x, Map(positions_from, start, stop - start + 1L), FALSE, FALSE)
}

# Puts a part from `start` on into `x`, which nobody else has.
put_part <- function(x, start, part) {
  if (length(start) == 0L || identical(shape(x), shape(part))) {
    return(part)
  }
  .Call(joist_r_assign, x, Map(positions_from, start, shape(part)), part, TRUE, FALSE)
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
    f(at + 1L, pmax(start, as.integer(at * chunks + 1)), as.integer(pmin(stop, (at + 1) * chunks)))
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

read_part <- function(array, start, stop) {
  chunks <- array$chunks
  extents <- stop - start + 1L
  from <- (start - 1L) %/% chunks
  if (all(from == (stop - 1L) %/% chunks)) {
    chunk <- read_chunk(array, from + 1L)
    if (is.null(chunk)) {
      return(filled(array, extents))
    }
    corner <- as.integer(from * chunks)
    return(part_of(chunk, start - corner, stop - corner))
  }
  out <- filled(array, extents)
  each_chunk(start, stop, chunks, function(at, low, high) {
    chunk <- read_chunk(array, at)
    if (is.null(chunk)) {
      return()
    }
    corner <- as.integer((at - 1L) * chunks)
    out <<- put_part(out, low - start + 1L, part_of(chunk, low - corner, high - corner))
  })
  out
}

# Chunks that are not written as a whole are read before.
write_part <- function(array, start, value) {
  stop <- start + shape(value) - 1L
  each_chunk(start, stop, array$chunks, function(at, low, high) {
    corner <- as.integer((at - 1L) * array$chunks)
    end <- pmin(array$shape, corner + array$chunks)
    part <- part_of(value, low - start + 1L, high - start + 1L)
    whole <- all(low == corner + 1L) && all(high == end)
    if (!identical(shape(part), array$chunks)) {
      chunk <- if (!whole) read_chunk(array, at)
      if (is.null(chunk)) chunk <- filled(array, array$chunks)
      part <- put_part(chunk, low - corner, part)
    }
    write_chunk(array, at, part)
  })
}

# How many chunks there are along each dimension.
chunk_counts <- function(shape, chunks) as.integer(ceiling(shape / chunks))
