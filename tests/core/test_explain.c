/* Explanations against the functions that decide: what is written down of a promotion is what the
 * promotion gives, for random operands under every rule set, and a cast gives what it says. */
#include "core/audit/explain.h"
#include "core/promotion/builtin_rules.h"
#include "core/types/error.h"
#include "core/types/loss.h"

#include "check.h"
#include "rules.h"

enum { MANY = 6 };

static uint32_t state = 2463534242u;
static uint32_t below(uint32_t n) { /* xorshift32: Marsaglia, J. Stat. Softw. 8(14), 2003 */
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % n;
}

static struct joist_operand random_operand(const struct joist_rules *rules) {
  static const double values[] = {0, 1, -1, 100, 200, 40000, 70000, 3e9, 1e30, 1e300};
  struct joist_operand x = {.type = {(joist_dtype)below(JOIST_DTYPE_COUNT), below(2) == 1},
                            .rank = (int)below(3)};
  x.literal = below(3) == 0;
  const joist_category category = joist_dtype_category(x.type.dtype);
  if (x.literal)
    x.type =
        (struct joist_type){(joist_dtype)rules->literal[category], category != JOIST_CATEGORY_BOOL};
  x.has_range = below(2) == 1;
  x.low = x.high = values[below(sizeof values / sizeof *values)];
  return x;
}

static bool same_type(struct joist_type a, struct joist_type b) {
  return a.dtype == b.dtype && a.ambiguous == b.ambiguous;
}

static bool is_cell(const struct joist_rules *rules, joist_pair pair,
                    const struct joist_promotion_step *step) {
  struct joist_type join;
  const bool defined = joist_promote_for(rules, pair, step->lhs, step->rhs, &join);
  return defined == step->defined && (!defined || same_type(join, step->result));
}

/* Every step of a lattice ends in the join of its sides; the first of two that are defined is what
 * the later one starts from. */
static void check_steps(const struct joist_rules *rules,
                        const struct joist_promotion_record *record, size_t count,
                        joist_status status, struct joist_type result, bool lacks) {
  CHECK(record->step_count <= 2 * count + 2);
  if (record->step_count == 0) return;
  for (size_t k = 0; k < record->step_count; k++) {
    const struct joist_promotion_step *const step = &record->steps[k];
    CHECK(step->defined == (k + 1 < record->step_count || status == JOIST_OK) || lacks);
    if (step->name == JOIST_STEP_TABLE)
      CHECK(is_cell(rules, JOIST_PAIR_COMMON, step) ||
            (rules->has_pairs[JOIST_PAIR_RANK_ZERO] && count == 2 &&
             is_cell(rules, JOIST_PAIR_RANK_ZERO, step)));
    if (step->name == JOIST_STEP_HIGHER) CHECK(same_type(step->result, step->lhs));
  }
  if (status == JOIST_OK) CHECK(same_type(record->steps[record->step_count - 1].result, result));
}

static void test_record(const struct joist_rules *rules) {
  for (int trial = 0; trial < 3000; trial++) {
    struct joist_operand operands[MANY];
    const size_t count = 1 + below(MANY);
    for (size_t k = 0; k < count; k++) operands[k] = random_operand(rules);
    struct joist_promotion_role roles[MANY];
    struct joist_promotion_step steps[2 * MANY + 2];
    struct joist_promotion_record record = {roles, steps, 0};
    struct joist_error error;
    struct joist_type plain = {JOIST_BOOL, false}, recorded = plain;
    const joist_status want =
        joist_common_type(rules, JOIST_PAIR_COMMON, operands, count, &plain, &error);
    bool answered;
    const joist_status got = joist_common_type_recorded(
        rules, "common", JOIST_PAIR_COMMON, operands, count, &record, &answered, &recorded, &error);
    CHECK(!answered);
    CHECK_INT(got, want);
    if (got == JOIST_OK) CHECK(same_type(recorded, plain));
    /* Under rules that look at ranks, a dtype that a library lacks is refused before any step. */
    bool lacks = false;
    for (size_t k = 0; k < count; k++) {
      struct joist_type own;
      lacks |= !joist_promote(rules, operands[k].type, operands[k].type, &own);
    }
    check_steps(rules, &record, count, got, recorded, lacks);
  }
}

/* What the operation would lose of tensors. */
static unsigned losses_of(joist_op op, const struct joist_operand *operands, size_t count,
                          const struct joist_signature *signature) {
  unsigned losses = 0;
  for (size_t k = 0; k < count; k++)
    if (joist_explain_reads(op, &operands[k], k))
      losses |= joist_conversion_loss(operands[k].type.dtype, joist_signature_operand(signature, k))
                    .losses;
  return losses;
}

static void test_casts(const struct joist_rules *rules, joist_op op, size_t arity) {
  const struct joist_attributes none = {.count = 0};
  for (int trial = 0; trial < 500; trial++) {
    struct joist_operand operands[3], scratch[3];
    for (size_t k = 0; k < arity; k++) operands[k] = random_operand(rules);
    struct joist_promotion_role roles[3];
    struct joist_promotion_step steps[8];
    struct joist_promotion_record record = {roles, steps, 0};
    struct joist_explanation x;
    struct joist_signature signature;
    struct joist_error error;
    joist_explain(rules, op, operands, arity, &none, scratch, &record, &x, &error);
    const joist_status status = joist_infer(rules, op, operands, arity, &none, &signature, &error);
    CHECK_INT(x.status, status);
    if (status == JOIST_OK) CHECK(same_type(signature.result[0], x.signature.result[0]));
    const bool fine = status == JOIST_OK && losses_of(op, operands, arity, &signature) == 0;
    if (fine) CHECK(!x.cast.found);
    if (!x.cast.found) continue;
    for (size_t k = 0; k < arity; k++) {
      const bool is_cast =
          x.cast.all ? joist_explain_reads(op, &operands[k], k) : k == x.cast.operand;
      if (!is_cast) continue;
      CHECK_INT(joist_conversion_loss(operands[k].type.dtype, x.cast.dtype).losses, 0);
      operands[k] = (struct joist_operand){.type = {x.cast.dtype, false}, .rank = operands[k].rank};
    }
    if (!CHECK(joist_infer(rules, op, operands, arity, &none, &signature, &error) == JOIST_OK))
      continue;
    CHECK(same_type(signature.result[0], x.cast.result));
    CHECK_INT(losses_of(op, operands, arity, &signature) == 0, x.cast.lossless);
  }
}

static void check_lost(joist_dtype from, joist_dtype to, const char *want) {
  struct joist_lost lost[JOIST_LOST_MAX];
  const size_t n = joist_explain_losses(from, to, lost);
  char got[256] = "";
  for (size_t k = 0; k < n; k++) {
    const size_t used = strlen(got);
    snprintf(got + used, sizeof got - used, "%s%s %s", k > 0 ? "; " : "", lost[k].what,
             lost[k].limit);
  }
  CHECK_STR(got, want);
}

static void test_limits(void) {
  check_lost(JOIST_I32, JOIST_F32, "whole 2^24");
  check_lost(JOIST_I64, JOIST_F16, "whole 2^11; infinite 65504");
  check_lost(JOIST_UI64, JOIST_I64, "wraps 2^63");
  check_lost(JOIST_I8, JOIST_UI16, "sign ");
  check_lost(JOIST_F64, JOIST_F32, "digits 24; infinite 3.40282e+38; small 2^-126");
  check_lost(JOIST_BF16, JOIST_F16, "infinite 65504; small 2^-14");
  check_lost(JOIST_C64, JOIST_I8, "saturates 2^7; fraction ; special ; imaginary ");
  check_lost(JOIST_F32, JOIST_BOOL, "value ");
  check_lost(JOIST_I32, JOIST_F64, "");
}

static void test_names(void) {
  CHECK_INT(joist_explain_op("+", 2), JOIST_OP_ADD);
  CHECK_INT(joist_explain_op("add", 2), JOIST_OP_ADD);
  CHECK_INT(joist_explain_op("-", 1), JOIST_OP_NEGATE);
  CHECK_INT(joist_explain_op("-", 2), JOIST_OP_SUB);
  CHECK_INT(joist_explain_op("add", 3), JOIST_OP_COUNT);
  CHECK_INT(joist_explain_op("convert", 1), JOIST_OP_COUNT);
  CHECK_INT(joist_explain_op("", 1), JOIST_OP_COUNT);
  CHECK_STR(joist_explain_class(JOIST_OP_EQ), "compare");
}

int main(void) {
  use_rules();
  for (size_t k = 0; k < joist_rules_count(); k++) {
    const struct joist_rules *const rules = joist_rules_at(k);
    test_record(rules);
    test_casts(rules, JOIST_OP_ADD, 2);
    test_casts(rules, JOIST_OP_SQRT, 1);
    test_casts(rules, JOIST_OP_EQ, 2);
    test_casts(rules, JOIST_OP_AND, 2);
    test_casts(rules, JOIST_OP_IFELSE, 3);
  }
  test_limits();
  test_names();
  return check_report("explain");
}
