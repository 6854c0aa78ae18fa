/* Joins of every published lattice against a brute-force join made here, from the
 * definition, and the proofs of what makes a semilattice. */
#include "core/promotion/builtin_rules.h"
#include "core/promotion/lattice.h"
#include "csv.h"
#include "errors.h"
#include "rules.h"

/* A partial order by names, without any code of src/core. */
struct order {
  int count;
  char name[CSV_MAX][CSV_TEXT];
  int below[CSV_MAX][CSV_MAX];
};

static int order_node(struct order *order, const char *name) {
  for (int i = 0; i < order->count; i++)
    if (strcmp(order->name[i], name) == 0) return i;
  snprintf(order->name[order->count], CSV_TEXT, "%s", name);
  return order->count++;
}

static void order_read(struct order *order, const struct csv *csv) {
  memset(order, 0, sizeof *order);
  for (int row = 1; row < csv->rows; row++) {
    const int from = order_node(order, csv->cell[row][0]);
    const int to = order_node(order, csv->cell[row][1]);
    order->below[from][to] = 1;
  }
  for (int i = 0; i < order->count; i++) order->below[i][i] = 1;
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < order->count; i++)
      for (int j = 0; j < order->count; j++)
        for (int k = 0; k < order->count; k++)
          if (order->below[i][k] && order->below[k][j] && !order->below[i][j])
            changed = order->below[i][j] = 1;
  }
}

/* The upper bound that is below every upper bound, "-" where there is none. */
static const char *order_join(const struct order *order, int a, int b) {
  const char *least = "-";
  for (int u = 0; u < order->count; u++) {
    int is_least = order->below[a][u] && order->below[b][u];
    for (int v = 0; v < order->count; v++)
      if (order->below[a][v] && order->below[b][v] && !order->below[u][v]) is_least = 0;
    if (is_least) least = order->name[u];
  }
  return least;
}

static void compare(const char *what, const struct joist_rules *rules, const struct order *order) {
  for (int a = 0; a < order->count; a++) {
    for (int b = 0; b < order->count; b++) {
      const int lhs = joist_rules_node(rules, order->name[a]);
      const int rhs = joist_rules_node(rules, order->name[b]);
      if (!CHECK_MSG(lhs != JOIST_NODE_NONE && rhs != JOIST_NODE_NONE, "%s: no node %s or %s", what,
                     order->name[a], order->name[b]))
        continue;
      const char *want = order_join(order, a, b);
      const char *got = joist_rules_node_name(rules, joist_rules_table_entry(rules, lhs, rhs));
      CHECK_MSG(strcmp(want, got) == 0, "%s: %s x %s: want %s, got %s", what, order->name[a],
                order->name[b], want, got);
    }
  }
}

/* ---- ways up, along the edges of the file ---- */

enum { FAR = CSV_MAX };

/* Fewest edges from each node to each, by trying every node in between. */
static void find_distances(const struct csv *csv, struct order *order,
                           int distance[CSV_MAX][CSV_MAX]) {
  for (int i = 0; i < order->count; i++)
    for (int j = 0; j < order->count; j++) distance[i][j] = i == j ? 0 : FAR;
  for (int row = 1; row < csv->rows; row++)
    distance[order_node(order, csv->cell[row][0])][order_node(order, csv->cell[row][1])] = 1;
  for (int k = 0; k < order->count; k++)
    for (int i = 0; i < order->count; i++)
      for (int j = 0; j < order->count; j++)
        if (distance[i][k] + distance[k][j] < distance[i][j])
          distance[i][j] = distance[i][k] + distance[k][j];
}

/* From the top down, the edge listed first of those that are on a shortest way. */
static void first_way(const struct csv *csv, struct order *order, int (*distance)[CSV_MAX],
                      int from, int to, int *way) {
  for (int step = distance[from][to]; step >= 0; step--) {
    way[step] = to;
    int next = -1;
    for (int row = csv->rows - 1; row >= 1; row--) {
      const int below = order_node(order, csv->cell[row][0]);
      if (order_node(order, csv->cell[row][1]) == to && distance[from][below] == step - 1)
        next = below;
    }
    to = next;
  }
}

/* The bounds that no other bound is below. */
static void test_bounds(const char *what, const struct joist_rules *rules,
                        const struct order *order) {
  for (int a = 0; a < order->count; a++) {
    for (int b = 0; b < order->count; b++) {
      uint8_t bounds[JOIST_NODE_MAX];
      const size_t count = joist_rules_bounds(rules, joist_rules_node(rules, order->name[a]),
                                              joist_rules_node(rules, order->name[b]), bounds);
      size_t want = 0;
      for (int u = 0; u < order->count; u++) {
        int lowest = order->below[a][u] && order->below[b][u];
        for (int v = 0; v < order->count; v++)
          if (v != u && order->below[a][v] && order->below[b][v] && order->below[v][u]) lowest = 0;
        if (!lowest) continue;
        want++;
        bool found = false;
        for (size_t k = 0; k < count; k++)
          found |= bounds[k] == joist_rules_node(rules, order->name[u]);
        CHECK_MSG(found, "%s: %s is a lowest bound of %s and %s", what, order->name[u],
                  order->name[a], order->name[b]);
      }
      CHECK_INT(count, want);
    }
  }
}

static void test_paths(const char *what, const struct joist_rules *rules, const struct csv *csv,
                       struct order *order, bool listed_alike) {
  static int distance[CSV_MAX][CSV_MAX];
  find_distances(csv, order, distance);
  for (int a = 0; a < order->count; a++) {
    for (int b = 0; b < order->count; b++) {
      uint8_t path[JOIST_NODE_MAX];
      int way[CSV_MAX + 1], got[JOIST_NODE_MAX];
      const size_t count = joist_rules_path(rules, joist_rules_node(rules, order->name[a]),
                                            joist_rules_node(rules, order->name[b]), path);
      const size_t want = distance[a][b] == FAR ? 0 : (size_t)distance[a][b] + 1;
      if (!CHECK_MSG(count == want, "%s: the way from %s to %s: want %zu nodes, got %zu", what,
                     order->name[a], order->name[b], want, count) ||
          count == 0)
        continue;
      for (size_t k = 0; k < count; k++)
        got[k] = order_node(order, joist_rules_node_name(rules, path[k]));
      CHECK_STR(order->name[got[0]], order->name[a]);
      CHECK_STR(order->name[got[count - 1]], order->name[b]);
      for (size_t k = 1; k < count; k++)
        CHECK_MSG(distance[got[k - 1]][got[k]] == 1, "%s: %s to %s is not an edge", what,
                  order->name[got[k - 1]], order->name[got[k]]);
      if (!listed_alike) continue;
      first_way(csv, order, distance, a, b, way);
      for (size_t k = 0; k < count; k++)
        CHECK_MSG(way[k] == got[k], "%s: from %s to %s, node %zu: want %s, got %s", what,
                  order->name[a], order->name[b], k, order->name[way[k]], order->name[got[k]]);
    }
  }
}

static void test_file(const char *id, const char *file, int nodes, int edges) {
  static struct csv csv;
  static struct order order;
  static struct joist_rules rules;
  if (!CHECK_MSG(csv_read(file, &csv), "cannot read %s", file)) return;
  order_read(&order, &csv);
  CHECK_INT(order.count, nodes);
  CHECK_INT(csv.rows - 1, edges);
  if (id != NULL) {
    const struct joist_rules *builtin = joist_rules_find(id);
    if (!CHECK(builtin != NULL)) return;
    int documented = 0;
    for (int e = 0; e < builtin->edge_count; e++)
      documented += joist_rules_lists(builtin, builtin->edges[e][0]) &&
                    joist_rules_lists(builtin, builtin->edges[e][1]);
    CHECK_INT(documented, edges);
    compare(id, builtin, &order);
    test_paths(id, builtin, &csv, &order, false);
  }
  const char *from[CSV_MAX], *to[CSV_MAX];
  for (int e = 0; e < edges; e++) {
    from[e] = csv.cell[e + 1][0];
    to[e] = csv.cell[e + 1][1];
  }
  struct joist_error error;
  if (!CHECK(rules_from_edges(&rules, "user", from, to, (size_t)edges, &error) == JOIST_OK)) return;
  compare(file, &rules, &order);
  test_paths(file, &rules, &csv, &order, true);
  test_bounds(file, &rules, &order);
  CHECK_INT(rules.published_count, nodes);
}

static int rules_table(const void *context, int a, int b) {
  return ((const struct joist_rules *)context)->result[a][b];
}

static size_t count_failures(const struct joist_rules *rules, joist_property property) {
  uint8_t nodes[JOIST_NODE_MAX];
  size_t count = 0;
  for (int n = 0; n < rules->node_end; n++)
    if (rules->result[n][n] != JOIST_NODE_NONE && joist_rules_lists(rules, n))
      nodes[count++] = (uint8_t)n;
  return joist_check_property(property, nodes, count, rules_table, rules, NULL, 0);
}

static void test_proofs(void) {
  static const char *const flawless[] = {"anvil", "jax", "jax_x32", "python"};
  for (size_t i = 0; i < sizeof flawless / sizeof *flawless; i++)
    for (int p = 0; p < JOIST_PROPERTY_COUNT; p++) {
      const size_t count = count_failures(joist_rules_find(flawless[i]), (joist_property)p);
      CHECK_MSG(count == 0, "%s: property %d has %zu counterexamples", flawless[i], p, count);
    }

  static struct joist_counterexample found[8000];
  const struct joist_rules *numpy = joist_rules_find("numpy");
  const size_t count =
      joist_check_property(JOIST_PROPERTY_ASSOCIATIVITY, numpy->published, numpy->published_count,
                           rules_table, numpy, found, sizeof found / sizeof *found);
  bool seen = false;
  for (size_t i = 0; i < count; i++)
    if (found[i].a == JOIST_I8 && found[i].b == JOIST_UI8 && found[i].c == JOIST_F16)
      seen = found[i].left == JOIST_F32 && found[i].right == JOIST_F16;
  CHECK(seen);
  CHECK_INT(joist_check_property(JOIST_PROPERTY_COMMUTATIVITY, numpy->published,
                                 numpy->published_count, rules_table, numpy, NULL, 0),
            0);
  const struct joist_rules *tensorflow = joist_rules_find("tensorflow");
  CHECK(joist_check_property(JOIST_PROPERTY_COMMUTATIVITY, tensorflow->published,
                             tensorflow->published_count, rules_table, tensorflow, NULL, 0) > 0);
}

static void test_small(void) {
  struct joist_lattice lattice;
  /* 0 and 1 have the bounds 2 and 3, neither of which is least. */
  const uint8_t crossed[][2] = {{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 4}, {3, 4}};
  CHECK_INT(joist_lattice_close(&lattice, 5, crossed, 6), JOIST_LATTICE_NONE);
  CHECK_INT(joist_lattice_join(&lattice, 0, 1), JOIST_LATTICE_NONE);
  uint8_t bounds[JOIST_LATTICE_MAX];
  CHECK_INT(joist_lattice_bounds(&lattice, 0, 1, bounds), 2);
  CHECK_INT(bounds[0], 2);
  CHECK_INT(bounds[1], 3);
  CHECK_INT(joist_lattice_join(&lattice, 2, 3), 4);
  CHECK_INT(joist_lattice_join(&lattice, 0, 2), 2);
  CHECK_INT(joist_lattice_join(&lattice, 4, 4), 4);
  const uint8_t apart[][2] = {{0, 1}, {2, 3}};
  CHECK_INT(joist_lattice_close(&lattice, 4, apart, 2), JOIST_LATTICE_NONE);
  CHECK_INT(joist_lattice_join(&lattice, 1, 3), JOIST_LATTICE_NONE);
  const uint8_t cycle[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 1}};
  const int node = joist_lattice_close(&lattice, 4, cycle, 4);
  CHECK(node >= 1 && node <= 3);
  const uint8_t loop[][2] = {{5, 5}};
  CHECK_INT(joist_lattice_close(&lattice, 64, loop, 1), 5);
  const uint8_t ends[][2] = {{0, 63}};
  CHECK_INT(joist_lattice_close(&lattice, 64, ends, 1), JOIST_LATTICE_NONE);
  CHECK_INT(joist_lattice_join(&lattice, 63, 0), 63);
}

/* Of two ways of one length, and where there is none. */
static void test_ways(void) {
  static struct joist_rules rules;
  const char *const from[] = {"a", "a", "b", "c", "a", "d"}, *const to[] = {"c", "b", "t",
                                                                            "t", "d", "e"};
  struct joist_error error;
  if (!CHECK(rules_from_edges(&rules, "two", from, to, 6, &error) == JOIST_OK)) return;
  const int a = joist_rules_node(&rules, "a"), t = joist_rules_node(&rules, "t");
  uint8_t path[JOIST_NODE_MAX];
  CHECK_INT(joist_rules_path(&rules, a, t, path), 3);
  CHECK_STR(joist_rules_node_name(&rules, path[1]), "b"); /* b -> t is listed before c -> t */
  CHECK_INT(joist_rules_path(&rules, t, a, path), 0);
  CHECK_INT(joist_rules_path(&rules, a, a, path), 1);
  CHECK_INT(path[0], a);
  CHECK_INT(joist_rules_path(&rules, joist_rules_node(&rules, "e"), t, path), 0);
  const struct joist_rules *numpy = joist_rules_find("numpy");
  CHECK_INT(joist_rules_path(numpy, JOIST_I8, JOIST_I16, path), 0);
}

int main(void) {
  use_rules();
  test_file("anvil", "lattice_anvil.csv", 30, 41);
  test_file("jax", "lattice_jax.csv", 18, 24);
  test_file("option0", "lattice_jep9407_option0.csv", 16, 20);
  test_file("option1", "lattice_jep9407_option1.csv", 16, 23);
  test_file("option2", "lattice_jep9407_option2.csv", 16, 23);
  test_file("option3", "lattice_jep9407_option3.csv", 16, 20);
  test_file("option3_bf16", "lattice_jep9407_option3_bf16.csv", 17, 22);
  test_file("python", "lattice_python.csv", 3, 2);
  test_proofs();
  test_small();
  test_ways();
  return check_report("lattice");
}
