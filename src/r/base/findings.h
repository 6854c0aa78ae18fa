/* Warnings and errors about values that did not fit, as the policy in force wants them. */
#ifndef JOIST_R_FINDINGS_H
#define JOIST_R_FINDINGS_H

#include "core/base/tally.h"
#include "core/program/program.h"
#include "r/base/sexp.h"

/* Tells of what a run found, an error if the policy refuses it. The programs are still there.
 * `lines` has the source references that instructions refer to; NULL: the line being run. `policy`
 * is that of an R argument; NULL: the one in force. Runs R code. */
void joist_r_tell_findings(const struct joist_tally *tally, SEXP lines, SEXP policy);

/* Whether all that a run of the program can find at this place has been told already, so that it
 * need not look. False for short runs, which find it out faster than R code does. Runs R code. */
bool joist_r_were_told(const struct joist_program *program, SEXP lines, SEXP policy);

/* Bits of those of at most 32 findings that would not be told of at this place, as they were. Runs
 * R code. */
uint32_t joist_r_told_among(const struct joist_finding *findings, uint32_t count, SEXP lines,
                            SEXP policy);

/* A whole number with commas, as messages and headers have it wherever R's decimal mark is
 * another. */
SEXP joist_r_grouped_digits(SEXP number);

#endif
