/* .Call entry points that give common dtypes. */
#ifndef JOIST_R_PROMOTION_H
#define JOIST_R_PROMOTION_H

#include "core/promotion/promote.h"
#include "r/base/sexp.h"

/* A dtype by name ("f32", "f32?") or as an object stands for an array of it; false for anything
 * else. */
bool joist_r_dtype_operand(SEXP x, struct joist_operand *operand);

/* .Call entry points. */
SEXP joist_r_common_dtype(SEXP lhs, SEXP rhs, SEXP lhs_ambiguous, SEXP rhs_ambiguous, SEXP rules);
SEXP joist_r_result_dtype(SEXP operands, SEXP rules);

#endif
