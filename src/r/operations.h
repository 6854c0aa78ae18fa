/* Operations on tensors: one path for eager calls, abstract tensors and traces. */
#ifndef JOIST_R_OPERATIONS_H
#define JOIST_R_OPERATIONS_H

#include "r/operands.h"

/* Applies `op` to values that were read under `rules`. */
SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   const struct joist_attributes *attributes);

/* Attributes of an operation that was asked for no dtype, dims or shape. */
struct joist_attributes joist_r_attributes(void);

/* .Call entry points. */
SEXP joist_r_op1(SEXP name, SEXP x);
SEXP joist_r_op2(SEXP name, SEXP lhs, SEXP rhs);
SEXP joist_r_op3(SEXP name, SEXP a, SEXP b, SEXP c);
SEXP joist_r_operator(SEXP generic, SEXP lhs, SEXP rhs);
SEXP joist_r_operator1(SEXP generic, SEXP x);
SEXP joist_r_convert(SEXP name, SEXP x, SEXP dtype, SEXP ambiguous);
SEXP joist_r_relayout(SEXP name, SEXP x, SEXP shape);
SEXP joist_r_summary(SEXP generic, SEXP x);
SEXP joist_r_reduce(SEXP name, SEXP x, SEXP dims, SEXP drop, SEXP dtype);
/* An array operation on a list of operands. `dim` (NULL for none) is a dim of the first and
 * becomes parameter[0]; the integers of `parameters` follow. `shape` and `dtype` may be
 * NULL. */
SEXP joist_r_array(SEXP name, SEXP operands, SEXP dim, SEXP parameters, SEXP shape, SEXP dtype);
SEXP joist_r_op_names(void);

#endif
