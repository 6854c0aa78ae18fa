/* .Call entry points that move elements: subsets, assignment, concatenation, permutation. */
#ifndef JOIST_R_LAYOUT_H
#define JOIST_R_LAYOUT_H

#include "r/tensor.h"

/* Elements of a tensor with data (or the aval they would have). `indices` is a list of
 * 1-based positions per dim, NULL for all; a list of one for a tensor of another rank
 * selects by column-major position. `shape` is that of the result. */
SEXP joist_r_subset(SEXP x, SEXP indices, SEXP shape);
/* The 0-based column-major positions of such a subset, as an i64 tensor. */
SEXP joist_r_positions(SEXP extents, SEXP indices, SEXP shape);
/* Elements at the 0-based positions of an i64 tensor, whose shape the result has. */
SEXP joist_r_take(SEXP x, SEXP positions);
/* x with the elements at the positions replaced; in place when `in_place` is TRUE and
 * nothing else holds the payload. */
SEXP joist_r_put(SEXP x, SEXP positions, SEXP value, SEXP in_place);
/* Side by side along `dim`, 1-based. `shapes` is a list with the shape that each of them
 * takes first (scalars are repeated to it), or NULL. */
SEXP joist_r_concatenate(SEXP tensors, SEXP dim, SEXP shapes);
/* `order` is 1-based. */
SEXP joist_r_permute(SEXP x, SEXP order);

#endif
