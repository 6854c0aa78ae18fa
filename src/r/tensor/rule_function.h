/* Promotion rules that are functions of R. */
#ifndef JOIST_R_RULE_FUNCTION_H
#define JOIST_R_RULE_FUNCTION_H

#include "core/promotion/rule_set.h"
#include "r/base/sexp.h"

/* Has a function decide under a rule set of a text, all of which stay for the rest of the session;
 * each question is asked once. False if memory is out. */
bool joist_r_rule_function(struct joist_rules *rules, SEXP text, SEXP function);

#endif
