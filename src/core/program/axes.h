/* Where the dims of a result come from: which dim of which operand has the same positions, so that
 * whatever belongs to them (names) belongs to those of the result, too. Owns no memory. */
#ifndef JOIST_CORE_PROGRAM_AXES_H
#define JOIST_CORE_PROGRAM_AXES_H

#include "core/program/attributes.h"
#include "core/program/ops.h"

typedef enum {
  JOIST_AXIS_NEW,      /* positions that no operand has */
  JOIST_AXIS_LABEL,    /* such positions along what is a dim of an operand otherwise */
  JOIST_AXIS_EACH,     /* of all operands that have this extent there: elementwise */
  JOIST_AXIS_RANGE,    /* start, start + step, ... of a dim of an operand */
  JOIST_AXIS_SELECTED, /* of a dim of the first operand, the positions in the second, from 1 on */
  JOIST_AXIS_JOINED    /* of all operands, one behind the other */
} joist_axis_kind;

struct joist_axis {
  joist_axis_kind kind;
  uint32_t operand;
  int dim;
  int64_t start, step;
};

/* The axes of the first result of an operation: one for each dim of `result`. */
void joist_op_axes(joist_op op, const struct joist_attributes *attributes,
                   const struct joist_shape *const *operands, size_t n,
                   const struct joist_shape *result, struct joist_axis axes[JOIST_RANK_MAX]);

#endif
