/* What is done to the bytes of chunks: a checksum behind them, and packing by libraries that
 * configure may have found: zlib, zstd and blosc. */
#ifndef JOIST_CORE_FILES_COMPRESSION_H
#define JOIST_CORE_FILES_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct joist_compression {
  const char *name;
  /* Unpacks into `room` bytes and sets `length` to the number of bytes unpacked. False if `from` is
   * not a valid stream or needs more room. */
  bool (*unpack)(const void *from, size_t n, void *to, size_t room, size_t *length);
  /* How many bytes packing may need, and packing elements of `size` bytes into these; false where
   * the library fails. */
  size_t (*bound)(size_t n);
  bool (*pack)(const void *from, size_t n, size_t size, void *to, size_t room, size_t *length);
  /* Unpacks no more than the first `wanted` of `whole` bytes; what is behind them need not be
   * valid. False where that is not possible; NULL for a codec that has no such way. */
  bool (*unpack_first)(const void *from, size_t n, void *to, size_t wanted, size_t whole);
};

/* The one of that number, from 0 on; NULL behind the last one that this build has. */
const struct joist_compression *joist_compression_at(size_t number);

#endif
