/* .Call entry points of `[`, `[[` and assignment to them. */
#ifndef JOIST_R_SUBSET_H
#define JOIST_R_SUBSET_H

#include "r/tensor/operands.h"

/* Elements of a tensor. `indices` is a list with an index per dim, NULL for all positions: R
 * numbers and logicals that count from 1, or tensors of them; a list of one for a tensor of
 * another rank selects by column-major position. `drop` removes dims of extent 1; `single`
 * asks for one element, of rank 0. */
SEXP joist_r_subset(SEXP x, SEXP indices, SEXP drop, SEXP single);
/* x with those elements replaced; in place when `in_place` is TRUE and nothing else holds
 * the payload. */
SEXP joist_r_assign(SEXP x, SEXP indices, SEXP value, SEXP in_place, SEXP single);

/* A tensor with the elements of `x` to write to, at `out`: x itself, if `in_place` and nothing else
 * holds the payload, or a copy. `x` has data on the CPU. */
SEXP joist_r_writable(const struct joist_r_value *x, bool in_place, void **out);

#endif
