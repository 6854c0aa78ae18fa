/* .Call entry points: the properties of a tensor, without its elements. Each raises
 * joist_value_error unless x is a tensor. */
#ifndef JOIST_R_PROPERTIES_H
#define JOIST_R_PROPERTIES_H

#include "r/base/sexp.h"

SEXP joist_r_dtype_of(SEXP x);
/* An integer vector with an extent for each dim. */
SEXP joist_r_shape_of(SEXP x);
SEXP joist_r_is_ambiguous(SEXP x);
/* What length() and dim() give: dim is NULL below rank 2. */
SEXP joist_r_length_of(SEXP x);
SEXP joist_r_dim_of(SEXP x);
/* An object that is not a vector, with the type and shape of a tensor: for tensors in a store. */
SEXP joist_r_stored(SEXP like);
/* NULL for the CPU. */
SEXP joist_r_device_of(SEXP x);

#endif
