/* Operations on tensors: one path for eager calls, abstract tensors and traces. */
#ifndef JOIST_R_OPERATIONS_H
#define JOIST_R_OPERATIONS_H

#include "r/tensor/operands.h"

/* Applies `op` to n values that were read under `rules`; gives a tensor, or a list of several. */
SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   size_t n, const struct joist_attributes *attributes);

/* The elements of an operand in a dtype, on a device. Returns what owns them, to be protected.
 * `here` says that a device reads one element from this memory. */
SEXP joist_r_operand_on(const struct joist_device *device, const struct joist_r_value *value,
                        joist_dtype dtype, const void **elements, bool *here);

/* .Call entry points. */
SEXP joist_r_op1(SEXP name, SEXP x);
SEXP joist_r_op2(SEXP name, SEXP lhs, SEXP rhs);
SEXP joist_r_op3(SEXP name, SEXP a, SEXP b, SEXP c);
SEXP joist_r_operator(SEXP generic, SEXP lhs, SEXP rhs);
SEXP joist_r_operator1(SEXP generic, SEXP x);
SEXP joist_r_summary(SEXP generic, SEXP x);
/* Any operation by its name: a list of operands and a named list of attributes, or NULL. */
SEXP joist_r_operation(SEXP name, SEXP operands, SEXP attributes);
/* The table of operations, column by column. */
SEXP joist_r_op_names(void);
/* A type, abstract, with the dtype that parts of a result of it are kept in. */
SEXP joist_r_part_type(SEXP op, SEXP type);

#endif
