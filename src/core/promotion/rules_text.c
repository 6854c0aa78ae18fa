/* The text of rule sets. Cells are read in one pass; what they leave open is derived after that. */
#include "core/promotion/rules_text.h"

#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/promotion/lattice.h"
#include "core/types/error.h"

enum { NONE = JOIST_NODE_NONE, LINE_SIZE = 8192, FIELD_SIZE = 64, COLUMNS = 4 };

static int find(const char *const *names, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (strcmp(names[k], name) == 0) return k;
  return -1;
}

struct reader {
  struct joist_rules *rules;
  struct joist_error *error;
  size_t line;
  bool has_order, says_others;
  bool derived[JOIST_FACT_COUNT]; /* facts whose cells that are not listed are derived */
  /* By how many nodes that stand for their own type alone, and 1; 0 if not. */
  uint8_t listed[JOIST_PAIR_COUNT][JOIST_TYPE_COUNT][JOIST_TYPE_COUNT];
  uint8_t fact_listed[JOIST_FACT_COUNT][JOIST_TYPE_COUNT];
  uint64_t refused[JOIST_NODE_MAX]
                  [JOIST_LATTICE_WORDS]; /* pairs that are undefined, if edges join them */
  char text[LINE_SIZE];
};

static joist_status wrong(struct reader *reader, const char *what, const char *found) {
  return JOIST_FAIL(reader->error, JOIST_E_RULES_TEXT, .position = reader->line,
                    .text = {joist_quote(what), joist_quote(found)});
}

/* Splits a line at commas and drops spaces around fields, unless quotes protect them; a quote
 * within quotes is doubled. Returns the number of fields, or 0 if there are too many or one is too
 * long. */
static size_t split(const char *line, char fields[][FIELD_SIZE], size_t most) {
  size_t count = 0, length = 0, kept = 0; /* the first `kept` bytes of a field were quoted */
  bool quoted = false;
  for (const char *at = line;; at++) {
    if (*at == '"' && !(quoted && at[1] == '"')) {
      quoted = !quoted;
      kept = length;
    } else if (*at == '\0' || (*at == ',' && !quoted)) {
      while (length > kept && fields[count][length - 1] == ' ') length--;
      fields[count++][length] = '\0';
      length = kept = 0;
      if (*at == '\0') return quoted ? 0 : count;
      if (count == most) return 0;
    } else if (*at != ' ' || length > 0 || quoted) {
      at += *at == '"'; /* the second of two */
      if (length + 1 == FIELD_SIZE) return 0;
      fields[count][length++] = *at;
    }
  }
}

/* The node of a name, also of a dtype that joist does not store, or of the default dtype of a kind
 * of numbers; NONE if it cannot be one. */
static int node_of(struct reader *reader, const char *name) {
  static const char *const defaults[] = {"", "default i*", "default f*", "default c*"};
  if (strcmp(name, "b*") == 0) {
    reader->rules->has_truths = true;
    snprintf(reader->rules->names[JOIST_NODE_TRUTH], JOIST_NODE_NAME_SIZE, "b*");
    return JOIST_NODE_TRUTH;
  }
  const int category = find(defaults, JOIST_CATEGORY_COUNT, name);
  return category > 0 ? reader->rules->literal[category] : joist_rules_intern(reader->rules, name);
}

/* The error of a word that is not one of the choices. */
static joist_status no_choice(struct reader *reader, const char *const *choices, int count,
                              const char *found) {
  char all[sizeof(struct joist_quote)] = "one of ";
  joist_list_texts(all + strlen(all), sizeof all - strlen(all), choices, count);
  return wrong(reader, all, found);
}

static joist_status not_a_node(struct reader *reader, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || length >= JOIST_NODE_NAME_SIZE)
    return wrong(reader, "a node, a name of 1 to 23 bytes", name);
  return JOIST_FAIL(reader->error, JOIST_E_NODE_COUNT, .position = reader->line,
                    .text = {joist_quote(name)}, .count = {JOIST_NODE_MAX - JOIST_NODE_OWN});
}

static joist_status read_literals(struct reader *reader, const char *value) {
  char fields[JOIST_CATEGORY_COUNT][FIELD_SIZE];
  if (split(value, fields, JOIST_CATEGORY_COUNT) != JOIST_CATEGORY_COUNT)
    return wrong(reader, "the default dtypes of logical, integer, double and complex values",
                 value);
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++) {
    const joist_dtype dtype = joist_dtype_parse(fields[c], JOIST_STYLE_ANVIL);
    if (dtype == JOIST_DTYPE_NONE || (int)joist_dtype_category(dtype) != c)
      return wrong(reader, "a default dtype of its category", fields[c]);
    reader->rules->literal[c] = (uint8_t)dtype;
  }
  return JOIST_OK;
}

static joist_status read_order(struct reader *reader, const char *value) {
  struct joist_rules *const rules = reader->rules;
  char fields[JOIST_NODE_MAX][FIELD_SIZE];
  const size_t count = split(value, fields, JOIST_NODE_MAX);
  if (count == 0) return wrong(reader, "nodes", value);
  for (size_t k = 0; k < count; k++) {
    const int node = node_of(reader, fields[k]);
    if (node == NONE) return not_a_node(reader, fields[k]);
    if (memchr(rules->published, node, rules->published_count) != NULL)
      return wrong(reader, "a new node", fields[k]);
    rules->published[rules->published_count++] = (uint8_t)node;
  }
  reader->has_order = true;
  return JOIST_OK;
}

/* The dtypes that a library has, after the literals: a kind of numbers is its default, if that is
 * one of them. */
static joist_status read_types(struct reader *reader, const char *value) {
  struct joist_rules *const rules = reader->rules;
  char fields[JOIST_NODE_OWN][FIELD_SIZE];
  const size_t count = split(value, fields, JOIST_NODE_OWN);
  for (size_t k = 0; k < count; k++) {
    const int node = node_of(reader, fields[k]);
    if (node >= JOIST_NODE_OWN) return wrong(reader, "a dtype", fields[k]);
    const bool is_weak = node >= JOIST_NODE_WEAK_INT;
    const int dtype = is_weak ? rules->literal[joist_category_of_node(node)] : 0;
    if (!is_weak)
      rules->types[node] = true;
    else if (rules->types[dtype])
      rules->types[JOIST_NODE_AMBIGUOUS + dtype] = true;
  }
  rules->has_types = true;
  return count > 0 ? JOIST_OK : wrong(reader, "dtypes", value);
}

/* What tables call the kinds of numbers. */
static joist_status read_numbers(struct reader *reader, const char *value) {
  enum { KINDS = JOIST_NODE_OWN - JOIST_NODE_WEAK_INT };
  char fields[KINDS][FIELD_SIZE];
  if (split(value, fields, KINDS) != KINDS)
    return wrong(reader, "names of integer, float and complex numbers", value);
  for (int k = 0; k < KINDS; k++) {
    const size_t size = strlen(fields[k]) + 1;
    if (size > JOIST_NODE_NAME_SIZE) return wrong(reader, "a shorter name of numbers", fields[k]);
    memcpy(reader->rules->names[JOIST_NODE_WEAK_INT + k], fields[k], size);
  }
  return JOIST_OK;
}

static joist_status read_derived(struct reader *reader, const char *value) {
  char fields[JOIST_FACT_COUNT][FIELD_SIZE];
  const size_t count = split(value, fields, JOIST_FACT_COUNT);
  for (size_t k = 0; k < count; k++) {
    const int fact = find(JOIST_TEXTS(JOIST_FACTS), JOIST_FACT_COUNT, fields[k]);
    if (fact < 0) return no_choice(reader, JOIST_TEXTS(JOIST_FACTS), JOIST_FACT_COUNT, fields[k]);
    reader->derived[fact] = true;
  }
  return count > 0 ? JOIST_OK : wrong(reader, "operations of one operand", value);
}

static joist_status read_choice(struct reader *reader, const char *key, const char *value) {
#define X(FIELD, KEY, OFF, ON)                                                                    \
  if (strcmp(key, KEY) == 0) {                                                                    \
    reader->rules->FIELD = strcmp(value, ON) == 0;                                                \
    reader->says_others |= &reader->rules->FIELD == &reader->rules->meets_itself;                 \
    return reader->rules->FIELD || strcmp(value, OFF) == 0 ? JOIST_OK                             \
                                                           : wrong(reader, OFF " or " ON, value); \
  }
  JOIST_CHOICES(X)
#undef X
  return wrong(reader, "a key", key);
}

static joist_status read_key(struct reader *reader, const char *key, const char *value) {
  struct joist_rules *const rules = reader->rules;
  if (strcmp(key, "id") == 0) {
    if (value[0] == '\0' || strlen(value) >= sizeof rules->id)
      return wrong(reader, "an id of 1 to 23 bytes", value);
    snprintf(rules->id, sizeof rules->id, "%s", value);
  } else if (strcmp(key, "source") == 0) {
    snprintf(rules->source, sizeof rules->source, "%s", value);
  } else if (strcmp(key, "version") == 0) {
    snprintf(rules->version, sizeof rules->version, "%s", value);
  } else if (strcmp(key, "url") == 0) {
    if (strncmp(value, "https://", 8) != 0 || strlen(value) >= sizeof rules->url)
      return wrong(reader, "an address that begins with https://, of 159 bytes at most", value);
    snprintf(rules->url, sizeof rules->url, "%s", value);
  } else if (strcmp(key, "literals") == 0) {
    return read_literals(reader, value);
  } else if (strcmp(key, "order") == 0) {
    return read_order(reader, value);
  } else if (strcmp(key, "derived") == 0) {
    return read_derived(reader, value);
  } else if (strcmp(key, "dtypes") == 0) {
    return read_types(reader, value);
  } else if (strcmp(key, "numbers") == 0) {
    return read_numbers(reader, value);
  } else if (strcmp(key, "decides by") == 0) {
    const int policy = find(JOIST_TEXTS(JOIST_POLICIES), JOIST_POLICY_COUNT, value);
    if (policy < 0)
      return no_choice(reader, JOIST_TEXTS(JOIST_POLICIES), JOIST_POLICY_COUNT, value);
    rules->policy = (joist_rules_policy)policy;
  } else if (strcmp(key, "overflow") == 0) {
    const int beyond = find(JOIST_TEXTS(JOIST_BEYOND), JOIST_BEYOND_COUNT, value);
    if (beyond < 0) return wrong(reader, "wrap or saturate", value);
    rules->beyond = (joist_beyond)beyond;
  } else {
    return read_choice(reader, key, value);
  }
  return JOIST_OK;
}

/* A line of the header, without its `#`. One without a colon is a comment. */
static joist_status read_header(struct reader *reader, char *line) {
  char *colon = strchr(line, ':');
  if (colon == NULL) return JOIST_OK;
  *colon = '\0';
  const char *key = line + strspn(line, " ");
  const char *value = colon + 1;
  return read_key(reader, key, value + strspn(value, " "));
}

static bool is_refused(const struct reader *reader, int lhs, int rhs) {
  return (reader->refused[lhs][rhs / 64] >> (rhs % 64) & 1) != 0;
}

/* The error of two results of an operation of nodes. */
static joist_status conflict(struct reader *reader, const char *operation, int lhs, int rhs,
                             int former, int result) {
  const struct joist_rules *const rules = reader->rules;
  char what[sizeof(struct joist_quote)], found[sizeof what];
  snprintf(what, sizeof what, "one result of %s of %s%s%s", operation, rules->names[lhs],
           rhs == NONE ? "" : " and ", rhs == NONE ? "" : rules->names[rhs]);
  snprintf(found, sizeof found, "%s and %s", joist_rules_node_name(rules, former),
           joist_rules_node_name(rules, result));
  return wrong(reader, what, found);
}

/* A cell of an operation but the common dtype in which a node has no dtype. */
static joist_status read_foreign(struct reader *reader, int operation, const char *name, int lhs,
                                 int rhs, int result) {
  struct joist_rules *const rules = reader->rules;
  const struct joist_foreign *const former = joist_rules_foreign(rules, operation, lhs, rhs);
  if (former != NULL)
    return former->result == result ? JOIST_OK
                                    : conflict(reader, name, lhs, rhs, former->result, result);
  if (rules->foreign_count == JOIST_FOREIGN_MAX)
    return wrong(reader, "at most 8192 results of dtypes that joist does not have", "another");
  rules->foreign[rules->foreign_count++] =
      (struct joist_foreign){(uint8_t)operation, (uint8_t)lhs, (uint8_t)rhs, (uint8_t)result};
  return JOIST_OK;
}

/* The types that a node stands for as an operand, first to last: a weak one for all ambiguous types
 * of its category. */
static bool stands_for(int node, int type) {
  if (node == type) return true;
  if (node < JOIST_NODE_WEAK_INT || node >= JOIST_NODE_OWN || type < JOIST_NODE_AMBIGUOUS)
    return false;
  const joist_dtype dtype = (joist_dtype)(type - JOIST_NODE_AMBIGUOUS);
  return dtype != JOIST_BOOL && joist_node_of_category(joist_dtype_category(dtype)) == node;
}

static joist_status read_pair(struct reader *reader, joist_pair pair, int lhs, int rhs,
                              int result) {
  struct joist_rules *const rules = reader->rules;
  if (pair == JOIST_PAIR_COMMON) {
    const int former = rules->result[lhs][rhs];
    if (former != result && (former != NONE || is_refused(reader, lhs, rhs)))
      return conflict(reader, "common", lhs, rhs, former, result);
    rules->result[lhs][rhs] = (uint8_t)result;
    if (result == NONE) reader->refused[lhs][rhs / 64] |= UINT64_C(1) << (rhs % 64);
    return JOIST_OK;
  }
  rules->has_pairs[pair] = true;
  if (lhs >= JOIST_NODE_OWN || rhs >= JOIST_NODE_OWN)
    return read_foreign(reader, pair, joist_pair_name(pair), lhs, rhs, result);
  for (int l = 0; l < JOIST_TYPE_COUNT; l++)
    for (int r = 0; r < JOIST_TYPE_COUNT; r++)
      if (stands_for(lhs, l) && stands_for(rhs, r)) {
        /* f64? comes before f*, in whichever order. */
        const uint8_t own = (uint8_t)(1 + (l == lhs) + (r == rhs));
        if (own < reader->listed[pair][l][r]) continue;
        const int former = rules->pairs[pair][l][r];
        /* f64? with f* and f* with f64? both speak of f64? with itself. */
        const bool vague = own == 2 && l >= JOIST_NODE_AMBIGUOUS && r >= JOIST_NODE_AMBIGUOUS;
        if (own == reader->listed[pair][l][r] && former != result && !vague)
          return conflict(reader, joist_pair_name(pair), lhs, rhs, former, result);
        rules->pairs[pair][l][r] = (uint8_t)result;
        reader->listed[pair][l][r] = own;
      }
  return JOIST_OK;
}

static joist_status read_fact(struct reader *reader, joist_fact fact, int node, int result) {
  struct joist_rules *const rules = reader->rules;
  rules->has_facts[fact] = true;
  const char *const name = joist_fact_name(fact);
  if (node >= JOIST_NODE_OWN)
    return read_foreign(reader, JOIST_PAIR_COUNT + (int)fact, name, node, NONE, result);
  for (int type = 0; type < JOIST_TYPE_COUNT; type++)
    if (stands_for(node, type)) {
      const uint8_t own = (uint8_t)(1 + (type == node));
      if (own < reader->fact_listed[fact][type]) continue;
      const int former = rules->facts[fact][type];
      if (own == reader->fact_listed[fact][type] && former != result)
        return conflict(reader, name, node, NONE, former, result);
      rules->facts[fact][type] = (uint8_t)result;
      reader->fact_listed[fact][type] = own;
    }
  return JOIST_OK;
}

static joist_status read_edge(struct reader *reader, int lower, int upper) {
  struct joist_rules *const rules = reader->rules;
  if (rules->edge_count == JOIST_EDGE_MAX)
    return JOIST_FAIL(reader->error, JOIST_E_EDGE_COUNT,
                      .count = {JOIST_EDGE_MAX + 1, JOIST_EDGE_MAX});
  rules->kind = JOIST_RULES_LATTICE;
  rules->edges[rules->edge_count][0] = (uint8_t)lower;
  rules->edges[rules->edge_count++][1] = (uint8_t)upper;
  return JOIST_OK;
}

/* A cell that is not the common one, until the end of the text in `used`. */
static joist_status read_published(struct reader *reader, int lhs, int rhs, int result) {
  struct joist_rules *const rules = reader->rules;
  for (int k = 0; k < rules->used_count; k++)
    if (rules->used[k].lhs == lhs && rules->used[k].rhs == rhs)
      return rules->used[k].result == result
                 ? JOIST_OK
                 : conflict(reader, "published", lhs, rhs, rules->used[k].result, result);
  if (rules->used_count == JOIST_PUBLISHED_MAX)
    return wrong(reader, "at most 255 published results", "another");
  rules->used[rules->used_count].lhs = (uint8_t)lhs;
  rules->used[rules->used_count].rhs = (uint8_t)rhs;
  rules->used[rules->used_count++].result = (uint8_t)result;
  return JOIST_OK;
}

static joist_status read_cell(struct reader *reader, const char *line) {
  char fields[COLUMNS][FIELD_SIZE];
  if (split(line, fields, COLUMNS) != COLUMNS)
    return wrong(reader, "an operation, two operands and a result", line);
  const char *const operation = fields[0], *const right = fields[2], *const to = fields[3];
  const bool is_edge = strcmp(operation, "edge") == 0, alone = right[0] == '\0';
  const bool is_published = strcmp(operation, "published") == 0;
  const int pair = joist_pair_of_name(operation);
  const int fact = find(JOIST_TEXTS(JOIST_FACTS), JOIST_FACT_COUNT, operation);
  if (!is_edge && !(is_published && !alone) && (alone ? fact : pair) < 0)
    return alone ? no_choice(reader, JOIST_TEXTS(JOIST_FACTS), JOIST_FACT_COUNT, operation)
                 : no_choice(reader, JOIST_TEXTS(JOIST_PAIRS), JOIST_PAIR_COUNT, operation);
  const int lhs = node_of(reader, fields[1]), rhs = alone ? NONE : node_of(reader, right);
  if (lhs == NONE) return not_a_node(reader, fields[1]);
  if (rhs == NONE && (!alone || is_edge)) return not_a_node(reader, right);
  if (is_edge) return read_edge(reader, lhs, rhs);
  const int result = strcmp(to, "-") == 0 ? NONE : node_of(reader, to);
  if (result == NONE && strcmp(to, "-") != 0) return not_a_node(reader, to);
  if (is_published) return read_published(reader, lhs, rhs, result);
  if (alone) return read_fact(reader, (joist_fact)fact, lhs, result);
  return read_pair(reader, (joist_pair)pair, lhs, rhs, result);
}

/* Without an order, tables print all nodes that are operands. */
static void publish(struct joist_rules *rules) {
  for (int node = 0; node < rules->node_end; node++)
    if (joist_rules_has_node(rules, node))
      rules->published[rules->published_count++] = (uint8_t)node;
}

/* Two numbers alone: the higher kind, if the text does not say. */
static void join_numbers(struct reader *reader) {
  struct joist_rules *const rules = reader->rules;
  for (int lhs = JOIST_NODE_WEAK_INT; lhs < JOIST_NODE_OWN; lhs++)
    for (int rhs = JOIST_NODE_WEAK_INT; rhs < JOIST_NODE_OWN; rhs++)
      if (rules->result[lhs][rhs] == NONE && !is_refused(reader, lhs, rhs) &&
          joist_rules_has_node(rules, lhs) && joist_rules_has_node(rules, rhs))
        rules->result[lhs][rhs] = (uint8_t)(lhs > rhs ? lhs : rhs);
}

/* What a table of an operation does not list: the common dtype, or what the operation makes of it.
 */
static int unlisted(const struct joist_rules *rules, joist_pair pair, int left, int right) {
  const bool adds =
      (pair == JOIST_PAIR_RANK_ZERO || joist_pair_adds(pair)) && rules->has_pairs[JOIST_PAIR_ADD];
  return adds ? rules->pairs[JOIST_PAIR_ADD][left][right]
              : joist_rules_entry_by_fact(rules, pair, left, right);
}

static void fill_unlisted(struct reader *reader) {
  struct joist_rules *const rules = reader->rules;
  for (int pair = JOIST_PAIR_COMMON + 1; pair < JOIST_PAIR_COUNT; pair++)
    for (int l = 0; l < JOIST_TYPE_COUNT && rules->has_pairs[pair]; l++)
      for (int r = 0; r < JOIST_TYPE_COUNT; r++)
        if (reader->listed[pair][l][r] == 0)
          rules->pairs[pair][l][r] = (uint8_t)unlisted(rules, (joist_pair)pair, l, r);
}

/* Derives the common dtypes and the facts that are not listed, and the rest of those that are
 * listed in part. */
static void derive(struct reader *reader) {
  struct joist_rules *const rules = reader->rules;
  uint8_t listed[JOIST_FACT_COUNT][JOIST_TYPE_COUNT];
  memcpy(listed, rules->facts, sizeof listed);
  for (int f = 0; f < JOIST_FACT_COUNT; f++)
    if (reader->derived[f]) rules->has_facts[f] = false;
  joist_rules_derive(rules);
  for (int f = 0; f < JOIST_FACT_COUNT; f++)
    for (int type = 0; type < JOIST_TYPE_COUNT && reader->derived[f]; type++)
      if (reader->fact_listed[f][type] != 0) {
        rules->has_facts[f] = true;
        rules->facts[f][type] = listed[f][type];
      }
}

static joist_status finish(struct reader *reader) {
  struct joist_rules *const rules = reader->rules;
  if (rules->kind == JOIST_RULES_LATTICE) {
    const joist_status status = joist_rules_join_edges(rules, reader->error);
    if (status != JOIST_OK) return status;
    if (!reader->says_others) rules->meets_itself = true;
    for (int lhs = 0; lhs < rules->node_end; lhs++)
      for (int rhs = 0; rhs < rules->node_end; rhs++)
        if (is_refused(reader, lhs, rhs)) rules->result[lhs][rhs] = NONE;
  } else {
    join_numbers(reader);
  }
  if (!reader->has_order) publish(rules);
  if (rules->published_count == 0) return wrong(reader, "a cell", "the end of the text");
  for (int type = 0; type < JOIST_TYPE_COUNT && !rules->has_types; type++) {
    rules->types[type] = joist_rules_has_node(rules, type);
    for (int f = 0; f < JOIST_FACT_COUNT; f++)
      rules->types[type] |= reader->fact_listed[f][type] != 0;
  }
  derive(reader);
  fill_unlisted(reader);
  for (int k = 0; k < rules->used_count; k++) {
    uint8_t *const result = &rules->result[rules->used[k].lhs][rules->used[k].rhs];
    const uint8_t used = *result;
    *result = rules->used[k].result;
    rules->used[k].result = used;
  }
  return JOIST_OK;
}

joist_status joist_rules_read(struct joist_rules *rules, const char *text, size_t size,
                              struct joist_error *error) {
  static const uint8_t literal[] = {JOIST_BOOL, JOIST_I32, JOIST_F32, JOIST_C64};
  struct reader reader = {.rules = rules, .error = error};
  joist_rules_clear(rules, "user");
  rules->kind = JOIST_RULES_TABLE;
  memcpy(rules->literal, literal, sizeof literal);
  snprintf(rules->source, sizeof rules->source, "given by the user");
  snprintf(rules->version, sizeof rules->version, "%s", JOIST_NO_VERSION);
  for (size_t at = 0; at < size;) {
    const char *const end = memchr(text + at, '\n', size - at);
    size_t length = end == NULL ? size - at : (size_t)(end - (text + at));
    const size_t next = at + length + 1;
    reader.line++;
    if (length > 0 && text[at + length - 1] == '\r') length--;
    if (length >= LINE_SIZE || memchr(text + at, '\0', length) != NULL)
      return wrong(&reader, "a line of text", "one that is too long");
    memcpy(reader.text, text + at, length);
    reader.text[length] = '\0';
    at = next;
    joist_status status = JOIST_OK;
    if (reader.text[0] == '#')
      status = read_header(&reader, reader.text + 1);
    else if (length > 0 && strcmp(reader.text, "operation,lhs,rhs,result") != 0)
      status = read_cell(&reader, reader.text);
    if (status != JOIST_OK) return status;
  }
  return finish(&reader);
}
