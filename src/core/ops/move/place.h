/* Putting a part into its place in an array. */
#ifndef JOIST_CORE_OPS_MOVE_PLACE_H
#define JOIST_CORE_OPS_MOVE_PLACE_H

#include "core/ops/move/walk.h"

struct joist_place {
  const struct joist_shape *shape, *part;
  bool turned;           /* the part has the dims in the reverse order */
  const uint32_t *start; /* where it begins, for each dim of `shape`, from 0 on */
};

/* Whether the part lies within the array. */
bool joist_place_fits(const struct joist_place *place);

/* Moves the elements of the part, of so many bytes each. */
joist_status joist_place_part(size_t size, const struct joist_place *place, const void *in,
                              void *out, const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

#endif
