/* Operations on tensors: reading operands, inference, and running one instruction. */
#include "r/call/operations.h"

#include <stdio.h>
#include <string.h>

#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/call/apply.h"
#include "r/tensor/delayed.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/rules.h"
#include "r/trace/attributes.h"
#include "r/trace/trace_call.h"

/* ---- operations by name: R keeps one CHARSXP per string ---- */

static SEXP op_strings(bool generic) {
  static SEXP cached[2] = {NULL, NULL};
  if (cached[generic] == NULL) {
    SEXP made = PROTECT(Rf_allocVector(STRSXP, JOIST_OP_COUNT));
    for (int op = 0; op < JOIST_OP_COUNT; op++) {
      const struct joist_operation *const o = joist_operation((joist_op)op);
      SET_STRING_ELT(made, op, Rf_mkChar(generic ? o->generic : o->name));
    }
    R_PreserveObject(made);
    UNPROTECT(1);
    cached[generic] = made;
  }
  return cached[generic];
}

/* The first operation of that name, or of that generic and family. */
static joist_op op_of(SEXP name, bool generic, joist_family family) {
  const char *const text = joist_r_string(name, "name");
  const SEXP *const strings = STRING_PTR_RO(op_strings(generic));
  SEXP wanted = STRING_ELT(name, 0);
  for (int op = 0; op < JOIST_OP_COUNT; op++)
    if (strings[op] == wanted && (!generic || joist_operation((joist_op)op)->family == family))
      return (joist_op)op;
  joist_r_stop(JOIST_ERROR_DTYPE, "%s is not defined for tensors", text);
}

/* The names of a set of bits, with blanks between them. */
static SEXP names_of_bits(uint32_t bits, int n, const char *(*name)(int k)) {
  char names[512] = "";
  size_t used = 0;
  for (int k = 0; k < n && used < sizeof names; k++)
    if (bits >> k & 1)
      used +=
          (size_t)snprintf(names + used, sizeof names - used, used == 0 ? "%s" : " %s", name(k));
  return Rf_mkChar(names);
}

static const char *kind_name(int k) { return joist_kind_name((joist_kind)k); }
static const char *attribute_name(int k) { return joist_attribute_text((joist_attribute_name)k); }

/* The table of operations: what documentation and tests read. Their columns. */
#define COLUMNS(C)                           \
  C(NAME, "name", STRSXP)                    \
  C(GENERIC, "generic", STRSXP)              \
  C(FAMILY, "family", STRSXP)                \
  C(LEAST, "least", INTSXP)                  \
  C(MOST, "most", INTSXP)                    \
  C(RESULTS, "results", INTSXP)              \
  C(KINDS, "kinds", STRSXP)                  \
  C(ATTRIBUTES, "attributes", STRSXP)        \
  C(ULP_F32, "ulp_f32", REALSXP)             \
  C(ULP_F64, "ulp_f64", REALSXP)             \
  C(ULP_F64_BELOW, "ulp_f64_below", REALSXP) \
  C(COMBINE, "combine", STRSXP)              \
  C(MISSING, "missing", STRSXP)              \
  C(OVERFLOW, "overflow", STRSXP)            \
  C(DERIVATIVE, "derivative", STRSXP)        \
  C(TOLD, "told", STRSXP)
#define ID_OF(ID, NAME, TYPE) COLUMN_##ID,
#define NAME_OF(ID, NAME, TYPE) NAME,
#define TYPE_OF(ID, NAME, TYPE) TYPE,
enum { COLUMNS(ID_OF) COLUMN_COUNT };

static void set_text(SEXP table, int column, int op, const char *text) {
  SET_STRING_ELT(VECTOR_ELT(table, column), op, Rf_mkChar(text));
}

SEXP joist_r_op_names(void) {
  static const char *fields[] = {COLUMNS(NAME_OF) ""};
  static const SEXPTYPE types[] = {COLUMNS(TYPE_OF)};
  static const char *const families[] = {"elementwise", "reduction", "array", "regions"};
  static const char *const derivatives[] = {"rule", "zero", "none"};
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, fields));
  for (int k = COLUMN_FAMILY; k < COLUMN_COUNT; k++)
    SET_VECTOR_ELT(table, k, Rf_allocVector(types[k], JOIST_OP_COUNT));
  SET_VECTOR_ELT(table, COLUMN_NAME, op_strings(false));
  SET_VECTOR_ELT(table, COLUMN_GENERIC, op_strings(true));
  for (int k = 0; k < JOIST_OP_COUNT; k++) {
    const joist_op op = (joist_op)k;
    const struct joist_operation *const o = joist_operation(op);
    const struct joist_accuracy accuracy = joist_op_accuracy(op);
    set_text(table, COLUMN_FAMILY, k, families[o->family]);
    INTEGER(VECTOR_ELT(table, COLUMN_LEAST))[k] = o->least;
    INTEGER(VECTOR_ELT(table, COLUMN_MOST))
    [k] = o->most == JOIST_OPERANDS_ANY ? NA_INTEGER : o->most;
    INTEGER(VECTOR_ELT(table, COLUMN_RESULTS))[k] = o->results;
    SET_STRING_ELT(VECTOR_ELT(table, COLUMN_KINDS), k,
                   names_of_bits(o->kinds, JOIST_KIND_COMPLEX + 1, kind_name));
    SET_STRING_ELT(VECTOR_ELT(table, COLUMN_ATTRIBUTES), k,
                   names_of_bits(o->attributes, JOIST_ATTRIBUTE_COUNT, attribute_name));
    REAL(VECTOR_ELT(table, COLUMN_ULP_F32))[k] = accuracy.f32;
    REAL(VECTOR_ELT(table, COLUMN_ULP_F64))[k] = accuracy.f64;
    REAL(VECTOR_ELT(table, COLUMN_ULP_F64_BELOW))[k] = accuracy.f64_below;
    if (o->family == JOIST_FAMILY_REDUCTION)
      set_text(table, COLUMN_COMBINE, k, joist_op_name(joist_op_combine(op)));
    set_text(table, COLUMN_MISSING, k, joist_missing_rule_name(joist_op_missing_rule(op)));
    set_text(table, COLUMN_OVERFLOW, k, joist_overflow_rule_name(joist_op_overflow_rule(op)));
    set_text(table, COLUMN_DERIVATIVE, k, derivatives[joist_op_derivative(op)]);
    if (joist_op_asks(op)) set_text(table, COLUMN_TOLD, k, joist_op_told(op));
  }
  UNPROTECT(1);
  return table;
}

SEXP joist_r_part_type(SEXP op, SEXP type) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), type, &value);
  const joist_op which = op_of(op, false, JOIST_FAMILY_ARRAY);
  const joist_dtype dtype = joist_op_part_dtype(which, value.argument.operand.type.dtype);
  return joist_r_aval((struct joist_type){dtype, false}, &value.argument.shape);
}

/* ---- .Call entry points ---- */

static const struct joist_attributes no_attributes = {.count = 0};

/* Whether R's own operators see elements, which may be in a store. */
static bool has_elements(const struct joist_r_value *value) {
  return value->form == JOIST_R_CONCRETE || joist_r_is_delayed(value->object);
}

/* R repeats one element over an array, and a vector over the columns of a matrix, which its own
 * code relies on: so does a tensor of one element, and one beside a matrix of R with a row for
 * each. */
static void repeat_as_r(const struct joist_r_value *array, struct joist_r_value *vector) {
  struct joist_shape *const shape = &vector->argument.shape;
  const struct joist_shape *const other = &array->argument.shape;
  if (!has_elements(vector) || shape->rank != 1 || other->rank < 2) return;
  if (shape->extent[0] == 1 && (array->form == JOIST_R_LITERAL || has_elements(array))) {
    shape->rank = 0;
    vector->names = R_NilValue;
  } else if (array->form == JOIST_R_LITERAL && vector->form == JOIST_R_CONCRETE &&
             other->rank == 2 && shape->extent[0] == other->extent[0]) {
    *shape = (struct joist_shape){2, {shape->extent[0], 1}};
    vector->argument.operand.rank = 2;
    vector->names = R_NilValue;
  }
}

/* `as_operator` follows R's own operators: they write over unshared operands, and repeat a vector
 * over the columns of a matrix. A recording tells tensors apart by their payloads, so none is
 * reused meanwhile. */
static SEXP apply_plain(joist_op op, size_t n, SEXP *operands, bool as_operator) {
  enum { MOST = 3 };
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value values[MOST];
  for (size_t k = 0; k < n; k++) {
    joist_r_read_operand(rules, operands[k], &values[k]);
    values[k].dying = as_operator && !joist_r_recording() && !MAYBE_SHARED(operands[k]);
    values[k].by_generic = as_operator;
  }
  if (as_operator && n == 2) {
    repeat_as_r(&values[0], &values[1]);
    repeat_as_r(&values[1], &values[0]);
  }
  return joist_r_apply(rules, op, values, n, &no_attributes);
}

static joist_op elementwise(SEXP name, bool generic) {
  return op_of(name, generic, JOIST_FAMILY_ELEMENTWISE);
}

SEXP joist_r_op1(SEXP name, SEXP x) { return apply_plain(elementwise(name, false), 1, &x, false); }

SEXP joist_r_op2(SEXP name, SEXP lhs, SEXP rhs) {
  SEXP operands[] = {lhs, rhs};
  return apply_plain(elementwise(name, false), 2, operands, false);
}

SEXP joist_r_op3(SEXP name, SEXP a, SEXP b, SEXP c) {
  SEXP operands[] = {a, b, c};
  return apply_plain(elementwise(name, false), 3, operands, false);
}

SEXP joist_r_operator(SEXP generic, SEXP lhs, SEXP rhs) {
  SEXP operands[] = {lhs, rhs};
  return apply_plain(elementwise(generic, true), 2, operands, true);
}

SEXP joist_r_operator1(SEXP generic, SEXP x) {
  const char *const name = joist_r_string(generic, "generic");
  if (strcmp(name, "-") == 0) return apply_plain(JOIST_OP_NEGATE, 1, &x, true);
  if (strcmp(name, "+") == 0) return x;
  return apply_plain(elementwise(generic, true), 1, &x, true);
}

/* Sums of R's doubles, too, are what R has. */
SEXP joist_r_summary(SEXP generic, SEXP x) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const joist_op op = op_of(generic, true, JOIST_FAMILY_REDUCTION);
  struct joist_r_value value;
  joist_r_read_operand(rules, x, &value);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  const bool number = value.form == JOIST_R_TRACED && !joist_r_has_missing(&value) &&
                      dtype != JOIST_F64 && joist_dtype_kind(dtype) == JOIST_KIND_FLOAT &&
                      Rf_asLogical(joist_r_trace_is_number(x));
  x = PROTECT(number ? joist_r_trace_in_full(x) : x);
  if (number) joist_r_read_operand(rules, x, &value);
  struct joist_attributes attributes = {.count = 0};
  joist_r_set_dims(&attributes, R_NilValue, value.argument.shape.rank);
  SEXP result = PROTECT(joist_r_apply(rules, op, &value, 1, &attributes));
  if (number) result = joist_r_trace_as_number(result);
  UNPROTECT(2);
  return result;
}

SEXP joist_r_operation(SEXP name, SEXP operands, SEXP attributes) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const joist_op op = op_of(name, false, JOIST_FAMILY_ARRAY);
  if (TYPEOF(operands) != VECSXP || (attributes != R_NilValue && TYPEOF(attributes) != VECSXP))
    joist_r_stop(JOIST_ERROR_VALUE, "the operands and attributes of an operation must be lists");
  if (joist_operation(op)->regions > 0)
    joist_r_stop(JOIST_ERROR_VALUE, "%s has bodies, which are not operands", joist_op_name(op));
  const size_t n = (size_t)XLENGTH(operands);
  struct joist_error error;
  const joist_status status = joist_op_check_operands(op, n, &error);
  joist_r_raise_if(status, &error);
  if (n > 0) attributes = joist_r_attributes_by_number(attributes, VECTOR_ELT(operands, 0));
  PROTECT(attributes);
  struct joist_r_value *const values = (struct joist_r_value *)R_alloc(n + 1, (int)sizeof *values);
  for (size_t k = 0; k < n; k++)
    joist_r_read_operand(rules, VECTOR_ELT(operands, (R_xlen_t)k), &values[k]);
  const struct joist_attributes read =
      joist_r_attributes(op, attributes, n > 0 ? &values[0].argument.shape : NULL);
  SEXP result = joist_r_apply(rules, op, values, n, &read);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_convert_into(SEXP x, SEXP dtype, SEXP ambiguous, SEXP assigns) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_operand(rules, x, &value);
  const struct joist_type type = {joist_r_dtype(dtype), joist_r_flag(ambiguous, "ambiguous")};
  const struct joist_type own = value.argument.operand.type;
  if (own.dtype == type.dtype && own.ambiguous == type.ambiguous) return x;
  return joist_r_apply_conversion(rules, &value, type, joist_r_flag(assigns, "assigns"));
}

SEXP joist_r_key_split(SEXP key, SEXP n, SEXP attributes) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const R_xlen_t count = (R_xlen_t)Rf_asReal(n);
  SEXP keys = PROTECT(Rf_allocVector(VECSXP, count));
  PROTECT(attributes = joist_r_attributes_by_number(attributes, key));
  struct joist_r_value values[2];
  const void *const top = vmaxget();
  for (R_xlen_t k = 0; k < count; k++) {
    SEXP number = PROTECT(Rf_ScalarReal((double)k));
    joist_r_read_operand(rules, key, &values[0]);
    joist_r_read_operand(rules, number, &values[1]);
    const struct joist_attributes read =
        joist_r_attributes(JOIST_OP_FOLD_IN, attributes, &values[0].argument.shape);
    SET_VECTOR_ELT(keys, k, joist_r_apply(rules, JOIST_OP_FOLD_IN, values, 2, &read));
    UNPROTECT(1);
    vmaxset(top);
  }
  UNPROTECT(2);
  return keys;
}
