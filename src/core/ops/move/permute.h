/* Permuting dims. */
#ifndef JOIST_CORE_OPS_MOVE_PERMUTE_H
#define JOIST_CORE_OPS_MOVE_PERMUTE_H

#include "core/ops/move/walk.h"

/* An array of shape `shape` with its dims permuted: dim d of what is written is dim order[d]. */
void joist_walk_permute(const struct joist_shape *shape, const int32_t *order,
                        struct joist_walk *walk);

/* Permutes the dims: dim d of `out` is dim order[d] of `in`, whose shape is `shape`. */
joist_status joist_permute(size_t size, const struct joist_shape *shape, const int32_t *order,
                           const void *in, void *out, const struct joist_run *run,
                           struct joist_error *error) JOIST_MUST_CHECK;

#endif
