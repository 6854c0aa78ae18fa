/* Large payloads as alternative representations of vectors (ALTREP): from R 4.6 on, which takes
 * no allocators from packages any more. */
#ifndef JOIST_R_ALTREP_PAYLOAD_H
#define JOIST_R_ALTREP_PAYLOAD_H

#include <Rversion.h>
#include <stddef.h>

#include "r/base/sexp.h"

#ifndef JOIST_R_PAYLOADS_ARE_ALTREP
#define JOIST_R_PAYLOADS_ARE_ALTREP (R_VERSION >= R_Version(4, 6, 0))
#endif

#if JOIST_R_PAYLOADS_ARE_ALTREP
/* A vector of n elements, `bytes` in all, that are undefined and lie in the pool; R_NilValue when
 * the pool has no memory for them. */
SEXP joist_r_altrep_payload(SEXPTYPE type, size_t n, size_t bytes);
/* Evaluates a call of gc(), and frees what is garbage when the finalizers of R have run. */
SEXP joist_r_altrep_payload_collect(SEXP call);
/* Frees what was found to be garbage by now. */
void joist_r_altrep_payload_free(void);
/* Makes the classes: once, when the library is loaded. */
void joist_r_altrep_payload_init(void);
#endif

#endif
