/* Which shapes fit together, and which dims a shape has. */
#ifndef JOIST_CORE_TYPES_SHAPE_RULES_H
#define JOIST_CORE_TYPES_SHAPE_RULES_H

#include "core/base/status.h"
#include "core/types/shape.h"

/* The shape of an elementwise result: scalars fit every shape, equal ranks may differ
 * where an extent is 1. JOIST_ERROR_SHAPE otherwise. */
joist_status joist_shape_broadcast(const struct joist_shape *const *shapes, size_t count,
                                   struct joist_shape *result,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* Whether `from` can be repeated to `to` under the same rules. */
bool joist_shape_broadcasts_to(const struct joist_shape *from, const struct joist_shape *to);

/* JOIST_ERROR_SHAPE unless the shape has dim `dim`, counted from 0. */
joist_status joist_shape_needs_dim(const struct joist_shape *shape, int dim,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* The same, where a negative one stands for all. */
joist_status joist_shape_check_dim(const struct joist_shape *shape, int dim,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* How many columns there are where the values that a scatter puts at positions are rows for the
 * rows of x, else 1. */
size_t joist_shape_columns(const struct joist_shape *x, size_t positions,
                           const struct joist_shape *values);

#endif
