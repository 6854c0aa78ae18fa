/* Subsets of tensors. */
#ifndef JOIST_R_SUBSET_H
#define JOIST_R_SUBSET_H

#include "r/tensor/operands.h"

/* .Call: elements of a tensor. `indices` is a list with an index per dim, NULL for all positions: R
 * numbers and logicals that count from 1, or tensors of them; a list of one for a tensor of
 * another rank selects by column-major position. `drop` removes dims of extent 1; `single`
 * asks for one element, of rank 0. */
SEXP joist_r_subset(SEXP x, SEXP indices, SEXP drop, SEXP single);

#endif
