/* Elements are sorted by their keys. Their positions are sorted in words, each of which holds the
 * distance of a key from the lowest one, and the position in the bits below. Where there is no
 * room for both, the lowest bits of keys are left out: words that are equal but for the position
 * are sorted again by what was left out, for which there is room then. */
#include "core/ops/order/sort_line.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/vectorize.h"
#include "core/kernels/stream.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/partition.h"
#include "core/ops/order/sort_keys.h"

JOIST_VECTORIZE_FILE

enum {
  CHUNK = 1 << 16,        /* elements written at once */
  DIRECT_BITS = 16,       /* keys of so many bits are counted, and that is all */
  BUCKET_BYTES = 1 << 17, /* of a bucket at least, unless there would be too many */
  SHARED = 1 << 16,       /* items of a bucket that several threads may share */
  COUNT_BYTES = JOIST_SORT_COUNTS * sizeof(uint32_t)
};

/* A line that has been looked at. */
struct line {
  struct joist_sorting how;
  size_t n;
  const char *in;
  char *out;
  struct joist_line known;
  unsigned shift;       /* of the numbers that items are dealt by */
  unsigned place, drop; /* of a word: bits of a position, and of a key that are left out */
  bool lossy;           /* some of these are not 0 */
  int threads;
  const struct joist_run *run;
  struct joist_partition partition;
  size_t large, room_bytes;
  char *rooms;
};

struct joist_sorting joist_sorting_of(joist_dtype dtype, bool decreasing, bool positions) {
  const size_t size = joist_dtype_size(dtype);
  return (struct joist_sorting){joist_sort_kernels(size), joist_order_of(dtype, decreasing), size,
                                positions};
}

static const void *from(const struct line *line, size_t i) { return line->in + i * line->how.size; }

/* What words leave out follows from the bounds of keys, and from the bits that are not the same in
 * all of them. */
static void choose_word(struct line *line) {
  const unsigned length = joist_bit_length(line->known.high - line->known.low);
  line->place = joist_bit_length(line->n - 1);
  while (line->drop < 63 && (line->known.differ >> line->drop & 1) == 0) line->drop++;
  line->lossy = length + line->place > 64 + line->drop;
  if (line->lossy) line->drop = length + line->place - 64;
}

/* ---- a line, or a bucket of one ---- */

static void sort_elements(const struct line *line, size_t n, void *keys, void *scratch,
                          uint32_t *counts, void *out) {
  const struct joist_sort_kernels *const kernels = line->how.kernels;
  if (kernels->key == sizeof(uint32_t))
    joist_sort_key32(n, keys, scratch, 0, counts, kernels->sort);
  else
    joist_sort_key64(n, keys, scratch, 0, counts, kernels->sort);
  kernels->elements(n, keys, line->how.order, out);
}

/* Sorts the runs of words that are equal but for the position by what was left out, which keys of
 * 64 bits do only. */
static void sort_runs(const struct line *line, size_t n, uint64_t *words, uint64_t *scratch,
                      uint32_t *counts) {
  const struct joist_sort_kernels *const kernels = line->how.kernels;
  const uint64_t position = (UINT64_C(1) << line->place) - 1;
  const uint64_t left_out = (UINT64_C(1) << line->drop) - 1;
  for (size_t first = 0, last; first < n; first = last) {
    const uint64_t upper = words[first] >> line->place;
    for (last = first + 1; last < n && words[last] >> line->place == upper; last++) continue;
    const size_t run = last - first;
    if (run == 1) continue;
    for (size_t i = 0; i < run; i++)
      memcpy(&scratch[i], from(line, words[first + i] & position), sizeof *scratch);
    kernels->keys(run, scratch, line->how.order, scratch);
    for (size_t i = 0; i < run; i++)
      words[first + i] = ((scratch[i] - line->known.low) & left_out) << line->place |
                         (words[first + i] & position);
    joist_sort_key64(run, words + first, scratch, line->place, counts, kernels->sort);
  }
}

static void sort_words(const struct line *line, size_t n, uint64_t *words, uint64_t *scratch,
                       uint32_t *counts, int32_t *out) {
  const uint32_t position = (uint32_t)((UINT64_C(1) << line->place) - 1);
  joist_sort_key64(n, words, scratch, line->place, counts, joist_sort_kernels(8)->sort);
  if (line->lossy) sort_runs(line, n, words, scratch, counts);
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)((uint32_t)words[i] & position) + 1;
}

/* Elements first .. first + n - 1 of a line that is in order. */
static void copy(const struct line *line, size_t first, size_t n) {
  if (!line->how.positions) {
    memcpy(line->out + first * line->how.size, from(line, first), n * line->how.size);
    return;
  }
  int32_t *const out = (int32_t *)(void *)line->out + first;
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)(first + i) + 1;
}

static void restore(const struct line *line) {
  if (!line->how.positions && line->known.falls)
    line->how.kernels->restore(line->n, line->in, line->how.order, &line->known, line->out);
}

/* Two arrays of keys, or of words. */
static size_t item_of(const struct joist_sorting *s) {
  return s->positions ? sizeof(uint64_t) : s->kernels->key;
}

size_t joist_sort_room(const struct joist_sorting *s, size_t n) {
  return COUNT_BYTES + joist_round_up(2 * n * item_of(s), JOIST_LINE);
}

void joist_sort_line(const struct joist_sorting *s, size_t n, const void *in, void *room,
                     void *out) {
  struct line line = {.how = *s, .n = n, .in = in, .out = out, .known = {.low = UINT64_MAX}};
  uint32_t *const counts = room;
  char *const items = (char *)room + COUNT_BYTES, *const scratch = items + n * item_of(s);
  char *const keys = s->positions ? scratch : items;
  s->kernels->look(0, n, in, s->order, keys, &line.known);
  if (!line.known.falls) {
    copy(&line, 0, n);
    return;
  }
  if (s->positions) {
    uint64_t *const words = (uint64_t *)(void *)items;
    choose_word(&line);
    s->kernels->words(n, keys, line.known.low, line.drop, line.place, 0, words);
    sort_words(&line, n, words, (uint64_t *)(void *)scratch, counts, out);
  } else {
    sort_elements(&line, n, items, scratch, counts, out);
    restore(&line);
  }
}

/* ---- a long line ---- */

static void copy_chunk(const void *context, size_t chunk, size_t worker) {
  const struct line *const line = context;
  const struct joist_part part = joist_chunk_of(line->n, CHUNK, chunk);
  (void)worker;
  copy(line, part.first, part.n);
}

/* Every number is that of one key. */
static void fill_chunk(const void *context, size_t chunk, size_t worker) {
  const struct line *const line = context;
  const struct joist_part part = joist_chunk_of(line->n, CHUNK, chunk);
  (void)worker;
  line->how.kernels->fill(part.first, part.first + part.n, line->partition.numbers,
                          line->partition.counts, line->known.low, line->how.order, line->out);
}

static void make_items(const void *context, size_t first, size_t n, uint32_t *numbers,
                       void *items) {
  const struct line *const line = context;
  const struct joist_sort_kernels *const kernels = line->how.kernels;
  const uint64_t low = line->known.low;
  uint64_t room[JOIST_PARTITION_CHUNK];
  void *const keys = items == NULL || line->how.positions ? room : items;
  kernels->keys(n, from(line, first), line->how.order, keys);
  kernels->numbers(n, keys, low, line->shift, numbers);
  if (items != NULL && line->how.positions)
    kernels->words(n, keys, low, line->drop, line->place, first, items);
}

static bool sort_bucket(const void *context, struct joist_bucket bucket, size_t worker) {
  const struct line *const line = context;
  const size_t n = bucket.end - bucket.begin, size = line->how.size;
  char *const room = line->rooms + worker * line->room_bytes;
  uint32_t *const counts = (uint32_t *)(void *)room;
  char *const items = (char *)line->partition.items + bucket.begin * line->partition.item;
  if (n > line->large) return false;
  if (n == 0) return true;
  if (line->how.positions)
    sort_words(line, n, (uint64_t *)(void *)items, (uint64_t *)(void *)(room + COUNT_BYTES), counts,
               (int32_t *)(void *)line->out + bucket.begin);
  else
    sort_elements(line, n, items, line->out + bucket.begin * size, counts,
                  line->out + bucket.begin * size);
  return true;
}

/* A bucket with many items is a line of its own, whose keys lie closer together. */
static joist_status share_bucket(const void *context, struct joist_bucket bucket,
                                 struct joist_error *error) {
  const struct line *const line = context;
  const size_t n = bucket.end - bucket.begin, size = line->how.size;
  char *const elements = joist_pool_allocate(n * size);
  if (elements == NULL)
    return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: %zu bytes to sort in", n * size);
  if (!line->how.positions) {
    char *const out = line->out + bucket.begin * size;
    line->how.kernels->elements(n, (char *)line->partition.items + bucket.begin * size,
                                line->how.order, elements);
    const joist_status status =
        joist_sort_long_line(&line->how, n, elements, line->threads, line->run, out, error);
    joist_pool_free(elements);
    return status;
  }
  const uint64_t *const words = (uint64_t *)line->partition.items + bucket.begin;
  const uint64_t position = (UINT64_C(1) << line->place) - 1;
  int32_t *const out = (int32_t *)(void *)line->out + bucket.begin;
  for (size_t i = 0; i < n; i++) memcpy(elements + i * size, from(line, words[i] & position), size);
  const joist_status status =
      joist_sort_long_line(&line->how, n, elements, line->threads, line->run, out, error);
  for (size_t i = 0; i < n && status == JOIST_OK; i++)
    out[i] = (int32_t)(words[out[i] - 1] & position) + 1;
  joist_pool_free(elements);
  return status;
}

static joist_status sort_buckets(struct line *line, struct joist_error *error) {
  const struct joist_partition *const p = &line->partition;
  const size_t part = line->n / (2 * (size_t)line->threads);
  size_t longest = 0; /* of those that one thread sorts */
  line->large = part > SHARED ? part : SHARED;
  for (size_t b = 0; b < p->buckets; b++) {
    const size_t n = p->bucket[b].end - p->bucket[b].begin;
    if (n <= line->large && n > longest) longest = n;
  }
  /* Where elements are sorted, there is room in the result. */
  line->room_bytes = COUNT_BYTES + (line->how.positions ? longest * sizeof(uint64_t) : 0);
  const size_t bytes = (size_t)line->threads * line->room_bytes;
  line->rooms = joist_pool_allocate(bytes);
  if (line->rooms == NULL)
    return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: %zu bytes to sort in", bytes);
  const joist_status status = joist_partition_each(p, sort_bucket, share_bucket, line, error);
  joist_pool_free(line->rooms);
  return status;
}

joist_status joist_sort_long_line(const struct joist_sorting *s, size_t n, const void *in,
                                  int threads, const struct joist_run *run, void *out,
                                  struct joist_error *error) {
  struct line line = {.how = *s,
                      .n = n,
                      .in = in,
                      .out = out,
                      .known = joist_look(s->size, s->order, n, in, 0, threads),
                      .threads = threads,
                      .run = run};
  struct joist_partition *const p = &line.partition;
  const size_t chunks = joist_divide_up(n, CHUNK);
  joist_status status = joist_run_poll(run, error);
  if (status != JOIST_OK) return status;
  if (!line.known.falls) {
    joist_parallel(threads, chunks, copy_chunk, &line);
    return JOIST_OK;
  }
  const uint64_t span = line.known.high - line.known.low;
  const unsigned length = joist_bit_length(span);
  const bool direct = !s->positions && length <= DIRECT_BITS && (s->size <= 2 || span < n);
  if (s->positions) choose_word(&line);
  line.shift = length > DIRECT_BITS ? length - DIRECT_BITS : 0;
  if (line.shift < line.drop) line.shift = line.drop;
  *p = (struct joist_partition){.n = n,
                                .item = item_of(s),
                                .numbers = (size_t)(span >> line.shift) + 1,
                                .least = BUCKET_BYTES / item_of(s),
                                .threads = threads,
                                .run = run,
                                .source = make_items,
                                .context = &line};
  status = joist_partition_count(p, error);
  if (status == JOIST_OK && direct) {
    joist_partition_ends(p);
    joist_parallel(threads, chunks, fill_chunk, &line);
  } else if (status == JOIST_OK) {
    status = joist_partition_deal(p, error);
    if (status == JOIST_OK) status = sort_buckets(&line, error);
  }
  joist_partition_free(p);
  if (status == JOIST_OK) restore(&line);
  return status;
}
