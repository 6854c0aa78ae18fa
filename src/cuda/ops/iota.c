/* Numbers that count on along a dim, on a device. */
#include <float.h>
#include <math.h>

#include "core/types/convert.h"
#include "core/types/host.h"
#include "cuda/ops/operations.h"

/* Doubles do not count all numbers of the dtype. */
static bool is_wide(joist_dtype dtype) { return joist_dtype_digits(dtype) > DBL_MANT_DIG; }

/* How many numbers there are along the dim. */
static struct joist_lines counted(const struct running *r, const struct joist_instruction *i) {
  return joist_shape_lines(&r->plan->program->values[i->result].shape,
                           joist_attribute_dim(i->attributes));
}

/* The first number as an integer of 64 bits. */
static uint64_t first_of(double from, joist_dtype dtype) {
  uint64_t first = 0;
  joist_convert_find(JOIST_F64, dtype)(1, &from, &first);
  return first;
}

/* The numbers fit where the first and the last do. */
bool joist_cuda_can_count(const struct running *r, const struct joist_instruction *i) {
  const joist_dtype dtype = i->signature.result[0].dtype;
  const double from = joist_attribute_number(i->attributes, JOIST_ATTRIBUTE_FROM);
  const uint64_t largest = joist_dtype_max_int(dtype);
  const size_t n = counted(r, i).middle, more = n > 0 ? n - 1 : 0;
  const double ends[] = {from, is_wide(dtype) ? from : from + (double)more};
  return isfinite(from) && joist_import_fits(JOIST_HOST_DOUBLE, ends, 2, dtype) &&
         (!is_wide(dtype) || more <= largest - first_of(from, dtype));
}

joist_status joist_cuda_iota(const struct running *r, const struct joist_instruction *i,
                             struct joist_error *error) {
  const joist_dtype dtype = i->signature.result[0].dtype;
  const struct joist_lines lines = counted(r, i);
  struct joist_cuda_iota parameter = {
      .count = count_of(r->plan->program, i->result),
      .inner = lines.inner,
      .middle = lines.middle,
      .from = joist_attribute_number(i->attributes, JOIST_ATTRIBUTE_FROM),
      .out = r->arrays[i->result],
      .dtype = (uint32_t)dtype};
  if (is_wide(dtype)) parameter.first = first_of(parameter.from, dtype);
  return start(r, JOIST_CUDA_IOTA, parameter.count, &parameter, error);
}
