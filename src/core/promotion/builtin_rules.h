/* The built-in promotion rule sets: files of the package, each read when it is first used. */
#ifndef JOIST_CORE_PROMOTION_BUILTIN_RULES_H
#define JOIST_CORE_PROMOTION_BUILTIN_RULES_H

#include "core/promotion/rule_set.h"

/* Says at which path the folder of the files is, and reads the default set. Call once before any
 * other function. */
joist_status joist_rules_init(const char *path, struct joist_error *error) JOIST_MUST_CHECK;

/* The ids of all sets; the first is the default. */
size_t joist_rules_count(void);
const char *joist_rules_id(size_t index);

/* The set, which stays until the process ends. */
joist_status joist_rules_get(size_t index, const struct joist_rules **rules,
                             struct joist_error *error) JOIST_MUST_CHECK;
/* The same; NULL if it cannot be read, which the default set can, or if there is no such id. */
const struct joist_rules *joist_rules_at(size_t index);
const struct joist_rules *joist_rules_find(const char *id);

/* Whether a rule set is one of those that were read. */
bool joist_rules_are_built_in(const struct joist_rules *rules);

#endif
