/* nv_top_k(): the first positions of a sorted line without sorting all of it. */
#include <string.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/kernels/stream.h"
#include "core/ops/order/keys.h"
#include "core/ops/order/sort_line.h"
#include "core/program/call.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum { DIGIT = 11, WORK = 16, BLOCK = 1 << 18 /* elements between polls */ };

/* Lines of an array along a dim; those of the result have k elements instead of n. */
struct selecting {
  joist_dtype dtype;
  bool decreasing;
  struct joist_sorting sorting; /* of the keys that are taken */
  size_t size, n, k, stride;
  const char *in;
  int32_t *out;
  char *rooms;
  size_t room_bytes;
  /* Where one thread takes all lines, it polls within them; NULL where several do. */
  const struct joist_run *run;
  bool *stopped;
};

static bool stops(const struct selecting *s) {
  if (s->run != NULL && !*s->stopped) *s->stopped = joist_run_poll(s->run, NULL) != JOIST_OK;
  return *s->stopped;
}

/* Elements first .. end - 1 of n, until the caller asks to stop. */
#define EACH_BLOCK(s, n, first, end)                                                      \
  for (size_t first = 0, end;                                                             \
       first < (n) && !stops(s) && (end = first + joist_smaller(BLOCK, (n)-first), true); \
       first = end)

/* The k-th smallest key, k from 1 on; `left` is scratch. Each round keeps the keys whose
 * leading digit is that of the one looked for. Any key once the caller asks to stop. */
static uint64_t kth_key(const struct selecting *s, const uint64_t *keys, uint64_t *left) {
  uint32_t counts[1 << DIGIT];
  size_t k = s->k, n = s->n;
  EACH_BLOCK(s, n, first, end) memcpy(left + first, keys + first, (end - first) * sizeof *left);
  for (;;) {
    uint64_t low = UINT64_MAX, high = 0;
    EACH_BLOCK(s, n, first, end)
    for (size_t i = first; i < end; i++) {
      low = left[i] < low ? left[i] : low;
      high = left[i] > high ? left[i] : high;
    }
    if (low == high || *s->stopped) return low;
    const unsigned length = joist_bit_length(high - low),
                   shift = length < DIGIT ? 0 : length - DIGIT;
    memset(counts, 0, sizeof counts);
    EACH_BLOCK(s, n, first, end)
    for (size_t i = first; i < end; i++) counts[(left[i] - low) >> shift]++;
    if (*s->stopped) return low;
    size_t bucket = 0;
    for (; counts[bucket] < k; bucket++) k -= counts[bucket];
    if (shift == 0) return low + bucket;
    size_t kept = 0;
    EACH_BLOCK(s, n, first, end)
    for (size_t i = first; i < end; i++) {
      const uint64_t key = left[i];
      left[kept] = key;
      kept += (key - low) >> shift == bucket;
    }
    if (*s->stopped) return low;
    n = kept;
  }
}

/* The keys up to the k-th one are taken, with their positions, and put in order. */
static void select_line(const void *context, size_t line, size_t worker) {
  const struct selecting *const s = context;
  const size_t n = s->n, k = s->k, inner = line % s->stride, outer = line / s->stride;
  uint64_t *const keys = (uint64_t *)(void *)(s->rooms + worker * s->room_bytes);
  uint64_t *const left = keys + n, *const taken = left; /* no longer needed then */
  int32_t *const positions = (int32_t *)(void *)(left + n), *const order = positions + k;
  char *const room = (char *)keys + s->room_bytes - joist_sort_room(&s->sorting, k);
  const char *from = s->in + (outer * n * s->stride + inner) * s->size;
  int32_t *const out = s->out + outer * k * s->stride + inner;
  if (s->stride > 1) {
    char *const side = (char *)left;
    for (size_t i = 0; i < n; i++)
      memcpy(side + i * s->size, from + i * s->stride * s->size, s->size);
    from = side;
  }
  EACH_BLOCK(s, n, first, end)
  joist_order_keys(s->dtype, s->decreasing, end - first, from + first * s->size, keys + first);
  if (*s->stopped) return;
  const uint64_t last = kth_key(s, keys, left);
  size_t ties = k, count = 0;
  EACH_BLOCK(s, n, first, end)
  for (size_t i = first; i < end; i++) ties -= keys[i] < last;
  if (*s->stopped) return;
  for (size_t i = 0; i < n && count < k; i++) {
    const uint64_t key = keys[i];
    if (key > last || (key == last && ties == 0)) continue;
    ties -= key == last;
    taken[count] = key;
    positions[count++] = (int32_t)i + 1;
  }
  joist_sort_line(&s->sorting, k, taken, room, order);
  for (size_t i = 0; i < k; i++) out[i * s->stride] = positions[order[i] - 1];
}

joist_status joist_top_k_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  const int64_t k = joist_attribute_value(attributes, JOIST_ATTRIBUTE_K);
  *result = *shapes[0];
  const joist_status status = joist_shape_needs_dim(result, dim, error);
  if (status != JOIST_OK) return status;
  if (k < 0 || (uint32_t)k > result->extent[dim])
    return JOIST_FAIL(error, JOIST_E_TOP_K, .dim = dim + 1, .shape = {*result},
                      .count = {(size_t)k});
  result->extent[dim] = (uint32_t)k;
  return JOIST_OK;
}

joist_status joist_top_k_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  const joist_dtype dtype = call->instruction->signature.operand[0];
  const struct joist_lines lines =
      joist_shape_lines(&call->operand[0]->shape, joist_attribute_dim(attributes));
  struct selecting s = {.dtype = dtype,
                        .decreasing = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_DECREASING),
                        .sorting = joist_sorting_of(JOIST_UI64, false, true),
                        .size = joist_dtype_size(dtype),
                        .n = lines.middle,
                        .k = (size_t)joist_attribute_value(attributes, JOIST_ATTRIBUTE_K),
                        .stride = lines.inner,
                        .in = call->in[0],
                        .out = call->out[0]};
  const size_t n = s.n, count = lines.inner * lines.outer;
  if (s.k == 0 || count == 0) return JOIST_OK;
  const int threads = joist_threads_for(call->run, n * count * WORK, count);
  s.room_bytes = joist_round_up((2 * n + s.k) * sizeof(uint64_t), JOIST_LINE) +
                 joist_sort_room(&s.sorting, s.k);
  s.rooms = joist_pool_allocate((size_t)threads * s.room_bytes);
  if (s.rooms == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = s.room_bytes);
  bool stopped = false;
  s.stopped = &stopped;
  if (threads == 1) s.run = call->run;
  const joist_status status =
      joist_tasks_run_on(call->run, threads, count, n, select_line, &s, error);
  joist_pool_free(s.rooms);
  return stopped ? JOIST_INTERRUPTED : status;
}
