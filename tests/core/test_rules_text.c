/* Rule sets as text: what is written is read as the same set, cells are those that a second, slow
 * reader of this file finds, and text that somebody has changed never does harm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/program/infer.h"
#include "core/promotion/builtin_rules.h"
#include "core/promotion/promote.h"
#include "core/promotion/rules_text.h"
#include "core/types/error.h"

#include "programs.h"

static uint64_t state = 42;

static uint64_t draw(uint64_t n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % n;
}

/* Whether two sets decide alike. */
static void check_same(const struct joist_rules *a, const struct joist_rules *b) {
  CHECK_STR(a->id, b->id);
  CHECK_STR(a->source, b->source);
  CHECK_STR(a->version, b->version);
  CHECK_STR(a->url, b->url);
  CHECK_INT(a->policy, b->policy);
  CHECK_INT(a->beyond, b->beyond);
#define X(FIELD, KEY, OFF, ON) CHECK_INT(a->FIELD, b->FIELD);
  JOIST_CHOICES(X)
#undef X
  CHECK(memcmp(a->literal, b->literal, sizeof a->literal) == 0);
  CHECK(memcmp(a->pairs[JOIST_PAIR_COMMON], b->pairs[JOIST_PAIR_COMMON],
               sizeof a->pairs[JOIST_PAIR_COMMON]) == 0);
  for (int pair = JOIST_PAIR_COMMON + 1; pair < JOIST_PAIR_COUNT; pair++)
    for (int l = 0; l < JOIST_TYPE_COUNT; l++)
      for (int r = 0; r < JOIST_TYPE_COUNT; r++)
        CHECK_INT(joist_rules_entry_for(a, (joist_pair)pair, l, r),
                  joist_rules_entry_for(b, (joist_pair)pair, l, r));
  CHECK(memcmp(a->facts, b->facts, sizeof a->facts) == 0);
}

static void test_round_trips(void) {
  static struct joist_rules used, read, again;
  for (size_t k = 0; k < joist_rules_count(); k++) {
    joist_rules_as_used(joist_rules_at(k), &used);
    struct joist_text text = {0};
    joist_rules_write(&used, &text);
    struct joist_error error;
    if (CHECK(!text.failed) &&
        CHECK_INT(joist_rules_read(&read, text.data, text.length, &error), JOIST_OK)) {
      check_same(&used, &read);
      struct joist_text second = {0};
      joist_rules_write(&read, &second);
      CHECK_INT(joist_rules_read(&again, second.data, second.length, &error), JOIST_OK);
      check_same(&read, &again);
      CHECK(joist_rules_valid(&again, sizeof again));
      joist_text_free(&second);
    }
    joist_text_free(&text);
  }
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

/* A literal beside integers: DuckDB and Polars. */
static void test_literals(void) {
  static struct joist_rules rules;
  static const char *const common =
      "operation,lhs,rhs,result\ncommon,ui8,ui8,ui8\ncommon,ui8,i32,i32\ncommon,i32,ui8,i32\n"
      "common,ui8,ui16,ui16\ncommon,ui8,i*,ui8\ncommon,ui8,i64,i64\ncommon,i32,i32,i32\n"
      "common,ui16,ui16,ui16\ncommon,i64,i64,i64\n";
  static const struct {
    const char *policy;
    double value;
    joist_dtype want;
  } cases[] = {{"fitting literal", 255, JOIST_UI8},  {"fitting literal", 256, JOIST_I32},
               {"fitting literal", -1, JOIST_I32},   {"fitting literal", 3e9, JOIST_I64},
               {"smallest literal", 255, JOIST_UI8}, {"smallest literal", 300, JOIST_UI16},
               {"smallest literal", -1, JOIST_I16}};
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
               {"common,i8,i8,i8\ncommon,i8,i8,i8", 2},
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

/* Bytes that are changed, left out and doubled: an error or a valid set. */
static void test_damage(void) {
  static struct joist_rules rules;
  struct joist_text text = {0};
  joist_rules_write(joist_rules_find("jax"), &text);
  if (!CHECK(!text.failed)) return;
  char *const damaged = malloc(text.length);
  for (int k = 0; k < 3000 && damaged != NULL; k++) {
    const size_t length = k % 3 == 0 ? draw(text.length) : text.length;
    memcpy(damaged, text.data, length);
    for (uint64_t n = draw(4) + 1; n > 0 && length > 0; n--)
      damaged[draw(length)] = (char)(draw(2) == 0 ? draw(256) : (uint64_t)text.data[draw(length)]);
    struct joist_error error;
    if (joist_rules_read(&rules, damaged, length, &error) == JOIST_OK)
      CHECK(joist_rules_valid(&rules, sizeof rules));
  }
  free(damaged);
  joist_text_free(&text);
}

int main(void) {
  joist_rules_init();
  test_round_trips();
  test_cells();
  test_literals();
  test_ranks();
  test_errors();
  test_damage();
  return check_report("rules_text");
}
