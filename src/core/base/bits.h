/* Small arithmetic on whole numbers: lengths, hashes, and how a range is cut. Owns nothing. */
#ifndef JOIST_CORE_BASE_BITS_H
#define JOIST_CORE_BASE_BITS_H

#include <stddef.h>
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

/* 2^64 by the golden ratio spreads keys that follow each other: D. E. Knuth, The Art of Computer
 * Programming 3, 6.4. */
#define JOIST_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* A hash with one more word in it. */
static inline uint64_t joist_hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * JOIST_GOLDEN;
  return hash ^ hash >> 32;
}

static inline size_t joist_smaller(size_t a, size_t b) { return a < b ? a : b; }

/* n / by, rounded up. */
static inline size_t joist_divide_up(size_t n, size_t by) { return n / by + (n % by != 0); }

/* The next multiple of `unit` that is not less than n. */
static inline size_t joist_round_up(size_t n, size_t unit) {
  return joist_divide_up(n, unit) * unit;
}

/* Elements first .. first + n - 1 of an array. */
struct joist_part {
  size_t first, n;
};

/* Strip k of `total` elements, all of `length` but for the last: joist_divide_up(total, length). */
static inline struct joist_part joist_strip_of(size_t total, size_t length, size_t k) {
  return (struct joist_part){k * length, joist_smaller(length, total - k * length)};
}

/* Share k of `shares` almost equal ones, of which some are empty if there are few elements. */
static inline struct joist_part joist_share_of(size_t total, size_t shares, size_t k) {
  const size_t least = total / shares, longer = total % shares;
  return (struct joist_part){least * k + joist_smaller(k, longer), least + (k < longer)};
}

#endif
