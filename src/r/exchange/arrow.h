/* .Call entry points for arrays of Arrow: external pointers to its structures. */
#ifndef JOIST_R_ARROW_H
#define JOIST_R_ARROW_H

#include "r/base/sexp.h"

/* Pointers to structures that hold nothing yet: list(array, schema). What comes to be in them is
 * released with them. */
SEXP joist_r_arrow_pointers(void);
/* Where a pointer leads to, as a number. */
SEXP joist_r_arrow_address(SEXP pointer);
/* Fills in both, of a tensor whose last dimension is that of the rows if `item`, their shape as
 * Arrow stores it, is not NULL. */
SEXP joist_r_to_arrow(SEXP x, SEXP item, SEXP pointers);
SEXP joist_r_to_arrow_schema(SEXP dtype, SEXP item, SEXP pointer);
/* One tensor of the elements of a list of arrays, which are moved from: list(tensor, permutation).
 * The tensor's last dimension is that of the rows, the others are those of the items in reverse;
 * the permutation, which restores their order, is NULL without items. */
SEXP joist_r_from_arrow(SEXP arrays, SEXP schema, SEXP na);

#endif
