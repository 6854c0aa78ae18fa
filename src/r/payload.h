/* How the elements of large payloads come to lie in the pool: by allocators that R takes from
 * packages, or, from R 4.6 on, where it takes none any more, as alternative representations of
 * vectors (ALTREP). */
#ifndef JOIST_R_PAYLOAD_H
#define JOIST_R_PAYLOAD_H

#include <Rversion.h>

#include "r/joist_r.h"

#ifndef JOIST_R_PAYLOADS_ARE_ALTREP
#define JOIST_R_PAYLOADS_ARE_ALTREP (R_VERSION >= R_Version(4, 6, 0))
#endif

/* R's garbage collector, on all objects or the recent ones. */
void joist_r_collect(bool full);
/* Frees the payloads that R has collected and that are not freed yet. */
void joist_r_free_payloads(void);

#if JOIST_R_PAYLOADS_ARE_ALTREP
/* A vector of n elements, `bytes` in all, that are undefined and lie in the pool. Raises
 * joist_memory_error. */
SEXP joist_r_altrep_payload(SEXPTYPE type, size_t n, size_t bytes);
/* Evaluates a call of gc(), and frees what is garbage when the finalizers of R have run. */
void joist_r_altrep_payload_collect(SEXP call);
/* Frees what was found to be garbage by now. */
void joist_r_altrep_payload_free(void);
/* Makes the classes: once, when the library is loaded. */
void joist_r_altrep_payload_init(void);
#endif

#endif
