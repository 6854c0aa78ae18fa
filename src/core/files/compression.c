/* Calls zstd and blosc, where there are these. */
#include "core/files/compression.h"

#ifndef JOIST_ZSTD
#define JOIST_ZSTD 0
#endif
#ifndef JOIST_BLOSC
#define JOIST_BLOSC 0
#endif

#if JOIST_ZSTD
#include <zstd.h>

enum { ZSTD_LEVEL = 3 };

static bool unpack_zstd(const void *from, size_t n, void *to, size_t room, size_t *length) {
  *length = ZSTD_decompress(to, room, from, n);
  return ZSTD_isError(*length) == 0;
}

static size_t bound_zstd(size_t n) { return ZSTD_compressBound(n); }

static bool pack_zstd(const void *from, size_t n, size_t size, void *to, size_t room,
                      size_t *length) {
  (void)size;
  *length = ZSTD_compress(to, room, from, n, ZSTD_LEVEL);
  return ZSTD_isError(*length) == 0;
}
#endif

#if JOIST_BLOSC
#include <blosc.h>

enum { BLOSC_LEVEL = 5 };

static bool unpack_blosc(const void *from, size_t n, void *to, size_t room, size_t *length) {
  if (blosc_cbuffer_validate(from, n, length) != 0 || *length > room) return false;
  const int got = blosc_decompress_ctx(from, to, room, 1);
  return got >= 0 && (size_t)got == *length;
}

static size_t bound_blosc(size_t n) { return n + BLOSC_MAX_OVERHEAD; }

static bool pack_blosc(const void *from, size_t n, size_t size, void *to, size_t room,
                       size_t *length) {
  const int got =
      blosc_compress_ctx(BLOSC_LEVEL, BLOSC_SHUFFLE, size, n, from, to, room, "lz4", 0, 1);
  *length = got > 0 ? (size_t)got : 0;
  return got > 0;
}
#endif

const struct joist_compression *joist_compression_at(size_t number) {
  static const struct joist_compression all[] = {
#if JOIST_ZSTD
    {"zstd", unpack_zstd, bound_zstd, pack_zstd},
#endif
#if JOIST_BLOSC
    {"blosc", unpack_blosc, bound_blosc, pack_blosc},
#endif
    {0}
  };
  size_t k = 0;
  while (k < number && all[k].name != 0) k++;
  return all[k].name != 0 ? &all[k] : 0;
}
