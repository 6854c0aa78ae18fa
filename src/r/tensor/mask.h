/* Masks beside the elements of tensors: which of them are missing. */
#ifndef JOIST_R_MASK_H
#define JOIST_R_MASK_H

#include "r/tensor/operands.h"

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

/* Whether an operation has to know of missing values, and its attributes without NA_RM. */
bool joist_r_is_lowered(const struct joist_r_value *values, size_t n,
                        const struct joist_attributes *attributes, struct joist_attributes *plain,
                        bool *remove);

#endif
