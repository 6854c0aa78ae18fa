/* Operations become instructions of a trace. */
#include "r/trace/trace_call.h"

#include "r/base/conditions.h"
#include "r/base/session.h"
#include "r/trace/trace.h"
#include "r/trace/trace_mask.h"

/* The trace that an operation goes to, which is still under way: the body that is traced, or the
 * trace that its operands belong to. */
static SEXP trace_of_operands(const struct joist_r_call *call) {
  const bool in_body = joist_r_session()->in_body;
  SEXP pointer = in_body ? joist_r_session()->trace : R_NilValue;
  for (size_t k = 0; k < call->count; k++) {
    const struct joist_r_value *const value = &call->values[k];
    if (value->form == JOIST_R_ABSTRACT)
      joist_r_stop(JOIST_ERROR_VALUE,
                   "an nv_aval() cannot be combined with the tensors of a trace");
    if (value->form != JOIST_R_TRACED) continue;
    joist_r_check_open(value->payload);
    if (in_body && joist_r_is_within(pointer, value->payload)) continue;
    if (pointer != R_NilValue && pointer != value->payload)
      joist_r_stop(JOIST_ERROR_VALUE, "tensors of two different jit() traces cannot be combined");
    pointer = value->payload;
  }
  joist_r_check_open(pointer);
  return pointer;
}

/* ---- numbers that are computed of R numbers alone ----
 *
 * R computes them in double, and they are rounded once, to the dtype of the tensor that they meet.
 * A trace keeps such a value twice: as R would have computed it, and rounded to its default dtype.
 * A copy that nothing reads is not computed. */

static const struct joist_type exact_type = {JOIST_F64, false};

/* 1 + the f64 value that a traced value was rounded from, 0 for none. */
static joist_value_id exact_of(const struct joist_r_trace *trace, joist_value_id value) {
  return value < trace->exact_capacity ? trace->exact[value] : 0;
}

static void note_exact(struct joist_r_trace *trace, joist_value_id value, joist_value_id exact) {
  joist_r_note_value(&trace->exact, &trace->exact_capacity, value, exact);
}

static bool is_own(SEXP pointer, const struct joist_r_value *value) {
  return value->form == JOIST_R_TRACED && value->payload == pointer;
}

/* Whether R has the value as a double, or would have computed it as one: joist's own functions make
 * tensors of R numbers. */
static bool is_r_number(SEXP pointer, const struct joist_r_value *value) {
  if (joist_r_has_missing(value) || !value->by_generic) return false;
  const joist_kind kind = joist_dtype_kind(value->argument.operand.type.dtype);
  const bool real = kind == JOIST_KIND_FLOAT || kind == JOIST_KIND_INT;
  if (value->form == JOIST_R_LITERAL || (is_own(pointer, value) && value->leaf))
    return real && value->argument.operand.literal;
  return is_own(pointer, value) && exact_of(joist_r_trace_of(pointer), value->argument.value) != 0;
}

/* Whether an operation on R numbers is one that R computes in double: not one of integers alone. */
static bool computes_in_double(SEXP pointer, const struct joist_r_call *call) {
  const joist_class class = joist_op_class(call->op);
  const joist_dtype made = call->inference.signature.result[0].dtype;
  bool traced = false;
  if (joist_operation(call->op)->family != JOIST_FAMILY_ELEMENTWISE || made == JOIST_F64 ||
      joist_dtype_kind(made) != JOIST_KIND_FLOAT ||
      (class != JOIST_CLASS_JOIN && class != JOIST_CLASS_INEXACT && class != JOIST_CLASS_REAL))
    return false;
  for (size_t k = 0; k < call->count; k++) {
    if (!is_r_number(pointer, &call->values[k])) return false;
    traced |= is_own(pointer, &call->values[k]);
  }
  return traced;
}

static joist_value_id add_plain(struct joist_program *program, joist_op op,
                                const joist_value_id *operands, size_t n,
                                const struct joist_attributes *attributes, uint32_t line) {
  struct joist_error error;
  joist_value_id result = 0;
  joist_r_raise_if(joist_program_emit(program, op, operands, n, attributes, line, &result, &error),
                   &error);
  return result;
}

static joist_value_id rounded(struct joist_program *program, joist_value_id exact,
                              struct joist_type type) {
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set_type(&attributes, type);
  return add_plain(program, JOIST_OP_CONVERT, &exact, 1, &attributes, JOIST_NO_SOURCE);
}

/* The operation in double, and its result rounded to its default dtype. */
static SEXP apply_to_numbers(SEXP pointer, const struct joist_r_call *call) {
  static const struct joist_attributes none = {.count = 0};
  const struct joist_type type = call->inference.signature.result[0];
  joist_value_id operands[JOIST_ELEMENT_OPERANDS];
  for (size_t k = 0; k < call->count; k++) {
    const struct joist_r_value *const value = &call->values[k];
    const bool computed = is_own(pointer, value) && !value->leaf;
    operands[k] = computed ? exact_of(joist_r_trace_of(pointer), value->argument.value) - 1
                           : joist_r_trace_number(pointer, value, exact_type);
  }
  const uint32_t line = joist_r_trace_line(pointer);
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  const joist_value_id exact = add_plain(program, call->op, operands, call->count, &none, line);
  const joist_value_id made = rounded(program, exact, type);
  note_exact(joist_r_trace_of(pointer), made, exact);
  return joist_r_traced(pointer, made, false, type, &call->inference.shape[0]);
}

/* The number of an operand that is read in `wanted`: one that was computed of R numbers is rounded
 * to that dtype alone. */
static joist_value_id operand_number(SEXP pointer, const struct joist_r_value *value,
                                     joist_dtype wanted) {
  struct joist_r_trace *const trace = joist_r_trace_of(pointer);
  const joist_value_id exact =
      is_own(pointer, value) && !value->leaf ? exact_of(trace, value->argument.value) : 0;
  const joist_kind kind = joist_dtype_kind(wanted);
  if (exact == 0 || wanted == value->argument.operand.type.dtype ||
      (kind != JOIST_KIND_FLOAT && kind != JOIST_KIND_COMPLEX))
    return joist_r_trace_number(pointer, value, (struct joist_type){wanted, false});
  return wanted == JOIST_F64
             ? exact - 1
             : rounded(&trace->program, exact - 1, (struct joist_type){wanted, false});
}

/* ---- instructions ---- */

/* The masks of the operands, each of which gets a number of its own if it has another mask
 * elsewhere. */
static void note_masks(SEXP pointer, const struct joist_r_call *call, joist_value_id *operands,
                       joist_value_id *masks) {
  joist_r_trace_masks(pointer, call->values, call->count, masks);
  for (size_t k = 0; k < call->count; k++) {
    if (masks[k] == JOIST_NO_MASK) continue;
    if (call->values[k].form != JOIST_R_TRACED) operands[k] = joist_r_renamed(pointer, operands[k]);
    joist_r_note_mask(joist_r_trace_of(pointer), operands[k], masks[k]);
  }
}

/* Appends what becomes of the operation; writes the numbers of its results and of their masks. */
static void add(SEXP pointer, const struct joist_r_call *call, joist_value_id *results,
                joist_value_id *result_masks) {
  const size_t n = call->count;
  joist_value_id *const operands = (joist_value_id *)R_alloc(2 * n + 1, (int)sizeof *operands);
  joist_value_id *const masks = operands + n;
  for (size_t k = 0; k < n; k++)
    operands[k] = operand_number(pointer, &call->values[k],
                                 joist_signature_operand(&call->inference.signature, k));
  if (call->masked) note_masks(pointer, call, operands, masks);
  const uint32_t line = joist_r_trace_line(pointer);
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  struct joist_error error;
  if (call->masked) {
    const struct joist_missing missing = {.op = call->op,
                                          .inference = &call->inference,
                                          .attributes = &call->plain,
                                          .count = n,
                                          .operands = operands,
                                          .masks = masks,
                                          .remove = call->remove,
                                          .source = line};
    joist_r_raise_called_if(joist_missing_add(program, &missing, results, result_masks, &error),
                            &error);
    return;
  }
  struct joist_instruction instruction =
      joist_instruction_of(call->op, &call->inference, operands, n, &call->plain, 0);
  instruction.source = line;
  joist_r_raise_called_if(joist_program_add(program, &instruction, &call->inference, &error),
                          &error);
  for (uint32_t r = 0; r < instruction.result_count; r++) {
    results[r] = instruction.result + r;
    result_masks[r] = JOIST_NO_MASK;
  }
}

SEXP joist_r_trace_call(const struct joist_r_call *call) {
  SEXP pointer = trace_of_operands(call);
  if (computes_in_double(pointer, call)) return apply_to_numbers(pointer, call);
  joist_value_id made[JOIST_RESULTS_MAX], masks[JOIST_RESULTS_MAX];
  add(pointer, call, made, masks);
  const uint32_t results = joist_operation(call->op)->results;
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, results));
  for (uint32_t r = 0; r < results; r++) {
    SEXP tensor = joist_r_traced(pointer, made[r], false, call->inference.signature.result[r],
                                 &call->inference.shape[r]);
    SET_VECTOR_ELT(tensors, r, joist_r_traced_with(tensor, pointer, masks[r]));
  }
  UNPROTECT(1);
  return results == 1 ? VECTOR_ELT(tensors, 0) : tensors;
}
