/* Operations become instructions of a trace. */
#include "r/trace/trace_call.h"

#include "core/program/emit.h"
#include "core/program/watch.h"
#include "core/promotion/builtin_rules.h"
#include "r/base/conditions.h"
#include "r/base/session.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/trace/trace.h"
#include "r/trace/trace_mask.h"
#include "r/trace/trace_names.h"

/* The trace that an operation goes to, which is still under way: the body that is traced, or the
 * trace that its operands belong to. */
static SEXP trace_of_operands(const struct joist_r_call *call) {
  const bool in_body = joist_r_session()->in_body;
  SEXP pointer = in_body ? joist_r_session()->trace : R_NilValue;
  for (size_t k = 0; k < call->count; k++) {
    const struct joist_r_value *const value = &call->values[k];
    if (value->form == JOIST_R_ABSTRACT) joist_r_stop_abstract();
    if (value->form != JOIST_R_TRACED) continue;
    joist_r_check_open(value->payload);
    if (in_body && joist_r_is_within(pointer, value->payload)) continue;
    if (pointer != R_NilValue && pointer != value->payload) joist_r_stop_two_traces();
    pointer = value->payload;
  }
  joist_r_check_open(pointer);
  return pointer;
}

static void name_result(SEXP tensor, const struct joist_r_call *call) {
  SEXP names = joist_r_names_among(call->op, &call->plain, call->values, call->count,
                                   &call->inference.shape[0]);
  joist_r_name_traced(tensor, PROTECT(names));
  UNPROTECT(1);
}

/* ---- R numbers ----
 *
 * R computes with its own numbers in double, and a double is rounded once, to the dtype of the
 * tensor that it meets. A trace keeps one that was computed twice: as R would have it, and rounded
 * to its default dtype. A copy that nothing reads is not computed. Integers, flags and f64 are what
 * R has. */

static const struct joist_type exact_type = {JOIST_F64, false};

/* 1 + the value that has what R has for a traced one; 0 if this is none of R's own numbers. */
static joist_value_id exact_of(const struct joist_r_trace *trace, joist_value_id value) {
  return value < trace->exact_capacity ? trace->exact[value] : 0;
}

static void note_exact(struct joist_r_trace *trace, joist_value_id value, joist_value_id exact) {
  joist_r_note_value(&trace->exact, &trace->exact_capacity, value, exact);
}

/* A value of the trace, or of one that it is within. */
static bool is_around(SEXP pointer, const struct joist_r_value *value) {
  return value->form == JOIST_R_TRACED && joist_r_is_within(pointer, value->payload);
}

static joist_value_id exact_around(SEXP pointer, const struct joist_r_value *value) {
  return is_around(pointer, value) && !value->leaf
             ? exact_of(joist_r_trace_of(value->payload), value->argument.value)
             : 0;
}

/* Whether the plain run has the value as a number of R's own: joist's own functions make tensors of
 * R numbers. */
static bool is_r_number(SEXP pointer, const struct joist_r_value *value) {
  if (!value->by_generic) return false;
  if (joist_r_has_missing(value)) return exact_around(pointer, value) != 0;
  const joist_kind kind = joist_dtype_kind(value->argument.operand.type.dtype);
  const bool real = kind == JOIST_KIND_FLOAT || kind == JOIST_KIND_INT;
  if (value->form == JOIST_R_LITERAL)
    return (real && value->argument.operand.literal) || value->host == JOIST_HOST_LOGICAL;
  if (is_around(pointer, value) && value->leaf)
    return (real && value->argument.operand.literal) || kind == JOIST_KIND_BOOL;
  return exact_around(pointer, value) != 0;
}

static uint32_t mixed_of(const struct joist_r_value *value) {
  if (value->form != JOIST_R_TRACED || value->leaf || value->payload == R_NilValue) return 0;
  const struct joist_r_trace *const trace = joist_r_trace_of(value->payload);
  const joist_value_id number = value->argument.value;
  const joist_value_id noted = number < trace->mixed_capacity ? trace->mixed[number] : 0;
  return noted == 0 ? 0 : noted - 1;
}

static void note_mixed(struct joist_r_trace *trace, joist_value_id value, uint32_t how) {
  joist_r_note_value(&trace->mixed, &trace->mixed_capacity, value, how);
}

enum joist_r_mixed { MIXED_TYPE = 1 };

/* Whether the dtype of a result depends on whether an operand is an integer of R or a double. It is
 * an error beside a tensor of integers. */
static bool makes_mixed(const struct joist_r_call *call, bool numbers) {
  bool mixed = false;
  for (size_t k = 0; k < call->count; k++) mixed |= (mixed_of(&call->values[k]) & MIXED_TYPE) != 0;
  if (!mixed) return false;
  switch (joist_op_class(call->op)) {
    case JOIST_CLASS_JOIN:
    case JOIST_CLASS_SELECT:
    case JOIST_CLASS_REAL:
    case JOIST_CLASS_LAYOUT:
    case JOIST_CLASS_ACCUMULATE:
    case JOIST_CLASS_EXTREME:
      break;
    default:
      return false;
  }
  bool meets_integers = false;
  for (size_t k = 0; k < call->count; k++) {
    if ((mixed_of(&call->values[k]) & MIXED_TYPE) != 0) continue;
    const struct joist_operand *const operand = &call->values[k].argument.operand;
    const joist_kind kind = joist_dtype_kind(operand->type.dtype);
    if (kind == JOIST_KIND_FLOAT || kind == JOIST_KIND_COMPLEX) return false;
    meets_integers |= !operand->type.ambiguous;
  }
  if (meets_integers && !numbers) {
    joist_r_eval(PROTECT(Rf_lang1(Rf_install("stop_mixed"))));
    UNPROTECT(1);
  }
  return true;
}

static bool are_r_numbers(SEXP pointer, const struct joist_r_call *call) {
  bool traced = false;
  for (size_t k = 0; k < call->count; k++) {
    if (!is_r_number(pointer, &call->values[k])) return false;
    traced |= call->values[k].form == JOIST_R_TRACED;
  }
  return traced;
}

/* Whether an operation on R numbers is one that R computes in double: not one of integers alone. */
static bool computes_in_double(const struct joist_r_call *call) {
  /* NA^0 is 1. */
  if (call->masked && call->op == JOIST_OP_POW) return false;
  const joist_class class = joist_op_class(call->op);
  const joist_dtype made = call->inference.signature.result[0].dtype;
  if (class == JOIST_CLASS_COMPARE) {
    bool doubles = false;
    for (size_t k = 0; k < call->count; k++)
      doubles |= joist_dtype_kind(call->values[k].argument.operand.type.dtype) == JOIST_KIND_FLOAT;
    return doubles;
  }
  return made != JOIST_F64 && joist_dtype_kind(made) == JOIST_KIND_FLOAT &&
         (class == JOIST_CLASS_JOIN || class == JOIST_CLASS_INEXACT || class == JOIST_CLASS_REAL);
}

static joist_value_id add_plain(struct joist_program *program, joist_op op,
                                const joist_value_id *operands, size_t n,
                                const struct joist_attributes *attributes, uint32_t line) {
  struct joist_error error;
  joist_value_id result = 0;
  joist_r_raise_if(
      joist_program_emit(program, op, operands, n, attributes, line, 0, &result, &error), &error);
  return result;
}

static joist_value_id rounded(SEXP pointer, joist_value_id exact, struct joist_type type) {
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set_type(&attributes, type);
  return add_plain(&joist_r_trace_of(pointer)->program, JOIST_OP_CONVERT, &exact, 1, &attributes,
                   JOIST_NO_SOURCE);
}

/* The same where it meets a tensor: a number that does not fit is refused, as R's are. */
static joist_value_id fitted(SEXP pointer, joist_value_id exact, joist_dtype wanted) {
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  const struct joist_argument argument = joist_argument_of(program, exact);
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set_type(&attributes, (struct joist_type){wanted, false});
  struct joist_inference inference;
  struct joist_error error;
  joist_r_raise_if(joist_program_infer(joist_rules_at(0), JOIST_OP_CONVERT, &argument, 1,
                                       &attributes, &inference, &error),
                   &error);
  inference.watch = joist_watch_of_conversion(argument.operand.type, wanted, true, 0);
  struct joist_instruction instruction =
      joist_instruction_of(JOIST_OP_CONVERT, &inference, &exact, 1, &attributes, 0);
  instruction.source = joist_r_trace_line(pointer);
  joist_r_raise_if(joist_program_add(program, &instruction, &inference, &error), &error);
  return instruction.result;
}

/* The number of an R number in double. */
static joist_value_id in_double(SEXP pointer, const struct joist_r_value *value) {
  struct joist_r_value exact = *value;
  const joist_value_id noted = exact_around(pointer, value);
  if (noted != 0) {
    exact.argument.value = noted - 1;
    exact.argument.operand.type = joist_r_trace_of(value->payload)->program.values[noted - 1].type;
  }
  const joist_value_id number = joist_r_trace_number(pointer, &exact, exact_type);
  const bool done = joist_r_trace_of(pointer)->program.values[number].type.dtype == JOIST_F64;
  return done ? number : rounded(pointer, number, exact_type);
}

/* What is missing of a result that is missing where any operand is. */
static joist_value_id joined_mask(SEXP pointer, const struct joist_r_call *call) {
  static const struct joist_attributes none = {.count = 0};
  joist_value_id masks[JOIST_ELEMENT_OPERANDS], mask = JOIST_NO_MASK;
  joist_r_trace_masks(pointer, call->values, call->count, masks);
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  for (size_t k = 0; k < call->count; k++) {
    const joist_value_id both[] = {mask, masks[k]};
    if (masks[k] == JOIST_NO_MASK) continue;
    mask = mask == JOIST_NO_MASK ? masks[k]
                                 : add_plain(program, JOIST_OP_OR, both, 2, &none, JOIST_NO_SOURCE);
  }
  const struct joist_shape *const shape = &call->inference.shape[0];
  if (mask == JOIST_NO_MASK || joist_shape_equal(&program->values[mask].shape, shape)) return mask;
  struct joist_attributes attributes = {.count = 0};
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  return add_plain(program, JOIST_OP_BROADCAST, &mask, 1, &attributes, JOIST_NO_SOURCE);
}

/* The operation in double, and its result rounded to its default dtype. */
static SEXP apply_to_numbers(SEXP pointer, const struct joist_r_call *call) {
  static const struct joist_attributes none = {.count = 0};
  const struct joist_type type = call->inference.signature.result[0];
  joist_value_id operands[JOIST_ELEMENT_OPERANDS];
  for (size_t k = 0; k < call->count; k++) operands[k] = in_double(pointer, &call->values[k]);
  const uint32_t line = joist_r_trace_line(pointer);
  struct joist_program *const program = &joist_r_trace_of(pointer)->program;
  const joist_value_id exact = add_plain(program, call->op, operands, call->count, &none, line);
  joist_value_id made = type.dtype == JOIST_BOOL ? exact : rounded(pointer, exact, type);
  const joist_value_id mask = joined_mask(pointer, call);
  if (mask != JOIST_NO_MASK) made = joist_r_renamed(pointer, made);
  note_exact(joist_r_trace_of(pointer), made, exact);
  if (makes_mixed(call, true)) note_mixed(joist_r_trace_of(pointer), made, MIXED_TYPE);
  SEXP tensor = PROTECT(joist_r_traced(pointer, made, false, type, &call->inference.shape[0]));
  tensor = PROTECT(joist_r_traced_with(tensor, pointer, mask));
  name_result(tensor, call);
  UNPROTECT(2);
  return tensor;
}

/* An R number in another type, which has its value. */
static void read_as(SEXP pointer, struct joist_r_value *value, struct joist_type type) {
  struct joist_operand *const operand = &value->argument.operand;
  if (exact_around(pointer, value) != 0 && operand->type.dtype != type.dtype) {
    const joist_value_id number = joist_r_trace_number(pointer, value, operand->type);
    const joist_value_id made = rounded(pointer, number, type);
    const bool doubles = joist_dtype_kind(type.dtype) == JOIST_KIND_FLOAT;
    note_exact(joist_r_trace_of(pointer), made, doubles ? in_double(pointer, value) : made);
    value->payload = pointer;
    value->argument.value = made;
  } else {
    operand->literal = value->leaf || value->form == JOIST_R_LITERAL;
  }
  operand->type = type;
}

/* Doubles that a branch or loop hands on are f64; they meet tensors as R's doubles do. */
static void read_doubles(SEXP pointer, struct joist_r_call *call) {
  for (size_t k = 0; k < call->count; k++) {
    struct joist_r_value *const value = &call->values[k];
    struct joist_type *const type = &value->argument.operand.type;
    if (!value->by_generic || !type->ambiguous || type->dtype != JOIST_F64) continue;
    if (exact_around(pointer, value) != 0)
      type->dtype = (joist_dtype)call->rules->literal[JOIST_CATEGORY_FLOAT];
  }
}

/* The number of an R number in full, as an ambiguous f64. */
static const struct joist_type full_type = {JOIST_F64, true};

static joist_value_id in_full(SEXP pointer, const struct joist_r_value *value) {
  return rounded(pointer, in_double(pointer, value), full_type);
}

/* A double of R is converted as R has it. */
static void read_in_full(SEXP pointer, struct joist_r_value *value) {
  struct joist_type *const type = &value->argument.operand.type;
  if (joist_r_has_missing(value) || exact_around(pointer, value) == 0 || type->dtype == JOIST_F64 ||
      joist_dtype_kind(type->dtype) != JOIST_KIND_FLOAT)
    return;
  *type = full_type;
  value->argument.value = in_full(pointer, value);
  value->payload = pointer;
}

/* Doubles are compared as R's are, exactly. */
static void read_compared(SEXP pointer, struct joist_r_call *call) {
  for (size_t k = 0; k < call->count; k++) {
    struct joist_operand *const operand = &call->values[k].argument.operand;
    if (joist_dtype_kind(operand->type.dtype) == JOIST_KIND_FLOAT &&
        exact_around(pointer, &call->values[k]) != 0)
      operand->literal = true;
  }
}

void joist_r_trace_read_numbers(struct joist_r_call *call) {
  if (call->op == JOIST_OP_CONVERT) read_in_full(trace_of_operands(call), &call->values[0]);
  if (joist_op_class(call->op) == JOIST_CLASS_COMPARE &&
      !are_r_numbers(trace_of_operands(call), call))
    read_compared(trace_of_operands(call), call);
  if (joist_operation(call->op)->family == JOIST_FAMILY_ELEMENTWISE)
    read_doubles(trace_of_operands(call), call);
  const bool power = call->op == JOIST_OP_POW;
  if (!power && call->op != JOIST_OP_ADD && call->op != JOIST_OP_SUB && call->op != JOIST_OP_MUL &&
      call->op != JOIST_OP_NEGATE && call->op != JOIST_OP_FLOORDIV && call->op != JOIST_OP_MOD)
    return;
  SEXP pointer = trace_of_operands(call);
  if (!are_r_numbers(pointer, call)) return;
  for (size_t k = 0; k < call->count; k++) {
    const joist_kind kind = joist_dtype_kind(call->values[k].argument.operand.type.dtype);
    if (kind != JOIST_KIND_BOOL && !(power && kind == JOIST_KIND_INT)) return;
  }
  const int category = power ? JOIST_CATEGORY_FLOAT : JOIST_CATEGORY_INTEGER;
  const struct joist_type type = {(joist_dtype)call->rules->literal[category], true};
  for (size_t k = 0; k < call->count; k++) read_as(pointer, &call->values[k], type);
}

void joist_r_trace_note_reshaped(const struct joist_r_value *number,
                                 const struct joist_attributes *shape,
                                 const struct joist_r_value *made) {
  if (made->form != JOIST_R_TRACED || exact_around(made->payload, number) == 0 ||
      joist_dtype_kind(number->argument.operand.type.dtype) != JOIST_KIND_FLOAT)
    return;
  struct joist_r_trace *const trace = joist_r_trace_of(made->payload);
  const joist_value_id exact = in_double(made->payload, number);
  note_exact(trace, made->argument.value,
             add_plain(&trace->program, JOIST_OP_RESHAPE, &exact, 1, shape, JOIST_NO_SOURCE));
}

SEXP joist_r_trace_is_number(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  return Rf_ScalarLogical(exact_around(value.payload, &value) != 0);
}

/* Doubles that a function, branch or loop gives are f64; as any R number they have a default dtype
 * beside, in which joist's own functions read them. */
SEXP joist_r_trace_as_number(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  if (value.form != JOIST_R_TRACED || value.leaf || exact_around(value.payload, &value) != 0)
    return x;
  const struct joist_type own = value.argument.operand.type;
  const struct joist_type type = {
      (joist_dtype)joist_r_rules(R_NilValue)->literal[JOIST_CATEGORY_FLOAT], true};
  if (own.dtype != JOIST_F64 || type.dtype == JOIST_F64) {
    note_exact(joist_r_trace_of(value.payload), value.argument.value, value.argument.value);
    return x;
  }
  SEXP pointer = joist_r_session()->trace;
  joist_value_id mask = JOIST_NO_MASK;
  joist_r_trace_masks(pointer, &value, 1, &mask);
  const joist_value_id exact = joist_r_trace_number(pointer, &value, own);
  joist_value_id made = rounded(pointer, exact, type);
  if (mask != JOIST_NO_MASK) made = joist_r_renamed(pointer, made);
  note_exact(joist_r_trace_of(pointer), made, exact);
  SEXP tensor = PROTECT(joist_r_traced(pointer, made, false, type, &value.argument.shape));
  tensor = PROTECT(joist_r_traced_with(tensor, pointer, mask));
  joist_r_name_traced(tensor, value.names);
  UNPROTECT(2);
  return tensor;
}

SEXP joist_r_trace_mixed(SEXP x, SEXP set) {
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  const uint32_t how = mixed_of(&value), more = (uint32_t)Rf_asInteger(set);
  if (more != 0 && value.form == JOIST_R_TRACED && !value.leaf)
    note_mixed(joist_r_trace_of(value.payload), value.argument.value, how | more);
  return Rf_ScalarInteger((int)(how | more));
}

SEXP joist_r_trace_in_full(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_rules_at(0), x, &value);
  SEXP pointer = joist_r_session()->trace;
  if (exact_around(pointer, &value) == 0) joist_r_stop(JOIST_ERROR_VALUE, "not an R number");
  const joist_value_id made = in_full(pointer, &value);
  note_exact(joist_r_trace_of(pointer), made, made);
  SEXP tensor = PROTECT(joist_r_traced(pointer, made, false, full_type, &value.argument.shape));
  joist_r_name_traced(tensor, value.names);
  UNPROTECT(1);
  return tensor;
}

/* The number of an operand that is read in `wanted`: one that was computed of R numbers is rounded
 * to that dtype alone. */
static joist_value_id operand_number(SEXP pointer, const struct joist_r_value *value,
                                     joist_dtype wanted) {
  const joist_kind kind = joist_dtype_kind(wanted);
  if (exact_around(pointer, value) == 0)
    return joist_r_trace_number(pointer, value, (struct joist_type){wanted, false});
  /* It may have been read as another type. */
  struct joist_r_value own = *value;
  own.argument.operand.type =
      joist_r_trace_of(value->payload)->program.values[value->argument.value].type;
  const joist_dtype dtype = own.argument.operand.type.dtype;
  if (kind == JOIST_KIND_FLOAT || kind == JOIST_KIND_COMPLEX) {
    if (wanted == dtype && wanted == JOIST_F64)
      return joist_r_trace_number(pointer, &own, (struct joist_type){wanted, false});
    const joist_value_id exact = in_double(pointer, value);
    return wanted == JOIST_F64 ? exact : fitted(pointer, exact, wanted);
  }
  const joist_value_id number =
      joist_r_trace_number(pointer, &own, (struct joist_type){wanted, false});
  const bool whole = joist_dtype_kind(dtype) == JOIST_KIND_INT && kind != JOIST_KIND_BOOL;
  return whole && wanted != dtype && !joist_r_has_missing(value) ? fitted(pointer, number, wanted)
                                                                 : number;
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

void joist_r_trace_watch_numbers(struct joist_r_call *call) {
  struct joist_inference *const inference = &call->inference;
  if (joist_operation(call->op)->family != JOIST_FAMILY_ELEMENTWISE ||
      joist_dtype_kind(inference->signature.result[0].dtype) != JOIST_KIND_INT ||
      (inference->watch & JOIST_WATCH_SATURATE) || !are_r_numbers(trace_of_operands(call), call))
    return;
  struct joist_argument arguments[JOIST_ELEMENT_OPERANDS];
  for (size_t k = 0; k < call->count; k++) arguments[k] = call->values[k].argument;
  const uint8_t watch = joist_watch_of(call->op, arguments, call->count, inference,
                                       call->attributes, JOIST_WATCH_OVERFLOW);
  if (watch & JOIST_WATCH_OVERFLOW) inference->watch |= JOIST_WATCH_OVERFLOW | JOIST_WATCH_HOST;
}

SEXP joist_r_trace_call(const struct joist_r_call *call) {
  SEXP pointer = trace_of_operands(call);
  const bool numbers =
      joist_operation(call->op)->family == JOIST_FAMILY_ELEMENTWISE && are_r_numbers(pointer, call);
  if (numbers && computes_in_double(call)) return apply_to_numbers(pointer, call);
  const bool mixed = makes_mixed(call, numbers);
  joist_value_id made[JOIST_RESULTS_MAX], masks[JOIST_RESULTS_MAX];
  add(pointer, call, made, masks);
  const uint32_t results = joist_operation(call->op)->results;
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, results));
  for (uint32_t r = 0; r < results; r++) {
    SEXP tensor = joist_r_traced(pointer, made[r], false, call->inference.signature.result[r],
                                 &call->inference.shape[r]);
    SET_VECTOR_ELT(tensors, r, joist_r_traced_with(tensor, pointer, masks[r]));
    if (numbers) note_exact(joist_r_trace_of(pointer), made[r], made[r]);
    if (mixed) note_mixed(joist_r_trace_of(pointer), made[r], MIXED_TYPE);
  }
  name_result(VECTOR_ELT(tensors, 0), call);
  UNPROTECT(1);
  return results == 1 ? VECTOR_ELT(tensors, 0) : tensors;
}
