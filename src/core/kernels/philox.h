/* Counter-based random bits: Philox 4x32 with 10 rounds, from Salmon, Moraes, Dror and Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3" (SC11, 2011).
 *
 * A block of four words is a function of a key and a counter alone: nothing is stepped
 * through, so any element of a result can be computed anywhere, in any order. */
#ifndef JOIST_CORE_KERNELS_PHILOX_H
#define JOIST_CORE_KERNELS_PHILOX_H

#include <stdint.h>

#include "core/base/target.h"

/* What the last word of a counter says that a block is for, so that no block is used
 * twice. */
typedef enum {
  JOIST_STREAM_DENSE,   /* the bits of a result, one block after the other */
  JOIST_STREAM_ELEMENT, /* blocks of one element, numbered by its attempts */
  JOIST_STREAM_FOLD,    /* new keys from a key and a number */
  JOIST_STREAM_SPLIT    /* new keys from a key */
} joist_stream_use;

struct joist_stream {
  uint32_t key[2];
  uint32_t attempt;
  joist_stream_use use;
};

struct joist_block {
  uint32_t word[4];
};

JOIST_INLINE struct joist_block philox_round(struct joist_block x, uint32_t key0, uint32_t key1) {
  const uint64_t p = UINT64_C(0xD2511F53) * x.word[0], q = UINT64_C(0xCD9E8D57) * x.word[2];
  const struct joist_block next = {{(uint32_t)(q >> 32) ^ x.word[1] ^ key0, (uint32_t)q,
                                    (uint32_t)(p >> 32) ^ x.word[3] ^ key1, (uint32_t)p}};
  return next;
}

/* Rounds 2k and 2k + 1; the key moves on by the golden ratio and by sqrt(3) - 1. */
JOIST_INLINE struct joist_block philox_rounds(struct joist_block x, const uint32_t *key,
                                              uint32_t k) {
  const uint32_t key0 = key[0] + 2 * k * 0x9E3779B9u, key1 = key[1] + 2 * k * 0xBB67AE85u;
  return philox_round(philox_round(x, key0, key1), key0 + 0x9E3779B9u, key1 + 0xBB67AE85u);
}

JOIST_INLINE struct joist_block philox(struct joist_block counter, const uint32_t *key) {
  struct joist_block x = philox_rounds(counter, key, 0);
  x = philox_rounds(x, key, 1);
  x = philox_rounds(x, key, 2);
  x = philox_rounds(x, key, 3);
  return philox_rounds(x, key, 4);
}

JOIST_INLINE struct joist_block stream_block(const struct joist_stream *stream, uint64_t number) {
  const struct joist_block counter = {
      {(uint32_t)number, (uint32_t)(number >> 32), stream->attempt, (uint32_t)stream->use}};
  return philox(counter, stream->key);
}

/* The bits of an element that is drawn attempt by attempt, with the key of `stream`. */
JOIST_INLINE struct joist_block element_block(const struct joist_stream *stream, uint64_t element,
                                              uint32_t attempt) {
  const struct joist_stream own = {{stream->key[0], stream->key[1]}, attempt, JOIST_STREAM_ELEMENT};
  return stream_block(&own, element);
}

JOIST_INLINE uint64_t wide_word(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

#endif
