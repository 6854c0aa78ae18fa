# Shards of Zarr arrays: files of several chunks, with an index that says where each of them is. An
# array of shards has a `shard`: a list of its `extents`, the `counts` of its chunks, and of the
# index whether it is at the start (`first`), `swapped`, and has a `sum`. The chunks and their
# codecs are those of the array.

# What is written at once: a shard, or a chunk that has a key of its own.
unit_extents <- function(array) {
  if (is.null(array$shard)) array$chunks else array$shard$extents
}

# The shards of a new array, from the argument `shards`.
new_shard <- function(shards, array, size) {
  chunks <- array$chunks
  extents <- if (is.null(shards)) {
    usual_shards(array$shape, chunks, size)
  } else if (!isFALSE(shards)) {
    given <- per_dimension(shards, length(chunks), "shards")
    if (any(given < 1L | given %% chunks != 0L)) {
      stop_joist(
        "joist_shape_error", "`shards` must be multiples of the extents of a chunk, ",
        toString(chunks)
      )
    }
    given
  }
  if (!is.null(extents)) {
    list(
      extents = extents, counts = extents %/% chunks, first = FALSE, sum = TRUE,
      swapped = .Platform$endian == "big"
    )
  }
}

# About 64 MB, where there would be more than 10,000 chunks.
usual_shards <- function(extents, chunks, size) {
  if (prod(ceiling(extents / chunks)) > 10000) grown_chunks(chunks, extents, size, 2^26)
}

# Several chunks together, the last dims first, of no more than so many bytes.
grown_chunks <- function(chunks, extents, size, bytes) {
  together <- chunks
  for (d in rev(seq_along(chunks))) {
    times <- base::pmin(ceiling(extents[d] / chunks[d]), bytes %/% (prod(together) * size))
    together[d] <- as.integer(chunks[d] * base::pmax(1, times))
  }
  together
}

# What a program reads at once: as many chunks of a shard as are fast to read.
block_chunks <- function(array) {
  if (is.null(array$shard)) {
    return(array$chunks)
  }
  grown_chunks(array$chunks, base::pmax(1L, base::pmin(array$shard$extents, array$shape)),
    array$size, 2^22)
}

# The keys of the shards of chunks, and the numbers of the chunks within them, the last dim the
# fastest, from 1 on.
shard_places <- function(array, places) {
  counts <- as.integer(array$shard$counts)
  steps <- rev(cumprod(c(1, rev(counts))))[-1L]
  if (isTRUE(array$reversed)) steps <- cumprod(c(1, counts))[seq_along(counts)]
  outer <- (places - 1L) %/% counts + 1L
  grid <- ceiling(array$shape / array$shard$extents)
  which <- base::colSums(outer * cumprod(c(1, grid))[seq_along(grid)])
  first <- !duplicated(which)
  keys <- vapply(which(first), function(k) chunk_key(array, outer[, k]), "")
  list(
    keys = keys[match(which, which[first])],
    numbers = base::colSums((places - 1L) %% counts * steps) + 1
  )
}

# The offset and the size of each chunk of a shard, NaN for one that is not there.
shard_index <- function(bytes, shard) {
  if (shard$sum) {
    bytes <- .Call(joist_r_unpack, "crc32c", bytes, length(bytes))
    if (is.null(bytes)) stop_joist("joist_value_error", "the CRC-32C of its index is wrong")
  }
  if (length(bytes) != 16 * prod(shard$counts)) {
    stop_joist("joist_value_error", "it is too short for its index")
  }
  .Call(joist_r_shard_index, bytes, shard$swapped)
}

index_in <- function(bytes, shard) {
  ends <- if (shard$first) utils::head else utils::tail
  ends(bytes, index_bytes(shard))
}

index_bytes <- function(shard) 16 * prod(shard$counts) + if (shard$sum) 4 else 0

# The index of the shard at a key: NULL where there is none. A run keeps those that it has read.
read_index <- function(array, key) {
  name <- paste(array$node, key)
  index <- array$indexes[[name]]
  if (is.null(index)) {
    size <- index_bytes(array$shard)
    bytes <- array$store$range(key, if (array$shard$first) 0 else -size, size)
    index <- "none"
    if (!is.null(bytes)) index <- about_chunk(array, key, shard_index(bytes, array$shard))
    if (!is.null(array$indexes)) assign(name, index, envir = array$indexes)
  }
  if (is.matrix(index)) index
}

# Says in errors which chunk it was.
about_chunk <- function(array, key, code) {
  tryCatch(code, error = function(e) {
    stop_joist(
      "joist_value_error", "chunk \"", key, "\" of ", array$store$name, " cannot be read: ",
      conditionMessage(e)
    )
  })
}

# Where chunks are: the keys of their shards, and a matrix of offsets and sizes.
chunk_parts <- function(array, places) {
  where <- shard_places(array, places)
  parts <- matrix(NA_real_, 2L, ncol(places))
  if (!is.null(array$store$ahead)) {
    keys <- unique(where$keys)
    keys <- keys[!paste(array$node, keys) %in% names(array$indexes)]
    size <- index_bytes(array$shard)
    array$store$ahead(
      keys, rep(if (array$shard$first) 0 else -size, length(keys)), rep(size, length(keys))
    )
  }
  for (key in unique(where$keys)) {
    index <- read_index(array, key)
    mine <- where$keys == key
    if (!is.null(index)) parts[, mine] <- index[, where$numbers[mine]]
  }
  list(keys = where$keys, parts = parts)
}

# Bytes that are read in vain are cheaper than another request.
most_gap <- 2^20

# The bytes of parts of one key, read together where they are neighbours.
read_ranges <- function(array, key, parts) {
  out <- vector("list", ncol(parts))
  for (range in ranges_of(parts)) {
    start <- range$start
    bytes <- array$store$range(key, start, range$size)
    for (k in range$some) {
      from <- parts[1L, k] - start
      if (from + parts[2L, k] > length(bytes)) {
        about_chunk(array, key, stop_joist(
          "joist_value_error", "its index has bytes ", number_text(parts[1L, k]), " to ",
          number_text(sum(parts[, k])), ", and it ends before"
        ))
      }
      out[[k]] <- part_of_bytes(bytes, from, parts[2L, k])
    }
  }
  out
}

ranges_of <- function(parts) {
  order <- order(parts[1L, ])
  ends <- cummax(colSums(parts)[order])
  group <- cumsum(c(TRUE, parts[1L, order][-1L] > ends[-length(ends)] + most_gap))
  lapply(unname(split(order, group)), function(some) {
    start <- parts[1L, some[1L]]
    list(some = some, start = start, size = max(colSums(parts)[some]) - start)
  })
}

# The chunks of shards, by R.
read_sharded <- function(array, places) {
  found <- chunk_parts(array, places)
  chunks <- vector("list", ncol(places))
  there <- !is.na(found$parts[1L, ])
  if (!is.null(array$store$ahead)) {
    ranges <- lapply(split(which(there), found$keys[there]), function(mine) {
      ranges_of(found$parts[, mine, drop = FALSE])
    })
    each <- unlist(ranges, recursive = FALSE)
    value <- function(what) vapply(each, `[[`, 0, what)
    array$store$ahead(rep(names(ranges), lengths(ranges)), value("start"), value("size"))
  }
  for (key in unique(found$keys[there])) {
    mine <- which(there & found$keys == key)
    bytes <- read_ranges(array, key, found$parts[, mine, drop = FALSE])
    chunks[mine] <- lapply(bytes, function(one) about_chunk(array, key, decode_chunk(one, array)))
  }
  chunks
}

# ---- writing ----

# A shard is written as a whole; the bytes of its other chunks stay the same.
write_sharded <- function(array, places, chunks) {
  where <- shard_places(array, places)
  for (key in unique(where$keys)) {
    mine <- which(where$keys == key)
    mine <- mine[order(where$numbers[mine])]
    # Of those that overlap the array, which may be all that there are.
    outer <- (places[, mine[1L]] - 1L) %/% array$shard$counts
    left <- ceiling(array$shape / array$chunks) - outer * array$shard$counts
    whole <- length(mine) == prod(base::pmin(left, array$shard$counts))
    old <- if (!whole) array$store$get(key)
    packed <- pack_chunks(array, chunks[mine])
    bytes <- about_chunk(array, key, joined_shard(array$shard, old, where$numbers[mine], packed))
    array$store$put(key, bytes)
  }
}

# The bytes of chunks, one after the other, and how many each has.
pack_chunks <- function(array, chunks) {
  codecs <- own_codecs(array)
  if (is.null(codecs)) {
    each <- lapply(chunks, encode_chunk, array)
    return(list(do.call(c, each), as.numeric(lengths(each))))
  }
  stored <- stored_as(array)
  chunks <- lapply(chunks, to_stored, stored)
  .Call(joist_r_pack_chunks, chunks, codecs, stored$c_order, array$swapped)
}

joined_shard <- function(shard, old, numbers, packed) {
  index <- matrix(2^64, 2L, prod(shard$counts))
  size <- index_bytes(shard)
  sizes <- packed[[2L]]
  parts <- packed[1L]
  if (!is.null(old)) {
    kept <- shard_index(index_in(old, shard), shard)
    stay <- setdiff(which(!is.na(kept[1L, ])), numbers)
    for (k in stay) {
      if (sum(kept[, k]) > length(old)) {
        stop_joist("joist_value_error", "its index has bytes after its end")
      }
      parts <- c(parts, list(part_of_bytes(old, kept[1L, k], kept[2L, k])))
    }
    sizes <- c(sizes, kept[2L, stay])
    numbers <- c(numbers, stay)
  }
  start <- if (shard$first) size else 0
  index[, numbers] <- rbind(start + cumsum(c(0, sizes))[seq_along(sizes)], sizes)
  head <- format_index(index, shard)
  do.call(c, if (shard$first) c(list(head), parts) else c(parts, list(head)))
}

format_index <- function(index, shard) {
  none <- index == 2^64
  low <- ifelse(none, 2^32 - 1, index %% 2^32)
  high <- ifelse(none, 2^32 - 1, index %/% 2^32)
  words <- rbind(as.vector(low), as.vector(high))
  if (shard$swapped == (.Platform$endian == "little")) words <- words[2:1, ]
  words <- nv_convert(nv_tensor(as.vector(words), "f64"), "ui32")
  bytes <- nv_write_bin(words, endian = if (shard$swapped) "swap" else .Platform$endian)
  if (shard$sum) c(bytes, checksum("crc32c", bytes)) else bytes
}

# ---- a shard within a shard, or with codecs around it: decoded and encoded as a whole ----

decode_shard <- function(bytes, array) {
  inside <- array$inside
  shard <- array$inside$shard_of
  index <- shard_index(index_in(bytes, shard), shard)
  out <- filled(inside, shard$extents)
  for (k in which(!is.na(index[1L, ]))) {
    if (sum(index[, k]) > length(bytes)) {
      stop_joist("joist_value_error", "its index has bytes after its end")
    }
    at <- rev(mixed_digits(k - 1, rev(shard$counts))) * inside$chunks + 1L
    chunk <- decode_chunk(part_of_bytes(bytes, index[1L, k], index[2L, k]), inside)
    out <- .Call(joist_r_place, out, as.integer(at), chunk, FALSE)
  }
  out
}

encode_shard <- function(chunk, array) {
  inside <- array$inside
  shard <- inside$shard_of
  numbers <- seq_len(prod(shard$counts))
  chunks <- lapply(numbers, function(k) {
    at <- rev(mixed_digits(k - 1, rev(shard$counts))) * inside$chunks
    part_of(chunk, as.integer(at + 1L), as.integer(at + inside$chunks))
  })
  joined_shard(shard, NULL, numbers, pack_chunks(inside, chunks))
}
