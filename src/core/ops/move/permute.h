/* Permuting dims. */
#ifndef JOIST_CORE_OPS_MOVE_PERMUTE_H
#define JOIST_CORE_OPS_MOVE_PERMUTE_H

#include "core/ops/move/walk.h"
#include "core/program/attributes.h"

/* An array of shape `shape` with its dims permuted: dim d of what is written is dim
 * permutation[d]. */
void joist_walk_permute(const struct joist_shape *shape, const struct joist_attributes *attributes,
                        struct joist_walk *walk);

/* Moves the elements of a walk without lists and that writes in order, in squares that stay in
 * cache where it transposes. */
joist_status joist_walk_transpose(size_t size, const struct joist_walk *walk, const void *in,
                                  void *out, const struct joist_run *run,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* Permutes the dims as joist_walk_permute() says. */
joist_status joist_permute(size_t size, const struct joist_shape *shape,
                           const struct joist_attributes *attributes, const void *in, void *out,
                           const struct joist_run *run, struct joist_error *error) JOIST_MUST_CHECK;

#endif
