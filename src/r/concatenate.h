/* .Call entry points that move elements: concatenation, permutation, padding. */
#ifndef JOIST_R_CONCATENATE_H
#define JOIST_R_CONCATENATE_H

#include "r/operands.h"

/* The value in the dtype of the tensor `x` it is assigned to: what the rules join to that
 * dtype fits, anything else is refused. */
SEXP joist_r_fitted(const struct joist_rules *rules, const struct joist_r_value *x, SEXP object);

/* Side by side along `dim`, 1-based. `shapes` is a list with the shape that each of them
 * takes first (scalars are repeated to it), a flag for all of them
 * flattened, or NULL. */
SEXP joist_r_concatenate(SEXP tensors, SEXP dim, SEXP shapes);
#endif
