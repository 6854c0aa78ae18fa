/* Masks beside the elements of tensors: which of them are missing. */
#ifndef JOIST_R_MASK_H
#define JOIST_R_MASK_H

#include "r/tensor/call.h"

static const struct joist_type joist_r_mask_type = {JOIST_BOOL, false};

/* Makes an operand, bool and of the same shape, of the mask of a value that has one and is not
 * traced. Returns the object that owns the elements, to be protected. */
SEXP joist_r_mask_value(const struct joist_r_value *value, struct joist_r_value *mask);

/* Gives a tensor with elements, just made, that mask, a payload on its device: none if nothing is
 * missing. Both are protected. */
void joist_r_set_mask(SEXP tensor, SEXP mask);
/* Gives it the mask of a value with as many elements. */
void joist_r_copy_mask(SEXP tensor, const struct joist_r_value *value);

/* The elements of a value on the CPU with 0 where it is missing, in memory that .Call frees; those
 * of the value if none is. */
const void *joist_r_zeroed(const struct joist_r_value *value);

/* Fills in the facts about missing values that a call needs. */
void joist_r_find_masks(struct joist_r_call *call);

#endif
