/* Promotion rule sets: which dtype two dtypes have in common, and how a set is made.
 *
 * A rule set is plain data of fixed size without pointers, so it can live in
 * static storage, on the stack or in an R raw vector. Nodes are the known dtypes
 * (0 .. JOIST_DTYPE_COUNT-1), the ambiguous ones, three weak categories, and names
 * of a user's own lattice after that. Knows no memory and no tensors. */
#ifndef JOIST_CORE_PROMOTION_RULE_SET_H
#define JOIST_CORE_PROMOTION_RULE_SET_H

#include "core/base/status.h"
#include "core/types/dtypes.h"

enum {
  JOIST_NODE_AMBIGUOUS = JOIST_DTYPE_COUNT, /* node of `f32?` is this + JOIST_F32 */
  JOIST_NODE_WEAK_INT = 2 * JOIST_DTYPE_COUNT,
  JOIST_NODE_WEAK_FLOAT,
  JOIST_NODE_WEAK_COMPLEX,
  JOIST_NODE_OWN, /* first node without a dtype, named by the user */
  JOIST_NODE_MAX = 254,
  JOIST_NODE_NONE = 255,
  JOIST_NODE_NAME_SIZE = 24,
  JOIST_EDGE_MAX = 1024,
  JOIST_TYPE_COUNT = 2 * JOIST_DTYPE_COUNT
};
_Static_assert(JOIST_NODE_OWN < JOIST_NODE_MAX, "room for nodes of a user's own");

/* A set of dtypes. */
typedef uint64_t joist_dtype_set;
_Static_assert(JOIST_DTYPE_COUNT <= 64, "a bit for each dtype");
#define JOIST_DTYPE_BIT(ID) ((joist_dtype_set)1 << JOIST_##ID)
#define JOIST_DTYPES_ALL (~(joist_dtype_set)0 >> (64 - JOIST_DTYPE_COUNT))
static inline bool joist_dtype_is_in(joist_dtype_set set, int dtype) {
  return (set >> dtype & 1) != 0;
}

typedef enum {
  JOIST_RULES_LATTICE, /* every result is a join */
  JOIST_RULES_TABLE    /* a published table that is not a lattice */
} joist_rules_kind;

/* The dtypes that the published documents speak of: what is said of other dtypes is said nowhere.
 */
#define JOIST_DTYPES_DOCUMENTED                                                                  \
  (JOIST_DTYPE_BIT(BOOL) | JOIST_DTYPE_BIT(I8) | JOIST_DTYPE_BIT(I16) | JOIST_DTYPE_BIT(I32) |   \
   JOIST_DTYPE_BIT(I64) | JOIST_DTYPE_BIT(UI8) | JOIST_DTYPE_BIT(UI16) | JOIST_DTYPE_BIT(UI32) | \
   JOIST_DTYPE_BIT(UI64) | JOIST_DTYPE_BIT(F16) | JOIST_DTYPE_BIT(BF16) | JOIST_DTYPE_BIT(F32) | \
   JOIST_DTYPE_BIT(F64) | JOIST_DTYPE_BIT(C64) | JOIST_DTYPE_BIT(C128))

/* What besides the two dtypes decides. */
typedef enum {
  JOIST_BY_TYPE,         /* nothing */
  JOIST_BY_RANK,         /* PyTorch: category first, then rank > 0, rank 0, number */
  JOIST_BY_VALUE,        /* NumPy 1.x: values of literals and of rank-0 operands */
  JOIST_BY_LITERAL_VALUE /* CuPy: values of literals only */
} joist_rules_policy;

/* What a rule set says about operations that do more than join. X(ID, name) */
#define JOIST_FACTS(X)                                                \
  X(INEXACT, "inexact") /* sqrt(), exp(), sin() and their like */     \
  X(DIVIDE, "divide")   /* `/` */                                     \
  X(ANGLE, "angle")     /* Arg(); complex becomes its parts' dtype */ \
  X(LINALG, "linalg")   /* solve(), qr() and their like */            \
  X(MEAN, "mean")                                                     \
  X(SUM, "sum")       /* sum() and prod() */                          \
  X(CUMSUM, "cumsum") /* cumsum() and cumprod() */                    \
  X(POWER, "power")   /* `^`, `%/%` and `%%`, which are undefined for bool */

typedef enum {
#define X(ID, NAME) JOIST_FACT_##ID,
  JOIST_FACTS(X)
#undef X
      JOIST_FACT_COUNT
} joist_fact;

struct joist_rules {
  uint32_t layout; /* sizeof(struct joist_rules): rejects a stored set of another version */
  char id[JOIST_NODE_NAME_SIZE];
  joist_rules_kind kind;
  joist_rules_policy policy;
  bool is_users; /* made from edges that the user gave */
  /* Two guesses that meet in a weak category are its default, whatever their dtypes: JAX, strict.
   */
  bool guesses_default;
  /* Default dtype of an R literal per category (logical, integer, double, complex). */
  uint8_t literal[JOIST_CATEGORY_COUNT];
  uint8_t node_end; /* nodes from here on are not in use */
  /* Nodes of the published table, in published order, and their printed names. */
  uint8_t published_count;
  uint8_t published[JOIST_NODE_MAX];
  char names[JOIST_NODE_MAX][JOIST_NODE_NAME_SIZE];
  /* Edges of the lattice (from, to); none for a table. */
  uint16_t edge_count;
  uint8_t edges[JOIST_EDGE_MAX][2];
  /* Common node of two nodes as published; JOIST_NODE_NONE where undefined. */
  uint8_t result[JOIST_NODE_MAX][JOIST_NODE_MAX];
  /* The dense table every decision reads, derived from `result` and `literal`:
   * node of (dtype + ambiguous * JOIST_DTYPE_COUNT) x the same, where a weak node
   * has been resolved to the ambiguous default of its category. */
  uint8_t promote[JOIST_TYPE_COUNT][JOIST_TYPE_COUNT];
  /* The type that a type becomes, a node below JOIST_TYPE_COUNT; JOIST_NODE_NONE where that is an
   * error. Read from a library, or else derived from `promote`: non-floats join the default float,
   * sums of integers have 64 bits. */
  bool has_library;
  uint8_t facts[JOIST_FACT_COUNT][JOIST_TYPE_COUNT];
};

/* Makes a rule set from lattice edges given as node names. Fails with
 * JOIST_ERROR_PROMOTION when the edges have a cycle (the error shows it) or there
 * are too many names. Pairs without a unique join are undefined, not an error. */
joist_status joist_rules_from_edges(struct joist_rules *rules, const char *id,
                                    const char *const *from, const char *const *to, size_t count,
                                    struct joist_error *error) JOIST_MUST_CHECK;

/* Whether memory that somebody else kept is a rule set of this version: everything that is
 * looked up by what it says is there. */
bool joist_rules_valid(const void *memory, size_t size);

/* Node of a name ("f32", "i32?", "i*", a user's own); JOIST_NODE_NONE if none. */
int joist_rules_node(const struct joist_rules *rules, const char *name);
/* Name of a node as this rule set prints it. */
const char *joist_rules_node_name(const struct joist_rules *rules, int node);

/* The node that stands for a type, and the type that a node stands for: of a weak category its
 * ambiguous default. JOIST_NODE_NONE, and false, where there is none. */
int joist_rules_node_of_type(const struct joist_rules *rules, struct joist_type type);
bool joist_rules_type_of_node(const struct joist_rules *rules, int node, struct joist_type *type);

/* Common node of two nodes as promotion tables print it. Where an operand is given
 * as `dtype?` and the rule set has only weak categories, the result is spelled as
 * `dtype?` too. JOIST_NODE_NONE where undefined. */
int joist_rules_table_entry(const struct joist_rules *rules, int lhs, int rhs);

/* Nodes of a shortest way up from one node to another along the edges, both ends included; how
 * many. 0 where there is none, as in every table; 1 from a node to itself. Of ways of one length,
 * the one whose edges are listed first, compared from the top. */
size_t joist_rules_path(const struct joist_rules *rules, int from, int to,
                        uint8_t path[JOIST_NODE_MAX]);

/* Writes the lowest of the nodes that two nodes both lead up to; returns their number. If there is
 * only one, it is the join. 0 for a table. */
size_t joist_rules_bounds(const struct joist_rules *rules, int lhs, int rhs,
                          uint8_t bounds[JOIST_NODE_MAX]);

/* ---- for what makes rule sets ---- */

/* The weak node of a category (integer, float or complex), and back. */
int joist_node_of_category(joist_category category);
joist_category joist_category_of_node(int weak);

/* Clears a rule set, sets its id, and names the known and ambiguous dtypes. */
void joist_rules_clear(struct joist_rules *rules, const char *id);
/* Fills `result` from `edges`. Returns a node on a cycle or JOIST_NODE_NONE. */
int joist_rules_join_edges(struct joist_rules *rules);
/* Fills `promote` from `result` and `literal`, and `facts` where they come from no library. */
void joist_rules_derive(struct joist_rules *rules);

#endif
