/* Traces: building a program from the operations of an R function.
 *
 * A trace is an external pointer that owns a struct trace (its finalizer frees it). The
 * protected value is a list: constants (payloads), the template of the result. */
#include "r/trace.h"

#include <stdlib.h>
#include <string.h>

#include "r/conditions.h"
#include "r/finalizers.h"
#include "r/payload.h"
#include "r/rules.h"

static SEXP trace_tag(void) { return Rf_install("joist_trace"); }

static void finalize(SEXP pointer) {
  struct joist_r_trace *const trace = R_ExternalPtrAddr(pointer);
  if (trace == NULL) return;
  R_ClearExternalPtr(pointer);
  joist_plan_free(trace->plan);
  joist_program_clear(&trace->program);
  free(trace->sources);
  free(trace);
}

struct joist_r_trace *joist_r_trace_of(SEXP pointer) {
  /* Somebody else's external pointer is not one of ours. */
  const bool own = TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == trace_tag();
  struct joist_r_trace *const trace = own ? R_ExternalPtrAddr(pointer) : NULL;
  if (trace == NULL)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this traced tensor or program does not survive a saved session");
  return trace;
}

/* ---- inputs ---- */

/* The input that reads `source`; an equal one is used again. */
static joist_value_id input_of(struct joist_r_trace *trace, struct joist_r_source source,
                               struct joist_type type, const struct joist_shape *shape) {
  for (uint32_t v = 0; v < trace->program.value_count; v++) {
    const uint32_t input = trace->program.values[v].input;
    if (input == JOIST_NO_INPUT) continue;
    const struct joist_r_source *const known = &trace->sources[input];
    if (known->kind == source.kind && known->index == source.index && known->dtype == source.dtype)
      return v;
  }
  struct joist_error error;
  if (trace->program.input_count == trace->source_capacity) {
    const uint32_t larger = trace->source_capacity * 2 + 8;
    void *const moved = realloc(trace->sources, larger * sizeof *trace->sources);
    if (moved == NULL) joist_r_stop(JOIST_ERROR_MEMORY, "out of memory while tracing");
    trace->sources = moved;
    trace->source_capacity = larger;
  }
  trace->sources[trace->program.input_count] = source;
  joist_value_id value;
  const joist_status status = joist_program_add_input(&trace->program, type, shape, &value, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return value;
}

static joist_value_id constant_input(SEXP pointer, SEXP payload, struct joist_type type,
                                     const struct joist_shape *shape) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  SEXP kept = R_ExternalPtrProtected(pointer);
  SEXP constants = VECTOR_ELT(kept, JOIST_R_CONSTANTS);
  uint32_t index = 0;
  while (index < trace->constant_count && VECTOR_ELT(constants, index) != payload) index++;
  if (index == trace->constant_count) {
    if (index == (uint32_t)XLENGTH(constants)) {
      constants = Rf_xlengthgets(constants, 2 * (R_xlen_t)index + 8);
      SET_VECTOR_ELT(kept, JOIST_R_CONSTANTS, constants);
    }
    SET_VECTOR_ELT(constants, index, payload);
    /* The program reads it later: nobody may change it in place meanwhile. */
    MARK_NOT_MUTABLE(payload);
    trace->constant_count++;
  }
  return input_of(trace, (struct joist_r_source){JOIST_R_FROM_CONSTANT, index, type.dtype}, type,
                  shape);
}

/* The number of an operand's value in the program, adding inputs as needed. `dtype` is
 * the one a literal is read in. */
static joist_value_id value_number(SEXP pointer, const struct joist_r_value *value,
                                   struct joist_type type) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  const struct joist_shape *const shape = &value->argument.shape;
  if (value->form == JOIST_R_TRACED) {
    const joist_value_id at = value->argument.value;
    bool known = at < (value->leaf ? trace->leaf_count : trace->program.value_count);
    if (known && !value->leaf)
      known = trace->program.values[at].type.dtype == value->argument.operand.type.dtype &&
              joist_shape_equal(&trace->program.values[at].shape, shape);
    if (!known) joist_r_stop(JOIST_ERROR_VALUE, "this traced tensor was taken apart");
    if (!value->leaf) return at;
    return input_of(
        trace, (struct joist_r_source){JOIST_R_FROM_LITERAL, value->argument.value, type.dtype},
        type, shape);
  }
  if (value->form == JOIST_R_CONCRETE || value->form == JOIST_R_REMOTE)
    return constant_input(pointer, value->payload, value->argument.operand.type, shape);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, value->count));
  struct joist_error error;
  const joist_status status = joist_r_import(value, type.dtype, joist_r_elements(payload), &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  const joist_value_id number = constant_input(pointer, payload, type, shape);
  UNPROTECT(1);
  return number;
}

/* ---- operations ---- */

SEXP joist_r_trace_apply(const struct joist_rules *rules, joist_op op,
                         const struct joist_r_value *values,
                         const struct joist_attributes *attributes) {
  const int arity = joist_op_arity(op);
  SEXP pointer = R_NilValue;
  struct joist_argument arguments[JOIST_ARITY_MAX];
  for (int k = 0; k < arity; k++) {
    arguments[k] = values[k].argument;
    if (values[k].form == JOIST_R_ABSTRACT)
      joist_r_stop(JOIST_ERROR_VALUE, "an nv_aval() cannot meet the tensors of a trace");
    if (values[k].form != JOIST_R_TRACED) continue;
    if (pointer != R_NilValue && pointer != values[k].payload)
      joist_r_stop(JOIST_ERROR_VALUE, "tensors of two different jit() traces cannot meet");
    pointer = values[k].payload;
  }
  /* Rules that look at values would decide by a value nobody knows yet. */
  for (int k = 0; k < arity && arity > 1; k++)
    if (values[k].form == JOIST_R_TRACED && rules->policy == JOIST_BY_VALUE &&
        values[k].argument.operand.rank == 0 && !values[k].argument.operand.type.ambiguous)
      joist_r_stop(
          JOIST_ERROR_PROMOTION,
          "the rules '%s' promote by the value of a rank-0 tensor, which is not known while "
          "jit() traces; use the rules 'numpy' or 'cupy', or a tensor of rank 1",
          rules->id);
  if (joist_r_trace_of(pointer)->closed)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this tensor belongs to a jit() trace that has ended; return it from the traced "
                 "function instead of keeping it elsewhere");
  struct joist_inference inference;
  struct joist_error error;
  joist_status status = joist_program_infer(rules, op, arguments, attributes, &inference, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  joist_value_id operands[JOIST_ARITY_MAX], result;
  for (int k = 0; k < arity; k++)
    operands[k] = value_number(pointer, &values[k],
                               (struct joist_type){inference.signature.operand[k], false});
  status = joist_program_add(&joist_r_trace_of(pointer)->program, op, &inference, operands,
                             attributes, &result, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return joist_r_traced(pointer, result, false, inference.signature.result, &inference.shape);
}

/* ---- arguments and results ---- */

bool joist_r_is_structure(SEXP x) { return TYPEOF(x) == VECSXP && !Rf_isObject(x); }

SEXP joist_r_map_leaves(SEXP x, SEXP (*leaf)(SEXP x, void *context), void *context) {
  R_CheckStack(); /* lists of lists may be as deep as they like */
  if (x == R_NilValue) return x;
  if (!joist_r_is_structure(x)) return leaf(x, context);
  SEXP copy = PROTECT(Rf_shallow_duplicate(x));
  for (R_xlen_t k = 0; k < XLENGTH(x); k++)
    SET_VECTOR_ELT(copy, k, joist_r_map_leaves(VECTOR_ELT(x, k), leaf, context));
  UNPROTECT(1);
  return copy;
}

/* What the leaves of arguments and results are read with. */
struct tracing {
  const struct joist_rules *rules;
  SEXP pointer;
};

/* The traced tensor that stands for a leaf of the arguments. */
static SEXP trace_argument(SEXP x, void *context) {
  const struct joist_rules *const rules = ((const struct tracing *)context)->rules;
  SEXP pointer = ((const struct tracing *)context)->pointer;
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  struct joist_r_value value;
  joist_r_read_any(rules, x, &value);
  const uint32_t leaf = trace->leaf_count++;
  const struct joist_type type = value.argument.operand.type;
  /* Rules that look at the values of literals need them: they are part of the key. */
  if (value.form == JOIST_R_LITERAL && joist_r_by_value(rules)) return x;
  if (value.form == JOIST_R_LITERAL)
    return joist_r_traced(pointer, leaf, true, type, &value.argument.shape);
  const joist_value_id number =
      input_of(trace, (struct joist_r_source){JOIST_R_FROM_LEAF, leaf, type.dtype}, type,
               &value.argument.shape);
  return joist_r_traced(pointer, number, false, type, &value.argument.shape);
}

void joist_r_check_arguments(SEXP arguments, SEXP dynamic) {
  if (TYPEOF(arguments) != VECSXP || TYPEOF(dynamic) != LGLSXP ||
      XLENGTH(arguments) != XLENGTH(dynamic))
    joist_r_stop(JOIST_ERROR_VALUE, "the arguments of a jitted function are a list");
}

SEXP joist_r_trace_begin(SEXP arguments, SEXP dynamic, SEXP rules) {
  joist_r_check_arguments(arguments, dynamic);
  /* The finalizer first, so that an allocation that fails leaks nothing. */
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, trace_tag(), R_NilValue));
  joist_r_finalize_with(pointer, finalize, true);
  struct joist_r_trace *const trace = calloc(1, sizeof *trace);
  if (trace == NULL) joist_r_stop(JOIST_ERROR_MEMORY, "out of memory while tracing");
  joist_program_init(&trace->program);
  R_SetExternalPtrAddr(pointer, trace);
  SEXP kept = Rf_allocVector(VECSXP, JOIST_R_KEPT);
  R_SetExternalPtrProtected(pointer, kept);
  SET_VECTOR_ELT(kept, JOIST_R_CONSTANTS, Rf_allocVector(VECSXP, 4));
  SET_VECTOR_ELT(kept, JOIST_R_UPLOADED, Rf_allocVector(VECSXP, 0));
  struct tracing tracing = {joist_r_rules(rules), pointer};
  SEXP traced = PROTECT(Rf_shallow_duplicate(arguments));
  for (R_xlen_t k = 0; k < XLENGTH(arguments); k++)
    if (LOGICAL(dynamic)[k])
      SET_VECTOR_ELT(traced, k,
                     joist_r_map_leaves(VECTOR_ELT(arguments, k), trace_argument, &tracing));
  SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(out, 0, pointer);
  SET_VECTOR_ELT(out, 1, traced);
  UNPROTECT(3);
  return out;
}

/* The number of the output that a leaf of the result becomes in the template. */
static SEXP trace_result(SEXP x, void *context) {
  const struct joist_rules *const rules = ((const struct tracing *)context)->rules;
  SEXP pointer = ((const struct tracing *)context)->pointer;
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  struct joist_r_value value;
  joist_r_read_any(rules, x, &value);
  if (value.form == JOIST_R_ABSTRACT)
    joist_r_stop(JOIST_ERROR_VALUE, "a jitted function cannot return an nv_aval()");
  if (value.form == JOIST_R_TRACED && value.payload != pointer)
    joist_r_stop(JOIST_ERROR_VALUE, "a tensor of another jit() trace cannot be returned");
  const joist_value_id number = value_number(pointer, &value, value.argument.operand.type);
  struct joist_error error;
  const joist_status status = joist_program_add_output(&trace->program, number, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return Rf_ScalarInteger((int)trace->program.output_count - 1);
}

SEXP joist_r_trace_end(SEXP pointer, SEXP result, SEXP rules) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  if (trace->closed) joist_r_stop(JOIST_ERROR_VALUE, "this jit() trace has ended already");
  struct tracing tracing = {joist_r_rules(rules), pointer};
  SET_VECTOR_ELT(R_ExternalPtrProtected(pointer), JOIST_R_TEMPLATE,
                 joist_r_map_leaves(result, trace_result, &tracing));
  trace->closed = true;
  struct joist_error error;
  const joist_status status = joist_plan_make(&trace->program, &trace->plan, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  return pointer;
}
