/* Promotion rule sets as R objects: finding the current one, making one, and describing it. */
#include "r/tensor/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/promotion/builtin_rules.h"
#include "core/promotion/lattice.h"
#include "core/promotion/rules_text.h"
#include "core/types/loss.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/policy.h"
#include "r/tensor/dtypes.h"

/* ---- The rule set of an argument ---- */

/* Rule sets in files of the package are read when they are first asked for, and kept. */
static struct rules_file {
  char *path;
  struct joist_rules *rules; /* NULL until then */
} * files;
static size_t file_count;

/* Ids of the built-in sets and of those in files. R keeps one CHARSXP per string, so a look-up
 * compares pointers. */
static SEXP ids;

SEXP joist_r_rules_files(SEXP names, SEXP paths) {
  const size_t built_in = joist_rules_count(), count = (size_t)XLENGTH(names);
  SEXP made = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)(built_in + count)));
  for (size_t i = 0; i < built_in; i++)
    SET_STRING_ELT(made, (R_xlen_t)i, Rf_mkChar(joist_rules_at(i)->id));
  struct rules_file *list = calloc(count + 1, sizeof *list);
  if (list == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  for (size_t i = 0; i < count; i++) {
    const char *const path = CHAR(STRING_ELT(paths, (R_xlen_t)i));
    SET_STRING_ELT(made, (R_xlen_t)(built_in + i), STRING_ELT(names, (R_xlen_t)i));
    list[i].path = malloc(strlen(path) + 1);
    if (list[i].path != NULL) memcpy(list[i].path, path, strlen(path) + 1);
  }
  if (ids != NULL) R_ReleaseObject(ids);
  R_PreserveObject(made);
  UNPROTECT(1);
  ids = made;
  files = list; /* once per session: what was there before stays */
  file_count = count;
  return R_NilValue;
}

static const struct joist_rules *read_file(struct rules_file *file) {
  if (file->rules != NULL) return file->rules;
  struct joist_file opened;
  const bool has_path = file->path != NULL;
  if (!has_path || joist_file_open(file->path, &opened) != 0)
    joist_r_stop(JOIST_ERROR_PROMOTION, "cannot open the promotion rules in '%s'",
                 has_path ? file->path : "");
  char *const text = malloc(opened.size + 1);
  struct joist_rules *const rules = malloc(sizeof *rules);
  struct joist_error error = {0};
  joist_status status = JOIST_ERROR_MEMORY;
  const bool is_read =
      text != NULL && rules != NULL && joist_file_read(&opened, 0, text, opened.size) == 0;
  if (is_read) status = joist_rules_read(rules, text, opened.size, &error);
  joist_file_close(&opened);
  free(text);
  if (status != JOIST_OK) free(rules);
  if (!is_read)
    joist_r_stop(JOIST_ERROR_PROMOTION, "cannot read the promotion rules in '%s'", file->path);
  joist_r_raise_if(status, &error);
  file->rules = rules;
  return rules;
}

size_t joist_r_rules_count(void) { return joist_rules_count() + file_count; }

const struct joist_rules *joist_r_rules_at(size_t index) {
  const size_t built_in = joist_rules_count();
  return index < built_in ? joist_rules_at(index) : read_file(&files[index - built_in]);
}

/* Sets that users made and put in force, kept for the session: each is checked and copied once. */
enum { KEPT = 64 };
static const struct joist_rules *kept[KEPT];
static size_t kept_count;

static bool is_same(const struct joist_rules *own, const struct joist_rules *rules,
                    bool by_content) {
  return own == rules || (by_content && own != NULL && memcmp(own, rules, sizeof *rules) == 0);
}

/* The set that stays for the session and is this one, or has its content; NULL if there is none. */
static const struct joist_rules *staying(const struct joist_rules *rules, bool by_content) {
  const struct joist_rules *const built_in = joist_rules_find(rules->id);
  if (is_same(built_in, rules, by_content)) return built_in;
  for (size_t i = 0; i < file_count; i++)
    if (is_same(files[i].rules, rules, by_content)) return files[i].rules;
  for (size_t i = 0; i < kept_count; i++)
    if (is_same(kept[i], rules, by_content)) return kept[i];
  return NULL;
}

bool joist_r_rules_stay(const struct joist_rules *rules) { return staying(rules, false) != NULL; }

static _Noreturn void unknown_rules(const char *id) {
  char known[1024];
  size_t used = 0;
  known[0] = '\0';
  for (R_xlen_t i = 0; i < XLENGTH(ids) && used < sizeof known; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                             CHAR(STRING_ELT(ids, i)));
  joist_r_stop(JOIST_ERROR_PROMOTION,
               "there are no promotion rules '%s'; the built-in ones are %s, and "
               "promotion_rules_new() makes your own",
               id, known);
}

static const struct joist_rules *rules_of_string(SEXP id) {
  const R_xlen_t count = XLENGTH(ids);
  for (R_xlen_t i = 0; i < count; i++)
    if (STRING_ELT(ids, i) == id) return joist_r_rules_at((size_t)i);
  unknown_rules(id == NA_STRING ? "NA" : Rf_translateCharUTF8(id));
}

/* A set that stays for the session, with the content of an object; NULL if KEPT others do. */
static const struct joist_rules *keep(const struct joist_rules *rules) {
  const struct joist_rules *const found = staying(rules, true);
  if (found != NULL || kept_count == KEPT) return found;
  struct joist_rules *const made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  memcpy(made, rules, sizeof *made);
  return kept[kept_count++] = made;
}

/* `held`: an argument or of the session, which R keeps until .Call returns. */
static const struct joist_rules *rules_of_object(SEXP x, bool held) {
  /* The latest object is protected, so that no other has its address, and not changed in place. */
  static SEXP latest = NULL;
  static const struct joist_rules *latest_kept = NULL;
  if (x == latest) return latest_kept;
  if (!joist_rules_valid(RAW(x), (size_t)XLENGTH(x)))
    joist_r_stop(JOIST_ERROR_PROMOTION,
                 "this joist_rules object was made by another version of joist; make it again with "
                 "promotion_rules() or promotion_rules_new()");
  const struct joist_rules *const rules = keep((const struct joist_rules *)RAW(x));
  if (rules != NULL) {
    MARK_NOT_MUTABLE(x);
    R_PreserveObject(x);
    if (latest != NULL) R_ReleaseObject(latest);
    latest = x;
    return latest_kept = rules;
  }
  if (held) return (const struct joist_rules *)RAW(x);
  /* A handler of a warning, or a finalizer, may put other rules in force while an operation reads
   * these. */
  return memcpy(R_alloc(1, (int)sizeof(struct joist_rules)), RAW(x), sizeof(struct joist_rules));
}

const struct joist_rules *joist_r_rules(SEXP x) {
  bool held = x != R_NilValue;
  if (!held) {
    x = joist_r_session()->rules;
    held = x != R_NilValue;
  }
  if (!held) {
    static SEXP option = NULL;
    if (option == NULL) option = Rf_install("joist.promotion");
    x = Rf_GetOption1(option);
    if (x == R_NilValue) return joist_rules_at(0);
  }
  if (TYPEOF(x) == STRSXP && XLENGTH(x) == 1) return rules_of_string(STRING_ELT(x, 0));
  if (TYPEOF(x) == RAWSXP && Rf_inherits(x, "joist_rules")) return rules_of_object(x, held);
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

static SEXP rules_object(const struct joist_rules *rules) {
  SEXP object = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)sizeof *rules));
  memcpy(RAW(object), rules, sizeof *rules);
  Rf_setAttrib(object, R_ClassSymbol, Rf_mkString("joist_rules"));
  UNPROTECT(1);
  return object;
}

static void set_literals(struct joist_rules *rules, SEXP integers, SEXP doubles, SEXP complexes) {
  uint8_t literal[JOIST_CATEGORY_COUNT];
  memcpy(literal, rules->literal, sizeof literal);
  SEXP given[] = {R_NilValue, integers, doubles, complexes};
  for (int c = 0; c < JOIST_CATEGORY_COUNT; c++)
    if (given[c] != R_NilValue) literal[c] = (uint8_t)joist_r_dtype(given[c]);
  struct joist_error error;
  const joist_status status = joist_rules_set_literals(rules, literal, &error);
  joist_r_raise_if(status, &error);
}

SEXP joist_r_promotion_rules(SEXP id, SEXP integers, SEXP doubles, SEXP complexes) {
  struct joist_rules rules = *joist_r_rules(id);
  set_literals(&rules, integers, doubles, complexes);
  return rules_object(&rules);
}

SEXP joist_r_promotion_lattice(SEXP edges, SEXP id, SEXP integers, SEXP doubles, SEXP complexes) {
  if (TYPEOF(edges) != VECSXP || XLENGTH(edges) != 2 || TYPEOF(VECTOR_ELT(edges, 0)) != STRSXP ||
      TYPEOF(VECTOR_ELT(edges, 1)) != STRSXP || XLENGTH(VECTOR_ELT(edges, 0)) == 0 ||
      XLENGTH(VECTOR_ELT(edges, 0)) != XLENGTH(VECTOR_ELT(edges, 1)))
    joist_r_stop(JOIST_ERROR_VALUE,
                 "`edges` must be a data frame or a matrix with two columns, from and to, and "
                 "at least one row");
  const size_t count = (size_t)XLENGTH(VECTOR_ELT(edges, 0));
  const char **ends[2];
  for (int e = 0; e < 2; e++) {
    ends[e] = (const char **)R_alloc(count, sizeof **ends);
    for (size_t i = 0; i < count; i++) {
      SEXP name = STRING_ELT(VECTOR_ELT(edges, e), (R_xlen_t)i);
      if (name == NA_STRING)
        joist_r_stop(JOIST_ERROR_VALUE, "`edges` has NA instead of a name in row %zu", i + 1);
      ends[e][i] = Rf_translateCharUTF8(name);
    }
  }
  struct joist_rules rules;
  struct joist_error error;
  const joist_status status =
      joist_rules_from_edges(&rules, joist_r_string(id, "id"), ends[0], ends[1], count, &error);
  joist_r_raise_if(status, &error);
  set_literals(&rules, integers, doubles, complexes);
  return rules_object(&rules);
}

SEXP joist_r_read_rules(SEXP text) {
  const char *const string = joist_r_string(text, "text");
  struct joist_rules rules;
  struct joist_error error;
  const joist_status status = joist_rules_read(&rules, string, strlen(string), &error);
  joist_r_raise_if(status, &error);
  return rules_object(&rules);
}

SEXP joist_r_write_rules(SEXP rules) {
  static struct joist_text text; /* kept for the next time: making a string may fail */
  struct joist_rules used;
  joist_rules_as_used(joist_r_rules(rules), &used);
  text.length = 0;
  joist_rules_write(&used, &text);
  if (text.failed) {
    joist_text_free(&text);
    text = (struct joist_text){0};
    JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  }
  return Rf_ScalarString(Rf_mkCharLenCE(text.data, (int)text.length, CE_UTF8));
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

/* The published table, or the common dtypes as operations have them. */
SEXP joist_r_promotion_table(SEXP rules, SEXP lhs, SEXP rhs, SEXP operation, SEXP as_used) {
  const struct joist_rules *set = joist_r_rules(rules);
  if (joist_r_flag(as_used, "as_used")) {
    struct joist_rules *const used = (struct joist_rules *)(void *)R_alloc(1, sizeof *used);
    joist_rules_as_used(set, used);
    set = used;
  }
  const char *const name = joist_r_string(operation, "operation");
  const int pair = joist_pair_of_name(name);
  if (pair < 0)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "`operation` is '%s', which is not an operation of two operands", name);
  size_t rows, columns;
  const uint8_t *left = read_nodes(set, lhs, "lhs", &rows);
  const uint8_t *right = read_nodes(set, rhs, "rhs", &columns);
  SEXP table = PROTECT(Rf_allocMatrix(STRSXP, (int)rows, (int)columns));
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++)
      SET_STRING_ELT(
          table, (R_xlen_t)(j * rows + i),
          node_name(set, joist_rules_entry_for(set, (joist_pair)pair, left[i], right[j])));
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
    if (rules->result[n][n] != JOIST_NODE_NONE && joist_rules_documents(rules, n) &&
        memchr(nodes, n, count) == NULL)
      nodes[count++] = (uint8_t)n;
  return count;
}

static bool documents_edge(const struct joist_rules *rules, int e) {
  return joist_rules_documents(rules, rules->edges[e][0]) &&
         joist_rules_documents(rules, rules->edges[e][1]);
}

static int count_edges(const struct joist_rules *rules, bool all) {
  int count = 0;
  for (int e = 0; e < rules->edge_count; e++) count += all || documents_edge(rules, e);
  return count;
}

SEXP joist_r_promotion_rule_sets(void) {
  static const char *names[] = {"id", "kind", "policy", "nodes", "source", ""};
  const R_xlen_t count = (R_xlen_t)joist_r_rules_count();
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
  static const char *names[] = {"id",    "kind",       "policy",         "literals",
                                "nodes", "edges",      "source",         "version",
                                "url",   "operations", "extremes_known", "quantiles_default",
                                ""};
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
      if (whole || documents_edge(set, e))
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

/* A guess that has no cells counts as the node of its category. */
static int table_entry(const void *rules, int lhs, int rhs) {
  const struct joist_rules *const set = rules;
  const int node = set->result[lhs][rhs];
  struct joist_type type;
  const bool guess = node >= JOIST_NODE_AMBIGUOUS && node < JOIST_TYPE_COUNT;
  if (!guess || joist_rules_has_node(set, node)) return node;
  const int own = joist_rules_type_of_node(set, node, &type) ? joist_rules_node_of_type(set, type)
                                                             : JOIST_NODE_NONE;
  return own == JOIST_NODE_NONE ? node : own;
}

/* list(a, b, c, left, right) of node names, one element a counterexample. */
static SEXP counterexamples(const struct joist_rules *rules, joist_property property,
                            const uint8_t *nodes, size_t count) {
  static const char *names[] = {"a", "b", "c", "left", "right", ""};
  const size_t total = joist_check_property(property, nodes, count, table_entry, rules, NULL, 0);
  struct joist_counterexample *found =
      (struct joist_counterexample *)(void *)R_alloc(total, sizeof *found);
  joist_check_property(property, nodes, count, table_entry, rules, found, total);
  SEXP columns = PROTECT(Rf_mkNamed(VECSXP, names));
  for (int c = 0; c < 5; c++) SET_VECTOR_ELT(columns, c, Rf_allocVector(STRSXP, (R_xlen_t)total));
  for (size_t i = 0; i < total; i++) {
    const uint8_t row[] = {found[i].a, found[i].b, found[i].c, found[i].left, found[i].right};
    for (int c = 0; c < 5; c++) {
      const bool unused = c == 2 && property != JOIST_PROPERTY_ASSOCIATIVITY;
      SET_STRING_ELT(VECTOR_ELT(columns, c), (R_xlen_t)i,
                     unused ? NA_STRING : node_name(rules, row[c]));
    }
  }
  UNPROTECT(1);
  return columns;
}

SEXP joist_r_check_lattice(SEXP rules, SEXP chosen) {
  static const char *names[] = {"nodes", "existence", "commutativity", "associativity", ""};
  static const joist_property properties[] = {
      JOIST_PROPERTY_EXISTENCE, JOIST_PROPERTY_COMMUTATIVITY, JOIST_PROPERTY_ASSOCIATIVITY};
  const struct joist_rules *set = joist_r_rules(rules);
  uint8_t all[JOIST_NODE_MAX], *nodes = all;
  size_t count = 0;
  if (chosen == R_NilValue)
    count = all_nodes(set, all);
  else
    nodes = read_nodes(set, chosen, "nodes", &count);
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(result, 0, node_names(set, nodes, count));
  for (int p = 0; p < 3; p++)
    SET_VECTOR_ELT(result, p + 1, counterexamples(set, properties[p], nodes, count));
  UNPROTECT(1);
  return result;
}
