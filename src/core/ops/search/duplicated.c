/* Repeated elements. If the keys are sorted, neighbours are compared; if they lie close together,
 * there is a bit for each that says whether it has been seen; a few distinct keys fit a table.
 * Other keys are dealt into buckets by a hash, and each bucket, which stays in a cache, is searched
 * with a separate table. */
#include "core/ops/search/duplicated.h"
#include "core/types/error.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/vectorize.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/partition.h"

JOIST_VECTORIZE_FILE

enum {
  WORK = 16,
  STRIP = JOIST_PARTITION_STRIP,
  SPAN = 1 << 16, /* keys that lie close together in any case */
  SPREAD = 4,     /* the same per element, up to THREADS threads */
  THREADS = 16,
  FEW = 1 << 10, /* different keys, whose table stays in a near cache */
  FEW_SLOTS = 8 * FEW,
  NUMBER_BITS = 10,       /* of a hash, by which elements are dealt */
  BUCKET_ITEMS = 1 << 13, /* about, unless there would be too many buckets */
  SLOTS = 1 << 16,        /* most of a thread's table; a power of 2 */
  BLOCK = 1 << 24         /* elements between two calls of poll */
};

struct comparing {
  joist_dtype dtype;
  size_t size, n, parts; /* bytes of an element; elements; keys of each */
  const char *in;
  uint8_t *repeated;
  int threads;
  const struct joist_run *run;
  uint64_t low; /* of close keys: the least one, */
  uint8_t *bits;
  size_t bit_bytes;      /* and a bit for each, per thread */
  const uint64_t *items; /* keys that are dealt */
  uint8_t *item_repeated;
  _Atomic bool *some; /* of them are */
  uint32_t *slots;    /* SLOTS per thread */
};

static void make_keys(const struct comparing *c, size_t first, size_t n, uint64_t *keys) {
  joist_match_keys(c->dtype, n, c->in + first * c->size, keys);
}

/* What is done with the keys of elements first .. first + n - 1; keys[-1] is the key of the element
 * before, if there is one. */
typedef void with_keys(const struct comparing *c, size_t share, size_t first, size_t n,
                       const uint64_t *keys);

static inline void walk_share(const struct comparing *c, size_t share, with_keys *with) {
  const struct joist_part part = joist_share_of(c->n, (size_t)c->threads, share);
  const size_t end = part.first + part.n;
  uint64_t keys[STRIP + 1];
  if (part.n > 0) make_keys(c, part.first > 0 ? part.first - 1 : 0, 1, keys);
  for (size_t n, first = part.first; first < end; first += n) {
    n = joist_smaller(end - first, STRIP);
    make_keys(c, first, n, keys + 1);
    with(c, share, first, n, keys + 1);
    keys[0] = keys[n];
  }
}

/* ---- in order ---- */

static inline void compare(const struct comparing *c, size_t share, size_t first, size_t n,
                           const uint64_t *keys) {
  uint8_t *const repeated = c->repeated + first;
  (void)share;
  JOIST_VECTORIZE_LOOP
  for (size_t i = 0; i < n; i++) repeated[i] = keys[i] == *(keys + i - 1);
  if (first == 0) repeated[0] = 0;
}

static void compare_neighbours(const void *context, size_t share, size_t worker) {
  (void)worker;
  walk_share(context, share, compare);
}

/* ---- close together ---- */

/* Sets the bits of the keys of a thread's share, and says which repeat others of it. */
static inline void set(const struct comparing *c, size_t share, size_t first, size_t n,
                       const uint64_t *keys) {
  uint8_t *const bits = c->bits + share * c->bit_bytes;
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = keys[i] - c->low;
    const uint8_t seen = bits[key / 8], bit = (uint8_t)(1u << key % 8);
    c->repeated[first + i] = (seen & bit) != 0;
    bits[key / 8] = seen | bit;
  }
}

/* The same for repeating elements of the shares before it, of whose keys the bits are. */
static inline void get(const struct comparing *c, size_t share, size_t first, size_t n,
                       const uint64_t *keys) {
  const uint8_t *const bits = c->bits + share * c->bit_bytes;
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = keys[i] - c->low;
    c->repeated[first + i] |= (uint8_t)(bits[key / 8] >> key % 8 & 1);
  }
}

static void set_bits(const void *context, size_t share, size_t worker) {
  (void)worker;
  walk_share(context, share, set);
}

static void get_bits(const void *context, size_t share, size_t worker) {
  (void)worker;
  walk_share(context, share + 1, get);
}

static joist_status look_up_bits(struct comparing *c, uint64_t span, struct joist_error *error) {
  const size_t threads = (size_t)c->threads;
  c->bit_bytes = (size_t)span / 8 + 1;
  c->bits = joist_pool_allocate(threads * c->bit_bytes);
  if (c->bits == NULL)
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = threads * c->bit_bytes);
  memset(c->bits, 0, threads * c->bit_bytes);
  joist_parallel(c->threads, threads, set_bits, c);
  const joist_status status = joist_run_poll(c->run, error);
  if (status == JOIST_OK && threads > 1) {
    for (size_t k = 0; k < c->bit_bytes; k++) {
      uint8_t before = 0;
      for (size_t t = 0; t < threads; t++) {
        const uint8_t own = c->bits[t * c->bit_bytes + k];
        c->bits[t * c->bit_bytes + k] = before;
        before |= own;
      }
    }
    joist_parallel(c->threads, threads - 1, get_bits, c);
  }
  joist_pool_free(c->bits);
  return status;
}

/* ---- few different ones ---- */

/* Looks through all elements with a small table. Gives up, which costs little unless it happens
 * late, when there are more than FEW different ones. */
static joist_status look_up_few(const struct comparing *c, bool *few, struct joist_error *error) {
  uint64_t keys[STRIP], slots[FEW_SLOTS];
  bool taken[FEW_SLOTS] = {false};
  size_t different = 0;
  *few = false;
  for (size_t n, first = 0; first < c->n; first += n) {
    n = joist_smaller(c->n - first, STRIP);
    if (first % BLOCK == 0 && joist_run_poll(c->run, error) != JOIST_OK) return JOIST_INTERRUPTED;
    make_keys(c, first, n, keys);
    for (size_t i = 0; i < n; i++) {
      size_t slot = (size_t)joist_match_hash(keys[i], 0) % FEW_SLOTS;
      while (taken[slot] && slots[slot] != keys[i]) slot = (slot + 1) % FEW_SLOTS;
      c->repeated[first + i] = taken[slot];
      if (taken[slot]) continue;
      if (++different > FEW) return JOIST_OK;
      slots[slot] = keys[i];
      taken[slot] = true;
    }
  }
  *few = true;
  return JOIST_OK;
}

/* ---- any ---- */

static void make_items(const void *context, size_t first, size_t n, uint32_t *numbers,
                       void *items) {
  const struct comparing *const c = context;
  struct joist_two *const two = items;
  uint64_t room[2 * STRIP], *const keys = items == NULL || c->parts == 2 ? room : items;
  make_keys(c, first, n, keys);
  if (items != NULL && c->parts == 2)
    for (size_t i = 0; i < n; i++) two[i] = (struct joist_two){keys[i], keys[n + i]};
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = c->parts == 2 ? keys[i] + JOIST_GOLDEN * keys[n + i] : keys[i];
    numbers[i] = (uint32_t)((key ^ key >> 32) * JOIST_GOLDEN >> (64 - NUMBER_BITS));
  }
}

/* False where there are too many different items for the table. A slot is the number of an
 * item + 1; 0 is free. */
static bool look_through(const struct comparing *c, struct joist_bucket bucket, size_t slot_count,
                         uint32_t *slots) {
  const size_t parts = c->parts, n = bucket.end - bucket.begin, mask = slot_count - 1;
  const size_t most = slot_count - slot_count / 4;
  const uint64_t *const items = c->items + bucket.begin * parts;
  uint8_t *const repeated = c->item_repeated + bucket.begin;
  size_t others = 0;
  memset(slots, 0, slot_count * sizeof *slots);
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
    if (++others == most) return false;
    slots[slot] = (uint32_t)i + 1;
  }
  if (others < n) *c->some = true;
  return true;
}

static bool look_through_bucket(const void *context, struct joist_bucket bucket, size_t worker) {
  const struct comparing *const c = context;
  return look_through(c, bucket, joist_smaller(joist_bucket_slots(bucket), SLOTS),
                      c->slots + worker * SLOTS);
}

static joist_status look_through_rest(const void *context, struct joist_bucket bucket,
                                      struct joist_error *error) {
  const size_t bytes = joist_bucket_slots(bucket) * sizeof(uint32_t);
  uint32_t *const slots = joist_pool_allocate(bytes);
  if (slots == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  (void)look_through(context, bucket, joist_bucket_slots(bucket), slots);
  joist_pool_free(slots);
  return JOIST_OK;
}

static joist_status look_up_any(struct comparing *c, struct joist_error *error) {
  struct joist_partition p = {.n = c->n,
                              .item = c->parts * sizeof *c->items,
                              .numbers = (size_t)1 << NUMBER_BITS,
                              .least = BUCKET_ITEMS,
                              .threads = c->threads,
                              .run = c->run,
                              .source = make_items,
                              .context = c};
  _Atomic bool some = false;
  const size_t bytes = (size_t)c->threads * SLOTS * sizeof *c->slots + c->n;
  c->slots = joist_pool_allocate(bytes);
  if (c->slots == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  c->item_repeated = (uint8_t *)(c->slots + (size_t)c->threads * SLOTS);
  c->some = &some;
  joist_status status = joist_partition_count(&p, error);
  if (status == JOIST_OK) status = joist_partition_deal(&p, error);
  c->items = p.items;
  if (status == JOIST_OK)
    status = joist_partition_each(&p, look_through_bucket, look_through_rest, c, error);
  if (status == JOIST_OK && some)
    joist_partition_return(&p, 1, c->item_repeated, c->repeated);
  else if (status == JOIST_OK)
    memset(c->repeated, 0, c->n);
  joist_partition_free(&p);
  joist_pool_free(c->slots);
  return status;
}

joist_status joist_repeated(joist_dtype dtype, size_t n, const void *in, uint8_t *repeated,
                            const struct joist_run *run, struct joist_error *error) {
  struct comparing c = {.dtype = dtype,
                        .size = joist_dtype_size(dtype),
                        .n = n,
                        .parts = joist_match_parts(dtype),
                        .in = in,
                        .repeated = repeated,
                        .threads = joist_threads_for(run, n * WORK, n),
                        .run = run};
  bool few = false;
  if (n == 0) return JOIST_OK;
  if (joist_dtype_kind(dtype) != JOIST_KIND_COMPLEX) {
    /* So far apart that the bits of all threads are few bytes per element. */
    const size_t most = n * SPREAD / (size_t)(c.threads > THREADS ? c.threads / THREADS : 1);
    const size_t span = most > SPAN ? most : SPAN;
    const struct joist_line known =
        joist_look(c.size, joist_order_of(dtype, false), n, in, span, c.threads);
    const joist_status status = joist_run_poll(run, error);
    if (status != JOIST_OK) return status;
    /* In the order of f64, NaN and NA are alike. */
    const bool alike = dtype == JOIST_F64 && known.nan > 0;
    if (!alike && (!known.rises || !known.falls)) {
      joist_parallel(c.threads, (size_t)c.threads, compare_neighbours, &c);
      return JOIST_OK;
    }
    if (!alike && known.high - known.low < span) {
      c.low = known.low;
      return look_up_bits(&c, known.high - known.low, error);
    }
  }
  if (c.parts == 1) {
    const joist_status status = look_up_few(&c, &few, error);
    if (status != JOIST_OK || few) return status;
  }
  return look_up_any(&c, error);
}
