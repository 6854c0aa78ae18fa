/* .Call entry points that make tensors of R values. */
#ifndef JOIST_R_TENSOR_CREATE_H
#define JOIST_R_TENSOR_CREATE_H

#include "core/types/host.h"
#include "core/types/shape.h"
#include "r/base/sexp.h"

/* Raises joist_shape_error unless a shape has so many elements. */
void joist_r_check_filled(const struct joist_shape *shape, size_t count);

/* What becomes of NA. */
typedef enum { JOIST_R_NA_MISSING, JOIST_R_NA_ERROR, JOIST_R_NA_NAN } joist_r_na_policy;
/* What an argument `na` asks for. */
joist_r_na_policy joist_r_na(SEXP na);

SEXP joist_r_make(SEXP x, SEXP dtype, SEXP shape, SEXP ambiguous, SEXP na, SEXP rules);
/* A scalar of an R number, of the type and on the device of the tensor `x`. */
SEXP joist_r_scalar_like(SEXP number, SEXP x);
SEXP joist_r_make_aval(SEXP dtype, SEXP shape, SEXP ambiguous, SEXP missing);
SEXP joist_r_with_shape(SEXP x, SEXP shape);

#endif
