/* Sorting one long line: elements are dealt into buckets by their keys, each of which is then
 * sorted in a cache.
 *
 * Keys are often spread unevenly, those of floats for instance. They are counted in many small
 * buckets of one width first, and neighbouring ones put together until a bucket has enough
 * items. Where there are fewer possible keys than elements, counting them is all there is to
 * do: in the whole line, or in one bucket. */
#include "core/ops/order/sort_parallel.h"

#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/kernels/kernels.h"
#include "core/ops/order/sort_bucket.h"
#include "core/ops/order/sort_radix.h"
#include "core/types/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  DIRECT_BITS = 16,       /* keys of so many bits are counted in the whole line */
  SMALL_BITS = 16,        /* of the number of small buckets */
  BUCKETS = 1 << 10,      /* at most */
  BUCKET_BYTES = 1 << 17, /* of a bucket at least, unless there would be too many */
  CHUNK = 1 << 16,        /* elements written at once */
  SHARED = 1 << 16,       /* elements of a bucket that several threads may share */
  BLOCK = 1 << 24         /* elements between two calls of poll */
};

static size_t share(const struct joist_sorting *s, int thread) {
  return (size_t)((uint64_t)s->n * (uint64_t)thread / (uint64_t)s->threads);
}

static void look(struct joist_sorting *s) {
  s->line = (struct joist_line){.low = UINT64_MAX};
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) {
    struct joist_line own = {.low = UINT64_MAX};
    s->kernels->look(share(s, t), share(s, t + 1), s->in, s->order, &own);
#ifdef _OPENMP
#pragma omp critical(joist_sort_line)
#endif
    {
      struct joist_line *const all = &s->line;
      if (own.low < all->low) all->low = own.low;
      if (own.high > all->high) all->high = own.high;
      all->differ |= own.differ;
      all->falls |= own.falls;
      all->nan += own.nan;
      all->minus_zero += own.minus_zero;
    }
  }
}

/* counts[t * small + k]: elements of thread t's share in small bucket k. */
static void count(const struct joist_sorting *s, uint32_t *counts) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) {
    uint32_t *const own = counts + (size_t)t * s->small;
    const size_t first = share(s, t);
    memset(own, 0, s->small * sizeof *own);
    s->kernels->count(share(s, t + 1) - first, s->in + first * s->size, s->order, s->line.low,
                      s->shift, own);
  }
}

/* The line itself is in order. */
static void copy(const struct joist_sorting *s) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) {
    const size_t first = share(s, t) * s->size;
    memcpy(s->out + first, s->in + first, share(s, t + 1) * s->size - first);
  }
}

/* Every small bucket is one key. */
static void write_counted(const struct joist_sorting *s, uint32_t *counts) {
  uint32_t before = 0;
  for (size_t k = 0; k < s->small; k++) {
    for (size_t t = 0; t < (size_t)s->threads; t++) before += counts[t * s->small + k];
    counts[k] = before;
  }
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1) schedule(dynamic, 1)
#endif
  for (size_t first = 0; first < s->n; first += CHUNK)
    s->kernels->fill(first, s->n - first < CHUNK ? s->n : first + CHUNK, s->small, counts,
                     s->line.low, s->order, s->out);
}

/* Large buckets by all threads, the rest one each. */
static joist_status sort_buckets(const struct joist_sorting *s, size_t buckets,
                                 const struct joist_bucket *bucket, size_t large, size_t room,
                                 struct joist_error *error) {
  joist_status status = JOIST_OK;
  for (size_t b = 0; b < buckets && status == JOIST_OK; b++)
    if (bucket[b].end - bucket[b].begin > large) status = joist_share_bucket(s, &bucket[b], error);
  for (size_t begin = 0, end = 0; begin < buckets && status == JOIST_OK; begin = end) {
    while (end < buckets && (end == begin || bucket[end].end - bucket[begin].begin <= BLOCK)) end++;
    status = joist_run_poll(s->run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1) schedule(dynamic, 1)
#endif
    for (size_t b = begin; b < end; b++) {
      size_t thread = 0;
#ifdef _OPENMP
      thread = (size_t)omp_get_thread_num();
#endif
      if (bucket[b].end - bucket[b].begin <= large)
        joist_sort_bucket(s, &bucket[b], s->counts + thread * JOIST_SORT_COUNTS,
                          s->room + thread * room);
    }
  }
  return status;
}

/* What dealing needs: tables for all threads, then those of every thread. */
struct tables {
  struct joist_bucket *bucket;
  uint16_t *bucket_of;
  uint32_t *at, *first, *position_at; /* BUCKETS each per thread */
  char *lines, *position_lines;       /* the same; those of positions are there for pairs */
};

/* Puts small buckets together; says how many buckets there are. */
static size_t make_buckets(const struct joist_sorting *s, const uint32_t *counts,
                           const struct tables *tables) {
  const size_t threads = (size_t)s->threads, cached = BUCKET_BYTES / s->item;
  const size_t least = s->n / (BUCKETS / 2) >= cached ? s->n / (BUCKETS / 2) + 1 : cached;
  size_t b = 0, own = 0;
  tables->bucket[0] = (struct joist_bucket){0, 0, 0, 0};
  for (size_t k = 0; k < s->small; k++) {
    size_t next = 0;
    for (size_t t = 0; t < threads; t++) next += counts[t * s->small + k];
    /* Any two buckets in turn have `least` items, so that there are never too many. */
    if (own > 0 && own + next > least) {
      tables->bucket[b + 1] =
          (struct joist_bucket){tables->bucket[b].end, tables->bucket[b].end, k, k};
      own = 0;
      b++;
    }
    own += next;
    tables->bucket[b].end += next;
    tables->bucket[b].small_end = k + 1;
    tables->bucket_of[k] = (uint16_t)b;
  }
  memset(tables->at, 0, threads * BUCKETS * sizeof *tables->at);
  for (size_t t = 0; t < threads; t++)
    for (size_t k = 0; k < s->small; k++)
      tables->at[t * BUCKETS + tables->bucket_of[k]] += counts[t * s->small + k];
  for (size_t i = 0; i <= b; i++) {
    uint32_t before = (uint32_t)tables->bucket[i].begin;
    for (size_t t = 0; t < threads; t++) {
      const uint32_t count_here = tables->at[t * BUCKETS + i];
      tables->at[t * BUCKETS + i] = before;
      before += count_here;
    }
  }
  memcpy(tables->first, tables->at, threads * BUCKETS * sizeof *tables->at);
  memcpy(tables->position_at, tables->at, threads * BUCKETS * sizeof *tables->at);
  return b + 1;
}

static void deal_share(const struct joist_sorting *s, int thread, const struct tables *tables,
                       size_t buckets) {
  const size_t first = share(s, thread), n = share(s, thread + 1) - first;
  const size_t room = (size_t)thread * BUCKETS;
  const void *const in = s->in + first * s->size;
  const struct joist_dealing dealing = {.buckets = buckets,
                                        .bucket_of = tables->bucket_of,
                                        .at = tables->at + room,
                                        .first = tables->first + room,
                                        .lines = tables->lines + room * JOIST_LINE,
                                        .out = s->items,
                                        .past = s->n >= joist_stream_from(s->run) / s->item};
  struct joist_dealing positions = dealing;
  const uint64_t low = s->line.low;
  switch (s->what) {
    case JOIST_KEYS:
      s->kernels->deal_keys(n, in, s->order, low, s->shift, &dealing);
      return;
    case JOIST_WORDS:
      s->kernels->deal_words(n, in, s->order, low, s->shift, s->zeros, s->place, (uint32_t)first,
                             &dealing);
      return;
    default:
      positions.at = tables->position_at + room;
      positions.lines = tables->position_lines + room * JOIST_LINE;
      positions.out = s->positions;
      s->kernels->deal_pairs(n, in, s->order, low, s->shift, (uint32_t)first, &dealing, &positions);
  }
}

static joist_status deal(struct joist_sorting *s, const uint32_t *counts,
                         const struct tables *tables, struct joist_error *error) {
  const size_t buckets = make_buckets(s, counts, tables), threads = (size_t)s->threads;
  const size_t part = s->n / (threads * 2), large = part > SHARED ? part : SHARED;
  size_t longest = 0, longest_alone = 0; /* of all buckets; of those that one thread sorts */
  for (size_t b = 0; b < buckets; b++) {
    const size_t n = tables->bucket[b].end - tables->bucket[b].begin;
    longest = n > longest ? n : longest;
    if (n <= large) longest_alone = n > longest_alone ? n : longest_alone;
  }
  const size_t alone = longest_alone * joist_bucket_room(s);
  const size_t shared = longest * joist_bucket_room(s);
  const size_t numbers = threads * alone > shared ? threads * alone : shared;
  const size_t bytes = threads * JOIST_SORT_COUNTS * sizeof(uint32_t) + numbers * sizeof *s->room;
  char *const memory = joist_pool_allocate(bytes);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  s->counts = (uint32_t *)(void *)memory;
  s->room = (uint64_t *)(void *)(s->counts + threads * JOIST_SORT_COUNTS);
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) deal_share(s, t, tables, buckets);
  const joist_status status = sort_buckets(s, buckets, tables->bucket, large, alone, error);
  joist_pool_free(memory);
  return status;
}

/* Counts and deals a line that is not sorted, its elements or their positions. */
static joist_status sort_line(struct joist_sorting *s, struct joist_error *error) {
  const uint64_t span = s->line.high - s->line.low;
  const unsigned length = joist_bit_length(span);
  const size_t threads = (size_t)s->threads;
  const bool direct =
      s->what == JOIST_KEYS && length <= DIRECT_BITS && (s->size <= 2 || span < s->n);
  s->shift = direct || length <= SMALL_BITS ? 0 : length - SMALL_BITS;
  if (s->shift < s->zeros) s->shift = s->zeros;
  s->small = (size_t)(span >> s->shift) + 1;
  const size_t item_bytes = direct ? 0 : (s->n * s->item + 63) / 64 * 64;
  const size_t line_bytes = direct ? 0 : threads * BUCKETS * JOIST_LINE;
  const bool pairs = s->what == JOIST_PAIRS;
  const size_t position_bytes = pairs ? (s->n * sizeof *s->positions + 63) / 64 * 64 : 0;
  const size_t count_bytes = (s->small * threads * sizeof(uint32_t) + 63) / 64 * 64;
  const size_t at_bytes = threads * BUCKETS * sizeof(uint32_t);
  const size_t bytes = item_bytes + position_bytes + 2 * line_bytes + count_bytes + 3 * at_bytes +
                       BUCKETS * sizeof(struct joist_bucket) + s->small * sizeof(uint16_t);
  char *const memory = joist_pool_allocate(bytes);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  char *const lines = memory + item_bytes + position_bytes;
  char *const counted = lines + 2 * line_bytes;
  char *const at = counted + count_bytes;
  char *const bucket = at + 3 * at_bytes;
  const struct tables tables = {
      .bucket = (struct joist_bucket *)(void *)bucket,
      .bucket_of = (uint16_t *)(void *)(bucket + BUCKETS * sizeof(struct joist_bucket)),
      .at = (uint32_t *)(void *)at,
      .first = (uint32_t *)(void *)(at + at_bytes),
      .position_at = (uint32_t *)(void *)(at + 2 * at_bytes),
      .lines = lines,
      .position_lines = lines + line_bytes};
  s->positions = (uint32_t *)(void *)(memory + item_bytes);
  uint32_t *const counts = (uint32_t *)(void *)counted;
  s->items = memory;
  joist_status status = joist_run_poll(s->run, error);
  if (status == JOIST_OK) {
    count(s, counts);
    if (direct)
      write_counted(s, counts);
    else
      status = deal(s, counts, &tables, error);
  }
  joist_pool_free(memory);
  return status;
}

/* A line that has been looked at. */
static struct joist_sorting looked_at(size_t size, size_t n, const void *in,
                                      struct joist_order order, int threads,
                                      const struct joist_run *run, void *out) {
  struct joist_sorting s = {.kernels = joist_sort_kernels(size),
                            .size = size,
                            .n = n,
                            .in = in,
                            .order = order,
                            .threads = threads,
                            .run = run,
                            .out = out};
  look(&s);
  return s;
}

joist_status joist_sort_long(size_t size, size_t n, const void *in, struct joist_order order,
                             int threads, const struct joist_run *run, void *out,
                             struct joist_line *special, struct joist_error *error) {
  struct joist_sorting s = looked_at(size, n, in, order, threads, run, out);
  s.what = JOIST_KEYS;
  s.item = size;
  *special = s.line;
  if (s.line.falls) return sort_line(&s, error);
  *special = (struct joist_line){.falls = false};
  copy(&s);
  return JOIST_OK;
}

joist_status joist_order_long(size_t size, size_t n, const void *in, struct joist_order order,
                              int threads, const struct joist_run *run, int32_t *out,
                              struct joist_error *error) {
  struct joist_sorting s = looked_at(size, n, in, order, threads, run, out);
  if (!s.line.falls) {
    for (size_t i = 0; i < n; i++) out[i] = (int32_t)i + 1;
    return JOIST_OK;
  }
  s.place = joist_bit_length(n - 1);
  while ((s.line.differ >> s.zeros & 1) == 0) s.zeros++;
  const unsigned length = joist_bit_length(s.line.high - s.line.low) - s.zeros;
  s.what = length + s.place <= 64 ? JOIST_WORDS : JOIST_PAIRS;
  if (s.what == JOIST_PAIRS) s.zeros = 0;
  s.item = sizeof(uint64_t);
  return sort_line(&s, error);
}
