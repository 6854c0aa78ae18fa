/* The built-in promotion rule sets. */
#ifndef JOIST_CORE_PROMOTION_BUILTIN_RULES_H
#define JOIST_CORE_PROMOTION_BUILTIN_RULES_H

#include "core/promotion/rule_set.h"

/* joist_rules_find returns NULL for an unknown id. The first is the default. Call
 * joist_rules_init once before any other function. */
void joist_rules_init(void);
size_t joist_rules_count(void);
const struct joist_rules *joist_rules_at(size_t index);
const struct joist_rules *joist_rules_find(const char *id);
/* One line that says where the rule set comes from. */
const char *joist_rules_source(const char *id);

/* Changes the literal defaults and derives `promote` anew. Fails with
 * JOIST_ERROR_DTYPE when a dtype is not of its category. */
joist_status joist_rules_set_literals(struct joist_rules *rules,
                                      const uint8_t literal[JOIST_CATEGORY_COUNT],
                                      struct joist_error *error) JOIST_MUST_CHECK;

#endif
