/* Promotion rule sets as R objects: raw vectors of class joist_rules that hold a struct
 * joist_rules. */
#ifndef JOIST_R_RULES_H
#define JOIST_R_RULES_H

#include "core/promotion/rule_set.h"
#include "r/base/sexp.h"

/* The rule set of an R argument: NULL is that of the session or else of R's option,  a string an
 * id, a `joist_rules` object itself. The result stays valid as long as `x` is protected; where the
 * operation may run R code (policy.h), until the .Call ends.
 * Raises joist_promotion_error for an unknown id. */
const struct joist_rules *joist_r_rules(SEXP x);

/* The built-in sets and then those of the package's files, which are read at the first call: raises
 * joist_promotion_error if that fails. */
size_t joist_r_rules_count(void);
const struct joist_rules *joist_r_rules_at(size_t index);
/* Whether a rule set is at the same address for the rest of the session: one of them, or one of a
 * bounded number of sets that users made. */
bool joist_r_rules_stay(const struct joist_rules *rules);

/* .Call entry points. */
SEXP joist_r_rules_files(SEXP names, SEXP paths);
SEXP joist_r_read_rules(SEXP text);
SEXP joist_r_write_rules(SEXP rules);
SEXP joist_r_promotion_table(SEXP rules, SEXP lhs, SEXP rhs, SEXP operation, SEXP as_used);
SEXP joist_r_promotion_rules(SEXP id, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_promotion_rule_sets(void);
SEXP joist_r_promotion_lattice(SEXP edges, SEXP id, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_check_lattice(SEXP rules, SEXP nodes);
/* Whether values of dtypes are lost in others, two vectors of names of one length. */
SEXP joist_r_conversion_loses(SEXP from, SEXP to);
SEXP joist_r_lattice_edges(SEXP rules, SEXP all);
SEXP joist_r_promotion_facts(SEXP rules);
SEXP joist_r_rules_info(SEXP rules);
/* Puts rules, an id or a joist_rules object, and a policy in force, which stay what they are where
 * NULL is given: in a session that is pushed or, if `lasting`, in the current one. */
SEXP joist_r_set_promotion(SEXP rules, SEXP policy, SEXP lasting);

#endif
