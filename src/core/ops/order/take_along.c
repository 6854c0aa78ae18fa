/* take_along: the elements at positions along a dim. */
#include "core/base/by_size.h"
#include "core/base/parallel.h"
#include "core/program/call.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

enum { WORK = 4, TASK = 1 << 12 /* elements of a task at least */ };

joist_status joist_take_along_shape(const struct joist_shape *const *shapes,
                                    const struct joist_attributes *attributes,
                                    struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  struct joist_shape other = *shapes[0];
  *result = *shapes[1];
  const joist_status status = joist_shape_needs_dim(&other, dim, error);
  if (status != JOIST_OK) return status;
  if (other.rank == result->rank) {
    other.extent[dim] = result->extent[dim];
    if (joist_shape_equal(&other, result)) return JOIST_OK;
  }
  return JOIST_FAIL(error, JOIST_E_TAKE_SHAPES, .shape = {*result, *shapes[0]}, .dim = dim + 1);
}

struct taking {
  size_t size, n, taken, stride; /* elements of a line: n, of which some are taken */
  size_t lines, each;            /* lines, and lines of a task */
  const void *in;
  const int32_t *index;
  void *out;
  _Atomic size_t *failed; /* the first position that is out of range */
};

/* A line; where a position is out of range, the rest of it is left out. */
#define TAKE(TYPE)                                                                        \
  static void take_##TYPE(const struct taking *t, size_t from, size_t to, const TYPE *in, \
                          TYPE *out) {                                                    \
    for (size_t i = 0; i < t->taken; i++, to += t->stride) {                              \
      const uint32_t at = (uint32_t)t->index[to] - 1;                                     \
      if (at >= t->n) {                                                                   \
        joist_lower(t->failed, to);                                                       \
        return;                                                                           \
      }                                                                                   \
      out[to] = in[from + at * t->stride];                                                \
    }                                                                                     \
  }
TAKE(uint8_t)
TAKE(uint16_t)
TAKE(uint32_t)
TAKE(uint64_t)
TAKE(sixteen)

static void take_lines(const void *context, size_t task, size_t worker) {
  const struct taking *const t = context;
  const struct joist_part part = joist_strip_of(t->lines, t->each, task);
  (void)worker;
  for (size_t k = part.first; k < part.first + part.n; k++) {
    const size_t outer = k / t->stride, inner = k % t->stride;
    const size_t from = outer * t->n * t->stride + inner;
    const size_t to = outer * t->taken * t->stride + inner;
    JOIST_BY_SIZE(t->size, take, t, from, to, t->in, t->out);
  }
}

joist_status joist_take_along_run(const struct joist_call *call, struct joist_error *error) {
  const int dim = joist_attribute_dim(joist_call_attributes(call));
  const struct joist_lines lines = joist_shape_lines(&call->operand[0]->shape, dim);
  _Atomic size_t failed = SIZE_MAX;
  struct taking t = {.size = joist_dtype_size(call->result->type.dtype),
                     .n = lines.middle,
                     .taken = call->result->shape.extent[dim],
                     .stride = lines.inner,
                     .lines = lines.inner * lines.outer,
                     .in = call->in[0],
                     .index = call->in[1],
                     .out = call->out[0],
                     .failed = &failed};
  if (call->operand[1]->type.dtype != JOIST_I32)
    return JOIST_FAIL(error, JOIST_E_POSITIONS_DTYPE,
                      .type = {call->operand[1]->type, {JOIST_I32, false}});
  if (t.taken == 0) return JOIST_OK;
  t.each = joist_divide_up(TASK, t.taken);
  const joist_status status = joist_tasks_run(call->run, joist_divide_up(t.lines, t.each),
                                              t.each * t.taken * WORK, take_lines, &t, error);
  if (status != JOIST_OK || failed == SIZE_MAX) return status;
  return JOIST_FAIL(error, JOIST_E_INDEX_RANGE, .number = {t.index[failed]}, .position = failed + 1,
                    .count = {t.n}, .op = joist_op_name(call->instruction->op));
}
