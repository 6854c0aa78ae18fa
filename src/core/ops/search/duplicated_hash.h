/* Repeated elements of any keys, by hashing. Private to distinct*.c. */
#ifndef JOIST_CORE_OPS_SEARCH_DUPLICATED_HASH_H
#define JOIST_CORE_OPS_SEARCH_DUPLICATED_HASH_H

#include "core/ops/order/keys.h"
#include "core/ops/search/duplicated.h"

enum { JOIST_DISTINCT_CHUNK = 1 << 10 }; /* elements whose keys are made at once */

struct joist_elements {
  joist_dtype dtype;
  size_t size, n, parts; /* bytes of an element; elements; keys of each */
  const char *in;
  int threads;
};

static inline size_t joist_share(const struct joist_elements *x, int thread) {
  return (size_t)((uint64_t)x->n * (uint64_t)thread / (uint64_t)x->threads);
}

static inline size_t joist_chunk_length(size_t first, size_t end) {
  return end - first < JOIST_DISTINCT_CHUNK ? end - first : JOIST_DISTINCT_CHUNK;
}

static inline void joist_make_keys(const struct joist_elements *x, size_t first, size_t n,
                                   uint64_t *keys) {
  joist_match_keys(x->dtype, n, x->in + first * x->size, keys);
}

/* As joist_repeated(), for n > 0 elements. */
joist_status joist_repeated_deal(const struct joist_elements *x, uint8_t *repeated,
                                 const struct joist_run *run,
                                 struct joist_error *error) JOIST_MUST_CHECK;

#endif
