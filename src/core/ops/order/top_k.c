/* nv_top_k(): the first positions of a sorted line without sorting all of it. Each key is looked at
 * once and kept if it may be among the first k. When the room for these is full, only the best k
 * stay, and later keys are kept only if they are better than the worst of them. */
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

enum {
  DIGIT = 11,
  WORK = 4,
  BLOCK = 1 << 18, /* elements between polls */
  FRESH = 1 << 10, /* keys made at once, at most */
  SPARE = 1 << 15  /* kept keys beside the best ones */
};

/* Lines of an array along a dim; lines of the result have k elements instead of n. */
struct selecting {
  joist_dtype dtype;
  bool decreasing;
  struct joist_sorting sorting; /* of the keys that are taken */
  size_t size, n, k, stride;
  size_t most; /* keys that are kept */
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

/* What a worker keeps of a line: the keys with their positions, in the order of these. */
struct kept {
  size_t count;
  uint64_t *keys, *left; /* the latter is scratch of the same size */
  int32_t *positions;
};

/* The k-th smallest key, k from 1 on. Each round keeps the keys whose leading digit equals that
 * digit of the one looked for. Any key once the caller asks to stop. */
static uint64_t kth_key(const struct selecting *s, const struct kept *kept) {
  uint32_t counts[1 << DIGIT];
  uint64_t *const left = kept->left;
  size_t k = s->k, n = kept->count;
  memcpy(left, kept->keys, n * sizeof *left);
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
    size_t count = 0;
    EACH_BLOCK(s, n, first, end)
    for (size_t i = first; i < end; i++) {
      const uint64_t key = left[i];
      left[count] = key;
      count += (key - low) >> shift == bucket;
    }
    if (*s->stopped) return low;
    n = count;
  }
}

/* Keeps the best k, of equal keys the first ones, and gives the last of them. */
static uint64_t keep_best(const struct selecting *s, struct kept *kept) {
  const uint64_t last = kth_key(s, kept);
  size_t ties = s->k, count = 0;
  for (size_t i = 0; i < kept->count; i++) ties -= kept->keys[i] < last;
  for (size_t i = 0; i < kept->count && count < s->k && !*s->stopped; i++) {
    const uint64_t key = kept->keys[i];
    if (key > last || (key == last && ties == 0)) continue;
    ties -= key == last;
    kept->keys[count] = key;
    kept->positions[count++] = kept->positions[i];
  }
  kept->count = count;
  return last;
}

/* Elements first .. first + n - 1 of a line, to `keys`. */
static void make_keys(const struct selecting *s, const char *line, size_t first, size_t n,
                      uint64_t *keys) {
  _Alignas(uint64_t) char side[FRESH * sizeof(uint64_t)]; /* complex numbers have no order */
  const char *from = line + first * s->stride * s->size;
  if (s->stride > 1) {
    for (size_t i = 0; i < n; i++)
      memcpy(side + i * s->size, from + i * s->stride * s->size, s->size);
    from = side;
  }
  joist_order_keys(s->dtype, s->decreasing, n, from, keys);
}

static void select_line(const void *context, size_t line, size_t worker) {
  const struct selecting *const s = context;
  const size_t inner = line % s->stride, outer = line / s->stride, k = s->k;
  uint64_t *const room = (uint64_t *)(void *)(s->rooms + worker * s->room_bytes);
  struct kept kept = {.keys = room, .left = room + s->most};
  kept.positions = (int32_t *)(void *)(kept.left + s->most);
  int32_t *const order = kept.positions + s->most;
  const char *const from = s->in + (outer * s->n * s->stride + inner) * s->size;
  uint64_t limit = UINT64_MAX;
  bool limited = false;
  for (size_t first = 0, n; first < s->n; first += n) {
    if (first % BLOCK == 0 && stops(s)) return;
    n = joist_smaller(FRESH, s->n - first);
    if (kept.count + n > s->most) {
      limit = keep_best(s, &kept);
      limited = true;
    }
    make_keys(s, from, first, n, kept.left);
    for (size_t i = 0; i < n; i++) {
      kept.keys[kept.count] = kept.left[i];
      kept.positions[kept.count] = (int32_t)(first + i) + 1;
      kept.count += !limited || kept.left[i] < limit;
    }
  }
  if (kept.count > k) keep_best(s, &kept);
  if (*s->stopped) return;
  char *const sort_room = (char *)room + s->room_bytes - joist_sort_room(&s->sorting, k);
  joist_sort_line(&s->sorting, k, kept.keys, sort_room, order);
  int32_t *const out = s->out + outer * k * s->stride + inner;
  for (size_t i = 0; i < k; i++) out[i * s->stride] = kept.positions[order[i] - 1];
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
  s.most = joist_smaller(n, 2 * s.k + SPARE);
  s.room_bytes =
      joist_round_up(2 * s.most * sizeof(uint64_t) + (s.most + s.k) * sizeof(int32_t), JOIST_LINE) +
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
