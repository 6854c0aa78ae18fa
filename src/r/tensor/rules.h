/* Promotion rule sets as R objects: strings of class joist_rules, in the format of the files of
 * inst/promotion. */
#ifndef JOIST_R_RULES_H
#define JOIST_R_RULES_H

#include "core/promotion/rule_set.h"
#include "r/base/sexp.h"

/* The rule set of an R argument: NULL is that of the session or else of R's option, a string an id,
 * a `joist_rules` object its text, which is compiled when it is first used. The result stays valid
 * until the .Call ends.
 * Raises joist_promotion_error for an unknown id. */
const struct joist_rules *joist_r_rules(SEXP x);

/* A built-in set, which is read at the first call: raises joist_promotion_error if that fails. */
const struct joist_rules *joist_r_rules_at(size_t index);
/* Whether a rule set is at the same address for the rest of the session: a built-in one, or one of
 * a bounded number of sets that users made. */
bool joist_r_rules_stay(const struct joist_rules *rules);

/* .Call entry points. */
SEXP joist_r_rules_init(SEXP folder);
SEXP joist_r_read_rules(SEXP text, SEXP function);
SEXP joist_r_literals(SEXP rules, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_promotion_table(SEXP rules, SEXP lhs, SEXP rhs, SEXP operation, SEXP as_used);
SEXP joist_r_promotion_rule_sets(void);
SEXP joist_r_check_lattice(SEXP rules, SEXP nodes, SEXP operation);
/* Whether values of dtypes are lost in others, two vectors of names of one length. */
SEXP joist_r_conversion_loses(SEXP from, SEXP to);
SEXP joist_r_lattice_edges(SEXP rules, SEXP all);
SEXP joist_r_promotion_facts(SEXP rules);
SEXP joist_r_rules_info(SEXP rules);
/* Puts rules, an id or a joist_rules object, and a policy in force, which stay what they are where
 * NULL is given: in a session that is pushed or, if `lasting`, in the current one. */
SEXP joist_r_set_promotion(SEXP rules, SEXP policy, SEXP lasting);
/* The value of `expr` of a frame in a session of these rules and policy, which is popped at the
 * end, also after an error or an interrupt. */
SEXP joist_r_under_promotion(SEXP rules, SEXP policy, SEXP frame);

#endif
