/* The door: every operation on tensors goes through it, whatever the forms of its operands. */
#ifndef JOIST_R_APPLY_H
#define JOIST_R_APPLY_H

#include "r/tensor/call.h"

/* Applies `op` to n values that were read under `rules`; gives a tensor, or a list of several. */
SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   size_t n, const struct joist_attributes *attributes);

/* The same of an implicit conversion, which is watched for what it changes: to join a
 * value with others, or to assign it. */
SEXP joist_r_apply_conversion(const struct joist_rules *rules, struct joist_r_value *value,
                              struct joist_type type, bool assigns);

#endif
