/* Batches of matrices. Owns no memory. */
#include "core/ops/linalg/matrix_batch.h"

static uint32_t extent_of(const struct joist_shape *shape, int dim) {
  return dim < shape->rank ? shape->extent[dim] : 1;
}

joist_status joist_batch_shape(const struct joist_shape *lhs, const struct joist_shape *rhs,
                               struct joist_shape *result, struct joist_error *error) {
  const struct joist_shape *const other = rhs != NULL ? rhs : lhs;
  char left[JOIST_SHAPE_TEXT], right[JOIST_SHAPE_TEXT];
  if (lhs->rank < 2 || other->rank < 2)
    return joist_fail(error, JOIST_ERROR_SHAPE, "shape %s: a matrix has rank 2 or more",
                      joist_shape_format(lhs->rank < 2 ? lhs : other, left));
  *result = (struct joist_shape){.rank = lhs->rank < other->rank ? other->rank : lhs->rank};
  for (int d = 2; d < result->rank; d++) {
    const uint32_t a = extent_of(lhs, d), b = extent_of(other, d);
    if (a != b && a != 1 && b != 1)
      return joist_fail(error, JOIST_ERROR_SHAPE,
                        "shapes %s and %s do not fit: dimension %d has extents %lu and %lu (only "
                        "equal extents or 1 broadcast)",
                        joist_shape_format(lhs, left), joist_shape_format(other, right), d + 1,
                        (unsigned long)a, (unsigned long)b);
    result->extent[d] = a == 1 ? b : a;
  }
  return JOIST_OK;
}

size_t joist_batch_index(const struct joist_shape *operand, const struct joist_shape *batch,
                         int first, size_t index) {
  size_t at = 0, stride = 1;
  for (int d = first; d < batch->rank; d++) {
    const uint32_t extent = extent_of(operand, d - first + 2);
    if (extent != 1) at += index % batch->extent[d] * stride;
    index /= batch->extent[d];
    stride *= extent;
  }
  return at;
}
