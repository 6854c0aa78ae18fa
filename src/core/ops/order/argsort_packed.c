/* A word holds the distance of a key from the lowest one, and its position in the bits below.
 * Where there is no room for both, the lowest bits of keys are left out: words that are equal
 * but for the position are sorted again by what was left out, for which there is room then. */
#include "core/ops/order/argsort_packed.h"

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/base/vectorize.h"

JOIST_VECTORIZE_FILE

struct keys {
  size_t n;
  const uint64_t *key;
  uint64_t low, high;
  unsigned place, dropped; /* bits of a position, and of a key that are left out */
  uint64_t *words, *scratch;
};

static void widen_bounds(struct keys *keys, size_t begin, size_t end) {
  uint64_t low = keys->low, high = keys->high;
  for (size_t i = begin; i < end; i++) {
    const uint64_t key = keys->key[i];
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  keys->low = low;
  keys->high = high;
}

static void make_words(const struct keys *keys, size_t begin, size_t end) {
  const uint64_t *const key = keys->key, low = keys->low;
  const unsigned place = keys->place, dropped = keys->dropped;
  uint64_t *const words = keys->words;
  JOIST_VECTORIZE_LOOP
  for (size_t i = begin; i < end; i++) words[i] = (key[i] - low) >> dropped << place | i;
}

/* What was left out of keys follows from their bounds. */
static void make_all_words(struct keys *keys, int threads) {
  const size_t n = keys->n, length = n / (size_t)threads + 1;
  const struct keys unbounded = *keys;
  if (threads == 1) {
    widen_bounds(keys, 0, n);
  } else {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)
#endif
    for (size_t begin = 0; begin < n; begin += length) {
      struct keys own = unbounded;
      widen_bounds(&own, begin, n - begin < length ? n : begin + length);
#ifdef _OPENMP
#pragma omp critical(joist_sort_words)
#endif
      {
        if (own.low < keys->low) keys->low = own.low;
        if (own.high > keys->high) keys->high = own.high;
      }
    }
  }
  const unsigned bits = joist_bit_length(keys->high - keys->low) + keys->place;
  if (bits > 64) keys->dropped = bits - 64;
  if (threads == 1) {
    make_words(keys, 0, n);
    return;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)
#endif
  for (size_t begin = 0; begin < n; begin += length)
    make_words(keys, begin, n - begin < length ? n : begin + length);
}

/* The first position from i on that begins a run of words that are equal but for the position. */
static size_t run_from(const struct keys *keys, size_t i) {
  const uint64_t *const words = keys->words;
  while (i > 0 && i < keys->n && words[i] >> keys->place == words[i - 1] >> keys->place) i++;
  return i;
}

/* Sorts the runs of words begin .. end - 1 by what was left out. */
static void sort_runs(const struct keys *keys, size_t begin, size_t end, uint32_t *counts) {
  const uint64_t position = (UINT64_C(1) << keys->place) - 1;
  const uint64_t left_out = (UINT64_C(1) << keys->dropped) - 1;
  uint64_t *const words = keys->words;
  for (size_t first = begin, last; first < end; first = last) {
    const uint64_t upper = words[first] >> keys->place;
    for (last = first + 1; last < end && words[last] >> keys->place == upper; last++) continue;
    if (last - first == 1) continue;
    for (size_t i = first; i < last; i++) {
      const uint64_t at = words[i] & position;
      words[i] = ((keys->key[at] - keys->low) & left_out) << keys->place | at;
    }
    joist_sort_key64(last - first, words + first, keys->scratch + first, counts);
  }
}

/* Runs are shared among threads once it is known where they begin. */
static void sort_left_out(const struct keys *keys, uint32_t *counts, int threads) {
  enum { PARTS = 64 };
  size_t begin[PARTS + 1];
  if (threads == 1) {
    sort_runs(keys, 0, keys->n, counts);
    return;
  }
  for (size_t part = 0; part <= PARTS; part++)
    begin[part] = run_from(keys, (size_t)((uint64_t)keys->n * part / PARTS));
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
#endif
  for (int part = 0; part < PARTS; part++) {
    uint32_t *own = counts;
#ifdef _OPENMP
    own += (size_t)omp_get_thread_num() * JOIST_SORT_COUNTS;
#endif
    sort_runs(keys, begin[part], begin[part + 1], own);
  }
}

joist_status joist_order_words(size_t n, const uint64_t *key, uint64_t *words, uint64_t *scratch,
                               uint32_t *counts, int threads, const struct joist_run *run,
                               uint64_t *mask, struct joist_error *error) {
  struct keys keys = {.n = n,
                      .key = key,
                      .low = UINT64_MAX,
                      .place = joist_bit_length(n - 1),
                      .words = words,
                      .scratch = scratch};
  *mask = (UINT64_C(1) << keys.place) - 1;
  make_all_words(&keys, threads);
  if (keys.high == keys.low) return JOIST_OK;
  const joist_status status =
      joist_sort_shared_key64(n, words, scratch, counts, threads, run, error);
  if (status == JOIST_OK && keys.dropped > 0) sort_left_out(&keys, counts, threads);
  return status;
}
