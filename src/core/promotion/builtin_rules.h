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
/* The rule set with the common dtypes that operations use, where a library has moved on since its
 * table was published. */
void joist_rules_as_used(const struct joist_rules *rules, struct joist_rules *used);

/* Whether a node is one of a user's own rules, or of the dtypes that published documents speak of:
 * listings of built-in rules leave the others out. */
bool joist_rules_documents(const struct joist_rules *rules, int node);

/* One fact: what a node becomes; or, named "common", the common node of two nodes where it is not
 * the published one; or, named by a table of two operands, its result where it is not common. */
struct joist_rules_fact {
  const char *name;
  uint8_t operand, other, result; /* JOIST_NODE_NONE: no other one; undefined */
};
enum {
  JOIST_RULES_FACTS_MAX =
      JOIST_FACT_COUNT * JOIST_TYPE_COUNT + JOIST_PAIR_COUNT * JOIST_NODE_OWN * JOIST_NODE_OWN
};

/* Writes the facts of a rule set that its library states; returns their number. */
size_t joist_rules_facts(const struct joist_rules *rules,
                         struct joist_rules_fact facts[JOIST_RULES_FACTS_MAX]);

/* Changes the literal defaults and derives the tables anew. Fails with
 * JOIST_ERROR_DTYPE when a dtype is not of its category. */
joist_status joist_rules_set_literals(struct joist_rules *rules,
                                      const uint8_t literal[JOIST_CATEGORY_COUNT],
                                      struct joist_error *error) JOIST_MUST_CHECK;

#endif
