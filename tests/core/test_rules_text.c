/* Rule sets as text: cells are what the text says, and text that somebody has changed never does
 * harm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/program/infer.h"
#include "core/promotion/builtin_rules.h"
#include "core/promotion/promote.h"
#include "core/promotion/rules_text.h"
#include "core/types/error.h"

#include "programs.h"
#include "rules.h"

static uint64_t state = 42;

static uint64_t draw(uint64_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % n;
}

/* All built-in sets can be read, and have the names of their files. */
static void test_built_in(void) {
  for (size_t k = 0; k < joist_rules_count(); k++) {
    struct joist_error error = {.position = 0};
    const struct joist_rules *rules, *again;
    if (!CHECK_INT(joist_rules_get(k, &rules, &error), JOIST_OK)) continue;
    CHECK_STR(rules->id, joist_rules_id(k));
    CHECK(rules_are_sound(rules));
    CHECK(joist_rules_get(k, &again, &error) == JOIST_OK && again == rules);
    CHECK(joist_rules_are_built_in(rules));
  }
  static struct joist_rules own;
  CHECK(!joist_rules_are_built_in(&own));
}

static joist_status read_string(struct joist_rules *rules, const char *text,
                                struct joist_error *error) {
  return joist_rules_read(rules, text, strlen(text), error);
}

static void test_cells(void) {
  static struct joist_rules rules;
  struct joist_error error;
  const char *const text =
      "# a comment\n# id: mine\n# literals: bool, i64, f64, c128\n# overflow: saturate\n"
      "# decides by: fitting literal\n"
      "operation,lhs,rhs,result\r\n"
      "common,i8,i8,i8\ncommon,i8,ui8,\"int, 128\"\ncommon,i8,i*,i8\ncommon,i8,b*,-\n\n"
      "divide,i8,i8,f32\npower,i8,i*,-\nsum,i8,,i8\nprod,i8,,huge\n";
  if (!CHECK_INT(read_string(&rules, text, &error), JOIST_OK)) return;
  const struct joist_type i8 = {JOIST_I8, false}, ui8 = {JOIST_UI8, false};
  struct joist_type result;
  CHECK(joist_promote(&rules, i8, i8, &result) && result.dtype == JOIST_I8);
  CHECK(joist_promote_for(&rules, JOIST_PAIR_DIVIDE, i8, i8, &result) && result.dtype == JOIST_F32);
  /* What a table does not list is common. */
  CHECK(joist_promote_for(&rules, JOIST_PAIR_POWER, i8, i8, &result) && result.dtype == JOIST_I8);
  CHECK(!joist_promote_for(&rules, JOIST_PAIR_POWER, i8, (struct joist_type){JOIST_I32, true},
                           &result));
  CHECK(joist_promote_for(&rules, JOIST_PAIR_MODULO, i8, i8, &result) && result.dtype == JOIST_I8);
  CHECK(!joist_promote_for(&rules, JOIST_PAIR_DIVIDE, i8, ui8, &result));
  CHECK(!joist_promote(&rules, i8, ui8, &result));
  const struct joist_operand operands[] = {{.type = i8, .rank = 1}, {.type = ui8, .rank = 1}};
  CHECK_INT(joist_common_type(&rules, JOIST_PAIR_COMMON, operands, 2, &result, &error),
            JOIST_ERROR_PROMOTION);
  CHECK_INT(error.code, JOIST_E_UNAVAILABLE);
  CHECK_STR(error.text[1].bytes, "int, 128");
  CHECK_INT(rules.facts[JOIST_FACT_SUM][JOIST_I8], JOIST_I8);
  CHECK(rules.facts[JOIST_FACT_PROD][JOIST_I8] >= JOIST_NODE_OWN);
  const struct joist_operand product = {.type = i8, .rank = 1};
  struct joist_attributes all = no_attributes;
  struct joist_signature signature;
  CHECK_INT(joist_infer(&rules, JOIST_OP_REDUCE_PROD, &product, 1, &all, &signature, &error),
            JOIST_ERROR_PROMOTION);
  CHECK_INT(error.code, JOIST_E_UNAVAILABLE_FACT);
  CHECK_STR(error.text[1].bytes, "huge");
  CHECK_INT(rules.beyond, JOIST_BEYOND_SATURATE);
  CHECK(rules.has_truths);
}

/* A literal beside integers: DuckDB, Polars, PyTensor and ClickHouse. */
static void test_literals(void) {
  static struct joist_rules rules;
  static const char *const common =
      "operation,lhs,rhs,result\ncommon,ui8,ui8,ui8\ncommon,ui8,i32,i32\ncommon,i32,ui8,i32\n"
      "common,ui8,ui16,ui16\ncommon,ui8,i*,ui8\ncommon,ui8,i64,i64\ncommon,i32,i32,i32\n"
      "common,ui16,ui16,ui16\ncommon,i64,i64,i64\ncommon,ui8,i8,i16\ncommon,ui8,i16,i16\n";
  static const struct {
    const char *policy;
    double value;
    joist_dtype want;
  } cases[] = {{"fitting literal", 255, JOIST_UI8},   {"fitting literal", 256, JOIST_I32},
               {"fitting literal", -1, JOIST_I32},    {"fitting literal", 3e9, JOIST_I64},
               {"smallest literal", 255, JOIST_UI8},  {"smallest literal", 300, JOIST_UI16},
               {"smallest literal", -1, JOIST_I16},   {"signed literal", 127, JOIST_I16},
               {"signed literal", 300, JOIST_I16},    {"unsigned literal", 255, JOIST_UI8},
               {"unsigned literal", 256, JOIST_UI16}, {"unsigned literal", -1, JOIST_I16}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[512];
    snprintf(text, sizeof text, "# decides by: %s\n%s", cases[k].policy, common);
    struct joist_error error;
    if (!CHECK_INT(read_string(&rules, text, &error), JOIST_OK)) continue;
    const struct joist_operand operands[] = {{.type = {JOIST_UI8, false}, .rank = 1},
                                             {.type = {JOIST_I32, true},
                                              .literal = true,
                                              .has_range = true,
                                              .whole = true,
                                              .low = cases[k].value,
                                              .high = cases[k].value}};
    struct joist_type result = {JOIST_DTYPE_NONE, false};
    CHECK_INT(joist_common_type(&rules, JOIST_PAIR_ADD, operands, 2, &result, &error), JOIST_OK);
    CHECK_INT(result.dtype, cases[k].want);
  }
}

/* `-` and `*` are as `+`, unless they have a table; a table lists what differs from that of `+`. */
static void test_differences(void) {
  static struct joist_rules rules;
  static const char *const text =
      "operation,lhs,rhs,result\ncommon,ui8,ui8,ui8\ncommon,ui8,i8,i8\nadd,ui8,ui8,ui16\n"
      "add,ui8,i8,i16\nsubtract,ui8,ui8,i16\n";
  static const struct {
    joist_pair pair;
    joist_dtype rhs, want;
  } cases[] = {{JOIST_PAIR_COMMON, JOIST_UI8, JOIST_UI8},
               {JOIST_PAIR_ADD, JOIST_UI8, JOIST_UI16},
               {JOIST_PAIR_SUBTRACT, JOIST_UI8, JOIST_I16},
               {JOIST_PAIR_SUBTRACT, JOIST_I8, JOIST_I16},
               {JOIST_PAIR_MULTIPLY, JOIST_UI8, JOIST_UI16}};
  struct joist_error error;
  if (!CHECK_INT(read_string(&rules, text, &error), JOIST_OK)) return;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct joist_type result = {JOIST_DTYPE_NONE, false};
    CHECK(joist_promote_for(&rules, cases[k].pair, (struct joist_type){JOIST_UI8, false},
                            (struct joist_type){cases[k].rhs, false}, &result));
    CHECK_INT(result.dtype, cases[k].want);
  }
}

/* Ranks: a table for an operand without dims, in either place. */
static void test_ranks(void) {
  static struct joist_rules rules;
  struct joist_error error;
  if (!CHECK_INT(
          read_string(&rules, "common,i8,i8,i8\ncommon,i16,i16,i16\nrank_zero,i8,i16,i8\n", &error),
          JOIST_OK))
    return;
  const struct joist_operand array = {.type = {JOIST_I8, false}, .rank = 1},
                             scalar = {.type = {JOIST_I16, false}, .rank = 0};
  const struct joist_operand turned[2][2] = {{array, scalar}, {scalar, array}};
  for (int k = 0; k < 2; k++) {
    struct joist_type result;
    CHECK_INT(joist_common_type(&rules, JOIST_PAIR_ADD, turned[k], 2, &result, &error), JOIST_OK);
    CHECK_INT(result.dtype, JOIST_I8);
  }
}

static void test_errors(void) {
  static struct joist_rules rules;
  static const struct {
    const char *text;
    size_t line;
  } cases[] = {{"common,i8,i8", 1},
               {"# id: a\ncommon,i8,i8,i8\nadd,i8,i8,i8,i8", 3},
               {"nonsense,i8,i8,i8", 1},
               {"common,i8,,i8", 1},
               {"common,,i8,i8", 1},
               {"sum,i8,i8,i8", 1},
               {"# colour: red\ncommon,i8,i8,i8", 1},
               {"# literals: bool, i64, f64\n", 1},
               {"# literals: bool, f64, f64, c128\n", 1},
               {"# id: 123456789012345678901234\n", 1},
               {"# decides by: chance\n", 1},
               {"# whole quotients: floored\n", 1},
               {"# guessed quantiles: truncated\n", 1},
               {"# order: i8, i8\n", 1},
               {"# dtypes: i8, huge\n", 1},
               {"# numbers: int, float\n", 1},
               {"published,i8,i8,i8\npublished,i8,i8,i16", 2},
               {"published,i8,,i8", 1},
               {"common,i8,i8,i8\ncommon,i8,i8,ui8", 2},
               {"common,i8,i8,-\ncommon,i8,i8,ui8", 2},
               {"add,i8,f*,i8\nadd,i8,i8,i8\nadd,i8,f*,f32", 3},
               {"add,i8,big,i8\nmodulo,i8,big,f32\nadd,i8,big,-", 3},
               {"sum,f*,,f64\nsum,big,,f64\nsum,f*,,f32", 3},
               {"sum,big,,f64\nsum,big,,f32", 2},
               {"common,i8,i8,\"i8", 1},
               {"common,i8,i8,a name of twenty-five byte", 1},
               {"", 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct joist_error error = {.position = 0};
    CHECK_INT(read_string(&rules, cases[k].text, &error), JOIST_ERROR_PROMOTION);
    CHECK_INT(error.code, JOIST_E_RULES_TEXT);
    CHECK_INT(error.position, cases[k].line);
  }
  struct joist_error error;
  CHECK_INT(read_string(&rules, "edge,a,b,\nedge,b,a,\n", &error), JOIST_ERROR_PROMOTION);
  CHECK_INT(error.code, JOIST_E_EDGE_CYCLE);
  /* A pair that a lattice refuses. */
  CHECK_INT(read_string(&rules, "edge,i8,i16,\ncommon,i8,i16,-\n", &error), JOIST_OK);
  struct joist_type result;
  CHECK(!joist_promote(&rules, (struct joist_type){JOIST_I8, false},
                       (struct joist_type){JOIST_I16, false}, &result));
}

/* What a table publishes, where operations use another result. */
static void test_published(void) {
  static struct joist_rules rules, used;
  struct joist_error error;
  const char *const text =
      "# literals: bool, i32, f32, c64\n# dtypes: i8, i32, i*, f*\n# numbers: int, \"a, b\", "
      "complex\n"
      "common,i8,i32,i32\ncommon,i8,i*,default i*\npublished,i8,i32,-\npublished,i8,i*,i32\n";
  if (!CHECK_INT(read_string(&rules, text, &error), JOIST_OK)) return;
  const struct joist_type i8 = {JOIST_I8, false}, i32 = {JOIST_I32, false};
  struct joist_type result;
  CHECK(joist_promote(&rules, i8, i32, &result) && result.dtype == JOIST_I32);
  CHECK_INT(joist_rules_table_entry(&rules, JOIST_I8, JOIST_I32), JOIST_NODE_NONE);
  joist_rules_as_used(&rules, &used);
  CHECK_INT(joist_rules_table_entry(&used, JOIST_I8, JOIST_I32), JOIST_I32);
  CHECK_STR(joist_rules_node_name(&rules, JOIST_NODE_WEAK_FLOAT), "a, b");
  static struct joist_rules_fact facts[JOIST_RULES_FACTS_MAX];
  size_t common = 0;
  for (size_t k = joist_rules_facts(&rules, facts); k-- > 0;)
    if (strcmp(facts[k].name, "common") == 0) {
      common++; /* that of i8 and i* differs by other defaults only */
      CHECK(facts[k].operand == JOIST_I8 && facts[k].other == JOIST_I32);
    } else {
      CHECK(facts[k].operand == JOIST_I8 || facts[k].operand == JOIST_I32 ||
            facts[k].operand == JOIST_NODE_AMBIGUOUS + JOIST_I32);
    }
  CHECK_INT(common, 1);
}

/* Quotes, and spaces and quotes within them. */
static void test_quotes(void) {
  static struct joist_rules rules;
  struct joist_error error;
  if (!CHECK_INT(read_string(&rules, "edge, \"a, \"\"b\"\" \" ,  c,\n", &error), JOIST_OK)) return;
  CHECK_STR(joist_rules_node_name(&rules, JOIST_NODE_OWN), "a, \"b\" ");
  CHECK_STR(joist_rules_node_name(&rules, JOIST_NODE_OWN + 1), "c");
}

/* Bytes that are changed, left out and doubled: an error or a sound set. */
static void test_damage(void) {
  static struct joist_rules rules;
  static const char text[] =
      "# id: mine\n# literals: bool, i64, f64, c128\n# dtypes: bool, i8, i64, i64?, f*\n"
      "# numbers: int, float, complex\n# order: i8, b*, i*, \"x, y\"\n# derived: sum, mean\n"
      "# small dtypes: unlisted\noperation,lhs,rhs,result\nedge,i8,i16,\nedge,i16,\"x, y\",\n"
      "common,b*,i*,default i*\ncommon,f*,default f*,default f*\npublished,i8,i16,-\n"
      "add,i8,i*,i16\nrank_zero,i8,i16,i8\nsum,i*,,i64\nmean,i8,,f32\n";
  const size_t size = sizeof text - 1;
  char *const damaged = malloc(size);
  for (int k = 0; k < 20000 && damaged != NULL; k++) {
    const size_t length = k % 3 == 0 ? draw(size) : size;
    memcpy(damaged, text, length);
    for (uint64_t n = draw(4) + 1; n > 0 && length > 0; n--)
      damaged[draw(length)] = (char)(draw(2) == 0 ? draw(256) : (uint64_t)text[draw(length)]);
    struct joist_error error;
    if (joist_rules_read(&rules, damaged, length, &error) == JOIST_OK)
      CHECK(rules_are_sound(&rules));
  }
  free(damaged);
}

/* Decides about sums and clamps, and counts what it is asked. */
static bool decide(const struct joist_rules *rules, const char *op, const uint8_t *nodes,
                   size_t count, int *node, const char **refusal) {
  ++*(int *)rules->function->context;
  *refusal = "too many";
  *node = count > 2 ? JOIST_NODE_NONE : nodes[count - 1];
  return strcmp(op, "add") == 0 || strcmp(op, "reduce_sum") == 0;
}

static void test_function(void) {
  static struct joist_rules rules;
  int asked = 0;
  const struct joist_rule_function function = {.ask = decide, .context = &asked};
  for (size_t k = 0; k < joist_rules_count(); k++)
    if (strcmp(joist_rules_id(k), "numpy") == 0) rules = *joist_rules_at(k);
  rules.function = &function;
  struct joist_error error;
  struct joist_signature signature;
  const struct joist_attributes none = no_attributes;
  struct joist_operand operands[40];
  for (int k = 0; k < 40; k++)
    operands[k] = (struct joist_operand){.type = {k == 0 ? JOIST_F64 : JOIST_I8, false}, .rank = 1};
  CHECK_INT(joist_infer(&rules, JOIST_OP_ADD, operands, 2, &none, &signature, &error), JOIST_OK);
  CHECK_INT(signature.result[0].dtype, JOIST_I8);
  CHECK_INT(joist_infer(&rules, JOIST_OP_MUL, operands, 2, &none, &signature, &error), JOIST_OK);
  CHECK_INT(signature.result[0].dtype, JOIST_F64);
  /* Not what the base makes of i8. */
  CHECK_INT(joist_infer(&rules, JOIST_OP_REDUCE_SUM, operands + 1, 1, &none, &signature, &error),
            JOIST_OK);
  CHECK_INT(signature.result[0].dtype, JOIST_I8);
  CHECK_INT(asked, 3);
  bool answered;
  struct joist_type result;
  for (size_t count = 3; count <= 40; count += 37) {
    CHECK_INT(joist_common_type_recorded(&rules, "add", JOIST_PAIR_COMMON, operands, count, NULL,
                                         &answered, &result, &error),
              JOIST_ERROR_PROMOTION);
    CHECK(answered);
    CHECK_INT(error.code, JOIST_E_RULE_REFUSES);
    CHECK_STR(error.text[1].bytes, "too many");
  }
  CHECK_INT(joist_rules_entry_for(&rules, JOIST_PAIR_ADD, JOIST_F64, JOIST_I8), JOIST_I8);
  CHECK_INT(joist_rules_table_entry(&rules, JOIST_F64, JOIST_I8), JOIST_F64);
}

int main(void) {
  struct joist_error error;
  CHECK_INT(joist_rules_init("nowhere", &error), JOIST_ERROR_PROMOTION);
  CHECK_INT(error.code, JOIST_E_RULES_FILE);
  CHECK_STR(error.text[0].bytes, "nowhere/anvil.csv");
  use_rules();
  test_built_in();
  test_cells();
  test_literals();
  test_differences();
  test_ranks();
  test_errors();
  test_published();
  test_quotes();
  test_damage();
  test_function();
  return check_report("rules_text");
}
