/* Payloads in memory of other libraries, as alternative representations of vectors (ALTREP). They
 * count as shared: joist and R copy them before they write to them. */
#ifndef JOIST_R_FOREIGN_H
#define JOIST_R_FOREIGN_H

#include <stddef.h>

#include "r/base/sexp.h"

/* A vector of n elements, at least one, that lie in memory which is valid as long as `owner`, a
 * protected object. */
SEXP joist_r_foreign(SEXPTYPE type, const void *elements, size_t n, SEXP owner);
/* Makes the classes: once, when the library is loaded. */
void joist_r_foreign_init(void);

#endif
