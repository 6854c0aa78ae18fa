#include "r/trace/trace_mask.h"

#include "core/program/emit.h"
#include "core/promotion/builtin_rules.h"
#include "r/base/conditions.h"
#include "r/tensor/mask.h"
#include "r/tensor/unknown.h"
#include "r/trace/trace.h"

/* Adds an instruction of one operand. */
static joist_value_id add(SEXP trace, joist_op op, joist_value_id value,
                          const struct joist_attributes *attributes) {
  struct joist_program *const program = &joist_r_trace_of(trace)->program;
  struct joist_error error;
  joist_value_id result = 0;
  joist_r_raise_if(
      joist_program_emit(program, op, &value, 1, attributes, JOIST_NO_SOURCE, 0, &result, &error),
      &error);
  return result;
}

joist_value_id joist_r_renamed(SEXP trace, joist_value_id value) {
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_MARK,
                       Rf_asInteger(joist_r_trace_mark(trace, R_NilValue)));
  return add(trace, JOIST_OP_ALIAS, value, &attributes);
}

joist_value_id joist_r_trace_reshaped(SEXP trace, joist_value_id value,
                                      const struct joist_shape *shape) {
  struct joist_attributes attributes = {.count = 0};
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  return add(trace, JOIST_OP_RESHAPE, value, &attributes);
}

/* The number of the mask of a traced value. */
static joist_value_id mask_of_traced(SEXP trace, const struct joist_r_value *value) {
  struct joist_r_value mask;
  joist_r_read_any(joist_rules_at(0), value->missing, &mask);
  const joist_value_id number = joist_r_trace_number(trace, &mask, joist_r_mask_type);
  if (joist_shape_equal(&mask.argument.shape, &value->argument.shape)) return number;
  /* An R value among the arguments that is read in another shape. */
  return joist_r_trace_reshaped(trace, number, &value->argument.shape);
}

void joist_r_trace_masks(SEXP trace, const struct joist_r_value *values, size_t n,
                         joist_value_id *masks) {
  for (size_t k = 0; k < n; k++) {
    masks[k] = JOIST_NO_MASK;
    if (!joist_r_has_missing(&values[k])) continue;
    if (values[k].form == JOIST_R_TRACED) {
      masks[k] = mask_of_traced(trace, &values[k]);
      continue;
    }
    struct joist_r_value mask;
    PROTECT(joist_r_mask_value(&values[k], &mask));
    masks[k] = joist_r_trace_number(trace, &mask, joist_r_mask_type);
    UNPROTECT(1);
  }
}

/* The number of a traced tensor; negative for an R value among the arguments. */
static int number_of(SEXP tensor) {
  struct joist_r_unknown unknown = {.number = -1};
  (void)joist_r_unknown_read(tensor, &unknown);
  return unknown.number;
}

static void set_mask_field(SEXP tensor, SEXP trace, joist_value_id mask) {
  SEXP traced = PROTECT(joist_r_trace_tensor(trace, mask));
  joist_r_unknown_set_missing(tensor, traced);
  UNPROTECT(1);
}

void joist_r_note_mask(struct joist_r_trace *trace, joist_value_id value, joist_value_id mask) {
  joist_r_note_value(&trace->masks, &trace->mask_capacity, value, mask);
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
