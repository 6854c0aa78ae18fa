/* The built-in promotion rule sets: lattice edges, and which function is which table. */
#include "core/promotion/builtin_rules.h"

#include <stdio.h>
#include <string.h>

#include "core/promotion/facts.h"
#include "core/promotion/published_tables.h"
#include "core/types/error.h"

/* Nodes in edge lists: the known dtype, the ambiguous one, the weak category. */
#define K(DTYPE) JOIST_##DTYPE
#define A(DTYPE) (JOIST_NODE_AMBIGUOUS + JOIST_##DTYPE)
#define W(CATEGORY) JOIST_NODE_WEAK_##CATEGORY

/* clang-format off */

/* Value sets of the integer dtypes, less the way from ui32 and ui64 to signed ones. Signed before
 * unsigned, then from one to the other: of ways of one length, the one within a kind is named. */
#define INTEGERS(N) \
  {N(I8), N(I16)}, {N(I16), N(I32)}, {N(I32), N(I64)}, {N(UI8), N(UI16)}, \
  {N(UI16), N(UI32)}, {N(UI32), N(UI64)}, {N(UI8), N(I16)}, {N(UI16), N(I32)}
#define FLOATS \
  {K(F16), K(F32)}, {K(F32), K(F64)}, {K(F32), K(C64)}, {K(F64), K(C128)}, {K(C64), K(C128)}
/* Python's int, float and complex below the dtypes of their category. */
#define NUMBERS \
  {W(INT), K(I8)}, {W(INT), K(UI8)}, {W(FLOAT), W(COMPLEX)}, {W(FLOAT), K(F16)}, \
  {W(COMPLEX), K(C64)}

/* anvil: everything guessed gives way to what is known within a category, and a
 * category is below the next as a whole. */
static const uint8_t anvil_edges[][2] = {
  {A(BOOL), K(BOOL)},
  {K(BOOL), A(I8)}, {K(BOOL), A(UI8)},
  INTEGERS(A), {A(UI32), A(I64)}, {A(UI64), A(I64)},
  {A(I64), K(I8)}, {A(I64), K(UI8)},
  INTEGERS(K), {K(UI32), K(I64)}, {K(UI64), K(I64)},
  {K(I64), A(BF16)}, {K(I64), A(F16)},
  {A(BF16), A(F32)}, {A(F16), A(F32)}, {A(F32), A(F64)},
  {A(F64), K(BF16)}, {A(F64), K(F16)}, {A(F64), A(C64)},
  {A(C64), A(C128)}, {A(C128), K(C64)},
  FLOATS, {K(BF16), K(F32)},
};

#define JAX_EDGES(UI32_TO_SIGNED) \
  {K(BOOL), W(INT)}, NUMBERS, {W(FLOAT), K(BF16)}, \
  INTEGERS(K), {K(UI32), UI32_TO_SIGNED}, {K(UI64), W(FLOAT)}, {K(I64), W(FLOAT)}, \
  FLOATS, {K(BF16), K(F32)}

/* Dtypes of up to a byte: below nothing. */
#define SMALL_EDGES \
  {W(INT), K(INT1)}, {W(INT), K(I2)}, {W(INT), K(I4)}, \
  {W(INT), K(UINT1)}, {W(INT), K(UI2)}, {W(INT), K(UI4)}, \
  {W(FLOAT), K(F4E2M1FN)}, {W(FLOAT), K(F6E2M3FN)}, {W(FLOAT), K(F6E3M2FN)}, \
  {W(FLOAT), K(F8E3M4)}, {W(FLOAT), K(F8E4M3)}, {W(FLOAT), K(F8E4M3B11FNUZ)}, \
  {W(FLOAT), K(F8E4M3FN)}, {W(FLOAT), K(F8E4M3FNUZ)}, {W(FLOAT), K(F8E5M2)}, \
  {W(FLOAT), K(F8E5M2FNUZ)}, {W(FLOAT), K(F8E8M0FNU)}

static const uint8_t jax_edges[][2] = {JAX_EDGES(K(I64)), SMALL_EDGES};
/* Without 64-bit dtypes ui32 with a signed dtype is i32. */
static const uint8_t jax_x32_edges[][2] = {JAX_EDGES(K(I32)), SMALL_EDGES};
/* Strict: numbers take the dtype of an array, and arrays have to be of one dtype. */
static const uint8_t jax_strict_edges[][2] = {
  {W(INT), W(FLOAT)}, {W(FLOAT), W(COMPLEX)},
  {W(INT), K(I8)}, {W(INT), K(I16)}, {W(INT), K(I32)}, {W(INT), K(I64)},
  {W(INT), K(UI8)}, {W(INT), K(UI16)}, {W(INT), K(UI32)}, {W(INT), K(UI64)},
  {W(FLOAT), K(F16)}, {W(FLOAT), K(BF16)}, {W(FLOAT), K(F32)}, {W(FLOAT), K(F64)},
  {W(COMPLEX), K(C64)}, {W(COMPLEX), K(C128)}, SMALL_EDGES,
};

#define OPTION_EDGES NUMBERS, INTEGERS(K), {K(UI32), K(I64)}, FLOATS

static const uint8_t option0_edges[][2] = {OPTION_EDGES, {W(INT), W(FLOAT)}};
static const uint8_t option1_edges[][2] = {
  OPTION_EDGES, {W(INT), W(FLOAT)}, {K(I8), K(F16)}, {K(I16), K(F32)}, {K(I32), K(F64)},
};
static const uint8_t option2_edges[][2] = {
  OPTION_EDGES, {W(INT), W(FLOAT)}, {K(I16), K(F16)}, {K(I32), K(F32)}, {K(I64), K(F64)},
};
static const uint8_t option3_edges[][2] = {OPTION_EDGES, {K(I64), W(FLOAT)}};
static const uint8_t option3_bf16_edges[][2] = {
  OPTION_EDGES, {K(I64), W(FLOAT)}, {W(FLOAT), K(BF16)}, {K(BF16), K(F32)},
};
static const uint8_t python_edges[][2] = {{W(INT), W(FLOAT)}, {W(FLOAT), W(COMPLEX)}};

/* Published orders. A lattice of the design document publishes the nodes it has. */
static const uint8_t document_order[] = {
  K(BOOL), K(UI8), K(UI16), K(UI32), K(UI64), K(I8), K(I16), K(I32), K(I64),
  K(BF16), K(F16), K(F32), K(F64), K(C64), K(C128), W(INT), W(FLOAT), W(COMPLEX),
};
static const uint8_t anvil_order[] = {
  K(BOOL), K(I8), K(I16), K(I32), K(I64), K(UI8), K(UI16), K(UI32), K(UI64), K(F32), K(F64),
};
static const uint8_t array_api_2024_order[] = {
  K(BOOL), K(I8), K(I16), K(I32), K(I64), K(UI8), K(UI16), K(UI32), K(UI64),
  K(F32), K(F64), K(C64), K(C128), W(INT), W(FLOAT), W(COMPLEX),
};
static const uint8_t array_api_order[] = {
  K(UI8), K(UI16), K(UI32), K(UI64), K(I8), K(I16), K(I32), K(I64), K(F16), K(F32), K(F64),
};

#define LITERALS_32 {K(BOOL), K(I32), K(F32), K(C64)}
#define LITERALS_64 {K(BOOL), K(I64), K(F64), K(C128)}
#define LITERALS_TORCH {K(BOOL), K(I64), K(F32), K(C64)}
#define LITERALS_TENSORFLOW {K(BOOL), K(I32), K(F32), K(C128)}

#define ALL_DTYPES JOIST_DTYPES_DOCUMENTED
#define ALL_BUT_BF16 (ALL_DTYPES & ~JOIST_DTYPE_BIT(BF16))
#define ALL_BUT_HALVES (ALL_BUT_BF16 & ~JOIST_DTYPE_BIT(F16))

#define EDGES(LIST) EDGES_AND(LIST, NULL)
#define EDGES_AND(LIST, OTHERS) LIST, sizeof LIST / sizeof *LIST, NULL, NULL, OTHERS, 0
#define TABLE(FUNCTION, DTYPES) TABLE_AND(FUNCTION, NULL, DTYPES)
#define TABLE_AND(FUNCTION, OTHERS, DTYPES) NULL, 0, FUNCTION, NULL, OTHERS, DTYPES
/* A library that has moved on since its table was published. */
#define TABLES(PUBLISHED, LIVING, DTYPES) NULL, 0, PUBLISHED, LIVING, LIVING, DTYPES
#define ORDER(LIST) LIST, sizeof LIST
#define LIBRARY(NAME, VERSION) &joist_library_##NAME, VERSION
#define NO_LIBRARY NULL, NO_VERSION
#define NO_VERSION "no library: joined with the default float, sums in 64 bits"

#define JEP "JAX design document JEP 9407, "

static const struct builtin {
  const char *id;
  joist_rules_policy policy;
  uint8_t literal[JOIST_CATEGORY_COUNT];
  const uint8_t (*edges)[2]; /* of a lattice */
  size_t edge_count;
  joist_table_entry *table;  /* of a table, as published */
  joist_table_entry *living; /* where it differs, as of the library */
  joist_table_entry *others; /* pairs with dtypes that no document speaks of */
  joist_dtype_set dtypes;    /* of a table */
  const uint8_t *order;
  size_t order_count;
  const char *source;
  const struct joist_library *library; /* the facts, and what they were read from */
  const char *version;
} builtins[] = {
  {"anvil", JOIST_BY_TYPE, LITERALS_32, EDGES_AND(anvil_edges, joist_table_anvil_others), ORDER(anvil_order),
   "anvil, article on type promotion",
   NO_LIBRARY},
  {"anvl", JOIST_BY_TYPE, LITERALS_32, TABLE_AND(joist_table_anvl, joist_table_anvl_others, ALL_DTYPES),
   ORDER(anvil_order),
   "anvl (2026), article on type promotion",
   NO_LIBRARY},
  {"jax", JOIST_BY_TYPE, LITERALS_64, EDGES(jax_edges), ORDER(document_order),
   "JAX documentation, type promotion semantics, 64-bit dtypes enabled",
   LIBRARY(jax, "JAX 0.10.2")},
  {"jax_x32", JOIST_BY_TYPE, LITERALS_32, EDGES(jax_x32_edges), ORDER(document_order),
   "JAX documentation, type promotion semantics, 64-bit dtypes disabled",
   LIBRARY(jax_x32, "JAX 0.10.2, 64-bit dtypes disabled")},
  {"jax_strict", JOIST_BY_TYPE, LITERALS_64, EDGES(jax_strict_edges), ORDER(document_order),
   "JAX documentation, strict dtype promotion, 64-bit dtypes enabled",
   LIBRARY(jax, "JAX 0.10.2")},
  {"jax_strict_x32", JOIST_BY_TYPE, LITERALS_32, EDGES(jax_strict_edges), ORDER(document_order),
   "JAX documentation, strict dtype promotion, 64-bit dtypes disabled",
   LIBRARY(jax_x32, "JAX 0.10.2, 64-bit dtypes disabled")},
  {"jax_lax", JOIST_BY_TYPE, LITERALS_64, TABLE(joist_table_jax_lax, ALL_DTYPES), ORDER(document_order),
   JEP "appendix: jax.lax",
   LIBRARY(jax_lax, "JAX 0.10.2, jax.lax")},
  {"numpy", JOIST_BY_TYPE, LITERALS_64, TABLES(joist_table_numpy, joist_table_ml_dtypes, ALL_BUT_BF16),
   ORDER(document_order), JEP "appendix: NumPy; NumPy enhancement proposal 50 for literals",
   LIBRARY(ml_dtypes, "NumPy 2.4.6 with ml_dtypes 0.6.0")},
  {"numpy_legacy", JOIST_BY_VALUE, LITERALS_64, TABLE(joist_table_numpy, ALL_BUT_BF16), ORDER(document_order),
   JEP "appendix: NumPy; NumPy 1.x result_type() for values",
   LIBRARY(numpy, "NumPy 1.26.4")},
  {"cupy", JOIST_BY_LITERAL_VALUE, LITERALS_64, TABLE(joist_table_numpy, ALL_BUT_BF16), ORDER(document_order),
   JEP "appendix: NumPy; CuPy, values of Python numbers only",
   LIBRARY(numpy, "NumPy 1.26.4, which CuPy follows")},
  {"dask", JOIST_BY_VALUE, LITERALS_64, TABLE(joist_table_numpy, ALL_BUT_BF16), ORDER(document_order),
   JEP "appendix: NumPy; Dask follows NumPy 1.x",
   LIBRARY(numpy, "NumPy 1.26.4, which Dask calls")},
  {"torch", JOIST_BY_RANK, LITERALS_TORCH, TABLES(joist_table_torch, joist_table_torch_2, ALL_DTYPES),
   ORDER(document_order),
   JEP "appendix: PyTorch; PyTorch documentation, torch.result_type()",
   LIBRARY(torch, "PyTorch 2.15.0")},
  {"tensorflow", JOIST_BY_TYPE, LITERALS_TENSORFLOW, TABLE(joist_table_tensorflow, ALL_DTYPES),
   ORDER(document_order), JEP "appendix: TensorFlow",
   NO_LIBRARY},
  {"array_api", JOIST_BY_TYPE, LITERALS_64, TABLE(joist_table_array_api, ALL_BUT_BF16), ORDER(array_api_order),
   "Python array API standard, issue on type promotion rules",
   NO_LIBRARY},
  {"array_api_2024", JOIST_BY_TYPE, LITERALS_64, TABLE(joist_table_array_api_2024, ALL_BUT_HALVES),
   ORDER(array_api_2024_order), "Python array API standard 2024.12, type promotion rules",
   LIBRARY(array_api_2024, "array-api-strict 2.6.1, version 2024.12 of the standard")},
  {"python", JOIST_BY_TYPE, LITERALS_64, EDGES(python_edges), ORDER(document_order),
   JEP "lattice of Python's numbers",
   NO_LIBRARY},
  {"option0", JOIST_BY_TYPE, LITERALS_64, EDGES(option0_edges), ORDER(document_order),
   JEP "option 0",
   NO_LIBRARY},
  {"option1", JOIST_BY_TYPE, LITERALS_64, EDGES(option1_edges), ORDER(document_order),
   JEP "option 1",
   NO_LIBRARY},
  {"option2", JOIST_BY_TYPE, LITERALS_64, EDGES(option2_edges), ORDER(document_order),
   JEP "option 2",
   NO_LIBRARY},
  {"option3", JOIST_BY_TYPE, LITERALS_64, EDGES(option3_edges), ORDER(document_order),
   JEP "option 3",
   NO_LIBRARY},
  {"option3_bf16", JOIST_BY_TYPE, LITERALS_64, EDGES(option3_bf16_edges), ORDER(document_order),
   JEP "option 3 with bfloat16",
   NO_LIBRARY},
};
/* clang-format on */

enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

static struct joist_rules sets[BUILTIN_COUNT];

static const struct builtin *find_builtin(const char *id) {
  for (size_t i = 0; i < BUILTIN_COUNT; i++)
    if (strcmp(id, builtins[i].id) == 0) return &builtins[i];
  return NULL;
}

/* anvil and anvl have ambiguous dtypes for nodes; the other tables have weak categories. */
static bool has_node(const struct builtin *builtin, joist_dtype_set dtypes, int node) {
  if (node < JOIST_TYPE_COUNT && !joist_dtype_is_in(dtypes, node % JOIST_DTYPE_COUNT)) return false;
  if (node < JOIST_DTYPE_COUNT) return true;
  const bool has_guesses = builtin->edges == anvil_edges || builtin->table == joist_table_anvl;
  return (node < JOIST_NODE_WEAK_INT) == has_guesses;
}

static bool is_documented(int node) {
  return node >= JOIST_TYPE_COUNT ||
         joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, node % JOIST_DTYPE_COUNT);
}

bool joist_rules_documents(const struct joist_rules *rules, int node) {
  return rules->is_users || is_documented(node);
}

static void fill_table(struct joist_rules *rules, const struct builtin *builtin,
                       joist_table_entry *table, joist_dtype_set dtypes) {
  for (int lhs = 0; lhs < JOIST_NODE_OWN; lhs++)
    for (int rhs = 0; rhs < JOIST_NODE_OWN; rhs++)
      if (has_node(builtin, dtypes, lhs) && has_node(builtin, dtypes, rhs))
        rules->result[lhs][rhs] = (uint8_t)table(rules, lhs, rhs);
}

static void fill_others(struct joist_rules *rules, const struct builtin *builtin) {
  for (int lhs = 0; lhs < JOIST_NODE_OWN; lhs++)
    for (int rhs = 0; rhs < JOIST_NODE_OWN; rhs++)
      if ((!is_documented(lhs) || !is_documented(rhs)) &&
          has_node(builtin, JOIST_DTYPES_ALL, lhs) && has_node(builtin, JOIST_DTYPES_ALL, rhs))
        rules->result[lhs][rhs] = (uint8_t)builtin->others(rules, lhs, rhs);
}

/* Fills what follows from edges and literal defaults. */
static void derive(struct joist_rules *rules, const struct builtin *builtin) {
  if (builtin->table != NULL) fill_table(rules, builtin, builtin->table, builtin->dtypes);
  if (builtin->others != NULL) fill_others(rules, builtin);
  joist_rules_derive(rules);
  if (builtin->living == NULL) return;
  struct joist_rules living = *rules;
  fill_table(&living, builtin, builtin->living, ALL_DTYPES);
  joist_rules_derive(&living);
  memcpy(rules->promote, living.promote, sizeof rules->promote);
}

static void publish(struct joist_rules *rules, const struct builtin *builtin) {
  for (size_t i = 0; i < builtin->order_count; i++) {
    const uint8_t node = builtin->order[i];
    if (builtin->table == NULL && rules->result[node][node] == JOIST_NODE_NONE) continue;
    rules->published[rules->published_count++] = node;
  }
  for (int c = JOIST_CATEGORY_INTEGER; c < JOIST_CATEGORY_COUNT; c++) {
    static const char *const weak[] = {"", "i*", "f*", "c*"};
    static const char *const python[] = {"", "int", "float", "complex"};
    const int node = joist_node_of_category((joist_category)c);
    const char *name = builtin->edges == python_edges ? python[c] : weak[c];
    if (memchr(rules->published, node, rules->published_count) != NULL)
      snprintf(rules->names[node], JOIST_NODE_NAME_SIZE, "%s", name);
  }
}

void joist_rules_init(void) {
  for (size_t i = 0; i < BUILTIN_COUNT; i++) {
    const struct builtin *builtin = &builtins[i];
    struct joist_rules *rules = &sets[i];
    joist_rules_clear(rules, builtin->id);
    rules->policy = builtin->policy;
    rules->guesses_default = builtin->edges == jax_strict_edges;
    memcpy(rules->literal, builtin->literal, sizeof rules->literal);
    if (builtin->table != NULL) {
      rules->kind = JOIST_RULES_TABLE;
    } else {
      rules->kind = JOIST_RULES_LATTICE;
      rules->edge_count = (uint16_t)builtin->edge_count;
      memcpy(rules->edges, builtin->edges, builtin->edge_count * sizeof *builtin->edges);
      joist_rules_join_edges(rules);
      /* A node without edges. */
      if (rules->guesses_default) rules->result[JOIST_BOOL][JOIST_BOOL] = JOIST_BOOL;
    }
    if (builtin->library != NULL) joist_library_apply(builtin->library, rules);
    derive(rules, builtin);
    publish(rules, builtin);
  }
}

size_t joist_rules_count(void) { return BUILTIN_COUNT; }

const struct joist_rules *joist_rules_at(size_t index) { return &sets[index]; }

const struct joist_rules *joist_rules_find(const char *id) {
  const struct builtin *builtin = find_builtin(id);
  return builtin == NULL ? NULL : &sets[builtin - builtins];
}

/* A user's lattice may bear the id of a built-in set. */
static const struct builtin *builtin_of(const struct joist_rules *rules) {
  return rules->is_users ? NULL : find_builtin(rules->id);
}

const char *joist_rules_source(const struct joist_rules *rules) {
  const struct builtin *builtin = builtin_of(rules);
  return builtin == NULL ? "edges given by the user" : builtin->source;
}

/* ---- facts, as a table ---- */

static const char *fact_name(joist_fact fact) {
  static const char *const names[JOIST_FACT_COUNT] = {
#define X(ID, NAME) NAME,
      JOIST_FACTS(X)
#undef X
  };
  return names[fact];
}

/* Whether the library says what becomes of a type: it has the dtype, and ambiguous ones if it has
 * them or as its default for a number. */
static bool is_said(const struct joist_rules *rules, const struct joist_library *library,
                    int type) {
  const int dtype = type % JOIST_DTYPE_COUNT;
  const int category = (int)joist_dtype_category((joist_dtype)dtype);
  const bool guess = type >= JOIST_NODE_AMBIGUOUS;
  if (library == NULL) return rules->result[type][type] != JOIST_NODE_NONE;
  if (!joist_dtype_is_in(library->dtypes, dtype) || (guess && dtype == JOIST_BOOL)) return false;
  return !guess || library->has_guesses || rules->literal[category] == dtype;
}

size_t joist_rules_facts(const struct joist_rules *rules,
                         struct joist_rules_fact facts[JOIST_RULES_FACTS_MAX]) {
  const struct builtin *builtin = builtin_of(rules);
  size_t n = 0;
  for (int f = 0; f < JOIST_FACT_COUNT; f++)
    for (int type = 0; type < JOIST_TYPE_COUNT; type++)
      if (is_said(rules, builtin == NULL ? NULL : builtin->library, type))
        facts[n++] = (struct joist_rules_fact){fact_name((joist_fact)f), (uint8_t)type,
                                               JOIST_NODE_NONE, rules->facts[f][type]};
  for (int lhs = 0; lhs < JOIST_NODE_OWN; lhs++)
    for (int rhs = 0; rhs < JOIST_NODE_OWN; rhs++) {
      if (builtin == NULL || builtin->living == NULL || !has_node(builtin, ALL_DTYPES, lhs) ||
          !has_node(builtin, ALL_DTYPES, rhs))
        continue;
      const int living = builtin->living(rules, lhs, rhs);
      if (living != rules->result[lhs][rhs])
        facts[n++] =
            (struct joist_rules_fact){"common", (uint8_t)lhs, (uint8_t)rhs, (uint8_t)living};
    }
  return n;
}

const char *joist_rules_version(const struct joist_rules *rules) {
  const struct builtin *builtin = builtin_of(rules);
  return builtin == NULL ? NO_VERSION : builtin->version;
}

joist_status joist_rules_set_literals(struct joist_rules *rules,
                                      const uint8_t literal[JOIST_CATEGORY_COUNT],
                                      struct joist_error *error) {
  static const char *const what[] = {"logical", "integer", "double", "complex"};
  static const char *const needed[] = {"bool", "integer", "float", "complex"};
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++) {
    if (literal[c] < JOIST_DTYPE_COUNT &&
        joist_dtype_category((joist_dtype)literal[c]) == (joist_category)c)
      continue;
    return JOIST_FAIL(error, JOIST_E_DEFAULT_DTYPE, .name = {what[c], needed[c]},
                      .type = {{(joist_dtype)literal[c], false}});
  }
  memcpy(rules->literal, literal, sizeof rules->literal);
  /* Cells of a table in which a number brings its default dtype follow it. */
  const struct builtin *builtin = builtin_of(rules);
  if (builtin != NULL)
    derive(rules, builtin);
  else
    joist_rules_derive(rules);
  return JOIST_OK;
}
