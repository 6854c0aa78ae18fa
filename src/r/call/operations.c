/* Operations on tensors: reading operands, inference, and running one instruction. */
#include "r/call/operations.h"

#include <stdio.h>
#include <string.h>

#include "core/program/watch.h"
#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/findings.h"
#include "r/base/session.h"
#include "r/base/vector.h"
#include "r/call/operations_missing.h"
#include "r/memory/device_payload.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/delayed.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/view.h"
#include "r/trace/attributes.h"
#include "r/trace/strictness.h"
#include "r/trace/trace.h"

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

/* The table of operations: what documentation and tests read. */
SEXP joist_r_op_names(void) {
  static const char *fields[] = {"name",          "generic", "family",     "least",    "most",
                                 "results",       "kinds",   "attributes", "ulp_f32",  "ulp_f64",
                                 "ulp_f64_below", "combine", "missing",    "overflow", ""};
  static const char *const families[] = {"elementwise", "reduction", "array", "regions"};
  SEXP table = PROTECT(Rf_mkNamed(VECSXP, fields));
  SET_VECTOR_ELT(table, 0, op_strings(false));
  SET_VECTOR_ELT(table, 1, op_strings(true));
  for (int k = 2; k < 8; k++)
    SET_VECTOR_ELT(table, k, Rf_allocVector(k > 2 && k < 6 ? INTSXP : STRSXP, JOIST_OP_COUNT));
  for (int k = 8; k < 11; k++) SET_VECTOR_ELT(table, k, Rf_allocVector(REALSXP, JOIST_OP_COUNT));
  for (int k = 11; k < 14; k++) SET_VECTOR_ELT(table, k, Rf_allocVector(STRSXP, JOIST_OP_COUNT));
  for (int op = 0; op < JOIST_OP_COUNT; op++) {
    const struct joist_operation *const o = joist_operation((joist_op)op);
    const struct joist_accuracy accuracy = joist_op_accuracy((joist_op)op);
    REAL(VECTOR_ELT(table, 8))[op] = accuracy.f32;
    REAL(VECTOR_ELT(table, 9))[op] = accuracy.f64;
    REAL(VECTOR_ELT(table, 10))[op] = accuracy.f64_below;
    SET_STRING_ELT(VECTOR_ELT(table, 2), op, Rf_mkChar(families[o->family]));
    SET_STRING_ELT(VECTOR_ELT(table, 12), op,
                   Rf_mkChar(joist_missing_rule_name(joist_op_missing_rule((joist_op)op))));
    SET_STRING_ELT(VECTOR_ELT(table, 13), op,
                   Rf_mkChar(joist_overflow_rule_name(joist_op_overflow_rule((joist_op)op))));
    if (o->family == JOIST_FAMILY_REDUCTION)
      SET_STRING_ELT(VECTOR_ELT(table, 11), op,
                     Rf_mkChar(joist_op_name(joist_op_combine((joist_op)op))));
    INTEGER(VECTOR_ELT(table, 3))[op] = o->least;
    INTEGER(VECTOR_ELT(table, 4))[op] = o->most == JOIST_OPERANDS_ANY ? NA_INTEGER : o->most;
    INTEGER(VECTOR_ELT(table, 5))[op] = o->results;
    SET_STRING_ELT(VECTOR_ELT(table, 6), op,
                   names_of_bits(o->kinds, JOIST_KIND_COMPLEX + 1, kind_name));
    SET_STRING_ELT(VECTOR_ELT(table, 7), op,
                   names_of_bits(o->attributes, JOIST_ATTRIBUTE_COUNT, attribute_name));
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

/* ---- running ---- */

/* The elements of a value in the dtype an operation reads it in: a literal is
 * converted here, exactly and once. */
static const void *operand_elements(const struct joist_r_value *value, joist_dtype dtype,
                                    void *scalar) {
  if (value->form != JOIST_R_LITERAL) return value->data;
  void *const out =
      value->count == 1 ? scalar : (void *)R_alloc(value->count + 1, (int)joist_dtype_size(dtype));
  struct joist_error error;
  const joist_status status = joist_r_import(value, dtype, out, &error);
  joist_r_raise_if(status, &error);
  return out;
}

/* Whether a device takes the value, one element, without allocating memory for it. */
static bool comes_along(const struct joist_device *device, const struct joist_r_value *value) {
  return !device->host && value->form == JOIST_R_LITERAL && value->count == 1;
}

/* The same where a device reads it: in its memory, unless it is one element. What had to be
 * allocated is protected by `owned`, a pairlist. */
static const void *elements_for(const struct joist_device *device,
                                const struct joist_r_value *value, joist_dtype dtype, void *scalar,
                                SEXP *owned) {
  const void *const read = operand_elements(value, dtype, scalar);
  if (device->host || value->form != JOIST_R_LITERAL || comes_along(device, value)) return read;
  SEXP payload = PROTECT(joist_r_upload(device, dtype, value->count, read));
  *owned = Rf_cons(payload, *owned);
  UNPROTECT(1);
  return joist_r_remote_memory(payload);
}

SEXP joist_r_operand_on(const struct joist_device *device, const struct joist_r_value *value,
                        joist_dtype dtype, const void **elements, bool *here) {
  SEXP owned = R_NilValue;
  void *const scalar = R_alloc(1, 16);
  *elements = elements_for(device, value, dtype, scalar, &owned);
  *here = comes_along(device, value);
  return owned;
}

/* The operand whose elements an elementwise result is written over; n for none. */
static size_t reused_operand(joist_op op, const struct joist_r_value *values, size_t n,
                             const struct joist_inference *inference) {
  const struct joist_operation *const operation = joist_operation(op);
  if (operation->family != JOIST_FAMILY_ELEMENTWISE) return n;
  for (size_t k = 0; k < n; k++)
    if (joist_r_is_reusable(&values[k], inference->signature.result[0].dtype, &inference->shape[0]))
      return k;
  return n;
}

/* A dying operand gives its payload away: to the result, which has it by now, or to the next tensor
 * like it. */
static void release(const struct joist_r_value *value, bool reused) {
  if (reused) {
    joist_r_view_empty(value->object);
  } else if (value->dying && joist_r_is_own(value) && !joist_r_is_mapped(value->payload)) {
    joist_r_view_empty(value->object);
    joist_r_retire_payload(value->payload);
  }
}

static SEXP run_eager(joist_op op, const struct joist_r_value *values, size_t n,
                      const struct joist_inference *inference,
                      const struct joist_attributes *attributes) {
  enum { FEW = 3 };
  const struct joist_signature *const signature = &inference->signature;
  const uint32_t results = joist_operation(op)->results, arity = (uint32_t)n;
  const void *vmax = vmaxget();
  struct joist_value few[FEW + JOIST_RESULTS_MAX];
  const void *few_inputs[FEW];
  bool few_here[FEW], any_here = false;
  joist_value_id few_ids[FEW];
  _Alignas(16) char few_scalars[FEW][16];
  const bool is_few = n <= FEW;
  struct joist_value *const slots =
      is_few ? few : (struct joist_value *)R_alloc(n + results, (int)sizeof *slots);
  const void **const inputs = is_few ? few_inputs : (const void **)R_alloc(n, (int)sizeof *inputs);
  bool *const here = is_few ? few_here : (bool *)R_alloc(n, (int)sizeof *here);
  joist_value_id *const ids = is_few ? few_ids : (joist_value_id *)R_alloc(n, (int)sizeof *ids);
  char(*const scalars)[16] = is_few ? few_scalars : (char(*)[16])R_alloc(n, 16);
  const struct joist_device *device = joist_r_common_device(values, (int)n);
  if (device == NULL) device = joist_device_at(0);
  SEXP owned = R_NilValue;
  PROTECT_INDEX place;
  PROTECT_WITH_INDEX(owned, &place);
  for (uint32_t k = 0; k < arity; k++) {
    const joist_dtype wanted = joist_signature_operand(signature, k);
    inputs[k] = elements_for(device, &values[k], wanted, scalars[k], &owned);
    REPROTECT(owned, place);
    here[k] = comes_along(device, &values[k]);
    any_here |= here[k];
    ids[k] = k;
    slots[k] = (struct joist_value){
        .type = values[k].argument.operand.type, .shape = values[k].argument.shape, .input = k};
    if (values[k].form == JOIST_R_LITERAL) slots[k].type = (struct joist_type){wanted, false};
  }
  joist_value_id outputs[JOIST_RESULTS_MAX];
  void *out[JOIST_RESULTS_MAX];
  SEXP payloads = PROTECT(Rf_allocVector(VECSXP, results));
  /* A second run, of what a device suspects, reads the operands again. */
  const bool again = inference->watch != 0 && !device->host;
  const size_t reused = again ? n : reused_operand(op, values, n, inference);
  struct joist_tally tally;
  for (uint32_t r = 0; r < results; r++) {
    size_t count = 0;
    (void)joist_shape_count(&inference->shape[r], &count);
    outputs[r] = arity + r;
    slots[arity + r] = (struct joist_value){
        .type = signature->result[r], .shape = inference->shape[r], .input = JOIST_NO_INPUT};
    SEXP payload = reused < n
                       ? values[reused].payload
                       : joist_r_payload_on(device, signature->result[r].dtype, count, &out[r]);
    if (reused < n) out[r] = joist_r_elements(payload);
    SET_VECTOR_ELT(payloads, r, payload);
  }
  struct joist_instruction instruction =
      joist_instruction_of(op, inference, ids, n, attributes, arity);
  const struct joist_program program = {.values = slots,
                                        .instructions = &instruction,
                                        .outputs = outputs,
                                        .value_count = arity + results,
                                        .input_count = arity,
                                        .instruction_count = 1,
                                        .output_count = results};
  struct joist_plan *plan = NULL;
  struct joist_error error;
  joist_status status = joist_plan_make(&program, &plan, &error);
  struct joist_run run = joist_r_run();
  if (reused < n) run.stream_from = SIZE_MAX; /* the caches have the elements */
  run.here = any_here ? here : NULL;
  if (status == JOIST_OK)
    status = inference->watch != 0
                 ? joist_r_run_watched(device, plan, &program, inputs, out, run, &tally, &error)
                 : joist_r_run_plan(device, plan, inputs, out, run, &error);
  joist_plan_free(plan);
  joist_r_raise_called_if(status, &error);
  vmaxset(vmax);
  for (size_t k = 0; k < n; k++) release(&values[k], k == reused);
  for (uint32_t r = 0; r < results; r++) {
    SEXP dim = joist_r_dim_among(&inference->shape[r], values, (int)n);
    SET_VECTOR_ELT(payloads, r,
                   joist_r_tensor_with(VECTOR_ELT(payloads, r), signature->result[r],
                                       &inference->shape[r], dim));
  }
  SEXP names = joist_r_names_among(op, attributes, values, n, &inference->shape[0]);
  if (names != R_NilValue) {
    PROTECT(names);
    joist_r_set_names(VECTOR_ELT(payloads, 0), names, inference->shape[0].rank);
    UNPROTECT(1);
  }
  UNPROTECT(2);
  SEXP made = results > 1 ? payloads : VECTOR_ELT(payloads, 0); /* tensors by now */
  PROTECT(made);
  /* R counts references: the list must not be one. */
  if (results == 1) SET_VECTOR_ELT(payloads, 0, R_NilValue);
  if (inference->watch != 0) joist_r_tell_findings(&tally, R_NilValue, R_NilValue);
  UNPROTECT(1);
  return made;
}

static SEXP abstract_results(joist_op op, const struct joist_inference *inference) {
  const int results = joist_operation(op)->results;
  if (results == 1) return joist_r_aval(inference->signature.result[0], &inference->shape[0]);
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, results));
  for (int r = 0; r < results; r++)
    SET_VECTOR_ELT(tensors, r, joist_r_aval(inference->signature.result[r], &inference->shape[r]));
  UNPROTECT(1);
  return tensors;
}

SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   size_t n, const struct joist_attributes *attributes) {
  enum { FEW = 3 };
  /* A recording is inferred again under other rules, which may look at values. */
  const bool by_value = joist_r_by_value(rules) || joist_r_recording();
  const bool compares = joist_op_class(op) == JOIST_CLASS_COMPARE ||
                        (joist_op_class(op) == JOIST_CLASS_POSITION && n > 1);
  bool traced = false, abstract = false;
  for (size_t k = 0; k < n; k++) {
    traced |= values[k].form == JOIST_R_TRACED;
    abstract |= values[k].form == JOIST_R_ABSTRACT;
    if (by_value || (compares && values[k].form == JOIST_R_LITERAL)) joist_r_read_range(&values[k]);
  }
  for (size_t k = 0; compares && n == 2 && k < n; k++)
    joist_r_judge_doubles(&values[k], values[1 - k].argument.operand.type.dtype, false);
  /* In a body all operations are traced but those of nv_aval(). */
  traced |= joist_r_session()->in_body && !abstract;
  if (traced && !joist_r_recording()) return joist_r_trace_apply(rules, op, values, n, attributes);
  struct joist_attributes plain;
  bool remove;
  const bool lowered = joist_r_is_lowered(values, n, attributes, &plain, &remove);
  struct joist_argument few[FEW];
  struct joist_argument *const arguments =
      n <= FEW ? few : (struct joist_argument *)R_alloc(n, (int)sizeof *arguments);
  for (size_t k = 0; k < n; k++) arguments[k] = values[k].argument;
  struct joist_inference inference;
  struct joist_error error;
  const joist_status status =
      joist_program_infer(rules, op, arguments, n, attributes, &inference, &error);
  joist_r_raise_called_if(status, &error);
  if (abstract && !traced)
    joist_r_needs_values(
        rules, values, n, JOIST_R_ABSTRACT,
        "an nv_aval() does not have; use a tensor with data, or the rules 'numpy' or 'cupy'");
  if (joist_r_session()->strict && !traced) joist_r_judge(op, values, n, &inference.signature);
  inference.watch =
      joist_watch_of(op, arguments, n, &inference, attributes, joist_r_watched(rules));
  if (traced) {
    SEXP result = PROTECT(joist_r_trace_apply(rules, op, values, n, attributes));
    joist_r_record(rules, op, values, n, attributes, &inference, result);
    UNPROTECT(1);
    return result;
  }
  SEXP result = lowered && abstract
                    ? joist_r_abstract_missing(op, values, n, &inference, &plain, remove)
                : lowered  ? joist_r_run_missing(op, values, n, &inference, &plain, remove)
                : abstract ? abstract_results(op, &inference)
                           : run_eager(op, values, n, &inference, &plain);
  if (!joist_r_recording()) return result;
  PROTECT(result);
  joist_r_record(rules, op, values, n, attributes, &inference, result);
  UNPROTECT(1);
  return result;
}

/* ---- .Call entry points ---- */

static const struct joist_attributes no_attributes = {.count = 0};

/* R repeats one element over an array, and a vector over the columns of a matrix, which its own
 * code relies on: so does a tensor of one element, and one beside a matrix of R with a row for
 * each. */
static void repeat_as_r(const struct joist_r_value *array, struct joist_r_value *vector) {
  struct joist_shape *const shape = &vector->argument.shape;
  const struct joist_shape *const other = &array->argument.shape;
  if (vector->form != JOIST_R_CONCRETE || shape->rank != 1 || other->rank < 2) return;
  if (shape->extent[0] == 1 &&
      (array->form == JOIST_R_LITERAL || array->form == JOIST_R_CONCRETE)) {
    shape->rank = 0;
    vector->names = R_NilValue;
  } else if (array->form == JOIST_R_LITERAL && other->rank == 2 &&
             shape->extent[0] == other->extent[0]) {
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
  for (size_t k = 0; k < n; k++)
    if (joist_r_is_delayed(operands[k])) return joist_r_delay_plain(op, operands, n, as_operator);
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value values[MOST];
  for (size_t k = 0; k < n; k++) {
    joist_r_read_missing(rules, operands[k], &values[k]);
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

SEXP joist_r_summary(SEXP generic, SEXP x) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const joist_op op = op_of(generic, true, JOIST_FAMILY_REDUCTION);
  if (joist_r_is_delayed(x)) return joist_r_delay_plain(op, &x, 1, false);
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  struct joist_attributes attributes = {.count = 0};
  joist_r_set_dims(&attributes, R_NilValue, value.argument.shape.rank);
  return joist_r_apply(rules, op, &value, 1, &attributes);
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
  for (size_t k = 0; k < n; k++)
    if (joist_r_is_delayed(VECTOR_ELT(operands, (R_xlen_t)k))) {
      SEXP delayed = joist_r_delay(op, operands, attributes);
      UNPROTECT(1);
      return delayed;
    }
  struct joist_r_value *const values = (struct joist_r_value *)R_alloc(n + 1, (int)sizeof *values);
  for (size_t k = 0; k < n; k++)
    joist_r_read_missing(rules, VECTOR_ELT(operands, (R_xlen_t)k), &values[k]);
  const struct joist_attributes read =
      joist_r_attributes(op, attributes, n > 0 ? &values[0].argument.shape : NULL);
  SEXP result = joist_r_apply(rules, op, values, n, &read);
  UNPROTECT(1);
  return result;
}
