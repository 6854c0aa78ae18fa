/* Choosing elements by masks: blocks are counted first, so that each knows its place. */
#include "core/ops/move/mask.h"

#include <string.h>

#include "core/base/by_size.h"
#include "core/base/parallel.h"

enum { BLOCK = 1 << 15, PIECE = 256 };

size_t joist_mask_blocks(size_t n) { return joist_divide_up(n, BLOCK); }

struct masking {
  size_t size;
  const uint8_t *mask;
  size_t n;
  size_t *count; /* filled by counting */
  const size_t *before;
  const char *in;
  char *out;
  bool repeated;
};

/* Chosen ones among at most 255 * 8 elements at once: sums of eight bytes in a word. */
static size_t chosen(const uint8_t *mask, size_t n) {
  size_t count = 0, k = 0;
  while (k + 8 <= n) {
    uint64_t sums = 0;
    for (int round = 0; round < 255 && k + 8 <= n; round++, k += 8) {
      uint64_t word;
      memcpy(&word, mask + k, 8);
      sums += word & UINT64_C(0x0101010101010101);
    }
    const uint64_t pairs =
        (sums & UINT64_C(0x00ff00ff00ff00ff)) + (sums >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    count += (size_t)((pairs * UINT64_C(0x0001000100010001)) >> 48);
  }
  for (; k < n; k++) count += mask[k] & 1;
  return count;
}

static void count_block(const void *context, size_t block, size_t worker) {
  (void)worker;
  const struct masking *const m = context;
  const struct joist_part part = joist_strip_of(m->n, BLOCK, block);
  m->count[block] = chosen(m->mask + part.first, part.n);
}

joist_status joist_mask_count(const uint8_t *mask, size_t n, size_t *before,
                              const struct joist_run *run, struct joist_error *error) {
  const struct masking masking = {.mask = mask, .n = n, .count = before};
  const size_t blocks = joist_mask_blocks(n);
  const joist_status status = joist_tasks_run(run, blocks, BLOCK / 8, count_block, &masking, error);
  if (status != JOIST_OK) return status;
  size_t total = 0;
  for (size_t b = 0; b < blocks; b++) {
    const size_t here = before[b];
    before[b] = total;
    total += here;
  }
  before[blocks] = total;
  return JOIST_OK;
}

/* Only the lowest bit of a mask counts, whatever its bytes are: a count that is not that of
 * the elements moved would be an overflow.
 *
 * Without a branch per element: a random mask would mispredict every second one. What is
 * written past the chosen ones stays in the buffer. */
#define COMPACT(TYPE)                                                                       \
  static size_t compact_##TYPE(size_t n, const uint8_t *mask, const TYPE *in, TYPE *out) {  \
    TYPE buffer[PIECE + 1];                                                                 \
    size_t written = 0;                                                                     \
    for (size_t begin = 0; begin < n; begin += PIECE) {                                     \
      const size_t end = n - begin < PIECE ? n : begin + PIECE;                             \
      size_t used = 0;                                                                      \
      for (size_t k = begin; k < end; k++) {                                                \
        buffer[used] = in[k];                                                               \
        used += mask[k] & 1;                                                                \
      }                                                                                     \
      memcpy(out + written, buffer, used * sizeof(TYPE));                                   \
      written += used;                                                                      \
    }                                                                                       \
    return written;                                                                         \
  }                                                                                         \
  static void fill_##TYPE(size_t n, const uint8_t *mask, const TYPE *values, TYPE *out) {   \
    const TYPE value = *values;                                                             \
    for (size_t k = 0; k < n; k++) {                                                        \
      const TYPE old = out[k];                                                              \
      out[k] = mask[k] & 1 ? value : old;                                                   \
    }                                                                                       \
  }                                                                                         \
  static void expand_##TYPE(size_t n, const uint8_t *mask, const TYPE *values, TYPE *out) { \
    for (size_t k = 0, used = 0; k < n; k++)                                                \
      if (mask[k] & 1) out[k] = values[used++];                                             \
  }
COMPACT(uint8_t)
COMPACT(uint16_t)
COMPACT(uint32_t)
COMPACT(uint64_t)
COMPACT(sixteen)

static void take_block(const void *context, size_t block, size_t worker) {
  (void)worker;
  const struct masking *const m = context;
  const struct joist_part part = joist_strip_of(m->n, BLOCK, block);
  const void *const in = m->in + part.first * m->size;
  void *const out = m->out + m->before[block] * m->size;
  JOIST_BY_SIZE(m->size, compact, part.n, m->mask + part.first, in, out);
}

joist_status joist_mask_take(size_t size, const uint8_t *mask, size_t n, const size_t *before,
                             const void *in, void *out, const struct joist_run *run,
                             struct joist_error *error) {
  const struct masking masking = {
      .size = size, .mask = mask, .n = n, .before = before, .in = in, .out = out};
  return joist_tasks_run(run, joist_mask_blocks(n), BLOCK, take_block, &masking, error);
}

void joist_mask_positions(const uint8_t *mask, size_t n, int64_t *positions) {
  int64_t all[PIECE];
  for (size_t begin = 0; begin < n; begin += PIECE) {
    const size_t length = joist_smaller(n - begin, PIECE);
    for (size_t k = 0; k < length; k++) all[k] = (int64_t)(begin + k);
    positions +=
        compact_uint64_t(length, mask + begin, (const uint64_t *)all, (uint64_t *)positions);
  }
}

static void put_block(const void *context, size_t block, size_t worker) {
  (void)worker;
  const struct masking *const m = context;
  const struct joist_part part = joist_strip_of(m->n, BLOCK, block);
  void *const out = m->out + part.first * m->size;
  if (m->repeated) {
    const void *const value = m->in;
    JOIST_BY_SIZE(m->size, fill, part.n, m->mask + part.first, value, out);
  } else {
    const void *const values = m->in + m->before[block] * m->size;
    JOIST_BY_SIZE(m->size, expand, part.n, m->mask + part.first, values, out);
  }
}

joist_status joist_mask_put(size_t size, const uint8_t *mask, size_t n, const size_t *before,
                            const void *values, bool repeated, void *out,
                            const struct joist_run *run, struct joist_error *error) {
  const struct masking masking = {.size = size,
                                  .mask = mask,
                                  .n = n,
                                  .before = before,
                                  .in = values,
                                  .out = out,
                                  .repeated = repeated};
  return joist_tasks_run(run, joist_mask_blocks(n), BLOCK, put_block, &masking, error);
}
