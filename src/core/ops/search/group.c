/* Groups of elements with equal keys. Keys that lie close together are looked up in a table of all
 * that there may be; a few in a small one; others are dealt into buckets by a hash, and each
 * bucket, which stays in a cache, has a table of its own. Several keys are joined into one, as
 * digits of a number; where the number would be too large, groups of the keys so far take their
 * place. */
#include "core/ops/search/group.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/vectorize.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/partition.h"
#include "core/types/error.h"

JOIST_VECTORIZE_FILE

enum {
  WORK = 8,
  STRIP = JOIST_PARTITION_STRIP,
  SPAN = 1 << 16, /* keys that lie close together in any case */
  SPREAD = 2,     /* the same per element */
  FEW = 1 << 10,  /* different keys, whose table stays in a near cache */
  FEW_SLOTS = 8 * FEW,
  NUMBER_BITS = 10,       /* of a hash, by which elements are dealt */
  BUCKET_ITEMS = 1 << 13, /* about, unless there would be too many buckets */
  SLOTS = 1 << 16         /* most of a thread's table; a power of 2 */
};

/* Keys, and that all are less than `span`, which is UINT64_MAX where nothing is known. */
struct keys {
  struct joist_group_key of;
  size_t size;
  uint64_t low, span;
  size_t n;
  const uint64_t *joined; /* in the place of `of`, if not NULL */
};

struct grouping {
  struct keys keys;
  int32_t *numbers;
  size_t n, groups;
  int threads;
  const struct joist_run *run;
  uint32_t *firsts;      /* of close keys: position + 1 of the first element, per thread */
  const uint64_t *items; /* keys that are dealt, */
  uint32_t *item_groups; /* their groups within a bucket, then of all buckets, */
  uint32_t *slots;       /* SLOTS per thread, */
  uint32_t *bucket_groups;
  const struct joist_partition *partition;
  uint64_t *few; /* different keys per thread, in order of appearance, */
  size_t *few_counts;
  int32_t *few_numbers; /* and the groups that they are in the end */
};

static joist_status no_memory(size_t bytes, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
}

static void make_keys(const struct keys *k, size_t first, size_t n, uint64_t *keys) {
  if (k->joined != NULL) {
    memcpy(keys, k->joined + first, n * sizeof *keys);
    return;
  }
  joist_match_keys(k->of.dtype, n, (const char *)k->of.in + first * k->size, keys);
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) keys[i] -= k->low;
  if (k->of.missing == NULL) return;
  for (size_t i = 0; i < n; i++)
    if (k->of.missing[first + i]) keys[i] = 0;
}

/* What is done with the keys of elements first .. first + n - 1 of a thread's share. */
typedef void with_keys(const struct grouping *g, size_t share, size_t first, size_t n,
                       const uint64_t *keys);

static inline void walk_share(const struct grouping *g, size_t share, with_keys *with) {
  const struct joist_part part = joist_share_of(g->n, (size_t)g->threads, share);
  const size_t end = part.first + part.n;
  uint64_t keys[STRIP];
  for (size_t n, first = part.first; first < end; first += n) {
    n = joist_smaller(end - first, STRIP);
    make_keys(&g->keys, first, n, keys);
    with(g, share, first, n, keys);
  }
}

/* ---- close together ---- */

static inline void see(const struct grouping *g, size_t share, size_t first, size_t n,
                       const uint64_t *keys) {
  uint32_t *const firsts = g->firsts + share * (size_t)g->keys.span;
  for (size_t i = 0; i < n; i++)
    if (firsts[keys[i]] == 0) firsts[keys[i]] = (uint32_t)(first + i + 1);
}

static inline void number(const struct grouping *g, size_t share, size_t first, size_t n,
                          const uint64_t *keys) {
  (void)share;
  for (size_t i = 0; i < n; i++) g->numbers[first + i] = (int32_t)g->firsts[keys[i]];
}

static void see_share(const void *context, size_t share, size_t worker) {
  (void)worker;
  walk_share(context, share, see);
}

static void number_share(const void *context, size_t share, size_t worker) {
  (void)worker;
  walk_share(context, share, number);
}

/* The first elements of all shares, in the table of the first one. */
static void join_shares(const void *context, size_t part, size_t worker) {
  const struct grouping *const g = context;
  const size_t span = (size_t)g->keys.span;
  const struct joist_part keys = joist_share_of(span, (size_t)g->threads, part);
  (void)worker;
  for (size_t share = 1; share < (size_t)g->threads; share++)
    for (size_t k = keys.first; k < keys.first + keys.n; k++)
      if (g->firsts[k] == 0) g->firsts[k] = g->firsts[share * span + k];
}

/* Puts numbers of groups into the place of their first elements: a bit for each element says
 * whether it is the first of a group, and a count for each word of bits how many come before. */
static void rank_firsts(struct grouping *g, uint64_t *bits, uint32_t *before) {
  const size_t span = (size_t)g->keys.span, words = g->n / 64 + 1;
  memset(bits, 0, words * sizeof *bits);
  for (size_t k = 0; k < span; k++)
    if (g->firsts[k] > 0) bits[(g->firsts[k] - 1) / 64] |= UINT64_C(1) << (g->firsts[k] - 1) % 64;
  size_t count = 0;
  for (size_t w = 0; w < words; w++) {
    before[w] = (uint32_t)count;
    count += (size_t)__builtin_popcountll(bits[w]);
  }
  g->groups = count;
  for (size_t k = 0; k < span; k++) {
    if (g->firsts[k] == 0) continue;
    const uint32_t at = g->firsts[k] - 1;
    const uint64_t earlier = bits[at / 64] & ((UINT64_C(1) << at % 64) - 1);
    g->firsts[k] = before[at / 64] + (uint32_t)__builtin_popcountll(earlier) + 1;
  }
}

static joist_status group_close(struct grouping *g, struct joist_error *error) {
  const int threads = g->threads;
  const size_t span = (size_t)g->keys.span, words = g->n / 64 + 1;
  if (span > g->n / 4) g->threads = 1 + (threads > 1);
  const size_t table = (size_t)g->threads * span * sizeof *g->firsts;
  const size_t bytes = table + words * (sizeof(uint64_t) + sizeof(uint32_t)) + sizeof(uint64_t);
  g->firsts = joist_pool_allocate(bytes);
  if (g->firsts == NULL) return no_memory(bytes, error);
  uint64_t *const bits = (uint64_t *)(void *)((char *)g->firsts + joist_round_up(table, 8));
  memset(g->firsts, 0, table);
  joist_parallel(g->threads, (size_t)g->threads, see_share, g);
  joist_status status = joist_run_poll(g->run, error);
  if (status == JOIST_OK) {
    joist_parallel(g->threads, (size_t)g->threads, join_shares, g);
    rank_firsts(g, bits, (uint32_t *)(bits + words));
    g->threads = threads;
    joist_parallel(threads, (size_t)threads, number_share, g);
    status = joist_run_poll(g->run, error);
  }
  joist_pool_free(g->firsts);
  return status;
}

/* ---- few different ones ---- */

/* A slot is the number of a key + 1; 0 is free. Gives the number, or FEW if there are too many. */
static inline size_t find_few(uint64_t key, uint64_t *few, size_t *count, uint16_t *slots) {
  size_t slot = (size_t)((key ^ key >> 32) * JOIST_GOLDEN >> 51) % FEW_SLOTS;
  while (slots[slot] != 0 && few[slots[slot] - 1] != key) slot = (slot + 1) % FEW_SLOTS;
  if (slots[slot] != 0) return slots[slot] - 1u;
  if (*count == FEW) return FEW;
  few[*count] = key;
  slots[slot] = (uint16_t)++ * count;
  return *count - 1;
}

static void few_share(const void *context, size_t share, size_t worker) {
  const struct grouping *const g = context;
  const struct joist_part part = joist_share_of(g->n, (size_t)g->threads, share);
  const size_t end = part.first + part.n;
  uint16_t slots[FEW_SLOTS] = {0};
  uint64_t keys[STRIP], *const few = g->few + share * FEW;
  size_t count = 0;
  (void)worker;
  g->few_counts[share] = 0;
  for (size_t n, first = part.first; first < end; first += n) {
    n = joist_smaller(end - first, STRIP);
    make_keys(&g->keys, first, n, keys);
    for (size_t i = 0; i < n; i++) {
      const size_t at = find_few(keys[i], few, &count, slots);
      if (at == FEW) {
        g->few_counts[share] = FEW + 1;
        return;
      }
      g->numbers[first + i] = (int32_t)at;
    }
  }
  g->few_counts[share] = count;
}

static void renumber_share(const void *context, size_t share, size_t worker) {
  const struct grouping *const g = context;
  const struct joist_part part = joist_share_of(g->n, (size_t)g->threads, share);
  const int32_t *const to = g->few_numbers + share * FEW;
  (void)worker;
  for (size_t i = part.first; i < part.first + part.n; i++) g->numbers[i] = to[g->numbers[i]];
}

/* The groups of all shares, which follow one another as elements do. */
static bool join_few(struct grouping *g) {
  uint16_t slots[FEW_SLOTS] = {0};
  uint64_t few[FEW];
  size_t count = 0;
  for (size_t share = 0; share < (size_t)g->threads; share++) {
    if (g->few_counts[share] > FEW) return false;
    for (size_t k = 0; k < g->few_counts[share]; k++) {
      const size_t at = find_few(g->few[share * FEW + k], few, &count, slots);
      if (at == FEW) return false;
      g->few_numbers[share * FEW + k] = (int32_t)at + 1;
    }
  }
  g->groups = count;
  return true;
}

/* Whether elements from all over have few different keys. */
static bool seem_few(const struct grouping *g) {
  uint16_t slots[FEW_SLOTS] = {0};
  uint64_t few[FEW], key;
  size_t count = 0;
  for (size_t k = 0; k < 4 * FEW; k++) {
    make_keys(&g->keys, (size_t)((uint64_t)k * g->n / (4 * FEW)), 1, &key);
    if (find_few(key, few, &count, slots) == FEW) return false;
  }
  return true;
}

static joist_status group_few(struct grouping *g, bool *done, struct joist_error *error) {
  const size_t threads = (size_t)g->threads;
  const size_t bytes =
      threads * (FEW * (sizeof *g->few + sizeof *g->few_numbers) + sizeof *g->few_counts);
  *done = false;
  if (!seem_few(g)) return JOIST_OK;
  g->few = joist_scratch_allocate(bytes);
  if (g->few == NULL) return no_memory(bytes, error);
  g->few_counts = (size_t *)(void *)(g->few + threads * FEW);
  g->few_numbers = (int32_t *)(void *)(g->few_counts + threads);
  joist_parallel(g->threads, threads, few_share, g);
  *done = join_few(g);
  if (*done) joist_parallel(g->threads, threads, renumber_share, g);
  joist_scratch_free(g->few);
  return joist_run_poll(g->run, error);
}

/* ---- any ---- */

static void make_items(const void *context, size_t first, size_t n, uint32_t *numbers,
                       void *items) {
  const struct grouping *const g = context;
  uint64_t room[STRIP], *const keys = items == NULL ? room : items;
  make_keys(&g->keys, first, n, keys);
  for (size_t i = 0; i < n; i++)
    numbers[i] = (uint32_t)((keys[i] ^ keys[i] >> 32) * JOIST_GOLDEN >> (64 - NUMBER_BITS));
}

/* False where there are too many different items for the table. A slot is the number of an
 * item + 1; 0 is free. */
static bool look_through(const struct grouping *g, struct joist_bucket bucket, size_t slot_count,
                         uint32_t *slots) {
  const size_t n = bucket.end - bucket.begin, mask = slot_count - 1;
  const size_t most = slot_count - slot_count / 4;
  const uint64_t *const items = g->items + bucket.begin;
  uint32_t *const groups = g->item_groups + bucket.begin;
  size_t count = 0;
  memset(slots, 0, slot_count * sizeof *slots);
  for (size_t i = 0; i < n; i++) {
    size_t slot = (size_t)joist_match_hash(items[i], 0) & mask;
    while (slots[slot] != 0 && items[slots[slot] - 1] != items[i]) slot = (slot + 1) & mask;
    if (slots[slot] != 0) {
      groups[i] = groups[slots[slot] - 1];
      continue;
    }
    if (count == most) return false;
    slots[slot] = (uint32_t)i + 1;
    groups[i] = (uint32_t)count++;
  }
  g->bucket_groups[g->partition->bucket_of[bucket.low]] = (uint32_t)count;
  return true;
}

static bool look_through_bucket(const void *context, struct joist_bucket bucket, size_t worker) {
  const struct grouping *const g = context;
  return look_through(g, bucket, joist_smaller(joist_bucket_slots(bucket), SLOTS),
                      g->slots + worker * SLOTS);
}

static joist_status look_through_rest(const void *context, struct joist_bucket bucket,
                                      struct joist_error *error) {
  const size_t bytes = joist_bucket_slots(bucket) * sizeof(uint32_t);
  uint32_t *const slots = joist_pool_allocate(bytes);
  if (slots == NULL) return no_memory(bytes, error);
  (void)look_through(context, bucket, joist_bucket_slots(bucket), slots);
  joist_pool_free(slots);
  return JOIST_OK;
}

/* Numbers groups through all buckets; bucket_groups[b] are the groups before a bucket. */
static void add_before(const void *context, size_t b, size_t worker) {
  const struct grouping *const g = context;
  const struct joist_bucket bucket = g->partition->bucket[b];
  (void)worker;
  for (size_t i = bucket.begin; i < bucket.end; i++) g->item_groups[i] += g->bucket_groups[b];
}

static joist_status group_buckets(struct grouping *g, struct joist_partition *p,
                                  struct joist_error *error) {
  size_t groups = 0;
  joist_status status = joist_partition_count(p, error);
  if (status == JOIST_OK) status = joist_partition_deal(p, error);
  g->items = p->items;
  g->partition = p;
  if (status == JOIST_OK)
    status = joist_partition_each(p, look_through_bucket, look_through_rest, g, error);
  if (status != JOIST_OK) return status;
  for (size_t b = 0; b < p->buckets; b++) {
    const uint32_t count = g->bucket_groups[b];
    g->bucket_groups[b] = (uint32_t)groups;
    groups += count;
  }
  g->groups = groups;
  joist_parallel(g->threads, p->buckets, add_before, g);
  joist_partition_return(p, sizeof *g->item_groups, g->item_groups, g->numbers);
  return joist_run_poll(g->run, error);
}

static joist_status group_any(struct grouping *g, struct joist_error *error) {
  struct joist_partition p = {.n = g->n,
                              .item = sizeof *g->items,
                              .numbers = (size_t)1 << NUMBER_BITS,
                              .least = BUCKET_ITEMS,
                              .threads = g->threads,
                              .run = g->run,
                              .source = make_items,
                              .context = g};
  const size_t tables = (size_t)g->threads * SLOTS;
  const size_t bytes = (tables + p.numbers + g->n) * sizeof *g->slots;
  g->slots = joist_pool_allocate(bytes);
  if (g->slots == NULL) return no_memory(bytes, error);
  g->bucket_groups = g->slots + tables;
  g->item_groups = g->bucket_groups + p.numbers;
  joist_status status = group_buckets(g, &p, error);
  joist_partition_free(&p);
  joist_pool_free(g->slots);
  if (status != JOIST_OK) return status;
  /* By buckets until here; now in the order of appearance. */
  const struct joist_group_key ids = {JOIST_I32, g->numbers, NULL};
  g->keys = (struct keys){.of = ids, .size = sizeof(int32_t), .span = g->groups, .n = g->n};
  g->keys.low = UINT64_C(1) << 31; /* the key of 0 */
  return group_close(g, error);
}

static joist_status group_one(const struct keys *keys, int32_t *numbers, size_t *groups,
                              const struct joist_run *run, struct joist_error *error) {
  struct grouping g = {.keys = *keys,
                       .numbers = numbers,
                       .n = keys->n,
                       .threads = joist_threads_for(run, keys->n * WORK, keys->n),
                       .run = run};
  bool done = false;
  joist_status status = JOIST_OK;
  if (keys->span <= SPAN || keys->span / SPREAD < keys->n) {
    status = group_close(&g, error);
    done = true;
  }
  if (!done) status = group_few(&g, &done, error);
  if (status == JOIST_OK && !done) status = group_any(&g, error);
  *groups = g.groups;
  return status;
}

/* ---- several keys ---- */

/* How far the keys of n elements are apart, unless it is `enough` or more, where that is not 0.
 * What is under a mask has the least one. */
static struct keys look_at(struct joist_group_key of, size_t n, uint64_t enough,
                           const struct joist_run *run) {
  struct keys keys = {.of = of, .size = joist_dtype_size(of.dtype), .span = UINT64_MAX, .n = n};
  if (joist_dtype_kind(of.dtype) == JOIST_KIND_COMPLEX) return keys;
  const int threads = joist_threads_for(run, n, n);
  const struct joist_line known =
      joist_look(keys.size, joist_order_of(of.dtype, false), n, of.in, enough, threads);
  const uint64_t apart = known.high - known.low;
  /* NaN and NA are alike in the order of f64, and not in its keys. */
  if (known.nan > 0 || apart == UINT64_MAX || (enough > 0 && apart >= enough)) return keys;
  keys.low = known.low;
  keys.span = apart + 1;
  return keys;
}

struct joining {
  uint64_t *all;
  uint64_t span; /* of all so far */
  int32_t *numbers;
  const struct joist_run *run;
};

/* Puts groups in the place of keys. */
static joist_status shorten(struct joining *j, const struct keys *keys, uint64_t *to,
                            uint64_t *span, struct joist_error *error) {
  size_t groups = 0;
  const joist_status status = group_one(keys, j->numbers, &groups, j->run, error);
  if (status != JOIST_OK) return status;
  for (size_t i = 0; i < keys->n; i++) to[i] = (uint64_t)(j->numbers[i] - 1);
  *span = groups;
  return JOIST_OK;
}

/* Joins further keys to those before; both are shortened where they would not fit. */
static joist_status join(struct joining *j, struct keys keys, uint64_t *room,
                         struct joist_error *error) {
  enum { MOST_BITS = 31 };
  joist_status status = JOIST_OK;
  const size_t n = keys.n;
  if (joist_bit_length(j->span) + joist_bit_length(keys.span) > 2 * MOST_BITS) {
    const struct keys before = {.joined = j->all, .span = j->span, .n = n};
    if (j->span >> MOST_BITS != 0) status = shorten(j, &before, j->all, &j->span, error);
    if (status == JOIST_OK && keys.span >> MOST_BITS != 0) {
      status = shorten(j, &keys, room, &keys.span, error);
      keys.joined = room;
    }
    if (status != JOIST_OK) return status;
  }
  for (size_t first = 0; first < n; first += STRIP) {
    uint64_t own[STRIP];
    const size_t length = joist_smaller(n - first, STRIP);
    make_keys(&keys, first, length, own);
    for (size_t i = 0; i < length; i++) {
      uint64_t *const all = &j->all[first + i];
      *all = *all * keys.span + own[i];
    }
  }
  j->span *= keys.span;
  return joist_run_poll(j->run, error);
}

/* A key, and whether it is missing; the two parts of a wide complex number. */
static joist_status join_key(struct joining *j, struct joist_group_key key, size_t n,
                             uint64_t *room, struct joist_error *error) {
  joist_status status = JOIST_OK;
  if (joist_match_parts(key.dtype) == 1) {
    status = join(j, look_at(key, n, 0, j->run), room, error);
  } else {
    uint64_t *const parts = joist_pool_allocate(2 * n * sizeof *parts);
    if (parts == NULL) return no_memory(2 * n * sizeof *parts, error);
    joist_match_keys(key.dtype, n, key.in, parts);
    for (size_t i = 0; i < n && key.missing != NULL; i++)
      if (key.missing[i]) parts[i] = parts[n + i] = 0;
    for (size_t part = 0; part < 2 && status == JOIST_OK; part++) {
      const struct keys half = {.joined = parts + part * n, .span = UINT64_MAX, .n = n};
      status = join(j, half, room, error);
    }
    joist_pool_free(parts);
  }
  if (status != JOIST_OK || key.missing == NULL) return status;
  const struct joist_group_key mask = {JOIST_BOOL, key.missing, NULL};
  return join(j, look_at(mask, n, 0, j->run), room, error);
}

joist_status joist_group(const struct joist_group_key *keys, size_t key_count, size_t n,
                         int32_t *numbers, size_t *groups, const struct joist_run *run,
                         struct joist_error *error) {
  *groups = 0;
  if (n == 0) return JOIST_OK;
  if (key_count == 1 && keys->missing == NULL && joist_match_parts(keys->dtype) == 1) {
    const uint64_t enough = n * SPREAD > SPAN ? n * SPREAD : SPAN;
    const struct keys only = look_at(*keys, n, enough, run);
    return group_one(&only, numbers, groups, run, error);
  }
  struct joining j = {.span = 1, .numbers = numbers, .run = run};
  j.all = joist_pool_allocate(2 * n * sizeof *j.all);
  if (j.all == NULL) return no_memory(2 * n * sizeof *j.all, error);
  memset(j.all, 0, n * sizeof *j.all);
  joist_status status = JOIST_OK;
  for (size_t k = 0; k < key_count && status == JOIST_OK; k++)
    status = join_key(&j, keys[k], n, j.all + n, error);
  const struct keys all = {.joined = j.all, .span = j.span, .n = n};
  if (status == JOIST_OK) status = group_one(&all, numbers, groups, run, error);
  joist_pool_free(j.all);
  return status;
}

/* ---- what follows from numbers ---- */

void joist_group_firsts(size_t n, const int32_t *numbers, int32_t *firsts) {
  int32_t seen = 0;
  for (size_t i = 0; i < n; i++)
    if (numbers[i] > seen) firsts[seen++] = (int32_t)i + 1;
}

void joist_group_sizes(size_t n, const int32_t *numbers, size_t groups, size_t *sizes) {
  for (size_t i = 0; i < n; i++) {
    const size_t group = joist_group_at(numbers[i]);
    if (group < groups) sizes[group]++;
  }
}

#define DEAL(SIZE)                                        \
  for (size_t i = 0; i < n; i++) {                        \
    const size_t group = joist_group_at(numbers[i]);      \
    if (group >= groups) continue;                        \
    memcpy(to[group], (const char *)in + i * SIZE, SIZE); \
    to[group] += SIZE;                                    \
  }
#define COLLECT(SIZE)                                  \
  for (size_t i = 0; i < n; i++) {                     \
    const size_t group = joist_group_at(numbers[i]);   \
    memcpy((char *)out + i * SIZE, from[group], SIZE); \
    from[group] += steps[group];                       \
  }
/* A copy of a known number of bytes is one instruction. */
#define BY_SIZE(LOOP) \
  switch (size) {     \
    case 1:           \
      LOOP(1) break;  \
    case 2:           \
      LOOP(2) break;  \
    case 4:           \
      LOOP(4) break;  \
    case 8:           \
      LOOP(8) break;  \
    default:          \
      LOOP(size)      \
  }

void joist_group_deal(size_t size, size_t n, const int32_t *numbers, size_t groups, const void *in,
                      char **to) {
  BY_SIZE(DEAL)
}

void joist_group_collect(size_t size, size_t n, const int32_t *numbers, const char **from,
                         const size_t *steps, void *out) {
  BY_SIZE(COLLECT)
}

#undef DEAL
#undef COLLECT
#undef BY_SIZE
