/* What is done about implicit promotion: nothing, a warning, or an error, for each kind. One policy
 * is in force at a time, NULL for none; with_promotion() and its like set it and set it back. */
#ifndef JOIST_R_STRICTNESS_H
#define JOIST_R_STRICTNESS_H

#include "core/promotion/change.h"
#include "r/operands.h"

/* Kinds of joist_change, or'ed. */
struct joist_r_policy {
  uint8_t warned, refused;
};

/* The policy of an R argument, which is the one in force for NULL. */
struct joist_r_policy joist_r_policy(SEXP policy);

/* Whether the policy in force asks for anything: all that an operation pays where it does not. */
extern bool joist_r_strict;

/* Raises an error, or gives a warning, when an operation that was inferred, and that nothing was
 * done for yet, promotes one of n values in a way that the policy in force names. Runs R code. */
void joist_r_judge(joist_op op, const struct joist_r_value *values, size_t n,
                   const struct joist_signature *signature);
/* The same for an R value that becomes a tensor of a dtype that nobody asked for. */
void joist_r_judge_default(const struct joist_r_value *value, joist_dtype dtype);
/* Whether a literal is another value in `dtype`, and the policy names that. */
bool joist_r_names_literal(struct joist_r_policy policy, const struct joist_r_value *value,
                           joist_dtype dtype);

/* .Call entry points. A policy is a list: what `on` says, as integers, and an environment for the
 * places that were warned about. */
SEXP joist_r_make_policy(SEXP on);
/* Puts a policy in force; gives the one before. */
SEXP joist_r_set_policy(SEXP policy);
SEXP joist_r_is_strict(void);

#endif
