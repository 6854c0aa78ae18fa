/* What the operations that move elements are made of, for every device. */
#ifndef JOIST_CORE_OPS_MOVE_MOVE_OPS_H
#define JOIST_CORE_OPS_MOVE_MOVE_OPS_H

#include "core/ops/move/walk.h"

/* What slice, update and pad of ops.def move, by the parameters of their instruction. */
void joist_walk_slice(const struct joist_shape *shape, const int32_t *parameter,
                      struct joist_walk *walk);
void joist_walk_update(const struct joist_shape *shape, const int32_t *parameter, bool repeated,
                       struct joist_walk *walk);
void joist_walk_pad(const struct joist_shape *from, const struct joist_shape *to,
                    const int32_t *parameter, struct joist_walk *walk);

/* What is said of positions of take and put, and of entry k of an index of gather. */
joist_status joist_position_error(size_t extent, struct joist_error *error) JOIST_MUST_CHECK;
joist_status joist_gather_error(int64_t entry, size_t k, int dim, size_t extent,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
