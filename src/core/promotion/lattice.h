/* Joins on a partial order given by its edges, and proofs of what makes it a
 * join-semilattice. Knows no dtype: nodes are numbers below JOIST_LATTICE_MAX. */
#ifndef JOIST_CORE_PROMOTION_LATTICE_H
#define JOIST_CORE_PROMOTION_LATTICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOIST_LATTICE_MAX = 254, JOIST_LATTICE_NONE = 255, JOIST_LATTICE_WORDS = 4 };

/* A set of nodes. */
struct joist_nodes {
  uint64_t word[JOIST_LATTICE_WORDS];
};

struct joist_lattice {
  size_t count;
  struct joist_nodes above[JOIST_LATTICE_MAX]; /* j is in above[i]: i <= j (reflexive closure) */
};

/* Closes the edges transitively. Returns a node on a cycle, or JOIST_LATTICE_NONE. */
int joist_lattice_close(struct joist_lattice *lattice, size_t count, const uint8_t (*edges)[2],
                        size_t edge_count);

/* Least upper bound; JOIST_LATTICE_NONE where there is none or no unique one. */
int joist_lattice_join(const struct joist_lattice *lattice, int lhs, int rhs);

/* Writes the lowest of the nodes above both; returns their number. */
size_t joist_lattice_bounds(const struct joist_lattice *lattice, int lhs, int rhs,
                            uint8_t bounds[JOIST_LATTICE_MAX]);

/* A way in which a binary table fails to be the join of a semilattice. */
struct joist_counterexample {
  uint8_t a, b, c;     /* c is used by associativity only */
  uint8_t left, right; /* the two results that differ; JOIST_LATTICE_NONE: undefined */
};

typedef enum {
  JOIST_PROPERTY_EXISTENCE,     /* a v b is defined */
  JOIST_PROPERTY_COMMUTATIVITY, /* a v b = b v a */
  JOIST_PROPERTY_ASSOCIATIVITY, /* (a v b) v c = a v (b v c) */
  JOIST_PROPERTY_IDEMPOTENCE,   /* a v a = a */
  JOIST_PROPERTY_COUNT
} joist_property;

/* Checks one property of a table over `count` nodes by brute force. `nodes` lists
 * the node numbers, table(context, a, b) is the result of a pair or
 * JOIST_LATTICE_NONE. Writes up to `capacity` counterexamples and returns how many
 * there are in all. A triple with an undefined part on both sides is not a counterexample. */
size_t joist_check_property(joist_property property, const uint8_t *nodes, size_t count,
                            int (*table)(const void *context, int a, int b), const void *context,
                            struct joist_counterexample *found, size_t capacity);

#endif
