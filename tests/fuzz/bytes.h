/* The fuzzer's bytes, taken one after the other; behind the last they are 0. */
#ifndef JOIST_TESTS_FUZZ_BYTES_H
#define JOIST_TESTS_FUZZ_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
  const unsigned char *at, *end;
};

static inline size_t bytes_left(const struct bytes *bytes) {
  return (size_t)(bytes->end - bytes->at);
}

static inline unsigned take(struct bytes *bytes) {
  return bytes->at < bytes->end ? *bytes->at++ : 0;
}

static inline size_t take_below(struct bytes *bytes, size_t n) { return take(bytes) % n; }

/* Once in so many times, and not behind the last byte. */
static inline int take_one_in(struct bytes *bytes, unsigned n) { return take(bytes) % n == n - 1; }

static inline int16_t take_short(struct bytes *bytes) {
  const unsigned low = take(bytes), high = take(bytes);
  return (int16_t)(low | high << 8);
}

static inline uint64_t take_word(struct bytes *bytes) {
  uint64_t word = 0;
  for (int k = 0; k < 8; k++) word |= (uint64_t)take(bytes) << 8 * k;
  return word;
}

#endif
