/* Rule sets as nodes: their names, edges, the dense table that every decision about a pair of types
 * reads, and what rule sets are asked. */
#include "core/promotion/rule_set.h"

#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/promotion/lattice.h"
#include "core/types/error.h"

enum { NONE = JOIST_NODE_NONE };
_Static_assert((int)JOIST_NODE_MAX <= (int)JOIST_LATTICE_MAX, "a lattice has room for all");

static const char *const weak_names[] = {"i*", "f*", "c*"};

const char *joist_pair_name(joist_pair pair) { return JOIST_TEXTS(JOIST_PAIRS)[pair]; }
const char *joist_fact_name(joist_fact fact) { return JOIST_TEXTS(JOIST_FACTS)[fact]; }
const char *joist_policy_name(joist_rules_policy policy) {
  return JOIST_TEXTS(JOIST_POLICIES)[policy];
}

int joist_pair_of_name(const char *name) {
  for (int pair = 0; pair < JOIST_PAIR_COUNT; pair++)
    if (strcmp(name, joist_pair_name((joist_pair)pair)) == 0) return pair;
  return -1;
}

int joist_node_of_category(joist_category category) {
  return JOIST_NODE_WEAK_INT + (int)category - JOIST_CATEGORY_INTEGER;
}

joist_category joist_category_of_node(int weak) {
  return (joist_category)(weak - JOIST_NODE_WEAK_INT + JOIST_CATEGORY_INTEGER);
}

static bool is_weak(int node) { return node >= JOIST_NODE_WEAK_INT && node < JOIST_NODE_OWN; }

void joist_rules_clear(struct joist_rules *rules, const char *id) {
  memset(rules, 0, sizeof *rules);
  memset(rules->result, NONE, sizeof rules->result);
  memset(rules->pairs, NONE, sizeof rules->pairs);
  memset(rules->facts, NONE, sizeof rules->facts);
  rules->node_end = JOIST_NODE_OWN;
  snprintf(rules->id, sizeof rules->id, "%s", id);
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const char *name = joist_dtype_name((joist_dtype)d);
    snprintf(rules->names[d], JOIST_NODE_NAME_SIZE, "%s", name);
    snprintf(rules->names[JOIST_NODE_AMBIGUOUS + d], JOIST_NODE_NAME_SIZE, "%s?", name);
  }
}

bool joist_rules_has_node(const struct joist_rules *rules, int node) {
  for (int other = 0; other < rules->node_end; other++)
    if (rules->result[node][other] != NONE || rules->result[other][node] != NONE) return true;
  return false;
}

/* The node a rule set has for a type. */
static int node_of_type(const struct joist_rules *rules, int dtype, bool ambiguous) {
  if (!ambiguous) return dtype;
  if (joist_rules_has_node(rules, JOIST_NODE_AMBIGUOUS + dtype))
    return JOIST_NODE_AMBIGUOUS + dtype;
  const joist_category category = joist_dtype_category((joist_dtype)dtype);
  if (category == JOIST_CATEGORY_BOOL) return dtype;
  const int weak = joist_node_of_category(category);
  return joist_rules_has_node(rules, weak) ? weak : NONE;
}

int joist_rules_node_of_type(const struct joist_rules *rules, struct joist_type type) {
  const int node = node_of_type(rules, (int)type.dtype, type.ambiguous);
  return rules->kind == JOIST_RULES_LATTICE && node != NONE && !joist_rules_has_node(rules, node)
             ? NONE
             : node;
}

/* The ambiguous type that stands for a weak result. Two of them keep what they know of their
 * dtypes, as in JAX: i8? with i16? is i16?, not the default i64?. */
static int ambiguous_of(const struct joist_rules *rules, int weak, int lhs, int rhs) {
  const bool both = lhs >= JOIST_NODE_AMBIGUOUS && rhs >= JOIST_NODE_AMBIGUOUS;
  int dtype = rules->literal[joist_category_of_node(weak)];
  if (rules->guesses_default) {
    /* the default */
  } else if (both && lhs == rhs) {
    dtype = lhs - JOIST_NODE_AMBIGUOUS;
  } else if (both) {
    const int left = lhs - JOIST_NODE_AMBIGUOUS, right = rhs - JOIST_NODE_AMBIGUOUS;
    const int known = rules->result[left][right];
    if (known == NONE && (!joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, left) ||
                          !joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, right)))
      return NONE;
    if (known < JOIST_DTYPE_COUNT) dtype = known;
    if (is_weak(known)) dtype = rules->literal[joist_category_of_node(known)];
  }
  return JOIST_NODE_AMBIGUOUS + dtype;
}

static int derived_fact(const struct joist_rules *rules, joist_fact fact, int type) {
  const joist_dtype dtype = (joist_dtype)(type % JOIST_DTYPE_COUNT);
  const bool is_unsigned = joist_dtype_kind(dtype) == JOIST_KIND_UINT;
  if (joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT)
    return fact == JOIST_FACT_ANGLE ? type - (int)dtype + (int)joist_dtype_real(dtype) : type;
  switch (fact) {
    case JOIST_FACT_SUM:
    case JOIST_FACT_PROD:
    case JOIST_FACT_CUMSUM:
      return type - (int)dtype + (is_unsigned ? JOIST_UI64 : JOIST_I64);
    case JOIST_FACT_POWER:
      return dtype == JOIST_BOOL ? NONE : type;
    case JOIST_FACT_INEXACT:
    case JOIST_FACT_DIVIDE:
    case JOIST_FACT_ANGLE:
    case JOIST_FACT_LINALG:
    case JOIST_FACT_MEAN:
    case JOIST_FACT_COUNT:
      break;
  }
  const uint8_t(*const common)[JOIST_TYPE_COUNT] = rules->pairs[JOIST_PAIR_COMMON];
  const int number = JOIST_NODE_AMBIGUOUS + rules->literal[JOIST_CATEGORY_FLOAT];
  int floating = common[type][number];
  /* Integers of fewer than 8 bits that meet no float are numbers like others. */
  const bool is_small = joist_dtype_bits(dtype) < 8 && dtype != JOIST_BOOL;
  if (floating == NONE && is_small && common[type][type] != NONE)
    floating = common[type - (int)dtype + JOIST_I32][number];
  if (floating >= JOIST_TYPE_COUNT) return NONE;
  /* Integers that stay integers beside floats become the default float alone. */
  const joist_dtype result = (joist_dtype)(floating % JOIST_DTYPE_COUNT);
  const bool is_float = joist_dtype_category(result) >= JOIST_CATEGORY_FLOAT;
  return is_float ? floating : rules->literal[JOIST_CATEGORY_FLOAT];
}

void joist_rules_derive(struct joist_rules *rules) {
  int nodes[JOIST_TYPE_COUNT];
  for (int t = 0; t < JOIST_TYPE_COUNT; t++)
    nodes[t] = node_of_type(rules, t % JOIST_DTYPE_COUNT, t >= JOIST_NODE_AMBIGUOUS);
  for (int lhs = 0; lhs < JOIST_TYPE_COUNT; lhs++) {
    for (int rhs = 0; rhs < JOIST_TYPE_COUNT; rhs++) {
      int result = NONE;
      if (nodes[lhs] != NONE && nodes[rhs] != NONE) result = rules->result[nodes[lhs]][nodes[rhs]];
      if (is_weak(result)) result = ambiguous_of(rules, result, lhs, rhs);
      if (result == NONE && lhs == rhs && rules->meets_itself) result = lhs;
      rules->pairs[JOIST_PAIR_COMMON][lhs][rhs] = (uint8_t)result;
    }
  }
  for (int f = 0; f < JOIST_FACT_COUNT; f++)
    for (int type = 0; type < JOIST_TYPE_COUNT && !rules->has_facts[f]; type++)
      rules->facts[f][type] = (uint8_t)derived_fact(rules, (joist_fact)f, type);
}

/* Node of a canonical name, or NONE. */
static int canonical_node(const struct joist_rules *rules, const char *name) {
  for (int node = 0; node < JOIST_TYPE_COUNT; node++)
    if (name[0] == rules->names[node][0] && strcmp(name, rules->names[node]) == 0) return node;
  for (int w = 0; w < 3; w++)
    if (strcmp(name, weak_names[w]) == 0) return JOIST_NODE_WEAK_INT + w;
  return NONE;
}

int joist_rules_intern(struct joist_rules *rules, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || length >= JOIST_NODE_NAME_SIZE) return NONE;
  int node = canonical_node(rules, name);
  for (int own = JOIST_NODE_OWN; node == NONE && own < JOIST_NODE_MAX; own++)
    if (rules->names[own][0] == '\0' || strcmp(name, rules->names[own]) == 0) node = own;
  if (node == NONE) return NONE;
  if (rules->names[node][0] == '\0') memcpy(rules->names[node], name, length + 1);
  if (node >= rules->node_end) rules->node_end = (uint8_t)(node + 1);
  return node;
}

/* The next node on a shortest way from each node to `goal`, which has one only on a cycle; NONE
 * where there is no way. Breadth first against the edges. */
static void find_ways(const struct joist_rules *rules, int goal, int next[JOIST_NODE_MAX]) {
  int queue[JOIST_NODE_MAX + 1];
  for (int i = 0; i < JOIST_NODE_MAX; i++) next[i] = NONE;
  size_t head = 0, tail = 0;
  queue[tail++] = goal;
  while (head < tail && next[goal] == NONE) {
    const int node = queue[head++];
    for (size_t e = 0; e < rules->edge_count; e++) {
      const int from = rules->edges[e][0];
      if (rules->edges[e][1] != node || next[from] != NONE) continue;
      next[from] = node;
      if (from != goal) queue[tail++] = from;
    }
  }
}

size_t joist_rules_path(const struct joist_rules *rules, int from, int to,
                        uint8_t path[JOIST_NODE_MAX]) {
  int next[JOIST_NODE_MAX];
  find_ways(rules, to, next);
  size_t count = 0;
  int node = from;
  for (; node != to && node != NONE; node = next[node]) path[count++] = (uint8_t)node;
  if (node == NONE) return 0;
  path[count++] = (uint8_t)to;
  return count;
}

size_t joist_rules_bounds(const struct joist_rules *rules, int lhs, int rhs,
                          uint8_t bounds[JOIST_NODE_MAX]) {
  struct joist_lattice lattice;
  if (rules->kind != JOIST_RULES_LATTICE) return 0;
  joist_lattice_close(&lattice, rules->node_end, (const uint8_t(*)[2])rules->edges,
                      rules->edge_count);
  return joist_lattice_bounds(&lattice, lhs, rhs, bounds);
}

/* Writes a shortest cycle through `start` as "a -> b -> a". */
static void describe_cycle(const struct joist_rules *rules, int start, char *text, size_t size) {
  int next[JOIST_NODE_MAX];
  find_ways(rules, start, next);
  size_t used = (size_t)snprintf(text, size, "%s", rules->names[start]);
  for (int node = next[start]; used < size; node = next[node]) {
    used += (size_t)snprintf(text + used, size - used, " -> %s", rules->names[node]);
    if (node == start) break;
  }
}

joist_status joist_rules_join_edges(struct joist_rules *rules, struct joist_error *error) {
  struct joist_lattice lattice;
  const int on_cycle = joist_lattice_close(&lattice, rules->node_end,
                                           (const uint8_t(*)[2])rules->edges, rules->edge_count);
  if (on_cycle != JOIST_LATTICE_NONE) {
    char cycle[2 * sizeof(struct joist_quote)];
    describe_cycle(rules, on_cycle, cycle, sizeof cycle);
    return JOIST_FAIL(error, JOIST_E_EDGE_CYCLE,
                      .text = {joist_quote(rules->id), joist_quote(cycle)});
  }
  bool present[JOIST_NODE_MAX] = {false};
  for (size_t e = 0; e < rules->edge_count; e++)
    present[rules->edges[e][0]] = present[rules->edges[e][1]] = true;
  for (int lhs = 0; lhs < rules->node_end; lhs++)
    for (int rhs = 0; rhs < rules->node_end; rhs++)
      if (present[lhs] && present[rhs] && rules->result[lhs][rhs] == NONE)
        rules->result[lhs][rhs] = (uint8_t)joist_lattice_join(&lattice, lhs, rhs);
  return JOIST_OK;
}

int joist_rules_node(const struct joist_rules *rules, const char *name) {
  if (name[0] == '\0') return NONE;
  for (int node = 0; node < rules->node_end; node++)
    if (strcmp(name, rules->names[node]) == 0) return node;
  const int node = canonical_node(rules, name);
  if (node != NONE) return joist_rules_has_node(rules, node) ? node : NONE;
  /* Aliases of dtypes, with or without the mark of ambiguous ones. */
  char alias[JOIST_NODE_NAME_SIZE];
  const size_t length = strlen(name);
  if (length >= sizeof alias) return NONE;
  memcpy(alias, name, length + 1);
  const bool ambiguous = alias[length - 1] == '?';
  if (ambiguous) alias[length - 1] = '\0';
  const joist_dtype dtype = joist_dtype_parse(alias, JOIST_STYLE_ANVIL);
  if (dtype == JOIST_DTYPE_NONE) return NONE;
  return (ambiguous ? JOIST_NODE_AMBIGUOUS : 0) + (int)dtype;
}

const char *joist_rules_node_name(const struct joist_rules *rules, int node) {
  return node == NONE ? "-" : rules->names[node];
}

/* The type a node stands for, as an index of `pairs`; NONE for a user's own node. */
static int type_of_node(const struct joist_rules *rules, int node) {
  if (node < JOIST_TYPE_COUNT) return node;
  if (!is_weak(node)) return NONE;
  return JOIST_NODE_AMBIGUOUS + rules->literal[joist_category_of_node(node)];
}

bool joist_rules_type_of_node(const struct joist_rules *rules, int node, struct joist_type *type) {
  const int index = type_of_node(rules, node);
  if (index == NONE) return false;
  *type = (struct joist_type){(joist_dtype)(index % JOIST_DTYPE_COUNT), index >= JOIST_DTYPE_COUNT};
  return true;
}

bool joist_rules_ask(const struct joist_rules *rules, const char *op, const uint8_t *nodes,
                     size_t count, int *node, const char **refusal) {
  const struct joist_rule_function *const function = rules->function;
  if (function == NULL) return false;
  return function->ask(rules, function->as == NULL ? op : function->as, nodes, count, node,
                       refusal);
}

/* Whether the function of a rule set decides about two nodes, and how. */
static bool ask_pair(const struct joist_rules *rules, joist_pair pair, int lhs, int rhs,
                     int *node) {
  const uint8_t nodes[] = {(uint8_t)lhs, (uint8_t)rhs};
  const char *refusal;
  const joist_pair as = pair == JOIST_PAIR_RANK_ZERO ? JOIST_PAIR_ADD : pair;
  return joist_rules_ask(rules, joist_pair_name(as), nodes, 2, node, &refusal);
}

int joist_rules_table_entry(const struct joist_rules *rules, int lhs, int rhs) {
  int answer;
  if (ask_pair(rules, JOIST_PAIR_COMMON, lhs, rhs, &answer)) return answer;
  const bool lhs_ambiguous = lhs >= JOIST_NODE_AMBIGUOUS && lhs < JOIST_TYPE_COUNT;
  const bool rhs_ambiguous = rhs >= JOIST_NODE_AMBIGUOUS && rhs < JOIST_TYPE_COUNT;
  const bool spell_out = (lhs_ambiguous && !joist_rules_has_node(rules, lhs)) ||
                         (rhs_ambiguous && !joist_rules_has_node(rules, rhs));
  const bool alone = lhs == rhs && lhs < JOIST_TYPE_COUNT && rules->meets_itself;
  if (!spell_out && !alone) return rules->result[lhs][rhs];
  const int left = type_of_node(rules, lhs), right = type_of_node(rules, rhs);
  return left == NONE || right == NONE ? NONE : rules->pairs[JOIST_PAIR_COMMON][left][right];
}

joist_fact joist_pair_fact(joist_pair pair, joist_dtype joined) {
  if (pair == JOIST_PAIR_DIVIDE) return JOIST_FACT_DIVIDE;
  const bool power = pair == JOIST_PAIR_POWER;
  const bool is_small =
      joist_dtype_bits(joined) < 8 && joist_dtype_category(joined) <= JOIST_CATEGORY_INTEGER;
  const bool counts = power || pair == JOIST_PAIR_INTEGER_DIVIDE || pair == JOIST_PAIR_MODULO;
  return counts && (joined == JOIST_BOOL || (power && is_small)) ? JOIST_FACT_POWER
                                                                 : JOIST_FACT_COUNT;
}

int joist_rules_entry_by_fact(const struct joist_rules *rules, joist_pair pair, int left,
                              int right) {
  const int common = rules->pairs[JOIST_PAIR_COMMON][left][right];
  const int type = common == NONE ? NONE : type_of_node(rules, common);
  if (type == NONE) return common;
  const joist_fact fact = joist_pair_fact(pair, (joist_dtype)(type % JOIST_DTYPE_COUNT));
  return fact == JOIST_FACT_COUNT ? common : rules->facts[fact][type];
}

/* An ambiguous default spelled as its category, as tables do where no operand was ambiguous. */
static int as_weak(const struct joist_rules *rules, int node) {
  if (node < JOIST_NODE_AMBIGUOUS || node >= JOIST_TYPE_COUNT || joist_rules_has_node(rules, node))
    return node;
  const joist_dtype dtype = (joist_dtype)(node - JOIST_NODE_AMBIGUOUS);
  const joist_category category = joist_dtype_category(dtype);
  if (category == JOIST_CATEGORY_BOOL || rules->literal[category] != dtype) return node;
  const int weak = joist_node_of_category(category);
  return joist_rules_has_node(rules, weak) ? weak : node;
}

const struct joist_foreign *joist_rules_foreign(const struct joist_rules *rules, int operation,
                                                int lhs, int rhs) {
  for (int k = 0; k < rules->foreign_count; k++) {
    const struct joist_foreign *const cell = &rules->foreign[k];
    if (cell->operation == operation && cell->lhs == lhs && cell->rhs == rhs) return cell;
  }
  return NULL;
}

/* What an operation makes of two nodes of which one has no dtype. */
static int foreign_entry(const struct joist_rules *rules, joist_pair pair, int lhs, int rhs) {
  const struct joist_foreign *cell = joist_rules_foreign(rules, pair, lhs, rhs);
  if (cell == NULL && (joist_pair_adds(pair) || pair == JOIST_PAIR_RANK_ZERO))
    cell = joist_rules_foreign(rules, JOIST_PAIR_ADD, lhs, rhs);
  if (cell != NULL) return cell->result;
  const int common = joist_rules_table_entry(rules, lhs, rhs);
  if (pair == JOIST_PAIR_ASSIGN && common != lhs) return NONE;
  if (pair == JOIST_PAIR_DIVIDE)
    cell = joist_rules_foreign(rules, JOIST_PAIR_COUNT + JOIST_FACT_DIVIDE, common, NONE);
  return cell == NULL ? common : cell->result;
}

int joist_rules_entry_for(const struct joist_rules *rules, joist_pair pair, int lhs, int rhs) {
  int answer;
  if (pair == JOIST_PAIR_COMMON) return joist_rules_table_entry(rules, lhs, rhs);
  if (ask_pair(rules, pair, lhs, rhs, &answer)) return answer;
  if (joist_pair_adds(pair) && !rules->has_pairs[pair]) pair = JOIST_PAIR_ADD;
  const int left = type_of_node(rules, lhs), right = type_of_node(rules, rhs);
  if (left == NONE || right == NONE) return foreign_entry(rules, pair, lhs, rhs);
  if (rules->has_pairs[pair]) return rules->pairs[pair][left][right];
  const int node = joist_rules_entry_by_fact(rules, pair, left, right);
  if (pair == JOIST_PAIR_ASSIGN) { /* to its own dtype, or what is of the common one */
    if (left == right) return lhs;
    const int type = type_of_node(rules, node);
    return type != NONE && (type - left) % JOIST_DTYPE_COUNT == 0 ? lhs : NONE;
  }
  const bool ambiguous = (lhs >= JOIST_NODE_AMBIGUOUS && lhs < JOIST_TYPE_COUNT) ||
                         (rhs >= JOIST_NODE_AMBIGUOUS && rhs < JOIST_TYPE_COUNT);
  return ambiguous ? node : as_weak(rules, node);
}

void joist_rules_as_used(const struct joist_rules *rules, struct joist_rules *used) {
  *used = *rules;
  for (int k = 0; k < rules->used_count; k++)
    used->result[rules->used[k].lhs][rules->used[k].rhs] = rules->used[k].result;
}

bool joist_rules_lists(const struct joist_rules *rules, int node) {
  return !rules->hides_small || node >= JOIST_TYPE_COUNT ||
         joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, node % JOIST_DTYPE_COUNT);
}

size_t joist_rules_facts(const struct joist_rules *rules,
                         struct joist_rules_fact facts[JOIST_RULES_FACTS_MAX]) {
  size_t n = 0;
  for (int f = 0; f < JOIST_FACT_COUNT; f++)
    for (int type = 0; type < JOIST_TYPE_COUNT; type++) {
      const int result = rules->facts[f][type];
      if (rules->types[type] && (rules->has_types || rules->result[type][type] != NONE ||
                                 (rules->has_facts[f] && result != NONE)))
        facts[n++] = (struct joist_rules_fact){joist_fact_name((joist_fact)f), (uint8_t)type,
                                               JOIST_NODE_NONE, (uint8_t)result};
    }
  for (int k = 0; k < rules->used_count; k++) {
    const int lhs = rules->used[k].lhs, rhs = rules->used[k].rhs, result = rules->used[k].result;
    if (result != rules->result[lhs][rhs])
      facts[n++] = (struct joist_rules_fact){"common", (uint8_t)lhs, (uint8_t)rhs, (uint8_t)result};
  }
  for (int pair = JOIST_PAIR_COMMON + 1; pair < JOIST_PAIR_COUNT; pair++)
    for (int k = 0; k < rules->published_count * rules->published_count; k++) {
      const int lhs = rules->published[k / rules->published_count];
      const int rhs = rules->published[k % rules->published_count];
      if (!rules->has_pairs[pair] || lhs >= JOIST_NODE_OWN || rhs >= JOIST_NODE_OWN) continue;
      const int result = joist_rules_entry_for(rules, (joist_pair)pair, lhs, rhs);
      if (result != joist_rules_table_entry(rules, lhs, rhs))
        facts[n++] = (struct joist_rules_fact){joist_pair_name((joist_pair)pair), (uint8_t)lhs,
                                               (uint8_t)rhs, (uint8_t)result};
    }
  for (int k = 0; k < rules->foreign_count; k++) {
    const struct joist_foreign cell = rules->foreign[k];
    const int fact = cell.operation - JOIST_PAIR_COUNT;
    if (fact >= 0 || cell.result != joist_rules_table_entry(rules, cell.lhs, cell.rhs))
      facts[n++] =
          (struct joist_rules_fact){fact >= 0 ? joist_fact_name((joist_fact)fact)
                                              : joist_pair_name((joist_pair)cell.operation),
                                    cell.lhs, cell.rhs, cell.result};
  }
  return n;
}

joist_status joist_rules_check_literals(const uint8_t literal[JOIST_CATEGORY_COUNT],
                                        struct joist_error *error) {
  static const char *const what[] = {"logical", "integer", "double", "complex"};
  static const char *const needed[] = {"bool", "integer", "float", "complex"};
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++)
    if ((int)joist_dtype_category((joist_dtype)literal[c]) != c)
      return JOIST_FAIL(error, JOIST_E_DEFAULT_DTYPE, .name = {what[c], needed[c]},
                        .type = {{(joist_dtype)literal[c], false}});
  return JOIST_OK;
}
