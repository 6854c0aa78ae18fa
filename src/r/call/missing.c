#include "r/call/missing.h"

#include "r/base/conditions.h"
#include "r/base/session.h"
#include "r/tensor/delayed.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/trace/trace.h"
#include "r/trace/trace_mask.h"

SEXP joist_r_mask_of(SEXP x) {
  struct joist_r_value value, mask;
  if (joist_r_is_delayed(x)) return R_NilValue;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  if (!joist_r_has_missing(&value)) return R_NilValue;
  if (value.form == JOIST_R_TRACED) return value.missing;
  if (value.form == JOIST_R_ABSTRACT) return joist_r_aval(joist_r_mask_type, &value.argument.shape);
  SEXP payload = PROTECT(joist_r_mask_value(&value, &mask));
  SEXP tensor = joist_r_tensor_with(payload, joist_r_mask_type, &value.argument.shape,
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
    const joist_value_id number = joist_r_trace_number(pointer, &given, joist_r_mask_type);
    SEXP named =
        PROTECT(joist_r_traced_with(joist_r_trace_tensor(pointer, elements), pointer, number));
    joist_r_set_names(named, value.names, value.argument.shape.rank);
    UNPROTECT(3);
    return named;
  }
  if (value.form == JOIST_R_TRACED || value.form == JOIST_R_ABSTRACT) {
    SEXP copy = PROTECT(Rf_shallow_duplicate(x));
    joist_r_unknown_set_missing(copy, mask != R_NilValue && value.form == JOIST_R_ABSTRACT
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
