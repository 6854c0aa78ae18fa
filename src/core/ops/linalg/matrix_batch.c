/* Batches of matrices. Owns no memory. */
#include "core/ops/linalg/matrix_batch.h"

#include "core/types/error.h"

static uint32_t extent_of(const struct joist_shape *shape, int dim) {
  return dim < shape->rank ? shape->extent[dim] : 1;
}

joist_status joist_batch_shape(const struct joist_shape *lhs, const struct joist_shape *rhs,
                               struct joist_shape *result, struct joist_error *error) {
  const struct joist_shape *const other = rhs != NULL ? rhs : lhs;
  if (lhs->rank < 2 || other->rank < 2)
    return JOIST_FAIL(error, JOIST_E_MATRIX_RANK, .shape = {*(lhs->rank < 2 ? lhs : other)});
  *result = (struct joist_shape){.rank = lhs->rank < other->rank ? other->rank : lhs->rank};
  for (int d = 2; d < result->rank; d++) {
    const uint32_t a = extent_of(lhs, d), b = extent_of(other, d);
    if (a != b && a != 1 && b != 1)
      return JOIST_FAIL(error, JOIST_E_SHAPE_EXTENTS, .shape = {*lhs, *other}, .dim = d + 1,
                        .count = {a, b});
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
