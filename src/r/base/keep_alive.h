/* R objects whose memory other libraries read: each is protected from R's collector until they
 * release it, which they may do from any thread. */
#ifndef JOIST_R_KEEP_ALIVE_H
#define JOIST_R_KEEP_ALIVE_H

#include "core/exchange/keep_alive.h"
#include "r/base/sexp.h"

/* Keeps an object alive, which the caller protects until then, for one holder. */
struct joist_keep_alive *joist_r_keep_alive(SEXP object);
/* Lets go of what has come back; costs next to nothing where nothing has. */
void joist_r_release_returned(void);

#endif
