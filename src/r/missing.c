#include "r/missing.h"

#include <stdlib.h>
#include <string.h>

#include "core/plan/plan.h"
#include "core/promotion/builtin_rules.h"
#include "r/conditions.h"
#include "r/device_payload.h"
#include "r/finalizers.h"
#include "r/names.h"
#include "r/operations.h"
#include "r/payload.h"
#include "r/rules.h"
#include "r/run.h"
#include "r/session.h"
#include "r/trace.h"
#include "r/view.h"

static const struct joist_type known_bool = {JOIST_BOOL, false};

/* ---- masks ---- */

/* A payload of the mask, on the device of the elements. */
static SEXP mask_payload(const struct joist_r_value *value) {
  if (value->missing != R_NilValue) return value->missing;
  SEXP payload = joist_r_payload(JOIST_BOOL, value->count);
  if (value->count > 0) memcpy(joist_r_elements(payload), value->mask, value->count);
  return payload;
}

SEXP joist_r_mask_value(const struct joist_r_value *value, struct joist_r_value *mask) {
  if (value->form == JOIST_R_TRACED) {
    joist_r_read_any(joist_r_rules(R_NilValue), value->missing, mask);
    if (joist_shape_equal(&mask->argument.shape, &value->argument.shape)) return value->missing;
    /* An R value among the arguments that is read in another shape. */
    struct joist_attributes attributes = {.count = 0};
    int64_t extents[JOIST_RANK_MAX];
    joist_attributes_set_shape(&attributes, &value->argument.shape, extents);
    SEXP reshaped =
        PROTECT(joist_r_apply(joist_rules_at(0), JOIST_OP_RESHAPE, mask, 1, &attributes));
    joist_r_read_any(joist_rules_at(0), reshaped, mask);
    UNPROTECT(1);
    return reshaped;
  }
  *mask = (struct joist_r_value){
      .form = value->form,
      .argument = {.operand = {.type = known_bool, .rank = value->argument.shape.rank},
                   .shape = value->argument.shape},
      .count = value->count,
      .object = value->object,
      .payload = R_NilValue,
      .missing = R_NilValue,
      .dim = R_NilValue,
      .names = R_NilValue};
  if (value->form == JOIST_R_ABSTRACT) return R_NilValue;
  SEXP payload = mask_payload(value);
  mask->payload = payload;
  if (value->form == JOIST_R_LITERAL) mask->form = JOIST_R_CONCRETE;
  mask->data =
      value->form == JOIST_R_REMOTE ? joist_r_remote_memory(payload) : joist_r_elements(payload);
  return payload;
}

/* Whether a payload of bools has TRUE. */
static bool any_true(SEXP mask) {
  if (TYPEOF(mask) != EXTPTRSXP)
    return XLENGTH(mask) > 0 && memchr(RAW_RO(mask), 1, (size_t)XLENGTH(mask)) != NULL;
  const void *const vmax = vmaxget();
  const size_t n = joist_r_remote_bytes(mask);
  char *const here = R_alloc(n + 1, 1);
  joist_r_download(mask, n, here);
  const bool any = memchr(here, 1, n) != NULL;
  vmaxset(vmax);
  return any;
}

void joist_r_set_mask(SEXP tensor, SEXP mask) {
  if (!any_true(mask)) return;
  MARK_NOT_MUTABLE(mask); /* several tensors may have it */
  joist_r_view_set_mask(tensor, mask);
}

void joist_r_copy_mask(SEXP tensor, const struct joist_r_value *value) {
  if (!joist_r_has_missing(value)) return;
  SEXP mask = PROTECT(mask_payload(value));
  joist_r_set_mask(tensor, mask);
  UNPROTECT(1);
}

const void *joist_r_zeroed(const struct joist_r_value *value) {
  if (value->mask == NULL) return value->data;
  const size_t size = joist_dtype_size(value->argument.operand.type.dtype);
  char *const zeroed = R_alloc(value->count + 1, (int)size);
  if (value->count > 0) memcpy(zeroed, value->data, value->count * size);
  for (size_t k = 0; k < value->count; k++)
    if (value->mask[k]) memset(zeroed + k * size, 0, size);
  return zeroed;
}

bool joist_r_is_lowered(const struct joist_r_value *values, size_t n,
                        const struct joist_attributes *attributes, struct joist_attributes *plain,
                        bool *remove) {
  bool any = false;
  for (size_t k = 0; k < n; k++) any |= joist_r_has_missing(&values[k]);
  *remove = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_NA_RM);
  plain->count = 0;
  for (uint32_t k = 0; k < attributes->count; k++)
    if (attributes->item[k].name != JOIST_ATTRIBUTE_NA_RM)
      plain->item[plain->count++] = attributes->item[k];
  return any || *remove;
}

/* ---- traces ---- */

joist_value_id joist_r_renamed(SEXP trace, joist_value_id value) {
  const int mark = Rf_asInteger(joist_r_trace_mark(trace, R_NilValue));
  struct joist_program *const program = &joist_r_trace_of(trace)->program;
  const struct joist_value *const own = &program->values[value];
  const struct joist_argument argument = {.operand = {.type = own->type, .rank = own->shape.rank},
                                          .shape = own->shape};
  struct joist_attributes attributes = {.count = 0};
  struct joist_inference inference;
  struct joist_error error;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_MARK, mark);
  joist_r_raise_if(joist_program_infer(joist_rules_at(0), JOIST_OP_ALIAS, &argument, 1, &attributes,
                                       &inference, &error),
                   &error);
  struct joist_instruction instruction =
      joist_instruction_of(JOIST_OP_ALIAS, &inference, &value, 1, &attributes, 0);
  instruction.source = JOIST_NO_SOURCE;
  joist_r_raise_if(joist_program_add(program, &instruction, &inference, &error), &error);
  return instruction.result;
}

void joist_r_trace_masks(SEXP trace, const struct joist_r_value *values, size_t n,
                         joist_value_id *masks) {
  for (size_t k = 0; k < n; k++) {
    masks[k] = JOIST_NO_MASK;
    if (!joist_r_has_missing(&values[k])) continue;
    struct joist_r_value mask;
    PROTECT(joist_r_mask_value(&values[k], &mask));
    masks[k] = joist_r_trace_number(trace, &mask, known_bool);
    UNPROTECT(1);
  }
}

/* The number of a traced tensor; negative for an R value among the arguments. */
static int number_of(SEXP tensor) { return Rf_asInteger(joist_r_field(tensor, JOIST_R_VALUE)); }

static void set_mask_field(SEXP tensor, SEXP trace, joist_value_id mask) {
  SEXP traced = PROTECT(joist_r_trace_tensor(trace, mask));
  joist_r_set_field(tensor, JOIST_R_MISSING, traced);
  UNPROTECT(1);
}

void joist_r_note_mask(struct joist_r_trace *trace, joist_value_id value, joist_value_id mask) {
  if (value >= trace->mask_capacity) {
    const uint32_t capacity = 2 * value + 32;
    joist_value_id *const masks = realloc(trace->masks, capacity * sizeof *masks);
    if (masks == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
    for (uint32_t k = trace->mask_capacity; k < capacity; k++) masks[k] = 0;
    trace->masks = masks;
    trace->mask_capacity = capacity;
  }
  trace->masks[value] = mask + 1;
}

SEXP joist_r_traced_with(SEXP tensor, SEXP trace, joist_value_id mask) {
  if (mask == JOIST_NO_MASK) return tensor;
  PROTECT(tensor);
  set_mask_field(tensor, trace, mask);
  if (number_of(tensor) >= 0)
    joist_r_note_mask(joist_r_trace_of(trace), (uint32_t)number_of(tensor), mask);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_traced_masked(SEXP tensor, SEXP trace) {
  const struct joist_r_trace *const own = joist_r_trace_of(trace);
  const uint32_t value = (uint32_t)number_of(tensor);
  if (value >= own->mask_capacity || own->masks[value] == 0) return tensor;
  PROTECT(tensor);
  set_mask_field(tensor, trace, own->masks[value] - 1);
  UNPROTECT(1);
  return tensor;
}

/* ---- programs of one operation ---- */

static void finalize(SEXP owner) {
  struct joist_program *const program = R_ExternalPtrAddr(owner);
  if (program == NULL) return;
  R_ClearExternalPtr(owner);
  joist_program_clear(program);
  free(program);
}

/* What owns an empty program, which is freed at once by finalize() or, after an error, by R. */
static SEXP new_program(struct joist_program **program) {
  SEXP owner = PROTECT(joist_r_owner(finalize));
  *program = malloc(sizeof **program);
  if (*program == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY);
  joist_program_init(*program);
  R_SetExternalPtrAddr(owner, *program);
  UNPROTECT(1);
  return owner;
}

struct lowered {
  SEXP owner;
  struct joist_program *program;
  joist_value_id *masks; /* inputs that are masks of the operands; JOIST_NO_MASK for none */
  joist_value_id results[JOIST_RESULTS_MAX], result_masks[JOIST_RESULTS_MAX];
};

static void input(struct joist_program *program, struct joist_type type,
                  const struct joist_shape *shape, joist_value_id *id) {
  struct joist_error error;
  joist_r_raise_if(joist_program_add_input(program, type, shape, id, &error), &error);
}

/* A program with the operands, and then their masks, as inputs. `owner` is to be protected. */
static void lower(joist_op op, const struct joist_r_value *values, size_t n,
                  const struct joist_inference *inference,
                  const struct joist_attributes *attributes, bool remove, struct lowered *lowered) {
  joist_value_id *const operands = (joist_value_id *)R_alloc(2 * n + 1, (int)sizeof *operands);
  lowered->masks = operands + n;
  lowered->owner = PROTECT(new_program(&lowered->program));
  for (size_t k = 0; k < n; k++) {
    struct joist_type type = values[k].argument.operand.type;
    if (values[k].form == JOIST_R_LITERAL)
      type = (struct joist_type){joist_signature_operand(&inference->signature, k), false};
    input(lowered->program, type, &values[k].argument.shape, &operands[k]);
  }
  for (size_t k = 0; k < n; k++) {
    lowered->masks[k] = JOIST_NO_MASK;
    if (joist_r_has_missing(&values[k]))
      input(lowered->program, known_bool, &values[k].argument.shape, &lowered->masks[k]);
  }
  const struct joist_missing missing = {.op = op,
                                        .inference = inference,
                                        .attributes = attributes,
                                        .count = n,
                                        .operands = operands,
                                        .masks = lowered->masks,
                                        .remove = remove,
                                        .source = JOIST_NO_SOURCE};
  struct joist_error error;
  joist_r_raise_if(joist_missing_add(lowered->program, &missing, lowered->results,
                                     lowered->result_masks, &error),
                   &error);
  UNPROTECT(1);
}

SEXP joist_r_abstract_missing(joist_op op, const struct joist_r_value *values, size_t n,
                              const struct joist_inference *inference,
                              const struct joist_attributes *attributes, bool remove) {
  struct lowered lowered;
  const void *const vmax = vmaxget();
  lower(op, values, n, inference, attributes, remove, &lowered);
  PROTECT(lowered.owner);
  const int results = joist_operation(op)->results;
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, results));
  for (int r = 0; r < results; r++) {
    SEXP aval = joist_r_aval(inference->signature.result[r], &inference->shape[r]);
    SET_VECTOR_ELT(tensors, r, aval);
    if (lowered.result_masks[r] != JOIST_NO_MASK)
      joist_r_set_field(aval, JOIST_R_MISSING, PROTECT(Rf_ScalarLogical(TRUE)));
    if (lowered.result_masks[r] != JOIST_NO_MASK) UNPROTECT(1);
  }
  finalize(lowered.owner);
  vmaxset(vmax);
  UNPROTECT(2);
  return results == 1 ? VECTOR_ELT(tensors, 0) : tensors;
}

/* Whether a value of the program is a mask among its inputs, and of which operand. */
static bool is_operand_mask(const struct lowered *lowered, size_t n, joist_value_id value,
                            size_t *k) {
  for (*k = 0; *k < n; ++*k)
    if (lowered->masks[*k] == value) return true;
  return false;
}

/* A payload for a value of the program, which becomes an output. */
static SEXP add_output(struct joist_program *program, const struct joist_device *device,
                       joist_value_id value, void **out) {
  struct joist_error error;
  const struct joist_value made = program->values[value];
  joist_r_raise_if(joist_program_add_output(program, value, &error), &error);
  return joist_r_payload_on(device, made.type.dtype, joist_value_count(&made), out);
}

SEXP joist_r_run_missing(joist_op op, const struct joist_r_value *values, size_t n,
                         const struct joist_inference *inference,
                         const struct joist_attributes *attributes, bool remove) {
  struct lowered lowered;
  const void *const vmax = vmaxget();
  const int results = joist_operation(op)->results;
  const struct joist_device *device = joist_r_common_device(values, (int)n);
  if (device == NULL) device = joist_device_at(0);
  lower(op, values, n, inference, attributes, remove, &lowered);
  PROTECT(lowered.owner);
  const void **const inputs = (const void **)R_alloc(2 * n + 1, (int)sizeof *inputs);
  bool *const here = (bool *)R_alloc(2 * n + 1, (int)sizeof *here);
  size_t count = n;
  SEXP owned = PROTECT(Rf_allocVector(VECSXP, 2 * (R_xlen_t)n));
  for (size_t k = 0; k < n; k++) {
    const joist_dtype dtype = joist_signature_operand(&inference->signature, k);
    SET_VECTOR_ELT(owned, (R_xlen_t)k,
                   joist_r_operand_on(device, &values[k], dtype, &inputs[k], &here[k]));
    if (!joist_r_has_missing(&values[k])) continue;
    struct joist_r_value mask;
    SET_VECTOR_ELT(owned, (R_xlen_t)(n + k), joist_r_mask_value(&values[k], &mask));
    here[count] = false;
    inputs[count] = mask.data;
    if (values[k].form == JOIST_R_LITERAL && !device->host) {
      SEXP there = joist_r_upload(device, JOIST_BOOL, mask.count, mask.data);
      SET_VECTOR_ELT(owned, (R_xlen_t)(n + k), there);
      inputs[count] = joist_r_remote_memory(there);
    }
    count++;
  }
  void *out[2 * JOIST_RESULTS_MAX];
  SEXP payloads = PROTECT(Rf_allocVector(VECSXP, results));
  SEXP masks = PROTECT(Rf_allocVector(VECSXP, results));
  uint32_t outputs = 0;
  for (int r = 0; r < results; r++, outputs++)
    SET_VECTOR_ELT(payloads, r,
                   add_output(lowered.program, device, lowered.results[r], &out[outputs]));
  for (int r = 0; r < results; r++) {
    size_t k;
    const joist_value_id mask = lowered.result_masks[r];
    if (mask == JOIST_NO_MASK) continue;
    if (r > 0 && mask == lowered.result_masks[0])
      SET_VECTOR_ELT(masks, r, VECTOR_ELT(masks, 0));
    else if (is_operand_mask(&lowered, n, mask, &k))
      SET_VECTOR_ELT(masks, r, VECTOR_ELT(owned, (R_xlen_t)(n + k)));
    else
      SET_VECTOR_ELT(masks, r, add_output(lowered.program, device, mask, &out[outputs++]));
  }
  struct joist_plan *plan = NULL;
  struct joist_error error;
  joist_status status = joist_plan_make(lowered.program, &plan, &error);
  if (status == JOIST_OK) status = joist_r_run_plan(device, plan, inputs, here, out, false, &error);
  joist_plan_free(plan);
  finalize(lowered.owner);
  joist_r_raise_if(status, &error);
  vmaxset(vmax);
  for (int r = 0; r < results; r++) {
    SEXP dim = joist_r_dim_among(&inference->shape[r], values, (int)n);
    SEXP tensor = joist_r_tensor_with(VECTOR_ELT(payloads, r), inference->signature.result[r],
                                      &inference->shape[r], dim);
    SET_VECTOR_ELT(payloads, r, tensor);
    if (VECTOR_ELT(masks, r) != R_NilValue) joist_r_set_mask(tensor, VECTOR_ELT(masks, r));
  }
  SEXP names = PROTECT(joist_r_names_among(op, attributes, values, n, &inference->shape[0]));
  joist_r_set_names(VECTOR_ELT(payloads, 0), names, inference->shape[0].rank);
  UNPROTECT(5);
  if (results > 1) return payloads;
  SEXP tensor = PROTECT(VECTOR_ELT(payloads, 0));
  SET_VECTOR_ELT(payloads, 0, R_NilValue); /* R counts references: the list must not be one */
  UNPROTECT(1);
  return tensor;
}

/* ---- .Call entry points ---- */

SEXP joist_r_mask_of(SEXP x) {
  struct joist_r_value value, mask;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  if (!joist_r_has_missing(&value)) return R_NilValue;
  if (value.form == JOIST_R_TRACED) return value.missing;
  if (value.form == JOIST_R_ABSTRACT) return joist_r_aval(known_bool, &value.argument.shape);
  SEXP payload = PROTECT(joist_r_mask_value(&value, &mask));
  SEXP tensor = joist_r_tensor_with(payload, known_bool, &value.argument.shape,
                                    joist_r_dim_among(&value.argument.shape, &value, 1));
  UNPROTECT(1);
  return tensor;
}

/* A tensor as a constant of the trace of another one, if that is traced and it is not. */
static SEXP beside_traced(SEXP x, const struct joist_r_value *value,
                          const struct joist_r_value *other) {
  const bool traced = other->form == JOIST_R_TRACED && value->form != JOIST_R_TRACED;
  return traced ? joist_r_trace_constant(other->payload, x) : x;
}

SEXP joist_r_with_mask(SEXP x, SEXP mask) {
  struct joist_r_value value, given;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  if (mask != R_NilValue) {
    joist_r_read_any(joist_r_rules(R_NilValue), mask, &given);
    x = beside_traced(x, &value, &given);
    PROTECT(x);
    mask = beside_traced(mask, &given, &value);
    PROTECT(mask);
    joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
    joist_r_read_any(joist_r_rules(R_NilValue), mask, &given);
  } else {
    PROTECT(x);
    PROTECT(mask);
  }
  if (mask != R_NilValue) {
    if (given.argument.operand.type.dtype != JOIST_BOOL ||
        !joist_shape_equal(&given.argument.shape, &value.argument.shape))
      joist_r_stop(JOIST_ERROR_SHAPE, "a mask is a bool tensor of the shape of the tensor");
    if (given.form != value.form && value.form != JOIST_R_ABSTRACT)
      joist_r_stop(JOIST_ERROR_VALUE, "a tensor and its mask must both have elements, or neither");
  }
  if (value.form == JOIST_R_LITERAL) joist_r_stop(JOIST_ERROR_VALUE, "only a tensor has a mask");
  if (value.form == JOIST_R_TRACED && mask != R_NilValue) {
    SEXP pointer = joist_r_session()->in_body ? joist_r_session()->trace : value.payload;
    const struct joist_type type = value.argument.operand.type;
    const joist_value_id elements =
        joist_r_renamed(pointer, joist_r_trace_number(pointer, &value, type));
    const joist_value_id number = joist_r_trace_number(pointer, &given, known_bool);
    SEXP named = joist_r_traced_with(joist_r_trace_tensor(pointer, elements), pointer, number);
    UNPROTECT(2);
    return named;
  }
  if (value.form == JOIST_R_TRACED || value.form == JOIST_R_ABSTRACT) {
    SEXP copy = PROTECT(Rf_shallow_duplicate(x));
    joist_r_set_field(copy, JOIST_R_MISSING,
                      mask != R_NilValue && value.form == JOIST_R_ABSTRACT
                          ? PROTECT(Rf_ScalarLogical(TRUE))
                          : PROTECT(mask));
    UNPROTECT(4);
    return copy;
  }
  SEXP payload = PROTECT(joist_r_shared_payload(&value));
  SEXP tensor = PROTECT(
      joist_r_tensor_with(payload, value.argument.operand.type, &value.argument.shape, value.dim));
  joist_r_set_names(tensor, value.names, value.argument.shape.rank);
  if (mask != R_NilValue) joist_r_set_mask(tensor, PROTECT(joist_r_shared_payload(&given)));
  UNPROTECT(mask != R_NilValue ? 5 : 4);
  return tensor;
}
