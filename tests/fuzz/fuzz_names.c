/* Names: of dtypes in every style, of nodes of rule sets, of operations, attributes, styles and
 * rule sets. An accepted name means what it says, and the result's own name means the same. */
#include "../core/rules.h"
#include "core/program/ops.h"
#include "core/promotion/builtin_rules.h"
#include "core/types/error.h"
#include "fuzz.h"

/* The first number in a name, 0 where there is none. */
static size_t number_in(const char *name) {
  const char *const digits = strpbrk(name, "0123456789");
  return digits == NULL ? 0 : (size_t)strtoul(digits, NULL, 10);
}

/* Whether a dtype is as large as its name says: in bits, or in bytes where a style counts these and
 * the name is a letter and a number. StableHLO's complex numbers name one part of two. */
static bool is_as_large(const char *name, joist_dtype dtype, joist_style style) {
  const size_t number = number_in(name), size = joist_dtype_size(dtype);
  const bool counts_bytes = style == JOIST_STYLE_JEP || style == JOIST_STYLE_NUMPY;
  if (number == 0) return true;
  if (dtype == JOIST_BOOL) return number == 1 || strcmp(name, "bool8") == 0;
  if (counts_bytes && name[1] >= '0' && name[1] <= '9') return number == size;
  return number == 8 * size / (strchr(name, '<') != NULL ? 2 : 1);
}

static void read_dtype(const char *text) {
  for (int style = 0; style < JOIST_STYLE_COUNT; style++) {
    const joist_dtype dtype = joist_dtype_parse(text, (joist_style)style);
    if (dtype == JOIST_DTYPE_NONE) continue;
    HOLDS(dtype < JOIST_DTYPE_COUNT && is_as_large(text, dtype, (joist_style)style));
    const char *const own = joist_dtype_format(dtype, (joist_style)style);
    HOLDS(joist_dtype_parse(own, (joist_style)style) == dtype);
    /* A name with a number begins with the letter of its kind, except for bool. */
    if (number_in(text) > 1 && joist_dtype_kind(dtype) != JOIST_KIND_BOOL)
      HOLDS(text[0] == joist_dtype_name(dtype)[0] ||
            text[0] == joist_dtype_format(dtype, JOIST_STYLE_JAX)[0]);
  }
}

static void read_node(const struct joist_rules *rules, const char *text) {
  const int node = joist_rules_node(rules, text);
  HOLDS(node == JOIST_NODE_NONE || (node >= 0 && node < JOIST_NODE_MAX));
  if (node == JOIST_NODE_NONE) return;
  HOLDS(joist_rules_node(rules, joist_rules_node_name(rules, node)) == node);
  struct joist_type type;
  if (!joist_rules_type_of_node(rules, node, &type)) return;
  /* Weak categories have names of their own in some rule sets. */
  const bool guess = strchr(text, '?') != NULL || node >= JOIST_NODE_WEAK_INT;
  HOLDS(type.ambiguous == guess);
}

/* A copy that ends in "..." where it was cut, which is not within a character. */
static void quote(const char *text) {
  const struct joist_quote copy = joist_quote(text);
  const size_t length = strnlen(copy.bytes, sizeof copy.bytes), own = strlen(text);
  HOLDS(length < sizeof copy.bytes);
  if (own < sizeof copy.bytes) {
    HOLDS(strcmp(text, copy.bytes) == 0);
    return;
  }
  HOLDS(length >= 3 && strcmp(copy.bytes + length - 3, "...") == 0);
  HOLDS(memcmp(text, copy.bytes, length - 3) == 0);
  HOLDS(length == 3 || ((unsigned char)text[length - 3] & 0xc0) != 0x80);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static bool ready = false;
  if (!ready) use_rules();
  ready = true;
  char *const text = malloc(size + 1);
  HOLDS(text != NULL);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  read_dtype(text);
  for (size_t k = 0; k < joist_rules_count(); k++) read_node(joist_rules_at(k), text);
  const joist_op op = joist_op_parse(text);
  HOLDS(op == JOIST_OP_COUNT || strcmp(joist_op_name(op), text) == 0);
  const joist_attribute_name attribute = joist_attribute_parse(text);
  HOLDS(attribute == JOIST_ATTRIBUTE_COUNT || strcmp(joist_attribute_text(attribute), text) == 0);
  const joist_style style = joist_style_parse(text);
  HOLDS(style == JOIST_STYLE_COUNT || strcmp(joist_style_name(style), text) == 0);
  const struct joist_rules *const rules = joist_rules_find(text);
  HOLDS(rules == NULL || strcmp(rules->id, text) == 0);
  quote(text);
  free(text);
  return 0;
}
