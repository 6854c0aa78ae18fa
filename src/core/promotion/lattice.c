/* Joins by bit sets, and brute-force proofs. Owns no memory. */
#include "core/promotion/lattice.h"

static uint64_t bit(int node) { return UINT64_C(1) << node; }

int joist_lattice_close(struct joist_lattice *lattice, size_t count, const uint8_t (*edges)[2],
                        size_t edge_count) {
  uint64_t strictly_above[JOIST_LATTICE_MAX] = {0};
  for (size_t e = 0; e < edge_count; e++) strictly_above[edges[e][0]] |= bit(edges[e][1]);
  for (size_t k = 0; k < count; k++)
    for (size_t i = 0; i < count; i++)
      if (strictly_above[i] & bit((int)k)) strictly_above[i] |= strictly_above[k];

  lattice->count = count;
  int on_cycle = JOIST_LATTICE_NONE;
  for (size_t i = count; i-- > 0;) {
    if (strictly_above[i] & bit((int)i)) on_cycle = (int)i;
    lattice->above[i] = strictly_above[i] | bit((int)i);
  }
  return on_cycle;
}

int joist_lattice_join(const struct joist_lattice *lattice, int lhs, int rhs) {
  const uint64_t bounds = lattice->above[lhs] & lattice->above[rhs];
  /* The least bound is the one below all bounds. A partial order has at most one. */
  for (size_t i = 0; i < lattice->count; i++)
    if ((bounds & bit((int)i)) && (bounds & ~lattice->above[i]) == 0) return (int)i;
  return JOIST_LATTICE_NONE;
}

size_t joist_lattice_bounds(const struct joist_lattice *lattice, int lhs, int rhs,
                            uint8_t bounds[JOIST_LATTICE_MAX]) {
  const uint64_t all = lattice->above[lhs] & lattice->above[rhs];
  uint64_t lowest = all;
  for (size_t i = 0; i < lattice->count; i++)
    if (all & bit((int)i)) lowest &= ~lattice->above[i] | bit((int)i);
  size_t count = 0;
  for (size_t i = 0; i < lattice->count; i++)
    if (lowest & bit((int)i)) bounds[count++] = (uint8_t)i;
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
