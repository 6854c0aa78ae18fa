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
#include "core/kernels/kernels.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/partition.h"
#include "core/ops/order/sort_keys.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE

enum {
  TINY = 16,              /* elements that are not worth a look */
  STRIP = 1 << 16,        /* elements written at once */
  DIRECT_BITS = 16,       /* keys of so many bits are counted, and that is all */
  BUCKET_BYTES = 1 << 17, /* of a bucket at least, unless there would be too many */
  SHARED = 1 << 16,       /* items of a bucket that several threads may share */
  COUNT_BYTES = JOIST_SORT_COUNTS * sizeof(uint32_t)
};

/* A line that has been looked at. */
struct line {
  const struct joist_sorting *how;
  size_t n;
  const char *in;
  char *out;
  struct joist_line known;
  unsigned place, drop; /* of a word: bits of a position, and of a key that are left out */
  bool lossy;           /* some of these are not 0 */
};

struct joist_sorting joist_sorting_of(joist_dtype dtype, bool decreasing, bool positions) {
  const size_t size = joist_dtype_size(dtype);
  return (struct joist_sorting){joist_sort_kernels(size), joist_order_of(dtype, decreasing), size,
                                positions};
}

static const void *from(const struct line *line, size_t i) {
  return line->in + i * line->how->size;
}

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

/* As many keys as there may be counts of: elements are written as often as there are such. */
static void count_elements(const struct line *line, size_t n, const char *keys,
                           const struct joist_line *known, uint32_t *counts, void *out) {
  const struct joist_sort_kernels *const kernels = line->how->kernels;
  const size_t span = (size_t)(known->high - known->low) + 1;
  uint32_t numbers[JOIST_PARTITION_STRIP];
  uint64_t room[JOIST_PARTITION_STRIP];
  memset(counts, 0, (size_t)span * sizeof *counts);
  for (size_t length, first = 0; first < n; first += length) {
    length = joist_smaller(n - first, JOIST_PARTITION_STRIP);
    joist_sort_kernels(kernels->key)
        ->numbers(length, keys + first * kernels->key, (struct joist_order){0}, known->low, 0, room,
                  numbers);
    for (size_t i = 0; i < length; i++) counts[numbers[i]]++;
  }
  for (size_t k = 1; k < span; k++) counts[k] += counts[k - 1];
  kernels->fill(0, n, span, counts, known->low, line->how->order, out);
}

static void sort_elements(const struct line *line, size_t n, void *keys, void *scratch,
                          const struct joist_line *known, uint32_t *counts, void *out) {
  const struct joist_sort_kernels *const kernels = line->how->kernels;
  if (known->falls && known->high - known->low < joist_smaller(n, JOIST_SORT_COUNTS)) {
    count_elements(line, n, keys, known, counts, out);
    return;
  }
  if (known->falls) joist_sort_keys(kernels->key, n, keys, scratch, counts);
  kernels->elements(n, keys, line->how->order, out);
}

/* Sorts the runs of words that are equal but for the position by what was left out. */
static void sort_runs(const struct line *line, const uint64_t *keys, uint64_t *words,
                      uint64_t *scratch, uint32_t *counts) {
  const uint64_t position = (UINT64_C(1) << line->place) - 1;
  const uint64_t left_out = (UINT64_C(1) << line->drop) - 1;
  for (size_t first = 0, last; first < line->n; first = last) {
    const uint64_t upper = words[first] >> line->place;
    for (last = first + 1; last < line->n && words[last] >> line->place == upper; last++) continue;
    if (last - first == 1) continue;
    bool falls = false;
    for (size_t i = first; i < last; i++) {
      const uint64_t at = words[i] & position;
      words[i] = ((keys[at] - line->known.low) & left_out) << line->place | at;
      falls |= i > first && words[i] < words[i - 1];
    }
    if (falls) joist_sort_keys(sizeof *words, last - first, words + first, scratch, counts);
  }
}

static void write_positions(const struct line *line, size_t n, const uint64_t *words,
                            int32_t *out) {
  const uint32_t position = (uint32_t)((UINT64_C(1) << line->place) - 1);
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)((uint32_t)words[i] & position) + 1;
}

/* Positions of words that are in order where their keys are equal. */
static void sort_words(const struct line *line, size_t n, uint64_t *words, uint64_t *scratch,
                       const struct joist_line *known, uint32_t *counts, int32_t *out) {
  const unsigned place = line->place;
  const uint64_t low = known->low >> place, span = (known->high >> place) - low + 1;
  const uint32_t position = (uint32_t)((UINT64_C(1) << place) - 1);
  if (!known->falls || span > joist_smaller(n, JOIST_SORT_COUNTS)) {
    if (known->falls) joist_sort_keys(sizeof *words, n, words, scratch, counts);
    write_positions(line, n, words, out);
    return;
  }
  memset(counts, 0, (size_t)span * sizeof *counts);
  for (size_t i = 0; i < n; i++) counts[(words[i] >> place) - low]++;
  for (size_t k = 0, before = 0; k < span; k++) {
    const uint32_t own = counts[k];
    counts[k] = (uint32_t)before;
    before += own;
  }
  for (size_t i = 0; i < n; i++)
    out[counts[(words[i] >> place) - low]++] = (int32_t)((uint32_t)words[i] & position) + 1;
}

/* Elements first .. first + n - 1 of a line that is in order. */
static void copy(const struct line *line, size_t first, size_t n) {
  if (!line->how->positions) {
    memcpy(line->out + first * line->how->size, from(line, first), n * line->how->size);
    return;
  }
  int32_t *const out = (int32_t *)(void *)line->out + first;
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)(first + i) + 1;
}

static void restore(const struct line *line) {
  if (line->known.nan > 0 || line->known.minus_zero > 0)
    line->how->kernels->restore(line->n, line->in, line->how->order, &line->known, line->out);
}

static size_t item_of(const struct joist_sorting *s) {
  return s->positions ? sizeof(uint64_t) : s->kernels->key;
}

/* Two arrays of keys, or of words and one of keys. */
size_t joist_sort_room(const struct joist_sorting *s, size_t n) {
  const size_t keys = s->positions ? n * s->kernels->key : 0;
  return COUNT_BYTES + joist_round_up(2 * n * item_of(s) + keys, JOIST_LINE);
}

void joist_sort_line(const struct joist_sorting *s, size_t n, const void *in, void *room,
                     void *out) {
  struct line line = {.how = s, .n = n, .in = in, .out = out, .known = {.low = UINT64_MAX}};
  uint32_t *const counts = room;
  char *const items = (char *)room + COUNT_BYTES, *const scratch = items + n * item_of(s);
  char *const keys = s->positions ? scratch + n * item_of(s) : items;
  if (n <= TINY && s->order.infinity == 0 && !s->positions) {
    s->kernels->keys(n, in, s->order, keys);
    joist_sort_keys(s->kernels->key, n, keys, scratch, counts);
    s->kernels->elements(n, keys, s->order, out);
    return;
  }
  s->kernels->look(0, n, in, s->order, keys, &line.known);
  if (!line.known.falls) {
    copy(&line, 0, n);
    return;
  }
  if (!s->positions) {
    sort_elements(&line, n, items, scratch, &line.known, counts, out);
    restore(&line);
    return;
  }
  uint64_t *const words = (uint64_t *)(void *)items;
  choose_word(&line);
  s->kernels->words(n, keys, line.known.low, line.drop, line.place, 0, words);
  const uint64_t most = (line.known.high - line.known.low) >> line.drop << line.place | (n - 1);
  const struct joist_line known = {.low = 0, .high = most, .falls = true};
  if (line.lossy) { /* which keys of 64 bits only are */
    joist_sort_keys(sizeof *words, n, words, scratch, counts);
    sort_runs(&line, (const uint64_t *)(const void *)keys, words, (uint64_t *)(void *)scratch,
              counts);
    write_positions(&line, n, words, out);
  } else {
    sort_words(&line, n, words, (uint64_t *)(void *)scratch, &known, counts, out);
  }
}

/* ---- a long line ---- */

/* Its items are keys, or words, or where those would leave out something, keys and positions. */
struct long_line {
  struct line line;
  unsigned shift; /* of the numbers that items are dealt by */
  int threads;
  const struct joist_run *run;
  struct joist_partition partition;
  size_t large; /* items of a bucket that all threads share */
  size_t room_bytes;
  char *rooms;
};

static const struct line *line_of(const void *context) {
  return &((const struct long_line *)context)->line;
}

static void copy_strip(const void *context, size_t strip, size_t worker) {
  const struct joist_part part = joist_strip_of(line_of(context)->n, STRIP, strip);
  (void)worker;
  copy(line_of(context), part.first, part.n);
}

/* Every number belongs to one key. */
static void fill_strip(const void *context, size_t strip, size_t worker) {
  const struct line *const line = line_of(context);
  const struct joist_partition *const p = &((const struct long_line *)context)->partition;
  const struct joist_part part = joist_strip_of(line->n, STRIP, strip);
  (void)worker;
  line->how->kernels->fill(part.first, part.first + part.n, p->numbers, p->counts, line->known.low,
                           line->how->order, line->out);
}

static void make_items(const void *context, size_t first, size_t n, uint32_t *numbers,
                       void *items) {
  const struct line *const line = line_of(context);
  const struct joist_sort_kernels *const kernels = line->how->kernels;
  struct joist_two *const two = items;
  uint64_t room[JOIST_PARTITION_STRIP];
  void *const keys = items == NULL || line->how->positions ? room : items;
  kernels->numbers(n, from(line, first), line->how->order, line->known.low,
                   ((const struct long_line *)context)->shift, keys, numbers);
  if (items == NULL || !line->how->positions) return;
  if (line->lossy)
    for (size_t i = 0; i < n; i++) two[i] = (struct joist_two){room[i], first + i};
  else
    kernels->words(n, keys, line->known.low, line->drop, line->place, first, items);
}

/* The positions of a bucket's keys, which are made here, in order: by one thread in a room, or
 * without one by all. */
static joist_status order_bucket(const struct long_line *l, struct joist_bucket bucket,
                                 uint64_t *keys, void *room, struct joist_error *error) {
  const struct joist_sorting sorting = {joist_sort_kernels(sizeof *keys), {0}, sizeof *keys, true};
  const struct joist_two *const two = (const struct joist_two *)l->partition.items + bucket.begin;
  const uint64_t *const words = (const uint64_t *)l->partition.items + bucket.begin;
  const uint64_t position = (UINT64_C(1) << l->line.place) - 1;
  int32_t *const out = (int32_t *)(void *)l->line.out + bucket.begin;
  const size_t n = bucket.end - bucket.begin;
  joist_status status = JOIST_OK;
  for (size_t i = 0; i < n; i++) keys[i] = l->line.lossy ? two[i].first : words[i] >> l->line.place;
  if (room != NULL)
    joist_sort_line(&sorting, n, keys, room, out);
  else
    status = joist_sort_long_line(&sorting, n, keys, l->threads, l->run, out, error);
  if (status != JOIST_OK) return status;
  for (size_t i = 0; i < n; i++) {
    const size_t at = (size_t)out[i] - 1;
    out[i] = (int32_t)(l->line.lossy ? two[at].second : words[at] & position) + 1;
  }
  return JOIST_OK;
}

/* What follows from the numbers of a bucket; where there is one, the number of one key, its items
 * are in order. */
static struct joist_line known_of(const struct long_line *l, struct joist_bucket bucket) {
  const uint64_t low = (uint64_t)bucket.low << l->shift;
  const uint64_t high = (uint64_t)bucket.high << l->shift | ((UINT64_C(1) << l->shift) - 1);
  const unsigned place = l->line.place, drop = l->line.drop;
  const bool falls = bucket.low < bucket.high || l->shift > drop;
  if (!l->line.how->positions)
    return (struct joist_line){l->line.known.low + low, l->line.known.low + high, .falls = falls};
  return (struct joist_line){low >> drop << place, high >> drop << place, .falls = falls};
}

static bool sort_bucket(const void *context, struct joist_bucket bucket, size_t worker) {
  const struct long_line *const l = context;
  const struct line *const line = &l->line;
  const size_t n = bucket.end - bucket.begin, item = l->partition.item;
  char *const room = l->rooms + worker * l->room_bytes, *const scratch = room + COUNT_BYTES;
  uint32_t *const counts = (uint32_t *)(void *)room;
  char *const items = (char *)l->partition.items + bucket.begin * item;
  if (n == 0) return true;
  if (line->lossy) {
    if (n > l->large) return false;
    (void)order_bucket(l, bucket, (uint64_t *)(void *)room, room + n * sizeof(uint64_t), NULL);
    return true;
  }
  const struct joist_line known =
      n > l->large ? joist_look_at_keys(item, n, items) : known_of(l, bucket);
  if (known.falls && n > l->large) return false;
  if (!line->how->positions) {
    char *const out = line->out + bucket.begin * item;
    sort_elements(line, n, items, out, &known, counts, out);
    return true;
  }
  sort_words(line, n, (uint64_t *)(void *)items, (uint64_t *)(void *)scratch, &known, counts,
             (int32_t *)(void *)line->out + bucket.begin);
  return true;
}

/* A bucket with many items is sorted as another line, whose keys lie closer together. */
static joist_status share_bucket(const void *context, struct joist_bucket bucket,
                                 struct joist_error *error) {
  const struct long_line *const l = context;
  const struct joist_sorting *const how = l->line.how;
  const size_t n = bucket.end - bucket.begin, size = how->size;
  char *const keys = (char *)l->partition.items + bucket.begin * size;
  char *const out = l->line.out + bucket.begin * size;
  if (how->positions) {
    uint64_t *const own = joist_pool_allocate(n * sizeof *own);
    if (own == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = n * sizeof *own);
    const joist_status status = order_bucket(l, bucket, own, NULL, error);
    joist_pool_free(own);
    return status;
  }
  const struct joist_sorting sorting = {how->kernels, {0}, size, false};
  const joist_status status =
      joist_sort_long_line(&sorting, n, keys, l->threads, l->run, out, error);
  how->kernels->elements(n, out, how->order, out);
  return status;
}

static joist_status sort_buckets(struct long_line *l, struct joist_error *error) {
  const struct joist_partition *const p = &l->partition;
  const size_t part = l->line.n / (2 * (size_t)l->threads);
  size_t longest = 0; /* of those that one thread sorts */
  l->large = part > SHARED ? part : SHARED;
  for (size_t b = 0; b < p->buckets; b++) {
    const size_t n = p->bucket[b].end - p->bucket[b].begin;
    if (n <= l->large && n > longest) longest = n;
  }
  /* Where elements are sorted, there is room in the result. */
  const size_t words = !l->line.how->positions ? 0 : l->line.lossy ? 4 * longest : longest;
  l->room_bytes = COUNT_BYTES + joist_round_up(words * sizeof(uint64_t), JOIST_LINE);
  l->rooms = joist_pool_allocate((size_t)l->threads * l->room_bytes);
  if (l->rooms == NULL)
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = (size_t)l->threads * l->room_bytes);
  const joist_status status = joist_partition_each(p, sort_bucket, share_bucket, l, error);
  joist_pool_free(l->rooms);
  return status;
}

joist_status joist_sort_long_line(const struct joist_sorting *s, size_t n, const void *in,
                                  int threads, const struct joist_run *run, void *out,
                                  struct joist_error *error) {
  struct long_line l = {
      .line = {.how = s, .n = n, .in = in, .out = out}, .threads = threads, .run = run};
  struct joist_partition *const p = &l.partition;
  const size_t strips = joist_divide_up(n, STRIP);
  l.line.known = joist_look(s->size, s->order, n, in, 0, threads);
  joist_status status = joist_run_poll(run, error);
  if (status != JOIST_OK) return status;
  if (!l.line.known.falls) {
    joist_parallel(threads, strips, copy_strip, &l);
    return JOIST_OK;
  }
  const uint64_t span = l.line.known.high - l.line.known.low;
  const unsigned length = joist_bit_length(span);
  const bool direct = !s->positions && length <= DIRECT_BITS && (s->size <= 2 || span < n);
  if (s->positions) choose_word(&l.line);
  l.shift = length > DIRECT_BITS ? length - DIRECT_BITS : 0;
  if (l.shift < l.line.drop && !l.line.lossy) l.shift = l.line.drop;
  const size_t item = l.line.lossy ? sizeof(struct joist_two) : item_of(s);
  *p = (struct joist_partition){.n = n,
                                .item = item,
                                .numbers = (size_t)(span >> l.shift) + 1,
                                .least = BUCKET_BYTES / item,
                                .threads = threads,
                                .run = run,
                                .source = make_items,
                                .context = &l};
  status = joist_partition_count(p, error);
  if (status == JOIST_OK && direct) {
    joist_partition_ends(p);
    joist_parallel(threads, strips, fill_strip, &l);
  } else if (status == JOIST_OK) {
    status = joist_partition_deal(p, error);
    if (status == JOIST_OK) status = sort_buckets(&l, error);
  }
  joist_partition_free(p);
  if (status == JOIST_OK && !s->positions) restore(&l.line);
  return status;
}
