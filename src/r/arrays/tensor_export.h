/* .Call entry points that make R vectors of tensors. */
#ifndef JOIST_R_TENSOR_EXPORT_H
#define JOIST_R_TENSOR_EXPORT_H

#include "r/base/sexp.h"

SEXP joist_r_as_array(SEXP x, SEXP as, SEXP lossy, SEXP first);
SEXP joist_r_format(SEXP x, SEXP digits, SEXP first);
SEXP joist_r_integer_text(SEXP x);
SEXP joist_r_exact_doubles(SEXP x);
SEXP joist_r_first_change(SEXP x, SEXP dtype);

#endif
