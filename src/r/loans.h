/* R objects whose memory others read: each is kept from R's collector until they give it back,
 * which they may do from any thread. */
#ifndef JOIST_R_LOANS_H
#define JOIST_R_LOANS_H

#include "core/exchange/loan.h"
#include "r/sexp.h"

/* A loan, with one holder, of an object that is protected. */
struct joist_loan *joist_r_lend(SEXP object);
/* Lets go of what has come back; costs next to nothing where nothing has. */
void joist_r_end_loans(void);

#endif
