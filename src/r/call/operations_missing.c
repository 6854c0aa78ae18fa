#include "r/call/operations_missing.h"

#include <stdlib.h>

#include "core/plan/plan.h"
#include "core/program/missing.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/findings.h"
#include "r/call/operations.h"
#include "r/memory/device_payload.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"

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

/* The first operand whose mask the k-th has, too: values that are computed from one another share
 * their mask, and nothing is to be combined then. */
static size_t first_with_mask(const struct joist_r_value *values, size_t k) {
  for (size_t j = 0; j < k; j++)
    if (values[j].missing != R_NilValue && values[j].missing == values[k].missing &&
        joist_shape_equal(&values[j].argument.shape, &values[k].argument.shape))
      return j;
  return k;
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
    const size_t first = first_with_mask(values, k);
    if (first < k)
      lowered->masks[k] = lowered->masks[first];
    else if (joist_r_has_missing(&values[k]))
      input(lowered->program, joist_r_mask_type, &values[k].argument.shape, &lowered->masks[k]);
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
  joist_r_raise_called_if(joist_missing_add(lowered->program, &missing, lowered->results,
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
    if (!joist_r_has_missing(&values[k]) || first_with_mask(values, k) < k) continue;
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
  struct joist_run run = joist_r_run();
  run.here = here;
  struct joist_tally tally;
  if (status == JOIST_OK)
    status = inference->watch != 0 ? joist_r_run_watched(device, plan, lowered.program, inputs, out,
                                                         run, &tally, &error)
                                   : joist_r_run_plan(device, plan, inputs, out, run, &error);
  joist_plan_free(plan);
  joist_r_raise_called_if(status, &error);
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
  UNPROTECT(1);
  SEXP made = PROTECT(results > 1 ? payloads : VECTOR_ELT(payloads, 0));
  /* R counts references: the list must not be one. */
  if (results == 1) SET_VECTOR_ELT(payloads, 0, R_NilValue);
  if (inference->watch != 0) joist_r_tell_findings(&tally, R_NilValue, R_NilValue);
  finalize(lowered.owner);
  UNPROTECT(5);
  return made;
}
