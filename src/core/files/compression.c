/* CRC-32C; zstd and blosc, where there are these. */
#include "core/files/compression.h"

#include <stdint.h>
#include <string.h>

#include "core/files/checksum.h"

#ifndef JOIST_ZSTD
#define JOIST_ZSTD 0
#endif
#ifndef JOIST_BLOSC
#define JOIST_BLOSC 0
#endif

enum { SUM = 4 };

/* The sum as the file has it, the lowest byte first. */
static void sum_of(const void *from, size_t n, unsigned char sum[SUM]) {
  const uint32_t number = joist_crc32c(from, n);
  for (int k = 0; k < SUM; k++) sum[k] = (unsigned char)(number >> 8 * k);
}

static bool unpack_crc32c(const void *from, size_t n, void *to, size_t room, size_t *length) {
  unsigned char sum[SUM];
  if (n < SUM || n - SUM > room) return false;
  *length = n - SUM;
  sum_of(from, *length, sum);
  if (memcmp(sum, (const unsigned char *)from + *length, SUM) != 0) return false;
  if (*length > 0) memcpy(to, from, *length);
  return true;
}

static size_t bound_crc32c(size_t n) { return n + SUM; }

static bool pack_crc32c(const void *from, size_t n, size_t size, void *to, size_t room,
                        size_t *length) {
  (void)size;
  *length = n + SUM;
  if (room < *length) return false;
  if (n > 0) memcpy(to, from, n);
  sum_of(from, n, (unsigned char *)to + n);
  return true;
}

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
    {"crc32c", unpack_crc32c, bound_crc32c, pack_crc32c},
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
