/* What is done about implicit promotion: nothing, a warning, or an error, for each kind. One policy
 * is in force at a time, NULL for none; with_promotion() and its like set it and set it back. */
#ifndef JOIST_R_POLICY_H
#define JOIST_R_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "r/sexp.h"

/* Kinds of joist_change, or'ed. */
struct joist_r_policy {
  uint8_t warned, refused;
};

/* The policy of an R argument, which is the one in force for NULL. */
struct joist_r_policy joist_r_policy(SEXP policy);

/* Whether the policy in force asks for anything: all that an operation pays where it does not. */
extern bool joist_r_strict;

/* An environment for the places that were warned about, of the policy in force, which asks for
 * something. */
SEXP joist_r_policy_places(void);

/* .Call entry points. A policy is a list: what `on` says, as integers, and that environment. */
SEXP joist_r_make_policy(SEXP on);
/* Puts a policy in force; gives the one before. */
SEXP joist_r_set_policy(SEXP policy);
SEXP joist_r_is_strict(void);

#endif
