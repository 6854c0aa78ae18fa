/* Ledgers as R lists of columns, with what promotion did in words. */
#ifndef JOIST_R_LEDGER_VIEW_H
#define JOIST_R_LEDGER_VIEW_H

#include "r/base/sexp.h"

/* .Call entry point: a column each for what is known of the events. */
SEXP joist_r_ledger_table(SEXP ledger);

#endif
