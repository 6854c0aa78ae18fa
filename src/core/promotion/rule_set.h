/* Promotion rule sets: which dtype two dtypes have in common, and how a set is made.
 *
 * A rule set is plain data of fixed size without pointers, compiled from text (rules_text.h). Nodes
 * are the known dtypes
 * (0 .. JOIST_DTYPE_COUNT-1), the ambiguous ones, three weak categories, and names
 * of a user's own lattice after that. Knows no memory and no tensors. */
#ifndef JOIST_CORE_PROMOTION_RULE_SET_H
#define JOIST_CORE_PROMOTION_RULE_SET_H

#include "core/base/status.h"
#include "core/types/dtypes.h"

enum {
  JOIST_NODE_AMBIGUOUS = JOIST_DTYPE_COUNT,             /* node of `f32?` is this + JOIST_F32 */
  JOIST_NODE_TRUTH = JOIST_NODE_AMBIGUOUS + JOIST_BOOL, /* `b*` where the rules have it */
  JOIST_NODE_WEAK_INT = 2 * JOIST_DTYPE_COUNT,
  JOIST_NODE_WEAK_FLOAT,
  JOIST_NODE_WEAK_COMPLEX,
  JOIST_NODE_OWN, /* first node without a dtype, named by the user */
  JOIST_NODE_MAX = 254,
  JOIST_NODE_NONE = 255,
  JOIST_NODE_NAME_SIZE = 24,
  JOIST_EDGE_MAX = 1024,
  JOIST_PUBLISHED_MAX = 255, /* cells that a published table has otherwise */
  JOIST_FOREIGN_MAX = 8192,  /* cells of operations of dtypes that joist does not have */
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

/* What besides the two dtypes decides. X(ID, name) */
#define JOIST_POLICIES(X)                                                                \
  X(TYPE, "type")                   /* nothing */                                        \
  X(RANK, "rank")                   /* PyTorch: category first, then rank > 0, rank 0,   \
                                       number */                                         \
  X(VALUE, "value")                 /* NumPy 1.x: values of literals and of rank-0       \
                                       operands */                                       \
  X(LITERAL_VALUE, "literal value") /* CuPy: values of literals only */                  \
  X(FITTING, "fitting literal")     /* DuckDB: a whole literal takes an integer dtype    \
                                       that it fits, else the default or i64 */          \
  X(SMALLEST, "smallest literal")   /* Polars: else the smallest one of its sign */      \
  X(SIGNED, "signed literal")       /* PyTensor: a literal is of the smallest signed     \
                                       integer dtype, or of f32 or f64, that holds it */ \
  X(UNSIGNED, "unsigned literal")   /* ClickHouse: a whole literal is of the smallest    \
                                       integer dtype of its sign */

typedef enum {
#define X(ID, NAME) JOIST_BY_##ID,
  JOIST_POLICIES(X)
#undef X
      JOIST_POLICY_COUNT
} joist_rules_policy;

/* Operations of two operands for which a rule set may have a separate table. X(ID, name) */
#define JOIST_PAIRS(X)                                                         \
  X(COMMON, "common") /* the common dtype, and what has no table of its own */ \
  X(ADD, "add")       /* `+`, and `-` and `*` without a table of their own */  \
  X(SUBTRACT, "subtract")                                                      \
  X(MULTIPLY, "multiply")                                                      \
  X(DIVIDE, "divide") /* `/` */                                                \
  X(POWER, "power")   /* `^` */                                                \
  X(INTEGER_DIVIDE, "integer_divide")                                          \
  X(MODULO, "modulo")                                                          \
  X(COMBINE, "combine") /* c(), ifelse() and their like */                     \
  X(ASSIGN, "assign")   /* of the second operand to elements of the first */   \
  X(MAXIMUM, "maximum") /* pmax() and pmin() */                                \
  X(BITWISE, "bitwise")                                                        \
  X(RANK_ZERO, "rank_zero") /* `add` of an operand with dims and one without */

typedef enum {
#define X(ID, NAME) JOIST_PAIR_##ID,
  JOIST_PAIRS(X)
#undef X
      JOIST_PAIR_COUNT
} joist_pair;

/* What a rule set says about operations that do more than join. X(ID, name) */
#define JOIST_FACTS(X)                                                \
  X(INEXACT, "inexact") /* sqrt(), exp(), sin() and their like */     \
  X(DIVIDE, "divide")   /* `/` */                                     \
  X(ANGLE, "angle")     /* Arg(); complex becomes its parts' dtype */ \
  X(LINALG, "linalg")   /* solve(), qr() and their like */            \
  X(MEAN, "mean")                                                     \
  X(SUM, "sum")                                                       \
  X(PROD, "prod")                                                     \
  X(CUMSUM, "cumsum") /* cumsum() and cumprod() */                    \
  X(POWER, "power")   /* `^`, `%/%` and `%%`, which are undefined for bool */

typedef enum {
#define X(ID, NAME) JOIST_FACT_##ID,
  JOIST_FACTS(X)
#undef X
      JOIST_FACT_COUNT
} joist_fact;

/* Of rules that no library stands behind. */
#define JOIST_NO_VERSION "no library: joined with the default float, sums in 64 bits"

/* What becomes of an integer result that its dtype cannot hold. X(ID, name) */
#define JOIST_BEYOND(X) X(WRAP, "wrap") X(SATURATE, "saturate")

typedef enum {
#define X(ID, NAME) JOIST_BEYOND_##ID,
  JOIST_BEYOND(X)
#undef X
      JOIST_BEYOND_COUNT
} joist_beyond;

/* What a rule set says by one of two words, of which the latter is true. X(FIELD, key, word, word)
 */
#define JOIST_CHOICES(X)                                                                           \
  /* Two ambiguous types that meet in a weak category are its default, whatever their dtypes: JAX, \
   * strict.                                                                                       \
   */                                                                                              \
  X(guesses_default, "guesses", "kept", "default")                                                 \
  /* Lattices list their nodes of up to a byte, of which no document speaks, only where asked for. \
   */                                                                                              \
  X(hides_small, "small dtypes", "listed", "unlisted")                                             \
  /* A dtype that no pair has is its own common dtype with itself. */                              \
  X(meets_itself, "other dtypes", "refused", "alone")                                              \
  /* What max(), min() and diag() take from an ambiguous tensor is known: JAX. */                  \
  X(extremes_known, "extremes", "kept", "known")                                                   \
  /* `x ^ 2L` is of x's type, whatever the table says: JAX. */                                     \
  X(powers_of_base, "whole powers", "power", "base")                                               \
  /* The product of two ambiguous matrices is ambiguous, of the default dtype: JAX. */             \
  X(products_default, "guessed products", "kept", "default")                                       \
  /* Medians and quantiles of an ambiguous tensor are of the type of a mean of doubles: JAX. */    \
  X(quantiles_default, "guessed quantiles", "kept", "default")                                     \
  /* `/` rounds quotients that are integers, halves away from zero: Octave. */                     \
  X(quotients_rounded, "whole quotients", "truncated", "rounded")                                  \
  /* `+`, `-`, `*`, `/` and `^` of a float and an integer of up to 32 bits are computed in f64,    \
   * and rounded where the result is an integer, halves away from zero: Octave. */                 \
  X(mixed_in_double, "mixed arithmetic", "common", "double")

enum { JOIST_RULES_TEXT_SIZE = 160 };

/* Names; the number of an operation of two operands, -1 for none. */
const char *joist_pair_name(joist_pair pair);
const char *joist_fact_name(joist_fact fact);
const char *joist_policy_name(joist_rules_policy policy);
int joist_pair_of_name(const char *name);

/* Whether it is `-` or `*`, which is as `+` without a table of its own. */
static inline bool joist_pair_adds(joist_pair pair) {
  return pair == JOIST_PAIR_SUBTRACT || pair == JOIST_PAIR_MULTIPLY;
}

/* The fact that says what an operation of two operands makes of their common dtype, if it has no
 * table of its own; JOIST_FACT_COUNT if it leaves the dtype as it is. */
joist_fact joist_pair_fact(joist_pair pair, joist_dtype joined);

struct joist_rules;

/* A function of the host that decides before the tables do. `nodes` are of the operands, those
 * without a dtype of R numbers. False: the tables decide. Otherwise the node of the common type, or
 * JOIST_NODE_NONE and why the function refuses, which is valid until the next question. */
struct joist_rule_function {
  bool (*ask)(const struct joist_rules *rules, const char *op, const uint8_t *nodes, size_t count,
              int *node, const char **refusal);
  void *context;  /* of the host */
  const char *as; /* the operation that it is asked about, whatever it is; NULL: that */
};

struct joist_rules {
  char id[JOIST_NODE_NAME_SIZE];
  /* One line each: where the rules are written, what the facts were read from, and the address of
   * the former on the web, or "". */
  char source[JOIST_RULES_TEXT_SIZE], version[JOIST_RULES_TEXT_SIZE], url[JOIST_RULES_TEXT_SIZE];
  joist_rules_kind kind;
  joist_rules_policy policy;
  joist_beyond beyond;
  /* A literal of R's type logical is `b*`, and not `bool`. */
  bool has_truths;
#define X(FIELD, KEY, OFF, ON) bool FIELD;
  JOIST_CHOICES(X)
#undef X
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
  /* Where operations use another one: the library has moved on since. */
  struct {
    uint8_t lhs, rhs, result;
  } used[JOIST_PUBLISHED_MAX];
  uint8_t used_count;
  /* The dense tables every decision reads, the table of COMMON derived from `result`, `used` and
   * `literal`:
   * node of (dtype + ambiguous * JOIST_DTYPE_COUNT) x the same, where a weak node
   * has been resolved to the ambiguous default of its category. JOIST_NODE_NONE, or a node without
   * a dtype, where it is an error. Those of other operations are read only if they are given. */
  uint8_t pairs[JOIST_PAIR_COUNT][JOIST_TYPE_COUNT][JOIST_TYPE_COUNT];
  bool has_pairs[JOIST_PAIR_COUNT];
  /* The node that a type becomes, as in the tables above; JOIST_NODE_NONE where that is an error.
   * Read from a library or a file, or else derived from the common dtypes: non-floats join the
   * default float, sums of integers have 64 bits. */
  bool has_facts[JOIST_FACT_COUNT];
  uint8_t facts[JOIST_FACT_COUNT][JOIST_TYPE_COUNT];
  /* What operations other than the common dtype make of nodes of which one has no dtype: of two by
   * a joist_pair, of one, and JOIST_NODE_NONE, by JOIST_PAIR_COUNT and a fact. */
  struct joist_foreign {
    uint8_t operation, lhs, rhs, result;
  } foreign[JOIST_FOREIGN_MAX];
  uint16_t foreign_count;
  /* The types that the library has: as the rules say, or else those that cells or facts name. */
  bool has_types, types[JOIST_TYPE_COUNT];
  const struct joist_rule_function *function; /* NULL: the tables decide */
};

/* What the function of a rule set answers, as its `ask` does; false without one. */
bool joist_rules_ask(const struct joist_rules *rules, const char *op, const uint8_t *nodes,
                     size_t count, int *node, const char **refusal);

/* Whether R's TRUE is another operand than a tensor of bool: one that stands apart by its node or,
 * as the numbers of PyTorch, by its rank. */
static inline bool joist_rules_tell_truths(const struct joist_rules *rules) {
  return rules->has_truths || rules->policy == JOIST_BY_RANK;
}

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
/* The node that two nodes have as the result of an operation: by its own table if there is one,
 * else what operations make of the common node. */
int joist_rules_entry_for(const struct joist_rules *rules, joist_pair pair, int lhs, int rhs);

/* Nodes of a shortest way up from one node to another along the edges, both ends included; how
 * many. 0 where there is none, as in every table; 1 from a node to itself. Of ways of one length,
 * the one whose edges are listed first, compared from the top. */
size_t joist_rules_path(const struct joist_rules *rules, int from, int to,
                        uint8_t path[JOIST_NODE_MAX]);

/* Writes the lowest of the nodes that two nodes both lead up to; returns their number. If there is
 * only one, it is the join. 0 for a table. */
size_t joist_rules_bounds(const struct joist_rules *rules, int lhs, int rhs,
                          uint8_t bounds[JOIST_NODE_MAX]);

/* What an operation without a table makes of two types, below JOIST_TYPE_COUNT: a fact of their
 * common one. */
int joist_rules_entry_by_fact(const struct joist_rules *rules, joist_pair pair, int left,
                              int right);

/* Whether some pair with a node has a result. */
bool joist_rules_has_node(const struct joist_rules *rules, int node);

/* The cell in `foreign` of an operation and nodes, NULL without one. */
const struct joist_foreign *joist_rules_foreign(const struct joist_rules *rules, int operation,
                                                int lhs, int rhs);

/* The common dtypes that operations use, where these are not the published ones. */
void joist_rules_as_used(const struct joist_rules *rules, struct joist_rules *used);

/* Whether listings of the rules have a node. */
bool joist_rules_lists(const struct joist_rules *rules, int node);

/* One fact: what a node becomes; or, named "common", the common node of two nodes where it is not
 * the published one; or, named by a table of two operands, its result where it is not common. */
struct joist_rules_fact {
  const char *name;
  uint8_t operand, other, result; /* JOIST_NODE_NONE: no other one; undefined */
};
enum {
  JOIST_RULES_FACTS_MAX = JOIST_FACT_COUNT * JOIST_TYPE_COUNT +
                          JOIST_PAIR_COUNT * JOIST_NODE_OWN * JOIST_NODE_OWN + JOIST_FOREIGN_MAX
};

/* Writes the facts of a rule set that its library states; returns their number. */
size_t joist_rules_facts(const struct joist_rules *rules,
                         struct joist_rules_fact facts[JOIST_RULES_FACTS_MAX]);

/* Fails with JOIST_ERROR_DTYPE if a default dtype of literals is not of its category. */
joist_status joist_rules_check_literals(const uint8_t literal[JOIST_CATEGORY_COUNT],
                                        struct joist_error *error) JOIST_MUST_CHECK;

/* ---- for what makes rule sets ---- */

/* The node of a name, made if it is new; JOIST_NODE_NONE if it is too long, empty or one too many.
 */
int joist_rules_intern(struct joist_rules *rules, const char *name);

/* The weak node of a category (integer, float or complex), and back. */
int joist_node_of_category(joist_category category);
joist_category joist_category_of_node(int weak);

/* Clears a rule set, sets its id, and names the known and ambiguous dtypes. */
void joist_rules_clear(struct joist_rules *rules, const char *id);
/* Fills from `edges` the cells of `result` that are undefined. Fails with JOIST_ERROR_PROMOTION if
 * there is a cycle, which the error shows. */
joist_status joist_rules_join_edges(struct joist_rules *rules,
                                    struct joist_error *error) JOIST_MUST_CHECK;
/* Fills the common dtypes from `result` and `literal`, and the facts that are not given. `result`
 * is what operations use. */
void joist_rules_derive(struct joist_rules *rules);

#endif
