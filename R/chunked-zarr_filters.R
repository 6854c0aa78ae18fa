# Filters of Zarr, which change elements or bytes before they are compressed, as numcodecs has them.
# joist reads such arrays, and does not write to them.

zarr_filters <- c(
  "delta", "fixedscaleoffset", "quantize", "bitround", "packbits", "shuffle", "crc32", "adler32",
  "fletcher32"
)

# Filters as lists with `id`; those of version 3 have a name "numcodecs.id" and a configuration.
filters_of <- function(x, key) {
  lapply(x, function(filter) {
    id <- if (is_object_json(filter)) filter[["id"]]
    if (!is_text_json(id) || !id %in% zarr_filters) {
      named <- if (is_text_json(id)) paste0("\"", id, "\"") else "one"
      stop_field(key, "filters", "has ", named, "; joist reads ", toString(zarr_filters))
    }
    stored <- function(field) {
      if (is.null(filter[[field]])) NULL else dtype_of_v2(filter[[field]], key)
    }
    own <- stored("dtype")
    if (is.null(own) && id %in% c("delta", "fixedscaleoffset", "quantize")) {
      stop_field(key, "filters", "has \"", id, "\" without a `dtype`")
    }
    as <- stored("astype")
    if (is.null(as)) as <- own
    number <- function(field) as.numeric(filter[[field]])
    list(
      id = as.character(id), to = own, from = as, scale = number("scale"),
      offset = number("offset"), size = if (id == "shuffle") number("elementsize")
    )
  })
}

# The bytes of the elements, in the byte order of the last filter that was applied.
unfilter <- function(bytes, filters) {
  for (filter in rev(filters)) bytes <- unfilter_once(bytes, filter)
  bytes
}

unfilter_once <- function(bytes, filter) {
  switch(filter$id,
    bitround = bytes,
    shuffle = unshuffled(bytes, filter$size),
    packbits = unpacked_bits(bytes),
    crc32 = ,
    adler32 = checked_head(bytes, filter$id),
    fletcher32 = checked_fletcher(bytes),
    from_elements(elements_before(to_elements(bytes, filter$from), filter), filter$to)
  )
}

endian_of <- function(type) {
  if (type$swapped == (.Platform$endian == "little")) "big" else "little"
}

to_elements <- function(bytes, type) nv_read_bin(bytes, type$dtype, endian = endian_of(type))

from_elements <- function(x, type) nv_write_bin(x, endian = endian_of(type))

elements_before <- function(x, filter) {
  to <- filter$to$dtype
  if (filter$id == "quantize") {
    return(nv_convert(x, to))
  }
  if (filter$id == "fixedscaleoffset") {
    wide <- if (dtype(x) == "f32") "f32" else "f64"
    x <- nv_convert(x, wide)
    return(nv_convert(x / nv_scalar(filter$scale, wide) + nv_scalar(filter$offset, wide), to))
  }
  if (!is_integer_dtype(nv_aval(to))) {
    stop_joist("joist_value_error", "its filter \"delta\" is of ", to, "; joist reads integers")
  }
  # Modulo the range of the dtype, in which the differences were taken.
  wrapping(with_promotion("anvil", nv_convert(nv_cumsum(nv_convert(x, to)), to)))
}

# First the first bytes of all elements, then the second ones; what is left over is at the end.
unshuffled <- function(bytes, size) {
  whole <- length(bytes) %/% size * size
  c(as.vector(t(matrix(bytes[seq_len(whole)], ncol = size))), bytes[-seq_len(whole)])
}

# A byte that says how many of the last bits are padding, then bits, the highest first.
unpacked_bits <- function(bytes) {
  bits <- matrix(rawToBits(bytes[-1L]), 8L)[8:1, , drop = FALSE]
  utils::head(as.vector(bits), length(bits) - as.integer(bytes[1L]))
}

checked_head <- function(bytes, name) {
  content <- bytes[-(1:4)]
  if (!identical(bytes[1:4], checksum(name, content))) {
    stop_joist("joist_value_error", "its checksum is wrong (", name, ")")
  }
  content
}

# The checksum of HDF5: sums of words of 16 bits, and sums of these, modulo 65535.
checked_fletcher <- function(bytes) {
  content <- utils::head(bytes, -4L)
  pairs <- matrix(as.integer(c(content, if (length(content) %% 2L == 1L) as.raw(0))), 2L)
  words <- pairs[1L, ] * 256 + pairs[2L, ]
  weights <- rev(seq_along(words)) %% 65535
  sums <- c(sum(words), sum(weights * words %% 65535))
  sums <- ifelse(sums == 0, 0, (sums - 1) %% 65535 + 1)
  wanted <- c(sums[1L] %% 256, sums[1L] %/% 256, sums[2L] %% 256, sums[2L] %/% 256)
  if (!identical(utils::tail(bytes, 4L), as.raw(wanted))) {
    stop_joist("joist_value_error", "its checksum is wrong (fletcher32)")
  }
  content
}
