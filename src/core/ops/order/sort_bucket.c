/* Sorting the buckets of a long line. */
#include "core/ops/order/sort_bucket.h"

#include <string.h>

#include "core/base/vectorize.h"
#include "core/ops/order/argsort_packed.h"
#include "core/ops/order/sort_radix.h"

JOIST_VECTORIZE_FILE

enum { CHUNK = 1 << 16 }; /* elements that a thread writes at once */

size_t joist_bucket_room(const struct joist_sorting *s) {
  switch (s->what) {
    case JOIST_KEYS: /* there is room in the result */
      return 0;
    case JOIST_WORDS:
      return 1;
    default: /* words and scratch */
      return 2;
  }
}

/* ---- elements ---- */

static void write_elements(const struct joist_sorting *s, size_t begin, size_t end) {
  s->kernels->elements(end - begin, s->items + begin * s->size, s->order, s->out + begin * s->size);
}

static void sort_keys(const struct joist_sorting *s, const struct joist_bucket *bucket,
                      uint32_t *counts) {
  const size_t at = bucket->begin * s->size, n = bucket->end - bucket->begin;
  void *const keys = s->items + at, *const scratch = s->out + at;
  if (s->size == sizeof(uint32_t))
    joist_sort_key32(n, keys, scratch, counts);
  else
    joist_sort_key64(n, keys, scratch, counts);
  write_elements(s, bucket->begin, bucket->end);
}

static void count_keys(const struct joist_sorting *s, const struct joist_bucket *bucket,
                       size_t span, uint32_t *counts) {
  const size_t at = bucket->begin * s->size, n = bucket->end - bucket->begin;
  const uint64_t low = s->line.low + ((uint64_t)bucket->small << s->shift);
  memset(counts, 0, span * sizeof *counts);
  s->kernels->count_keys(n, s->items + at, low, counts);
  for (size_t k = 1; k < span; k++) counts[k] += counts[k - 1];
  s->kernels->fill(0, n, span, counts, low, s->order, s->out + at);
}

/* ---- positions ---- */

static void write_positions(const struct joist_sorting *s, size_t begin, size_t end) {
  const uint64_t *const words = (const uint64_t *)(const void *)s->items;
  const uint32_t position = (uint32_t)((UINT64_C(1) << s->place) - 1);
  int32_t *const out = (int32_t *)(void *)s->out;
  JOIST_VECTORIZE_LOOP
  for (size_t i = begin; i < end; i++) out[i] = (int32_t)((uint32_t)words[i] & position) + 1;
}

static void sort_words(const struct joist_sorting *s, const struct joist_bucket *bucket,
                       uint32_t *counts, uint64_t *room) {
  uint64_t *const words = (uint64_t *)(void *)s->items + bucket->begin;
  joist_sort_key64(bucket->end - bucket->begin, words, room, counts);
  write_positions(s, bucket->begin, bucket->end);
}

static void count_words(const struct joist_sorting *s, const struct joist_bucket *bucket,
                        size_t span, uint32_t *counts) {
  const uint64_t *const words = (const uint64_t *)(const void *)s->items + bucket->begin;
  const uint32_t position = (uint32_t)((UINT64_C(1) << s->place) - 1);
  const size_t n = bucket->end - bucket->begin, low = bucket->small << (s->shift - s->zeros);
  int32_t *const out = (int32_t *)(void *)s->out + bucket->begin;
  if (span == 1) { /* equal keys are in order */
    write_positions(s, bucket->begin, bucket->end);
    return;
  }
  memset(counts, 0, span * sizeof *counts);
  for (size_t i = 0; i < n; i++) counts[(words[i] >> s->place) - low]++;
  uint32_t before = 0;
  for (size_t k = 0; k < span; k++) {
    const uint32_t own = counts[k];
    counts[k] = before;
    before += own;
  }
  for (size_t i = 0; i < n; i++)
    out[counts[(words[i] >> s->place) - low]++] = (int32_t)((uint32_t)words[i] & position) + 1;
}

static void write_paired(size_t n, const uint64_t *words, uint64_t mask, const uint32_t *positions,
                         int32_t *out) {
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)positions[words[i] & mask] + 1;
}

static void sort_pairs(const struct joist_sorting *s, const struct joist_bucket *bucket,
                       uint32_t *counts, uint64_t *room) {
  const size_t at = bucket->begin, n = bucket->end - at;
  const uint64_t *const keys = (const uint64_t *)(const void *)s->items + at;
  uint64_t mask;
  /* One thread does not fail. */
  (void)joist_order_words(n, keys, room, room + n, counts, 1, s->run, &mask, NULL);
  write_paired(n, room, mask, s->positions + at, (int32_t *)(void *)s->out + at);
}

static joist_status share_pairs(const struct joist_sorting *s, const struct joist_bucket *bucket,
                                struct joist_error *error) {
  const size_t at = bucket->begin, n = bucket->end - at;
  const uint64_t *const keys = (const uint64_t *)(const void *)s->items + at;
  int32_t *const out = (int32_t *)(void *)s->out + at;
  uint64_t mask;
  const joist_status status =
      joist_order_words(n, keys, s->room, s->room + n, s->counts, s->threads, s->run, &mask, error);
  if (status != JOIST_OK) return status;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (size_t first = 0; first < n; first += CHUNK)
    write_paired(n - first < CHUNK ? n - first : CHUNK, s->room + first, mask, s->positions + at,
                 out + first);
  return JOIST_OK;
}

/* ---- a bucket ---- */

void joist_sort_bucket(const struct joist_sorting *s, const struct joist_bucket *bucket,
                       uint32_t *counts, uint64_t *room) {
  const size_t n = bucket->end - bucket->begin;
  const size_t small = bucket->small_end - bucket->small;
  const size_t most = n < JOIST_SORT_COUNTS ? n : JOIST_SORT_COUNTS;
  const unsigned shift = s->shift - s->zeros; /* of small buckets, without what is left out */
  const bool few = small <= most >> shift;
  if (n == 0) return;
  switch (s->what) {
    case JOIST_KEYS:
      if (few)
        count_keys(s, bucket, small << shift, counts);
      else
        sort_keys(s, bucket, counts);
      return;
    case JOIST_WORDS:
      if (few)
        count_words(s, bucket, small << shift, counts);
      else
        sort_words(s, bucket, counts, room);
      return;
    default:
      sort_pairs(s, bucket, counts, room);
  }
}

joist_status joist_share_bucket(const struct joist_sorting *s, const struct joist_bucket *bucket,
                                struct joist_error *error) {
  const size_t at = bucket->begin, n = bucket->end - at;
  void *const items = s->items + at * s->item;
  if (s->what == JOIST_PAIRS) return share_pairs(s, bucket, error);
  void *const scratch = s->what == JOIST_WORDS ? (void *)s->room : s->out + at * s->item;
  const joist_status status =
      s->item == sizeof(uint32_t)
          ? joist_sort_shared_key32(n, items, scratch, s->counts, s->threads, s->run, error)
          : joist_sort_shared_key64(n, items, scratch, s->counts, s->threads, s->run, error);
  if (status != JOIST_OK) return status;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (size_t first = at; first < bucket->end; first += CHUNK) {
    const size_t end = bucket->end - first < CHUNK ? bucket->end : first + CHUNK;
    if (s->what == JOIST_KEYS)
      write_elements(s, first, end);
    else
      write_positions(s, first, end);
  }
  return JOIST_OK;
}
