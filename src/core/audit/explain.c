/* Inference, written down, and the search for casts. */
#include "core/audit/explain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/types/error.h"
#include "core/types/loss.h"

const char *joist_certainty_text(joist_certainty certainty) {
  return JOIST_TEXTS(JOIST_CERTAINTIES)[certainty];
}

typedef const struct joist_operand operand;

/* ---- known or ambiguous ---- */

/* Classes whose result dtype does not depend on the operands. */
static bool decides_alone(joist_class class) {
  switch (class) {
    case JOIST_CLASS_PREDICATE:
    case JOIST_CLASS_COMPARE:
    case JOIST_CLASS_LOGICAL:
    case JOIST_CLASS_CONVERT:
    case JOIST_CLASS_BITCAST:
    case JOIST_CLASS_TRUTH:
    case JOIST_CLASS_POSITION:
    case JOIST_CLASS_DRAW:
      return true;
    default:
      return false;
  }
}

static joist_certainty certainty_of(const struct joist_rules *rules, joist_op op, operand *operands,
                                    size_t count, bool inexact, const struct joist_explanation *x) {
  const struct joist_type result = x->signature.result[0];
  if (decides_alone(joist_op_class(op))) return JOIST_CERTAINTY_OPERATION;
  bool any_known = false, any_guess = false, is_one = false;
  for (size_t k = joist_op_class(op) == JOIST_CLASS_SELECT; k < count; k++) {
    const struct joist_type type = operands[k].type;
    any_known |= !type.ambiguous;
    any_guess |= type.ambiguous;
    is_one |= !type.ambiguous && type.dtype == result.dtype;
  }
  if (result.ambiguous) {
    const joist_fact fact = joist_op_fact(rules, op, x->join.dtype);
    if (inexact && !x->join.ambiguous && !rules->has_facts[fact]) return JOIST_CERTAINTY_DEFAULT;
    if (!any_known) return JOIST_CERTAINTY_ALL_GUESSES;
    return any_guess ? JOIST_CERTAINTY_STAYS : JOIST_CERTAINTY_MADE;
  }
  if (!any_guess) return JOIST_CERTAINTY_ALL_KNOWN;
  return is_one ? JOIST_CERTAINTY_GIVES_WAY : JOIST_CERTAINTY_RULES;
}

/* ---- what is lost ---- */

bool joist_explain_joins(joist_op op, size_t k) {
  const joist_class class = joist_op_class(op);
  if (class == JOIST_CLASS_LOGICAL || class == JOIST_CLASS_TRUTH) return false;
  return !(class == JOIST_CLASS_SELECT && k == 0);
}

bool joist_explain_reads(joist_op op, operand *operand, size_t k) {
  return joist_explain_joins(op, k) && !operand->literal;
}

joist_dtype joist_explain_rounded_to(joist_op op, const struct joist_signature *signature,
                                     size_t k) {
  const joist_dtype promoted = signature->promoted.dtype;
  const bool averages = joist_op_class(op) == JOIST_CLASS_AVERAGE;
  return averages && promoted != JOIST_DTYPE_NONE ? promoted
                                                  : joist_signature_operand(signature, k);
}

/* How bad a loss is: digits count, everything else is worse than any number of them. */
static double cost_of(joist_dtype from, joist_dtype to) {
  const unsigned losses = joist_conversion_loss(from, to).losses;
  const unsigned grave = losses & ~(unsigned)(JOIST_LOSS_DIGITS | JOIST_LOSS_SMALL);
  double cost = losses & JOIST_LOSS_SMALL ? 1 : 0;
  if (losses & JOIST_LOSS_DIGITS) cost += joist_dtype_digits(from) - joist_dtype_digits(to);
  for (unsigned bits = grave; bits != 0; bits &= bits - 1) cost += 1000;
  return cost;
}

struct search {
  const struct joist_rules *rules;
  joist_op op;
  operand *operands; /* as given */
  size_t count;
  const struct joist_attributes *attributes;
  struct joist_operand *tried; /* with a cast */
  double cost;                 /* of the best so far */
  size_t change, bytes;
  bool defined; /* without a cast, with a result of this category, which casts keep */
  joist_category category;
  struct joist_proposed_cast best;
};

/* What the operation would lose of the operands that are tried; infinite where it is undefined. */
static double cost_tried(const struct search *s, struct joist_type *result) {
  struct joist_signature signature;
  struct joist_error ignored;
  if (joist_infer(s->rules, s->op, s->tried, s->count, s->attributes, &signature, &ignored) !=
      JOIST_OK)
    return (double)INFINITY;
  *result = signature.result[0];
  double cost = 0;
  for (size_t k = 0; k < s->count; k++)
    if (joist_explain_reads(s->op, &s->tried[k], k))
      cost += cost_of(s->tried[k].type.dtype, joist_explain_rounded_to(s->op, &signature, k));
  return cost;
}

static bool holds(joist_dtype dtype, joist_dtype values) {
  return joist_conversion_loss(values, dtype).losses == JOIST_LOSS_NONE;
}

/* An explicit cast of this operand: a tensor of unknown values. */
static void cast(struct joist_operand *tried, joist_dtype dtype) {
  *tried = (struct joist_operand){.type = {dtype, false}, .rank = tried->rank};
}

/* Keeps a candidate that loses less than the best, or as much with a smaller result, or with less
 * of a change. */
static void consider(struct search *s, struct joist_proposed_cast candidate, size_t change) {
  const double cost = cost_tried(s, &candidate.result);
  const size_t bytes = joist_dtype_size(candidate.result.dtype);
  if (s->defined && joist_dtype_category(candidate.result.dtype) != s->category) return;
  if (!(cost < s->cost) && !(s->best.found && cost <= s->cost &&
                             (bytes < s->bytes || (bytes == s->bytes && change < s->change))))
    return;
  candidate.found = true;
  candidate.lossless = !(cost > 0);
  s->best = candidate;
  s->cost = cost;
  s->bytes = bytes;
  s->change = change;
}

/* Dtypes of up to a byte are proposed only where an operand is of one. */
static bool proposes(const struct search *s, joist_dtype dtype) {
  bool found = joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, (int)dtype);
  for (size_t k = 0; k < s->count; k++)
    found |= !joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, (int)s->operands[k].type.dtype);
  return found;
}

static void try_one(struct search *s, size_t k) {
  const struct joist_type own = s->operands[k].type;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    if (!proposes(s, dtype) || !holds(dtype, own.dtype) || (dtype == own.dtype && !own.ambiguous))
      continue;
    const bool same_category = joist_dtype_category(dtype) == joist_dtype_category(own.dtype);
    cast(&s->tried[k], dtype);
    consider(s, (struct joist_proposed_cast){.operand = k, .dtype = dtype},
             dtype == own.dtype ? 0
             : same_category    ? 1
                                : 2);
    s->tried[k] = s->operands[k];
  }
}

static void try_all(struct search *s) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    bool fits = proposes(s, (joist_dtype)d);
    for (size_t k = 0; k < s->count; k++) {
      if (!joist_explain_reads(s->op, &s->operands[k], k)) continue;
      fits &= holds((joist_dtype)d, s->operands[k].type.dtype);
      cast(&s->tried[k], (joist_dtype)d);
    }
    if (fits) consider(s, (struct joist_proposed_cast){.all = true, .dtype = (joist_dtype)d}, 3);
    memcpy(s->tried, s->operands, s->count * sizeof *s->tried);
  }
}

static struct joist_proposed_cast find_cast(struct search *s) {
  struct joist_type result;
  memcpy(s->tried, s->operands, s->count * sizeof *s->tried);
  s->cost = cost_tried(s, &result);
  if (!(s->cost > 0)) return s->best;
  s->defined = isfinite(s->cost);
  if (s->defined) s->category = joist_dtype_category(result.dtype);
  for (size_t k = 0; k < s->count; k++)
    if (joist_explain_reads(s->op, &s->operands[k], k)) try_one(s, k);
  if (s->cost > 0 && s->count > 1) try_all(s);
  return s->best;
}

/* ---- all of it ---- */

/* Records the operands and the steps by which their types join. */
static joist_status record_steps(const struct joist_rules *rules, joist_op op, operand *operands,
                                 size_t count, struct joist_promotion_record *record,
                                 bool *answered, struct joist_explanation *x,
                                 struct joist_error *error) {
  const size_t first = joist_op_class(op) == JOIST_CLASS_SELECT;
  record->step_count = 0;
  for (size_t k = 0; k < count; k++)
    record->roles[k] = (struct joist_promotion_role){JOIST_ROLE_TYPE, operands[k].type, false};
  struct joist_promotion_record rest = {record->roles + first, record->steps, 0};
  const joist_status status =
      joist_common_type_recorded(rules, joist_op_told(op), joist_op_pair(op), operands + first,
                                 count - first, &rest, answered, &x->join, error);
  record->step_count = rest.step_count;
  return status;
}

void joist_explain(const struct joist_rules *rules, joist_op op, operand *operands, size_t count,
                   const struct joist_attributes *attributes, struct joist_operand *scratch,
                   struct joist_promotion_record *record, struct joist_explanation *x,
                   struct joist_error *error) {
  *x = (struct joist_explanation){.status = JOIST_OK};
  bool answered;
  const joist_status recorded =
      record_steps(rules, op, operands, count, record, &answered, x, error);
  x->status = joist_infer(rules, op, operands, count, attributes, &x->signature, error);
  /* A class that joins only some operands has steps that may fail without harm. */
  if (recorded != JOIST_OK && x->status == JOIST_OK) record->step_count = 0;
  const joist_fact fact = answered ? JOIST_FACT_COUNT : joist_op_fact(rules, op, x->join.dtype);
  const bool sums = fact == JOIST_FACT_SUM || fact == JOIST_FACT_PROD || fact == JOIST_FACT_CUMSUM;
  const bool inexact = fact != JOIST_FACT_COUNT && !sums && recorded == JOIST_OK &&
                       joist_dtype_category(x->join.dtype) < JOIST_CATEGORY_FLOAT;
  if (inexact) {
    struct joist_type result = x->join;
    joist_fact_apply(rules, fact, &result, &record->steps[record->step_count++]);
  }
  if (x->status == JOIST_OK) x->certainty = certainty_of(rules, op, operands, count, inexact, x);
  struct search search = {.rules = rules,
                          .op = op,
                          .operands = operands,
                          .count = count,
                          .attributes = attributes,
                          .tried = scratch};
  x->cast = find_cast(&search);
}

/* ---- which operation ---- */

static bool promotes(joist_op op) {
  switch (joist_op_class(op)) {
    case JOIST_CLASS_CONVERT:
    case JOIST_CLASS_BITCAST:
    case JOIST_CLASS_LAYOUT:
    case JOIST_CLASS_DRAW:
      return false;
    case JOIST_CLASS_ASSIGN:
      return op == JOIST_OP_UPDATE;
    default:
      return true;
  }
}

joist_op joist_explain_op(const char *name, size_t count) {
  if (strcmp(name, "-") == 0 && count == 1) return JOIST_OP_NEGATE;
  for (int o = 0; o < JOIST_OP_COUNT; o++) {
    const struct joist_operation *const operation = joist_operation((joist_op)o);
    const bool named = strcmp(name, operation->name) == 0 || strcmp(name, operation->generic) == 0;
    const bool fits = count >= operation->least &&
                      (count <= operation->most || operation->most == JOIST_OPERANDS_ANY);
    if (named && fits && name[0] != '\0' && promotes((joist_op)o)) return (joist_op)o;
  }
  return JOIST_OP_COUNT;
}

const char *joist_explain_class(joist_op op) {
  static const char *const names[JOIST_CLASS_COUNT] = {
      [JOIST_CLASS_JOIN] = "join",         [JOIST_CLASS_INEXACT] = "inexact",
      [JOIST_CLASS_REAL] = "real",         [JOIST_CLASS_ANGLE] = "angle",
      [JOIST_CLASS_SPECTRUM] = "spectrum", [JOIST_CLASS_PREDICATE] = "predicate",
      [JOIST_CLASS_COMPARE] = "compare",   [JOIST_CLASS_LOGICAL] = "logical",
      [JOIST_CLASS_SELECT] = "select",     [JOIST_CLASS_CONVERT] = "convert",
      [JOIST_CLASS_BITCAST] = "bitcast",   [JOIST_CLASS_LAYOUT] = "layout",
      [JOIST_CLASS_ASSIGN] = "assign",     [JOIST_CLASS_ACCUMULATE] = "accumulate",
      [JOIST_CLASS_EXTREME] = "extreme",   [JOIST_CLASS_AVERAGE] = "average",
      [JOIST_CLASS_TRUTH] = "truth",       [JOIST_CLASS_POSITION] = "position",
      [JOIST_CLASS_DRAW] = "draw",
  };
  return names[joist_op_class(op)];
}

/* ---- losses with their limits ---- */

static const char *beyond_float(joist_dtype to) {
  if (joist_dtype_has_infinity(to)) return "infinite";
  return joist_dtype_has_nan(to) ? "nan" : "largest";
}

size_t joist_explain_losses(joist_dtype from, joist_dtype to,
                            struct joist_lost lost[JOIST_LOST_MAX]) {
  const bool from_float = joist_dtype_category(from) >= JOIST_CATEGORY_FLOAT;
  const bool to_float = joist_dtype_category(to) >= JOIST_CATEGORY_FLOAT;
  const struct {
    joist_loss loss;
    const char *name;
  } plain[] = {{JOIST_LOSS_SIGN, to_float ? "no sign" : "sign"},
               {JOIST_LOSS_ZERO, "no zero"},
               {JOIST_LOSS_FRACTION, "fraction"},
               {JOIST_LOSS_SPECIAL, !to_float                 ? "special"
                                    : joist_dtype_has_nan(to) ? "no Inf"
                                                              : "no NaN"},
               {JOIST_LOSS_IMAGINARY, "imaginary"},
               {JOIST_LOSS_VALUE, "value"}};
  const struct joist_loss_facts facts = joist_conversion_loss(from, to);
  const int digits = joist_dtype_digits(to);
  size_t n = 0;
  if (facts.losses & JOIST_LOSS_DIGITS) {
    lost[n].what = facts.whole_digits > 0 ? "whole" : "digits";
    snprintf(lost[n++].limit, JOIST_LIMIT_SIZE, facts.whole_digits > 0 ? "2^%d" : "%d", digits);
  }
  if (facts.losses & JOIST_LOSS_RANGE) {
    lost[n].what = to_float ? beyond_float(to) : from_float ? "saturates" : "wraps";
    if (to_float)
      snprintf(lost[n++].limit, JOIST_LIMIT_SIZE, "%.6g", joist_dtype_max_float(to));
    else
      snprintf(lost[n++].limit, JOIST_LIMIT_SIZE, "2^%d", digits);
  }
  if (facts.losses & JOIST_LOSS_SMALL) {
    lost[n].what = "small";
    snprintf(lost[n++].limit, JOIST_LIMIT_SIZE, "2^%d",
             joist_dtype_least_exponent(to) + digits - 1);
  }
  for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
    if (facts.losses & plain[k].loss) lost[n++] = (struct joist_lost){plain[k].name, ""};
  return n;
}

/* ---- nodes ---- */

static uint8_t common_node(const struct joist_rules *rules, int lhs, int rhs) {
  if (lhs == JOIST_NODE_NONE || rhs == JOIST_NODE_NONE) return JOIST_NODE_NONE;
  return rules->result[lhs][rhs];
}

struct joist_node_step joist_explain_nodes(const struct joist_rules *rules,
                                           const struct joist_promotion_step *step) {
  const int lhs = joist_rules_node_of_type(rules, step->lhs);
  const int rhs = joist_rules_node_of_type(rules, step->rhs);
  return (struct joist_node_step){(uint8_t)lhs, (uint8_t)rhs, common_node(rules, lhs, rhs)};
}

size_t joist_explain_node_fold(const struct joist_rules *rules, const uint8_t *nodes, size_t count,
                               struct joist_node_step *steps) {
  int so_far = nodes[0];
  size_t n = 0;
  for (size_t k = 1; k < count && so_far != JOIST_NODE_NONE; k++) {
    steps[n] =
        (struct joist_node_step){(uint8_t)so_far, nodes[k], common_node(rules, so_far, nodes[k])};
    so_far = steps[n++].result;
  }
  return n;
}
