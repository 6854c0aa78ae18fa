/* What is done about implicit promotion: nothing, a warning, or an error, for each kind. One policy
 * is in force at a time, NULL for none: that of the current session. */
#ifndef JOIST_R_POLICY_H
#define JOIST_R_POLICY_H

#include "core/promotion/rule_set.h"
#include "r/base/session.h"

/* The policy of an R argument, which is the one in force for NULL. */
struct joist_r_policy joist_r_policy(SEXP policy);

/* What the policy in force does where values do not fit, and the rules where it says nothing of
 * overflow: joist_watch, or'ed. */
uint8_t joist_r_watched(const struct joist_rules *rules);

/* An environment for the places that were warned about, of the policy of an R argument, which is
 * the one in force for NULL; NULL for the package's own. */
SEXP joist_r_policy_places(SEXP policy);

/* Puts a policy in force in a session; FALSE is that of R's start. */
void joist_r_put_policy(SEXP policy, struct joist_r_session *session);

/* .Call entry point. A policy is a list: what `on` says, as integers, and that environment. */
SEXP joist_r_make_policy(SEXP on, SEXP keep); /* whether other kinds keep their setting */

#endif
