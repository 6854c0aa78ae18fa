/* What is done to every operation, once and in this order: its operands are read, dtypes and shapes
 * are inferred, the policy judges implicit promotion, what is watched is found, and what missing
 * values need. Then it is run, traced, abstract or delayed, and recorded. */
#include "r/call/apply.h"

#include "core/program/missing.h"
#include "core/program/watch.h"
#include "r/audit/ledger.h"
#include "r/base/conditions.h"
#include "r/base/policy.h"
#include "r/base/session.h"
#include "r/call/delay.h"
#include "r/call/eager.h"
#include "r/call/lower.h"
#include "r/tensor/delayed.h"
#include "r/tensor/mask.h"
#include "r/tensor/unknown.h"
#include "r/trace/strictness.h"
#include "r/trace/trace_call.h"

/* Values that decide on dtypes are looked at. A recording is inferred again under other rules,
 * which may look at values, too. */
static void read_values(const struct joist_r_call *call) {
  const size_t n = call->count;
  const joist_class class = joist_op_class(call->op);
  const bool by_value = joist_r_by_value(call->rules) || joist_r_recording();
  const bool compares = class == JOIST_CLASS_COMPARE || (class == JOIST_CLASS_POSITION && n > 1);
  for (size_t k = 0; k < n; k++)
    if (by_value || (compares && call->values[k].form == JOIST_R_LITERAL))
      joist_r_read_range(&call->values[k]);
  for (size_t k = 0; compares && n == 2 && k < n; k++)
    joist_r_judge_doubles(&call->values[k], call->values[1 - k].argument.operand.type.dtype, false);
}

/* The results of an operation that is not run: dtype and shape. */
static SEXP abstract_call(const struct joist_r_call *call) {
  const void *const vmax = vmaxget();
  const int results = joist_operation(call->op)->results;
  struct joist_r_lowered lowered;
  PROTECT(joist_r_lower(call, &lowered));
  SEXP tensors = PROTECT(Rf_allocVector(VECSXP, results));
  for (int r = 0; r < results; r++) {
    SEXP aval = joist_r_aval(call->inference.signature.result[r], &call->inference.shape[r]);
    SET_VECTOR_ELT(tensors, r, aval);
    if (lowered.result_masks[r] == JOIST_NO_MASK) continue;
    joist_r_unknown_set_missing(aval, PROTECT(Rf_ScalarLogical(TRUE)));
    UNPROTECT(1);
  }
  joist_r_lowered_free(&lowered);
  vmaxset(vmax);
  UNPROTECT(2);
  return results == 1 ? VECTOR_ELT(tensors, 0) : tensors;
}

/* The function for an operation on values of these forms. In a body all operations are traced but
 * those on abstract tensors. Raises where rules need values that there are not. */
static joist_r_applies *function_for(const struct joist_r_call *call) {
  unsigned forms = 0;
  bool delayed = false;
  for (size_t k = 0; k < call->count; k++) {
    forms |= 1U << call->values[k].form;
    delayed |= joist_r_is_delayed(call->values[k].object);
  }
  if (delayed && (forms >> JOIST_R_TRACED & 1))
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "jit() cannot trace operations on a chunked tensor, which are delayed as they are");
  const bool abstract = forms >> JOIST_R_ABSTRACT & 1;
  if ((forms >> JOIST_R_TRACED & 1) || (joist_r_session()->in_body && !abstract)) {
    joist_r_needs_values(call->rules, call->values, call->count, JOIST_R_TRACED,
                         "is not known while jit() traces; use the rules 'numpy' or 'cupy', or a "
                         "tensor of rank 1");
    return joist_r_trace_call;
  }
  if (!abstract) return joist_r_run_call;
  joist_r_needs_values(
      call->rules, call->values, call->count, JOIST_R_ABSTRACT,
      "an nv_aval() does not have; use a tensor with data, or the rules 'numpy' or 'cupy'");
  return delayed ? joist_r_delay_call : abstract_call;
}

static void infer(struct joist_r_call *call) {
  enum { FEW = 3 };
  const size_t n = call->count;
  struct joist_argument few[FEW];
  struct joist_argument *const arguments =
      n <= FEW ? few : (struct joist_argument *)R_alloc(n, (int)sizeof *arguments);
  for (size_t k = 0; k < n; k++) arguments[k] = call->values[k].argument;
  struct joist_error error;
  const joist_status status = joist_program_infer(call->rules, call->op, arguments, n,
                                                  call->attributes, &call->inference, &error);
  joist_r_raise_called_if(status, &error);
  if (joist_r_session()->strict)
    joist_r_judge(call->op, call->values, n, &call->inference.signature);
  for (size_t k = 0; k < n; k++)
    if (call->values[k].form == JOIST_R_LITERAL && call->values[k].host == JOIST_HOST_INTEGER64 &&
        (joist_operand_changes(call->op, &arguments[k].operand, k, n, &call->inference.signature) &
         JOIST_CHANGE_LOSSY))
      joist_r_judge_integers(&call->values[k],
                             joist_signature_operand(&call->inference.signature, k));
  const uint8_t wanted = joist_r_watched(call->rules);
  call->inference.watch =
      call->converts || call->assigns
          ? joist_watch_of_conversion(arguments[0].operand.type,
                                      call->inference.signature.result[0].dtype, call->assigns,
                                      wanted)
          : joist_watch_of(call->op, arguments, n, &call->inference, call->attributes, wanted);
}

static SEXP apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                  size_t n, const struct joist_attributes *attributes, bool converts,
                  bool assigns) {
  struct joist_r_call call;
  call.rules = rules;
  call.op = op;
  call.values = values;
  call.count = n;
  call.attributes = attributes;
  call.converts = converts;
  call.assigns = assigns;
  read_values(&call);
  joist_r_applies *const function = function_for(&call);
  if (function == joist_r_trace_call) joist_r_trace_read_numbers(&call);
  infer(&call);
  if (function == joist_r_trace_call) joist_r_trace_watch_numbers(&call);
  joist_r_find_masks(&call);
  SEXP result = function(&call);
  if (!joist_r_recording()) return result;
  PROTECT(result);
  joist_r_record(&call, result);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_apply(const struct joist_rules *rules, joist_op op, struct joist_r_value *values,
                   size_t n, const struct joist_attributes *attributes) {
  return apply(rules, op, values, n, attributes, false, false);
}

SEXP joist_r_apply_conversion(const struct joist_rules *rules, struct joist_r_value *value,
                              struct joist_type type, bool assigns) {
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set_type(&attributes, type);
  return apply(rules, JOIST_OP_CONVERT, value, 1, &attributes, true, assigns);
}
