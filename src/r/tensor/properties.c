/* The properties of a tensor, without its elements. */
#include "r/tensor/properties.h"

#include <math.h>

#include "r/base/conditions.h"
#include "r/memory/device_payload.h"
#include "r/memory/devices.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"
#include "r/tensor/tensor.h"

/* `type` may be NULL. */
static void describe(SEXP x, struct joist_type *type, struct joist_shape *shape) {
  if (joist_r_describe(x, type, shape)) return;
  SEXP quoted = PROTECT(Rf_lang2(Rf_install("quote"), x));
  SEXP class = PROTECT(joist_r_eval(PROTECT(Rf_lang2(Rf_install("class"), quoted))));
  joist_r_stop(JOIST_ERROR_VALUE, "expected a tensor, got %s; make one with nv_tensor()",
               Rf_translateCharUTF8(STRING_ELT(class, 0)));
}

SEXP joist_r_dtype_of(SEXP x) {
  struct joist_type type;
  struct joist_shape shape;
  describe(x, &type, &shape);
  return joist_r_dtype_object(type.dtype);
}

SEXP joist_r_shape_of(SEXP x) {
  struct joist_shape shape;
  describe(x, NULL, &shape);
  return joist_r_shape_object(&shape);
}

SEXP joist_r_is_ambiguous(SEXP x) {
  struct joist_type type;
  struct joist_shape shape;
  describe(x, &type, &shape);
  return Rf_ScalarLogical(type.ambiguous);
}

SEXP joist_r_same_type(SEXP x, SEXP y) {
  struct joist_type own, other;
  struct joist_shape shape;
  describe(x, &own, &shape);
  describe(y, &other, &shape);
  return Rf_ScalarLogical(own.dtype == other.dtype && own.ambiguous == other.ambiguous);
}

SEXP joist_r_type_alone(SEXP x) {
  const struct joist_shape scalar = {.rank = 0};
  struct joist_type type;
  struct joist_shape shape;
  describe(x, &type, &shape);
  return joist_r_aval(type, &scalar);
}

SEXP joist_r_are_dims(SEXP dims, SEXP x, SEXP single) {
  struct joist_shape shape;
  describe(x, NULL, &shape);
  bool fit = !Rf_isObject(dims) && (TYPEOF(dims) == INTSXP || TYPEOF(dims) == REALSXP);
  bool seen[JOIST_RANK_MAX + 1] = {false};
  fit = fit && (!Rf_asLogical(single) || XLENGTH(dims) == 1);
  for (R_xlen_t k = 0; fit && k < XLENGTH(dims); k++) {
    const double dim = TYPEOF(dims) == INTSXP ? INTEGER_ELT(dims, k) : REAL_ELT(dims, k);
    fit = dim >= 1 && dim <= shape.rank && dim == trunc(dim) && !seen[(int)dim];
    if (fit) seen[(int)dim] = true;
  }
  return Rf_ScalarLogical(fit);
}

SEXP joist_r_length_of(SEXP x) {
  struct joist_shape shape;
  double count = 1; /* an abstract tensor may have more than memory holds */
  if (TYPEOF(x) == S4SXP) {
    describe(x, NULL, &shape);
    for (int d = 0; d < shape.rank; d++) count *= shape.extent[d];
  } else {
    count = (double)Rf_xlength(x);
  }
  return count <= INT32_MAX ? Rf_ScalarInteger((int)count) : Rf_ScalarReal(count);
}

SEXP joist_r_dim_of(SEXP x) {
  struct joist_shape shape;
  if (TYPEOF(x) != S4SXP) return Rf_getAttrib(x, R_DimSymbol);
  describe(x, NULL, &shape);
  return shape.rank < 2 ? R_NilValue : joist_r_shape_object(&shape);
}

SEXP joist_r_device_of(SEXP x) {
  struct joist_shape shape;
  struct joist_r_value value;
  describe(x, NULL, &shape);
  if (TYPEOF(x) == S4SXP) return R_NilValue;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  if (value.form != JOIST_R_REMOTE) return R_NilValue;
  return joist_r_device_object(joist_r_remote_device(value.payload)->name);
}

SEXP joist_r_stored(SEXP like) {
  struct joist_shape shape;
  struct joist_type type;
  describe(like, &type, &shape);
  return joist_r_object(type, &shape);
}
