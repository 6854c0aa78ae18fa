/* The implicit promotions of every operation: what its class joins, and nothing that was asked
 * for. */
#include "core/program/infer.h"
#include "core/promotion/builtin_rules.h"
#include "core/promotion/change.h"

#include "programs.h"
#include "rules.h"

static const struct joist_type nothing = {JOIST_DTYPE_NONE, false};

static struct joist_type node(int k) {
  return (struct joist_type){(joist_dtype)(k % JOIST_DTYPE_COUNT), k >= JOIST_DTYPE_COUNT};
}

static struct joist_type joined(const struct joist_rules *rules,
                                const struct joist_operand *operands, size_t count) {
  struct joist_type type;
  CHECK(joist_common_type(rules, JOIST_PAIR_COMMON, operands, count, &type, NULL) == JOIST_OK);
  return type;
}

/* Replaces an integer type that cannot be the result: by the facts of the rule set's library or,
 * without a library, by the join with an R double. */
static struct joist_type by_fact(const struct joist_rules *rules, joist_op op,
                                 struct joist_type type) {
  /* Integers of fewer than 8 bits meet no float, but become one as i32 does. */
  const struct joist_type asked = {joist_dtype_is_word(type.dtype) ? type.dtype : JOIST_I32,
                                   type.ambiguous};
  const struct joist_operand pair[] = {
      {.type = asked, .rank = 1},
      {.type = {(joist_dtype)rules->literal[JOIST_CATEGORY_FLOAT], true}, .rank = 1}};
  const joist_fact fact = joist_op_fact(rules, op, type.dtype);
  if (fact == JOIST_FACT_COUNT || joist_dtype_category(type.dtype) >= JOIST_CATEGORY_FLOAT)
    return type;
  if (!rules->has_facts[JOIST_FACT_INEXACT] && fact != JOIST_FACT_POWER)
    return joined(rules, pair, 2);
  CHECK(joist_fact_apply(rules, fact, &type, NULL));
  return type;
}

/* The type that operand k is promoted to. */
static struct joist_type promoted(const struct joist_rules *rules, joist_op op,
                                  const struct joist_operand *operands, size_t count, size_t k,
                                  bool asked) {
  switch (joist_op_class(op)) {
    case JOIST_CLASS_COMPARE:
    case JOIST_CLASS_POSITION: /* two integers are compared exactly */
      if (count == 2 && joist_dtype_category(operands[0].type.dtype) < JOIST_CATEGORY_FLOAT &&
          joist_dtype_category(operands[1].type.dtype) < JOIST_CATEGORY_FLOAT)
        return nothing;
      return joined(rules, operands, count);
    case JOIST_CLASS_REAL:
    case JOIST_CLASS_PREDICATE:
      return joined(rules, operands, count);
    case JOIST_CLASS_JOIN:
      if (asked) return nothing;
      if (op == JOIST_OP_MATMUL) return matrix_product_of(rules, joined(rules, operands, count));
      return by_fact(rules, op, joined(rules, operands, count));
    case JOIST_CLASS_INEXACT:
    case JOIST_CLASS_SPECTRUM:
    case JOIST_CLASS_ANGLE:
      return by_fact(rules, op, joined(rules, operands, count));
    case JOIST_CLASS_AVERAGE:
      return asked ? nothing : by_fact(rules, op, operands[0].type);
    case JOIST_CLASS_SELECT:
      return k == 0 ? nothing : joined(rules, operands + 1, count - 1);
    case JOIST_CLASS_ASSIGN:
      return k + 1 == count ? operands[0].type : nothing;
    case JOIST_CLASS_LOGICAL:
    case JOIST_CLASS_TRUTH:
    case JOIST_CLASS_CONVERT:
    case JOIST_CLASS_BITCAST:
    case JOIST_CLASS_LAYOUT:
    case JOIST_CLASS_ACCUMULATE:
    case JOIST_CLASS_EXTREME:
    case JOIST_CLASS_DRAW:
    case JOIST_CLASS_COUNT:
      break;
  }
  return nothing;
}

static long inferred, changed;

static void check_op(const struct joist_rules *rules, joist_op op, size_t count, int a, int b,
                     bool asked) {
  struct joist_attributes attributes = {.count = 0};
  if (asked) joist_attributes_set_type(&attributes, (struct joist_type){JOIST_F64, false});
  const struct joist_operand operands[] = {
      {.type = node(a), .rank = 1}, {.type = node(b), .rank = 1}, {.type = node(b), .rank = 1}};
  struct joist_signature signature;
  if (joist_infer(rules, op, operands, count, &attributes, &signature, NULL) != JOIST_OK) return;
  inferred++;
  for (size_t k = 0; k < count; k++) {
    const struct joist_type to = promoted(rules, op, operands, count, k, asked);
    const unsigned want =
        to.dtype == JOIST_DTYPE_NONE ? 0 : joist_promotion_changes(operands[k].type, to);
    const unsigned got = joist_operand_changes(op, &operands[k], k, count, &signature);
    changed += want != 0;
    CHECK_MSG(got == want, "%s: nv_%s(%s, %s), operand %zu of %zu: want %u, got %u", rules->id,
              joist_op_name(op), joist_dtype_name(node(a).dtype), joist_dtype_name(node(b).dtype),
              k + 1, count, want, got);
    struct joist_operand literal = operands[k];
    literal.literal = true;
    CHECK(joist_operand_changes(op, &literal, k, count, &signature) == 0);
  }
}

static void test_every_op(void) {
  for (size_t r = 0; r < joist_rules_count(); r++)
    for (int op = 0; op < JOIST_OP_COUNT && !has_own_tables(joist_rules_at(r)); op++) {
      const struct joist_operation *const operation = joist_operation((joist_op)op);
      const bool may_ask = operation->attributes >> JOIST_ATTRIBUTE_DTYPE & 1;
      for (size_t n = operation->least > 0 ? operation->least : 1; n <= operation->most && n <= 3;
           n++)
        for (int a = 0; a < JOIST_TYPE_COUNT; a++)
          for (int b = 0; b < (n > 1 ? JOIST_TYPE_COUNT : 1); b++)
            for (int asked = 0; asked <= may_ask; asked++)
              check_op(joist_rules_at(r), (joist_op)op, n, a, b, asked);
    }
  CHECK(inferred > 100000 && changed > 10000);
}

/* A number beyond the dtype that it is compared in makes the comparison exact, not the tensor
 * wider. */
static void test_compared_exactly(void) {
  const struct joist_attributes none = {.count = 0};
  const struct joist_operand operands[] = {{.type = {JOIST_UI8, false}, .rank = 1},
                                           whole_literal(JOIST_I32, 300)};
  struct joist_signature signature;
  CHECK_INT(
      joist_infer(joist_rules_find("anvil"), JOIST_OP_LT, operands, 2, &none, &signature, NULL),
      JOIST_OK);
  CHECK_INT(signature.operand[0], JOIST_I32);
  CHECK_INT(joist_operand_changes(JOIST_OP_LT, &operands[0], 0, 2, &signature), 0);
}

int main(void) {
  use_rules();
  test_every_op();
  test_compared_exactly();
  return check_report("operand changes");
}
