/* What the files that make rule sets share: rules.c (the built-in sets), tables.c
 * (the published tables as functions) and promote.c (deriving the dense table). */
#ifndef JOIST_CORE_PROMOTION_PUBLISHED_TABLES_H
#define JOIST_CORE_PROMOTION_PUBLISHED_TABLES_H

#include "core/promotion/rule_set.h"

/* One cell of a published table: the common node of two nodes, JOIST_NODE_NONE where
 * undefined. Reads the literal defaults of `rules`, nothing else. */
typedef int joist_table_entry(const struct joist_rules *rules, int lhs, int rhs);

joist_table_entry joist_table_anvl, joist_table_jax_lax, joist_table_numpy, joist_table_torch,
    joist_table_tensorflow, joist_table_array_api;

/* The complex dtype whose parts hold a float dtype; a complex dtype itself. */
joist_dtype joist_dtype_complex(joist_dtype dtype);

/* The weak node of a category (integer, float or complex), and back. */
int joist_node_of_category(joist_category category);
joist_category joist_category_of_node(int weak);

/* Clears a rule set, sets its id, and names the known and ambiguous dtypes. */
void joist_rules_clear(struct joist_rules *rules, const char *id);
/* Fills `result` from `edges`. Returns a node on a cycle or JOIST_NODE_NONE. */
int joist_rules_join_edges(struct joist_rules *rules);
/* Fills `promote` from `result` and `literal`. */
void joist_rules_derive(struct joist_rules *rules);

#endif
