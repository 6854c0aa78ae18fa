/* Rule sets as text: a header of `# key: value` lines and a table of comma-separated cells, one per
 * line, as ?promotion_rules_new describes them. Owns no memory but what joist_text does. */
#ifndef JOIST_CORE_PROMOTION_RULES_TEXT_H
#define JOIST_CORE_PROMOTION_RULES_TEXT_H

#include "core/base/text.h"
#include "core/promotion/rule_set.h"

/* Makes a rule set of `size` bytes of text. Fails with JOIST_ERROR_PROMOTION, the number of the
 * line and what is wrong with it. */
joist_status joist_rules_read(struct joist_rules *rules, const char *text, size_t size,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* Adds the text of a rule set, which joist_rules_read() makes the same set of. */
void joist_rules_write(const struct joist_rules *rules, struct joist_text *text);

/* The names of an enumeration, and the number of one among them; -1 for none. */
const char *joist_pair_name(joist_pair pair);
const char *joist_fact_name(joist_fact fact);
const char *joist_policy_name(joist_rules_policy policy);
const char *joist_beyond_name(joist_beyond beyond);
int joist_pair_of_name(const char *name);

#endif
