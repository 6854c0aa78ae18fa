/* Warnings and errors about implicit promotion, as the policy in force wants them. */
#ifndef JOIST_R_STRICTNESS_H
#define JOIST_R_STRICTNESS_H

#include "core/promotion/change.h"
#include "r/base/policy.h"
#include "r/tensor/operands.h"

/* Raises an error, or gives a warning, when an operation that was inferred, and that nothing was
 * done for yet, promotes one of n values in a way that the policy in force names. Runs R code. */
void joist_r_judge(joist_op op, const struct joist_r_value *values, size_t n,
                   const struct joist_signature *signature);
/* The same for an R value that becomes a tensor of a dtype that was not asked for. */
void joist_r_judge_default(const struct joist_r_value *value, joist_dtype dtype);
/* .Call entry point: the same for an R value that meets a tensor of that dtype. */
SEXP joist_r_judge_met(SEXP x, SEXP dtype);
/* The same for doubles that become elements: whole numbers that a default dtype (`by_default`)
 * rounds, and, for 64-bit integers, those that may have been rounded when R read them. */
void joist_r_judge_doubles(const struct joist_r_value *value, joist_dtype dtype, bool by_default);
/* The same for elements of bit64's class that become floats of fewer digits. */
void joist_r_judge_integers(const struct joist_r_value *value, joist_dtype dtype);
/* Whether a literal is another value in `dtype`, and the policy names that. */
bool joist_r_names_literal(struct joist_r_policy policy, const struct joist_r_value *value,
                           joist_dtype dtype);

#endif
