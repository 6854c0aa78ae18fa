/* .Call entry points: the properties of a tensor, without its elements. Each raises
 * joist_value_error unless x is a tensor. */
#ifndef JOIST_R_PROPERTIES_H
#define JOIST_R_PROPERTIES_H

#include "r/base/sexp.h"

SEXP joist_r_dtype_of(SEXP x);
/* An integer vector with an extent for each dim. */
SEXP joist_r_shape_of(SEXP x);
SEXP joist_r_is_ambiguous(SEXP x);
SEXP joist_r_same_type(SEXP x, SEXP y);
/* An nv_aval() of that type and of rank 0. */
SEXP joist_r_type_alone(SEXP x);
/* Whether `dims` are numbers of different dims of x, only one if `single`. */
SEXP joist_r_are_dims(SEXP dims, SEXP x, SEXP single);
/* What length() and dim() give: dim is NULL below rank 2. */
SEXP joist_r_length_of(SEXP x);
SEXP joist_r_dim_of(SEXP x);
/* An object that is not a vector, with the type and shape of a tensor: for tensors in a store. */
SEXP joist_r_stored(SEXP like);
/* NULL for the CPU. */
SEXP joist_r_device_of(SEXP x);

#endif
