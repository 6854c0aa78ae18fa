/* Every published promotion table cell by cell, and what rank and value add to it. */
#include <math.h>

#include "core/promotion/builtin_rules.h"
#include "core/promotion/promote.h"
#include "csv.h"
#include "errors.h"
#include "rules.h"

static struct joist_error error;

static struct joist_type parse_type(const char *text) {
  char name[CSV_TEXT + 1];
  snprintf(name, sizeof name, "%.16s", text);
  const size_t length = strlen(name);
  const bool ambiguous = length > 0 && name[length - 1] == '?';
  if (ambiguous) name[length - 1] = '\0';
  return (struct joist_type){joist_dtype_parse(name, JOIST_STYLE_ANVIL), ambiguous};
}

static const char *type_text(struct joist_type type) {
  static char text[4][CSV_TEXT];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(text[turn], CSV_TEXT, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
  return text[turn];
}

/* The name of a type for a node of a table: i* is the rule set's default integer. */
static const char *node_type(const struct joist_rules *rules, const char *node) {
  static const char *const weak[] = {"", "i*", "f*", "c*"};
  for (int c = 1; c < 4; c++)
    if (strcmp(node, weak[c]) == 0)
      return type_text((struct joist_type){(joist_dtype)rules->literal[c], true});
  return node;
}

static const char *promote_text(const struct joist_rules *rules, const char *lhs, const char *rhs) {
  struct joist_type result;
  return joist_promote(rules, parse_type(lhs), parse_type(rhs), &result) ? type_text(result) : "-";
}

static const char *common_text(const struct joist_rules *rules, const char *lhs, const char *rhs,
                               int rank, bool literals) {
  const struct joist_type left = parse_type(lhs), right = parse_type(rhs);
  const struct joist_operand operands[] = {
      {.type = left, .rank = rank, .literal = literals && left.ambiguous},
      {.type = right, .rank = rank, .literal = literals && right.ambiguous},
  };
  struct joist_type result;
  if (joist_common_type(rules, JOIST_PAIR_COMMON, operands, 2, &result, &error) != JOIST_OK)
    return "-";
  return type_text(result);
}

static void compare(const char *id, const char *how, const char *lhs, const char *rhs,
                    const char *want, const char *got) {
  CHECK_MSG(strcmp(want, got) == 0, "%s, %s: %s x %s: want %s, got %s", id, how, lhs, rhs, want,
            got);
}

static bool order_matters(const struct joist_rules *rules, const char *lhs, const char *rhs) {
  /* NumPy 1.x does not treat pairs of numbers as tensors; covered below. */
  return (rules->policy == JOIST_BY_VALUE || rules->policy == JOIST_BY_LITERAL_VALUE) &&
         parse_type(lhs).ambiguous && parse_type(rhs).ambiguous;
}

/* A cell of a table by the names of its row and column; NULL if it has no such cell. */
static const char *cell_of(const struct csv *csv, const char *lhs, const char *rhs) {
  int row = 1, column = 1;
  while (row < csv->rows && strcmp(csv->cell[row][0], lhs) != 0) row++;
  while (column < csv->columns && strcmp(csv->cell[0][column], rhs) != 0) column++;
  return row < csv->rows && column < csv->columns ? csv->cell[row][column] : NULL;
}

/* What numpy.promote_types() of NumPy 2.4.6 with ml_dtypes 0.6.0 says of bf16, and
 * torch.result_type() of PyTorch 2.15.0 where the published table, of PyTorch 1.x, says something
 * else: NULL where they agree. */
static const char *since(const char *id, const char *lhs, const char *rhs) {
  static struct csv numpy;
  if (strcmp(id, "numpy") == 0 && (strcmp(lhs, "bf16") == 0 || strcmp(rhs, "bf16") == 0)) {
    CHECK(numpy.rows > 0 || csv_read("living/numpy_ml_dtypes.csv", &numpy));
    return cell_of(&numpy, lhs, rhs);
  }
  if (strcmp(id, "torch") != 0) return NULL;
  if (lhs[0] == rhs[0] && lhs[1] == '*' && rhs[1] == '*')
    return lhs[0] == 'f' ? "f32" : lhs[0] == 'c' ? "c64" : NULL;
  const char *const sides[] = {lhs, rhs};
  for (int side = 0; side < 2; side++) {
    const char *const wide = sides[side], *const other = sides[1 - side];
    if (strcmp(other, "c*") == 0 && strcmp(wide, "f16") == 0) return "c32";
    if (strcmp(other, "c*") == 0 && strcmp(wide, "bf16") == 0) return "bc32";
    if (strncmp(wide, "ui", 2) != 0 || strcmp(wide, "ui8") == 0) continue;
    if (strcmp(other, wide) == 0 || strcmp(other, "i*") == 0) return wide;
    if (strcmp(other, "f*") == 0) return "f32";
    if (strcmp(other, "c*") == 0) return "c64";
    if (other[0] == 'f' || strcmp(other, "bf16") == 0) return other;
  }
  return NULL;
}

static void test_table(const char *id, const char *file) {
  static struct csv csv;
  const struct joist_rules *rules = joist_rules_find(id);
  if (!CHECK_MSG(rules != NULL, "no rule set %s", id)) return;
  if (!CHECK_MSG(csv_read(file, &csv), "cannot read %s", file)) return;
  CHECK_INT(rules->published_count, csv.rows - 1);
  CHECK_STR(rules->id, id);
  for (int row = 1; row < csv.rows; row++) {
    const char *lhs = csv.cell[row][0];
    CHECK_STR(joist_rules_node_name(rules, rules->published[row - 1]), lhs);
    for (int column = 1; column < csv.columns; column++) {
      const char *rhs = csv.cell[0][column], *want = csv.cell[row][column];
      const int entry = joist_rules_table_entry(rules, joist_rules_node(rules, lhs),
                                                joist_rules_node(rules, rhs));
      compare(id, "table", lhs, rhs, want, joist_rules_node_name(rules, entry));
      const char *left = node_type(rules, lhs), *right = node_type(rules, rhs);
      const char *const living = since(id, lhs, rhs);
      const char *type = node_type(rules, living != NULL ? living : want);
      compare(id, "types", left, right, type, promote_text(rules, left, right));
      compare(id, "tensors", left, right, type, common_text(rules, left, right, 2, false));
      compare(id, "rank 0", left, right, type, common_text(rules, left, right, 0, false));
      if (!order_matters(rules, left, right))
        compare(id, "literals", left, right, type, common_text(rules, left, right, 1, true));
    }
  }
}

static bool is_small(const char *node) {
  const struct joist_type type = parse_type(node);
  return type.dtype != JOIST_DTYPE_NONE && type.dtype > JOIST_C128;
}

/* What living libraries say of dtypes of up to a byte, beside all others, cell by cell; "." where
 * they were not asked. `whole`: the library follows its published table, so its cells are printed.
 */
static void test_living(const char *id, const char *file, bool whole, int cells) {
  static struct csv csv;
  const struct joist_rules *rules = joist_rules_find(id);
  if (!CHECK_MSG(rules != NULL && csv_read(file, &csv), "no %s or %s", id, file)) return;
  int compared = 0;
  for (int row = 1; row < csv.rows; row++)
    for (int column = 1; column < csv.columns; column++) {
      const char *lhs = csv.cell[row][0], *rhs = csv.cell[0][column];
      const char *want = csv.cell[row][column];
      if (strcmp(want, ".") == 0) continue;
      compared++;
      const int entry = joist_rules_table_entry(rules, joist_rules_node(rules, lhs),
                                                joist_rules_node(rules, rhs));
      if (whole || is_small(lhs) || is_small(rhs))
        compare(id, "table", lhs, rhs, want, joist_rules_node_name(rules, entry));
      const char *left = node_type(rules, lhs), *right = node_type(rules, rhs);
      const char *type = node_type(rules, want);
      compare(id, "types", left, right, type, promote_text(rules, left, right));
      compare(id, "tensors", left, right, type, common_text(rules, left, right, 2, false));
      compare(id, "literals", left, right, type, common_text(rules, left, right, 1, true));
    }
  CHECK_INT(compared, cells);
}

/* jax.numpy.result_type() takes integers of 1 bit for bool, has no floats of 6 bits, and without
 * 64-bit dtypes shortens all to 32: those of its cells differ from its lattice, and from ours. */
static void test_jax_result_type(const char *id, const char *file, bool x32, int alike) {
  static struct csv csv;
  const struct joist_rules *rules = joist_rules_find(id);
  if (!CHECK_MSG(rules != NULL && csv_read(file, &csv), "no %s or %s", id, file)) return;
  static const char *const wide[] = {"i64", "ui64", "f64", "c128"};
  static const char *const other[] = {"int1", "uint1", "f6E2M3FN", "f6E3M2FN"};
  int compared = 0;
  for (int row = 1; row < csv.rows; row++)
    for (int column = 1; column < csv.columns; column++) {
      const char *lhs = csv.cell[row][0], *rhs = csv.cell[0][column];
      bool differs = false;
      for (int k = 0; k < 4; k++) {
        differs |= strcmp(lhs, other[k]) == 0 || strcmp(rhs, other[k]) == 0;
        differs |= x32 && (strcmp(lhs, wide[k]) == 0 || strcmp(rhs, wide[k]) == 0);
      }
      if (differs) continue;
      compared++;
      const char *left = node_type(rules, lhs), *right = node_type(rules, rhs);
      compare(id, "result_type", left, right, csv.cell[row][column],
              common_text(rules, left, right, 1, true));
    }
  CHECK_INT(compared, alike);
}

/* torch.result_type() of a tensor with dimensions and one without. */
static void test_torch_rank_zero(void) {
  static struct csv csv;
  const struct joist_rules *rules = joist_rules_find("torch");
  if (!CHECK(csv_read("living/torch_rank_zero.csv", &csv))) return;
  for (int row = 1; row < csv.rows; row++)
    for (int column = 1; column < csv.columns; column++) {
      const char *lhs = csv.cell[row][0], *rhs = csv.cell[0][column], *got = "-";
      const struct joist_operand operands[] = {{.type = parse_type(lhs), .rank = 1},
                                               {.type = parse_type(rhs)}};
      struct joist_type result;
      if (joist_common_type(rules, JOIST_PAIR_COMMON, operands, 2, &result, &error) == JOIST_OK)
        got = type_text(result);
      compare("torch", "rank 0", lhs, rhs, csv.cell[row][column], got);
    }
}

/* Under anvil and anvl, by what a small dtype is said to meet. */
static void test_anvil_small(void) {
  for (int a = 0; a < JOIST_TYPE_COUNT; a++)
    for (int b = 0; b < JOIST_TYPE_COUNT; b++) {
      const struct joist_type lhs = {(joist_dtype)(a % JOIST_DTYPE_COUNT), a >= JOIST_DTYPE_COUNT};
      const struct joist_type rhs = {(joist_dtype)(b % JOIST_DTYPE_COUNT), b >= JOIST_DTYPE_COUNT};
      const bool left = lhs.dtype > JOIST_C128, right = rhs.dtype > JOIST_C128;
      if (!left && !right) continue;
      const struct joist_type small = left ? lhs : rhs, other = left ? rhs : lhs;
      const bool same_category =
          joist_dtype_category(small.dtype) == joist_dtype_category(other.dtype);
      struct joist_type want = {JOIST_DTYPE_NONE, false};
      if (other.dtype == JOIST_BOOL) want = small;
      if (lhs.dtype == rhs.dtype)
        want = (struct joist_type){lhs.dtype, lhs.ambiguous && rhs.ambiguous};
      const bool gives_way = same_category || joist_dtype_kind(small.dtype) == JOIST_KIND_COMPLEX;
      if (left != right && other.ambiguous && !small.ambiguous && gives_way) want = small;
      char texts[3][CSV_TEXT + 2];
      snprintf(texts[0], sizeof texts[0], "%s", type_text(lhs));
      snprintf(texts[1], sizeof texts[1], "%s", type_text(rhs));
      const bool defined = want.dtype != JOIST_DTYPE_NONE;
      snprintf(texts[2], sizeof texts[2], "%s", defined ? type_text(want) : "-");
      const struct joist_rules *anvil = joist_rules_find("anvil"), *anvl = joist_rules_find("anvl");
      compare("anvil", "small", texts[0], texts[1], texts[2],
              promote_text(anvil, texts[0], texts[1]));
      want.ambiguous = false;
      snprintf(texts[2], sizeof texts[2], "%s", defined ? type_text(want) : "-");
      compare("anvl", "small", texts[0], texts[1], texts[2],
              promote_text(anvl, texts[0], texts[1]));
    }
}

/* Rule sets that leave small dtypes undefined. */
static void test_others(void) {
  static const char *const ids[] = {"jax_lax",     "numpy_legacy", "cupy",           "dask_legacy",
                                    "tensorflow",  "array_api",    "array_api_2024", "python",
                                    "option0",     "option1",      "option2",        "option3",
                                    "option3_bf16"};
  for (size_t k = 0; k < sizeof ids / sizeof *ids; k++)
    for (int a = 0; a < JOIST_TYPE_COUNT; a++)
      for (int b = 0; b < JOIST_TYPE_COUNT; b++) {
        if (a % JOIST_DTYPE_COUNT <= JOIST_C128 && b % JOIST_DTYPE_COUNT <= JOIST_C128) continue;
        const struct joist_rules *const rules = joist_rules_find(ids[k]);
        /* A guess is one of its category there. */
        const bool known =
            (a > JOIST_C128 && a < JOIST_DTYPE_COUNT) || (b > JOIST_C128 && b < JOIST_DTYPE_COUNT);
        if (known) CHECK_INT(rules->pairs[JOIST_PAIR_COMMON][a][b], JOIST_NODE_NONE);
      }
}

static void test_anvil_ambiguous(void) {
  static struct csv csv;
  const struct joist_rules *anvil = joist_rules_find("anvil");
  if (!CHECK(csv_read("anvil_ambiguous_x_known.csv", &csv))) return;
  for (int row = 1; row < csv.rows; row++) {
    for (int column = 1; column < csv.columns; column++) {
      char lhs[CSV_TEXT + 1], want[CSV_TEXT + 1];
      const char *rhs = csv.cell[0][column], *dtype = csv.cell[row][column];
      const bool ambiguous = strcmp(dtype, csv.cell[row][0]) == 0 && strcmp(dtype, rhs) != 0;
      snprintf(lhs, sizeof lhs, "%s?", csv.cell[row][0]);
      snprintf(want, sizeof want, "%s%s", dtype, ambiguous ? "?" : "");
      compare("anvil", "types", lhs, rhs, want, promote_text(anvil, lhs, rhs));
      compare("anvil", "types", rhs, lhs, want, promote_text(anvil, rhs, lhs));
    }
  }
}

struct fact {
  const char *id, *lhs, *rhs, *want;
};

static void test_pairs(void) {
  static const struct fact facts[] = {
      {"anvil", "i32?", "i64?", "i64?"},
      {"anvil", "i64?", "bf16?", "bf16?"},
      {"anvil", "f16?", "bf16?", "f32?"},
      {"anvil", "f64?", "c64", "c64"},
      {"anvil", "f64", "c64?", "c128"},
      {"anvil", "c128?", "f16", "c64"},
      {"anvil", "bool?", "bool?", "bool?"},
      {"anvl", "i32?", "i8", "i8"},
      {"anvl", "ui64", "i32?", "ui64"},
      {"anvl", "f32?", "i64", "f32"},
      {"anvl", "f64?", "f32", "f32"},
      {"anvl", "i32?", "bool", "i32"},
      {"anvl", "i32?", "i64?", "i64"},
      {"anvl", "c64?", "f64", "c128"},
      {"anvl", "ui64?", "i8?", "-"},
      {"jax", "i32?", "i8", "i8"},
      {"jax", "i32?", "bool", "i64?"},
      {"jax", "f32?", "i8", "f64?"},
      {"jax", "i8?", "i16?", "i16?"},
      {"jax", "i8?", "i8?", "i8?"},
      {"jax", "ui64?", "i64?", "f64?"},
      {"jax", "i32?", "f16?", "f16?"},
      {"jax", "bool?", "bool", "bool"},
      {"jax", "ui64", "i8", "f64?"},
      {"jax_x32", "ui32", "i8", "i32"},
      {"jax_x32", "ui32", "i64", "i64"},
      {"jax_x32", "ui64", "i8", "f32?"},
      {"jax_x32", "i8", "f32?", "f32?"},
      {"jax_lax", "f64?", "f64", "f64"},
      {"jax_lax", "f64?", "f32", "-"},
      {"tensorflow", "i32?", "i8", "-"},
      {"tensorflow", "i8", "i32?", "i8"},
      {"array_api", "bool", "bool", "bool"},
      {"array_api", "bool", "i8", "-"},
      {"array_api", "i64?", "i8", "-"},
      {"python", "i64?", "f64?", "f64?"},
      {"python", "i32", "i32", "-"},
      {"option1", "i16", "f16", "f32"},
      {"option2", "f64?", "i32", "f32"},
      {"option3", "i8", "f64?", "f64?"},
      {"option0", "bf16", "f32", "-"},
      {"option3_bf16", "bf16", "f16", "f32"},
      {"array_api_2024", "bool", "bool", "bool"},
      {"array_api_2024", "bool", "i64?", "-"},
      {"array_api_2024", "i8", "f64?", "-"},
      {"array_api_2024", "f32", "i64?", "f32"},
      {"array_api_2024", "f32", "c128?", "c64"},
      {"array_api_2024", "i8", "i64?", "i8"},
      {"array_api_2024", "f64", "c64", "c128"},
      {"array_api_2024", "f16", "f16", "-"},
  };
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    const struct joist_rules *rules = joist_rules_find(facts[i].id);
    if (!CHECK(rules != NULL)) continue;
    compare(facts[i].id, "types", facts[i].lhs, facts[i].rhs, facts[i].want,
            promote_text(rules, facts[i].lhs, facts[i].rhs));
  }
}

static const struct joist_rules *rules_now;

static struct joist_operand tensor(const char *type, int rank) {
  return (struct joist_operand){.type = parse_type(type), .rank = rank};
}

static struct joist_operand scalar(const char *type, double value) {
  return (struct joist_operand){
      .type = parse_type(type), .has_range = true, .low = value, .high = value};
}

static struct joist_operand range(int category, double low, double high) {
  return (struct joist_operand){
      .type = {(joist_dtype)rules_now->literal[category], category != JOIST_CATEGORY_BOOL},
      .literal = true,
      .has_range = true,
      .low = low,
      .high = high};
}

static struct joist_operand integer(double value) {
  return range(JOIST_CATEGORY_INTEGER, value, value);
}
static struct joist_operand number(double value) {
  return range(JOIST_CATEGORY_FLOAT, value, value);
}
static struct joist_operand imaginary(double value) {
  return range(JOIST_CATEGORY_COMPLEX, value, value);
}
static struct joist_operand logical(void) { return range(JOIST_CATEGORY_BOOL, 1, 1); }

#define COMMON(WANT, ...)                                             \
  check_common(__LINE__, WANT, (struct joist_operand[]){__VA_ARGS__}, \
               sizeof((struct joist_operand[]){__VA_ARGS__}) / sizeof(struct joist_operand))

static void check_common(int line, const char *want, const struct joist_operand *operands,
                         size_t count) {
  struct joist_type result;
  const char *got = "-";
  if (joist_common_type(rules_now, JOIST_PAIR_COMMON, operands, count, &result, &error) == JOIST_OK)
    got = type_text(result);
  check_count(strcmp(want, got) == 0, __FILE__, line, "%s: want %s, got %s", rules_now->id, want,
              got);
}

/* torch.result_type() of PyTorch. */
static void test_rank(void) {
  rules_now = joist_rules_find("torch");
  COMMON("i8", tensor("i8", 1), tensor("i64", 0));
  COMMON("f64", tensor("i8", 1), tensor("f64", 0));
  COMMON("f32", tensor("f32", 1), tensor("f64", 0));
  COMMON("f32", tensor("f64", 0), tensor("f32", 1));
  COMMON("f64", tensor("f64", 0), tensor("f32", 0));
  COMMON("f16", tensor("f16", 2), tensor("bf16", 0));
  COMMON("c32", tensor("f16", 2), tensor("c128", 0));
  COMMON("c128", tensor("f64", 2), tensor("c64", 0));
  COMMON("c64", tensor("c64", 1), tensor("f64", 0));
  COMMON("c128", tensor("i32", 1), tensor("c128", 0));
  COMMON("i32", tensor("bool", 1), tensor("i32", 0));
  COMMON("ui8", tensor("ui8", 1), integer(1000));
  COMMON("i64", tensor("bool", 1), integer(1));
  COMMON("f32", tensor("i64", 1), number(1.5));
  COMMON("f64", tensor("f64", 0), number(1.5));
  COMMON("f32", tensor("i64", 0), number(1.5));
  COMMON("bc32", tensor("bf16", 0), imaginary(1));
  COMMON("c128", tensor("f64", 3), imaginary(1));
  COMMON("i8", tensor("i8", 1), logical());
  COMMON("bool", tensor("bool", 0), logical());
  COMMON("i16", tensor("i16", 1), tensor("i64", 0), integer(5));
  COMMON("f32", tensor("i16", 1), tensor("i64", 0), number(5));
  COMMON("f32", tensor("i16", 1), number(1), number(2));
  COMMON("i32", integer(5), tensor("i8", 1), tensor("i32", 2), tensor("i64", 0));
  COMMON("ui16", tensor("ui16", 1), tensor("i8", 0));
  COMMON("-", tensor("bool", 1), tensor("ui16", 0));
  COMMON("-", tensor("ui16", 1), tensor("i8", 1));
  COMMON("ui32", tensor("ui32", 1), logical());
  COMMON("f32", number(1.5), number(2.5));
  COMMON("ui16", tensor("ui16", 1));
}

/* np.result_type() of NumPy 1.26. */
static void test_value(void) {
  static const char *const ids[] = {"numpy_legacy", "dask_legacy", "cupy"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    rules_now = joist_rules_find(ids[i]);
    COMMON("i8", tensor("i8", 1), integer(100));
    COMMON("i8", integer(100), tensor("i8", 1));
    COMMON("i8", tensor("i8", 1), integer(-128));
    COMMON("i16", tensor("i8", 1), integer(128));
    COMMON("i16", tensor("i8", 1), integer(200));
    COMMON("i32", tensor("i8", 1), integer(65535));
    COMMON("i64", tensor("i8", 1), integer(4294967295.0));
    COMMON("ui8", tensor("ui8", 1), integer(255));
    COMMON("ui16", tensor("ui8", 1), integer(300));
    COMMON("i16", tensor("ui8", 1), integer(-1));
    COMMON("f64", tensor("ui64", 1), integer(-1));
    COMMON("ui64", tensor("ui64", 1), integer(1));
    COMMON("i16", tensor("ui8", 1), range(JOIST_CATEGORY_INTEGER, -1, 200));
    COMMON("i64", tensor("bool", 1), integer(1));
    COMMON("f64", tensor("i8", 1), number(1.5));
    COMMON("f16", tensor("f16", 1), number(1.5));
    COMMON("f32", tensor("f16", 1), number(70000));
    COMMON("f32", tensor("f32", 1), number(1e30));
    COMMON("f64", tensor("f32", 1), number(1e300));
    COMMON("f16", tensor("f16", 1), number((double)INFINITY));
    COMMON("f16", tensor("f16", 1), integer(100));
    COMMON("f32", tensor("f16", 1), integer(40000));
    COMMON("c64", tensor("f32", 1), imaginary(1));
    COMMON("c128", tensor("f32", 1), imaginary(1e300));
    COMMON("c128", tensor("i32", 1), imaginary(1));
    COMMON("i8", tensor("i8", 1), logical());
    COMMON("i16", tensor("i8", 2), integer(200), integer(3));
    COMMON("f64", integer(1), number(2));
    COMMON("i8", tensor("i8", 1), tensor("i32?", 1));
    COMMON("-", tensor("bf16", 1), integer(1));
    COMMON("i64?", integer(1));
  }
  for (size_t i = 0; i < 2; i++) {
    rules_now = joist_rules_find(ids[i]);
    COMMON("i8", tensor("i8", 1), scalar("i64", 100));
    COMMON("i16", tensor("i8", 1), scalar("i64", 200));
    COMMON("f32", tensor("f32", 1), scalar("f64", 1));
    COMMON("f16", tensor("f16", 1), scalar("f16", 65504));
    COMMON("-", tensor("f16", 1), scalar("bf16", 1));
    COMMON("f64", tensor("i8", 1), scalar("f64", 1));
    COMMON("i64", scalar("i8", 1), scalar("i64", 1));
    COMMON("i64", scalar("i8", 1), integer(1));
    COMMON("i8", scalar("i8", 1), tensor("i32?", 1));
    COMMON("i64", tensor("i8", 1), tensor("i64", 0));
  }
  rules_now = joist_rules_find("cupy");
  COMMON("i64", tensor("i8", 1), scalar("i64", 100));
  COMMON("i8", scalar("i8", 1), integer(100));
  rules_now = joist_rules_find("numpy");
  COMMON("i8", tensor("i8", 1), integer(200));
  COMMON("i64", tensor("i8", 1), scalar("i64", 100));
}

static void test_undefined(void) {
  rules_now = joist_rules_find("array_api");
  COMMON("-", tensor("f32", 1), integer(1));
  CHECK_ERROR(JOIST_ERROR_PROMOTION, error, JOIST_E_NO_COMMON_DTYPE);
  CHECK_STR(type_text(error.type[0]), "f32");
  CHECK_STR(type_text(error.type[1]), "i64?");
  CHECK_STR(error.text[0].bytes, "array_api");
}

/* Default dtypes of literals, in the results that are one of them, too. */
static void test_literals(void) {
  static struct joist_rules rules;
  const uint8_t wrong[] = {JOIST_BOOL, JOIST_F32, JOIST_F32, JOIST_C64};
  const uint8_t right[] = {JOIST_BOOL, JOIST_I32, JOIST_F32, JOIST_C64};
  CHECK_ERROR(joist_rules_check_literals(wrong, &error), error, JOIST_E_DEFAULT_DTYPE);
  CHECK_STR(error.name[0], "integer");
  CHECK_STR(error.name[1], "integer");
  CHECK_INT(error.type[0].dtype, JOIST_F32);
  CHECK_INT(joist_rules_check_literals(right, &error), JOIST_OK);
  const char *const text =
      "# literals: bool, i32, f32, c64\ncommon,bool,i*,default i*\n"
      "common,i8,i*,i8\ncommon,i*,default f*,default f*\n";
  CHECK_INT(joist_rules_read(&rules, text, strlen(text), &error), JOIST_OK);
  CHECK_STR(promote_text(&rules, "bool", "i32?"), "i32");
  CHECK_STR(promote_text(&rules, "i8", "i32?"), "i8");
  CHECK_STR(promote_text(&rules, "i32?", "f32"), "f32");
  CHECK_STR(promote_text(&rules, "i32?", "f64"), "-");
}

static void test_nodes(void) {
  const struct joist_rules *jax = joist_rules_find("jax"), *anvil = joist_rules_find("anvil");
  CHECK_INT(joist_rules_node(jax, "i*"), JOIST_NODE_WEAK_INT);
  CHECK_INT(joist_rules_node(anvil, "i*"), JOIST_NODE_NONE);
  CHECK_INT(joist_rules_node(anvil, "f32?"), JOIST_NODE_AMBIGUOUS + JOIST_F32);
  CHECK_INT(joist_rules_node(anvil, "i1"), JOIST_BOOL);
  CHECK_INT(joist_rules_node(anvil, "float32?"), JOIST_NODE_AMBIGUOUS + JOIST_F32);
  CHECK_INT(joist_rules_node(anvil, ""), JOIST_NODE_NONE);
  CHECK_INT(joist_rules_node(anvil, "?"), JOIST_NODE_NONE);
  CHECK_INT(joist_rules_node(joist_rules_find("python"), "float"), JOIST_NODE_WEAK_FLOAT);
  CHECK_INT(joist_rules_node(joist_rules_find("python"), "f*"), JOIST_NODE_WEAK_FLOAT);
  const int entry = joist_rules_table_entry(jax, joist_rules_node(jax, "i32?"), JOIST_BOOL);
  CHECK_STR(joist_rules_node_name(jax, entry), "i64?");
  CHECK(joist_rules_find("nonesuch") == NULL);
  CHECK_STR(joist_rules_at(0)->id, "anvil");
  for (size_t i = 0; i < joist_rules_count(); i++) CHECK(strlen(joist_rules_at(i)->source) > 0);
}

/* Cell by cell what the libraries gave; ".": they have no such dtype. */
static void test_library_facts(void) {
  static struct csv csv;
  static const char *const names[JOIST_FACT_COUNT] = {
#define X(ID, NAME) NAME,
      JOIST_FACTS(X)
#undef X
  };
  if (!CHECK(csv_read("library_facts.csv", &csv))) return;
  size_t cells = 0;
  for (int row = 1; row < csv.rows; row++) {
    const char *const id = csv.cell[row][0];
    const struct joist_rules *const rules = joist_rules_find(id);
    if (!CHECK(rules != NULL)) continue;
    int fact = 0;
    while (fact < JOIST_FACT_COUNT && strcmp(names[fact], csv.cell[row][1]) != 0) fact++;
    if (!CHECK(fact < JOIST_FACT_COUNT)) continue;
    for (int column = 3; column < 3 + JOIST_DTYPE_COUNT; column++) {
      const char *want = csv.cell[row][column];
      if (strcmp(want, ".") == 0) continue;
      struct joist_type type = parse_type(csv.cell[0][column]);
      CHECK(type.dtype != JOIST_DTYPE_NONE);
      /* Where a library divides small integers as integers: an error. */
      const bool divides =
          fact == JOIST_FACT_DIVIDE || fact == JOIST_FACT_LINALG || fact == JOIST_FACT_MEAN;
      const bool whole = joist_dtype_category(type.dtype) == JOIST_CATEGORY_INTEGER;
      if (divides && strcmp(want, csv.cell[0][column]) == 0 && is_small(want) && whole) want = "-";
      type.ambiguous = strcmp(csv.cell[row][2], "weak") == 0;
      const bool defined = joist_fact_apply(rules, (joist_fact)fact, &type, NULL);
      compare(id, names[fact], csv.cell[0][column], csv.cell[row][2], want,
              defined ? type_text(type) : "-");
      cells++;
    }
  }
  CHECK(cells > 800);
}

static void test_user(void) {
  static struct joist_rules rules;
  const char *const from[] = {"small", "float", "i8", "i8?"}, *const to[] = {"float", "big", "i16",
                                                                             "i8"};
  CHECK_INT(rules_from_edges(&rules, "mine", from, to, 4, &error), JOIST_OK);
  CHECK_INT(joist_rules_node(&rules, "float"), JOIST_NODE_OWN + 1);
  const int entry = joist_rules_table_entry(&rules, joist_rules_node(&rules, "small"),
                                            joist_rules_node(&rules, "big"));
  CHECK_STR(joist_rules_node_name(&rules, entry), "big");
  CHECK_STR(promote_text(&rules, "i8?", "i16"), "i16");
  CHECK_STR(promote_text(&rules, "i16?", "i16"), "-");
  const char *const back[] = {"b", "c", "a", "d"}, *const forth[] = {"c", "a", "b", "a"};
  CHECK_ERROR(rules_from_edges(&rules, "mine", back, forth, 4, &error), error, JOIST_E_EDGE_CYCLE);
  CHECK_STR(error.text[0].bytes, "mine");
  CHECK_STR(error.text[1].bytes, "b -> c -> a -> b");
  const char *const self[] = {"b"};
  CHECK_ERROR(rules_from_edges(&rules, "mine", self, self, 1, &error), error, JOIST_E_EDGE_CYCLE);
  CHECK_STR(error.text[1].bytes, "b -> b");

  /* Too many names, and a name that is too long, are errors and not overflows. */
  enum { MANY = JOIST_NODE_MAX - JOIST_NODE_OWN + 9 };
  char names[MANY][8];
  const char *many[MANY], *top[MANY];
  for (int i = 0; i < MANY; i++) {
    snprintf(names[i], sizeof names[i], "n%d", i);
    many[i] = names[i];
    top[i] = "top";
  }
  CHECK_ERROR(rules_from_edges(&rules, "mine", many, top, MANY, &error), error, JOIST_E_NODE_COUNT);
  /* All but "top" and those before it had room. The first line is the id. */
  CHECK_STR(error.text[0].bytes, names[error.count[0] - 1]);
  CHECK_INT(error.position, error.count[0] + 1);
  /* As many as fit, where "top" is one of them: each is a node, and their joins are "top". */
  const int most = JOIST_NODE_MAX - JOIST_NODE_OWN - 1;
  CHECK_INT(most, 182);
  CHECK_INT(rules_from_edges(&rules, "mine", many, top, (size_t)most, &error), JOIST_OK);
  CHECK(rules_are_sound(&rules));
  CHECK_INT(rules.published_count, most + 1);
  for (int i = 0; i < most; i++)
    for (int k = 0; k < most; k++) {
      const int own = joist_rules_node(&rules, names[i]);
      const int joined = joist_rules_table_entry(&rules, own, joist_rules_node(&rules, names[k]));
      CHECK_INT(joined, i == k ? own : joist_rules_node(&rules, "top"));
    }
  const char *const lengthy[] = {"a-name-that-is-much-too-long"};
  CHECK_ERROR(rules_from_edges(&rules, "mine", lengthy, top, 1, &error), error, JOIST_E_RULES_TEXT);
  CHECK_STR(error.text[1].bytes, lengthy[0]);
  CHECK_ERROR(rules_from_edges(&rules, lengthy[0], many, top, 1, &error), error,
              JOIST_E_RULES_TEXT);
  CHECK_INT(error.position, 1);
  static const char *ends[JOIST_EDGE_MAX + 1];
  for (int i = 0; i <= JOIST_EDGE_MAX; i++) ends[i] = "b";
  CHECK_ERROR(rules_from_edges(&rules, "mine", ends, ends, JOIST_EDGE_MAX + 1, &error), error,
              JOIST_E_EDGE_COUNT);
  CHECK(error.count[0] == JOIST_EDGE_MAX + 1 && error.count[1] == JOIST_EDGE_MAX);
}

int main(void) {
  use_rules();
  test_table("anvil", "anvil_known.csv");
  test_table("anvl", "anvl_2026_known.csv");
  test_table("jax", "jax_docs.csv");
  test_table("jax", "jep9407_jax_numpy.csv");
  test_table("jax_lax", "jep9407_jax_lax.csv");
  test_table("numpy", "jep9407_numpy.csv");
  test_table("numpy_legacy", "jep9407_numpy.csv");
  test_table("cupy", "jep9407_numpy.csv");
  test_table("dask_legacy", "jep9407_numpy.csv");
  test_table("torch", "jep9407_pytorch.csv");
  test_table("tensorflow", "jep9407_tensorflow.csv");
  test_table("array_api", "array_api_issue.csv");
  test_living("jax", "living/jax_x64.csv", true, 35 * 35);
  test_living("jax_x32", "living/jax_x32.csv", true, 35 * 35);
  test_living("jax_strict", "living/jax_strict.csv", true, 35 * 35);
  test_living("jax_strict_x32", "living/jax_strict.csv", true, 35 * 35);
  test_living("numpy", "living/numpy_ml_dtypes.csv", false, 37 * 37 - 9);
  test_living("torch", "living/torch.csv", false, 32 * 32 - 9);
  test_jax_result_type("jax", "living/jax_result_x64.csv", false, 31 * 31);
  test_jax_result_type("jax_x32", "living/jax_result_x32.csv", true, 27 * 27);
  test_jax_result_type("jax_strict", "living/jax_result_strict_x64.csv", false, 31 * 31);
  test_jax_result_type("jax_strict_x32", "living/jax_result_strict_x32.csv", true, 27 * 27);
  test_torch_rank_zero();
  test_anvil_small();
  test_others();
  test_anvil_ambiguous();
  test_pairs();
  test_rank();
  test_value();
  test_undefined();
  test_literals();
  test_nodes();
  test_library_facts();
  test_user();
  return check_report("promote");
}
