/* Makes tensors. */
#include "r/tensor.h"

#include "r/devices.h"
#include "r/dtypes.h"

static SEXP preserved_strings(const char *const *strings, int n) {
  SEXP made = PROTECT(Rf_allocVector(STRSXP, n));
  for (int i = 0; i < n; i++) SET_STRING_ELT(made, i, Rf_mkChar(strings[i]));
  MARK_NOT_MUTABLE(made);
  R_PreserveObject(made);
  UNPROTECT(1);
  return made;
}

SEXP joist_r_class(joist_r_form form) {
  static SEXP concrete = NULL, abstract = NULL, traced = NULL;
  if (concrete == NULL) {
    static const char *const plain[] = {"nv_tensor"};
    static const char *const aval[] = {"nv_aval", "nv_tensor"};
    static const char *const trace[] = {"nv_traced", "nv_tensor"};
    abstract = preserved_strings(aval, 2);
    traced = preserved_strings(trace, 2);
    concrete = preserved_strings(plain, 1);
  }
  return form == JOIST_R_ABSTRACT ? abstract : form == JOIST_R_TRACED ? traced : concrete;
}

SEXP joist_r_shape_object(const struct joist_shape *shape) {
  SEXP extents = Rf_allocVector(INTSXP, shape->rank);
  for (int d = 0; d < shape->rank; d++) INTEGER(extents)[d] = (int)shape->extent[d];
  return extents;
}

/* A tensor of each form without contents, known and ambiguous. Copying it, attributes
 * included, is several times faster than setting the attributes of a new object. */
static SEXP pattern_of(joist_r_form form, bool ambiguous) {
  static SEXP patterns[JOIST_R_TRACED + 1][2];
  if (patterns[form][ambiguous] == NULL) {
    SEXP made = PROTECT(Rf_asS4(PROTECT(Rf_allocS4Object()), FALSE, 0));
    Rf_setAttrib(made, R_ClassSymbol, joist_r_class(form));
    for (int k = form == JOIST_R_ABSTRACT ? JOIST_R_DTYPE : JOIST_R_PAYLOAD; k <= JOIST_R_SHAPE;
         k++)
      Rf_setAttrib(made, joist_r_field_symbol((joist_r_field_name)k), joist_r_class(form));
    if (ambiguous)
      Rf_setAttrib(made, joist_r_field_symbol(JOIST_R_AMBIGUOUS), Rf_ScalarLogical(TRUE));
    MARK_NOT_MUTABLE(made);
    R_PreserveObject(made);
    UNPROTECT(2);
    patterns[form][ambiguous] = made;
  }
  return patterns[form][ambiguous];
}

static SEXP make_tensor(joist_r_form form, SEXP payload, struct joist_type type, SEXP extents) {
  /* Made once, which allocates: before the tensor, which nothing protects. */
  const SEXP fields[] = {payload, joist_r_dtype_object(type.dtype), extents};
  SEXP tensor = Rf_shallow_duplicate(pattern_of(form, type.ambiguous));
  joist_r_write_fields(tensor, fields, form != JOIST_R_ABSTRACT);
  return tensor;
}

SEXP joist_r_tensor_with(SEXP payload, struct joist_type type, SEXP extents) {
  return make_tensor(JOIST_R_CONCRETE, payload, type, extents);
}

SEXP joist_r_tensor(SEXP payload, struct joist_type type, const struct joist_shape *shape) {
  SEXP tensor = joist_r_tensor_with(payload, type, PROTECT(joist_r_shape_object(shape)));
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_aval(struct joist_type type, const struct joist_shape *shape) {
  SEXP extents = PROTECT(joist_r_shape_object(shape));
  SEXP tensor = make_tensor(JOIST_R_ABSTRACT, R_NilValue, type, extents);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_traced(SEXP trace, joist_value_id value, bool literal, struct joist_type type,
                    const struct joist_shape *shape) {
  SEXP extents = PROTECT(joist_r_shape_object(shape));
  SEXP tensor = PROTECT(make_tensor(JOIST_R_TRACED, trace, type, extents));
  /* A literal argument of a jitted function has no value until its dtype is known: its
   * number is that of the argument, negative. */
  const int number = literal ? -(int)value - 1 : (int)value;
  SEXP boxed = PROTECT(Rf_ScalarInteger(number));
  joist_r_set_field(tensor, JOIST_R_VALUE, boxed);
  UNPROTECT(3);
  return tensor;
}

SEXP joist_r_tensor_on(const struct joist_device *device, SEXP payload, struct joist_type type,
                       SEXP extents) {
  static const struct joist_device *latest = NULL;
  static SEXP object = NULL; /* of that one */
  if (device->host) return joist_r_tensor_with(payload, type, extents);
  SEXP tensor = PROTECT(joist_r_tensor_with(payload, type, extents));
  if (latest != device) {
    SEXP made = PROTECT(joist_r_device_object(device->name));
    R_PreserveObject(made);
    UNPROTECT(1);
    if (object != NULL) R_ReleaseObject(object);
    object = made;
    latest = device;
  }
  joist_r_set_field(tensor, JOIST_R_DEVICE, object);
  UNPROTECT(1);
  return tensor;
}
