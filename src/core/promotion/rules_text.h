/* Rule sets as text: a header of `# key: value` lines and a table of comma-separated cells, one per
 * line, as ?promotion_rules_new describes them. Owns no memory. */
#ifndef JOIST_CORE_PROMOTION_RULES_TEXT_H
#define JOIST_CORE_PROMOTION_RULES_TEXT_H

#include "core/promotion/rule_set.h"

/* Makes a rule set of `size` bytes of text. Fails with JOIST_ERROR_PROMOTION, the number of the
 * line and what is wrong with it. */
joist_status joist_rules_read(struct joist_rules *rules, const char *text, size_t size,
                              struct joist_error *error) JOIST_MUST_CHECK;

#endif
