/* Promotion rule sets as R objects: finding the current one, making one, and describing it. */
#include "r/tensor/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/promotion/builtin_rules.h"
#include "core/promotion/lattice.h"
#include "core/promotion/rules_text.h"
#include "core/types/loss.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/policy.h"
#include "r/memory/open_file.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/rule_function.h"

/* ---- The rule set of an argument ---- */

/* Ids of the built-in sets. R keeps one CHARSXP per string, so a look-up compares pointers. */
static SEXP ids;

/* Texts of rule sets, CHARSXPs too, their functions or R_NilValue, and what they are compiled to,
 * kept for the session. */
enum { KEPT = 4096 };
static struct {
  SEXP text, function;
  const struct joist_rules *rules;
} kept[KEPT];
static size_t kept_count;

SEXP joist_r_rules_init(SEXP folder) {
  struct joist_error error;
  const joist_status status = joist_rules_init(joist_r_path(folder), &error);
  joist_r_raise_if(status, &error);
  if (ids != NULL) return R_NilValue;
  R_PreserveObject(ids = Rf_allocVector(STRSXP, (R_xlen_t)joist_rules_count()));
  for (R_xlen_t i = 0; i < XLENGTH(ids); i++)
    SET_STRING_ELT(ids, i, Rf_mkChar(joist_rules_id((size_t)i)));
  return R_NilValue;
}

const struct joist_rules *joist_r_rules_at(size_t index) {
  const struct joist_rules *rules;
  struct joist_error error;
  const joist_status status = joist_rules_get(index, &rules, &error);
  joist_r_raise_if(status, &error);
  return rules;
}

bool joist_r_rules_stay(const struct joist_rules *rules) {
  if (joist_rules_are_built_in(rules)) return true;
  for (size_t i = 0; i < kept_count; i++)
    if (kept[i].rules == rules) return true;
  return false;
}

static _Noreturn void unknown_rules(const char *id) {
  char known[1024];
  size_t used = 0;
  known[0] = '\0';
  for (R_xlen_t i = 0; i < XLENGTH(ids) && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                             CHAR(STRING_ELT(ids, i)));
  size_t shown = strcspn(id, "\n");
  /* Up to a character, of the first line of a text. */
  if (id[shown] != '\0' && shown > 40)
    for (shown = 40; shown > 0 && (id[shown] & 0xc0) == 0x80;) shown--;
  joist_r_stop(
      JOIST_ERROR_PROMOTION,
      "there are no promotion rules '%.*s'; the built-in ones are %s, and "
      "promotion_rules_new() makes your own%s",
      (int)shown, id, known,
      id[shown] == '\0' ? "" : "; this is a text of rules: put rules together by list(), not c()");
}

static const struct joist_rules *rules_of_id(SEXP id) {
  const R_xlen_t count = XLENGTH(ids);
  for (R_xlen_t i = 0; i < count; i++)
    if (STRING_ELT(ids, i) == id) return joist_r_rules_at((size_t)i);
  unknown_rules(id == NA_STRING ? "NA" : Rf_translateCharUTF8(id));
}

/* Compiled once; if KEPT others are kept, for this .Call. */
static const struct joist_rules *rules_of_object(SEXP object) {
  static SEXP name = NULL;
  static size_t latest;
  if (name == NULL) name = Rf_install("rule");
  SEXP text = STRING_ELT(object, 0), function = Rf_getAttrib(object, name);
  if (latest < kept_count && kept[latest].text == text && kept[latest].function == function)
    return kept[latest].rules;
  for (size_t i = 0; i < kept_count; i++)
    if (kept[i].text == text && kept[i].function == function) return kept[latest = i].rules;
  const bool stays = kept_count < KEPT;
  if (!stays && function != R_NilValue)
    joist_r_stop(JOIST_ERROR_PROMOTION,
                 "a session keeps at most %d sets of user-defined promotion rules, and those with "
                 "a function must be kept; make them once, outside loops",
                 KEPT);
  const char *const bytes = Rf_translateCharUTF8(text);
  if (stays) R_PreserveObject(text);
  struct joist_rules *const rules =
      stays ? malloc(sizeof *rules) : (struct joist_rules *)(void *)R_alloc(1, sizeof *rules);
  struct joist_error error = {.code = JOIST_E_OUT_OF_MEMORY};
  joist_status status =
      rules == NULL ? JOIST_ERROR_MEMORY : joist_rules_read(rules, bytes, strlen(bytes), &error);
  if (status == JOIST_OK && function != R_NilValue &&
      !joist_r_rule_function(rules, text, function)) {
    error.code = JOIST_E_OUT_OF_MEMORY;
    status = JOIST_ERROR_MEMORY;
  }
  if (status == JOIST_OK && stays) {
    kept[kept_count].text = text;
    kept[kept_count].function = function;
    kept[kept_count++].rules = rules;
  } else if (stays) {
    R_ReleaseObject(text);
    free(rules);
  }
  joist_r_raise_if(status, &error);
  return rules;
}

/* The argument; if it is NULL, the rules of the session or else the option. */
static SEXP in_force(SEXP x) {
  static SEXP option = NULL;
  if (option == NULL) option = Rf_install("joist.promotion");
  if (x == R_NilValue) x = joist_r_session()->rules;
  return x == R_NilValue ? Rf_GetOption1(option) : x;
}

const struct joist_rules *joist_r_rules(SEXP x) {
  x = in_force(x);
  if (x == R_NilValue) return joist_rules_at(0);
  if (TYPEOF(x) == STRSXP && XLENGTH(x) == 1) {
    SEXP string = STRING_ELT(x, 0);
    return Rf_inherits(x, "joist_rules") ? rules_of_object(x) : rules_of_id(string);
  }
  if (TYPEOF(x) == RAWSXP && Rf_inherits(x, "joist_rules"))
    joist_r_stop(JOIST_ERROR_PROMOTION,
                 "this joist_rules object was made by another version of joist; make it again with "
                 "promotion_rules() or promotion_rules_new()");
  joist_r_stop(JOIST_ERROR_PROMOTION,
               "promotion rules must be the id of a built-in set, a joist_rules object, or NULL "
               "for the current set (option joist.promotion)");
}

SEXP joist_r_set_promotion(SEXP rules, SEXP policy, SEXP lasting) {
  const bool lasts = joist_r_flag(lasting, "lasting");
  struct joist_r_session next = *joist_r_session();
  if (rules != R_NilValue) joist_r_rules(rules);
  /* What lasts is R's option, unless other rules hide it. */
  if (rules != R_NilValue && (!lasts || next.rules != R_NilValue)) next.rules = rules;
  if (policy != R_NilValue) joist_r_put_policy(policy, &next);
  if (lasts)
    joist_r_change_session(next);
  else
    joist_r_push_session(next);
  return R_NilValue;
}

static SEXP value_of_expr(void *frame) { return Rf_eval(Rf_install("expr"), frame); }

static void pop_sessions(void *depth, Rboolean jumps) {
  (void)jumps;
  joist_r_pop_sessions(depth);
}

SEXP joist_r_under_promotion(SEXP rules, SEXP policy, SEXP frame) {
  SEXP depth = PROTECT(Rf_ScalarInteger(joist_r_session()->depth));
  joist_r_set_promotion(rules, policy, Rf_ScalarLogical(FALSE));
  SEXP value = R_UnwindProtect(value_of_expr, frame, pop_sessions, depth, NULL);
  UNPROTECT(1);
  return value;
}

SEXP joist_r_read_rules(SEXP text, SEXP function) {
  joist_r_string(text, "text");
  SEXP object = PROTECT(Rf_ScalarString(STRING_ELT(text, 0)));
  Rf_setAttrib(object, R_ClassSymbol, Rf_mkString("joist_rules"));
  if (function != R_NilValue) Rf_setAttrib(object, Rf_install("rule"), function);
  joist_r_rules(object);
  UNPROTECT(1);
  return object;
}

/* The default dtypes of rules, as their text has them, with others for some. */
SEXP joist_r_literals(SEXP rules, SEXP integers, SEXP doubles, SEXP complexes) {
  uint8_t literal[JOIST_CATEGORY_COUNT];
  memcpy(literal, joist_r_rules(rules)->literal, sizeof literal);
  SEXP given[] = {R_NilValue, integers, doubles, complexes};
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++)
    if (given[c] != R_NilValue) literal[c] = (uint8_t)joist_r_dtype(given[c]);
  struct joist_error error;
  const joist_status status = joist_rules_check_literals(literal, &error);
  joist_r_raise_if(status, &error);
  char text[JOIST_CATEGORY_COUNT * JOIST_NODE_NAME_SIZE];
  size_t used = 0;
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", c == 0 ? "" : ", ",
                             joist_dtype_name((joist_dtype)literal[c]));
  return Rf_mkString(text);
}

/* ---- Tables ---- */

static SEXP node_name(const struct joist_rules *rules, int node) {
  return Rf_mkCharCE(joist_rules_node_name(rules, node), CE_UTF8);
}

/* Node numbers of names; the published nodes for NULL. */
static uint8_t *read_nodes(const struct joist_rules *rules, SEXP names, const char *what,
                           size_t *count) {
  uint8_t *nodes;
  if (names == R_NilValue) {
    *count = rules->published_count;
    nodes = (uint8_t *)R_alloc(*count, 1);
    memcpy(nodes, rules->published, *count);
    return nodes;
  }
  if (TYPEOF(names) != STRSXP || Rf_isObject(names)) {
    *count = 1;
    nodes = (uint8_t *)R_alloc(1, 1);
    nodes[0] = (uint8_t)joist_r_dtype(names);
    return nodes;
  }
  *count = (size_t)XLENGTH(names);
  nodes = (uint8_t *)R_alloc(*count, 1);
  for (size_t i = 0; i < *count; i++) {
    SEXP name = STRING_ELT(names, (R_xlen_t)i);
    const char *text = name == NA_STRING ? "NA" : Rf_translateCharUTF8(name);
    nodes[i] = (uint8_t)joist_rules_node(rules, text);
    if (name == NA_STRING || nodes[i] == JOIST_NODE_NONE)
      joist_r_stop(JOIST_ERROR_DTYPE,
                   "`%s`[%zu]: '%s' is neither a dtype nor a node of the promotion rules '%s'",
                   what, i + 1, text, rules->id);
  }
  return nodes;
}

static SEXP node_names(const struct joist_rules *rules, const uint8_t *nodes, size_t count) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
  for (size_t i = 0; i < count; i++) SET_STRING_ELT(names, (R_xlen_t)i, node_name(rules, nodes[i]));
  UNPROTECT(1);
  return names;
}

static joist_pair pair_of(SEXP operation) {
  const char *const name = joist_r_string(operation, "operation");
  const int pair = joist_pair_of_name(name);
  char known[sizeof(struct joist_quote)];
  if (pair < 0)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "`operation` is '%s', which is not an operation of two operands: %s", name,
                 joist_list_texts(known, sizeof known, JOIST_TEXTS(JOIST_PAIRS), JOIST_PAIR_COUNT));
  return (joist_pair)pair;
}

/* The published table, or the common dtypes as operations have them. */
SEXP joist_r_promotion_table(SEXP rules, SEXP lhs, SEXP rhs, SEXP operation, SEXP as_used) {
  const struct joist_rules *set = joist_r_rules(rules);
  if (joist_r_flag(as_used, "as_used")) {
    struct joist_rules *const used = (struct joist_rules *)(void *)R_alloc(1, sizeof *used);
    joist_rules_as_used(set, used);
    set = used;
  }
  const joist_pair pair = pair_of(operation);
  size_t rows, columns;
  const uint8_t *left = read_nodes(set, lhs, "lhs", &rows);
  const uint8_t *right = read_nodes(set, rhs, "rhs", &columns);
  SEXP table = PROTECT(Rf_allocMatrix(STRSXP, (int)rows, (int)columns));
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++)
      SET_STRING_ELT(table, (R_xlen_t)(j * rows + i),
                     node_name(set, joist_rules_entry_for(set, pair, left[i], right[j])));
  SEXP dimnames = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(dimnames, 0, node_names(set, left, rows));
  SET_VECTOR_ELT(dimnames, 1, node_names(set, right, columns));
  Rf_setAttrib(table, R_DimNamesSymbol, dimnames);
  UNPROTECT(2);
  return table;
}

/* ---- What a rule set is ---- */

static const char *kind_name(const struct joist_rules *rules) {
  return rules->kind == JOIST_RULES_LATTICE ? "lattice" : "table";
}

/* The published nodes, and of a lattice those it has besides. */
static size_t all_nodes(const struct joist_rules *rules, uint8_t nodes[JOIST_NODE_MAX]) {
  size_t count = rules->published_count;
  memcpy(nodes, rules->published, count);
  if (rules->kind != JOIST_RULES_LATTICE) return count;
  for (int n = 0; n < rules->node_end; n++)
    if (rules->result[n][n] != JOIST_NODE_NONE && joist_rules_lists(rules, n) &&
        memchr(nodes, n, count) == NULL)
      nodes[count++] = (uint8_t)n;
  return count;
}

static bool lists_edge(const struct joist_rules *rules, int e) {
  return joist_rules_lists(rules, rules->edges[e][0]) &&
         joist_rules_lists(rules, rules->edges[e][1]);
}

static int count_edges(const struct joist_rules *rules, bool all) {
  int count = 0;
  for (int e = 0; e < rules->edge_count; e++) count += all || lists_edge(rules, e);
  return count;
}

SEXP joist_r_promotion_rule_sets(void) {
  static const char *names[] = {"id", "kind", "policy", "nodes", "source", ""};
  const R_xlen_t count = (R_xlen_t)joist_rules_count();
  SEXP sets = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int i = 0; i < 5; i++)
    SET_VECTOR_ELT(sets, i, Rf_allocVector(i == 3 ? INTSXP : STRSXP, count));
  for (R_xlen_t i = 0; i < count; i++) {
    const struct joist_rules *rules = joist_r_rules_at((size_t)i);
    uint8_t nodes[JOIST_NODE_MAX];
    SET_STRING_ELT(VECTOR_ELT(sets, 0), i, Rf_mkChar(rules->id));
    SET_STRING_ELT(VECTOR_ELT(sets, 1), i, Rf_mkChar(kind_name(rules)));
    SET_STRING_ELT(VECTOR_ELT(sets, 2), i, Rf_mkChar(joist_policy_name(rules->policy)));
    INTEGER(VECTOR_ELT(sets, 3))[i] = (int)all_nodes(rules, nodes);
    SET_STRING_ELT(VECTOR_ELT(sets, 4), i, Rf_mkCharCE(rules->source, CE_UTF8));
  }
  UNPROTECT(1);
  return sets;
}

SEXP joist_r_rules_info(SEXP rules) {
  static const char *names[] = {
      "id",     "kind",    "policy", "literals",   "nodes",          "edges",
      "source", "version", "url",    "operations", "extremes_known", "quantiles_default",
      "rule",   "own",     ""};
  static const char *categories[] = {"logical", "integer", "double", "complex"};
  const struct joist_rules *set = joist_r_rules(rules);
  uint8_t nodes[JOIST_NODE_MAX];
  const size_t count = all_nodes(set, nodes);
  SEXP info = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(info, 0, Rf_ScalarString(Rf_mkCharCE(set->id, CE_UTF8)));
  SET_VECTOR_ELT(info, 1, Rf_mkString(kind_name(set)));
  SET_VECTOR_ELT(info, 2, Rf_mkString(joist_policy_name(set->policy)));
  SEXP literals = Rf_allocVector(STRSXP, JOIST_CATEGORY_COUNT);
  SET_VECTOR_ELT(info, 3, literals);
  SEXP literal_names = PROTECT(Rf_allocVector(STRSXP, JOIST_CATEGORY_COUNT));
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++) {
    SET_STRING_ELT(literals, c, Rf_mkChar(joist_dtype_name((joist_dtype)set->literal[c])));
    SET_STRING_ELT(literal_names, c, Rf_mkChar(categories[c]));
  }
  Rf_setAttrib(literals, R_NamesSymbol, literal_names);
  SET_VECTOR_ELT(info, 4, node_names(set, nodes, count));
  SET_VECTOR_ELT(info, 5, Rf_ScalarInteger(count_edges(set, false)));
  const char *const texts[] = {set->source, set->version, set->url};
  for (int i = 0; i < 3; i++)
    SET_VECTOR_ELT(info, 6 + i, Rf_ScalarString(Rf_mkCharCE(texts[i], CE_UTF8)));
  int pairs = 0;
  for (int p = 0; p < JOIST_PAIR_COUNT; p++) pairs += p == JOIST_PAIR_COMMON || set->has_pairs[p];
  SEXP operations = Rf_allocVector(STRSXP, pairs);
  SET_VECTOR_ELT(info, 9, operations);
  for (int p = 0, k = 0; p < JOIST_PAIR_COUNT; p++)
    if (p == JOIST_PAIR_COMMON || set->has_pairs[p])
      SET_STRING_ELT(operations, k++, Rf_mkChar(joist_pair_name((joist_pair)p)));
  SET_VECTOR_ELT(info, 10, Rf_ScalarLogical(set->extremes_known));
  SET_VECTOR_ELT(info, 11, Rf_ScalarLogical(set->quantiles_default));
  SET_VECTOR_ELT(info, 12, Rf_ScalarLogical(set->function != NULL));
  size_t own = 0;
  for (int n = JOIST_NODE_OWN; n < set->node_end; n++) nodes[own++] = (uint8_t)n;
  SET_VECTOR_ELT(info, 13, node_names(set, nodes, own));
  UNPROTECT(2);
  return info;
}

SEXP joist_r_promotion_facts(SEXP rules) {
  static const char *names[] = {"rules",  "fact",      "operand", "other",
                                "result", "ambiguous", "source",  ""};
  const struct joist_rules *set = joist_r_rules(rules);
  struct joist_rules_fact *facts = (struct joist_rules_fact *)(void *)R_alloc(
      JOIST_RULES_FACTS_MAX, sizeof(struct joist_rules_fact));
  const R_xlen_t count = (R_xlen_t)joist_rules_facts(set, facts);
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int c = 0; c < 7; c++)
    SET_VECTOR_ELT(table, c, Rf_allocVector(c == 5 ? LGLSXP : STRSXP, count));
  for (R_xlen_t i = 0; i < count; i++) {
    const struct joist_rules_fact fact = facts[i];
    struct joist_type type = {JOIST_DTYPE_NONE, false};
    const bool defined = joist_rules_type_of_node(set, fact.result, &type);
    SET_STRING_ELT(VECTOR_ELT(table, 0), i, Rf_mkCharCE(set->id, CE_UTF8));
    SET_STRING_ELT(VECTOR_ELT(table, 1), i, Rf_mkChar(fact.name));
    SET_STRING_ELT(VECTOR_ELT(table, 2), i, node_name(set, fact.operand));
    SET_STRING_ELT(VECTOR_ELT(table, 3), i,
                   fact.other == JOIST_NODE_NONE ? NA_STRING : node_name(set, fact.other));
    SET_STRING_ELT(VECTOR_ELT(table, 4), i,
                   defined                          ? Rf_mkChar(joist_dtype_name(type.dtype))
                   : fact.result != JOIST_NODE_NONE ? node_name(set, fact.result)
                                                    : NA_STRING);
    LOGICAL(VECTOR_ELT(table, 5))
    [i] = fact.result == JOIST_NODE_NONE ? NA_LOGICAL : defined && type.ambiguous;
    SET_STRING_ELT(VECTOR_ELT(table, 6), i, Rf_mkCharCE(set->version, CE_UTF8));
  }
  UNPROTECT(1);
  return table;
}

SEXP joist_r_lattice_edges(SEXP rules, SEXP all) {
  static const char *names[] = {"from", "to", ""};
  const struct joist_rules *set = joist_r_rules(rules);
  const bool whole = joist_r_flag(all, "all");
  SEXP edges = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int end = 0; end < 2; end++) {
    SET_VECTOR_ELT(edges, end, Rf_allocVector(STRSXP, count_edges(set, whole)));
    int row = 0;
    for (int e = 0; e < set->edge_count; e++)
      if (whole || lists_edge(set, e))
        SET_STRING_ELT(VECTOR_ELT(edges, end), row++, node_name(set, set->edges[e][end]));
  }
  UNPROTECT(1);
  return edges;
}

/* ---- Proofs ---- */

SEXP joist_r_conversion_loses(SEXP from, SEXP to) {
  const R_xlen_t n = XLENGTH(from);
  SEXP loses = PROTECT(Rf_allocVector(LGLSXP, n));
  for (R_xlen_t i = 0; i < n; i++) {
    const joist_dtype lower = joist_dtype_parse(CHAR(STRING_ELT(from, i)), JOIST_STYLE_ANVIL);
    const joist_dtype upper = joist_dtype_parse(CHAR(STRING_ELT(to, i)), JOIST_STYLE_ANVIL);
    LOGICAL(loses)[i] = joist_conversion_loss(lower, upper).losses != JOIST_LOSS_NONE;
  }
  UNPROTECT(1);
  return loses;
}

struct checked {
  const struct joist_rules *rules;
  joist_pair pair;
};

/* An ambiguous type that has no cells counts as the node of its category. */
static int table_entry(const void *context, int lhs, int rhs) {
  const struct checked *const checked = context;
  const struct joist_rules *const set = checked->rules;
  if (set->function != NULL || checked->pair != JOIST_PAIR_COMMON)
    return joist_rules_entry_for(set, checked->pair, lhs, rhs);
  const int node = set->result[lhs][rhs];
  struct joist_type type;
  const bool ambiguous = node >= JOIST_NODE_AMBIGUOUS && node < JOIST_TYPE_COUNT;
  if (!ambiguous || joist_rules_has_node(set, node)) return node;
  const int own = joist_rules_type_of_node(set, node, &type) ? joist_rules_node_of_type(set, type)
                                                             : JOIST_NODE_NONE;
  return own == JOIST_NODE_NONE ? node : own;
}

/* list(a, b, c, left, right) of node names, one element a counterexample. */
static SEXP counterexamples(const struct checked *checked, joist_property property,
                            const uint8_t *nodes, size_t count) {
  static const char *names[] = {"a", "b", "c", "left", "right", ""};
  const size_t total = joist_check_property(property, nodes, count, table_entry, checked, NULL, 0);
  struct joist_counterexample *found =
      (struct joist_counterexample *)(void *)R_alloc(total, sizeof *found);
  joist_check_property(property, nodes, count, table_entry, checked, found, total);
  SEXP columns = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int c = 0; c < 5; c++) SET_VECTOR_ELT(columns, c, Rf_allocVector(STRSXP, (R_xlen_t)total));
  for (size_t i = 0; i < total; i++) {
    const uint8_t row[] = {found[i].a, found[i].b, found[i].c, found[i].left, found[i].right};
    for (int c = 0; c < 5; c++) {
      const bool unused = c == 2 && property != JOIST_PROPERTY_ASSOCIATIVITY;
      SET_STRING_ELT(VECTOR_ELT(columns, c), (R_xlen_t)i,
                     unused ? NA_STRING : node_name(checked->rules, row[c]));
    }
  }
  UNPROTECT(1);
  return columns;
}

SEXP joist_r_check_lattice(SEXP rules, SEXP chosen, SEXP operation) {
  static const char *names[] = {"nodes", "existence", "commutativity", "associativity", ""};
  static const joist_property properties[] = {
      JOIST_PROPERTY_EXISTENCE, JOIST_PROPERTY_COMMUTATIVITY, JOIST_PROPERTY_ASSOCIATIVITY};
  const struct joist_rules *set = joist_r_rules(rules);
  const struct checked checked = {set, pair_of(operation)};
  uint8_t all[JOIST_NODE_MAX], *nodes = all;
  size_t count = 0;
  if (chosen == R_NilValue)
    count = all_nodes(set, all);
  else
    nodes = read_nodes(set, chosen, "nodes", &count);
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(result, 0, node_names(set, nodes, count));
  for (int p = 0; p < 3; p++)
    SET_VECTOR_ELT(result, p + 1, counterexamples(&checked, properties[p], nodes, count));
  UNPROTECT(1);
  return result;
}
