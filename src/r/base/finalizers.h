/* Finalizers of external pointers, which R calls in this library. */
#ifndef JOIST_R_FINALIZERS_H
#define JOIST_R_FINALIZERS_H

#include <stdbool.h>

#include "r/base/sexp.h"

/* R_RegisterCFinalizerEx() for a function of this package. */
void joist_r_finalize_with(SEXP pointer, R_CFinalizer_t finalize, bool at_exit);
/* An external pointer with a finalizer that is not run at R's end, to nothing yet: what it is given
 * later has an owner from the start. */
SEXP joist_r_owner(R_CFinalizer_t finalize);
/* Whether R was ever given one. */
bool joist_r_has_finalizers(void);

#endif
