/* Inference of dtypes: every operation on every dtype under every rule set follows its
 * class, and names a kernel that exists. */
#include "core/program/infer.h"
#include "core/types/loss.h"

#include "core/kernels/kernels.h"
#include "core/promotion/builtin_rules.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"

static bool inexact(joist_dtype dtype) {
  return joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
}

static bool same_type(struct joist_type a, struct joist_type b) {
  return a.dtype == b.dtype && a.ambiguous == b.ambiguous;
}

static bool known_bool(struct joist_type type) {
  return type.dtype == JOIST_BOOL && !type.ambiguous;
}

static struct joist_type node(int k) {
  return (struct joist_type){(joist_dtype)(k % JOIST_DTYPE_COUNT), k >= JOIST_DTYPE_COUNT};
}

/* The type that a fact makes of a join; test_promote.c tests the facts. Without a library, a type
 * that is not yet a float is joined with the rule set's ambiguous float. */
static bool with_float(const struct joist_rules *rules, joist_fact fact, struct joist_type *type) {
  if (rules->has_facts[JOIST_FACT_INEXACT]) return joist_fact_apply(rules, fact, type, NULL);
  if (inexact(type->dtype)) {
    if (fact == JOIST_FACT_ANGLE) type->dtype = joist_dtype_real(type->dtype);
    return true;
  }
  struct joist_type same;
  const struct joist_operand own = {.type = *type, .rank = 1}, pair[2] = {own, own};
  if (joist_common_type(rules, JOIST_PAIR_COMMON, pair, 2, &same, NULL) != JOIST_OK) return false;
  /* Integers of fewer than 8 bits meet no float, but become one as i32 does. */
  if (!joist_dtype_is_word(type->dtype)) type->dtype = JOIST_I32;
  const struct joist_operand both[2] = {
      {.type = *type, .rank = 1},
      {.type = {(joist_dtype)rules->literal[JOIST_CATEGORY_FLOAT], true}, .rank = 1}};
  return joist_common_type(rules, JOIST_PAIR_COMMON, both, 2, type, NULL) == JOIST_OK;
}

/* Which fact an operation asks for. */
static joist_fact fact_of(joist_op op) {
  switch (joist_op_class(op)) {
    case JOIST_CLASS_ANGLE:
      return JOIST_FACT_ANGLE;
    case JOIST_CLASS_AVERAGE:
      return JOIST_FACT_MEAN;
    case JOIST_CLASS_ACCUMULATE:
      return joist_op_is_reduction(op) ? JOIST_FACT_SUM : JOIST_FACT_CUMSUM;
    default:
      return joist_op_is_array(op) ? JOIST_FACT_LINALG
             : op == JOIST_OP_DIV  ? JOIST_FACT_DIVIDE
                                   : JOIST_FACT_INEXACT;
  }
}

static struct { long ok, refused; } seen;

/* Why random numbers of a dtype cannot be drawn, or NULL. */
static const char *refused_draw(joist_op op, const struct joist_operand *operands, size_t count,
                                struct joist_type wanted) {
  const bool parts = joist_dtype_kind(wanted.dtype) == JOIST_KIND_COMPLEX;
  for (size_t k = 0; k < count && !parts; k++)
    if (joist_dtype_kind(operands[k].type.dtype) == JOIST_KIND_COMPLEX) return "complex parameter";
  return joist_op_has(op, joist_dtype_compute(wanted.dtype)) ? NULL
                                                             : "a dtype without such numbers";
}

static bool holds(joist_dtype dtype, joist_dtype values) {
  return joist_dtype_min_int(dtype) <= joist_dtype_min_int(values) &&
         joist_dtype_max_int(dtype) >= joist_dtype_max_int(values);
}

static bool is_value(joist_dtype dtype, double value) {
  const joist_dtype real = joist_dtype_real(dtype);
  const struct byte_format *const format = byte_format_of(real);
  if (!inexact(real))
    return value == trunc(value) && value >= (double)joist_dtype_min_int(real) &&
           value <= (double)joist_dtype_max_int(real);
  if (format == NULL) return true; /* of one byte: f16 has more digits and a larger range */
  const double nearest = byte_value(format, byte_nearest(format, value));
  return isnan(value) ? isnan(nearest) : nearest == value;
}

/* One value after the other, of bool and dtypes of a byte; other dtypes have more values. */
static bool has_all_of_byte(joist_dtype dtype, joist_dtype values) {
  const struct byte_format *const format = byte_format_of(values);
  if (joist_dtype_size(values) > 1) return false;
  if (format != NULL) {
    for (int code = 0; code < byte_codes(format); code++)
      if (!is_value(dtype, byte_value(format, code))) return false;
    /* bf16 and f32 have the powers of two of f8E8M0FNU, f16 does not. */
    return joist_dtype_real(dtype) != JOIST_F16 || format->special != POWERS;
  }
  for (int64_t k = joist_dtype_min_int(values); k <= (int64_t)joist_dtype_max_int(values); k++)
    if (!is_value(dtype, (double)k)) return false;
  return true;
}

/* Whether every value of one dtype is one of another. */
static bool has_all(joist_dtype dtype, joist_dtype values) {
  const joist_category wide = joist_dtype_category(dtype), own = joist_dtype_category(values);
  if (dtype == values) return true;
  if (is_small(dtype) || is_small(values)) return has_all_of_byte(dtype, values);
  if (own == JOIST_CATEGORY_BOOL) return true;
  if (own > wide) return false;
  if (wide == JOIST_CATEGORY_INTEGER) return holds(dtype, values);
  const joist_dtype to = joist_dtype_real(dtype), from = joist_dtype_real(values);
  if (own == JOIST_CATEGORY_INTEGER)
    return joist_dtype_max_int(values) <= UINT64_C(1) << joist_dtype_digits(to);
  return to == from || to == JOIST_F64 || (to == JOIST_F32 && from != JOIST_F64);
}

/* A dtype that is asked for instead of the join: nothing may be lost on the way to it. */
static const char *judge_asked(const struct joist_operand *operands, size_t arity,
                               struct joist_type requested, joist_status status,
                               const struct joist_signature *s) {
  bool all = true;
  for (size_t k = 0; k < arity; k++) all &= has_all(requested.dtype, operands[k].type.dtype);
  if (!all) return status == JOIST_ERROR_DTYPE ? NULL : "narrower than an operand";
  if (status != JOIST_OK || !same_type(s->result[0], requested)) return "not what is asked for";
  for (size_t k = 0; k < arity; k++)
    if (s->operand[k] != operands[k].type.dtype) return "an operand is converted";
  return s->compute == joist_dtype_compute(requested.dtype) ? NULL : "computed in another dtype";
}

/* Integers are compared as what they are, in one dtype where there is one for both. */
static const char *judge_integers(const struct joist_operand *operands,
                                  const struct joist_signature *s) {
  const joist_dtype own[] = {operands[0].type.dtype, operands[1].type.dtype};
  bool one = false;
  for (int d = JOIST_I8; d <= JOIST_UI64; d++)
    one |= holds((joist_dtype)d, own[0]) && holds((joist_dtype)d, own[1]);
  one |= own[0] == own[1];
  if (inexact(s->operand[0]) || inexact(s->operand[1])) return "integers in floats";
  if (!holds(s->operand[0], own[0]) || !holds(s->operand[1], own[1])) return "integers do not fit";
  if (own[0] == own[1] && s->operand[0] != own[0]) return "wider than needed";
  return one == (s->operand[0] == s->operand[1]) ? NULL : "operands differ";
}

/* Replaces the types of results that are not those of their operation's class, where they are
 * right; false if one is not. */
static bool take_stated(joist_op op, struct joist_type own, struct joist_signature *s) {
  static const struct {
    joist_op op;
    int result;
    enum { POSITION, REAL, COMPLEX } how;
  } stated[] = {
      {JOIST_OP_LU, 0, POSITION},      {JOIST_OP_SVD, 0, REAL},
      {JOIST_OP_EIGH, 0, REAL},        {JOIST_OP_EIG, 0, COMPLEX},
      {JOIST_OP_EIG, 1, COMPLEX},      {JOIST_OP_EIGVALS, 0, COMPLEX},
      {JOIST_OP_DETERMINANT, 1, REAL}, {JOIST_OP_SINGULAR_VALUES, 0, REAL},
  };
  for (size_t k = 0; k < sizeof stated / sizeof *stated; k++) {
    if (stated[k].op != op) continue;
    struct joist_type *const result = &s->result[stated[k].result], wanted = own;
    if (stated[k].how == REAL) wanted.dtype = joist_dtype_real(own.dtype);
    if (stated[k].how == COMPLEX) wanted.dtype = joist_dtype_complex(own.dtype);
    if (stated[k].how == POSITION) wanted = (struct joist_type){JOIST_I32, false};
    if (!same_type(*result, wanted)) return false;
    *result = own;
  }
  return true;
}

/* Returns what is wrong with the signature, or NULL. */
static const char *judge(const struct joist_rules *rules, joist_op op,
                         const struct joist_operand *operands, size_t arity,
                         struct joist_type requested, joist_status status,
                         const struct joist_signature *s) {
  const joist_class class = joist_op_class(op);
  const size_t select = class == JOIST_CLASS_SELECT;
  const bool asked = requested.dtype != JOIST_DTYPE_NONE;
  struct joist_type join = operands[0].type;
  bool joined = true, floated;
  if (class == JOIST_CLASS_ASSIGN) {
    const struct joist_operand pair[2] = {operands[0], operands[arity - 1]};
    /* What is of the own dtype always fits, whatever the rules join it to. */
    if (pair[1].type.dtype != pair[0].type.dtype)
      joined = joist_common_type(rules, JOIST_PAIR_COMMON, pair, 2, &join, NULL) == JOIST_OK;
    if (joined && join.dtype == operands[0].type.dtype &&
        !joist_op_has(op, joist_dtype_compute(join.dtype)))
      return status == JOIST_ERROR_DTYPE ? NULL : "of a dtype that it does not have";
    if (status != JOIST_OK)
      return status == JOIST_ERROR_PROMOTION && !(joined && join.dtype == operands[0].type.dtype)
                 ? NULL
                 : "can be assigned";
    return joined && join.dtype == operands[0].type.dtype &&
                   same_type(s->result[0], operands[0].type) && s->operand[0] == join.dtype &&
                   s->operand[arity - 1] == join.dtype &&
                   (arity < 3 || s->operand[1] == operands[1].type.dtype)
               ? NULL
               : "assign";
  }
  if (class == JOIST_CLASS_LAYOUT || class == JOIST_CLASS_DRAW) {
    const struct joist_type wanted = class == JOIST_CLASS_DRAW ? requested : operands[0].type;
    const char *const refusal =
        class == JOIST_CLASS_DRAW ? refused_draw(op, operands, arity, wanted) : NULL;
    if (refusal != NULL) return status == JOIST_ERROR_DTYPE ? NULL : refusal;
    if (status != JOIST_OK || !same_type(s->result[0], wanted)) return "layout";
    for (size_t k = 0; k < arity; k++)
      if (s->operand[k] != operands[k].type.dtype) return "layout converts an operand";
    return NULL;
  }
  if (class == JOIST_CLASS_JOIN && asked) return judge_asked(operands, arity, requested, status, s);
  if (arity > 1)
    joined = joist_common_type(rules, JOIST_PAIR_COMMON, operands + select, arity - select, &join,
                               NULL) == JOIST_OK;
  if (joined && op == JOIST_OP_MATMUL) join = matrix_product_of(rules, join);
  struct joist_type float_join = join;
  const bool transforms = class == JOIST_CLASS_SPECTRUM && inexact(join.dtype);
  floated = joined && with_float(rules, transforms ? JOIST_FACT_INEXACT : fact_of(op), &float_join);
  const bool powers = op == JOIST_OP_POW || op == JOIST_OP_FLOORDIV || op == JOIST_OP_MOD ||
                      op == JOIST_OP_REMAINDER;
  const bool small = op == JOIST_OP_POW && joined && joist_dtype_bits(join.dtype) < 8 &&
                     !inexact(join.dtype) && join.dtype != JOIST_BOOL;
  if (joined && powers && (join.dtype == JOIST_BOOL || small) &&
      !joist_fact_apply(rules, JOIST_FACT_POWER, &join, NULL))
    return status == JOIST_ERROR_DTYPE || (small && status == JOIST_ERROR_PROMOTION)
               ? NULL
               : "a power of bool";
  const bool sums = class == JOIST_CLASS_ACCUMULATE && rules->has_facts[JOIST_FACT_INEXACT];
  if (sums && !asked && !floated) return status == JOIST_ERROR_PROMOTION ? NULL : "a sum";
  if (status != JOIST_OK) {
    if (status != JOIST_ERROR_PROMOTION && status != JOIST_ERROR_DTYPE) return "unexpected status";
    if (status == JOIST_ERROR_PROMOTION && joined && floated) return "there is a common dtype";
    return NULL;
  }
  const bool all_bool = class == JOIST_CLASS_LOGICAL && arity == 2 &&
                        operands[0].type.dtype == JOIST_BOOL &&
                        operands[1].type.dtype == JOIST_BOOL;
  if (!joined && !all_bool) return "there is no common dtype";
  if (s->result[0].dtype >= JOIST_DTYPE_COUNT || s->compute >= JOIST_DTYPE_COUNT) return "no dtype";
  const bool compares =
      class == JOIST_CLASS_COMPARE || (class == JOIST_CLASS_POSITION && arity == 2);
  if (compares && !inexact(operands[0].type.dtype) && !inexact(operands[1].type.dtype))
    return judge_integers(operands, s);
  for (size_t k = select; k < arity; k++)
    if (s->operand[k] != s->operand[arity - 1]) return "operands differ";
  /* Bits of a narrow integer are counted and shifted without copies of its sign. */
  const bool bits = op == JOIST_OP_POPCNT || op == JOIST_OP_SHIFT_RIGHT_LOGICAL;
  joist_dtype computed = joist_dtype_compute(s->operand[arity - 1]);
  if (bits && computed == JOIST_I8 && s->operand[arity - 1] != JOIST_I8) computed = JOIST_UI8;
  if (s->compute != computed) return "compute";
  const joist_dtype operand = s->operand[arity - 1];
  if (class != JOIST_CLASS_CONVERT && class != JOIST_CLASS_BITCAST && class != JOIST_CLASS_LAYOUT) {
    const bool folds = joist_op_is_reduction(op) || joist_op_is_array(op);
    const joist_op run = folds ? joist_op_combine(op) : op;
    if (!joist_op_has(op, s->compute)) return "no kind";
    if ((run != op || !folds) && joist_kernel_find(run, s->compute) == NULL) return "no kernel";
    const joist_dtype written = joist_op_result(op, s->compute);
    if (!folds && written != joist_dtype_compute(s->result[0].dtype) &&
        !(bits && written == JOIST_UI8))
      return "the kernel writes another dtype";
  }
  struct joist_signature plain = *s;
  if (!take_stated(op, float_join, &plain)) return "a result of another dtype than its class has";
  s = &plain;
  for (int k = 1; k < joist_operation(op)->results; k++)
    if (!same_type(s->result[k], s->result[0])) return "results differ";
  switch (class) {
    case JOIST_CLASS_JOIN:
      return same_type(s->result[0], join) && operand == join.dtype ? NULL : "join";
    case JOIST_CLASS_SELECT:
      return same_type(s->result[0], join) && operand == join.dtype && s->operand[0] == JOIST_BOOL
                 ? NULL
                 : "select";
    case JOIST_CLASS_INEXACT:
      return floated && same_type(s->result[0], float_join) && operand == float_join.dtype &&
                     (inexact(operand) || op == JOIST_OP_DIV)
                 ? NULL
                 : "inexact";
    case JOIST_CLASS_ANGLE:
      return floated && same_type(s->result[0], float_join) &&
                     operand == (inexact(join.dtype) ? join.dtype : float_join.dtype)
                 ? NULL
                 : "angle";
    case JOIST_CLASS_SPECTRUM: {
      const joist_dtype parts = joist_dtype_complex(float_join.dtype);
      const bool real = op == JOIST_OP_IRFFT;
      return floated && s->result[0].ambiguous == float_join.ambiguous &&
                     s->result[0].dtype == (real ? joist_dtype_real(parts) : parts)
                 ? NULL
                 : "spectrum";
    }
    case JOIST_CLASS_REAL:
      return s->result[0].dtype == joist_dtype_real(join.dtype) &&
                     s->result[0].ambiguous == join.ambiguous && operand == join.dtype
                 ? NULL
                 : "real";
    case JOIST_CLASS_PREDICATE:
    case JOIST_CLASS_COMPARE:
      return known_bool(s->result[0]) && operand == join.dtype ? NULL : "compare";
    case JOIST_CLASS_LOGICAL:
    case JOIST_CLASS_TRUTH:
      return known_bool(s->result[0]) && operand == JOIST_BOOL ? NULL : "logical";
    case JOIST_CLASS_CONVERT:
      return same_type(s->result[0], requested) ? NULL : "convert";
    case JOIST_CLASS_BITCAST:
      return same_type(s->result[0], requested) &&
                     joist_dtype_size(operand) == joist_dtype_size(requested.dtype)
                 ? NULL
                 : "bitcast";
    case JOIST_CLASS_POSITION:
      return s->result[0].dtype == JOIST_I32 && !s->result[0].ambiguous && operand == join.dtype
                 ? NULL
                 : "position";
    case JOIST_CLASS_LAYOUT:
    case JOIST_CLASS_ASSIGN:
    case JOIST_CLASS_DRAW:
    case JOIST_CLASS_COUNT:
      break;
    case JOIST_CLASS_ACCUMULATE:
      if (asked) return same_type(s->result[0], requested) ? NULL : "dtype asked for";
      if (sums) return same_type(s->result[0], float_join) ? NULL : "sum of a library";
      if (inexact(join.dtype))
        return same_type(s->result[0], join) &&
                       joist_dtype_size(operand) >= (joist_dtype_size(join.dtype) > 4 ? 8u : 4u)
                   ? NULL
                   : "sum of floats";
      return s->result[0].dtype ==
                     (joist_dtype_kind(join.dtype) == JOIST_KIND_UINT ? JOIST_UI64 : JOIST_I64)
                 ? NULL
                 : "sum of integers";
    case JOIST_CLASS_AVERAGE:
      if (!inexact(s->result[0].dtype)) return "mean is not a float";
      if (asked) return same_type(s->result[0], requested) ? NULL : "dtype asked for";
      return floated && same_type(s->result[0], float_join) ? NULL : "mean";
    case JOIST_CLASS_EXTREME:
      /* JAX gives the extreme of a weak array a strong dtype. */
      if (op == JOIST_OP_REDUCE_MAX || op == JOIST_OP_REDUCE_MIN) join.ambiguous &= !is_jax(rules);
      return same_type(s->result[0], join) ? NULL : "extreme";
  }
  return "no class";
}

static void check_infer(const struct joist_rules *rules, joist_op op, size_t count, int a, int b,
                        int c, struct joist_type requested) {
  const struct joist_attributes attributes = with_type(no_attributes, requested);
  const struct joist_operand operands[JOIST_ELEMENT_OPERANDS] = {
      {.type = node(a), .rank = 1}, {.type = node(b), .rank = 1}, {.type = node(c), .rank = 1}};
  struct joist_signature signature;
  struct joist_error error;
  memset(&signature, 0xff, sizeof signature);
  const joist_status status =
      joist_infer(rules, op, operands, count, &attributes, &signature, &error);
  const char *const wrong = judge(rules, op, operands, count, requested, status, &signature);
  CHECK_MSG(wrong == NULL, "%s %s(%s%s, %s, %s), the first %zu: %s", rules->id, joist_op_name(op),
            joist_dtype_name(node(a).dtype), node(a).ambiguous ? "?" : "",
            joist_dtype_name(node(b).dtype), joist_dtype_name(node(c).dtype), count,
            wrong == NULL ? "" : wrong);
  if (status == JOIST_OK)
    seen.ok++;
  else
    seen.refused++;
}

/* On `count` operands of every type. */
static void check_counted(const struct joist_rules *rules, joist_op op, size_t count, int step) {
  const joist_class class = joist_op_class(op);
  const bool asks =
      class == JOIST_CLASS_CONVERT || class == JOIST_CLASS_BITCAST || class == JOIST_CLASS_DRAW;
  const bool may_ask = joist_operation(op)->attributes >> JOIST_ATTRIBUTE_DTYPE & 1;
  const int types = JOIST_TYPE_COUNT;
  CHECK(may_ask || !asks);
  for (int a = 0; a < types; a++) {
    if (may_ask)
      for (int q = 0; q < types; q++) check_infer(rules, op, count, a, a, a, node(q));
    if (asks) continue;
    if (count == 1) check_infer(rules, op, count, a, a, a, none);
    for (int b = 0; b < types && count > 1; b++) {
      if (count == 2) check_infer(rules, op, count, a, b, b, none);
      for (int c = 0; c < types && count == 3; c += step)
        if (class != JOIST_CLASS_SELECT || a % 5 == 0) check_infer(rules, op, count, a, b, c, none);
    }
  }
}

/* Rule sets with tables of separate operations are compared with their files in R's tests. */
static void test_every_op(void) {
  for (size_t r = 0; r < joist_rules_count(); r++)
    for (int k = 0; k < JOIST_OP_COUNT && !has_own_tables(joist_rules_at(r)); k++) {
      const struct joist_operation *const operation = joist_operation((joist_op)k);
      /* Every triple once; the condition of ifelse only where it is first. */
      const int step = k != JOIST_OP_IFELSE && r > 0 ? 7 : 1;
      for (size_t count = operation->least; count <= operation->most && count <= 3; count++)
        check_counted(joist_rules_at(r), (joist_op)k, count, step);
    }
  CHECK(seen.ok > 100000 && seen.refused > 10000);
}

/* Spot checks of what the design promises, by name. */
static void check_result(const char *rules, joist_op op, struct joist_type a, struct joist_type b,
                         joist_dtype want, bool ambiguous) {
  const struct joist_operand operands[JOIST_ELEMENT_OPERANDS] = {
      {.type = a, .rank = 1}, {.type = b, .rank = 1}, {.type = b, .rank = 1}};
  struct joist_signature signature;
  const joist_status status =
      joist_infer(joist_rules_find(rules), op, operands, joist_operation(op)->least, &no_attributes,
                  &signature, NULL);
  if (want == JOIST_DTYPE_NONE) {
    CHECK_MSG(status != JOIST_OK, "%s: nv_%s() of %s works", rules, joist_op_name(op),
              joist_dtype_name(a.dtype));
    return;
  }
  if (!CHECK_INT(status, JOIST_OK)) return;
  CHECK_MSG(signature.result[0].dtype == want && signature.result[0].ambiguous == ambiguous,
            "%s: nv_%s() gives %s", rules, joist_op_name(op),
            joist_dtype_name(signature.result[0].dtype));
}

static void test_promises(void) {
  const struct joist_type i32 = {JOIST_I32, false}, i8 = {JOIST_I8, false},
                          ui8 = {JOIST_UI8, false}, f16 = {JOIST_F16, false},
                          boolean = {JOIST_BOOL, false}, c64 = {JOIST_C64, false},
                          c128 = {JOIST_C128, false}, literal = {JOIST_F32, true};
  check_result("anvil", JOIST_OP_DIV, i32, i32, JOIST_F32, true);
  check_result("numpy", JOIST_OP_DIV, i32, i32, JOIST_F64, false);
  check_result("anvil", JOIST_OP_ADD, i32, literal, JOIST_F32, true);
  check_result("anvil", JOIST_OP_ADD, boolean, boolean, JOIST_BOOL, false);
  check_result("anvil", JOIST_OP_SUB, boolean, boolean, JOIST_DTYPE_NONE, false);
  check_result("anvil", JOIST_OP_NEGATE, boolean, boolean, JOIST_DTYPE_NONE, false);
  check_result("anvil", JOIST_OP_LT, c64, c64, JOIST_DTYPE_NONE, false);
  check_result("anvil", JOIST_OP_REDUCE_SUM, i8, i8, JOIST_I64, false);
  check_result("anvil", JOIST_OP_REDUCE_SUM, ui8, ui8, JOIST_UI64, false);
  check_result("anvil", JOIST_OP_REDUCE_SUM, boolean, boolean, JOIST_I64, false);
  check_result("anvil", JOIST_OP_REDUCE_SUM, f16, f16, JOIST_F16, false);
  check_result("anvil", JOIST_OP_REDUCE_MAX, c64, c64, JOIST_DTYPE_NONE, false);
  check_result("anvil", JOIST_OP_ABS, c128, c128, JOIST_F64, false);
  check_result("anvil", JOIST_OP_EQ, literal, i32, JOIST_BOOL, false);
  check_result("anvil", JOIST_OP_SHIFT_LEFT, f16, f16, JOIST_DTYPE_NONE, false);
}

/* Where the library refuses integers, so do the rules, with the facts. */
static void test_refused_by_library(void) {
  const struct joist_operand operand = {.type = {JOIST_I32, false}, .rank = 1};
  struct joist_signature signature;
  struct joist_error error;
  CHECK_ERROR(joist_infer(joist_rules_find("torch"), JOIST_OP_REDUCE_MEAN, &operand, 1,
                          &no_attributes, &signature, &error),
              error, JOIST_E_NO_FACT);
  CHECK_INT(error.type[0].dtype, JOIST_I32);
  CHECK_STR(error.text[0].bytes, "torch");
}

/* A comparison with a literal beyond the dtype is computed in one that holds it. */
static void test_compare_literals(void) {
  const struct joist_rules *const rules = joist_rules_find("anvil");
  struct joist_operand operands[JOIST_ELEMENT_OPERANDS] = {{.type = {JOIST_UI8, false}, .rank = 1},
                                                           whole_literal(JOIST_I32, 300)};
  struct joist_signature signature;
  CHECK_INT(joist_infer(rules, JOIST_OP_LT, operands, 2, &no_attributes, &signature, NULL),
            JOIST_OK);
  CHECK_INT(signature.operand[0], JOIST_I32);
  operands[1].low = operands[1].high = 255;
  CHECK_INT(joist_infer(rules, JOIST_OP_LT, operands, 2, &no_attributes, &signature, NULL),
            JOIST_OK);
  CHECK_INT(signature.operand[0], JOIST_UI8);
  operands[1].low = operands[1].high = -1;
  CHECK_INT(joist_infer(rules, JOIST_OP_EQ, operands, 2, &no_attributes, &signature, NULL),
            JOIST_OK);
  CHECK_INT(signature.operand[0], JOIST_I32);
}

/* Narrow dtypes and R numbers that the rules do not join are ordered, but not added. */
static void test_narrow_literals(void) {
  const struct joist_rules *const rules = joist_rules_find("anvil");
  static const struct {
    joist_dtype dtype, literal, read;
    double value;
    const char *words;
  } cases[] = {{JOIST_I4, JOIST_F32, JOIST_F64, 1.5, "whole numbers as 1L"},
               {JOIST_UI2, JOIST_F32, JOIST_UI2, 3, "whole numbers as 1L"},
               {JOIST_UI2, JOIST_F32, JOIST_F64, 4, "whole numbers as 1L"},
               {JOIST_F8E4M3FN, JOIST_I32, JOIST_F64, 1, "integers as 1"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct joist_operand literal = whole_literal(cases[k].literal, cases[k].value);
    literal.whole = cases[k].value == floor(cases[k].value);
    const struct joist_operand tensor = {.type = {cases[k].dtype, false}, .rank = 1};
    struct joist_signature signature;
    struct joist_error error;
    for (int turned = 0; turned < 2; turned++) {
      const struct joist_operand operands[] = {turned ? literal : tensor,
                                               turned ? tensor : literal};
      CHECK_INT(joist_infer(rules, JOIST_OP_LT, operands, 2, &no_attributes, &signature, &error),
                JOIST_OK);
      CHECK_INT(signature.operand[0], cases[k].read);
      CHECK_INT(signature.operand[1], cases[k].read);
      CHECK_ERROR(joist_infer(rules, JOIST_OP_ADD, operands, 2, &no_attributes, &signature, &error),
                  error, JOIST_E_NO_COMMON_NUMBER);
      CHECK_STR(error.text[1].bytes, cases[k].words);
    }
  }
  /* Without a literal, and where no other literal helps. */
  const struct joist_operand pairs[][2] = {
      {{.type = {JOIST_I4, false}, .rank = 1}, {.type = {JOIST_F32, false}, .rank = 1}},
      {{.type = {JOIST_I4, false}, .rank = 1}, whole_literal(JOIST_C64, 1)}};
  for (int k = 0; k < 2; k++) {
    struct joist_signature signature;
    struct joist_error error;
    CHECK_ERROR(joist_infer(rules, JOIST_OP_ADD, pairs[k], 2, &no_attributes, &signature, &error),
                error, JOIST_E_NO_COMMON_DTYPE);
  }
}

/* ---- the table ---- */

static void test_names(void) {
  for (int k = 0; k < JOIST_OP_COUNT; k++) CHECK_INT(joist_op_parse(joist_op_name((joist_op)k)), k);
  CHECK_INT(joist_op_parse("no_such_op"), JOIST_OP_COUNT);
  CHECK_INT(joist_op_parse(""), JOIST_OP_COUNT);
  for (int k = 0; k < JOIST_ATTRIBUTE_COUNT; k++)
    CHECK_INT(joist_attribute_parse(joist_attribute_text((joist_attribute_name)k)), k);
  CHECK_INT(joist_attribute_parse("no_such_attribute"), JOIST_ATTRIBUTE_COUNT);
}

/* Whether the engine runs it without a kernel. */
static bool is_step(joist_op op) {
  return op == JOIST_OP_CONVERT || op == JOIST_OP_BITCAST || op == JOIST_OP_BROADCAST;
}

static void check_kinds(joist_op op, const struct joist_operation *o) {
  const bool array = o->family == JOIST_FAMILY_ARRAY;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype compute = joist_dtype_compute((joist_dtype)d);
    const bool kernel = joist_kernel_find(o->combine, compute) != NULL;
    CHECK_INT(joist_op_has(op, compute), o->kinds >> joist_dtype_kind((joist_dtype)d) & 1);
    if (o->family == JOIST_FAMILY_ELEMENTWISE && !is_step(op))
      CHECK_MSG(joist_op_has(op, compute) == kernel, "nv_%s() of %s: %s", o->name,
                joist_dtype_name((joist_dtype)d), kernel ? "a kernel" : "no kernel");
    else if (o->combine != op)
      CHECK_MSG(!joist_op_has(op, compute) || kernel, "nv_%s() of %s: nothing to combine with",
                o->name, joist_dtype_name((joist_dtype)d));
    else
      CHECK_MSG(!kernel, "nv_%s() has a kernel", o->name);
  }
  CHECK_INT(o->shape != NULL, array);
  CHECK_INT(o->run != NULL, array);
}

static void test_table(void) {
  for (int k = 0; k < JOIST_OP_COUNT; k++) {
    const joist_op op = (joist_op)k;
    const struct joist_operation *const o = joist_operation(op);
    int attributes = 0;
    for (uint32_t left = o->attributes; left > 0; left &= left - 1) attributes++;
    CHECK(attributes <= JOIST_ATTRIBUTES_MAX);
    CHECK((uint64_t)o->attributes >> JOIST_ATTRIBUTE_COUNT == 0);
    CHECK(o->least <= o->most && o->kinds != 0 && o->class < JOIST_CLASS_COUNT);
    const bool bodies = o->family == JOIST_FAMILY_REGIONS;
    CHECK(bodies ? o->results == 0 : o->results >= 1 && o->results <= JOIST_RESULTS_MAX);
    CHECK(bodies ? o->regions >= 1 : o->regions == 0);
    CHECK_INT(joist_op_is_array(op), bodies || o->family == JOIST_FAMILY_ARRAY);
    CHECK_INT(joist_op_is_reduction(op), o->family == JOIST_FAMILY_REDUCTION);
    if (!joist_op_is_array(op)) {
      CHECK(o->least >= 1 && o->most <= JOIST_ELEMENT_OPERANDS && o->least == o->most);
      CHECK_INT(o->results, 1);
      CHECK(joist_op_is_reduction(op) == (o->combine != op));
    }
    if (o->combine != op) {
      CHECK_INT(o->least, 1);
      CHECK_INT(joist_operation(o->combine)->least, 2);
      CHECK_INT(joist_operation(o->combine)->family, JOIST_FAMILY_ELEMENTWISE);
    }
    check_kinds(op, o);
  }
}

int main(void) {
  use_rules();
  test_names();
  test_table();
  test_every_op();
  test_promises();
  test_refused_by_library();
  test_compare_literals();
  test_narrow_literals();
  return check_report("ops");
}
