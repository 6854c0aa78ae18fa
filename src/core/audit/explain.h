/* Why an operation has its dtypes: the steps of its inference, what its operands may lose, and the
 * cast that avoids it. Memory is the caller's. */
#ifndef JOIST_CORE_AUDIT_EXPLAIN_H
#define JOIST_CORE_AUDIT_EXPLAIN_H

#include "core/program/infer.h"

/* Why a result is known or ambiguous. X(ID, name) */
#define JOIST_CERTAINTIES(X)                                                                \
  X(OPERATION, "operation")     /* known: the operation says so */                          \
  X(ALL_KNOWN, "all known")     /* known: as all operands */                                \
  X(GIVES_WAY, "gives way")     /* known: ambiguous types gave way to known ones */         \
  X(RULES, "rules")             /* known: the rules make a known dtype of ambiguous ones */ \
  X(ALL_GUESSES, "all guesses") /* ambiguous: as all operands */                            \
  X(STAYS, "stays")             /* ambiguous: an ambiguous type did not give way */         \
  X(MADE, "made")               /* ambiguous: known dtypes meet in such a type */           \
  X(DEFAULT, "default")         /* ambiguous: so is the default float, which took part */

typedef enum {
#define X(ID, NAME) JOIST_CERTAINTY_##ID,
  JOIST_CERTAINTIES(X)
#undef X
} joist_certainty;

const char *joist_certainty_text(joist_certainty certainty);

/* A cast of one operand, or of all tensors, after which less is lost or there is a result. */
struct joist_proposed_cast {
  bool found, all, lossless;
  size_t operand;
  joist_dtype dtype;
  struct joist_type result;
};

struct joist_explanation {
  joist_status status; /* of the inference; then nothing but the record and the cast is set */
  struct joist_signature signature;
  struct joist_type join; /* of the operands, before what the operation makes of it */
  joist_certainty certainty;
  struct joist_proposed_cast cast;
};

/* Infers `op`, fills the record, and explains in `x`. `scratch` is room for `count` operands. */
void joist_explain(const struct joist_rules *rules, joist_op op,
                   const struct joist_operand *operands, size_t count,
                   const struct joist_attributes *attributes, struct joist_operand *scratch,
                   struct joist_promotion_record *record, struct joist_explanation *x,
                   struct joist_error *error);

/* Whether an operand is joined with the others: not where the operation asks only whether it is
 * zero. */
bool joist_explain_joins(joist_op op, size_t k);
/* Whether its conversion may lose something: not if it is a literal, which is read exactly or
 * refused. */
bool joist_explain_reads(joist_op op, const struct joist_operand *operand, size_t k);

/* The dtype whose precision operand k is left with: the conversion's, or an average's, which
 * is computed in double and then rounded. */
joist_dtype joist_explain_rounded_to(joist_op op, const struct joist_signature *signature,
                                     size_t k);

/* The operation that R calls by this name, its own ("add") or a generic's ("+"), with so many
 * operands; JOIST_OP_COUNT where there is none, and of those that promote nothing: casts, draws,
 * and what moves elements. */
joist_op joist_explain_op(const char *name, size_t count);
/* The name of its dtype class: "join", "inexact" ... */
const char *joist_explain_class(joist_op op);

/* ---- losses with their limits ---- */

enum { JOIST_LOST_MAX = 9, JOIST_LIMIT_SIZE = 32 };

/* What a conversion may lose: a name, and from where on. The limit is a whole number or a power of
 * two as text, "" where there is none.
 *   "whole"      whole numbers beyond the limit are rounded
 *   "digits"     rounded to so many binary digits
 *   "wraps"      integers from the limit on, or below its negative
 *   "infinite"   beyond the limit becomes Inf
 *   "nan"        beyond the limit becomes NaN, in floats without Inf
 *   "largest"    beyond the limit becomes the limit, in floats without NaN
 *   "saturates"  a float beyond the limit becomes the last integer
 *   "sign"       negative values wrap; of floats they become 0
 *   "small"      values other than 0 below the limit lose digits or become 0
 *   "no sign"    negative values become NaN, in floats without sign
 *   "no zero"    0 becomes NaN, in floats without zero
 *   "no Inf"     Inf becomes NaN, in floats without Inf
 *   "no NaN"     NaN becomes 0 and Inf the largest value, in floats without NaN
 *   "fraction", "special", "imaginary", "value"   as of joist_loss */
struct joist_lost {
  const char *what;
  char limit[JOIST_LIMIT_SIZE];
};
size_t joist_explain_losses(joist_dtype from, joist_dtype to,
                            struct joist_lost lost[JOIST_LOST_MAX]);

/* ---- nodes ---- */

struct joist_node_step {
  uint8_t lhs, rhs, result; /* JOIST_NODE_NONE: undefined */
};

/* The nodes of a step that reads the rules' table. */
struct joist_node_step joist_explain_nodes(const struct joist_rules *rules,
                                           const struct joist_promotion_step *step);
/* Nodes joined from left to right, up to the first undefined step; how many of count - 1. */
size_t joist_explain_node_fold(const struct joist_rules *rules, const uint8_t *nodes, size_t count,
                               struct joist_node_step *steps);

#endif
