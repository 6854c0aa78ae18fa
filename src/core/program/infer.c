/* The dtypes of operations: one function per dtype class. */
#include "core/program/infer.h"

#include <math.h>
#include <stdio.h>

#include "core/promotion/change.h"
#include "core/types/error.h"
#include "core/types/loss.h"

/* An operation whose dtypes are being decided. */
struct decision {
  const struct joist_rules *rules;
  joist_op op;
  const struct joist_operand *operands;
  size_t count;
  struct joist_type requested; /* JOIST_DTYPE_NONE when it was not asked for one */
  struct joist_type result;
  struct joist_type promoted; /* as in a signature */
  joist_dtype operand[JOIST_ELEMENT_OPERANDS];
  bool rounds_float; /* as in a signature */
  bool answered;     /* the function of the rules gave the result */
};

typedef joist_status infer(struct decision *d, struct joist_error *error);

static bool is_inexact(joist_dtype dtype) {
  return joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
}

static void read_all_in(struct decision *d, joist_dtype dtype) {
  for (size_t k = 0; k < JOIST_ELEMENT_OPERANDS; k++) d->operand[k] = dtype;
}

joist_pair joist_op_pair(joist_op op) {
  static const joist_pair stated[JOIST_OP_COUNT] = {
#define PAIR(ID, PAIR) [JOIST_OP_##ID] = JOIST_PAIR_##PAIR,
#include "core/program/ops.def"
  };
  if (stated[op] != JOIST_PAIR_COMMON) return stated[op];
  return joist_op_class(op) == JOIST_CLASS_ASSIGN ? JOIST_PAIR_ASSIGN : JOIST_PAIR_COMMON;
}

const char *joist_op_told(joist_op op) {
  const joist_pair pair = joist_op_pair(op);
  return pair == JOIST_PAIR_COMMON ? joist_op_name(op) : joist_pair_name(pair);
}

bool joist_op_asks(joist_op op) {
  switch (joist_op_class(op)) {
    case JOIST_CLASS_CONVERT:
    case JOIST_CLASS_BITCAST:
    case JOIST_CLASS_LAYOUT:
    case JOIST_CLASS_EXTREME:
    case JOIST_CLASS_TRUTH:
    case JOIST_CLASS_DRAW:
      return false;
    default:
      return joist_operation(op)->family != JOIST_FAMILY_REGIONS;
  }
}

/* Comparisons and operations of one operand are about values which a dtype that a function answers
 * must not change. */
static joist_status check_answer(const struct decision *d, struct joist_error *error) {
  const joist_class class = joist_op_class(d->op);
  const bool own = class == JOIST_CLASS_JOIN || class == JOIST_CLASS_REAL;
  const bool asks = class == JOIST_CLASS_COMPARE || class == JOIST_CLASS_POSITION ||
                    class == JOIST_CLASS_LOGICAL || class == JOIST_CLASS_PREDICATE;
  for (size_t k = 0; k < d->count && (asks || (own && d->count == 1)); k++) {
    const joist_dtype from = d->operands[k].type.dtype, to = d->result.dtype;
    const unsigned grave =
        JOIST_LOSS_SIGN | JOIST_LOSS_FRACTION | JOIST_LOSS_IMAGINARY | JOIST_LOSS_VALUE;
    if (d->operands[k].literal || (joist_conversion_loss(from, to).losses & grave) == 0) continue;
    char words[sizeof(struct joist_quote)];
    snprintf(words, sizeof words, "it gives %s, which does not hold the values of %s",
             joist_dtype_name(to), joist_dtype_name(from));
    return JOIST_FAIL(error, JOIST_E_RULE_REFUSES, .op = joist_op_told(d->op),
                      .text = {joist_quote(d->rules->id), joist_quote(words)});
  }
  return JOIST_OK;
}

/* The common type of two operands. An error says so if a whole R number of the other type, double
 * or integer, would have one. */
static joist_status common_type(const struct joist_rules *rules, const char *op, joist_pair kind,
                                const struct joist_operand *pair, bool *answered,
                                struct joist_type *type, struct joist_error *error) {
  const joist_status status =
      joist_common_type_recorded(rules, op, kind, pair, 2, NULL, answered, type, error);
  if (status == JOIST_OK || error == NULL || error->code != JOIST_E_NO_COMMON_DTYPE) return status;
  const size_t k = pair[0].literal ? 0 : 1;
  const joist_category category = joist_dtype_category(pair[k].type.dtype);
  const joist_category other = joist_dtype_category(pair[1 - k].type.dtype);
  const bool real = category == JOIST_CATEGORY_INTEGER || category == JOIST_CATEGORY_FLOAT;
  struct joist_operand tried[] = {pair[0], pair[1]};
  tried[k].type.dtype = (joist_dtype)rules->literal[other];
  tried[k].has_range = false;
  if (!pair[k].literal || !real || category == other ||
      (other != JOIST_CATEGORY_INTEGER && other != JOIST_CATEGORY_FLOAT) ||
      joist_common_type(rules, kind, tried, 2, type, NULL) != JOIST_OK)
    return status;
  error->code = JOIST_E_NO_COMMON_NUMBER;
  error->text[1] =
      joist_quote(other == JOIST_CATEGORY_INTEGER ? "whole numbers as 1L" : "integers as 1");
  return status;
}

/* The join of the operands from `first` on, in which they are computed; also the result. */
static joist_status join_from(struct decision *d, size_t first, struct joist_error *error) {
  const struct joist_operand *const joined = d->operands + first;
  const size_t count = d->count - first;
  const joist_pair kind = joist_op_pair(d->op);
  const char *const op = joist_op_told(d->op);
  const joist_status status =
      count == 2 ? common_type(d->rules, op, kind, joined, &d->answered, &d->result, error)
                 : joist_common_type_recorded(d->rules, op, kind, joined, count, NULL, &d->answered,
                                              &d->result, error);
  d->promoted = d->result;
  if (status == JOIST_OK) read_all_in(d, d->result.dtype);
  return status == JOIST_OK && d->answered ? check_answer(d, error) : status;
}

joist_fact joist_op_fact(const struct joist_rules *rules, joist_op op, joist_dtype joined) {
  /* A table of the operation's own has its result. */
  const joist_pair pair = joist_op_pair(op);
  if (rules->has_pairs[pair]) return JOIST_FACT_COUNT;
  switch (joist_op_class(op)) {
    case JOIST_CLASS_SPECTRUM: /* NumPy transforms small integers in f64 and f16 in f32 */
      return is_inexact(joined) ? JOIST_FACT_INEXACT : JOIST_FACT_LINALG;
    case JOIST_CLASS_INEXACT:
      if (joist_op_is_array(op)) return JOIST_FACT_LINALG;
      return pair == JOIST_PAIR_DIVIDE ? JOIST_FACT_DIVIDE : JOIST_FACT_INEXACT;
    case JOIST_CLASS_ANGLE:
      return JOIST_FACT_ANGLE;
    case JOIST_CLASS_AVERAGE:
      return JOIST_FACT_MEAN;
    case JOIST_CLASS_ACCUMULATE:
      if (op == JOIST_OP_CUMSUM || op == JOIST_OP_CUMPROD) return JOIST_FACT_CUMSUM;
      return op == JOIST_OP_REDUCE_PROD ? JOIST_FACT_PROD : JOIST_FACT_SUM;
    default:
      return joist_pair_fact(pair, joined);
  }
}

/* Makes of the joined type what the rules say. */
static joist_status apply_fact(struct decision *d, struct joist_error *error) {
  const struct joist_type own = d->result;
  const joist_fact fact =
      d->answered ? JOIST_FACT_COUNT : joist_op_fact(d->rules, d->op, own.dtype);
  if (fact == JOIST_FACT_COUNT || joist_fact_apply(d->rules, fact, &d->result, NULL))
    return JOIST_OK;
  if (own.dtype == JOIST_BOOL && fact == JOIST_FACT_POWER)
    return JOIST_FAIL(error, JOIST_E_NOT_DEFINED_BOOL, .op = joist_op_name(d->op), .type = {own});
  const int node = joist_fact_node(d->rules, fact, own);
  if (node >= JOIST_NODE_OWN && node != JOIST_NODE_NONE)
    return JOIST_FAIL(
        error, JOIST_E_UNAVAILABLE_FACT, .op = joist_op_name(d->op), .type = {own},
        .text = {joist_quote(d->rules->id), joist_quote(joist_rules_node_name(d->rules, node))});
  return JOIST_FAIL(error, JOIST_E_NO_FACT, .op = joist_op_name(d->op), .type = {own},
                    .text = {joist_quote(d->rules->id)});
}

/* The dtype asked for, in which operands of narrower dtypes are computed: nothing is lost. */
static joist_status infer_asked(struct decision *d, struct joist_error *error) {
  const joist_dtype asked = d->requested.dtype;
  d->result = d->requested;
  for (size_t k = 0; k < d->count && k < JOIST_ELEMENT_OPERANDS; k++) {
    const struct joist_operand *const operand = &d->operands[k];
    d->operand[k] = operand->literal ? asked : operand->type.dtype;
    if (joist_conversion_loss(d->operand[k], asked).losses != JOIST_LOSS_NONE)
      return JOIST_FAIL(error, JOIST_E_MATMUL_DTYPE,
                        .type = {{asked, false}, {d->operand[k], false}});
  }
  return JOIST_OK;
}

/* Has the rules that compute an integer and a float in double do so. Doubles do not hold integers
 * of 64 bits: those are computed as by other rules. */
static void compute_in_double(struct decision *d) {
  const joist_pair pair = joist_op_pair(d->op);
  const bool arithmetic = pair == JOIST_PAIR_ADD || joist_pair_adds(pair) ||
                          pair == JOIST_PAIR_DIVIDE || pair == JOIST_PAIR_POWER;
  if (!d->rules->mixed_in_double || !arithmetic ||
      joist_dtype_category(d->result.dtype) != JOIST_CATEGORY_INTEGER ||
      joist_dtype_digits(d->result.dtype) > joist_dtype_digits(JOIST_F64))
    return;
  for (size_t k = 0; k < d->count; k++) d->rounds_float |= is_inexact(d->operands[k].type.dtype);
  if (!d->rounds_float) return;
  d->promoted.dtype = JOIST_DTYPE_NONE; /* f64 holds their values */
  read_all_in(d, JOIST_F64);
}

/* A whole number as an exponent, under rules by which the power is of the base's type. */
static bool is_whole_power(const struct decision *d) {
  return d->op == JOIST_OP_POW && d->rules->powers_of_base && !d->operands[0].literal &&
         d->operands[1].literal && d->operands[0].type.dtype != JOIST_BOOL &&
         joist_dtype_category(d->operands[1].type.dtype) == JOIST_CATEGORY_INTEGER;
}

static joist_status infer_join(struct decision *d, struct joist_error *error) {
  if (d->requested.dtype != JOIST_DTYPE_NONE) return infer_asked(d, error);
  if (is_whole_power(d)) {
    struct joist_error refused;
    const struct joist_type base = d->operands[0].type;
    if (join_from(d, 0, &refused) == JOIST_OK && !d->answered) {
      d->result = d->promoted = base;
      read_all_in(d, base.dtype);
      return JOIST_OK;
    }
  }
  joist_status status = join_from(d, 0, error);
  if (status == JOIST_OK && d->op == JOIST_OP_MATMUL && d->result.ambiguous &&
      d->rules->products_default) {
    d->result.dtype = (joist_dtype)d->rules->literal[joist_dtype_category(d->result.dtype)];
    d->promoted = d->result;
    read_all_in(d, d->result.dtype);
  }
  if (status == JOIST_OK && !d->answered &&
      joist_op_fact(d->rules, d->op, d->result.dtype) != JOIST_FACT_COUNT) {
    status = apply_fact(d, error);
    d->promoted = d->result;
    if (status == JOIST_OK) read_all_in(d, d->result.dtype);
  }
  if (status == JOIST_OK) compute_in_double(d);
  return status;
}

static joist_status infer_inexact(struct decision *d, struct joist_error *error) {
  joist_status status = join_from(d, 0, error);
  if (status == JOIST_OK) status = apply_fact(d, error);
  d->promoted = d->result;
  if (status != JOIST_OK) return status;
  read_all_in(d, d->result.dtype);
  compute_in_double(d);
  return JOIST_OK;
}

static joist_status infer_real(struct decision *d, struct joist_error *error) {
  const joist_status status = join_from(d, 0, error);
  d->result.dtype = joist_dtype_real(d->result.dtype);
  return status;
}

static joist_status infer_angle(struct decision *d, struct joist_error *error) {
  joist_status status = join_from(d, 0, error);
  const struct joist_type joined = d->result;
  if (status == JOIST_OK) status = apply_fact(d, error);
  if (status != JOIST_OK) return status;
  d->promoted = is_inexact(joined.dtype) ? joined : d->result;
  read_all_in(d, d->promoted.dtype);
  return JOIST_OK;
}

/* Transforms of complex numbers, of real ones to complex ones, and back. */
static joist_status infer_spectrum(struct decision *d, struct joist_error *error) {
  joist_status status = join_from(d, 0, error);
  if (status == JOIST_OK) status = apply_fact(d, error);
  if (status != JOIST_OK) return status;
  d->promoted = d->result;
  const joist_dtype parts = joist_dtype_complex(d->result.dtype);
  const bool real = d->op != JOIST_OP_IRFFT && d->result.dtype != parts;
  read_all_in(d, real ? joist_dtype_real(parts) : parts);
  d->result.dtype = d->op == JOIST_OP_IRFFT ? joist_dtype_real(parts) : parts;
  return JOIST_OK;
}

static joist_status infer_predicate(struct decision *d, struct joist_error *error) {
  const joist_status status = join_from(d, 0, error);
  d->result = (struct joist_type){JOIST_BOOL, false};
  return status;
}

bool joist_literal_beyond(const struct joist_operand *operand, joist_dtype dtype) {
  if (!operand->literal || !(operand->has_range || operand->has_nan)) return false;
  if (is_inexact(dtype)) {
    return (operand->has_nan && !joist_dtype_has_nan(dtype)) ||
           (operand->has_infinity && !joist_dtype_has_infinity(dtype)) ||
           (isfinite(operand->low) && operand->low < joist_dtype_min_float(dtype)) ||
           (isfinite(operand->high) && operand->high > joist_dtype_max_float(dtype));
  }
  return operand->low < (double)joist_dtype_min_int(dtype) ||
         operand->high > (double)joist_dtype_max_int(dtype);
}

/* The dtype that holds both the values of `dtype` and literals beyond them, as far as
 * a comparison needs to tell. */
static joist_dtype wide_enough(joist_dtype dtype) {
  if (joist_dtype_category(dtype) == JOIST_CATEGORY_COMPLEX) return JOIST_C128;
  return is_inexact(dtype) || dtype == JOIST_UI64 ? JOIST_F64 : JOIST_I64;
}

/* The dtype that holds the values of an operand: of an R number, whatever it is. */
static joist_dtype values_of(const struct joist_operand *operand) {
  static const joist_dtype dtypes[JOIST_CATEGORY_COUNT] = {JOIST_BOOL, JOIST_I32, JOIST_F64,
                                                           JOIST_C128};
  const joist_dtype own = operand->type.dtype;
  return operand->literal ? dtypes[joist_dtype_category(own)] : own;
}

/* Whether the values of a literal are known to be some of an integer dtype, or of bool. */
static bool is_among(const struct joist_operand *literal, joist_dtype dtype) {
  return literal->has_range && literal->whole &&
         literal->low >= (double)joist_dtype_min_int(dtype) &&
         literal->high < 1 + (double)joist_dtype_max_int(dtype);
}

/* The dtype that holds the values of two integer dtypes, bool among them; JOIST_DTYPE_NONE if
 * there is none. */
static joist_dtype both_integers(joist_dtype lhs, joist_dtype rhs) {
  if (joist_dtype_min_int(rhs) < joist_dtype_min_int(lhs)) return both_integers(rhs, lhs);
  if (joist_dtype_max_int(rhs) <= joist_dtype_max_int(lhs)) return lhs;
  if (joist_dtype_min_int(rhs) == joist_dtype_min_int(lhs)) return rhs;
  for (unsigned bits = 8; bits <= 64; bits *= 2) {
    const joist_dtype dtype = joist_dtype_with(JOIST_KIND_INT, bits);
    if (joist_dtype_min_int(dtype) <= joist_dtype_min_int(lhs) &&
        joist_dtype_max_int(dtype) >= joist_dtype_max_int(rhs))
      return dtype;
  }
  return JOIST_DTYPE_NONE;
}

/* The order of integers does not depend on the rules: their exact values are compared, with one
 * another and with R numbers, and so are R numbers with one another. An R number of type integer
 * whose value is not known yet is expected to fit the dtype: the code that reads it later checks.
 * False for other operands. */
static bool read_exactly(struct decision *d) {
  const struct joist_operand *const lhs = &d->operands[0], *const rhs = &d->operands[1];
  const joist_dtype left = values_of(lhs), right = values_of(rhs);
  const struct joist_operand *const literal = lhs->literal ? lhs : rhs;
  const bool both = lhs->literal && rhs->literal;
  const joist_dtype wide = joist_dtype_category(left) > joist_dtype_category(right) ? left : right;
  const joist_dtype narrow = wide == left ? right : left;
  if (!is_inexact(wide)) {
    const joist_dtype integer = both_integers(left, right);
    const joist_dtype other = lhs->literal ? right : left;
    const bool unknown = !literal->has_range && other != JOIST_BOOL;
    if (literal->literal && !both && (unknown || is_among(literal, other))) {
      read_all_in(d, other);
    } else if (integer != JOIST_DTYPE_NONE) {
      read_all_in(d, integer);
    } else {
      d->operand[0] = joist_dtype_kind(left) == JOIST_KIND_UINT ? JOIST_UI64 : JOIST_I64;
      d->operand[1] = joist_dtype_kind(right) == JOIST_KIND_UINT ? JOIST_UI64 : JOIST_I64;
    }
    return true;
  }
  if (both) {
    read_all_in(d, wide);
    return true;
  }
  if (!literal->literal || is_inexact(narrow) || wide != values_of(literal)) return false;
  if (is_among(literal, narrow)) {
    read_all_in(d, narrow);
  } else if (joist_dtype_size(narrow) < sizeof(int64_t)) {
    read_all_in(d, wide);
  } else {
    d->operand[0] = left;
    d->operand[1] = right;
  }
  return true;
}

/* As join_from(). A narrow dtype and a literal without a common dtype are ordered where the dtype
 * that the former is computed in and the literal have one; then `exact` is set. */
static joist_status join_ordered(struct decision *d, bool *exact, struct joist_error *error) {
  const joist_status status = join_from(d, 0, error);
  *exact = false;
  if (status == JOIST_OK || d->count != 2 || d->operands[0].literal == d->operands[1].literal)
    return status;
  struct joist_operand computed[] = {d->operands[0], d->operands[1]};
  struct joist_type *const own = &computed[computed[0].literal ? 1 : 0].type;
  const joist_dtype dtype = joist_dtype_compute(own->dtype);
  *exact = own->dtype != dtype;
  own->dtype = dtype;
  if (!*exact ||
      joist_common_type(d->rules, JOIST_PAIR_COMMON, computed, 2, &d->result, NULL) != JOIST_OK)
    return status;
  d->promoted.dtype = JOIST_DTYPE_NONE;
  return JOIST_OK;
}

/* Rules that compute an integer and a float in double compare the numbers, too. */
static bool read_as_numbers(struct decision *d, joist_dtype joined) {
  if (!d->rules->mixed_in_double || joist_op_class(d->op) != JOIST_CLASS_COMPARE ||
      joist_dtype_category(joined) != JOIST_CATEGORY_INTEGER)
    return false;
  bool any_float = false;
  for (size_t k = 0; k < d->count; k++)
    any_float |= joist_dtype_category(d->operands[k].type.dtype) == JOIST_CATEGORY_FLOAT;
  if (!any_float) return false;
  for (size_t k = 0; k < d->count; k++) {
    const joist_dtype own = d->operands[k].type.dtype;
    const bool wide = joist_dtype_digits(own) > joist_dtype_digits(JOIST_F64);
    d->operand[k] = wide ? own : JOIST_F64;
  }
  d->promoted.dtype = JOIST_DTYPE_NONE;
  return true;
}

/* Joined, but so that every literal keeps its place in the order. */
static joist_status infer_ordered(struct decision *d, joist_dtype result,
                                  struct joist_error *error) {
  bool exact;
  const joist_status status = join_ordered(d, &exact, error);
  if (status != JOIST_OK) return status;
  const joist_dtype joined = d->result.dtype;
  d->result = (struct joist_type){result, false};
  if (read_as_numbers(d, joined)) return JOIST_OK;
  if (d->count == 2 && read_exactly(d)) {
    /* Two integers are compared exactly, without converting them. */
    const bool literal = d->operands[0].literal || d->operands[1].literal;
    const bool whole =
        !is_inexact(d->operands[0].type.dtype) && !is_inexact(d->operands[1].type.dtype);
    if (whole || (literal && is_inexact(joined))) d->promoted.dtype = JOIST_DTYPE_NONE;
    return JOIST_OK;
  }
  for (size_t k = 0; k < d->count; k++)
    exact |= joist_literal_beyond(&d->operands[k], joined) ||
             joist_literal_vanishes(&d->operands[k], joined);
  if (exact) read_all_in(d, wide_enough(joined));
  return JOIST_OK;
}

static joist_status infer_compare(struct decision *d, struct joist_error *error) {
  return infer_ordered(d, JOIST_BOOL, error);
}

static joist_status infer_position(struct decision *d, struct joist_error *error) {
  return infer_ordered(d, JOIST_I32, error);
}

/* Dtypes that have a join under the rules; bools need none. */
static joist_status infer_logical(struct decision *d, struct joist_error *error) {
  bool all_bool = true;
  for (size_t k = 0; k < d->count; k++) all_bool &= d->operands[k].type.dtype == JOIST_BOOL;
  const joist_status status = all_bool ? JOIST_OK : join_from(d, 0, error);
  d->promoted.dtype = JOIST_DTYPE_NONE;
  read_all_in(d, JOIST_BOOL);
  d->result = (struct joist_type){JOIST_BOOL, false};
  return status;
}

static joist_status infer_select(struct decision *d, struct joist_error *error) {
  const joist_status status = join_from(d, 1, error);
  d->operand[0] = JOIST_BOOL;
  return status;
}

/* The dtype that holds every R value of a category. */
static joist_dtype widest(joist_category category) {
  static const joist_dtype dtypes[JOIST_CATEGORY_COUNT] = {JOIST_BOOL, JOIST_I64, JOIST_F64,
                                                           JOIST_C128};
  return dtypes[category];
}

static joist_status check_requested(const struct decision *d, struct joist_error *error) {
  if (d->requested.dtype != JOIST_DTYPE_NONE) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_NEEDS_DTYPE, .op = joist_op_name(d->op));
}

/* A literal is still exact: it is read in full before it is cast. */
static joist_status infer_convert(struct decision *d, struct joist_error *error) {
  const joist_dtype own = d->operands[0].type.dtype;
  read_all_in(d, d->operands[0].literal ? widest(joist_dtype_category(own)) : own);
  d->result = d->requested;
  return check_requested(d, error);
}

static joist_status infer_bitcast(struct decision *d, struct joist_error *error) {
  const joist_dtype from = d->operands[0].type.dtype, to = d->requested.dtype;
  const joist_status status = check_requested(d, error);
  if (status != JOIST_OK) return status;
  read_all_in(d, from);
  d->result = d->requested;
  const bool same_size = joist_dtype_size(from) == joist_dtype_size(to);
  const bool truth = from == JOIST_BOOL || to == JOIST_BOOL;
  /* The bits of a dtype of fewer than 8 are also the lowest ones of a ui8. */
  const bool same_bits =
      from == JOIST_UI8 || to == JOIST_UI8 || joist_dtype_bits(from) == joist_dtype_bits(to);
  if (from == to || (same_size && same_bits && !truth)) return JOIST_OK;
  return JOIST_FAIL(error, same_size ? JOIST_E_BITCAST_BOOL : JOIST_E_BITCAST_SIZE,
                    .type = {{from, false}, {to, false}});
}

static joist_status infer_layout(struct decision *d, struct joist_error *error) {
  (void)error;
  for (size_t k = 0; k < d->count && k < JOIST_ELEMENT_OPERANDS; k++)
    d->operand[k] = d->operands[k].type.dtype;
  d->result = d->operands[0].type;
  return JOIST_OK;
}

/* What is of the first operand's dtype, or what the rules join to it, can take the place of its
 * elements, anything else is refused. */
static joist_status infer_assign(struct decision *d, struct joist_error *error) {
  const size_t last = d->count - 1;
  const struct joist_type own = d->operands[0].type, value = d->operands[last].type;
  const struct joist_operand pair[] = {d->operands[0], d->operands[last]};
  struct joist_type common = own;
  joist_status status = infer_layout(d, error);
  if (status == JOIST_OK && (pair[1].literal || value.dtype != own.dtype))
    status = common_type(d->rules, joist_op_told(d->op), JOIST_PAIR_ASSIGN, pair, &d->answered,
                         &common, error);
  if (status != JOIST_OK) return status;
  d->operand[last] = own.dtype;
  d->promoted = own;
  if (common.dtype == own.dtype) return JOIST_OK;
  const bool whole = pair[1].literal && joist_dtype_category(value.dtype) == JOIST_CATEGORY_FLOAT &&
                     joist_dtype_category(own.dtype) == JOIST_CATEGORY_INTEGER;
  return JOIST_FAIL(error, whole ? JOIST_E_ASSIGN_WHOLE : JOIST_E_ASSIGN,
                    .type = {value, {own.dtype, false}, {common.dtype, false}},
                    .text = {joist_quote(d->rules->id)});
}

/* A parameter that is a literal is exact, too. */
static joist_status infer_draw(struct decision *d, struct joist_error *error) {
  const joist_status status = check_requested(d, error);
  if (status != JOIST_OK) return status;
  const joist_dtype drawn = d->requested.dtype;
  read_all_in(d, drawn);
  d->result = d->requested;
  for (size_t k = 0; k < d->count && k < JOIST_ELEMENT_OPERANDS; k++) {
    const joist_dtype own = d->operands[k].type.dtype;
    const joist_category category = joist_dtype_category(own);
    d->operand[k] = d->operands[k].literal ? widest(category) : own;
    if (category == JOIST_CATEGORY_COMPLEX && joist_dtype_kind(drawn) != JOIST_KIND_COMPLEX)
      return JOIST_FAIL(error, JOIST_E_DRAW_COMPLEX, .op = joist_op_name(d->op),
                        .type = {{drawn, false}});
  }
  return JOIST_OK;
}

/* The dtype a reduction runs in: wide enough that only the result is rounded. */
static joist_dtype accumulator(joist_dtype dtype) {
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
    case JOIST_KIND_INT:
      return JOIST_I64;
    case JOIST_KIND_UINT:
      return JOIST_UI64;
    case JOIST_KIND_FLOAT:
      return JOIST_F64;
    case JOIST_KIND_COMPLEX:
      break;
  }
  return JOIST_C128;
}

/* The type of the only operand that counts or, if the function of the rules gives one, that. */
static joist_status own_type(struct decision *d, struct joist_error *error) {
  return joist_common_type_recorded(d->rules, joist_op_told(d->op), joist_op_pair(d->op),
                                    d->operands, 1, NULL, &d->answered, &d->result, error);
}

static joist_status infer_accumulate(struct decision *d, struct joist_error *error) {
  const bool asked = d->requested.dtype != JOIST_DTYPE_NONE;
  d->result = d->requested;
  joist_status status = asked ? JOIST_OK : own_type(d, error);
  if (!asked && status == JOIST_OK) status = apply_fact(d, error);
  if (status == JOIST_OK) read_all_in(d, accumulator(d->result.dtype));
  return status;
}

static joist_status infer_average(struct decision *d, struct joist_error *error) {
  const bool asked = d->requested.dtype != JOIST_DTYPE_NONE;
  joist_status status = asked ? JOIST_OK : own_type(d, error);
  if (!asked && status == JOIST_OK) status = apply_fact(d, error);
  if (status != JOIST_OK) return status;
  if (asked)
    d->result = d->requested;
  else
    d->promoted = d->result;
  read_all_in(d, accumulator(d->result.dtype));
  if (is_inexact(d->result.dtype)) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_MEAN_DTYPE, .type = {{d->result.dtype, false}});
}

static joist_status infer_extreme(struct decision *d, struct joist_error *error) {
  (void)error;
  d->result = d->operands[0].type;
  const bool reduces = d->op == JOIST_OP_REDUCE_MAX || d->op == JOIST_OP_REDUCE_MIN;
  if (reduces && d->rules->extremes_known) d->result.ambiguous = false;
  read_all_in(d, joist_dtype_compute(d->result.dtype));
  return JOIST_OK;
}

static joist_status infer_truth(struct decision *d, struct joist_error *error) {
  (void)error;
  d->result = (struct joist_type){JOIST_BOOL, false};
  read_all_in(d, JOIST_BOOL);
  return JOIST_OK;
}

/* Results whose dtype is not that of the class; see RESULT in ops.def. */
static void set_results(joist_op op, struct joist_type *results) {
  static const enum {
    OWN,
    REAL,
    COMPLEX,
    POSITION
  } stated[JOIST_OP_COUNT][JOIST_RESULTS_MAX] = {
#define RESULT(ID, K, HOW) [JOIST_OP_##ID][K] = HOW,
#include "core/program/ops.def"
  };
  for (int k = 0; k < JOIST_RESULTS_MAX; k++) {
    const joist_dtype own = results[k].dtype;
    if (stated[op][k] == REAL) results[k].dtype = joist_dtype_real(own);
    if (stated[op][k] == COMPLEX) results[k].dtype = joist_dtype_complex(own);
    if (stated[op][k] == POSITION) results[k] = (struct joist_type){JOIST_I32, false};
  }
}

static infer *const functions[JOIST_CLASS_COUNT] = {
    [JOIST_CLASS_JOIN] = infer_join,           [JOIST_CLASS_INEXACT] = infer_inexact,
    [JOIST_CLASS_REAL] = infer_real,           [JOIST_CLASS_ANGLE] = infer_angle,
    [JOIST_CLASS_PREDICATE] = infer_predicate, [JOIST_CLASS_COMPARE] = infer_compare,
    [JOIST_CLASS_LOGICAL] = infer_logical,     [JOIST_CLASS_SELECT] = infer_select,
    [JOIST_CLASS_CONVERT] = infer_convert,     [JOIST_CLASS_BITCAST] = infer_bitcast,
    [JOIST_CLASS_LAYOUT] = infer_layout,       [JOIST_CLASS_ACCUMULATE] = infer_accumulate,
    [JOIST_CLASS_EXTREME] = infer_extreme,     [JOIST_CLASS_AVERAGE] = infer_average,
    [JOIST_CLASS_TRUTH] = infer_truth,         [JOIST_CLASS_POSITION] = infer_position,
    [JOIST_CLASS_DRAW] = infer_draw,           [JOIST_CLASS_ASSIGN] = infer_assign,
    [JOIST_CLASS_SPECTRUM] = infer_spectrum,
};

joist_dtype joist_op_part_dtype(joist_op op, joist_dtype result) {
  const joist_class class = joist_op_class(op);
  return class == JOIST_CLASS_ACCUMULATE || class == JOIST_CLASS_AVERAGE
             ? accumulator(result)
             : joist_dtype_compute(result);
}

/* The error where an operation is not defined for a dtype. */
static joist_error_code undefined_code(joist_op op, joist_dtype dtype) {
  if (dtype == JOIST_BOOL && (op == JOIST_OP_SUB || op == JOIST_OP_NEGATE))
    return JOIST_E_NOT_DEFINED_BOOL;
  return !joist_op_has(op, JOIST_F64) && joist_op_has(op, JOIST_I32) ? JOIST_E_NOT_DEFINED_INTEGERS
                                                                     : JOIST_E_NOT_DEFINED;
}

/* Whether the sign, of which copies fill the byte of a narrower integer, counts as a bit. */
static bool counts_own_bits(joist_op op) {
  return op == JOIST_OP_POPCNT || op == JOIST_OP_SHIFT_RIGHT_LOGICAL;
}

/* Of integers of fewer than 8 bits, the dtype that has the same bits and no sign. */
static joist_dtype unsigned_of(joist_dtype dtype) {
  return joist_dtype_kind(dtype) == JOIST_KIND_INT && joist_dtype_bits(dtype) < 8
             ? joist_dtype_with(JOIST_KIND_UINT, joist_dtype_bits(dtype))
             : dtype;
}

joist_status joist_infer(const struct joist_rules *rules, joist_op op,
                         const struct joist_operand *operands, size_t count,
                         const struct joist_attributes *attributes,
                         struct joist_signature *signature, struct joist_error *error) {
  struct decision d = {.rules = rules,
                       .op = op,
                       .operands = operands,
                       .count = count,
                       .promoted = {JOIST_DTYPE_NONE, false},
                       .requested = joist_attribute_type(attributes)};
  const joist_status status = functions[joist_op_class(op)](&d, error);
  if (status != JOIST_OK) return status;
  /* In a SELECT the last operand is a branch. */
  const joist_class class = joist_op_class(op);
  const bool asked = class == JOIST_CLASS_DRAW ||
                     (class == JOIST_CLASS_JOIN && d.requested.dtype != JOIST_DTYPE_NONE);
  const bool compares = class == JOIST_CLASS_COMPARE || class == JOIST_CLASS_POSITION;
  const bool moves = class == JOIST_CLASS_LAYOUT || class == JOIST_CLASS_ASSIGN;
  const bool first = moves || (compares && is_inexact(d.operand[0]));
  const joist_dtype computed = asked ? d.result.dtype : first ? d.operand[0] : d.operand[1];
  signature->compute = joist_dtype_compute(counts_own_bits(op) ? unsigned_of(computed) : computed);
  signature->promoted = d.promoted;
  signature->rounds_float = d.rounds_float;
  signature->rounds = op == JOIST_OP_DIV && rules->quotients_rounded && !is_inexact(computed);
  for (int k = 0; k < JOIST_RESULTS_MAX; k++) signature->result[k] = d.result;
  set_results(op, signature->result);
  for (int k = 0; k < JOIST_ELEMENT_OPERANDS; k++) signature->operand[k] = d.operand[k];
  if (joist_op_has(op, signature->compute)) return JOIST_OK;
  const joist_dtype own = operands[0].type.dtype;
  return JOIST_FAIL(error, undefined_code(op, computed), .op = joist_op_name(op),
                    .type = {{joist_dtype_compute(own) == computed ? own : computed, false}});
}

bool joist_operand_promoted(joist_op op, size_t k, size_t count,
                            const struct joist_signature *signature) {
  const joist_class class = joist_op_class(op);
  const size_t first = class == JOIST_CLASS_SELECT   ? 1
                       : class == JOIST_CLASS_ASSIGN ? count - 1
                                                     : 0;
  return signature->promoted.dtype != JOIST_DTYPE_NONE && k >= first;
}

unsigned joist_operand_changes(joist_op op, const struct joist_operand *operand, size_t k,
                               size_t count, const struct joist_signature *signature) {
  if (operand->literal || !joist_operand_promoted(op, k, count, signature)) return 0;
  return joist_promotion_changes(operand->type, signature->promoted);
}
