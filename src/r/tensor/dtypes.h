/* Dtypes as R objects. */
#ifndef JOIST_R_DTYPES_H
#define JOIST_R_DTYPES_H

#include "core/types/dtypes.h"
#include "r/base/sexp.h"

/* A dtype from an R value: a `joist_dtype`, a tensor, or a string that names one in
 * the style anvil. Raises joist_dtype_error. */
joist_dtype joist_r_dtype(SEXP x);
/* The same, with strings read in another style. */
joist_dtype joist_r_dtype_styled(SEXP x, joist_style style);
/* The `joist_dtype` object of a dtype: a shared, never collected constant. */
SEXP joist_r_dtype_object(joist_dtype dtype);

/* .Call entry points. */
SEXP joist_r_as_dtype(SEXP x, SEXP style);
SEXP joist_r_format_dtype(SEXP x, SEXP style);
/* The kind of a dtype, or of a tensor's. */
SEXP joist_r_dtype_kind(SEXP x);
SEXP joist_r_dtype_has_nan(SEXP x);
SEXP joist_r_dtype_names(void);
SEXP joist_r_dtype_size(SEXP dtype);
/* The row of a dtype, as a list: what dtype_info() gives, with numbers as R's, or text for
 * integers that are not exact in double. */
SEXP joist_r_dtype_info(SEXP x);

#endif
