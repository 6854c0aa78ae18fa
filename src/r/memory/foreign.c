/* The first part of such a vector's data is an external pointer to the elements, which protects
 * their owner; the second is their number. R copies and saves it as any other vector. */
#include "r/memory/foreign.h"

#include "r/base/altrep.h"
#include "r/base/finalizers.h"

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

static struct joist_r_altrep family;

void joist_r_foreign_init(void) { family = joist_r_altrep("foreign", length, data, data_or_null); }

SEXP joist_r_foreign(SEXPTYPE type, const void *elements, size_t n, SEXP owner) {
  SEXP pointer = PROTECT(R_MakeExternalPtr((void *)(size_t)elements, R_NilValue, owner));
  joist_r_finalize_with(pointer, finalize, false);
  SEXP count = PROTECT(Rf_ScalarReal((double)n));
  SEXP vector = R_new_altrep(joist_r_altrep_class(&family, type), pointer, count);
  MARK_NOT_MUTABLE(vector);
  UNPROTECT(2);
  return vector;
}
