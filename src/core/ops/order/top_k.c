/* top_k: the first positions of a sorted line without sorting all of it, and
 * take_along, which takes elements at such positions. */
#include <stdlib.h>
#include <string.h>

#include "core/base/by_size.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/ops/order/argsort_packed.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/sort_radix.h"
#include "core/program/call.h"
#include "core/types/error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { DIGIT = 11, FEW = 256, WORK = 16, BLOCK = 1 << 24 };

/* Lines of an array along a dim. */
struct lines {
  size_t n, count, stride;
};

static struct lines lines_of(const struct joist_shape *shape, int dim) {
  struct lines lines = {shape->extent[dim], 1, 1};
  for (int d = 0; d < shape->rank; d++) {
    if (d != dim) lines.count *= shape->extent[d];
    if (d < dim) lines.stride *= shape->extent[d];
  }
  return lines;
}

/* The first element of line k, where lines have n elements. */
static size_t start_of(size_t n, size_t stride, size_t k) {
  return k / stride * n * stride + k % stride;
}

/* ---- top_k ---- */

/* What a thread needs for one line. */
struct room {
  char *line; /* its elements, side by side */
  uint64_t *keys, *left;
  uint64_t *taken, *words, *scratch; /* of those that are taken: keys, and to sort them */
  uint32_t *positions, *counts;
};

/* The k-th smallest key, k from 1 on; `left` is scratch. Each round keeps the keys whose
 * leading digit is that of the one looked for. */
static uint64_t kth_key(size_t k, size_t n, const uint64_t *keys, uint64_t *left,
                        uint32_t *counts) {
  memcpy(left, keys, n * sizeof *left);
  for (;;) {
    uint64_t low = left[0], high = left[0];
    for (size_t i = 1; i < n; i++) {
      low = left[i] < low ? left[i] : low;
      high = left[i] > high ? left[i] : high;
    }
    if (low == high) return low;
    unsigned shift = 0;
    while ((high - low) >> shift >> DIGIT != 0) shift++;
    memset(counts, 0, sizeof *counts << DIGIT);
    for (size_t i = 0; i < n; i++) counts[(left[i] - low) >> shift]++;
    size_t bucket = 0;
    for (; counts[bucket] < k; bucket++) k -= counts[bucket];
    if (shift == 0) return low + bucket;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
      const uint64_t key = left[i];
      left[kept] = key;
      kept += (key - low) >> shift == bucket;
    }
    n = kept;
  }
}

/* The positions from 1 on of the first k elements in order. */
static void top_of_line(size_t k, size_t n, const struct room *room, int32_t *out, size_t stride) {
  const uint64_t last = kth_key(k, n, room->keys, room->left, room->counts);
  size_t less = 0;
  for (size_t i = 0; i < n; i++) less += room->keys[i] < last;
  size_t ties = k - less, taken = 0;
  for (size_t i = 0; i < n && taken < k; i++) {
    const uint64_t key = room->keys[i];
    if (key > last || (key == last && ties == 0)) continue;
    ties -= key == last;
    room->taken[taken] = key;
    room->positions[taken++] = (uint32_t)i;
  }
  uint64_t mask;
  /* One thread does not fail. */
  (void)joist_order_words(k, room->taken, room->words, room->scratch, room->counts, 1, NULL, &mask,
                          NULL);
  for (size_t i = 0; i < k; i++)
    out[i * stride] = (int32_t)room->positions[room->words[i] & mask] + 1;
}

joist_status joist_top_k_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  const int64_t k = joist_attribute_value(attributes, JOIST_ATTRIBUTE_K);
  *result = *shapes[0];
  if (dim < 0 || dim >= result->rank)
    return JOIST_FAIL(error, JOIST_E_NO_DIMENSION, .number = {dim + 1}, .shape = {*result});
  if (k < 0 || (uint32_t)k > result->extent[dim])
    return JOIST_FAIL(error, JOIST_E_TOP_K, .dim = dim + 1, .shape = {*result},
                      .count = {(size_t)k});
  result->extent[dim] = (uint32_t)k;
  return JOIST_OK;
}

static void gather(size_t size, size_t n, size_t stride, const char *in, char *out) {
  for (size_t i = 0; i < n; i++) memcpy(out + i * size, in + i * stride * size, size);
}

joist_status joist_top_k_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_instruction *const instruction = call->instruction;
  const joist_dtype dtype = instruction->signature.operand[0];
  const struct lines lines =
      lines_of(&call->operand[0]->shape, joist_attribute_dim(instruction->attributes));
  const size_t n = lines.n,
               k = (size_t)joist_attribute_value(instruction->attributes, JOIST_ATTRIBUTE_K),
               size = joist_dtype_size(dtype);
  const bool decreasing = joist_attribute_flag(instruction->attributes, JOIST_ATTRIBUTE_DECREASING);
  if (k == 0 || lines.count == 0) return JOIST_OK;
  const int threads = joist_threads_for(call->run, n * lines.count * WORK, lines.count);
  const size_t words = ((lines.stride > 1 ? 3 : 2) * n + 4 * k) * sizeof(uint64_t) +
                       JOIST_SORT_COUNTS * sizeof(uint32_t);
  char *const memory = joist_pool_allocate(words * (size_t)threads);
  if (memory == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = words);
  const char *const in = call->in[0];
  int32_t *const out = call->out[0];
  const size_t block = 1 + BLOCK / n;
  joist_status status = JOIST_OK;
  for (size_t begin = 0; begin < lines.count && status == JOIST_OK; begin += block) {
    const size_t end = lines.count - begin < block ? lines.count : begin + block;
    if (begin > 0) status = joist_run_poll(call->run, error);
    if (status != JOIST_OK) break;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t line = begin; line < end; line++) {
      char *at = memory;
#ifdef _OPENMP
      at += (size_t)omp_get_thread_num() * words;
#endif
      struct room room;
      room.counts = (uint32_t *)(void *)at;
      room.keys = (uint64_t *)(void *)(room.counts + JOIST_SORT_COUNTS);
      room.left = room.keys + n;
      room.taken = room.left + n;
      room.words = room.taken + k;
      room.scratch = room.words + k;
      room.positions = (uint32_t *)(void *)(room.scratch + k);
      room.line = (char *)(room.scratch + 2 * k);
      const char *from = in + start_of(n, lines.stride, line) * size;
      if (lines.stride > 1) {
        gather(size, n, lines.stride, from, room.line);
        from = room.line;
      }
      joist_order_keys(dtype, decreasing, n, from, room.keys);
      top_of_line(k, n, &room, out + start_of(k, lines.stride, line), lines.stride);
    }
  }
  joist_pool_free(memory);
  return status;
}

/* ---- take_along ---- */

joist_status joist_take_along_shape(const struct joist_shape *const *shapes,
                                    const struct joist_attributes *attributes,
                                    struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  struct joist_shape other = *shapes[0];
  *result = *shapes[1];
  if (dim >= 0 && dim < other.rank && other.rank == result->rank) {
    other.extent[dim] = result->extent[dim];
    if (joist_shape_equal(&other, result)) return JOIST_OK;
  }
  return JOIST_FAIL(error, JOIST_E_TAKE_SHAPES, .shape = {*result, *shapes[0]}, .dim = dim + 1);
}

#define TAKE_LINE(TYPE)                                                                \
  do {                                                                                 \
    const TYPE *const from = (const TYPE *)call->in[0] + start_of(lines.n, stride, k); \
    TYPE *const to = (TYPE *)call->out[0] + first;                                     \
    for (size_t i = 0; i < taken.n; i++) {                                             \
      const uint32_t at = (uint32_t)index[first + i * stride] - 1;                     \
      if (at >= lines.n) return i;                                                     \
      to[i * stride] = from[at * stride];                                              \
    }                                                                                  \
  } while (0)

/* Line k; the number of elements that were taken before a position was out of range. */
static size_t take_line(const struct joist_call *call, struct lines lines, struct lines taken,
                        size_t k) {
  const size_t stride = lines.stride, first = start_of(taken.n, stride, k);
  const int32_t *const index = call->in[1];
  switch (joist_dtype_size(call->result->type.dtype)) {
    case 1:
      TAKE_LINE(uint8_t);
      break;
    case 2:
      TAKE_LINE(uint16_t);
      break;
    case 4:
      TAKE_LINE(uint32_t);
      break;
    case 8:
      TAKE_LINE(uint64_t);
      break;
    default:
      TAKE_LINE(sixteen);
      break;
  }
  return taken.n;
}

joist_status joist_take_along_run(const struct joist_call *call, struct joist_error *error) {
  const int dim = joist_attribute_dim(joist_call_attributes(call));
  const struct lines lines = lines_of(&call->operand[0]->shape, dim);
  const struct lines taken = lines_of(&call->result->shape, dim);
  if (call->operand[1]->type.dtype != JOIST_I32)
    return JOIST_FAIL(error, JOIST_E_POSITIONS_DTYPE,
                      .type = {call->operand[1]->type, {JOIST_I32, false}});
  if (taken.n == 0) return JOIST_OK;
  const int threads = joist_threads_for(call->run, taken.n * taken.count * 4, taken.count);
  size_t failed = SIZE_MAX;
  (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
  for (size_t k = 0; k < taken.count; k++) {
    const size_t done = take_line(call, lines, taken, k);
    if (done == taken.n) continue;
    const size_t at = start_of(taken.n, taken.stride, k) + done * taken.stride;
#ifdef _OPENMP
#pragma omp critical(joist_take_along)
#endif
    failed = at < failed ? at : failed;
  }
  if (failed == SIZE_MAX) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_INDEX_RANGE, .number = {((const int32_t *)call->in[1])[failed]},
                    .position = failed + 1, .count = {lines.n},
                    .op = joist_op_name(call->instruction->op));
}
