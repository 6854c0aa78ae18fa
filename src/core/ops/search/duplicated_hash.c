/* Equal elements are dealt into one bucket by a hash of their keys, in their order, and every
 * bucket, which stays in a cache, is looked through with a table of its own. Then what is known
 * of each goes back to where the element came from. */
#include "core/ops/search/duplicated_hash.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/vectorize.h"
#include "core/kernels/kernels.h"
#include "core/kernels/sort_kernels.h"
#include "core/types/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

JOIST_VECTORIZE_FILE

enum {
  CHUNK = JOIST_DISTINCT_CHUNK,
  BUCKET_ITEMS = 1 << 13, /* of a bucket at least, about, unless there would be too many */
  MOST_BITS = 10,         /* of a bucket's number */
  BLOCK = 1 << 24         /* elements between two calls of poll */
};

struct dealt {
  struct joist_elements of;
  unsigned bits; /* of a bucket's number */
  size_t buckets;
  uint16_t *bucket;     /* of each element */
  uint16_t *bucket_of;  /* every bucket's own number */
  uint32_t *at, *first; /* per thread and bucket */
  char *lines;          /* the same */
  uint64_t *items;      /* the keys of elements */
  uint8_t *repeated;    /* of items */
  uint32_t *slots;      /* per thread; position + 1 of an item in its bucket; 0 is free */
  size_t slot_count;    /* a power of 2 */
};

/* Says which bucket elements of a thread's share are in, and counts them. */
static void choose_buckets(const struct dealt *d, int thread) {
  uint32_t *const counts = d->at + (size_t)thread * d->buckets;
  const size_t end = joist_share(&d->of, thread + 1);
  uint64_t keys[2 * CHUNK];
  memset(counts, 0, d->buckets * sizeof *counts);
  for (size_t first = joist_share(&d->of, thread); first < end; first += CHUNK) {
    const size_t n = joist_chunk_length(first, end);
    uint16_t *const bucket = d->bucket + first;
    joist_make_keys(&d->of, first, n, keys);
    for (size_t i = 0; i < n; i++) {
      const uint64_t hash = joist_match_hash(keys[i], d->of.parts == 1 ? 0 : keys[n + i]);
      bucket[i] = (uint16_t)(hash >> 1 >> (63 - d->bits));
    }
    for (size_t i = 0; i < n; i++) counts[bucket[i]]++;
  }
}

/* Where the items of each thread begin in each bucket. */
static void place_buckets(const struct dealt *d) {
  const size_t threads = (size_t)d->of.threads;
  uint32_t before = 0;
  for (size_t b = 0; b < d->buckets; b++) {
    for (size_t t = 0; t < threads; t++) {
      uint32_t *const at = &d->at[t * d->buckets + b];
      const uint32_t own = *at;
      *at = before;
      before += own;
    }
    d->bucket_of[b] = (uint16_t)b;
  }
  memcpy(d->first, d->at, threads * d->buckets * sizeof *d->at);
}

static size_t bucket_begin(const struct dealt *d, size_t b) {
  return b == d->buckets ? d->of.n : d->first[b];
}

static void deal_share(const struct dealt *d, int thread, bool past) {
  const size_t room = (size_t)thread * d->buckets, end = joist_share(&d->of, thread + 1);
  joist_deal *const deal = joist_deal_find(d->of.parts * sizeof(uint64_t));
  const struct joist_dealing dealing = {
      d->buckets, d->bucket_of, d->at + room, d->first + room, d->lines + room * JOIST_LINE,
      d->items,   past};
  uint64_t keys[2 * CHUNK], both[2 * CHUNK];
  uint32_t bucket[CHUNK];
  for (size_t first = joist_share(&d->of, thread); first < end; first += CHUNK) {
    const size_t n = joist_chunk_length(first, end);
    joist_make_keys(&d->of, first, n, keys);
    for (size_t i = 0; i < n; i++) bucket[i] = d->bucket[first + i];
    for (size_t i = 0; d->of.parts == 2 && i < n; i++) {
      both[2 * i] = keys[i];
      both[2 * i + 1] = keys[n + i];
    }
    deal(n, d->of.parts == 2 ? both : keys, bucket, false, &dealing);
  }
  deal(0, keys, bucket, true, &dealing);
}

enum outcome { NONE = 0, SOME = 1, TOO_MANY = 2 };

/* Are there repeated items in a bucket, or too many others for the table? */
static enum outcome look_through(const struct dealt *d, size_t b, size_t slot_count,
                                 uint32_t *slots) {
  const size_t begin = bucket_begin(d, b), n = bucket_begin(d, b + 1) - begin;
  const size_t parts = d->of.parts, mask = slot_count - 1, most = slot_count - slot_count / 4;
  const uint64_t *const items = d->items + begin * parts;
  uint8_t *const repeated = d->repeated + begin;
  size_t others = 0;
  if (n > 0) memset(slots, 0, slot_count * sizeof *slots);
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = items[i * parts], other = parts == 1 ? 0 : items[i * parts + 1];
    size_t slot = (size_t)joist_match_hash(key, other) & mask;
    bool found = false;
    for (; slots[slot] != 0 && !found; slot = (slot + 1) & mask) {
      const uint64_t *const item = items + (slots[slot] - 1) * parts;
      found = item[0] == key && (parts == 1 || item[1] == other);
    }
    repeated[i] = found;
    if (found) continue;
    if (++others == most) return TOO_MANY;
    slots[slot] = (uint32_t)i + 1;
  }
  return others == n ? NONE : SOME;
}

/* A bucket for which the threads' tables are too small: many hashes begin alike. */
static joist_status look_through_alone(const struct dealt *d, size_t b, struct joist_error *error) {
  const size_t n = bucket_begin(d, b + 1) - bucket_begin(d, b);
  size_t slots = d->slot_count;
  while (slots < 2 * n) slots *= 2;
  uint32_t *const table = joist_pool_allocate(slots * sizeof *table);
  if (table == NULL)
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = slots * sizeof *table);
  (void)look_through(d, b, slots, table);
  joist_pool_free(table);
  return JOIST_OK;
}

static joist_status look_through_all(const struct dealt *d, uint8_t *outcome, bool *some,
                                     const struct joist_run *run, struct joist_error *error) {
  joist_status status = JOIST_OK;
  *some = false;
  for (size_t begin = 0, end = 0; begin < d->buckets && status == JOIST_OK; begin = end) {
    const size_t before = bucket_begin(d, begin);
    while (end < d->buckets && (end == begin || bucket_begin(d, end + 1) - before <= BLOCK)) end++;
    status = joist_run_poll(run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel for num_threads(d->of.threads) if (d->of.threads > 1) schedule(dynamic, 1)
#endif
    for (size_t b = begin; b < end; b++) {
      uint32_t *slots = d->slots;
#ifdef _OPENMP
      slots += (size_t)omp_get_thread_num() * d->slot_count;
#endif
      outcome[b] = (uint8_t)look_through(d, b, d->slot_count, slots);
    }
  }
  for (size_t b = 0; b < d->buckets && status == JOIST_OK; b++) {
    *some |= outcome[b] != NONE;
    if (outcome[b] == TOO_MANY) status = look_through_alone(d, b, error);
  }
  return status;
}

/* What is known of items goes to the elements of a thread's share. */
static void take_back(const struct dealt *d, int thread, uint8_t *repeated) {
  const size_t end = joist_share(&d->of, thread + 1);
  uint32_t *const at = d->first + (size_t)thread * d->buckets;
  const uint16_t *const bucket = d->bucket;
  const uint8_t *const from = d->repeated;
  for (size_t i = joist_share(&d->of, thread); i < end; i++) repeated[i] = from[at[bucket[i]]++];
}

static joist_status find_repeated(const struct dealt *d, uint8_t *outcome, uint8_t *repeated,
                                  const struct joist_run *run, struct joist_error *error) {
  const bool past = d->of.n >= joist_stream_from(run) / (d->of.parts * sizeof *d->items);
  bool some = false;
#ifdef _OPENMP
#pragma omp parallel for num_threads(d->of.threads) if (d->of.threads > 1)
#endif
  for (int t = 0; t < d->of.threads; t++) choose_buckets(d, t);
  place_buckets(d);
  joist_status status = joist_run_poll(run, error);
  if (status != JOIST_OK) return status;
#ifdef _OPENMP
#pragma omp parallel for num_threads(d->of.threads) if (d->of.threads > 1)
#endif
  for (int t = 0; t < d->of.threads; t++) deal_share(d, t, past);
  status = look_through_all(d, outcome, &some, run, error);
  if (status != JOIST_OK) return status;
  if (!some) {
    memset(repeated, 0, d->of.n);
    return JOIST_OK;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(d->of.threads) if (d->of.threads > 1)
#endif
  for (int t = 0; t < d->of.threads; t++) take_back(d, t, repeated);
  return JOIST_OK;
}

static size_t lines_of(size_t bytes) { return (bytes + JOIST_LINE - 1) / JOIST_LINE * JOIST_LINE; }

joist_status joist_repeated_deal(const struct joist_elements *x, uint8_t *repeated,
                                 const struct joist_run *run, struct joist_error *error) {
  struct dealt d = {.of = *x};
  const size_t n = x->n, threads = (size_t)x->threads;
  while (n >> d.bits >= 2 * BUCKET_ITEMS && d.bits < MOST_BITS) d.bits++;
  d.buckets = (size_t)1 << d.bits;
  d.slot_count = (size_t)2 << joist_bit_length(n >> d.bits);
  const size_t tables = threads * d.buckets;
  enum { ITEMS, LINES, AT, FIRST, SLOTS, BUCKET, BUCKET_OF, REPEATED, OUTCOME, COUNT };
  const size_t sizes[COUNT] = {[ITEMS] = n * x->parts * sizeof *d.items,
                               [LINES] = tables * JOIST_LINE,
                               [AT] = tables * sizeof *d.at,
                               [FIRST] = tables * sizeof *d.first,
                               [SLOTS] = threads * d.slot_count * sizeof *d.slots,
                               [BUCKET] = n * sizeof *d.bucket,
                               [BUCKET_OF] = d.buckets * sizeof *d.bucket_of,
                               [REPEATED] = n,
                               [OUTCOME] = d.buckets};
  size_t bytes = 0;
  for (int k = 0; k < COUNT; k++) bytes += lines_of(sizes[k]);
  char *const memory = joist_pool_allocate(bytes), *at = memory;
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  void *parts[COUNT];
  for (int k = 0; k < COUNT; k++) {
    parts[k] = at;
    at += lines_of(sizes[k]);
  }
  d.items = parts[ITEMS];
  d.lines = parts[LINES];
  d.at = parts[AT];
  d.first = parts[FIRST];
  d.slots = parts[SLOTS];
  d.bucket = parts[BUCKET];
  d.bucket_of = parts[BUCKET_OF];
  d.repeated = parts[REPEATED];
  const joist_status status = find_repeated(&d, parts[OUTCOME], repeated, run, error);
  joist_pool_free(memory);
  return status;
}
