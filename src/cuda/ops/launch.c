/* What the kinds of groups share. */
#include "cuda/ops/launch.h"

joist_status joist_cuda_convert(const struct running *r, joist_value_id value, joist_dtype dtype,
                                const void **data, void **made, struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const joist_dtype from = program->values[value].type.dtype;
  const size_t count = count_of(program, value);
  *data = r->arrays[value];
  *made = NULL;
  if (from == dtype) return JOIST_OK;
  const joist_status status = allocate(r, count * joist_dtype_size(dtype), made, error);
  if (status != JOIST_OK) return status;
  *data = *made;
  return convert(r, count, from, r->arrays[value], dtype, *made, error);
}
