/* .Call entry points of operations on tensors. */
#ifndef JOIST_R_OPERATIONS_H
#define JOIST_R_OPERATIONS_H

#include "r/base/sexp.h"

SEXP joist_r_op1(SEXP name, SEXP x);
SEXP joist_r_op2(SEXP name, SEXP lhs, SEXP rhs);
SEXP joist_r_op3(SEXP name, SEXP a, SEXP b, SEXP c);
SEXP joist_r_operator(SEXP generic, SEXP lhs, SEXP rhs);
SEXP joist_r_operator1(SEXP generic, SEXP x);
SEXP joist_r_summary(SEXP generic, SEXP x);
/* Any operation by its name: a list of operands and a named list of attributes, or NULL. */
SEXP joist_r_operation(SEXP name, SEXP operands, SEXP attributes);

/* .Call: the keys that fold_in() makes of a key and the numbers 0 to n - 1, a list. */
SEXP joist_r_key_split(SEXP key, SEXP n, SEXP attributes);
/* A tensor as part of another one of that type: what the conversion changes is for the policy. */
SEXP joist_r_convert_into(SEXP x, SEXP dtype, SEXP ambiguous, SEXP assigns);
/* The table of operations, column by column. */
SEXP joist_r_op_names(void);
/* A type, abstract, with the dtype that parts of a result of it are kept in. */
SEXP joist_r_part_type(SEXP op, SEXP type);

#endif
