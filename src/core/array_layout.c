/* The array operations that move elements; see layout.h for how. */
#include <string.h>

#include "core/array.h"
#include "core/layout.h"

static size_t count_of(const struct joist_value *value) {
  size_t count = 0;
  (void)joist_shape_count(&value->shape, &count);
  return count;
}

static size_t size_of(const struct joist_array_call *call) {
  return joist_dtype_size(call->result->type.dtype);
}

static void copy(const struct joist_array_call *call) {
  const size_t bytes = count_of(call->result) * size_of(call);
  if (bytes > 0) memcpy(call->out, call->in[0], bytes);
}

joist_status joist_reshape_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  size_t before = 0, after = 0;
  char from[JOIST_SHAPE_TEXT], to[JOIST_SHAPE_TEXT];
  *result = attributes->shape;
  if (!joist_shape_count(result, &after)) return JOIST_OK; /* the caller says it is too large */
  if (joist_shape_count(shapes[0], &before) && before == after) return JOIST_OK;
  return joist_fail(
      error, JOIST_ERROR_SHAPE, "shape %s cannot be reshaped to %s: %zu and %zu elements",
      joist_shape_format(shapes[0], from), joist_shape_format(result, to), before, after);
}

joist_status joist_reshape_run(const struct joist_array_call *call, struct joist_error *error) {
  (void)error;
  copy(call);
  return JOIST_OK;
}

joist_status joist_take_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  (void)attributes;
  (void)error;
  *result = *shapes[1];
  return JOIST_OK;
}

joist_status joist_take_run(const struct joist_array_call *call, struct joist_error *error) {
  (void)error;
  joist_take(size_of(call), count_of(call->result), call->in[1], call->in[0], call->out);
  return JOIST_OK;
}

joist_status joist_put_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *result,
                             struct joist_error *error) {
  size_t positions = 0, values = 0;
  char text[JOIST_SHAPE_TEXT];
  (void)attributes;
  *result = *shapes[0];
  (void)joist_shape_count(shapes[1], &positions);
  (void)joist_shape_count(shapes[2], &values);
  if (values == positions || values == 1) return JOIST_OK;
  return joist_fail(error, JOIST_ERROR_SHAPE, "%zu elements cannot be replaced by %s with %zu",
                    positions, joist_shape_format(shapes[2], text), values);
}

joist_status joist_put_run(const struct joist_array_call *call, struct joist_error *error) {
  (void)error;
  copy(call);
  joist_put(size_of(call), count_of(call->operand[1]), call->in[1], call->in[2],
            count_of(call->operand[2]), call->out);
  return JOIST_OK;
}

joist_status joist_concatenate_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *result, struct joist_error *error) {
  const int dim = attributes->parameter[0];
  struct joist_shape other = *shapes[1];
  char lhs[JOIST_SHAPE_TEXT], rhs[JOIST_SHAPE_TEXT];
  *result = *shapes[0];
  if (dim < 0 || dim >= result->rank || other.rank != result->rank)
    return joist_fail(error, JOIST_ERROR_SHAPE, "shapes %s and %s have no dimension %d in common",
                      joist_shape_format(shapes[0], lhs), joist_shape_format(shapes[1], rhs),
                      dim + 1);
  const uint64_t total = (uint64_t)result->extent[dim] + other.extent[dim];
  other.extent[dim] = result->extent[dim];
  if (!joist_shape_equal(&other, result))
    return joist_fail(
        error, JOIST_ERROR_SHAPE, "shapes %s and %s do not fit side by side along dimension %d",
        joist_shape_format(shapes[0], lhs), joist_shape_format(shapes[1], rhs), dim + 1);
  if (total > INT32_MAX)
    return joist_fail(error, JOIST_ERROR_SHAPE, "the result would have an extent of %.0f",
                      (double)total);
  result->extent[dim] = (uint32_t)total;
  return JOIST_OK;
}

joist_status joist_concatenate_run(const struct joist_array_call *call, struct joist_error *error) {
  const int dim = call->instruction->parameter[0];
  size_t first = 0;
  (void)error;
  for (int k = 0; k < 2; k++) {
    const uint32_t extent = call->operand[k]->shape.extent[dim];
    joist_concatenate(size_of(call), &call->result->shape, dim, first, extent, call->in[k],
                      call->out);
    first += extent;
  }
  return JOIST_OK;
}

joist_status joist_permute_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  const int rank = shapes[0]->rank;
  uint32_t seen = 0;
  *result = (struct joist_shape){.rank = rank};
  for (int d = 0; d < rank; d++) {
    const int32_t from = attributes->parameter[d];
    if (from < 0 || from >= rank || (seen >> from & 1))
      return joist_fail(error, JOIST_ERROR_SHAPE,
                        "a permutation of %d dimensions names each of them once", rank);
    seen |= UINT32_C(1) << from;
    result->extent[d] = shapes[0]->extent[from];
  }
  return JOIST_OK;
}

joist_status joist_permute_run(const struct joist_array_call *call, struct joist_error *error) {
  (void)error;
  joist_permute(size_of(call), &call->operand[0]->shape, call->instruction->parameter, call->in[0],
                call->out);
  return JOIST_OK;
}
