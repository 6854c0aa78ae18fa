/* .Call entry points that give common dtypes. */
#ifndef JOIST_R_PROMOTION_H
#define JOIST_R_PROMOTION_H

#include "r/sexp.h"

SEXP joist_r_common_dtype(SEXP lhs, SEXP rhs, SEXP lhs_ambiguous, SEXP rhs_ambiguous, SEXP rules);
SEXP joist_r_result_dtype(SEXP operands, SEXP rules);

#endif
