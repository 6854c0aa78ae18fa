/* What was recorded, under other rules. */
#ifndef JOIST_R_LEDGER_CASTS_H
#define JOIST_R_LEDGER_CASTS_H

#include "r/base/sexp.h"

/* .Call entry points. `other` is what was recorded under these rules, as far as it went, or NULL.
 */

/* The dtypes that the events of a ledger have under other rules, NA where they are undefined: with
 * the operands that they find there or, unless these are to `follow`, those that were recorded. */
SEXP joist_r_ledger_infer(SEXP ledger, SEXP other, SEXP rules, SEXP follow);
/* The fewest casts that give the dtypes recorded, under those rules. `castable` is a list: a
 * logical for each argument, an integer for each site whose bit k - 1 stands for operand k, and a
 * logical for each site. */
SEXP joist_r_ledger_casts(SEXP ledger, SEXP other, SEXP rules, SEXP castable, SEXP effort);

#endif
