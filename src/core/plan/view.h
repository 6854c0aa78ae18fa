/* Where the elements of an index space are in an array: moves of elements as arithmetic. */
#ifndef JOIST_CORE_PLAN_VIEW_H
#define JOIST_CORE_PLAN_VIEW_H

#include "core/program/program.h"

/* In elements, from the first one. Where `listed`, a second array has positions, which count from
 * `first`: the one at the place that list_stride gives moves elements by `along` times itself. */
struct joist_view {
  int64_t offset, stride[JOIST_RANK_MAX];
  bool listed;
  int64_t along, first, list_stride[JOIST_RANK_MAX];
};

/* All elements of an array of this shape. */
struct joist_view joist_view_of_array(const struct joist_shape *shape);

/* Whether the instruction takes elements from positions that are its second operand, of i32 or i64.
 */
bool joist_view_is_listed(const struct joist_program *program,
                          const struct joist_instruction *instruction);

/* Where the elements of the result are in the first operand of a slice, a transposition, or an
 * instruction with listed positions. False for a slice whose result has another shape than the
 * extents that are left of it. */
bool joist_view_of_move(const struct joist_program *program,
                        const struct joist_instruction *instruction, struct joist_view *view);

#endif
