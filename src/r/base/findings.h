/* Warnings and errors about values that did not fit, as the policy in force wants them. */
#ifndef JOIST_R_FINDINGS_H
#define JOIST_R_FINDINGS_H

#include "core/base/tally.h"
#include "r/base/sexp.h"

/* Tells of what a run found, an error if the policy refuses it. The programs are still there.
 * `lines` has the source references that instructions refer to; NULL: the line being run. `policy`
 * is that of an R argument; NULL: the one in force. Runs R code. */
void joist_r_tell_findings(const struct joist_tally *tally, SEXP lines, SEXP policy);

#endif
