/* The built-in promotion rule sets: lattice edges, and which function is which table. */
#include "core/promotion/builtin_rules.h"

#include <stdio.h>
#include <string.h>

#include "core/promotion/facts.h"
#include "core/promotion/published_tables.h"
#include "core/promotion/rules_text.h"
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

#define EDGES(LIST) .edges = (LIST), .edge_count = sizeof(LIST) / sizeof *(LIST)
#define ORDER(LIST) .order = (LIST), .order_count = sizeof(LIST)
#define LIBRARY(NAME, VERSION) .library = &joist_library_##NAME, .version = (VERSION)

#define JEP "JAX design document JEP 9407, "

#define URL_ANVIL "https://github.com/r-xla/anvil"
#define URL_JEP "https://docs.jax.dev/en/latest/jep/9407-type-promotion.html"
#define URL_JAX "https://docs.jax.dev/en/latest/type_promotion.html"
#define URL_ARRAY_API "https://data-apis.org/array-api/"

/* The built-in rule sets. A field that is not set is off or empty. */
static const struct builtin {
  const char *id, *source, *url;
  const uint8_t (*edges)[2]; /* of a lattice */
  size_t edge_count;
  joist_table_entry *table;  /* of a table, as published */
  joist_table_entry *living; /* where the library has moved on since then */
  joist_table_entry *others; /* pairs with dtypes that no document speaks of */
  joist_dtype_set dtypes;    /* of a table */
  const uint8_t *order;
  size_t order_count;
  const struct joist_library *library; /* the facts */
  const char *version;                 /* of what the facts were read from */
  joist_rules_policy policy;
  bool has_guesses;     /* its nodes are ambiguous dtypes, not weak categories */
  bool guesses_default; /* as of struct joist_rules */
  bool is_jax;          /* what becomes of guesses in max(), median(), products and whole powers */
  bool python_names;    /* of the weak categories: int, float, complex */
  bool meets_bool;      /* bool, which no edge leads to or from, is in the lattice */
  uint8_t literal[JOIST_CATEGORY_COUNT];
} builtins[] = {
  {.id = "anvil", .source = "anvil, article on type promotion",
   .url = URL_ANVIL,
   .literal = LITERALS_32,
   .has_guesses = true,
   EDGES(anvil_edges), .others = joist_table_anvil_others,
   ORDER(anvil_order)},
  {.id = "anvl", .source = "anvl (2026), article on type promotion",
   .url = URL_ANVIL,
   .literal = LITERALS_32,
   .has_guesses = true,
   .table = joist_table_anvl, .others = joist_table_anvl_others, .dtypes = ALL_DTYPES,
   ORDER(anvil_order)},
  {.id = "jax", .source = "JAX documentation, type promotion semantics, 64-bit dtypes enabled",
   .url = URL_JAX,
   .is_jax = true, .literal = LITERALS_64,
   EDGES(jax_edges),
   ORDER(document_order), LIBRARY(jax, "JAX 0.10.2")},
  {.id = "jax_x32",
   .source = "JAX documentation, type promotion semantics, 64-bit dtypes disabled",
   .url = URL_JAX,
   .is_jax = true, .literal = LITERALS_32,
   EDGES(jax_x32_edges),
   ORDER(document_order), LIBRARY(jax_x32, "JAX 0.10.2, 64-bit dtypes disabled")},
  {.id = "jax_strict",
   .source = "JAX documentation, strict dtype promotion, 64-bit dtypes enabled",
   .url = URL_JAX,
   .is_jax = true, .literal = LITERALS_64,
   .guesses_default = true, .meets_bool = true,
   EDGES(jax_strict_edges),
   ORDER(document_order), LIBRARY(jax, "JAX 0.10.2")},
  {.id = "jax_strict_x32",
   .source = "JAX documentation, strict dtype promotion, 64-bit dtypes disabled",
   .url = URL_JAX,
   .is_jax = true, .literal = LITERALS_32,
   .guesses_default = true, .meets_bool = true,
   EDGES(jax_strict_edges),
   ORDER(document_order), LIBRARY(jax_x32, "JAX 0.10.2, 64-bit dtypes disabled")},
  {.id = "jax_lax", .source = JEP "appendix: jax.lax",
   .url = URL_JEP,
   .literal = LITERALS_64,
   .table = joist_table_jax_lax, .dtypes = ALL_DTYPES,
   ORDER(document_order), LIBRARY(jax_lax, "JAX 0.10.2, jax.lax")},
  {.id = "numpy", .source = JEP "appendix: NumPy; NumPy enhancement proposal 50 for literals",
   .url = URL_JEP,
   .literal = LITERALS_64,
   .table = joist_table_numpy, .living = joist_table_ml_dtypes, .others = joist_table_ml_dtypes, .dtypes = ALL_BUT_BF16,
   ORDER(document_order), LIBRARY(ml_dtypes, "NumPy 2.4.6 with ml_dtypes 0.6.0")},
  {.id = "numpy_legacy", .source = JEP "appendix: NumPy; NumPy 1.x result_type() for values",
   .url = URL_JEP,
   .policy = JOIST_BY_VALUE, .literal = LITERALS_64,
   .table = joist_table_numpy, .dtypes = ALL_BUT_BF16,
   ORDER(document_order), LIBRARY(numpy, "NumPy 1.26.4")},
  {.id = "cupy", .source = JEP "appendix: NumPy; CuPy, values of Python numbers only",
   .url = URL_JEP,
   .policy = JOIST_BY_LITERAL_VALUE, .literal = LITERALS_64,
   .table = joist_table_numpy, .dtypes = ALL_BUT_BF16,
   ORDER(document_order), LIBRARY(numpy, "NumPy 1.26.4, which CuPy follows")},
  {.id = "dask", .source = JEP "appendix: NumPy; Dask follows NumPy 1.x",
   .url = URL_JEP,
   .policy = JOIST_BY_VALUE, .literal = LITERALS_64,
   .table = joist_table_numpy, .dtypes = ALL_BUT_BF16,
   ORDER(document_order), LIBRARY(numpy, "NumPy 1.26.4, which Dask calls")},
  {.id = "torch", .source = JEP "appendix: PyTorch; PyTorch documentation, torch.result_type()",
   .url = URL_JEP,
   .policy = JOIST_BY_RANK, .literal = LITERALS_TORCH,
   .table = joist_table_torch, .living = joist_table_torch_2, .others = joist_table_torch_2, .dtypes = ALL_DTYPES,
   ORDER(document_order), LIBRARY(torch, "PyTorch 2.15.0")},
  {.id = "tensorflow", .source = JEP "appendix: TensorFlow",
   .url = URL_JEP,
   .literal = LITERALS_TENSORFLOW,
   .table = joist_table_tensorflow, .dtypes = ALL_DTYPES,
   ORDER(document_order)},
  {.id = "array_api", .source = "Python array API standard, issue on type promotion rules",
   .url = "https://github.com/data-apis/array-api/issues/14",
   .literal = LITERALS_64,
   .table = joist_table_array_api, .dtypes = ALL_BUT_BF16,
   ORDER(array_api_order)},
  {.id = "array_api_2024", .source = "Python array API standard 2024.12, type promotion rules",
   .url = URL_ARRAY_API "2024.12/API_specification/type_promotion.html",
   .literal = LITERALS_64,
   .table = joist_table_array_api_2024, .dtypes = ALL_BUT_HALVES,
   ORDER(array_api_2024_order), LIBRARY(array_api_2024, "array-api-strict 2.6.1, version 2024.12 of the standard")},
  {.id = "python", .source = JEP "lattice of Python's numbers",
   .url = URL_JEP,
   .literal = LITERALS_64,
   .python_names = true,
   EDGES(python_edges),
   ORDER(document_order)},
  {.id = "option0", .source = JEP "option 0",
   .url = URL_JEP,
   .literal = LITERALS_64,
   EDGES(option0_edges),
   ORDER(document_order)},
  {.id = "option1", .source = JEP "option 1",
   .url = URL_JEP,
   .literal = LITERALS_64,
   EDGES(option1_edges),
   ORDER(document_order)},
  {.id = "option2", .source = JEP "option 2",
   .url = URL_JEP,
   .literal = LITERALS_64,
   EDGES(option2_edges),
   ORDER(document_order)},
  {.id = "option3", .source = JEP "option 3",
   .url = URL_JEP,
   .literal = LITERALS_64,
   EDGES(option3_edges),
   ORDER(document_order)},
  {.id = "option3_bf16", .source = JEP "option 3 with bfloat16",
   .url = URL_JEP,
   .literal = LITERALS_64,
   EDGES(option3_bf16_edges),
   ORDER(document_order)},
};
/* clang-format on */

enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

static struct joist_rules sets[BUILTIN_COUNT];

static const struct builtin *find_builtin(const char *id) {
  for (size_t i = 0; i < BUILTIN_COUNT; i++)
    if (strcmp(id, builtins[i].id) == 0) return &builtins[i];
  return NULL;
}

static bool has_node(const struct builtin *builtin, joist_dtype_set dtypes, int node) {
  if (node < JOIST_TYPE_COUNT && !joist_dtype_is_in(dtypes, node % JOIST_DTYPE_COUNT)) return false;
  if (node < JOIST_DTYPE_COUNT) return true;
  return (node < JOIST_NODE_WEAK_INT) == builtin->has_guesses;
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
  memcpy(rules->pairs[JOIST_PAIR_COMMON], living.pairs[JOIST_PAIR_COMMON],
         sizeof rules->pairs[JOIST_PAIR_COMMON]);
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
    const char *name = builtin->python_names ? python[c] : weak[c];
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
    rules->guesses_default = builtin->guesses_default;
    rules->extremes_known = rules->powers_of_base = rules->products_default =
        rules->quantiles_default = builtin->is_jax;
    snprintf(rules->source, sizeof rules->source, "%s", builtin->source);
    snprintf(rules->version, sizeof rules->version, "%s",
             builtin->library == NULL ? JOIST_NO_VERSION : builtin->version);
    snprintf(rules->url, sizeof rules->url, "%s", builtin->url);
    memcpy(rules->literal, builtin->literal, sizeof rules->literal);
    if (builtin->table != NULL) {
      rules->kind = JOIST_RULES_TABLE;
    } else {
      rules->kind = JOIST_RULES_LATTICE;
      rules->edge_count = (uint16_t)builtin->edge_count;
      memcpy(rules->edges, builtin->edges, builtin->edge_count * sizeof *builtin->edges);
      (void)!joist_rules_join_edges(rules, NULL); /* without cycles */
      if (builtin->meets_bool) rules->result[JOIST_BOOL][JOIST_BOOL] = JOIST_BOOL;
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

/* A user's rules may bear the id of a built-in set. */
static const struct builtin *builtin_of(const struct joist_rules *rules) {
  return rules->is_users ? NULL : find_builtin(rules->id);
}

/* ---- facts, as a table ---- */

/* Whether the library says what becomes of a type: it has the dtype, and ambiguous ones if it has
 * them or as its default for a number. */
static bool is_said(const struct joist_rules *rules, const struct joist_library *library,
                    joist_fact fact, int type) {
  const int dtype = type % JOIST_DTYPE_COUNT;
  const int category = (int)joist_dtype_category((joist_dtype)dtype);
  const bool guess = type >= JOIST_NODE_AMBIGUOUS;
  if (library == NULL)
    return rules->result[type][type] != JOIST_NODE_NONE ||
           (rules->has_facts[fact] && rules->facts[fact][type] != JOIST_NODE_NONE);
  if (!joist_dtype_is_in(library->dtypes, dtype) || (guess && dtype == JOIST_BOOL)) return false;
  return !guess || library->has_guesses || rules->literal[category] == dtype;
}

size_t joist_rules_facts(const struct joist_rules *rules,
                         struct joist_rules_fact facts[JOIST_RULES_FACTS_MAX]) {
  const struct builtin *builtin = builtin_of(rules);
  size_t n = 0;
  for (int f = 0; f < JOIST_FACT_COUNT; f++)
    for (int type = 0; type < JOIST_TYPE_COUNT; type++)
      if (is_said(rules, builtin == NULL ? NULL : builtin->library, (joist_fact)f, type))
        facts[n++] = (struct joist_rules_fact){joist_fact_name((joist_fact)f), (uint8_t)type,
                                               JOIST_NODE_NONE, rules->facts[f][type]};
  for (int lhs = 0; lhs < JOIST_NODE_OWN && builtin != NULL; lhs++)
    for (int rhs = 0; rhs < JOIST_NODE_OWN; rhs++) {
      if (builtin->living == NULL || !has_node(builtin, ALL_DTYPES, lhs) ||
          !has_node(builtin, ALL_DTYPES, rhs))
        continue;
      const int living = builtin->living(rules, lhs, rhs);
      if (living != rules->result[lhs][rhs])
        facts[n++] =
            (struct joist_rules_fact){"common", (uint8_t)lhs, (uint8_t)rhs, (uint8_t)living};
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
  return n;
}

void joist_rules_as_used(const struct joist_rules *rules, struct joist_rules *used) {
  const struct builtin *builtin = builtin_of(rules);
  *used = *rules;
  if (builtin == NULL || builtin->living == NULL) return;
  fill_table(used, builtin, builtin->living, ALL_DTYPES);
  joist_rules_derive(used);
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
