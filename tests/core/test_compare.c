/* Comparisons against order on integers of 128 bits: every pair of integer dtypes, and integers
 * with R numbers, in both orders, under every built-in rule set. */
#include <math.h>

#include "core/cpu/engine.h"
#include "core/plan/plan.h"
#include "core/promotion/builtin_rules.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"

/* ISO C has no such type. */
__extension__ typedef __int128 wide;

static const joist_op operations[] = {JOIST_OP_EQ, JOIST_OP_NE, JOIST_OP_LT,
                                      JOIST_OP_LE, JOIST_OP_GT, JOIST_OP_GE};
static const joist_dtype integers[] = {JOIST_BOOL, JOIST_I8,   JOIST_I16,  JOIST_I32, JOIST_I64,
                                       JOIST_UI8,  JOIST_UI16, JOIST_UI32, JOIST_UI64};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Values around every limit and around 2^53, where doubles begin to leave integers out. */
static const wide limits[] = {0,
                              (wide)1 << 7,
                              (wide)1 << 8,
                              (wide)1 << 15,
                              (wide)1 << 16,
                              (wide)1 << 24,
                              (wide)1 << 31,
                              (wide)1 << 32,
                              (wide)1 << 53,
                              (wide)1 << 54,
                              ((wide)1 << 63) - 1024,
                              (wide)1 << 63,
                              ((wide)1 << 64) - 2048,
                              (wide)1 << 64};
enum { AROUND = 5, VALUES = 2 * (int)LENGTH(limits) * AROUND };

static wide value_at(size_t k) {
  const wide limit = limits[k / AROUND % LENGTH(limits)] + (wide)(k % AROUND) - AROUND / 2;
  return k < VALUES / 2 ? limit : -limit;
}

static bool holds(joist_dtype dtype, wide value) {
  return value >= joist_dtype_min_int(dtype) && value <= (wide)joist_dtype_max_int(dtype);
}

/* Those of the values that the dtype holds. */
static size_t elements_of(joist_dtype dtype, char *out, wide *values) {
  size_t n = 0;
  for (size_t k = 0; k < VALUES; k++) {
    if (!holds(dtype, value_at(k))) continue;
    const uint64_t bits = (uint64_t)value_at(k);
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &bits, out + n * joist_dtype_size(dtype));
    values[n++] = value_at(k);
  }
  return n;
}

static bool expected(joist_op op, int order) { /* 2: NaN */
  switch (op) {
    case JOIST_OP_EQ:
      return order == 0;
    case JOIST_OP_NE:
      return order != 0;
    case JOIST_OP_LT:
      return order == -1;
    case JOIST_OP_LE:
      return order == -1 || order == 0;
    case JOIST_OP_GT:
      return order == 1;
    default:
      return order == 1 || order == 0;
  }
}

/* One operand, as inference sees it, and its elements. */
struct side {
  struct joist_operand operand;
  const void *elements;
  size_t count;
};

/* Runs the comparison of a column with a row; false when the rules do not join them. */
static bool compare(const struct joist_rules *rules, joist_op op, const struct side *sides,
                    uint8_t *out) {
  const struct joist_shape shapes[] = {{1, {(uint32_t)sides[0].count}},
                                       {2, {1, (uint32_t)sides[1].count}}};
  const struct joist_shape column = {2, {(uint32_t)sides[0].count, 1}};
  const struct joist_argument arguments[] = {{sides[0].operand, column, 0},
                                             {sides[1].operand, shapes[1], 0}};
  static const struct joist_attributes none = {.count = 0};
  struct joist_inference inference;
  struct joist_error error;
  const joist_status found =
      joist_program_infer(rules, op, arguments, 2, &none, &inference, &error);
  if (found != JOIST_OK) {
    CHECK(found == JOIST_ERROR_PROMOTION);
    return false;
  }
  struct joist_program program;
  joist_program_init(&program);
  joist_value_id operands[2];
  const void *in[2];
  char *read[2];
  for (int k = 0; k < 2; k++) {
    const joist_dtype own = sides[k].operand.literal ? JOIST_F64 : sides[k].operand.type.dtype;
    /* A literal is read in the dtype that it is compared in. */
    const joist_dtype wanted =
        sides[k].operand.literal ? inference.signature.operand[k] : sides[k].operand.type.dtype;
    read[k] = malloc(sides[k].count * 16);
    joist_convert_find_portable(own, wanted)(sides[k].count, sides[k].elements, read[k]);
    in[k] = read[k];
    CHECK(joist_program_add_input(&program, (struct joist_type){wanted, false}, &arguments[k].shape,
                                  &operands[k], &error) == JOIST_OK);
  }
  struct joist_instruction i = joist_instruction_of(op, &inference, operands, 2, &none, 0);
  CHECK(joist_program_add(&program, &i, &inference, &error) == JOIST_OK);
  CHECK(joist_program_add_output(&program, i.result, &error) == JOIST_OK);
  struct joist_plan *plan = NULL;
  CHECK(joist_plan_make(&program, &plan, &error) == JOIST_OK);
  const struct joist_run run = {.threads = 1};
  void *outputs[] = {out};
  CHECK(joist_plan_run(plan, in, outputs, &run, &error) == JOIST_OK);
  joist_plan_free(plan);
  joist_program_clear(&program);
  free(read[0]);
  free(read[1]);
  return true;
}

static struct side tensor_of(joist_dtype dtype, const void *elements, size_t count) {
  return (struct side){{.type = {dtype, false}, .rank = 2}, elements, count};
}

static void test_integers(void) {
  static char left[VALUES * 8], right[VALUES * 8];
  static wide x[VALUES], y[VALUES];
  static uint8_t out[VALUES * VALUES];
  for (size_t r = 0; r < joist_rules_count(); r++)
    for (size_t a = 0; a < LENGTH(integers); a++)
      for (size_t b = 0; b < LENGTH(integers); b++) {
        const size_t n = elements_of(integers[a], left, x), m = elements_of(integers[b], right, y);
        const struct side sides[] = {tensor_of(integers[a], left, n),
                                     tensor_of(integers[b], right, m)};
        for (size_t o = 0; o < LENGTH(operations); o++) {
          if (!compare(joist_rules_at(r), operations[o], sides, out)) continue;
          size_t wrong = 0;
          for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++)
              wrong += out[j * n + i] != expected(operations[o], (x[i] > y[j]) - (x[i] < y[j]));
          CHECK(wrong == 0);
        }
      }
}

/* Where an integer stands to a double: by its whole part, then by its fraction. */
static int order_of(wide x, double y) {
  if (isnan(y)) return 2;
  if (isinf(y)) return y > 0 ? -1 : 1;
  const double whole = trunc(y);
  const wide number = (wide)whole;
  if (x != number) return x < number ? -1 : 1;
  return (whole > y) - (whole < y);
}

static void test_literals(void) {
  static char left[VALUES * 8];
  static wide x[VALUES];
  static uint8_t out[VALUES * (3 * VALUES + 3)];
  static double numbers[3 * VALUES + 3];
  size_t m = 0;
  for (size_t k = 0; k < VALUES; k++) {
    const double value = (double)value_at(k);
    numbers[m++] = value;
    numbers[m++] = value + 0.5;
    numbers[m++] = value - 0.25;
  }
  numbers[m++] = INFINITY;
  numbers[m++] = -INFINITY;
  numbers[m++] = NAN;
  for (size_t r = 0; r < joist_rules_count(); r++)
    for (size_t a = 0; a < LENGTH(integers); a++) {
      const struct joist_rules *const rules = joist_rules_at(r);
      const size_t n = elements_of(integers[a], left, x);
      const struct joist_type type = {(joist_dtype)rules->literal[JOIST_CATEGORY_FLOAT], true};
      const struct side tensor = tensor_of(integers[a], left, n);
      /* All at once, and each by itself with what is known of it. */
      for (size_t one = 0; one <= m; one++) {
        struct side literal = {{.type = type, .literal = true, .rank = 2}, numbers, m};
        if (one < m) {
          literal.elements = &numbers[one];
          literal.count = 1;
          literal.operand.has_range = !isnan(numbers[one]);
          literal.operand.low = literal.operand.high = numbers[one];
          literal.operand.whole = numbers[one] == floor(numbers[one]);
        }
        const double *const y = literal.elements;
        for (size_t o = 0; o < LENGTH(operations); o++) {
          const struct side sides[] = {tensor, literal}, turned[] = {literal, tensor};
          if (!compare(rules, operations[o], sides, out)) continue;
          size_t wrong = 0;
          for (size_t j = 0; j < literal.count; j++)
            for (size_t i = 0; i < n; i++)
              wrong += out[j * n + i] != expected(operations[o], order_of(x[i], y[j]));
          CHECK(wrong == 0);
          if (!compare(rules, operations[o], turned, out)) continue;
          wrong = 0;
          for (size_t j = 0; j < literal.count; j++)
            for (size_t i = 0; i < n; i++) {
              const int order = order_of(x[i], y[j]);
              wrong += out[i * literal.count + j] !=
                       expected(operations[o], order == 2 ? order : -order);
            }
          CHECK(wrong == 0);
        }
      }
    }
}

/* Comparisons that need no conversion do without: equal dtypes, and numbers that the dtype can
 * hold, are compared in that dtype. */
static void test_dtypes(void) {
  const struct joist_attributes none = {.count = 0};
  const struct joist_rules *const rules = joist_rules_at(0);
  for (size_t a = 0; a < LENGTH(integers); a++) {
    const struct joist_operand tensor = {.type = {integers[a], false}, .rank = 1};
    const struct joist_operand operands[] = {tensor, tensor, whole_literal(JOIST_F32, 1)};
    for (size_t k = 0; k < 2; k++) {
      struct joist_signature signature;
      CHECK(joist_infer(rules, JOIST_OP_LT, operands + k, 2, &none, &signature, NULL) == JOIST_OK);
      CHECK(signature.operand[0] == integers[a] && signature.operand[1] == integers[a]);
    }
  }
}

int main(void) {
  use_rules();
  test_integers();
  test_literals();
  test_dtypes();
  return check_report("compare");
}
