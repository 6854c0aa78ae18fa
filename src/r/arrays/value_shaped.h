/* .Call entry points whose result has a shape that depends on values: tensors with data only. */
#ifndef JOIST_R_VALUE_SHAPED_H
#define JOIST_R_VALUE_SHAPED_H

#include "r/base/sexp.h"

/* The first of equal elements each, in column-major order: a tensor of rank 1. */
SEXP joist_r_unique(SEXP x);
/* A logical vector: whether each element equals an earlier one. */
SEXP joist_r_duplicated(SEXP x);
/* The positions of TRUE, an i32 tensor of rank 1, or with `indices` TRUE a matrix with a row
 * of indices for each. */
SEXP joist_r_which(SEXP x, SEXP indices);
/* A list: the number of the group of each row, an i32 tensor of rank 1, by `keys`, a list of
 * tensors of `rows` elements; the position of the first row of each group, another one; and an
 * integer vector, how many rows each group has. */
SEXP joist_r_group(SEXP keys, SEXP rows);

#endif
