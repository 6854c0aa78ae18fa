/* Repeated elements: a stable sort brings equal ones together, the earliest first. */
#include "core/distinct.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/keys.h"
#include "core/pool.h"
#include "core/sort_radix.h"
#include "core/tasks.h"
#include "core/vectorize.h"

JOIST_VECTORIZE_FILE

enum { WORK = 16, CHUNK = 1 << 12 };

/* Elements of 8 and 16 bits: one look-up each. */
static void look_up(size_t n, joist_dtype dtype, const void *in, uint8_t *repeated, uint8_t *seen) {
  const size_t size = joist_dtype_size(dtype);
  uint64_t keys[CHUNK];
  memset(seen, 0, (size_t)1 << 16);
  for (size_t first = 0; first < n; first += CHUNK) {
    const size_t length = n - first < CHUNK ? n - first : CHUNK;
    joist_match_keys(dtype, length, (const char *)in + first * size, keys);
    for (size_t i = 0; i < length; i++) {
      repeated[first + i] = seen[keys[i]];
      seen[keys[i]] = 1;
    }
  }
}

static void make_pairs(size_t n, joist_dtype dtype, const void *in, struct joist_pair64 *pairs,
                       int threads) {
  const size_t size = joist_dtype_size(dtype);
  (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
  for (size_t first = 0; first < n; first += CHUNK) {
    uint64_t keys[CHUNK];
    const size_t length = n - first < CHUNK ? n - first : CHUNK;
    joist_match_keys(dtype, length, (const char *)in + first * size, keys);
    for (size_t i = 0; i < length; i++)
      pairs[first + i] = (struct joist_pair64){keys[i], (uint32_t)(first + i)};
  }
}

static void mark(size_t n, const struct joist_pair64 *pairs, const uint64_t *first_part,
                 uint8_t *repeated, int threads) {
  (void)threads;
  if (n > 0) repeated[pairs[0].position] = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
  for (size_t i = 1; i < n; i++)
    repeated[pairs[i].position] =
        pairs[i].key == pairs[i - 1].key &&
        (first_part == NULL || first_part[pairs[i].position] == first_part[pairs[i - 1].position]);
}

/* Elements of two keys: sorted by one, then, keeping that order, by the other. */
static joist_status sort_by_two(size_t n, const void *in, struct joist_pair64 *pairs,
                                struct joist_pair64 *scratch, uint32_t *counts, uint64_t *keys,
                                int threads, const struct joist_run *run,
                                struct joist_error *error) {
  joist_match_keys(JOIST_C128, n, in, keys);
  for (size_t i = 0; i < n; i++) pairs[i] = (struct joist_pair64){keys[i], (uint32_t)i};
  const joist_status status =
      joist_sort_shared_pair64(n, pairs, scratch, counts, threads, run, error);
  if (status != JOIST_OK) return status;
  for (size_t i = 0; i < n; i++) pairs[i].key = keys[n + pairs[i].position];
  return joist_sort_shared_pair64(n, pairs, scratch, counts, threads, run, error);
}

joist_status joist_repeated(joist_dtype dtype, size_t n, const void *in, uint8_t *repeated,
                            const struct joist_run *run, struct joist_error *error) {
  const int threads = joist_threads_for(run, n * WORK, n);
  const bool small = joist_dtype_size(dtype) <= 2, two = joist_match_parts(dtype) == 2;
  const size_t counts = (size_t)threads * JOIST_SORT_COUNTS * sizeof(uint32_t);
  const size_t bytes =
      small ? (size_t)1 << 16
            : counts + n * (2 * sizeof(struct joist_pair64) + (two ? 2 * sizeof(uint64_t) : 0));
  char *const memory = joist_pool_allocate(bytes);
  if (memory == NULL)
    return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: %zu bytes to compare elements",
                      bytes);
  joist_status status = JOIST_OK;
  if (small) {
    look_up(n, dtype, in, repeated, (uint8_t *)memory);
  } else {
    struct joist_pair64 *const pairs = (struct joist_pair64 *)(void *)(memory + counts);
    uint64_t *const keys = (uint64_t *)(void *)(pairs + 2 * n);
    uint32_t *const room = (uint32_t *)(void *)memory;
    if (two) {
      status = sort_by_two(n, in, pairs, pairs + n, room, keys, threads, run, error);
    } else {
      make_pairs(n, dtype, in, pairs, threads);
      status = joist_sort_shared_pair64(n, pairs, pairs + n, room, threads, run, error);
    }
    if (status == JOIST_OK) mark(n, pairs, two ? keys : NULL, repeated, threads);
  }
  joist_pool_free(memory);
  return status;
}
