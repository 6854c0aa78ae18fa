#include "r/tensor/same.h"

#include "r/base/tensor_fields.h"
#include "r/tensor/name_references.h"
#include "r/tensor/unknown.h"

static SEXP attributes_of(SEXP x) {
  SEXP call =
      PROTECT(Rf_lang2(Rf_install("attributes"), PROTECT(Rf_lang2(Rf_install("quote"), x))));
  SEXP all = Rf_eval(call, R_BaseEnv);
  UNPROTECT(2);
  return all;
}

static bool same_attributes(SEXP x, SEXP y) {
  SEXP a = PROTECT(attributes_of(x)), b = PROTECT(attributes_of(y));
  const bool none = a == R_NilValue || b == R_NilValue;
  bool same = none ? a == b : XLENGTH(a) == XLENGTH(b);
  if (!none && same)
    same = joist_r_same(Rf_getAttrib(a, R_NamesSymbol), Rf_getAttrib(b, R_NamesSymbol));
  for (R_xlen_t k = 0; !none && same && k < XLENGTH(a); k++)
    same = joist_r_same(VECTOR_ELT(a, k), VECTOR_ELT(b, k));
  UNPROTECT(2);
  return same;
}

static bool same_unknown(SEXP x, SEXP y) {
  struct joist_r_unknown a, b;
  if (TYPEOF(x) != TYPEOF(y) || !joist_r_unknown_read(x, &a) || !joist_r_unknown_read(y, &b) ||
      !joist_r_same_value(&a, &b))
    return false;
  return joist_r_same(a.missing, b.missing) && same_attributes(x, y);
}

bool joist_r_same(SEXP x, SEXP y) {
  enum { AS_IDENTICAL = 16 }; /* the flags that identical() has */
  R_CheckStack();
  if (x == y) return true;
  if (joist_r_is_unknown(x) || joist_r_is_unknown(y)) return same_unknown(x, y);
  if (joist_r_are_references(x) || joist_r_are_references(y)) return joist_r_same_names(x, y);
  if (TYPEOF(x) != VECSXP || TYPEOF(y) != VECSXP) return R_compute_identical(x, y, AS_IDENTICAL);
  if (XLENGTH(x) != XLENGTH(y) || Rf_isObject(x) != Rf_isObject(y)) return false;
  for (R_xlen_t k = 0; k < XLENGTH(x); k++)
    if (!joist_r_same(VECTOR_ELT(x, k), VECTOR_ELT(y, k))) return false;
  return (!joist_r_has_attributes(x) && !joist_r_has_attributes(y)) || same_attributes(x, y);
}

SEXP joist_r_are_same(SEXP x, SEXP y) { return Rf_ScalarLogical(joist_r_same(x, y)); }
