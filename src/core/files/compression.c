/* CRC-32C and LZ4; gzip, zlib, zstd and blosc, where there are these. */
#include "core/files/compression.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "core/files/checksum.h"

#ifndef JOIST_ZLIB
#define JOIST_ZLIB 0
#endif
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

/* ---- LZ4: the number of bytes, as numcodecs has it, and a block ---- */

enum {
  LZ4_HEAD = 4,
  LZ4_LEAST = 4,    /* the bytes of a match */
  LZ4_LITERALS = 5, /* the last bytes, which are in no match */
  LZ4_MARGIN = 12,  /* no match begins nearer to the end */
  LZ4_FAR = 65535,  /* the farthest match */
  LZ4_HALF = 15,    /* a length that goes on in further bytes */
  LZ4_BYTE = 255,
  LZ4_BITS = 12 /* of the hash of four bytes */
};

static uint32_t lz4_four(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The rest of a length of 15 or more. False at the end of the bytes. */
static bool lz4_length(const unsigned char **in, const unsigned char *end, size_t *length) {
  if (*length < LZ4_HALF) return true;
  unsigned byte = LZ4_BYTE;
  while (byte == LZ4_BYTE) {
    if (*in == end) return false;
    byte = *(*in)++;
    *length += byte;
  }
  return true;
}

static bool unpack_lz4(const void *from, size_t n, void *to, size_t room, size_t *length) {
  if (n < LZ4_HEAD) return false;
  const unsigned char *in = from;
  const unsigned char *const end = in + n;
  unsigned char *const out = to;
  const size_t size = lz4_four(in);
  size_t at = 0;
  if (size > room) return false;
  in += LZ4_HEAD;
  while (in < end) {
    const unsigned token = *in++;
    size_t literals = token >> 4, match = token & LZ4_HALF;
    if (!lz4_length(&in, end, &literals) || literals > (size_t)(end - in) || literals > size - at)
      return false;
    if (literals > 0) memcpy(out + at, in, literals);
    in += literals;
    at += literals;
    if (in == end) break;
    if (end - in < 2) return false;
    const size_t far = in[0] | (size_t)in[1] << 8;
    in += 2;
    if (!lz4_length(&in, end, &match)) return false;
    match += LZ4_LEAST;
    if (far == 0 || far > at || match > size - at) return false;
    for (size_t k = 0; k < match; k++, at++) out[at] = out[at - far];
  }
  *length = size;
  return at == size;
}

static size_t bound_lz4(size_t n) { return n + n / LZ4_BYTE + 16 + LZ4_HEAD; }

static unsigned char *lz4_rest(unsigned char *out, size_t length) {
  if (length < LZ4_HALF) return out;
  for (length -= LZ4_HALF; length >= LZ4_BYTE; length -= LZ4_BYTE) *out++ = LZ4_BYTE;
  *out++ = (unsigned char)length;
  return out;
}

/* Literals and, unless `match` is 0, a match. */
static unsigned char *lz4_put(unsigned char *out, const unsigned char *from, size_t literals,
                              size_t far, size_t match) {
  const size_t more = match > 0 ? match - LZ4_LEAST : 0;
  const size_t high = literals < LZ4_HALF ? literals : LZ4_HALF;
  *out++ = (unsigned char)(high << 4 | (more < LZ4_HALF ? more : LZ4_HALF));
  out = lz4_rest(out, literals);
  if (literals > 0) memcpy(out, from, literals);
  out += literals;
  if (match == 0) return out;
  *out++ = (unsigned char)(far & LZ4_BYTE);
  *out++ = (unsigned char)(far >> 8);
  return lz4_rest(out, more);
}

/* Takes the latest place with the same four bytes. */
static bool pack_lz4(const void *from, size_t n, size_t size, void *to, size_t room,
                     size_t *length) {
  (void)size;
  if (room < bound_lz4(n) || n > INT_MAX) return false;
  const unsigned char *const in = from;
  unsigned char *out = to;
  uint32_t places[1 << LZ4_BITS] = {0};
  size_t done = 0;
  for (int k = 0; k < LZ4_HEAD; k++) *out++ = (unsigned char)(n >> 8 * k);
  for (size_t at = 1; at + LZ4_MARGIN <= n;) {
    const uint32_t four = lz4_four(in + at);
    uint32_t *const place = &places[four * 2654435761U >> (32 - LZ4_BITS)];
    const size_t before = *place, far = at - before;
    *place = (uint32_t)at;
    if (far == 0 || far > LZ4_FAR || lz4_four(in + before) != four) {
      at++;
      continue;
    }
    size_t match = LZ4_LEAST;
    while (at + match < n - LZ4_LITERALS && in[before + match] == in[at + match]) match++;
    out = lz4_put(out, in + done, at - done, far, match);
    at += match;
    done = at;
  }
  out = lz4_put(out, in + done, n - done, 0, 0);
  *length = (size_t)(out - (unsigned char *)to);
  return true;
}

#if JOIST_ZLIB
#define ZLIB_CONST
#include <zlib.h>

enum {
  ZLIB_LEVEL = 6,
  ZLIB_MEMORY = 8,
  ZLIB_WINDOW = 15,
  GZIP_WINDOW = ZLIB_WINDOW + 16, /* asks zlib for the head and the end of gzip */
  GZIP_ENDS = 12,                 /* what these take more than the ends of zlib */
  UNKNOWN_SYSTEM = 255
};

/* Calls of zlib take lengths of 32 bits: gives it the next bytes to read and to write, as many as
 * these hold. `*n` and `*room` are what is left. */
static void feed(z_stream *stream, size_t *n, size_t *room) {
  const uInt in = *n < UINT_MAX ? (uInt)*n : UINT_MAX;
  const uInt out = *room < UINT_MAX ? (uInt)*room : UINT_MAX;
  if (stream->avail_in == 0) {
    stream->avail_in = in;
    *n -= in;
  }
  if (stream->avail_out == 0) {
    stream->avail_out = out;
    *room -= out;
  }
}

static z_stream stream_of(const void *from, void *to) {
  return (z_stream){.next_in = from, .next_out = to};
}

/* Streams of gzip may follow one another: the result is all that they hold. */
static bool inflate_all(int window, const void *from, size_t n, void *to, size_t room,
                        size_t *length) {
  z_stream stream = stream_of(from, to);
  const size_t whole = room;
  int code = inflateInit2(&stream, window);
  if (code != Z_OK) return false;
  do {
    if (code == Z_STREAM_END) code = inflateReset(&stream);
    feed(&stream, &n, &room);
    if (code == Z_OK) code = inflate(&stream, Z_NO_FLUSH);
  } while (code == Z_OK ||
           (code == Z_STREAM_END && window == GZIP_WINDOW && stream.avail_in + n > 0));
  *length = whole - room - stream.avail_out;
  const bool all_read = stream.avail_in + n == 0;
  return inflateEnd(&stream) == Z_OK && code == Z_STREAM_END && all_read;
}

static bool deflate_all(int window, const void *from, size_t n, void *to, size_t room,
                        size_t *length) {
  z_stream stream = stream_of(from, to);
  gz_header head = {.os = UNKNOWN_SYSTEM};
  const size_t whole = room;
  int code = deflateInit2(&stream, ZLIB_LEVEL, Z_DEFLATED, window, ZLIB_MEMORY, Z_DEFAULT_STRATEGY);
  if (code != Z_OK) return false;
  if (window == GZIP_WINDOW) code = deflateSetHeader(&stream, &head);
  while (code == Z_OK) {
    feed(&stream, &n, &room);
    code = deflate(&stream, n == 0 ? Z_FINISH : Z_NO_FLUSH);
  }
  *length = whole - room - stream.avail_out;
  return deflateEnd(&stream) == Z_OK && code == Z_STREAM_END;
}

static bool unpack_gzip(const void *from, size_t n, void *to, size_t room, size_t *length) {
  return inflate_all(GZIP_WINDOW, from, n, to, room, length);
}

static bool unpack_zlib(const void *from, size_t n, void *to, size_t room, size_t *length) {
  return inflate_all(ZLIB_WINDOW, from, n, to, room, length);
}

/* An upper bound: deflate() adds 5 bytes to a block that it cannot compress, of at least 16,383
 * bytes. */
static size_t bound_zlib(size_t n) { return n + (n >> 11) + 64 + GZIP_ENDS; }

static bool pack_gzip(const void *from, size_t n, size_t size, void *to, size_t room,
                      size_t *length) {
  (void)size;
  return deflate_all(GZIP_WINDOW, from, n, to, room, length);
}

static bool pack_zlib(const void *from, size_t n, size_t size, void *to, size_t room,
                      size_t *length) {
  (void)size;
  return deflate_all(ZLIB_WINDOW, from, n, to, room, length);
}
#endif

#if JOIST_ZSTD
#include <zstd.h>

enum { ZSTD_LEVEL = 3 };

static bool unpack_zstd(const void *from, size_t n, void *to, size_t room, size_t *length) {
  *length = ZSTD_decompress(to, room, from, n);
  return ZSTD_isError(*length) == 0;
}

static bool unpack_first_zstd(const void *from, size_t n, void *to, size_t wanted, size_t whole) {
  if (ZSTD_getFrameContentSize(from, n) != whole) return false;
  ZSTD_DStream *const stream = ZSTD_createDStream();
  if (stream == NULL) return false;
  ZSTD_inBuffer in = {from, n, 0};
  ZSTD_outBuffer out = {to, wanted, 0};
  size_t left = 1, before;
  do {
    before = in.pos + out.pos;
    left = ZSTD_decompressStream(stream, &out, &in);
  } while (!ZSTD_isError(left) && left > 0 && out.pos < wanted && in.pos + out.pos > before);
  ZSTD_freeDStream(stream);
  return out.pos == wanted;
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
    {"crc32c", unpack_crc32c, bound_crc32c, pack_crc32c, NULL},
    {"lz4", unpack_lz4, bound_lz4, pack_lz4, NULL},
    {"numcodecs.lz4", unpack_lz4, bound_lz4, pack_lz4, NULL},
#if JOIST_ZLIB
    {"gzip", unpack_gzip, bound_zlib, pack_gzip, NULL},
    {"zlib", unpack_zlib, bound_zlib, pack_zlib, NULL},
    {"numcodecs.zlib", unpack_zlib, bound_zlib, pack_zlib, NULL},
#endif
#if JOIST_ZSTD
    {"zstd", unpack_zstd, bound_zstd, pack_zstd, unpack_first_zstd},
#endif
#if JOIST_BLOSC
    {"blosc", unpack_blosc, bound_blosc, pack_blosc, NULL},
#endif
    {0}
  };
  size_t k = 0;
  while (k < number && all[k].name != 0) k++;
  return all[k].name != 0 ? &all[k] : 0;
}
