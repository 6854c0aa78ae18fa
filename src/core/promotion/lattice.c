/* Joins by bit sets, and brute-force proofs. Owns no memory. */
#include "core/promotion/lattice.h"

#include <string.h>

_Static_assert((int)JOIST_LATTICE_MAX <= 64 * (int)JOIST_LATTICE_WORDS, "a bit for each node");

static bool is_in(const struct joist_nodes *nodes, size_t node) {
  return (nodes->word[node / 64] >> (node % 64) & 1) != 0;
}

static void put(struct joist_nodes *nodes, size_t node) {
  nodes->word[node / 64] |= UINT64_C(1) << (node % 64);
}

static void add_all(struct joist_nodes *nodes, const struct joist_nodes *others) {
  for (int w = 0; w < JOIST_LATTICE_WORDS; w++) nodes->word[w] |= others->word[w];
}

/* Whether all of `nodes` are among `others`. */
static bool are_among(const struct joist_nodes *nodes, const struct joist_nodes *others) {
  uint64_t left = 0;
  for (int w = 0; w < JOIST_LATTICE_WORDS; w++) left |= nodes->word[w] & ~others->word[w];
  return left == 0;
}

static struct joist_nodes common_bounds(const struct joist_lattice *lattice, int lhs, int rhs) {
  struct joist_nodes both;
  for (int w = 0; w < JOIST_LATTICE_WORDS; w++)
    both.word[w] = lattice->above[lhs].word[w] & lattice->above[rhs].word[w];
  return both;
}

int joist_lattice_close(struct joist_lattice *lattice, size_t count, const uint8_t (*edges)[2],
                        size_t edge_count) {
  struct joist_nodes *const above = lattice->above;
  memset(above, 0, count * sizeof *above);
  for (size_t e = 0; e < edge_count; e++) put(&above[edges[e][0]], edges[e][1]);
  for (size_t k = 0; k < count; k++)
    for (size_t i = 0; i < count; i++)
      if (is_in(&above[i], k)) add_all(&above[i], &above[k]);

  lattice->count = count;
  int on_cycle = JOIST_LATTICE_NONE;
  for (size_t i = count; i-- > 0;) {
    if (is_in(&above[i], i)) on_cycle = (int)i;
    put(&above[i], i);
  }
  return on_cycle;
}

int joist_lattice_join(const struct joist_lattice *lattice, int lhs, int rhs) {
  const struct joist_nodes bounds = common_bounds(lattice, lhs, rhs);
  /* The least bound is the one below all bounds. A partial order has at most one. */
  for (size_t i = 0; i < lattice->count; i++)
    if (is_in(&bounds, i) && are_among(&bounds, &lattice->above[i])) return (int)i;
  return JOIST_LATTICE_NONE;
}

size_t joist_lattice_bounds(const struct joist_lattice *lattice, int lhs, int rhs,
                            uint8_t bounds[JOIST_LATTICE_MAX]) {
  const struct joist_nodes all = common_bounds(lattice, lhs, rhs);
  struct joist_nodes higher = {{0}};
  for (size_t i = 0; i < lattice->count; i++) {
    if (!is_in(&all, i)) continue;
    struct joist_nodes strictly = lattice->above[i];
    strictly.word[i / 64] &= ~(UINT64_C(1) << (i % 64));
    add_all(&higher, &strictly);
  }
  size_t count = 0;
  for (size_t i = 0; i < lattice->count; i++)
    if (is_in(&all, i) && !is_in(&higher, i)) bounds[count++] = (uint8_t)i;
  return count;
}

struct check {
  int (*table)(const void *context, int a, int b);
  const void *context;
  struct joist_counterexample *found;
  size_t capacity, count;
};

static int entry(const struct check *check, int a, int b) {
  if (a == JOIST_LATTICE_NONE || b == JOIST_LATTICE_NONE) return JOIST_LATTICE_NONE;
  return check->table(check->context, a, b);
}

static void report(struct check *check, int a, int b, int c, int left, int right) {
  if (check->count < check->capacity)
    check->found[check->count] = (struct joist_counterexample){(uint8_t)a, (uint8_t)b, (uint8_t)c,
                                                               (uint8_t)left, (uint8_t)right};
  check->count++;
}

static void check_pair(struct check *check, joist_property property, int a, int b, bool ordered) {
  const int left = entry(check, a, b);
  if (property == JOIST_PROPERTY_EXISTENCE) {
    if (left == JOIST_LATTICE_NONE)
      report(check, a, b, JOIST_LATTICE_NONE, left, JOIST_LATTICE_NONE);
    return;
  }
  const int right = entry(check, b, a);
  if (ordered && left != right) report(check, a, b, JOIST_LATTICE_NONE, left, right);
}

static void check_triple(struct check *check, int a, int b, int c) {
  const int left = entry(check, entry(check, a, b), c);
  const int right = entry(check, a, entry(check, b, c));
  if (left != right) report(check, a, b, c, left, right);
}

size_t joist_check_property(joist_property property, const uint8_t *nodes, size_t count,
                            int (*table)(const void *context, int a, int b), const void *context,
                            struct joist_counterexample *found, size_t capacity) {
  struct check check = {table, context, found, capacity, 0};
  for (size_t i = 0; i < count; i++) {
    const int a = nodes[i];
    if (property == JOIST_PROPERTY_IDEMPOTENCE) {
      const int self = entry(&check, a, a);
      if (self != a) report(&check, a, a, JOIST_LATTICE_NONE, self, a);
      continue;
    }
    for (size_t j = 0; j < count; j++) {
      if (property != JOIST_PROPERTY_ASSOCIATIVITY) {
        check_pair(&check, property, a, nodes[j], i < j);
        continue;
      }
      for (size_t k = 0; k < count; k++) check_triple(&check, a, nodes[j], nodes[k]);
    }
  }
  return check.count;
}
