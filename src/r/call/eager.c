/* Running one operation: a program of one instruction or, where values are missing, of several. */
#include "r/call/eager.h"

#include <string.h>

#include "core/program/watch.h"
#include "r/base/conditions.h"
#include "r/call/execute.h"
#include "r/call/lower.h"
#include "r/memory/device_payload.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/view.h"

enum { FEW = 3 };

/* The memory of a run of one operation: on the stack for a few operands. */
struct room {
  const struct joist_device *device;
  const void **inputs; /* the operands, then their masks */
  bool *here, any_here;
  joist_value_id *ids;
  struct joist_value *values;
  joist_value_id outputs[JOIST_RESULTS_MAX];
  struct joist_instruction instruction;
  struct joist_program program;
  const void *few_inputs[2 * FEW];
  bool few_here[2 * FEW];
  joist_value_id few_ids[FEW];
  struct joist_value few_values[FEW + JOIST_RESULTS_MAX];
  _Alignas(16) char few_scalars[FEW][16];
  char (*scalars)[16];
};

static void make_room(const struct joist_r_call *call, struct room *room) {
  const size_t n = call->count, results = joist_operation(call->op)->results;
  const struct joist_device *const device = joist_r_common_device(call->values, (int)n);
  const bool few = n <= FEW;
  room->device = device == NULL ? joist_device_at(0) : device;
  room->any_here = false;
  room->inputs = few ? room->few_inputs : (const void **)R_alloc(2 * n, (int)sizeof *room->inputs);
  room->here = few ? room->few_here : (bool *)R_alloc(2 * n, (int)sizeof *room->here);
  room->ids = few ? room->few_ids : (joist_value_id *)R_alloc(n, (int)sizeof *room->ids);
  room->values = few ? room->few_values
                     : (struct joist_value *)R_alloc(n + results, (int)sizeof *room->values);
  room->scalars = few ? room->few_scalars : (char(*)[16])R_alloc(n, 16);
}

/* ---- operands ---- */

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

/* Keeps an object, which may be allocated just now, in the list at the head of `owned`. */
static void keep(SEXP owned, SEXP object) {
  PROTECT(object);
  SETCDR(owned, Rf_cons(object, CDR(owned)));
  UNPROTECT(1);
}

/* The elements of R values are copied to a device, unless it is one element. What had to be
 * allocated is kept by `owned`. */
static void read_operands(const struct joist_r_call *call, struct room *room, SEXP owned) {
  for (size_t k = 0; k < call->count; k++) {
    const struct joist_r_value *const value = &call->values[k];
    const joist_dtype wanted = joist_signature_operand(&call->inference.signature, k);
    const void *const read = operand_elements(value, wanted, room->scalars[k]);
    room->inputs[k] = read;
    room->here[k] = comes_along(room->device, value);
    room->any_here |= room->here[k];
    if (room->device->host || value->form != JOIST_R_LITERAL || room->here[k]) continue;
    SEXP payload = joist_r_upload(room->device, wanted, value->count, read);
    keep(owned, payload);
    room->inputs[k] = joist_r_remote_memory(payload);
  }
}

/* Adds the masks to the inputs; their payloads go to the list `masks`. */
static void read_masks(const struct joist_r_call *call, struct room *room, SEXP masks) {
  size_t at = call->count;
  for (size_t k = 0; k < call->count; k++) {
    if (!joist_r_has_own_mask(call, k)) continue;
    struct joist_r_value mask;
    SEXP payload = joist_r_mask_value(&call->values[k], &mask);
    SET_VECTOR_ELT(masks, (R_xlen_t)k, payload);
    room->here[at] = false;
    room->inputs[at] = mask.data;
    if (call->values[k].form == JOIST_R_LITERAL && !room->device->host) {
      payload = joist_r_upload(room->device, JOIST_BOOL, mask.count, mask.data);
      SET_VECTOR_ELT(masks, (R_xlen_t)k, payload);
      room->inputs[at] = joist_r_remote_memory(payload);
    }
    at++;
  }
}

/* ---- the program of one instruction ---- */

static void make_program(const struct joist_r_call *call, struct room *room) {
  const uint32_t n = (uint32_t)call->count, results = joist_operation(call->op)->results;
  const struct joist_signature *const signature = &call->inference.signature;
  for (uint32_t k = 0; k < n; k++) {
    const struct joist_r_value *const value = &call->values[k];
    room->ids[k] = k;
    room->values[k] = (struct joist_value){
        .type = value->argument.operand.type, .shape = value->argument.shape, .input = k};
    if (value->form == JOIST_R_LITERAL)
      room->values[k].type = (struct joist_type){joist_signature_operand(signature, k), false};
  }
  for (uint32_t r = 0; r < results; r++) {
    room->outputs[r] = n + r;
    room->values[n + r] = (struct joist_value){
        .type = signature->result[r], .shape = call->inference.shape[r], .input = JOIST_NO_INPUT};
  }
  room->instruction =
      joist_instruction_of(call->op, &call->inference, room->ids, n, &call->plain, n);
  room->program = (struct joist_program){.values = room->values,
                                         .instructions = &room->instruction,
                                         .outputs = room->outputs,
                                         .value_count = n + results,
                                         .input_count = n,
                                         .instruction_count = 1,
                                         .output_count = results};
}

/* The operand whose elements an elementwise result is written over; as many as there are for none.
 * A second run, of what a device suspects, reads the operands again, and masks are shared. */
static size_t reused_operand(const struct joist_r_call *call, const struct joist_device *device) {
  const struct joist_inference *const inference = &call->inference;
  if (joist_operation(call->op)->family != JOIST_FAMILY_ELEMENTWISE || call->masked ||
      (inference->watch != 0 && !device->host))
    return call->count;
  size_t k = 0;
  while (k < call->count &&
         !joist_r_is_reusable(&call->values[k], inference->signature.result[0].dtype,
                              &inference->shape[0]))
    k++;
  return k;
}

/* ---- results ---- */

struct results {
  const struct joist_r_call *call;
  const struct joist_r_lowered *lowered;
  SEXP masks; /* of the operands */
  size_t reused;
};

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

/* The payload of a mask of a result: of an operand, or an output after the results. */
static SEXP mask_of_result(const struct joist_r_execution *run, const struct results *results,
                           joist_value_id mask) {
  const size_t k = joist_r_operand_with(results->call, results->lowered, mask);
  if (k < results->call->count) return VECTOR_ELT(results->masks, (R_xlen_t)k);
  uint32_t at = run->tensors;
  while (run->program->outputs[at] != mask) at++;
  return VECTOR_ELT(run->outputs, at);
}

/* Gives the results their masks and names. */
static void finish(const struct joist_r_execution *run, const void *context) {
  const struct results *const results = context;
  const struct joist_r_call *const call = results->call;
  const struct joist_shape *const shape = &call->inference.shape[0];
  for (size_t k = 0; k < call->count && !call->masked; k++)
    release(&call->values[k], k == results->reused);
  for (uint32_t r = 0; r < run->tensors && call->masked; r++) {
    const joist_value_id mask = results->lowered->result_masks[r];
    if (mask != JOIST_NO_MASK)
      joist_r_set_mask(VECTOR_ELT(run->outputs, r), mask_of_result(run, results, mask));
  }
  SEXP names = joist_r_names_among(call->op, &call->plain, call->values, call->count, shape);
  if (names == R_NilValue) return;
  PROTECT(names);
  joist_r_set_names(VECTOR_ELT(run->outputs, 0), names, shape->rank);
  UNPROTECT(1);
}

/* The first n elements of a list, which is not referred to: R counts references, and those of a
 * list would count. */
static SEXP taken(SEXP list, uint32_t n) {
  if (n > 1 && n == (uint32_t)XLENGTH(list)) return list;
  SEXP first = VECTOR_ELT(list, 0);
  if (n > 1) {
    first = Rf_allocVector(VECSXP, n);
    for (uint32_t r = 0; r < n; r++) SET_VECTOR_ELT(first, r, VECTOR_ELT(list, r));
  }
  PROTECT(first);
  for (uint32_t r = 0; r < n; r++) SET_VECTOR_ELT(list, r, R_NilValue);
  UNPROTECT(1);
  return first;
}

/* Whether converting the operand to the dtype of the result is watched, too. */
static bool watches_conversion(const struct joist_r_call *call) {
  return joist_watch_of_conversion(call->values[0].argument.operand.type,
                                   call->inference.signature.result[0].dtype, false,
                                   call->inference.watch) != 0;
}

/* Whether all elements are folded to one, and one of them is missing. What overflows then is not
 * told of. */
static bool folds_missing(const struct joist_r_call *call) {
  size_t count;
  return call->masked && !call->remove && call->count == 1 &&
         call->values[0].form == JOIST_R_CONCRETE && joist_operation(call->op)->results == 1 &&
         joist_op_missing_rule(call->op) == JOIST_MISSING_FOLD &&
         joist_shape_count(&call->inference.shape[0], &count) && count == 1 &&
         !watches_conversion(call);
}

static SEXP missing_result(const struct joist_r_call *call) {
  const struct joist_type type = call->inference.signature.result[0];
  const struct joist_shape *const shape = &call->inference.shape[0];
  SEXP payload = PROTECT(joist_r_payload(type.dtype, 1)), mask = PROTECT(Rf_ScalarRaw(1));
  memset(joist_r_elements(payload), 0, joist_dtype_size(type.dtype));
  SEXP made = PROTECT(joist_r_tensor(payload, type, shape));
  joist_r_set_mask(made, mask);
  SEXP names = joist_r_names_among(call->op, &call->plain, call->values, 1, shape);
  if (names != R_NilValue) joist_r_set_names(made, PROTECT(names), shape->rank);
  UNPROTECT(names == R_NilValue ? 3 : 4);
  return made;
}

/* Whether a conversion gives what its operand is, which then shares its elements. */
static bool is_same(const struct joist_r_call *call) {
  const struct joist_type made = call->inference.signature.result[0];
  const struct joist_type type = call->values->argument.operand.type;
  return call->op == JOIST_OP_CONVERT && call->values->form == JOIST_R_CONCRETE &&
         made.dtype == type.dtype && made.ambiguous == type.ambiguous;
}

SEXP joist_r_run_call(const struct joist_r_call *call) {
  if (folds_missing(call)) return missing_result(call);
  if (is_same(call))
    return joist_r_same_payload(call->values, call->inference.signature.result[0],
                                call->inference.shape);
  const void *const vmax = vmaxget();
  struct room room;
  struct joist_r_lowered lowered;
  make_room(call, &room);
  PROTECT(joist_r_lower(call, &lowered));
  SEXP owned = PROTECT(room.device->host ? R_NilValue : Rf_cons(R_NilValue, R_NilValue));
  SEXP masks = PROTECT(call->masked ? Rf_allocVector(VECSXP, (R_xlen_t)call->count) : R_NilValue);
  read_operands(call, &room, owned);
  if (call->masked)
    read_masks(call, &room, masks);
  else
    make_program(call, &room);
  const struct joist_program *const program = call->masked ? lowered.program : &room.program;
  SEXP outputs = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)program->output_count));
  const struct results results = {call, &lowered, masks, reused_operand(call, room.device)};
  struct joist_r_execution run = {.device = room.device,
                                  .program = program,
                                  .inputs = room.inputs,
                                  .run = joist_r_run(),
                                  .watched = call->inference.watch != 0,
                                  .outputs = outputs,
                                  .tensors = joist_operation(call->op)->results,
                                  .values = call->values,
                                  .value_count = call->count,
                                  .finish = finish,
                                  .context = &results,
                                  .lines = R_NilValue,
                                  .policy = R_NilValue};
  if (room.any_here) run.run.here = room.here;
  if (results.reused < call->count) {
    SET_VECTOR_ELT(outputs, 0, call->values[results.reused].payload);
    run.run.stream_from = SIZE_MAX; /* the caches have the elements */
  }
  joist_r_execute(&run);
  joist_r_lowered_free(&lowered);
  vmaxset(vmax);
  SEXP made = taken(outputs, run.tensors);
  UNPROTECT(4);
  return made;
}
