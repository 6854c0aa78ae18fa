/* iota: numbers from one on along a dim, the same at every other position. */
#include <stdlib.h>

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

/* `run` is room for n doubles; integers of 64 bits count on from the first, as doubles cannot. */
static joist_status fill_run(joist_dtype dtype, double first, size_t n, double *run, void *out,
                             const struct joist_run *how, struct joist_error *error) {
  const bool wide = dtype == JOIST_I64 || dtype == JOIST_UI64;
  const size_t exact = wide && n > 0 ? 1 : n;
  for (size_t k = 0; k < exact; k++) run[k] = first + (double)k;
  const joist_status status =
      joist_import(JOIST_HOST_DOUBLE, run, exact, dtype, JOIST_NA_ERROR, out, how, error);
  if (status != JOIST_OK || !wide || count_on(out, n, dtype == JOIST_I64)) return status;
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
  double *const run = malloc(n * (sizeof *run + size) + 1);
  if (run == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  void *const typed = run + n;
  joist_status status = fill_run(dtype, joist_attribute_number(attributes, JOIST_ATTRIBUTE_FROM), n,
                                 run, typed, call->run, error);
  if (status == JOIST_OK) {
    struct joist_walk walk;
    joist_walk_init(&walk, false);
    joist_walk_add(&walk, lines.inner, 0, 1, NULL);
    joist_walk_add(&walk, lines.middle, 1, (int64_t)lines.inner, NULL);
    joist_walk_add(&walk, lines.outer, 0, (int64_t)(lines.inner * lines.middle), NULL);
    status = joist_move(size, &walk, typed, call->out[0], call->run, error);
  }
  free(run);
  return status;
}
