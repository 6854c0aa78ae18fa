/* Moving elements on a device. */
#ifndef JOIST_CUDA_OPS_MOVE_OPS_H
#define JOIST_CUDA_OPS_MOVE_OPS_H

#include "core/ops/move/walk.h"
#include "cuda/ops/launch.h"

/* Moves elements of `size` bytes along a walk without lists. */
joist_status joist_cuda_walk_along(const struct running *r, const struct joist_walk *walk,
                                   size_t size, const void *in, void *out,
                                   struct joist_error *error) JOIST_MUST_CHECK;

#endif
