/* match: a table of the first position of every element, by its key where the keys lie close
 * together, or else by a hash of it.
 * searchsorted: binary search. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/ops/order/keys.h"
#include "core/program/call.h"
#include "core/types/error.h"

enum {
  STRIP = 1 << 10,
  POLLED = 1 << 18, /* elements between polls */
  WORK = 16,
  SPAN = 1 << 16, /* keys that are close together in any case */
  SPREAD = 2      /* the same per element of both operands */
};

/* The dtype that operand k is read in. */
static joist_dtype dtype_of(const struct joist_call *call, int k) {
  return call->instruction->signature.operand[k];
}

/* Whether the operands are compared as what they are, in two dtypes. */
static bool is_mixed(const struct joist_call *call) {
  return dtype_of(call, 0) != dtype_of(call, 1);
}

/* ---- match ---- */

struct table {
  const uint64_t *keys;
  size_t n, parts;
  uint32_t *slots; /* position + 1 of an element; 0 is free */
  size_t mask;     /* number of slots less one, a power of 2 */
  /* Of close keys: slot k belongs to key low + k, and bit k says that there is one. The bits
   * stay in a cache where the slots do not. */
  uint64_t low, span;
  uint8_t *bits;
};

/* The slot of an element with that key, or the free one where it would be. */
static size_t slot_of(const struct table *table, uint64_t key, uint64_t other) {
  size_t slot = (size_t)joist_match_hash(key, other) & table->mask;
  for (;; slot = (slot + 1) & table->mask) {
    if (table->slots[slot] == 0) return slot;
    const size_t at = table->slots[slot] - 1;
    if (table->keys[at] == key && (table->parts == 1 || table->keys[table->n + at] == other))
      return slot;
  }
}

/* The keys' bounds; no span when they lie too far apart for `most` slots. */
static void find_span(struct table *table, joist_dtype dtype, const char *in, size_t most) {
  const size_t size = joist_dtype_size(dtype);
  uint64_t keys[STRIP], low = UINT64_MAX, high = 0;
  if (table->parts != 1) return;
  for (size_t first = 0; first < table->n; first += STRIP) {
    const size_t n = joist_smaller(STRIP, table->n - first);
    joist_match_keys(dtype, n, in + first * size, keys);
    for (size_t i = 0; i < n; i++) {
      low = keys[i] < low ? keys[i] : low;
      high = keys[i] > high ? keys[i] : high;
    }
    if (high - low >= most) return;
  }
  table->low = low;
  table->span = table->n == 0 ? 0 : high - low + 1;
}

/* Between elements that are put into a table: often enough for somebody who waits. */
static joist_status poll_at(size_t i, const struct joist_run *run, struct joist_error *error) {
  return i % POLLED == 0 ? joist_run_poll(run, error) : JOIST_OK;
}

/* From the last element to the first, which stays. */
static joist_status fill_span(struct table *table, joist_dtype dtype, const char *in,
                              const struct joist_run *run, struct joist_error *error) {
  const size_t size = joist_dtype_size(dtype);
  uint64_t keys[STRIP];
  for (size_t n, end = table->n; end > 0; end -= n) {
    n = (end - 1) % STRIP + 1;
    const joist_status status = poll_at(end - n, run, error);
    if (status != JOIST_OK) return status;
    joist_match_keys(dtype, n, in + (end - n) * size, keys);
    for (size_t i = n; i-- > 0;) {
      const size_t slot = (size_t)(keys[i] - table->low);
      table->slots[slot] = (uint32_t)(end - n + i) + 1;
      table->bits[slot / 8] |= (uint8_t)(1u << slot % 8);
    }
  }
  return JOIST_OK;
}

static joist_status fill_table(struct table *table, const struct joist_run *run,
                               struct joist_error *error) {
  for (size_t i = 0; i < table->n; i++) {
    const joist_status status = poll_at(i, run, error);
    if (status != JOIST_OK) return status;
    const uint64_t other = table->parts == 1 ? 0 : table->keys[table->n + i];
    const size_t slot = slot_of(table, table->keys[i], other);
    if (table->slots[slot] == 0) table->slots[slot] = (uint32_t)i + 1;
  }
  return JOIST_OK;
}

typedef void make_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys);

/* A search of `n` values, a strip of them per task. */
struct searching {
  joist_dtype dtype;
  make_keys *keys; /* match */
  size_t n, size;
  const char *in;
  int32_t *out;
  const struct table *table; /* match */
  int32_t none;
  const uint64_t *sorted; /* searchsorted */
  size_t count;
  bool right;
};

static joist_status search(const struct searching *searching, joist_task *task,
                           const struct joist_run *run, struct joist_error *error) {
  return joist_tasks_run(run, joist_divide_up(searching->n, STRIP), STRIP * WORK, task, searching,
                         error);
}

static void match_strip(const void *context, size_t strip, size_t worker) {
  (void)worker;
  const struct searching *const s = context;
  const struct table *const table = s->table;
  const struct joist_part part = joist_strip_of(s->n, STRIP, strip);
  int32_t *const out = s->out + part.first;
  uint64_t keys[2 * STRIP];
  s->keys(s->dtype, part.n, s->in + part.first * s->size, keys);
  for (size_t i = 0; i < part.n; i++) {
    const size_t slot = slot_of(table, keys[i], table->parts == 1 ? 0 : keys[part.n + i]);
    out[i] = table->slots[slot] == 0 ? s->none : (int32_t)table->slots[slot];
  }
}

static void look_up_strip(const void *context, size_t strip, size_t worker) {
  (void)worker;
  const struct searching *const s = context;
  const struct table table = *s->table;
  const struct joist_part part = joist_strip_of(s->n, STRIP, strip);
  int32_t *const out = s->out + part.first;
  uint64_t keys[STRIP];
  joist_match_keys(s->dtype, part.n, s->in + part.first * s->size, keys);
  for (size_t i = 0; i < part.n; i++) {
    const uint64_t key = keys[i] - table.low, slot = key < table.span ? key : table.span;
    const bool there = (table.bits[slot / 8] >> slot % 8 & 1) != 0;
    out[i] = there ? (int32_t)table.slots[slot] : s->none;
  }
}

joist_status joist_match_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  size_t count = 0;
  (void)attributes;
  *result = *shapes[0];
  if (joist_shape_count(shapes[1], &count) && count <= INT32_MAX) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_TABLE_LIMIT, .shape = {*shapes[1]});
}

joist_status joist_match_run(const struct joist_call *call, struct joist_error *error) {
  const joist_dtype dtype = dtype_of(call, 1);
  make_keys *const make = is_mixed(call) ? joist_exact_keys : joist_match_keys;
  const size_t n = joist_value_count(call->operand[0]);
  struct table table = {.n = joist_value_count(call->operand[1]),
                        .parts = is_mixed(call) ? 2 : joist_match_parts(dtype)};
  find_span(&table, dtype, call->in[1], SPAN + SPREAD * (n + table.n));
  const bool close = table.span > 0;
  size_t slots = 16;
  while (slots < 2 * table.n) slots *= 2;
  if (close) slots = (size_t)table.span;
  /* One bit more, never set, for keys out of bounds. */
  const size_t first_bytes =
      close ? (slots / 64 + 1) * 8 : (table.n * table.parts + 1) * sizeof *table.keys;
  const size_t bytes = first_bytes + slots * sizeof *table.slots;
  char *const memory = joist_pool_allocate(bytes);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  table.slots = (uint32_t *)(void *)(memory + first_bytes);
  joist_status status;
  if (close) {
    table.bits = (uint8_t *)memory;
    memset(table.bits, 0, first_bytes);
    status = fill_span(&table, dtype, call->in[1], call->run, error);
  } else {
    uint64_t *const keys = (uint64_t *)(void *)memory;
    table.keys = keys;
    table.mask = slots - 1;
    memset(table.slots, 0, slots * sizeof *table.slots);
    make(dtype, table.n, call->in[1], keys);
    status = fill_table(&table, call->run, error);
  }
  const struct searching searching = {
      .dtype = dtype_of(call, 0),
      .keys = make,
      .n = n,
      .size = joist_dtype_size(dtype_of(call, 0)),
      .in = call->in[0],
      .out = call->out[0],
      .table = &table,
      .none = (int32_t)joist_attribute_value(joist_call_attributes(call), JOIST_ATTRIBUTE_NOMATCH)};
  if (status == JOIST_OK)
    status = search(&searching, close ? look_up_strip : match_strip, call->run, error);
  joist_pool_free(memory);
  return status;
}

/* ---- searchsorted ---- */

/* How many of the sorted keys are less than `key`, without a branch that depends on them. */
static size_t count_less(const uint64_t *sorted, size_t n, uint64_t key) {
  const uint64_t *base = sorted;
  while (n > 1) {
    const size_t half = n / 2;
    base = base[half - 1] < key ? base + half : base;
    n -= half;
  }
  return (size_t)(base - sorted) + (n == 1 && *base < key);
}

static void search_strip(const void *context, size_t strip, size_t worker) {
  (void)worker;
  const struct searching *const s = context;
  const struct joist_part part = joist_strip_of(s->n, STRIP, strip);
  int32_t *const out = s->out + part.first;
  uint64_t keys[STRIP];
  joist_order_keys(s->dtype, false, part.n, s->in + part.first * s->size, keys);
  for (size_t i = 0; i < part.n; i++) {
    const bool all = s->right && keys[i] == UINT64_MAX;
    out[i] = (int32_t)(all ? s->count : count_less(s->sorted, s->count, keys[i] + s->right));
  }
}

/* The same where elements have two keys, in `sorted` `n` apart. */
static size_t count_before(const uint64_t *sorted, size_t n, uint64_t key, uint64_t other,
                           bool right) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const uint64_t first = sorted[middle], second = sorted[n + middle];
    const bool equal = first == key && second == other;
    if (equal ? right : first < key || (first == key && second < other))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void search_mixed_strip(const void *context, size_t strip, size_t worker) {
  (void)worker;
  const struct searching *const s = context;
  const struct joist_part part = joist_strip_of(s->n, STRIP, strip);
  uint64_t keys[2 * STRIP];
  joist_exact_keys(s->dtype, part.n, s->in + part.first * s->size, keys);
  for (size_t i = 0; i < part.n; i++)
    s->out[part.first + i] =
        (int32_t)count_before(s->sorted, s->count, keys[i], keys[part.n + i], s->right);
}

/* The position of the first element that is less than the one before it; 0 if there is none. */
static size_t first_fall(const uint64_t *keys, size_t n, bool mixed) {
  for (size_t k = 1; k < n; k++) {
    const bool equal = mixed && keys[k] == keys[k - 1];
    if (keys[k] < keys[k - 1] || (equal && keys[n + k] < keys[n + k - 1])) return k;
  }
  return 0;
}

joist_status joist_searchsorted_shape(const struct joist_shape *const *shapes,
                                      const struct joist_attributes *attributes,
                                      struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  *result = *shapes[1];
  if (shapes[0]->rank == 1) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_SORTED_RANK, .shape = {*shapes[0]});
}

joist_status joist_searchsorted_run(const struct joist_call *call, struct joist_error *error) {
  const joist_dtype dtype = dtype_of(call, 1);
  const bool mixed = is_mixed(call);
  const size_t count = joist_value_count(call->operand[0]), n = joist_value_count(call->operand[1]);
  const size_t bytes = ((mixed ? 2 : 1) * count + 1) * sizeof(uint64_t);
  uint64_t *const sorted = joist_pool_allocate(bytes);
  if (sorted == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  if (mixed)
    joist_exact_keys(dtype_of(call, 0), count, call->in[0], sorted);
  else
    joist_order_keys(dtype, false, count, call->in[0], sorted);
  const size_t fall = first_fall(sorted, count, mixed);
  const struct searching searching = {
      .dtype = dtype,
      .n = n,
      .size = joist_dtype_size(dtype),
      .in = call->in[1],
      .out = call->out[0],
      .sorted = sorted,
      .count = count,
      .right = joist_attribute_flag(joist_call_attributes(call), JOIST_ATTRIBUTE_RIGHT)};
  const joist_status status =
      fall > 0 ? JOIST_FAIL(error, JOIST_E_NOT_SORTED, .position = fall + 1)
               : search(&searching, mixed ? search_mixed_strip : search_strip, call->run, error);
  joist_pool_free(sorted);
  return status;
}
