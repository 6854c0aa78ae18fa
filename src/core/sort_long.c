/* Sorting one long line: elements are dealt into buckets by their keys, each of which is then
 * sorted in a cache.
 *
 * Keys are often spread unevenly, those of floats for instance. They are counted in many small
 * buckets of one width first, and neighbouring ones put together until a bucket has enough
 * items. Where there are fewer possible keys than elements, counting them is all there is to
 * do: in the whole line, or in one bucket. */
#include "core/sort_long.h"

#include <string.h>

#include "core/kernels.h"
#include "core/pool.h"
#include "core/sort_radix.h"
#include "core/tasks.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  DIRECT_BITS = 16,       /* keys of so many bits are counted in the whole line */
  SMALL_BITS = 14,        /* of the number of small buckets */
  BUCKETS = 1 << 10,      /* at most */
  BUCKET_BYTES = 1 << 17, /* of a bucket at least, unless there would be too many */
  CHUNK = 1 << 16,        /* elements written at once */
  SHARED = 1 << 16,       /* elements of a bucket that several threads may share */
  BLOCK = 1 << 24         /* elements between two calls of poll */
};

struct sorting {
  const struct joist_sort_kernels *kernels;
  size_t size, n;
  const char *in;
  struct joist_order order;
  char *keys, *out;
  uint32_t *counts;
  int threads;
  const struct joist_run *run;
  struct joist_line line;
  unsigned shift; /* of small buckets */
  size_t small;   /* small buckets */
};

static size_t share(const struct sorting *s, int thread) {
  return (size_t)((uint64_t)s->n * (uint64_t)thread / (uint64_t)s->threads);
}

static void look(struct sorting *s) {
  s->line = (struct joist_line){UINT64_MAX, 0, false, 0, 0};
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) {
    struct joist_line own = {UINT64_MAX, 0, false, 0, 0};
    s->kernels->look(share(s, t), share(s, t + 1), s->in, s->order, &own);
#ifdef _OPENMP
#pragma omp critical(joist_sort_line)
#endif
    {
      struct joist_line *const all = &s->line;
      if (own.low < all->low) all->low = own.low;
      if (own.high > all->high) all->high = own.high;
      all->falls |= own.falls;
      all->nan += own.nan;
      all->minus_zero += own.minus_zero;
    }
  }
}

/* counts[t * small + k]: elements of thread t's share in small bucket k. */
static void count(const struct sorting *s, uint32_t *counts) {
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
static void copy(const struct sorting *s) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) {
    const size_t first = share(s, t) * s->size;
    memcpy(s->out + first, s->in + first, share(s, t + 1) * s->size - first);
  }
}

/* Every small bucket is one key. */
static void write_counted(const struct sorting *s, uint32_t *counts) {
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

/* A bucket: its items, and its small buckets. */
struct bucket {
  size_t begin, end, small, small_end;
};

static void write_elements(const struct sorting *s, const struct bucket *bucket) {
  const size_t at = bucket->begin * s->size;
  s->kernels->elements(bucket->end - bucket->begin, s->keys + at, s->order, s->out + at);
}

/* The keys of a bucket become sorted elements. */
static void sort_bucket(const struct sorting *s, const struct bucket *bucket, uint32_t *counts) {
  const size_t at = bucket->begin * s->size, n = bucket->end - bucket->begin;
  const uint64_t low = s->line.low + ((uint64_t)bucket->small << s->shift);
  const size_t small = bucket->small_end - bucket->small, span = small << s->shift;
  const size_t most = n < JOIST_SORT_COUNTS ? n : JOIST_SORT_COUNTS;
  if (small <= most >> s->shift) {
    memset(counts, 0, span * sizeof *counts);
    s->kernels->count_keys(n, s->keys + at, low, counts);
    for (size_t k = 1; k < span; k++) counts[k] += counts[k - 1];
    s->kernels->fill(0, n, span, counts, low, s->order, s->out + at);
    return;
  }
  void *const keys = s->keys + at, *const scratch = s->out + at;
  if (s->size == sizeof(uint32_t))
    joist_sort_key32(n, keys, scratch, counts);
  else
    joist_sort_key64(n, keys, scratch, counts);
  write_elements(s, bucket);
}

static joist_status share_bucket(const struct sorting *s, const struct bucket *bucket,
                                 struct joist_error *error) {
  const size_t at = bucket->begin * s->size, n = bucket->end - bucket->begin;
  void *const keys = s->keys + at, *const scratch = s->out + at;
  const joist_status status =
      s->size == sizeof(uint32_t)
          ? joist_sort_shared_key32(n, keys, scratch, s->counts, s->threads, s->run, error)
          : joist_sort_shared_key64(n, keys, scratch, s->counts, s->threads, s->run, error);
  if (status != JOIST_OK) return status;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (size_t first = bucket->begin; first < bucket->end; first += CHUNK) {
    const size_t end = bucket->end - first < CHUNK ? bucket->end : first + CHUNK;
    write_elements(s, &(struct bucket){.begin = first, .end = end});
  }
  return JOIST_OK;
}

/* Large buckets by all threads, the rest one each. */
static joist_status sort_buckets(const struct sorting *s, size_t buckets,
                                 const struct bucket *bucket, struct joist_error *error) {
  const size_t part = s->n / ((size_t)s->threads * 2), large = part > SHARED ? part : SHARED;
  joist_status status = JOIST_OK;
  for (size_t b = 0; b < buckets && status == JOIST_OK; b++)
    if (bucket[b].end - bucket[b].begin > large) status = share_bucket(s, &bucket[b], error);
  for (size_t begin = 0, end = 0; begin < buckets && status == JOIST_OK; begin = end) {
    while (end < buckets && (end == begin || bucket[end].end - bucket[begin].begin <= BLOCK)) end++;
    status = joist_run_poll(s->run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1) schedule(dynamic, 1)
#endif
    for (size_t b = begin; b < end; b++) {
      uint32_t *counts = s->counts;
#ifdef _OPENMP
      counts += (size_t)omp_get_thread_num() * JOIST_SORT_COUNTS;
#endif
      if (bucket[b].end - bucket[b].begin <= large) sort_bucket(s, &bucket[b], counts);
    }
  }
  return status;
}

/* What dealing needs: tables for all threads, then those of every thread. */
struct dealing {
  struct bucket *bucket;
  uint16_t *bucket_of;
  uint32_t *at, *first; /* BUCKETS each per thread */
  char *lines;          /* BUCKETS per thread */
};

/* Puts small buckets together; says how many buckets there are. */
static size_t make_buckets(const struct sorting *s, const uint32_t *counts,
                           const struct dealing *dealing) {
  const size_t threads = (size_t)s->threads, cached = BUCKET_BYTES / s->size;
  const size_t least = s->n / (BUCKETS / 2) >= cached ? s->n / (BUCKETS / 2) + 1 : cached;
  size_t b = 0, own = 0;
  dealing->bucket[0] = (struct bucket){0, 0, 0, 0};
  for (size_t k = 0; k < s->small; k++) {
    size_t next = 0;
    for (size_t t = 0; t < threads; t++) next += counts[t * s->small + k];
    /* Any two buckets in turn have `least` items, so that there are never too many. */
    if (own > 0 && own + next > least) {
      dealing->bucket[b + 1] =
          (struct bucket){dealing->bucket[b].end, dealing->bucket[b].end, k, k};
      own = 0;
      b++;
    }
    own += next;
    dealing->bucket[b].end += next;
    dealing->bucket[b].small_end = k + 1;
    dealing->bucket_of[k] = (uint16_t)b;
  }
  memset(dealing->at, 0, threads * BUCKETS * sizeof *dealing->at);
  for (size_t t = 0; t < threads; t++)
    for (size_t k = 0; k < s->small; k++)
      dealing->at[t * BUCKETS + dealing->bucket_of[k]] += counts[t * s->small + k];
  for (size_t i = 0; i <= b; i++) {
    uint32_t before = (uint32_t)dealing->bucket[i].begin;
    for (size_t t = 0; t < threads; t++) {
      const uint32_t count_here = dealing->at[t * BUCKETS + i];
      dealing->at[t * BUCKETS + i] = before;
      before += count_here;
    }
  }
  return b + 1;
}

static joist_status deal(const struct sorting *s, const uint32_t *counts,
                         const struct dealing *dealing, struct joist_error *error) {
  const size_t buckets = make_buckets(s, counts, dealing);
  const bool past = s->n >= joist_stream_from(s->run) / s->size;
  const struct joist_dealing how = {s->line.low, s->shift, dealing->bucket_of, buckets};
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->threads) if (s->threads > 1)
#endif
  for (int t = 0; t < s->threads; t++) {
    const size_t first = share(s, t), room = (size_t)t * BUCKETS;
    s->kernels->deal(share(s, t + 1) - first, s->in + first * s->size, s->order, &how,
                     dealing->at + room, dealing->first + room, dealing->lines + room * JOIST_LINE,
                     past, s->keys);
  }
  return sort_buckets(s, buckets, dealing->bucket, error);
}

joist_status joist_sort_long(size_t size, size_t n, const void *in, struct joist_order order,
                             void *keys, uint32_t *counts, int threads, const struct joist_run *run,
                             void *out, struct joist_line *special, struct joist_error *error) {
  struct sorting s = {.kernels = joist_sort_kernels(size),
                      .size = size,
                      .n = n,
                      .in = in,
                      .order = order,
                      .keys = keys,
                      .out = out,
                      .counts = counts,
                      .threads = threads,
                      .run = run};
  look(&s);
  *special = s.line;
  if (!s.line.falls) {
    *special = (struct joist_line){.falls = false};
    copy(&s);
    return JOIST_OK;
  }
  const unsigned length = joist_bit_length(s.line.high - s.line.low);
  const bool direct = length <= DIRECT_BITS && (size <= 2 || s.line.high - s.line.low < n);
  s.shift = direct || length <= SMALL_BITS ? 0 : length - SMALL_BITS;
  s.small = (size_t)((s.line.high - s.line.low) >> s.shift) + 1;
  const size_t per_thread = BUCKETS * (JOIST_LINE + 2 * sizeof(uint32_t));
  const size_t count_bytes = (s.small * (size_t)threads * sizeof(uint32_t) + 63) / 64 * 64;
  const size_t bytes = (size_t)threads * per_thread + count_bytes +
                       BUCKETS * sizeof(struct bucket) + s.small * sizeof(uint16_t);
  char *const memory = joist_pool_allocate(bytes);
  if (memory == NULL)
    return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: %zu bytes to count in", bytes);
  uint32_t *const small_counts = (uint32_t *)(void *)memory;
  char *const lines = memory + count_bytes;
  uint32_t *const at = (uint32_t *)(void *)(lines + (size_t)threads * BUCKETS * JOIST_LINE);
  uint32_t *const first = at + (size_t)threads * BUCKETS;
  struct bucket *const bucket = (struct bucket *)(void *)(first + (size_t)threads * BUCKETS);
  uint16_t *const bucket_of = (uint16_t *)(void *)(bucket + BUCKETS);
  const struct dealing dealing = {bucket, bucket_of, at, first, lines};
  joist_status status = joist_run_poll(run, error);
  if (status == JOIST_OK) {
    count(&s, small_counts);
    if (direct)
      write_counted(&s, small_counts);
    else
      status = deal(&s, small_counts, &dealing, error);
  }
  joist_pool_free(memory);
  return status;
}
