/* Explanations as R lists. */
#include "r/audit/promotion_explain.h"

#include <string.h>

#include "core/audit/explain.h"
#include "r/audit/promotion.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/error_text.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"

/* What is asked about. */
struct question {
  const struct joist_rules *rules;
  joist_op op;
  size_t count;
  struct joist_operand *operands;
  uint8_t *nodes;
  const char **is;              /* what each operand is */
  struct joist_r_value *values; /* of R values */
  bool typed;                   /* no operand is a node without a dtype */
};

static SEXP text(const char *words) { return Rf_mkCharCE(words, CE_UTF8); }

static SEXP type_text(struct joist_type type) {
  char name[JOIST_NODE_NAME_SIZE + 1];
  snprintf(name, sizeof name, "%s%s", joist_dtype_name(type.dtype), type.ambiguous ? "?" : "");
  return text(name);
}

static SEXP node_text(const struct joist_rules *rules, int node) {
  return node == JOIST_NODE_NONE ? NA_STRING : text(joist_rules_node_name(rules, node));
}

/* ---- operands ---- */

static void read_node(struct question *q, size_t k, SEXP x) {
  const char *const name = joist_r_string(x, "operand");
  const int node = joist_rules_node(q->rules, name);
  if (node == JOIST_NODE_NONE)
    joist_r_stop(JOIST_ERROR_DTYPE,
                 "'%s' is neither a dtype nor a node of the promotion rules '%s'", name,
                 q->rules->id);
  q->nodes[k] = (uint8_t)node;
  q->is[k] = "node";
  q->operands[k] = (struct joist_operand){.rank = 1};
  if (!joist_rules_type_of_node(q->rules, node, &q->operands[k].type)) q->typed = false;
}

static void read_operand(struct question *q, size_t k, SEXP x) {
  struct joist_operand *const operand = &q->operands[k];
  q->values[k].object = NULL;
  if (TYPEOF(x) == STRSXP && !Rf_isObject(x)) {
    read_node(q, k, x);
    if (q->nodes[k] < JOIST_TYPE_COUNT && q->nodes[k] != JOIST_NODE_TRUTH) q->is[k] = "dtype";
    return;
  }
  if (joist_r_dtype_operand(x, operand)) {
    q->is[k] = "dtype";
  } else {
    struct joist_r_value *const value = &q->values[k];
    joist_r_read_missing(q->rules, x, value);
    joist_r_read_range(value);
    *operand = value->argument.operand;
    q->is[k] = value->form == JOIST_R_LITERAL ? "R value" : "tensor";
  }
  const int node = joist_rules_node_of_type(q->rules, operand->type);
  q->nodes[k] = (uint8_t)node;
}

static struct question read_question(SEXP operands, SEXP name, SEXP rules) {
  const size_t n = (size_t)XLENGTH(operands);
  struct question q = {
      .rules = joist_r_rules(rules), .op = JOIST_OP_ADD, .count = n, .typed = true};
  if (n == 0) joist_r_stop(JOIST_ERROR_VALUE, "there are no operands to explain");
  /* Operands without an operation are asked for their common dtype. */
  if (name == R_NilValue && (q.rules->has_pairs[JOIST_PAIR_ADD] || q.rules->function != NULL)) {
    struct joist_rules *const common = (struct joist_rules *)(void *)R_alloc(1, sizeof *common);
    struct joist_rule_function *const function =
        (struct joist_rule_function *)(void *)R_alloc(1, sizeof *function);
    *common = *q.rules;
    common->has_pairs[JOIST_PAIR_ADD] = false;
    if (common->function != NULL) {
      *function = *common->function;
      function->as = joist_pair_name(JOIST_PAIR_COMMON);
      common->function = function;
    }
    q.rules = common;
  }
  q.operands = (struct joist_operand *)(void *)R_alloc(n, sizeof *q.operands);
  q.values = (struct joist_r_value *)(void *)R_alloc(n, sizeof *q.values);
  q.nodes = (uint8_t *)R_alloc(n, 1);
  q.is = (const char **)(void *)R_alloc(n, sizeof *q.is);
  for (size_t k = 0; k < n; k++) read_operand(&q, k, VECTOR_ELT(operands, (R_xlen_t)k));
  if (name != R_NilValue) q.op = joist_explain_op(joist_r_string(name, "name"), n);
  if (q.op == JOIST_OP_COUNT)
    joist_r_stop(JOIST_ERROR_VALUE, "there is no operation '%s' that promotes %zu operands",
                 joist_r_string(name, "name"), n);
  for (size_t k = 0; k < n && !q.typed; k++)
    if (q.values[k].object != NULL || name != R_NilValue)
      joist_r_stop(JOIST_ERROR_DTYPE, "a node without a dtype meets other nodes only");
  return q;
}

/* ---- columns ---- */

static SEXP strings(SEXP list, int at, size_t n) {
  SET_VECTOR_ELT(list, at, Rf_allocVector(STRSXP, (R_xlen_t)n));
  return VECTOR_ELT(list, at);
}

/* Why an R value is refused by the dtype it would be read in; NA where it is not. */
static SEXP problem_of(const struct joist_r_value *value, joist_dtype dtype) {
  if (value->object == NULL || value->form != JOIST_R_LITERAL) return NA_STRING;
  void *const room = (void *)R_alloc(value->count + 1, (int)joist_dtype_size(dtype));
  struct joist_error error;
  char words[JOIST_R_ERROR_TEXT_SIZE];
  if (joist_r_import(value, dtype, room, &error) == JOIST_OK) return NA_STRING;
  return text(joist_r_error_text(&error, words));
}

static SEXP losses_of(joist_dtype from, joist_dtype to, bool reads) {
  struct joist_lost lost[JOIST_LOST_MAX];
  const size_t n = reads ? joist_explain_losses(from, to, lost) : 0;
  SEXP limits = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
  SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
  for (size_t i = 0; i < n; i++) {
    SET_STRING_ELT(limits, (R_xlen_t)i, Rf_mkChar(lost[i].limit));
    SET_STRING_ELT(names, (R_xlen_t)i, Rf_mkChar(lost[i].what));
  }
  Rf_setAttrib(limits, R_NamesSymbol, names);
  UNPROTECT(2);
  return limits;
}

static SEXP path_of(const struct joist_rules *rules, int from, int to) {
  uint8_t path[JOIST_NODE_MAX];
  const bool both = from != JOIST_NODE_NONE && to != JOIST_NODE_NONE;
  const size_t n = both ? joist_rules_path(rules, from, to, path) : 0;
  SEXP nodes = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
  for (size_t i = 0; i < n; i++) SET_STRING_ELT(nodes, (R_xlen_t)i, node_text(rules, path[i]));
  UNPROTECT(1);
  return nodes;
}

enum { IS, TYPE, NODE, RANK, LOW, HIGH, ROLE, AS, IDLE, READ_AS, PROBLEM, PATH, LOSSES };
static const char *operand_columns[] = {"is",      "type", "node",   "rank", "low",
                                        "high",    "role", "as",     "idle", "read_as",
                                        "problem", "path", "losses", ""};

/* `joined` is the node that the operands meet in, `x` NULL where they have no dtypes. */
static SEXP operand_facts(const struct question *q, const struct joist_promotion_record *record,
                          const struct joist_explanation *x, int joined) {
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, operand_columns));
  for (int c = IS; c <= LOSSES; c++)
    SET_VECTOR_ELT(table, c,
                   Rf_allocVector(c == RANK                  ? INTSXP
                                  : c == LOW || c == HIGH    ? REALSXP
                                  : c == IDLE                ? LGLSXP
                                  : c == PATH || c == LOSSES ? VECSXP
                                                             : STRSXP,
                                  (R_xlen_t)q->count));
  const bool lattice = q->rules->kind == JOIST_RULES_LATTICE;
  const bool has_signature = x != NULL && x->status == JOIST_OK;
  for (size_t k = 0; k < q->count; k++) {
    const R_xlen_t i = (R_xlen_t)k;
    const struct joist_operand *const operand = &q->operands[k];
    const bool is_value = q->values[k].object != NULL;
    const bool joins = lattice && joist_explain_joins(q->op, k);
    SET_STRING_ELT(VECTOR_ELT(table, IS), i, Rf_mkChar(q->is[k]));
    SET_STRING_ELT(VECTOR_ELT(table, TYPE), i, x == NULL ? NA_STRING : type_text(operand->type));
    SET_STRING_ELT(VECTOR_ELT(table, NODE), i, node_text(q->rules, q->nodes[k]));
    INTEGER(VECTOR_ELT(table, RANK))[i] = is_value ? operand->rank : NA_INTEGER;
    REAL(VECTOR_ELT(table, LOW))[i] = operand->has_range ? operand->low : NA_REAL;
    REAL(VECTOR_ELT(table, HIGH))[i] = operand->has_range ? operand->high : NA_REAL;
    SET_VECTOR_ELT(VECTOR_ELT(table, PATH), i,
                   path_of(q->rules, joins ? q->nodes[k] : JOIST_NODE_NONE, joined));
    SET_STRING_ELT(VECTOR_ELT(table, ROLE), i,
                   Rf_mkChar(joist_role_text(x == NULL ? JOIST_ROLE_TYPE : record->roles[k].name)));
    SET_STRING_ELT(VECTOR_ELT(table, AS), i,
                   x == NULL ? NA_STRING : type_text(record->roles[k].as));
    LOGICAL(VECTOR_ELT(table, IDLE))[i] = x != NULL && record->roles[k].idle;
    const joist_dtype read_as =
        has_signature ? joist_signature_operand(&x->signature, k) : operand->type.dtype;
    SET_STRING_ELT(VECTOR_ELT(table, READ_AS), i,
                   has_signature ? Rf_mkChar(joist_dtype_name(read_as)) : NA_STRING);
    SET_STRING_ELT(VECTOR_ELT(table, PROBLEM), i,
                   has_signature ? problem_of(&q->values[k], read_as) : NA_STRING);
    SET_VECTOR_ELT(
        VECTOR_ELT(table, LOSSES), i,
        losses_of(operand->type.dtype,
                  has_signature ? joist_explain_rounded_to(q->op, &x->signature, k) : read_as,
                  has_signature && joist_explain_reads(q->op, operand, k)));
  }
  UNPROTECT(1);
  return table;
}

enum { HOW, DEFINED, LHS, RHS, RESULT, LHS_NODE, RHS_NODE, RESULT_NODE };
static const char *step_columns[] = {"how",      "defined",  "lhs",  "rhs", "result",
                                     "lhs_node", "rhs_node", "node", ""};

static SEXP step_table(size_t n) {
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, step_columns));
  for (int c = HOW; c <= RESULT_NODE; c++)
    SET_VECTOR_ELT(table, c, Rf_allocVector(c == DEFINED ? LGLSXP : STRSXP, (R_xlen_t)n));
  UNPROTECT(1);
  return table;
}

static void put_nodes(SEXP table, size_t k, const struct joist_rules *rules,
                      struct joist_node_step nodes) {
  SET_STRING_ELT(VECTOR_ELT(table, LHS_NODE), (R_xlen_t)k, node_text(rules, nodes.lhs));
  SET_STRING_ELT(VECTOR_ELT(table, RHS_NODE), (R_xlen_t)k, node_text(rules, nodes.rhs));
  SET_STRING_ELT(VECTOR_ELT(table, RESULT_NODE), (R_xlen_t)k, node_text(rules, nodes.result));
}

static SEXP step_facts(const struct question *q, const struct joist_promotion_record *record) {
  SEXP table = PROTECT(step_table(record->step_count));
  for (size_t k = 0; k < record->step_count; k++) {
    const struct joist_promotion_step *const step = &record->steps[k];
    const R_xlen_t i = (R_xlen_t)k;
    SET_STRING_ELT(VECTOR_ELT(table, HOW), i, Rf_mkChar(joist_step_text(step->name)));
    LOGICAL(VECTOR_ELT(table, DEFINED))[i] = step->defined;
    SET_STRING_ELT(VECTOR_ELT(table, LHS), i, type_text(step->lhs));
    SET_STRING_ELT(VECTOR_ELT(table, RHS), i, type_text(step->rhs));
    SET_STRING_ELT(VECTOR_ELT(table, RESULT), i,
                   step->defined ? type_text(step->result) : NA_STRING);
    put_nodes(table, k, q->rules, joist_explain_nodes(q->rules, step));
  }
  UNPROTECT(1);
  return table;
}

static SEXP node_step_facts(const struct question *q, const struct joist_node_step *steps,
                            size_t n) {
  SEXP table = PROTECT(step_table(n));
  for (size_t k = 0; k < n; k++) {
    const R_xlen_t i = (R_xlen_t)k;
    SET_STRING_ELT(VECTOR_ELT(table, HOW), i, Rf_mkChar(joist_step_text(JOIST_STEP_TABLE)));
    LOGICAL(VECTOR_ELT(table, DEFINED))[i] = steps[k].result != JOIST_NODE_NONE;
    put_nodes(table, k, q->rules, steps[k]);
    for (int c = LHS; c <= RESULT; c++)
      SET_STRING_ELT(VECTOR_ELT(table, c), i, STRING_ELT(VECTOR_ELT(table, c + LHS_NODE - LHS), i));
  }
  UNPROTECT(1);
  return table;
}

/* ---- the answer ---- */

enum {
  OPERATION,
  CLASS,
  OPERANDS,
  STEPS,
  CELL,
  JOIN,
  ANSWER,
  CERTAINTY,
  BOUNDS,
  CAST,
  ERROR,
  LACKS
};
static const char *facts[] = {"operation", "class",       "operands",  "steps",  "cell",
                              "join",      "result",      "certainty", "bounds", "cast",
                              "error",     "unavailable", ""};

static void put_string(SEXP list, int at, SEXP string) {
  PROTECT(string);
  SET_VECTOR_ELT(list, at, Rf_ScalarString(string));
  UNPROTECT(1);
}

/* The cell of the published table for two operands, and the lowest upper bounds of the step that
 * has no result. */
static void put_table(SEXP answer, const struct question *q, struct joist_node_step last) {
  if (q->count == 2) {
    const bool both = q->nodes[0] != JOIST_NODE_NONE && q->nodes[1] != JOIST_NODE_NONE;
    const int cell =
        both ? joist_rules_table_entry(q->rules, q->nodes[0], q->nodes[1]) : JOIST_NODE_NONE;
    put_string(answer, CELL, text(joist_rules_node_name(q->rules, cell)));
  }
  uint8_t bounds[JOIST_NODE_MAX];
  const bool nodes = last.lhs != JOIST_NODE_NONE && last.rhs != JOIST_NODE_NONE;
  const bool lacks = nodes && last.result == JOIST_NODE_NONE;
  const size_t n = lacks ? joist_rules_bounds(q->rules, last.lhs, last.rhs, bounds) : 0;
  SEXP names = strings(answer, BOUNDS, n);
  for (size_t k = 0; k < n; k++) SET_STRING_ELT(names, (R_xlen_t)k, node_text(q->rules, bounds[k]));
}

static void put_cast(SEXP answer, struct joist_proposed_cast cast) {
  static const char *names[] = {"operand", "dtype", "result", "lossless", ""};
  if (!cast.found) return;
  SEXP list = Rf_mkNamed(VECSXP, names);
  SET_VECTOR_ELT(answer, CAST, list);
  SET_VECTOR_ELT(list, 0, Rf_ScalarInteger(cast.all ? 0 : (int)cast.operand + 1));
  SET_VECTOR_ELT(list, 1, Rf_mkString(joist_dtype_name(cast.dtype)));
  put_string(list, 2, type_text(cast.result));
  SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(cast.lossless));
}

static void answer_typed(SEXP answer, const struct question *q,
                         const struct joist_attributes *attributes) {
  struct joist_explanation x;
  struct joist_error error;
  char words[JOIST_R_ERROR_TEXT_SIZE];
  struct joist_promotion_record record = {
      (struct joist_promotion_role *)(void *)R_alloc(q->count, sizeof(struct joist_promotion_role)),
      (struct joist_promotion_step *)(void *)R_alloc(2 * q->count + 2,
                                                     sizeof(struct joist_promotion_step)),
      0};
  struct joist_operand *const scratch =
      (struct joist_operand *)(void *)R_alloc(q->count, sizeof *scratch);
  joist_explain(q->rules, q->op, q->operands, q->count, attributes, scratch, &record, &x, &error);
  struct joist_node_step last = {JOIST_NODE_NONE, JOIST_NODE_NONE, q->nodes[0]};
  if (record.step_count > 0)
    last = joist_explain_nodes(q->rules, &record.steps[record.step_count - 1]);
  SET_VECTOR_ELT(answer, OPERANDS, operand_facts(q, &record, &x, last.result));
  SET_VECTOR_ELT(answer, STEPS, step_facts(q, &record));
  put_table(answer, q, last);
  put_cast(answer, x.cast);
  if (x.status == JOIST_OK) {
    put_string(answer, JOIN, type_text(x.join));
    put_string(answer, ANSWER, type_text(x.signature.result[0]));
    put_string(answer, CERTAINTY, Rf_mkChar(joist_certainty_text(x.certainty)));
  } else if (error.code == JOIST_E_UNAVAILABLE || error.code == JOIST_E_UNAVAILABLE_FACT) {
    put_string(answer, LACKS, text(error.text[1].bytes));
  } else if (error.code != JOIST_E_NO_COMMON_DTYPE && error.code != JOIST_E_NO_COMMON_NUMBER) {
    put_string(answer, ERROR, text(joist_r_error_text(&error, words)));
  }
}

static void answer_nodes(SEXP answer, const struct question *q) {
  struct joist_node_step *const steps =
      (struct joist_node_step *)(void *)R_alloc(q->count, sizeof *steps);
  const size_t n = joist_explain_node_fold(q->rules, q->nodes, q->count, steps);
  struct joist_node_step last = {JOIST_NODE_NONE, JOIST_NODE_NONE, q->nodes[0]};
  if (n > 0) last = steps[n - 1];
  SET_VECTOR_ELT(answer, OPERANDS, operand_facts(q, NULL, NULL, last.result));
  SET_VECTOR_ELT(answer, STEPS, node_step_facts(q, steps, n));
  put_table(answer, q, last);
  if (last.result != JOIST_NODE_NONE) put_string(answer, ANSWER, node_text(q->rules, last.result));
}

SEXP joist_r_explain(SEXP operands, SEXP name, SEXP dtype, SEXP rules) {
  const struct question q = read_question(operands, name, rules);
  struct joist_attributes attributes = {.count = 0};
  if (dtype != R_NilValue)
    joist_attributes_set_type(&attributes, (struct joist_type){joist_r_dtype(dtype), false});
  SEXP answer = PROTECT(Rf_mkNamed(VECSXP, facts));
  if (name != R_NilValue) {
    SET_VECTOR_ELT(answer, OPERATION, Rf_mkString(joist_op_name(q.op)));
    SET_VECTOR_ELT(answer, CLASS, Rf_mkString(joist_explain_class(q.op)));
  }
  if (q.typed)
    answer_typed(answer, &q, &attributes);
  else
    answer_nodes(answer, &q);
  UNPROTECT(1);
  return answer;
}

SEXP joist_r_explain_op(SEXP name, SEXP count) {
  const int n = Rf_asInteger(count);
  const joist_op op =
      n < 0 ? JOIST_OP_COUNT : joist_explain_op(joist_r_string(name, "name"), (size_t)n);
  return op == JOIST_OP_COUNT ? R_NilValue : Rf_mkString(joist_op_name(op));
}
