/* The door: every operation on tensors goes through it, whatever the forms of its operands. */
#ifndef JOIST_R_APPLY_H
#define JOIST_R_APPLY_H

#include "r/tensor/call.h"

/* Applies `op` to n values that were read under `rules`; gives a tensor, or a list of several. */
SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   size_t n, const struct joist_attributes *attributes);

#endif
