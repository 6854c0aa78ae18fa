/* Elements as bytes, in the byte order of this machine or in the other one: a copy of bits, block
 * by block. The parts of a complex number are turned around one by one. Of elements of fewer bits
 * than a byte, the lowest bits count. */
#include <stdio.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/vectorize.h"
#include "core/types/error.h"
#include "core/types/host.h"

JOIST_VECTORIZE_FILE

enum { BLOCK = 1 << 24 /* elements between two calls of poll */ };

static void swap_2(size_t n, const unsigned char *from, unsigned char *to) {
  for (size_t i = 0; i < n; i++) {
    uint16_t value;
    memcpy(&value, from + 2 * i, sizeof value);
    value = (uint16_t)(value << 8 | value >> 8);
    memcpy(to + 2 * i, &value, sizeof value);
  }
}

static inline uint32_t swapped_32(uint32_t value) {
  value = (value & 0x00ff00ffu) << 8 | (value >> 8 & 0x00ff00ffu);
  return value << 16 | value >> 16;
}

static void swap_4(size_t n, const unsigned char *from, unsigned char *to) {
  for (size_t i = 0; i < n; i++) {
    uint32_t value;
    memcpy(&value, from + 4 * i, sizeof value);
    value = swapped_32(value);
    memcpy(to + 4 * i, &value, sizeof value);
  }
}

static void swap_8(size_t n, const unsigned char *from, unsigned char *to) {
  for (size_t i = 0; i < n; i++) {
    uint64_t value;
    memcpy(&value, from + 8 * i, sizeof value);
    value = (uint64_t)swapped_32((uint32_t)value) << 32 | swapped_32((uint32_t)(value >> 32));
    memcpy(to + 8 * i, &value, sizeof value);
  }
}

static void copy_block(size_t unit, bool swapped, size_t bytes, const unsigned char *from,
                       unsigned char *to) {
  if (!swapped || unit == 1)
    memcpy(to, from, bytes);
  else if (unit == 2)
    swap_2(bytes / 2, from, to);
  else if (unit == 4)
    swap_4(bytes / 4, from, to);
  else
    swap_8(bytes / 8, from, to);
}

bool joist_has_unused_bits(joist_dtype dtype) {
  return dtype != JOIST_BOOL && joist_dtype_bits(dtype) < 8 * joist_dtype_size(dtype);
}

/* The lowest bits of each byte, extended by their sign if `is_signed`. */
static void copy_low_bits(size_t n, unsigned bits, bool is_signed, const unsigned char *from,
                          unsigned char *to) {
  const unsigned low = (1u << bits) - 1, sign = is_signed ? 1u << (bits - 1) : 0;
  for (size_t i = 0; i < n; i++) to[i] = (unsigned char)(((from[i] & low) ^ sign) - sign);
}

static size_t first_no_bool(size_t n, const unsigned char *bytes) {
  unsigned char all = 0;
  for (size_t i = 0; i < n; i++) all |= bytes[i];
  size_t i = all > 1 ? 0 : n;
  while (i < n && bytes[i] <= 1) i++;
  return i;
}

/* The first byte that is not an element in memory. */
static size_t first_misfit(joist_dtype dtype, size_t n, const unsigned char *bytes) {
  if (dtype == JOIST_BOOL) return first_no_bool(n, bytes);
  const unsigned unused = 8 - joist_dtype_bits(dtype);
  const bool is_signed = joist_dtype_kind(dtype) == JOIST_KIND_INT;
  for (size_t i = 0; i < n; i++) {
    unsigned char byte;
    copy_low_bits(1, 8 - unused, is_signed, bytes + i, &byte);
    if (byte != bytes[i]) return i;
  }
  return n;
}

static joist_status bad_byte(joist_dtype dtype, unsigned byte, size_t position,
                             struct joist_error *error) {
  char text[8];
  snprintf(text, sizeof text, "%02x", byte);
  return JOIST_FAIL(error, dtype == JOIST_BOOL ? JOIST_E_BYTE_NOT_BOOL : JOIST_E_BYTE_UNUSED_BITS,
                    .text = {joist_quote(text)}, .type = {{dtype, false}}, .position = position);
}

joist_status joist_check_elements(joist_dtype dtype, const void *elements, size_t n,
                                  struct joist_error *error) {
  if (dtype != JOIST_BOOL && !joist_has_unused_bits(dtype)) return JOIST_OK;
  const unsigned char *const bytes = elements;
  const size_t misfit = first_misfit(dtype, n, bytes);
  return misfit == n ? JOIST_OK : bad_byte(dtype, bytes[misfit], misfit + 1, error);
}

static joist_status copy(joist_dtype dtype, bool reading, const void *from, size_t n, bool swapped,
                         void *to, const struct joist_run *run, struct joist_error *error) {
  const size_t size = joist_dtype_size(dtype);
  const size_t unit = joist_dtype_size(joist_dtype_real(dtype));
  const bool unused = joist_has_unused_bits(dtype);
  const bool extended = reading && joist_dtype_kind(dtype) == JOIST_KIND_INT;
  for (size_t start = 0; start < n; start += BLOCK) {
    if (start > 0 && run != NULL && joist_run_poll(run, error) != JOIST_OK)
      return JOIST_INTERRUPTED;
    const size_t count = joist_smaller(n - start, BLOCK);
    const unsigned char *const block = (const unsigned char *)from + start * size;
    unsigned char *const out = (unsigned char *)to + start * size;
    if (reading && dtype == JOIST_BOOL) {
      const size_t misfit = first_no_bool(count, block);
      if (misfit < count) return bad_byte(dtype, block[misfit], start + misfit + 1, error);
    }
    if (unused)
      copy_low_bits(count, joist_dtype_bits(dtype), extended, block, out);
    else if (out != block || (swapped && unit > 1))
      copy_block(unit, swapped, count * size, block, out);
  }
  return JOIST_OK;
}

joist_status joist_read_bytes(joist_dtype dtype, const void *from, size_t n, bool swapped, void *to,
                              const struct joist_run *run, struct joist_error *error) {
  return copy(dtype, true, from, n, swapped, to, run, error);
}

joist_status joist_write_bytes(joist_dtype dtype, const void *from, size_t n, bool swapped,
                               void *to, const struct joist_run *run, struct joist_error *error) {
  return copy(dtype, false, from, n, swapped, to, run, error);
}
