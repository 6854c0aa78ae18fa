/* Where the elements of an index space are in an array: moves of elements as arithmetic. */
#ifndef JOIST_CORE_PLAN_VIEW_H
#define JOIST_CORE_PLAN_VIEW_H

#include "core/program/program.h"

/* In elements, from the first one. */
struct joist_view {
  int64_t offset, stride[JOIST_RANK_MAX];
};

/* All elements of an array of this shape. */
struct joist_view joist_view_of_array(const struct joist_shape *shape);

/* Where the elements of the result are in the operand of a slice or a transposition. False for a
 * slice whose result has another shape than the extents that are left of it. */
bool joist_view_of_move(const struct joist_program *program,
                        const struct joist_instruction *instruction, struct joist_view *view);

#endif
