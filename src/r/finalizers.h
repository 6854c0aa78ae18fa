/* Finalizers of external pointers, which R calls in this library. */
#ifndef JOIST_R_FINALIZERS_H
#define JOIST_R_FINALIZERS_H

#include <stdbool.h>

#include "r/sexp.h"

/* R_RegisterCFinalizerEx() for a function of this package. */
void joist_r_finalize_with(SEXP pointer, R_CFinalizer_t finalize, bool at_exit);
/* Whether R was ever given one. */
bool joist_r_has_finalizers(void);

#endif
