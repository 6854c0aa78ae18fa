/* The length of a number in binary. Owns nothing. */
#ifndef JOIST_CORE_BASE_BITS_H
#define JOIST_CORE_BASE_BITS_H

#include <stdint.h>

/* Bits of a number without leading zeros. */
static inline unsigned joist_bit_length(uint64_t x) {
  unsigned length = 0;
  for (unsigned step = 32; step > 0; step /= 2)
    if (x >> step != 0) {
      x >>= step;
      length += step;
    }
  return length + (x != 0);
}

#endif
