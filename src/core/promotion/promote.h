/* The common type of operands under a rule set. */
#ifndef JOIST_CORE_PROMOTION_PROMOTE_H
#define JOIST_CORE_PROMOTION_PROMOTE_H

#include "core/promotion/rule_set.h"

/* One operand of a promotion. */
struct joist_operand {
  struct joist_type type; /* for a literal: its default dtype, ambiguous */
  bool literal;           /* a bare R value, whose own value is still exact */
  int rank;
  /* For the policies that look at values: range of the value(s) of a literal or
   * rank-0 operand when they are known (then has_range), real parts for complex. */
  bool has_range;
  double low, high;
};

/* Common type of two types; false where undefined. One table look-up. */
bool joist_promote(const struct joist_rules *rules, struct joist_type lhs, struct joist_type rhs,
                   struct joist_type *result);

/* Common type of n >= 1 operands, by rank and value too where the rule set asks
 * for it. Fails with JOIST_ERROR_PROMOTION; the message names both dtypes, the rule
 * set and a way out. */
joist_status joist_common_type(const struct joist_rules *rules,
                               const struct joist_operand *operands, size_t count,
                               struct joist_type *result,
                               struct joist_error *error) JOIST_MUST_CHECK;

#endif
