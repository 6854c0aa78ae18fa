/* Rules of shapes. Owns no memory. */
#include "core/types/shape_rules.h"

#include "core/types/error.h"

joist_status joist_shape_broadcast(const struct joist_shape *const *shapes, size_t count,
                                   struct joist_shape *result, struct joist_error *error) {
  *result = *shapes[0];
  for (size_t i = 1; i < count; i++) {
    const struct joist_shape *const shape = shapes[i];
    if (shape->rank == 0) continue;
    if (result->rank == 0) {
      *result = *shape;
      continue;
    }
    if (shape->rank != result->rank)
      return JOIST_FAIL(error, JOIST_E_SHAPE_RANKS, .shape = {*result, *shape});
    for (int d = 0; d < shape->rank; d++) {
      if (result->extent[d] == shape->extent[d] || shape->extent[d] == 1) continue;
      if (result->extent[d] != 1)
        return JOIST_FAIL(error, JOIST_E_SHAPE_EXTENTS, .shape = {*result, *shape}, .dim = d + 1,
                          .count = {result->extent[d], shape->extent[d]});
      result->extent[d] = shape->extent[d];
    }
  }
  return JOIST_OK;
}

bool joist_shape_broadcasts_to(const struct joist_shape *from, const struct joist_shape *to) {
  if (from->rank == 0) return true;
  if (from->rank != to->rank) return false;
  for (int d = 0; d < from->rank; d++)
    if (from->extent[d] != to->extent[d] && from->extent[d] != 1) return false;
  return true;
}

joist_status joist_shape_needs_dim(const struct joist_shape *shape, int dim,
                                   struct joist_error *error) {
  if (dim >= 0 && dim < shape->rank) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_NO_DIMENSION, .number = {(double)dim + 1}, .shape = {*shape});
}

joist_status joist_shape_check_dim(const struct joist_shape *shape, int dim,
                                   struct joist_error *error) {
  return dim < 0 ? JOIST_OK : joist_shape_needs_dim(shape, dim, error);
}

size_t joist_shape_columns(const struct joist_shape *x, size_t positions,
                           const struct joist_shape *values) {
  size_t columns = 1;
  if (x->rank < 2 || values->rank != x->rank || values->extent[0] != positions) return 1;
  for (int d = 1; d < x->rank; d++) {
    if (values->extent[d] != x->extent[d]) return 1;
    columns *= x->extent[d];
  }
  return columns;
}
