/* sort and order: lines of an array along a dim, by keys that sort as the elements
 * do. NaN comes last in either direction; equal elements keep their order. */
#include "core/base/bits.h"
#include "core/base/by_size.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/kernels/stream.h"
#include "core/ops/order/sort_line.h"
#include "core/program/call.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum {
  GROUP = 16,         /* neighbouring lines that a thread reads at once */
  GROUP_ITEMS = 4096, /* elements of such a group at most, or one line */
  LONG = 1 << 17,     /* elements of a line that all threads share */
  WORK = 16,          /* additions' worth of work per element */
  TASK = 1 << 15      /* the same of a task at least */
};

/* `group` neighbouring lines of n elements, `stride` elements apart from one to the next, side by
 * side, and back. */
#define MOVE_LINES(TYPE)                                                                         \
  static void gather_##TYPE(size_t n, size_t stride, size_t group, const TYPE *in, TYPE *out) {  \
    for (size_t i = 0; i < n; i++)                                                               \
      for (size_t g = 0; g < group; g++) out[g * n + i] = in[i * stride + g];                    \
  }                                                                                              \
  static void scatter_##TYPE(size_t n, size_t stride, size_t group, const TYPE *in, TYPE *out) { \
    for (size_t i = 0; i < n; i++)                                                               \
      for (size_t g = 0; g < group; g++) out[i * stride + g] = in[g * n + i];                    \
  }
MOVE_LINES(uint8_t)
MOVE_LINES(uint16_t)
MOVE_LINES(uint32_t)
MOVE_LINES(uint64_t)
MOVE_LINES(sixteen)

/* The lines of an array along a dim: lines of one outer index adjoin, which groups cover. */
struct lines {
  struct joist_sorting sorting;
  struct joist_lines of; /* a line has `middle` elements, `inner` apart */
  size_t group;          /* lines of a group */
  size_t per_outer;      /* groups of an outer index */
  size_t groups;         /* groups of a task */
  size_t out_size;
  const char *in;
  char *out, *rooms;
  /* Of a thread's room: bytes to sort a line in, unless all threads share it, and of a group's
   * elements. */
  size_t sort_bytes, in_bytes, room_bytes;
  int threads;
  const struct joist_run *run;
};

/* Sorts the lines of group k, in the room of a thread, or by all threads if there is an
 * error to fill in. */
static joist_status sort_group(const struct lines *lines, size_t k, size_t worker,
                               struct joist_error *error) {
  const size_t n = lines->of.middle, stride = lines->of.inner;
  const size_t inner = k % lines->per_outer * lines->group, outer = k / lines->per_outer;
  const size_t group = joist_smaller(stride - inner, lines->group);
  const size_t first = outer * n * stride + inner;
  const size_t size = lines->sorting.size, out_size = lines->out_size;
  char *const room = lines->rooms + worker * lines->room_bytes;
  char *const side = room + lines->sort_bytes, *const sorted = side + lines->in_bytes;
  const void *const in = lines->in + first * size;
  void *const out = lines->out + first * out_size;
  const char *from = in;
  char *to = out;
  joist_status status = JOIST_OK;
  if (stride > 1) {
    void *const at = side;
    JOIST_BY_SIZE(size, gather, n, stride, group, in, at);
    from = side;
    to = sorted;
  }
  for (size_t g = 0; g < group && status == JOIST_OK; g++, from += n * size, to += n * out_size)
    if (lines->sort_bytes > 0)
      joist_sort_line(&lines->sorting, n, from, room, to);
    else
      status =
          joist_sort_long_line(&lines->sorting, n, from, lines->threads, lines->run, to, error);
  if (stride > 1) {
    const void *const at = sorted;
    JOIST_BY_SIZE(out_size, scatter, n, stride, group, at, out);
  }
  return status;
}

static void sort_groups(const void *context, size_t task, size_t worker) {
  const struct lines *const lines = context;
  const size_t first = task * lines->groups, all = lines->per_outer * lines->of.outer;
  const size_t end = first + joist_smaller(lines->groups, all - first);
  for (size_t k = first; k < end; k++) (void)sort_group(lines, k, worker, NULL);
}

static joist_status run_lines(struct lines *lines, struct joist_error *error) {
  const size_t n = lines->of.middle, count = lines->of.inner * lines->of.outer;
  int threads = joist_threads_for(lines->run, n * count * WORK, SIZE_MAX);
  const bool all = n >= LONG && (threads == 1 || count < 4 * (size_t)threads);
  lines->group = n > GROUP_ITEMS || all ? 1 : joist_smaller(GROUP_ITEMS / n, GROUP);
  lines->group = joist_smaller(lines->group, lines->of.inner);
  lines->per_outer = joist_divide_up(lines->of.inner, lines->group);
  lines->groups = joist_divide_up(TASK / WORK, n * lines->group);
  const size_t groups = lines->per_outer * lines->of.outer;
  const size_t tasks = joist_divide_up(groups, lines->groups),
               work = lines->groups * lines->group * n;
  lines->threads = threads;
  if (!all) threads = (int)joist_smaller((size_t)threads, tasks);
  const size_t grouped = lines->of.inner > 1 ? n * lines->group : 0;
  lines->sort_bytes = all ? 0 : joist_sort_room(&lines->sorting, n);
  lines->in_bytes = joist_round_up(grouped * lines->sorting.size, JOIST_LINE);
  lines->room_bytes =
      lines->sort_bytes + lines->in_bytes + joist_round_up(grouped * lines->out_size, JOIST_LINE);
  const size_t bytes = (all ? 1 : (size_t)threads) * lines->room_bytes;
  lines->rooms = joist_pool_allocate(bytes);
  if (lines->rooms == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  joist_status status = JOIST_OK;
  if (!all)
    status = joist_tasks_run_on(lines->run, threads, tasks, work, sort_groups, lines, error);
  for (size_t k = 0; k < groups && all && status == JOIST_OK; k++)
    status = sort_group(lines, k, 0, error);
  joist_pool_free(lines->rooms);
  return status;
}

static joist_status run(const struct joist_call *call, bool positions, struct joist_error *error) {
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  const bool decreasing = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_DECREASING);
  const joist_dtype dtype = call->instruction->signature.operand[0];
  struct lines lines = {
      .sorting = joist_sorting_of(dtype, decreasing, positions),
      .of = joist_shape_lines(&call->operand[0]->shape, joist_attribute_dim(attributes)),
      .out_size = positions ? sizeof(int32_t) : joist_dtype_size(dtype),
      .in = call->in[0],
      .out = call->out[0],
      .run = call->run};
  if (joist_value_count(call->result) == 0) return JOIST_OK;
  return run_lines(&lines, error);
}

joist_status joist_sort_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  *result = *shapes[0];
  return joist_shape_needs_dim(result, dim, error);
}

joist_status joist_sort_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, false, error);
}

joist_status joist_argsort_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  return joist_sort_shape(shapes, attributes, result, error);
}

joist_status joist_argsort_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, true, error);
}
