/* iota: numbers from one on along a dim, the same at every other position. */
#include <float.h>

#include "core/base/bits.h"
#include "core/base/pool.h"
#include "core/ops/move/walk.h"
#include "core/program/call.h"
#include "core/types/error.h"
#include "core/types/host.h"
#include "core/types/shape_rules.h"

joist_status joist_iota_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  const int dim = joist_attribute_dim(attributes);
  (void)shapes;
  (void)joist_attribute_shape(attributes, result);
  return joist_shape_needs_dim(result, dim, error);
}

/* The integers after the first; false when they pass the largest. */
static bool count_on(uint64_t *values, size_t n, bool is_signed) {
  for (size_t k = 1; k < n; k++) {
    if (values[k - 1] == (is_signed ? (uint64_t)INT64_MAX : UINT64_MAX)) return false;
    values[k] = values[k - 1] + 1;
  }
  return true;
}

/* Integers of 64 bits count on from the first, as doubles cannot. */
static joist_status fill_run(joist_dtype dtype, double first, size_t n, char *out,
                             const struct joist_run *how, struct joist_error *error) {
  enum { PIECE = 1 << 10 };
  double piece[PIECE];
  const bool wide = joist_dtype_digits(dtype) > DBL_MANT_DIG;
  const size_t exact = wide && n > 0 ? 1 : n, size = joist_dtype_size(dtype);
  for (size_t begin = 0, length; begin < exact; begin += length) {
    length = joist_smaller(PIECE, exact - begin);
    for (size_t k = 0; k < length; k++) piece[k] = first + (double)(begin + k);
    const joist_status status =
        joist_import(JOIST_HOST_DOUBLE, piece, length, dtype, out + begin * size, how, error);
    if (status != JOIST_OK) {
      if (error != NULL) error->position += begin;
      return status;
    }
  }
  if (!wide || count_on((uint64_t *)(void *)out, n, joist_dtype_kind(dtype) == JOIST_KIND_INT))
    return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_IOTA_RANGE, .count = {n}, .number = {first},
                    .type = {{dtype, false}});
}

joist_status joist_iota_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  const struct joist_shape *const shape = &call->result->shape;
  const joist_dtype dtype = call->result->type.dtype;
  const struct joist_lines lines = joist_shape_lines(shape, joist_attribute_dim(attributes));
  const size_t n = joist_value_count(call->result) == 0 ? 0 : lines.middle;
  const size_t size = joist_dtype_size(dtype);
  const double first = joist_attribute_number(attributes, JOIST_ATTRIBUTE_FROM);
  if (lines.inner == 1 && lines.outer == 1)
    return fill_run(dtype, first, n, call->out[0], call->run, error);
  char *const run = joist_scratch_allocate(n * size + 1);
  if (run == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = n * size);
  joist_status status = fill_run(dtype, first, n, run, call->run, error);
  if (status == JOIST_OK) {
    struct joist_walk walk;
    joist_walk_init(&walk, false);
    joist_walk_add(&walk, lines.inner, 0, 1, NULL);
    joist_walk_add(&walk, lines.middle, 1, (int64_t)lines.inner, NULL);
    joist_walk_add(&walk, lines.outer, 0, (int64_t)(lines.inner * lines.middle), NULL);
    status = joist_move(size, &walk, run, call->out[0], call->run, error);
  }
  joist_scratch_free(run);
  return status;
}
