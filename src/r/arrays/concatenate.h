/* .Call entry points that put tensors together, or take one apart. */
#ifndef JOIST_R_CONCATENATE_H
#define JOIST_R_CONCATENATE_H

#include "r/tensor/operands.h"

/* The value in the dtype of the tensor `x` it is assigned to: what the rules join to that
 * dtype fits, anything else is refused. Unless `at_once`, floats that become integers stay as they
 * are: the operation that assigns them converts them, and counts what that changes. */
SEXP joist_r_fitted(const struct joist_rules *rules, const struct joist_r_value *x,
                    struct joist_r_value *value, bool at_once);

/* The tensor x itself, or in the common dtype with the value if that does not fit, and the dtype of
 * x is ambiguous or bool: as in R, which fills a logical vector with numbers (ifelse() does). */
SEXP joist_r_widened(const struct joist_rules *rules, const struct joist_r_value *x,
                     const struct joist_r_value *value);
/* Whether joist_r_widened() looks at the value. */
bool joist_r_may_widen(const struct joist_rules *rules, const struct joist_r_value *x);

/* Side by side along `dim`, 1-based. `shapes` is a list with the shape that each of them
 * takes first (scalars are repeated to it), a flag for all of them
 * flattened, or NULL. */
SEXP joist_r_concatenate(SEXP tensors, SEXP dim, SEXP shapes);
/* A tensor of `shape` with a copy of the `count` elements of x from `first` on, 0-based. x has data
 * on the CPU. */
SEXP joist_r_piece(const struct joist_r_value *x, size_t first, size_t count,
                   const struct joist_shape *shape);
/* A list of `count` tensors of `shape` that follow one another in the memory of x, on the CPU, from
 * the `first` on, 1-based. */
SEXP joist_r_pieces(SEXP x, SEXP shape, SEXP first, SEXP count);
/* A list of the elements of each group of x, of rank 1: `groups` is a factor as long as x, whose
 * levels name the list. NULL if x has no elements on the CPU. */
SEXP joist_r_split(SEXP x, SEXP groups);
/* Puts such a list together again: `parts` has a tensor for each group, all of one type, with an
 * element for each member of the group or a single one for all members. NULL for any other list,
 * and if an element is in no group. */
SEXP joist_r_unsplit(SEXP groups, SEXP parts);

#endif
