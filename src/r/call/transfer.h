/* Moving the data of tensors from device to device. */
#ifndef JOIST_R_TRANSFER_H
#define JOIST_R_TRANSFER_H

#include "r/tensor/operands.h"

/* Makes a payload in R's memory of the first elements of a value on a device, which then
 * reads as one that is not. The result is the payload, to be protected. */
SEXP joist_r_fetch(struct joist_r_value *value, size_t count);
/* The same into R's transient memory (R_alloc()), for elements that are only read; nothing for a
 * value that is not on a device. */
void joist_r_fetch_briefly(struct joist_r_value *value);
/* A tensor with data on a device, itself if it is there already. */
SEXP joist_r_on_device(SEXP tensor, const struct joist_device *device);
/* A tensor that was made here for an operation on `x`, on the device of the latter. */
SEXP joist_r_beside(const struct joist_r_value *x, SEXP made);

/* .Call: what was made here, on the device of `x` if that is a tensor. */
SEXP joist_r_made_beside(SEXP made, SEXP x);
/* .Call: x on the device of that name. */
SEXP joist_r_to(SEXP x, SEXP device);

#endif
