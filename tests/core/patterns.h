/* patterns.h: random bits, floats by their bits, and whole numbers by their bytes. */
#ifndef JOIST_TESTS_PATTERNS_H
#define JOIST_TESTS_PATTERNS_H

#include <stdint.h>
#include <string.h>

#include "check.h"

CHECK_UNUSED static uint64_t random_state = 88172645463325252u;

CHECK_UNUSED static uint64_t random_bits(void) { /* xorshift64*: Vigna, arXiv:1402.6246 */
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(2685821657736338717);
}

/* The bytes of a whole number of `size` bytes among those of a uint64_t. */
static inline char *whole_bytes(uint64_t *number, size_t size) {
  const uint16_t one = 1;
  const int little = *(const unsigned char *)&one == 1;
  return (char *)number + (little ? 0 : sizeof *number - size);
}

static inline float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

#endif
