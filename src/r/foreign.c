/* The first part of such a vector's data is an external pointer to the elements, which protects
 * their owner; the second is their number. R copies and saves it as any other vector. */
#include "r/foreign.h"

#include <R_ext/Altrep.h>

#include "r/finalizers.h"

static R_xlen_t length(SEXP x) { return (R_xlen_t)REAL(R_altrep_data2(x))[0]; }

/* The memory is gone only where a finalizer kept a vector that was garbage for later. */
static void *data(SEXP x, Rboolean writable) {
  (void)writable;
  void *const elements = R_ExternalPtrAddr(R_altrep_data1(x));
  if (elements == NULL)
    Rf_error("the memory of this vector was given back: a finalizer read it too late");
  return elements;
}

static const void *data_or_null(SEXP x) { return data(x, FALSE); }

/* Registered after the finalizer of the owner, and so run before it. */
static void finalize(SEXP pointer) { R_ClearExternalPtr(pointer); }

/* They belong to no library, see joist_r_altrep_payload_init(). */
static R_altrep_class_t raw_class, integer_class, real_class, complex_class;

static R_altrep_class_t with_methods(R_altrep_class_t class) {
  R_set_altrep_Length_method(class, length);
  R_set_altvec_Dataptr_method(class, data);
  R_set_altvec_Dataptr_or_null_method(class, data_or_null);
  return class;
}

void joist_r_foreign_init(void) {
  raw_class = with_methods(R_make_altraw_class("foreign_raw", "joist", NULL));
  integer_class = with_methods(R_make_altinteger_class("foreign_integer", "joist", NULL));
  real_class = with_methods(R_make_altreal_class("foreign_real", "joist", NULL));
  complex_class = with_methods(R_make_altcomplex_class("foreign_complex", "joist", NULL));
}

static R_altrep_class_t class_of(SEXPTYPE type) {
  switch (type) {
    case INTSXP:
      return integer_class;
    case REALSXP:
      return real_class;
    case CPLXSXP:
      return complex_class;
    default:
      return raw_class;
  }
}

SEXP joist_r_foreign(SEXPTYPE type, const void *elements, size_t n, SEXP owner) {
  SEXP pointer = PROTECT(R_MakeExternalPtr((void *)(size_t)elements, R_NilValue, owner));
  joist_r_finalize_with(pointer, finalize, false);
  SEXP count = PROTECT(Rf_ScalarReal((double)n));
  SEXP vector = R_new_altrep(class_of(type), pointer, count);
  MARK_NOT_MUTABLE(vector);
  UNPROTECT(2);
  return vector;
}
