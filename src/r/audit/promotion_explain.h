/* .Call entry points that say why an operation has its dtypes. */
#ifndef JOIST_R_PROMOTION_EXPLAIN_H
#define JOIST_R_PROMOTION_EXPLAIN_H

#include "r/base/sexp.h"

/* The facts as a list: see the function of that name in R. `operands` are tensors, R values,
 * dtypes, or names of dtypes and nodes; `name` is that of an operation, or NULL for any that joins
 * its operands; `dtype` the attribute, or NULL. */
SEXP joist_r_explain(SEXP operands, SEXP name, SEXP dtype, SEXP rules);
/* The name of the operation that R calls by a name with so many operands; NULL where there is
 * none that promotes. */
SEXP joist_r_explain_op(SEXP name, SEXP count);

#endif
