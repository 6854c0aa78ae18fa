/* Finalizers of external pointers, which R calls in this library. */
#include "r/base/finalizers.h"

static bool registered = false;

void joist_r_finalize_with(SEXP pointer, R_CFinalizer_t finalize, bool at_exit) {
  registered = true;
  R_RegisterCFinalizerEx(pointer, finalize, at_exit ? TRUE : FALSE);
}

SEXP joist_r_owner(R_CFinalizer_t finalize) {
  SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  joist_r_finalize_with(pointer, finalize, false);
  UNPROTECT(1);
  return pointer;
}

bool joist_r_has_finalizers(void) { return registered; }
