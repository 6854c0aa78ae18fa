/* Finalizers of external pointers, which R calls in this library. */
#include "r/finalizers.h"

static bool registered = false;

void joist_r_finalize_with(SEXP pointer, R_CFinalizer_t finalize, bool at_exit) {
  registered = true;
  R_RegisterCFinalizerEx(pointer, finalize, at_exit ? TRUE : FALSE);
}

bool joist_r_has_finalizers(void) { return registered; }
