/* Entry points of R/promotion.R. */
#ifndef JOIST_R_PROMOTION_H
#define JOIST_R_PROMOTION_H

#include "r/joist_r.h"

SEXP joist_r_common_dtype(SEXP lhs, SEXP rhs, SEXP lhs_ambiguous, SEXP rhs_ambiguous, SEXP rules);
SEXP joist_r_result_dtype(SEXP operands, SEXP rules);
SEXP joist_r_promotion_table(SEXP rules, SEXP lhs, SEXP rhs);
SEXP joist_r_promotion_rules(SEXP id, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_promotion_rule_sets(void);
SEXP joist_r_promotion_lattice(SEXP edges, SEXP id, SEXP integers, SEXP doubles, SEXP complexes);
SEXP joist_r_check_lattice(SEXP rules);
SEXP joist_r_lattice_edges(SEXP rules);
SEXP joist_r_rules_info(SEXP rules);

#endif
