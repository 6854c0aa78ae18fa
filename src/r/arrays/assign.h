/* Assignment to elements of tensors. */
#ifndef JOIST_R_ASSIGN_H
#define JOIST_R_ASSIGN_H

#include "r/tensor/operands.h"

/* .Call: x with the elements that `indices` selects, as for joist_r_subset(), replaced; in place
 * when `in_place` is TRUE and nothing else holds the payload. */
SEXP joist_r_assign(SEXP x, SEXP indices, SEXP value, SEXP in_place, SEXP single);

/* A tensor with the elements of `x` to write to, at `out`: x itself, if `in_place` and nothing else
 * holds the payload, or a copy. `x` has data on the CPU. */
SEXP joist_r_writable(const struct joist_r_value *x, bool in_place, void **out);

#endif
