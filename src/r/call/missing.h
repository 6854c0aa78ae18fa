/* .Call entry points: masks of tensors. */
#ifndef JOIST_R_MISSING_H
#define JOIST_R_MISSING_H

#include "r/base/sexp.h"

/* The mask of a tensor, a bool tensor; NULL if no value is missing. */
SEXP joist_r_mask_of(SEXP x);
/* The tensor with a bool tensor of its shape as its mask, or without one: NULL. */
SEXP joist_r_with_mask(SEXP x, SEXP mask);

#endif
