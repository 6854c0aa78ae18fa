# Chunks of Zarr arrays: from bytes to a tensor of the extents of a chunk, and back.

# That of memCompress().
gzip_level <- 6L

# Those that are written; zlib is read, too.
zarr_codecs <- function() c("gzip", "crc32c", .Call(joist_r_codecs))

check_codec <- function(name, key, field = "codecs") {
  if (name %in% c(zarr_codecs(), "zlib", "numcodecs.zlib")) {
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
  most <- prod(array$chunks) * array$size
  for (codec in rev(array$codecs)) bytes <- decode_bytes(bytes, codec$name, most)
  if (length(bytes) != most) {
    stop_joist(
      "joist_value_error", "it has ", number_text(length(bytes)), " bytes, and ",
      number_text(most), " are needed"
    )
  }
  order <- array$order
  ranks <- seq_along(order)
  reversed <- identical(order, rev(ranks))
  stored <- if (reversed) array$chunks else array$chunks[order]
  chunk <- .Call(joist_r_from_chunk, bytes, array$dtype, stored, !reversed, array$swapped)
  if (reversed || identical(order, ranks)) chunk else nv_transpose(chunk, match(ranks, order))
}

encode_chunk <- function(chunk, array) {
  order <- array$order
  reversed <- identical(order, rev(seq_along(order)))
  if (!reversed && !identical(order, seq_along(order))) chunk <- nv_transpose(chunk, order)
  bytes <- .Call(joist_r_to_chunk, chunk, !reversed, array$swapped)
  for (codec in array$codecs) bytes <- encode_bytes(bytes, codec$name, array$size)
  bytes
}

checksum <- function(name, bytes) .Call(joist_r_checksum, name, bytes)

# No more than `most` bytes and some, for a checksum.
decode_bytes <- function(bytes, codec, most) {
  if (codec %in% .Call(joist_r_codecs)) {
    found <- .Call(joist_r_unpack, codec, bytes, most + 64)
    if (is.null(found)) stop_joist("joist_value_error", "it is no ", codec, " that can be read")
    return(found)
  }
  if (codec == "crc32c") {
    n <- length(bytes) - 4L
    if (n < 0L || !identical(checksum("crc32c", utils::head(bytes, n)), utils::tail(bytes, 4L))) {
      stop_joist("joist_value_error", "its CRC-32C is wrong")
    }
    return(utils::head(bytes, n))
  }
  zlib <- codec != "gzip"
  n <- length(bytes)
  if (n < 8L) stop_joist("joist_value_error", "it is too short for ", codec)
  # The same stream within other bytes at its ends.
  stream <- if (zlib) c(gzip_head, bytes[-(1:2)]) else bytes
  found <- inflate(stream, most + 64)
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
inflate <- function(stream, most) {
  if (!identical(stream[1:3], gzip_head[1:3])) {
    return(NULL)
  }
  con <- gzcon(rawConnection(stream))
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
  if (codec %in% .Call(joist_r_codecs)) {
    return(.Call(joist_r_pack, codec, bytes, size))
  }
  if (codec == "crc32c") {
    return(c(bytes, checksum("crc32c", bytes)))
  }
  packed <- memCompress(bytes, "gzip") # with the ends of zlib
  if (codec != "gzip") {
    return(packed)
  }
  body <- packed[3:(length(packed) - 4L)]
  c(gzip_head, body, checksum("crc32", bytes), low_bytes(length(bytes)))
}

# The number of bytes as gzip has it: four, the lowest first.
low_bytes <- function(n) as.raw(n %/% 256^(0:3) %% 256)
