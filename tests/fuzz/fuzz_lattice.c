/* A user's promotion lattice from any edges: one with a cycle is refused; in another every join is
 * the least of the upper bounds, found here by following edges; and a set that was read from any
 * bytes can be looked things up in.
 *
 * The bytes: how many there are of edges, two each; then the text of a rule set. */
#include "../core/rules.h"
#include "bytes.h"
#include "core/promotion/builtin_rules.h"
#include "core/promotion/promote.h"
#include "core/types/error.h"
#include "fuzz.h"

enum {
  OWN = 40,                     /* names without a dtype; there is room for fewer */
  NAMES = JOIST_NODE_OWN + OWN, /* and two behind them are refused */
  NAME_SIZE = 40
};

/* Dtypes, guesses, weak categories, names of the user's; one that is too long, and one of nothing.
 */
static void make_name(size_t number, char *name) {
  static const char *const weak[] = {"i*", "f*", "c*"};
  if (number < JOIST_DTYPE_COUNT)
    snprintf(name, NAME_SIZE, "%s", joist_dtype_name((joist_dtype)number));
  else if (number < JOIST_TYPE_COUNT)
    snprintf(name, NAME_SIZE, "%s?", joist_dtype_name((joist_dtype)(number - JOIST_DTYPE_COUNT)));
  else if (number < JOIST_NODE_OWN)
    snprintf(name, NAME_SIZE, "%s", weak[number - JOIST_TYPE_COUNT]);
  else if (number < NAMES)
    snprintf(name, NAME_SIZE, "own%zu", number);
  else
    snprintf(name, NAME_SIZE, "%s",
             number == NAMES ? "a name that is far too long for a node" : "");
}

typedef unsigned __int128 set; /* of names */

struct model {
  set present, below[NAMES]; /* those that an edge, or in the end a way, leads up to */
};

static set one(size_t name) { return (set)1 << name; }
static bool has(set names, size_t name) { return (names >> name & 1) != 0; }

/* All that a name leads up to, by following edges. */
static void follow(const struct model *edges, size_t at, set *found) {
  for (size_t next = 0; next < NAMES; next++) {
    if (!has(edges->below[at], next) || has(*found, next)) continue;
    *found |= one(next);
    follow(edges, next, found);
  }
}

/* The least of the upper bounds, NAMES where there is none. */
static size_t join(const struct model *model, size_t a, size_t b) {
  const set bounds = (model->below[a] | one(a)) & (model->below[b] | one(b));
  for (size_t bound = 0; bound < NAMES; bound++)
    if (has(bounds, bound) && (bounds & ~(model->below[bound] | one(bound))) == 0) return bound;
  return NAMES;
}

/* Everything that is looked up in a rule set, by every node and type. */
static void look_up(const struct joist_rules *rules) {
  for (int lhs = 0; lhs < JOIST_NODE_MAX; lhs++) {
    struct joist_type type;
    uint8_t nodes[JOIST_NODE_MAX];
    HOLDS(strnlen(joist_rules_node_name(rules, lhs), JOIST_NODE_NAME_SIZE) < JOIST_NODE_NAME_SIZE);
    if (joist_rules_type_of_node(rules, lhs, &type)) HOLDS(type.dtype < JOIST_DTYPE_COUNT);
    for (int rhs = 0; rhs < JOIST_NODE_MAX; rhs++) {
      const int entry = joist_rules_table_entry(rules, lhs, rhs);
      HOLDS(entry == JOIST_NODE_NONE || entry < JOIST_NODE_MAX);
    }
    const int other = (lhs * 37 + 5) % JOIST_NODE_MAX;
    HOLDS(joist_rules_path(rules, lhs, other, nodes) <= JOIST_NODE_MAX);
    HOLDS(joist_rules_bounds(rules, lhs, other, nodes) <= JOIST_NODE_MAX);
  }
  for (int lhs = 0; lhs < JOIST_TYPE_COUNT; lhs++) {
    const struct joist_type left = {(joist_dtype)(lhs % JOIST_DTYPE_COUNT),
                                    lhs >= JOIST_DTYPE_COUNT};
    for (int fact = 0; fact < JOIST_FACT_COUNT; fact++) {
      struct joist_type type = left;
      if (joist_fact_apply(rules, (joist_fact)fact, &type, NULL))
        HOLDS(type.dtype < JOIST_DTYPE_COUNT);
    }
    for (int rhs = 0; rhs < JOIST_TYPE_COUNT; rhs++) {
      const struct joist_operand operands[2] = {
          {.type = left, .rank = 1},
          {.type = {(joist_dtype)(rhs % JOIST_DTYPE_COUNT), rhs >= JOIST_DTYPE_COUNT}}};
      struct joist_type result;
      struct joist_error error;
      if (joist_common_type(rules, JOIST_PAIR_ADD, operands, 2, &result, &error) == JOIST_OK)
        HOLDS(result.dtype < JOIST_DTYPE_COUNT);
      else
        HOLDS(error.code < JOIST_E_COUNT);
    }
  }
}

static void check_joins(const struct joist_rules *rules, const struct model *model) {
  int node[NAMES];
  for (size_t k = 0; k < NAMES; k++) {
    char name[NAME_SIZE];
    make_name(k, name);
    node[k] = has(model->present, k) ? joist_rules_node(rules, name) : JOIST_NODE_NONE;
    HOLDS(!has(model->present, k) || strcmp(joist_rules_node_name(rules, node[k]), name) == 0);
  }
  for (size_t a = 0; a < NAMES; a++)
    for (size_t b = 0; b < NAMES && has(model->present, a); b++) {
      if (!has(model->present, b)) continue;
      const size_t least = join(model, a, b);
      HOLDS(rules->result[node[a]][node[b]] == (least == NAMES ? JOIST_NODE_NONE : node[least]));
      if ((a * 7 + b) % 61 > 0) continue; /* these take longer */
      uint8_t path[JOIST_NODE_MAX], bounds[JOIST_NODE_MAX];
      const size_t steps = joist_rules_path(rules, node[a], node[b], path);
      HOLDS((steps > 0) == (a == b || has(model->below[a], b)));
      HOLDS(steps == 0 || (path[0] == node[a] && path[steps - 1] == node[b]));
      const size_t lowest = joist_rules_bounds(rules, node[a], node[b], bounds);
      HOLDS((lowest == 1) == (least != NAMES));
    }
}

static void from_edges(struct bytes *bytes, size_t count, struct joist_rules *rules) {
  static char names[NAMES + 2][NAME_SIZE];
  static const char *from[JOIST_EDGE_MAX + 1], *to[JOIST_EDGE_MAX + 1];
  struct model edge, model;
  bool refused = false, cycle = false;
  size_t own = 0;
  memset(&edge, 0, sizeof edge);
  for (size_t k = 0; k < NAMES + 2; k++) make_name(k, names[k]);
  for (size_t e = 0; e < count; e++) {
    size_t ends[2];
    for (int end = 0; end < 2; end++) {
      ends[end] = take_below(bytes, NAMES + 2);
      (end == 0 ? from : to)[e] = names[ends[end]];
      refused |= ends[end] >= NAMES;
      if (ends[end] >= NAMES || has(edge.present, ends[end])) continue;
      edge.present |= one(ends[end]);
      own += ends[end] >= JOIST_NODE_OWN;
    }
    if (!refused) edge.below[ends[0]] |= one(ends[1]);
  }
  refused |= own > JOIST_NODE_MAX - JOIST_NODE_OWN || count > JOIST_EDGE_MAX || count == 0;
  model = edge;
  for (size_t k = 0; k < NAMES; k++) {
    model.below[k] = 0;
    follow(&edge, k, &model.below[k]);
    cycle |= has(model.below[k], k);
  }
  struct joist_error error;
  const joist_status status = rules_from_edges(rules, "mine", from, to, count, &error);
  HOLDS((status == JOIST_OK) == (!refused && !cycle));
  if (status != JOIST_OK) {
    HOLDS(status == JOIST_ERROR_PROMOTION || status == JOIST_ERROR_VALUE);
    HOLDS(refused || error.code == JOIST_E_EDGE_CYCLE);
    HOLDS(memchr(error.text[1].bytes, '\0', sizeof error.text[1].bytes) != NULL);
    return;
  }
  HOLDS(rules_are_sound(rules));
  check_joins(rules, &model);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static bool ready = false;
  if (!ready) use_rules();
  ready = true;
  if (size == 0) return 0;
  struct bytes bytes = {data + 1, data + size};
  const size_t edges = data[0] % 2 == 0 ? bytes_left(&bytes) / 2 : data[0] / 2;
  struct joist_rules *const rules = malloc(sizeof *rules);
  HOLDS(rules != NULL);
  from_edges(&bytes, edges > JOIST_EDGE_MAX + 1 ? JOIST_EDGE_MAX + 1 : edges, rules);
  struct joist_error error;
  if (joist_rules_read(rules, (const char *)bytes.at, bytes_left(&bytes), &error) == JOIST_OK) {
    HOLDS(rules_are_sound(rules));
    look_up(rules);
  }
  free(rules);
  return 0;
}
