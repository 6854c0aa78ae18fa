/* The operations that move elements; see walk.h for how. */
#include "core/ops/move/move_ops.h"

#include <stdlib.h>
#include <string.h>

#include "core/ops/move/permute.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"
#include "core/types/shape_rules.h"

static size_t size_of(const struct joist_call *call) {
  return joist_dtype_size(call->result->type.dtype);
}

static joist_status copy(const struct joist_call *call, struct joist_error *error) {
  return joist_copy_elements(size_of(call), joist_value_count(call->result), call->in[0],
                             call->out[0], call->run, error);
}

joist_status joist_reshape_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  size_t before = 0, after = 0;
  (void)joist_attribute_shape(attributes, result);
  if (!joist_shape_count(result, &after)) return JOIST_OK; /* the caller says it is too large */
  if (joist_shape_count(shapes[0], &before) && before == after) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_RESHAPE, .shape = {*shapes[0], *result},
                    .count = {before, after});
}

joist_status joist_reshape_run(const struct joist_call *call, struct joist_error *error) {
  return copy(call, error);
}

joist_status joist_take_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  (void)attributes;
  (void)error;
  *result = *shapes[1];
  return JOIST_OK;
}

/* The names of take and put are internal. */
joist_status joist_position_error(joist_op op, int64_t position, size_t k, size_t extent,
                                  struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_INDEX_RANGE, .number = {(double)position + 1}, .position = k + 1,
                    .op = op == JOIST_OP_SCATTER_ADD ? joist_op_name(op) : NULL, .count = {extent});
}

joist_status joist_check_positions(const struct joist_call *call, size_t extent,
                                   struct joist_error *error) {
  const size_t n = joist_value_count(call->operand[1]);
  if (call->operand[1]->type.dtype != JOIST_I64)
    return JOIST_FAIL(error, JOIST_E_POSITIONS_DTYPE,
                      .type = {call->operand[1]->type, {JOIST_I64, false}});
  const int64_t *const positions = call->in[1];
  int bad = 0;
  for (size_t k = 0; k < n; k++) bad |= (uint64_t)positions[k] >= (uint64_t)extent;
  if (!bad) return JOIST_OK;
  size_t k = 0;
  while ((uint64_t)positions[k] < (uint64_t)extent) k++;
  return joist_position_error(call->instruction->op, positions[k], k, extent, error);
}

joist_status joist_take_run(const struct joist_call *call, struct joist_error *error) {
  const joist_status status =
      joist_check_positions(call, joist_value_count(call->operand[0]), error);
  if (status != JOIST_OK || call->out[0] == NULL) return status;
  const struct joist_index index = joist_index_of(call->in[1], joist_value_count(call->result));
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  joist_walk_add(&walk, index.count, 1, 1, &index);
  return joist_move(size_of(call), &walk, call->in[0], call->out[0], call->run, error);
}

joist_status joist_put_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *result,
                             struct joist_error *error) {
  size_t positions = 0, values = 0;
  (void)attributes;
  *result = *shapes[0];
  (void)joist_shape_count(shapes[1], &positions);
  (void)joist_shape_count(shapes[2], &values);
  if (values == positions || values == 1) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_REPLACEMENT, .shape = {*shapes[2]}, .count = {positions});
}

joist_status joist_put_run(const struct joist_call *call, struct joist_error *error) {
  joist_status status = joist_check_positions(call, joist_value_count(call->operand[0]), error);
  if (status == JOIST_OK) status = copy(call, error);
  if (status != JOIST_OK) return status;
  const struct joist_index index = joist_index_of(call->in[1], joist_value_count(call->operand[1]));
  struct joist_walk walk;
  joist_walk_init(&walk, true);
  joist_walk_add(&walk, index.count, joist_value_count(call->operand[2]) > 1, 1, &index);
  return joist_move(size_of(call), &walk, call->in[2], call->out[0], call->run, error);
}

joist_status joist_alias_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  (void)error;
  *result = *shapes[0];
  return JOIST_OK;
}

joist_status joist_alias_run(const struct joist_call *call, struct joist_error *error) {
  return copy(call, error);
}

joist_status joist_print_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  if (shapes[1] != NULL && !joist_shape_equal(shapes[0], shapes[1]))
    return JOIST_FAIL(error, JOIST_E_RESHAPE, .shape = {*shapes[1], *shapes[0]});
  *result = (struct joist_shape){.rank = 0};
  return JOIST_OK;
}

joist_status joist_print_run(const struct joist_call *call, struct joist_error *error) {
  (void)error;
  const struct joist_run *const run = call->run;
  memset(call->out[0], 0, size_of(call));
  return run->print != NULL && run->print(run->context, call) ? JOIST_INTERRUPTED : JOIST_OK;
}

joist_status joist_require_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  *result = *shapes[0];
  if (shapes[1]->rank == 0) return JOIST_OK;
  const struct joist_shape scalar = {.rank = 0};
  size_t count = 0;
  (void)joist_shape_count(shapes[1], &count);
  return JOIST_FAIL(error, JOIST_E_RESHAPE, .shape = {*shapes[1], scalar}, .count = {count, 1});
}

joist_status joist_require_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_run *const run = call->run;
  bool holds = false;
  for (size_t k = 0; k < joist_dtype_size(call->operand[1]->type.dtype); k++)
    holds |= ((const char *)call->in[1])[k] != 0;
  if (holds) return copy(call, error);
  if (run->print != NULL && run->print(run->context, call)) return JOIST_INTERRUPTED;
  return JOIST_FAIL(error, JOIST_E_REQUIRED);
}

/* ---- side by side ---- */

/* The first operand that is not a scalar gives the other extents; scalars alone become a vector.
 */
joist_status joist_concatenate_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  const struct joist_shape row = {.rank = 1, .extent = {1}}, *first = &row;
  uint64_t total = 0;
  for (size_t k = 0; shapes[k] != NULL && first == &row; k++)
    if (shapes[k]->rank > 0) first = shapes[k];
  *result = *first;
  const joist_status status = joist_shape_needs_dim(result, dim, error);
  if (status != JOIST_OK) return status;
  for (size_t k = 0; shapes[k] != NULL; k++) {
    struct joist_shape other = *shapes[k];
    total += other.rank == 0 ? 1 : dim < other.rank ? other.extent[dim] : 0;
    if (other.rank == 0) continue;
    if (dim < other.rank) other.extent[dim] = result->extent[dim];
    if (!joist_shape_equal(&other, result))
      return JOIST_FAIL(error, JOIST_E_SIDE_BY_SIDE, .shape = {*first, *shapes[k]}, .dim = dim + 1);
  }
  if (total > INT32_MAX)
    return JOIST_FAIL(error, JOIST_E_EXTENT_LIMIT, .dim = dim + 1, .number = {(double)total});
  result->extent[dim] = (uint32_t)total;
  return JOIST_OK;
}

size_t joist_walk_part(const struct joist_shape *whole, const struct joist_shape *part, int dim,
                       size_t first, struct joist_walk *walk) {
  const struct joist_lines lines = joist_shape_lines(whole, dim);
  const bool scalar = part->rank == 0;
  const size_t extent = scalar ? 1 : part->extent[dim];
  const size_t row = lines.inner * extent;
  joist_walk_init(walk, false);
  joist_walk_add(walk, row, scalar ? 0 : 1, 1, NULL);
  joist_walk_add(walk, lines.outer, scalar ? 0 : (int64_t)row,
                 (int64_t)(lines.inner * lines.middle), NULL);
  walk->out_base = (int64_t)(first * lines.inner);
  return extent;
}

joist_status joist_concatenate_run(const struct joist_call *call, struct joist_error *error) {
  const int dim = joist_attribute_dim(joist_call_attributes(call));
  size_t first = 0;
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < call->instruction->operand_count && status == JOIST_OK; k++) {
    struct joist_walk walk;
    first += joist_walk_part(&call->result->shape, &call->operand[k]->shape, dim, first, &walk);
    status = joist_move(size_of(call), &walk, call->in[k], call->out[0], call->run, error);
  }
  return status;
}

joist_status joist_permute_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  const int rank = shapes[0]->rank;
  const uint32_t given = joist_attribute_length(attributes, JOIST_ATTRIBUTE_PERMUTATION);
  uint32_t seen = 0;
  *result = (struct joist_shape){.rank = rank};
  if (given != (uint32_t)rank) return JOIST_FAIL(error, JOIST_E_PERMUTATION, .shape = {*result});
  for (int d = 0; d < rank; d++) {
    const int64_t from = joist_attribute_at(attributes, JOIST_ATTRIBUTE_PERMUTATION, d);
    if (from < 0 || from >= rank || (seen >> from & 1))
      return JOIST_FAIL(error, JOIST_E_PERMUTATION, .shape = {*result});
    seen |= UINT32_C(1) << from;
    result->extent[d] = shapes[0]->extent[from];
  }
  return JOIST_OK;
}

joist_status joist_permute_run(const struct joist_call *call, struct joist_error *error) {
  return joist_permute(size_of(call), &call->operand[0]->shape, joist_call_attributes(call),
                       call->in[0], call->out[0], call->run, error);
}

/* ---- slices ---- */

/* How many positions there are from start to stop; negative where stop lies before start. */
static int64_t slice_count(const struct joist_attributes *attributes, int d) {
  const int64_t start = joist_attribute_at(attributes, JOIST_ATTRIBUTE_START, d);
  const int64_t stop = joist_attribute_at(attributes, JOIST_ATTRIBUTE_STOP, d);
  const int64_t step = joist_attribute_at(attributes, JOIST_ATTRIBUTE_STEP, d);
  if (step == 0) return start == stop ? 1 : -1;
  const int64_t steps = stop - start + step;
  return steps == 0 ? 0 : (steps < 0) == (step < 0) ? steps / step : -1;
}

static struct joist_index slice_index(const struct joist_attributes *attributes, int d) {
  return (struct joist_index){.kind = JOIST_INDEX_RANGE,
                              .count = (size_t)slice_count(attributes, d),
                              .start = joist_attribute_at(attributes, JOIST_ATTRIBUTE_START, d),
                              .step = joist_attribute_at(attributes, JOIST_ATTRIBUTE_STEP, d)};
}

/* The shape of the slice, which must lie inside of `shape`. */
static joist_status check_slice(const struct joist_shape *shape,
                                const struct joist_attributes *attributes,
                                struct joist_shape *selected, struct joist_error *error) {
  joist_status status =
      joist_attribute_check_rank(attributes, JOIST_ATTRIBUTE_START, shape->rank, error);
  if (status == JOIST_OK)
    status = joist_attribute_check_rank(attributes, JOIST_ATTRIBUTE_STOP, shape->rank, error);
  if (status == JOIST_OK)
    status = joist_attribute_check_rank(attributes, JOIST_ATTRIBUTE_STEP, shape->rank, error);
  if (status != JOIST_OK) return status;
  selected->rank = shape->rank;
  for (int d = 0; d < shape->rank; d++) {
    const int64_t extent = shape->extent[d], n = slice_count(attributes, d);
    const struct joist_index index = slice_index(attributes, d);
    const int64_t last = index.start + (n - 1) * index.step;
    if (n < 0 ||
        (n > 0 && (index.start < 0 || index.start >= extent || last < 0 || last >= extent)))
      return JOIST_FAIL(
          error, JOIST_E_SLICE_RANGE,
          .number = {(double)index.start + 1,
                     (double)joist_attribute_at(attributes, JOIST_ATTRIBUTE_STOP, d) + 1},
          .count = {(size_t)extent}, .dim = d + 1);
    selected->extent[d] = (uint32_t)n;
  }
  return JOIST_OK;
}

joist_status joist_slice_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  size_t selected = 0, count = 0;
  struct joist_shape slice;
  const joist_status status = check_slice(shapes[0], attributes, &slice, error);
  if (status != JOIST_OK) return status;
  (void)joist_shape_count(&slice, &selected);
  if (!joist_attribute_shape(attributes, result)) *result = slice;
  if (joist_shape_count(result, &count) && count == selected) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_SELECTION_SHAPE, .count = {selected}, .shape = {*result});
}

void joist_walk_slice(const struct joist_shape *shape, const struct joist_attributes *attributes,
                      struct joist_walk *walk) {
  struct joist_index indices[JOIST_RANK_MAX];
  for (int d = 0; d < shape->rank; d++) indices[d] = slice_index(attributes, d);
  joist_walk_take(shape, indices, walk);
}

joist_status joist_slice_run(const struct joist_call *call, struct joist_error *error) {
  struct joist_walk walk;
  joist_walk_slice(&call->operand[0]->shape, joist_call_attributes(call), &walk);
  return joist_move(size_of(call), &walk, call->in[0], call->out[0], call->run, error);
}

joist_status joist_update_shape(const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes,
                                struct joist_shape *result, struct joist_error *error) {
  size_t selected = 0, values = 0;
  struct joist_shape slice;
  const joist_status status = check_slice(shapes[0], attributes, &slice, error);
  if (status != JOIST_OK) return status;
  *result = *shapes[0];
  (void)joist_shape_count(&slice, &selected);
  (void)joist_shape_count(shapes[1], &values);
  if (values == selected || values == 1) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_REPLACEMENT, .shape = {*shapes[1]}, .count = {selected});
}

void joist_walk_update(const struct joist_shape *shape, const struct joist_attributes *attributes,
                       bool repeated, struct joist_walk *walk) {
  struct joist_index indices[JOIST_RANK_MAX];
  for (int d = 0; d < shape->rank; d++) indices[d] = slice_index(attributes, d);
  joist_walk_put(shape, indices, repeated, walk);
}

joist_status joist_update_run(const struct joist_call *call, struct joist_error *error) {
  const joist_status status = copy(call, error);
  if (status != JOIST_OK) return status;
  struct joist_walk walk;
  joist_walk_update(&call->operand[0]->shape, joist_call_attributes(call),
                    joist_value_count(call->operand[1]) == 1, &walk);
  return joist_move(size_of(call), &walk, call->in[1], call->out[0], call->run, error);
}

/* ---- padding: low edge, high edge and interior of each dim ---- */

joist_status joist_pad_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *result,
                             struct joist_error *error) {
  *result = *shapes[0];
  if (shapes[1]->rank != 0) return JOIST_FAIL(error, JOIST_E_PAD_VALUE, .shape = {*shapes[1]});
  static const joist_attribute_name edges[] = {JOIST_ATTRIBUTE_LOW, JOIST_ATTRIBUTE_HIGH,
                                               JOIST_ATTRIBUTE_INTERIOR};
  for (int k = 0; k < 3; k++) {
    const joist_status status =
        joist_attribute_check_rank(attributes, edges[k], result->rank, error);
    if (status != JOIST_OK) return status;
  }
  for (int d = 0; d < result->rank; d++) {
    const int64_t low = joist_attribute_at(attributes, JOIST_ATTRIBUTE_LOW, d);
    const int64_t high = joist_attribute_at(attributes, JOIST_ATTRIBUTE_HIGH, d);
    const int64_t interior = joist_attribute_at(attributes, JOIST_ATTRIBUTE_INTERIOR, d);
    const int64_t extent = result->extent[d];
    if (interior < 0)
      return JOIST_FAIL(error, JOIST_E_PAD_INTERIOR, .dim = d + 1, .number = {(double)interior});
    const int64_t padded = low + high + extent + (extent > 1 ? (extent - 1) * interior : 0);
    if (padded < 0 || padded > INT32_MAX)
      return JOIST_FAIL(error, JOIST_E_EXTENT_LIMIT, .dim = d + 1, .number = {(double)padded});
    result->extent[d] = (uint32_t)padded;
  }
  return JOIST_OK;
}

void joist_walk_pad(const struct joist_shape *from, const struct joist_shape *to,
                    const struct joist_attributes *attributes, struct joist_walk *walk) {
  joist_walk_init(walk, false);
  int64_t in_stride = 1, out_stride = 1;
  for (int d = 0; d < from->rank; d++) {
    const int64_t low = joist_attribute_at(attributes, JOIST_ATTRIBUTE_LOW, d);
    const int64_t step = joist_attribute_at(attributes, JOIST_ATTRIBUTE_INTERIOR, d) + 1;
    /* Elements first .. end - 1 are at positions of the result that exist. */
    const int64_t extent = from->extent[d], room = (int64_t)to->extent[d] - low;
    const int64_t first = low < 0 ? (-low + step - 1) / step : 0;
    int64_t end = room <= 0 ? 0 : (room + step - 1) / step;
    if (end > extent) end = extent;
    const size_t kept = end > first ? (size_t)(end - first) : 0;
    joist_walk_add(walk, kept, in_stride, out_stride * step, NULL);
    walk->in_base += first * in_stride;
    walk->out_base += (low + first * step) * out_stride;
    in_stride *= extent;
    out_stride *= (int64_t)to->extent[d];
  }
}

/* The positions along a dim of the result where elements may be: first .. end - 1. Others are edge.
 */
static void padded_range(const struct joist_shape *from, const struct joist_shape *to,
                         const struct joist_attributes *attributes, int d, int64_t *first,
                         int64_t *end) {
  const int64_t low = joist_attribute_at(attributes, JOIST_ATTRIBUTE_LOW, d);
  const int64_t high = joist_attribute_at(attributes, JOIST_ATTRIBUTE_HIGH, d);
  const int64_t extent = to->extent[d];
  *first = low < 0 ? 0 : low < extent ? low : extent;
  *end = high < 0 ? extent : high < extent ? extent - high : 0;
  if (from->extent[d] == 0 || *end < *first) *end = *first;
}

bool joist_walk_pad_edge(const struct joist_shape *from, const struct joist_shape *to,
                         const struct joist_attributes *attributes, int edge,
                         struct joist_walk *walk) {
  bool gaps = false;
  for (int d = 0; d < to->rank; d++)
    gaps |= joist_attribute_at(attributes, JOIST_ATTRIBUTE_INTERIOR, d) > 0;
  if (edge >= (gaps ? 1 : 2 * to->rank)) return false;
  int64_t stride = 1;
  joist_walk_init(walk, false);
  for (int d = 0; d < to->rank; d++) {
    int64_t first = 0, end = to->extent[d];
    if (!gaps && d >= edge / 2) padded_range(from, to, attributes, d, &first, &end);
    if (!gaps && d == edge / 2) {
      const int64_t inner = first;
      first = edge % 2 == 0 ? 0 : end;
      end = edge % 2 == 0 ? inner : (int64_t)to->extent[d];
    }
    joist_walk_add(walk, (size_t)(end - first), 0, stride, NULL);
    walk->out_base += first * stride;
    stride *= (int64_t)to->extent[d];
  }
  return true;
}

/* Whether the elements that are kept are lines of the first dim, with edges that are written along
 * with each line. */
static bool has_lines(const struct joist_shape *from, const struct joist_shape *to,
                      const struct joist_attributes *attributes, const struct joist_walk *walk,
                      struct joist_edges *edges) {
  for (int d = 0; d < to->rank; d++)
    if (joist_attribute_at(attributes, JOIST_ATTRIBUTE_INTERIOR, d) > 0) return false;
  if (walk->rank < 2 || walk->in_stride[0] != 1 || walk->out_stride[0] != 1) return false;
  int64_t first, end;
  padded_range(from, to, attributes, 0, &first, &end);
  edges->low = (size_t)first;
  edges->high = (size_t)((int64_t)to->extent[0] - end);
  return (size_t)(end - first) == walk->extent[0] && edges->low + edges->high > 0;
}

joist_status joist_pad_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_shape *const from = &call->operand[0]->shape, *const to = &call->result->shape;
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  struct joist_edges edges = {.value = call->in[1]};
  struct joist_walk inner, walk;
  joist_walk_pad(from, to, attributes, &inner);
  const bool lines = has_lines(from, to, attributes, &inner, &edges);
  joist_status status = JOIST_OK;
  for (int edge = lines ? 2 : 0;
       status == JOIST_OK && joist_walk_pad_edge(from, to, attributes, edge, &walk); edge++)
    status = joist_move(size_of(call), &walk, call->in[1], call->out[0], call->run, error);
  if (status != JOIST_OK) return status;
  return joist_move_lines(size_of(call), &inner, lines ? &edges : NULL, call->in[0], call->out[0],
                          call->run, error);
}

/* ---- gathering by positions that are values ---- */

joist_status joist_gather_shape(const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes,
                                struct joist_shape *result, struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes), rank = shapes[0]->rank, more = shapes[1]->rank;
  const joist_status status = joist_shape_needs_dim(shapes[0], dim, error);
  if (status != JOIST_OK) return status;
  if (rank - 1 + more > JOIST_RANK_MAX)
    return JOIST_FAIL(error, JOIST_E_RANK_LIMIT,
                      .count = {(size_t)(rank - 1 + more), JOIST_RANK_MAX});
  *result = (struct joist_shape){.rank = rank - 1 + more};
  int at = 0;
  for (int d = 0; d < dim; d++) result->extent[at++] = shapes[0]->extent[d];
  for (int d = 0; d < more; d++) result->extent[at++] = shapes[1]->extent[d];
  for (int d = dim + 1; d < rank; d++) result->extent[at++] = shapes[0]->extent[d];
  return JOIST_OK;
}

/* The entries of an integer array as an index; `*made` is the caller's to free. */
static joist_status read_entries(const struct joist_value *value, const void *in, size_t n,
                                 struct joist_index *index, int64_t **made,
                                 struct joist_error *error) {
  const joist_dtype dtype = value->type.dtype;
  const joist_kind kind = joist_dtype_kind(dtype);
  *made = NULL;
  if (kind != JOIST_KIND_INT && kind != JOIST_KIND_UINT)
    return JOIST_FAIL(error, JOIST_E_INDICES_DTYPE, .type = {{dtype, false}});
  *index = (struct joist_index){.count = n, .list = in, .base = 1};
  index->kind = dtype == JOIST_I32 ? JOIST_INDEX_I32 : JOIST_INDEX_I64;
  if (dtype == JOIST_I32 || dtype == JOIST_I64) return JOIST_OK;
  *made = malloc((n + 1) * sizeof **made);
  if (*made == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  joist_convert_find(dtype, JOIST_I64)(n, in, *made);
  index->list = *made;
  return JOIST_OK;
}

joist_status joist_gather_error(int64_t entry, size_t k, int dim, size_t extent,
                                struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_INDEX_RANGE, .number = {(double)entry}, .position = k + 1,
                    .dim = dim + 1, .count = {extent}, .op = joist_op_name(JOIST_OP_GATHER));
}

joist_status joist_gather_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_shape *const shape = &call->operand[0]->shape;
  const int dim = joist_attribute_dim(joist_call_attributes(call));
  const size_t n = joist_value_count(call->operand[1]), extent = shape->extent[dim];
  struct joist_index index;
  int64_t *made;
  joist_status status = read_entries(call->operand[1], call->in[1], n, &index, &made, error);
  if (status != JOIST_OK) return status;
  const size_t bad = joist_index_first_invalid(index.kind, index.list, n, extent);
  if (bad < n) {
    status = joist_gather_error(joist_index_at(&index, bad) + 1, bad, dim, extent, error);
  } else if (call->out[0] != NULL) {
    struct joist_index indices[JOIST_RANK_MAX];
    for (int d = 0; d < shape->rank; d++) indices[d] = joist_index_all(shape->extent[d]);
    indices[dim] = index;
    struct joist_walk walk;
    joist_walk_take(shape, indices, &walk);
    status = joist_move(size_of(call), &walk, call->in[0], call->out[0], call->run, error);
  }
  free(made);
  return status;
}
