/* Hands operations on tensors in a store to delayed_operation() and delayed_operator() of
 * R. */
#include "r/delayed.h"

#include "r/conditions.h"
#include "r/tensor.h"

bool joist_r_is_delayed(SEXP x) {
  return TYPEOF(x) == S4SXP && joist_r_first_class(x) != joist_r_class(JOIST_R_CONCRETE) &&
         Rf_inherits(x, "nv_chunked");
}

static SEXP call_with(const char *function, joist_op op, SEXP operands, SEXP attributes) {
  SEXP name = PROTECT(Rf_mkString(joist_op_name(op)));
  SEXP call = PROTECT(Rf_lang4(Rf_install(function), name, operands, attributes));
  SEXP result = joist_r_eval(call);
  UNPROTECT(2);
  return result;
}

SEXP joist_r_delay(joist_op op, SEXP operands, SEXP attributes) {
  return call_with("delayed_operation", op, operands, attributes);
}

SEXP joist_r_delay_plain(joist_op op, const SEXP *operands, size_t n, bool as_operator) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
  for (size_t k = 0; k < n; k++) SET_VECTOR_ELT(list, (R_xlen_t)k, operands[k]);
  SEXP result =
      call_with(as_operator ? "delayed_operator" : "delayed_operation", op, list, R_NilValue);
  UNPROTECT(1);
  return result;
}
