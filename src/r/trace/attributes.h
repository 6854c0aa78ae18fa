/* Attributes of operations, as R passes them: a named list. A dim or dtype that is NULL is not
 * given. */
#ifndef JOIST_R_ATTRIBUTES_H
#define JOIST_R_ATTRIBUTES_H

#include "core/program/ops.h"
#include "r/base/sexp.h"

/* Reads `list` for `op`, whose first operand has the shape `shape` (NULL without operands). Lists
 * of numbers are R_alloc'ed. Raises the condition of what does not fit. */
struct joist_attributes joist_r_attributes(joist_op op, SEXP list, const struct joist_shape *shape);

/* Replaces names of dims of `operand` by their numbers, in `dims` or in a list of attributes. Other
 * values are returned unchanged. Names are an error if the operand is traced. */
SEXP joist_r_dims_by_name(SEXP dims, SEXP operand, SEXP argument);
SEXP joist_r_attributes_by_number(SEXP attributes, SEXP operand);

/* Dims to reduce; NULL is all of them. Negative dims are left out, as R's negative indices are. */
void joist_r_set_dims(struct joist_attributes *attributes, SEXP dims, int rank);

#endif
