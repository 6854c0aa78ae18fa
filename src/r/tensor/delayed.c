/* Hands operations on tensors in a store to delayed_operation() of R. */
#include "r/tensor/delayed.h"

#include "r/base/conditions.h"
#include "r/tensor/tensor.h"

bool joist_r_is_delayed(SEXP x) {
  return TYPEOF(x) == S4SXP && joist_r_first_class(x) != joist_r_class(JOIST_R_CONCRETE) &&
         Rf_inherits(x, "nv_chunked");
}

static SEXP delay(joist_op op, SEXP operands, SEXP attributes, bool as_operator) {
  SEXP name = PROTECT(Rf_mkString(joist_op_name(op)));
  SEXP flag = PROTECT(Rf_ScalarLogical(as_operator));
  SEXP call = PROTECT(Rf_lang5(Rf_install("delayed_operation"), name, operands, attributes, flag));
  SEXP result = joist_r_eval(call);
  UNPROTECT(3);
  return result;
}

SEXP joist_r_delay(joist_op op, SEXP operands, SEXP attributes) {
  return delay(op, operands, attributes, false);
}

SEXP joist_r_delay_plain(joist_op op, const SEXP *operands, size_t n, bool as_operator) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
  for (size_t k = 0; k < n; k++) SET_VECTOR_ELT(list, (R_xlen_t)k, operands[k]);
  SEXP result = delay(op, list, R_NilValue, as_operator);
  UNPROTECT(1);
  return result;
}
