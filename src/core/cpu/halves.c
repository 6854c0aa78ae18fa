/* Exact sums of integers. */
#include "core/cpu/halves.h"

#include "core/base/vectorize.h"

JOIST_VECTORIZE_FILE

#define ADD_HALVES(TYPE)                                                                           \
  static void add_##TYPE(struct joist_halves sums, TYPE up, size_t width, size_t rows,             \
                         const TYPE *x) {                                                          \
    uint64_t high = 0, low = 0;                                                                    \
    const size_t run = width == 1 ? rows : 0;                                                      \
    JOIST_VECTORIZE_LOOP for (size_t k = 0; k < run; k++) {                                        \
      const uint64_t moved = (TYPE)(x[k] ^ up);                                                    \
      high += moved >> 32;                                                                         \
      low += moved & UINT64_C(0xffffffff);                                                         \
    }                                                                                              \
    if (width == 1) {                                                                              \
      *sums.high += high;                                                                          \
      *sums.low += low;                                                                            \
      return;                                                                                      \
    }                                                                                              \
    uint64_t *restrict const highs = sums.high, *restrict const lows = sums.low;                   \
    for (; rows > 0; rows--, x += width) JOIST_VECTORIZE_LOOP for (size_t k = 0; k < width; k++) { \
        const uint64_t moved = (TYPE)(x[k] ^ up);                                                  \
        highs[k] += moved >> 32;                                                                   \
        lows[k] += moved & UINT64_C(0xffffffff);                                                   \
      }                                                                                            \
  }
ADD_HALVES(uint8_t)
ADD_HALVES(uint16_t)
ADD_HALVES(uint32_t)
ADD_HALVES(uint64_t)
#undef ADD_HALVES

uint64_t joist_half_of_range(joist_dtype dtype) {
  return joist_dtype_kind(dtype) == JOIST_KIND_INT
             ? UINT64_C(1) << (8 * joist_dtype_size(dtype) - 1)
             : 0;
}

void joist_halves_add(struct joist_halves sums, joist_dtype dtype, size_t width, size_t rows,
                      const void *elements) {
  const uint64_t up = joist_half_of_range(dtype);
  switch (joist_dtype_size(dtype)) {
    case 1:
      add_uint8_t(sums, (uint8_t)up, width, rows, elements);
      break;
    case 2:
      add_uint16_t(sums, (uint16_t)up, width, rows, elements);
      break;
    case 4:
      add_uint32_t(sums, (uint32_t)up, width, rows, elements);
      break;
    default:
      add_uint64_t(sums, up, width, rows, elements);
      break;
  }
}
