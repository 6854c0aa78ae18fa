# Chunks of Zarr arrays: from bytes to a tensor of the extents of a chunk, and back.

# That of memCompress().
gzip_level <- 6L

# Those that base R reads, zstd from R 4.5 on.
base_codecs <- c(
  bz2 = "bzip2", lzma = "xz", numcodecs.bz2 = "bzip2", numcodecs.lzma = "xz", zstd = "zstd"
)

# New arrays do not get these, but those that have them are read and written.
other_codecs <- c(
  "zlib", "numcodecs.zlib", "lz4", "numcodecs.lz4", setdiff(names(base_codecs), "zstd")
)

zarr_codecs <- function() {
  setdiff(union(c("gzip", if (base_has_zstd()) "zstd"), core_codecs()), other_codecs)
}

core_codecs <- function() .Call(joist_r_codecs)

base_has_zstd <- function() {
  tryCatch(is.raw(memCompress(raw(1), "zstd")), error = function(e) FALSE)
}

check_codec <- function(name, key, field = "codecs") {
  if (name %in% c(zarr_codecs(), other_codecs)) {
    return()
  }
  stop_field(
    key, field, "has the codec \"", name, "\"; ",
    if (name %in% c("zstd", "blosc")) {
      paste0("install its library (lib", name, "-dev of Debian), and then joist again")
    } else {
      paste("joist reads", paste(zarr_codecs(), collapse = ", "))
    }
  )
}

decode_chunk <- function(bytes, array) {
  if (is_text_array(array) && is.null(array$inside)) {
    for (codec in rev(array$codecs)) bytes <- decode_text_bytes(bytes, codec$name)
    return(decode_text(bytes, array))
  }
  if (!is.null(array$steps)) {
    return(turned_steps(undo_steps(decode_chunk(bytes, array$within), array$steps), array))
  }
  most <- prod(array$chunks) * array$size
  # A shard may have an index, and chunks that packing has made larger.
  if (!is.null(array$inside)) most <- 2 * most + 2^16 + 64 * prod(array$inside$shard_of$counts)
  # Filters may have stored elements of more bytes, or checksums.
  room <- if (length(array$filters) > 0L) 8 * most else most
  for (codec in rev(array$codecs)) bytes <- decode_bytes(bytes, codec$name, room)
  bytes <- unfilter(bytes, array$filters)
  stored <- stored_as(array)
  if (!is.null(array$inside)) {
    return(from_stored(decode_shard(bytes, array), array, stored))
  }
  if (!is.null(array$packed)) bytes <- unpack_elements(bytes, array)
  if (length(bytes) != most) {
    stop_joist(
      "joist_value_error", "it has ", number_text(length(bytes)), " bytes, and ",
      number_text(most), " are needed"
    )
  }
  chunk <- .Call(
    joist_r_from_chunk, bytes, array$dtype, stored$extents, stored$c_order, array$swapped
  )
  from_stored(chunk, array, stored)
}

# The size of decoded text is not known in advance.
decode_text_bytes <- function(bytes, codec) {
  for (most in 16^(4:7)) {
    found <- tryCatch(decode_bytes(bytes, codec, most), joist_error = identity)
    if (is.raw(found)) {
      return(found)
    }
  }
  stop(found)
}

# How the dims of a chunk are stored: C's order and its reverse are read and written straight, in
# another the chunk is transposed before.
stored_as <- function(array) {
  order <- array$order
  ranks <- seq_along(order)
  reversed <- identical(order, rev(ranks)) && is.null(array$inside)
  list(
    extents = if (reversed) array$chunks else array$chunks[order], c_order = !reversed,
    permutation = if (!reversed && !identical(order, ranks)) order
  )
}

from_stored <- function(chunk, array, stored) {
  if (is.null(stored$permutation)) {
    return(chunk)
  }
  nv_transpose(chunk, match(seq_along(array$order), stored$permutation))
}

to_stored <- function(chunk, stored) {
  if (is.null(stored$permutation)) chunk else nv_transpose(chunk, stored$permutation)
}

encode_chunk <- function(chunk, array) {
  if (!is.null(array$steps)) {
    return(encode_chunk(do_steps(turned_steps(chunk, array), array$steps), array$within))
  }
  # Of lzma, base R writes the first format.
  only <- vapply(array$codecs, function(codec) {
    endsWith(codec$name, "lzma") && !is.null(codec$format) && as.numeric(codec$format) != 1
  }, NA)
  if (length(array$filters) > 0L || any(only)) {
    stop_joist(
      "joist_value_error",
      "arrays with filters, or of the codec `lzma` in another format than 1, are only read; copy ",
      "it to one made by nv_zarr_create()"
    )
  }
  stored <- stored_as(array)
  chunk <- to_stored(chunk, stored)
  bytes <- if (is.null(array$inside)) {
    .Call(joist_r_to_chunk, chunk, stored$c_order, array$swapped)
  } else {
    encode_shard(chunk, array)
  }
  if (!is.null(array$packed)) bytes <- pack_elements(bytes, array)
  for (codec in array$codecs) bytes <- encode_bytes(bytes, codec$name, array$size)
  bytes
}

checksum <- function(name, x) .Call(joist_r_checksum, name, x)

# No more than `most` bytes and some, for a checksum.
decode_bytes <- function(bytes, codec, most) {
  if (codec %in% core_codecs()) {
    found <- .Call(joist_r_unpack, codec, bytes, most + 64)
    if (is.null(found)) {
      if (codec == "crc32c") stop_joist("joist_value_error", "its CRC-32C is wrong")
      stop_joist("joist_value_error", "it is no ", codec, " that can be read")
    }
    return(found)
  }
  if (codec %in% names(base_codecs)) {
    return(tryCatch(memDecompress(bytes, base_codecs[[codec]]), error = function(e) {
      stop_joist("joist_value_error", "it is no ", codec, " that can be read")
    }))
  }
  inflate(bytes, codec, most)
}

# ---- gzip and zlib, where joist was built without the library ----

inflate <- function(bytes, codec, most) {
  zlib <- codec != "gzip"
  n <- length(bytes)
  if (n < 8L) stop_joist("joist_value_error", "it is too short for ", codec)
  # The same stream within other bytes at its ends.
  stream <- if (zlib) c(gzip_head, bytes[-(1:2)]) else bytes
  found <- read_stream(stream, most + 64)
  if (is.null(found)) stop_joist("joist_value_error", "it is no ", codec, " that can be read")
  wanted <- if (zlib) rev(checksum("adler32", found)) else checksum("crc32", found)
  there <- if (zlib) bytes[n - 3:0] else bytes[n - 7:4]
  if (!identical(wanted, there)) stop_joist("joist_value_error", "its checksum is wrong")
  found
}

# What gzip begins with: no name, no time, an unknown system.
gzip_head <- as.raw(c(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff))

# By a connection, which reads no more than it is asked for: memDecompress() goes on making room
# for what a broken stream might hold.
read_stream <- function(stream, most) {
  if (!identical(stream[1:3], gzip_head[1:3])) {
    return(NULL)
  }
  con <- suppressWarnings(gzcon(rawConnection(stream))) # R 4.6 warns of a short one
  # It prints what it thinks of the last bytes; what is wrong with them is for the caller to say.
  nowhere <- file(nullfile(), "w")
  messages <- sink.number(type = "message")
  sink(nowhere, type = "message")
  on.exit({
    sink(getConnection(messages), type = "message")
    close(nowhere)
    close(con)
  })
  tryCatch(suppressWarnings(readBin(con, "raw", most)), error = function(e) NULL)
}

encode_bytes <- function(bytes, codec, size) {
  if (codec %in% core_codecs()) {
    return(.Call(joist_r_pack, codec, bytes, size))
  }
  if (codec %in% names(base_codecs)) {
    return(memCompress(bytes, base_codecs[[codec]]))
  }
  deflate(bytes, codec)
}

deflate <- function(bytes, codec) {
  packed <- memCompress(bytes, "gzip") # with the ends of zlib
  if (codec != "gzip") {
    return(packed)
  }
  body <- packed[3:(length(packed) - 4L)]
  c(gzip_head, body, checksum("crc32", bytes), low_bytes(length(bytes)))
}

# The number of bytes as gzip has it: four, the lowest first.
low_bytes <- function(n) as.raw(n %/% 256^(0:3) %% 256)
