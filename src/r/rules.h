/* Promotion rule sets as R objects: raw vectors of class joist_rules that hold a struct
 * joist_rules. */
#ifndef JOIST_R_RULES_H
#define JOIST_R_RULES_H

#include "core/promotion/rule_set.h"
#include "r/sexp.h"

/* The rule set of an R argument: NULL is the current one, a string an id, a
 * `joist_rules` object itself. The result stays valid as long as `x` is protected; where the
 * operation may run R code (policy.h), until the .Call ends.
 * Raises joist_promotion_error for an unknown id. */
const struct joist_rules *joist_r_rules(SEXP x);

/* .Call entry points. */
SEXP joist_r_promotion_table(SEXP rules, SEXP lhs, SEXP rhs);
SEXP joist_r_promotion_rules(SEXP id, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_promotion_rule_sets(void);
SEXP joist_r_promotion_lattice(SEXP edges, SEXP id, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_check_lattice(SEXP rules);
SEXP joist_r_lattice_edges(SEXP rules, SEXP all);
SEXP joist_r_promotion_facts(SEXP rules);
SEXP joist_r_rules_info(SEXP rules);

#endif
