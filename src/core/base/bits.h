/* Bits of numbers: lengths and hashes. Owns nothing. */
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

/* A hash with one more word in it. */
static inline uint64_t joist_hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

#endif
