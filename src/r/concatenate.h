/* .Call entry points that move elements: subsets, assignment, concatenation, permutation. */
#ifndef JOIST_R_CONCATENATE_H
#define JOIST_R_CONCATENATE_H

#include "r/tensor.h"

/* The value in the dtype of the tensor `x` it is assigned to: what the rules join to that
 * dtype fits, anything else is refused. */
SEXP joist_r_fitted(const struct joist_rules *rules, const struct joist_r_value *x, SEXP object);

/* Elements of a tensor. `indices` is a list with an index per dim, NULL for all positions: R
 * numbers and logicals that count from 1, or tensors of them; a list of one for a tensor of
 * another rank selects by column-major position. `drop` removes dims of extent 1; `single`
 * asks for one element, of rank 0. */
SEXP joist_r_subset(SEXP x, SEXP indices, SEXP drop, SEXP single);
/* x with those elements replaced; in place when `in_place` is TRUE and nothing else holds
 * the payload. */
SEXP joist_r_assign(SEXP x, SEXP indices, SEXP value, SEXP in_place, SEXP single);
/* Side by side along `dim`, 1-based. `shapes` is a list with the shape that each of them
 * takes first (scalars are repeated to it), a flag for all of them
 * flattened, or NULL. */
SEXP joist_r_concatenate(SEXP tensors, SEXP dim, SEXP shapes);
/* `order` is 1-based, NULL for all dims reversed. */
SEXP joist_r_permute(SEXP x, SEXP order);
/* `edges`: low, high and interior padding of each dim. */
SEXP joist_r_pad(SEXP x, SEXP value, SEXP edges);

#endif
