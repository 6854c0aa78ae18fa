/* The published tables that are not lattices, and how they have changed since. */
#ifndef JOIST_CORE_PROMOTION_PUBLISHED_TABLES_H
#define JOIST_CORE_PROMOTION_PUBLISHED_TABLES_H

#include "core/promotion/rule_set.h"

/* One cell of a published table: the common node of two nodes, JOIST_NODE_NONE where
 * undefined. Reads the literal defaults of `rules`, nothing else. */
typedef int joist_table_entry(const struct joist_rules *rules, int lhs, int rhs);

joist_table_entry joist_table_anvl, joist_table_jax_lax, joist_table_numpy, joist_table_torch,
    joist_table_torch_2, joist_table_tensorflow, joist_table_array_api, joist_table_array_api_2024;

/* NumPy with ml_dtypes, and pairs with dtypes of up to a byte under the rules of anvil and anvl. */
joist_table_entry joist_table_ml_dtypes, joist_table_anvil_others, joist_table_anvl_others;

#endif
