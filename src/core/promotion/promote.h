/* The common type of operands under a rule set. */
#ifndef JOIST_CORE_PROMOTION_PROMOTE_H
#define JOIST_CORE_PROMOTION_PROMOTE_H

#include "core/promotion/rule_set.h"

/* One operand of a promotion. */
struct joist_operand {
  struct joist_type type; /* for a literal: its default dtype, ambiguous */
  bool literal;           /* a bare R value, whose own value is still exact */
  int rank;
  /* For the policies that look at values, and for comparisons: range of the value(s) of a literal
   * or rank-0 operand when they are known and none is NaN (then has_range), real parts for complex,
   * and whether the values of a literal are whole numbers. Of a literal with some NaN or infinities
   * it is the range of the others, see joist_host_range(). */
  bool has_range, has_nan, has_infinity, whole;
  double low, high;
};

/* Common type of two types, for an operation and in general; false where undefined. One table
 * look-up. */
bool joist_promote_for(const struct joist_rules *rules, joist_pair pair, struct joist_type lhs,
                       struct joist_type rhs, struct joist_type *result);
bool joist_promote(const struct joist_rules *rules, struct joist_type lhs, struct joist_type rhs,
                   struct joist_type *result);

struct joist_promotion_step;

/* The node that a type becomes by a fact of the rules; JOIST_NODE_NONE where undefined. */
int joist_fact_node(const struct joist_rules *rules, joist_fact fact, struct joist_type type);

/* What a type becomes by a fact of the rules; false where undefined. Writes down the step unless
 * that is NULL. */
bool joist_fact_apply(const struct joist_rules *rules, joist_fact fact, struct joist_type *type,
                      struct joist_promotion_step *step);

/* ---- records of how it was found ---- */

/* As what an operand took part. X(ID, name) */
#define JOIST_ROLES(X)                                                            \
  X(TYPE, "type")         /* of its type */                                       \
  X(TENSOR, "tensor")     /* by rank: a tensor with dimensions */                 \
  X(RANK_ZERO, "rank 0")  /* by rank: a tensor without */                         \
  X(NUMBER, "number")     /* by rank: of an ambiguous type, or an R value */      \
  X(SMALLEST, "smallest") /* by value: the smallest dtype that holds the value */ \
  X(DEFAULT, "default")   /* by value: of the default dtype of its category */

typedef enum {
#define X(ID, NAME) JOIST_ROLE_##ID,
  JOIST_ROLES(X)
#undef X
} joist_role_name;

struct joist_promotion_role {
  joist_role_name name;
  struct joist_type as;
  bool idle; /* a number beside a number of a higher category */
};

/* X(ID, name) */
#define JOIST_STEPS(X)                                                                      \
  X(TABLE, "table")       /* the common type of two types */                                \
  X(HIGHER, "higher")     /* by rank: the right side is of a lower group, and its category  \
                             not higher: the left one stays */                              \
  X(CATEGORY, "category") /* by rank: the right side is of a lower group, but of a higher   \
                           category */                                                      \
  X(INEXACT, "inexact")   /* a non-float meets the default float, the right side */         \
  X(FACT, "fact") /* what the library makes of the left side, which is the right one too */ \
  X(FUNCTION, "function") /* what the function of the rules says of the first and last operand */

typedef enum {
#define X(ID, NAME) JOIST_STEP_##ID,
  JOIST_STEPS(X)
#undef X
} joist_step_name;

struct joist_promotion_step {
  joist_step_name name;
  bool defined;
  struct joist_type lhs, rhs, result;
};

/* Memory of the caller, for n operands: n roles, 2 * n + 2 steps. */
struct joist_promotion_record {
  struct joist_promotion_role *roles;
  struct joist_promotion_step *steps;
  size_t step_count;
};

const char *joist_role_text(joist_role_name role);
const char *joist_step_text(joist_step_name step);

/* Common type of n >= 1 operands of an operation, by rank and value too where the rule set asks
 * for it. Fails with JOIST_ERROR_PROMOTION and both types. */
joist_status joist_common_type(const struct joist_rules *rules, joist_pair pair,
                               const struct joist_operand *operands, size_t count,
                               struct joist_type *result,
                               struct joist_error *error) JOIST_MUST_CHECK;
/* The same, written down unless `record` is NULL; also where it fails. If the function of the rules
 * decided about the operation, by its name, `answered` is set. */
joist_status joist_common_type_recorded(const struct joist_rules *rules, const char *op,
                                        joist_pair pair, const struct joist_operand *operands,
                                        size_t count, struct joist_promotion_record *record,
                                        bool *answered, struct joist_type *result,
                                        struct joist_error *error) JOIST_MUST_CHECK;

#endif
