/* .Call entry points of jitted functions: the cache of their compiled programs. */
#ifndef JOIST_R_JIT_H
#define JOIST_R_JIT_H

#include "r/base/sexp.h"

SEXP joist_r_jit_state(SEXP capacity, SEXP native);
/* TRUE: nothing is compiled for these arguments; FALSE: run the R function itself;
 * otherwise the result, which is never logical. `dynamic` has flags, is NULL for all of them, or
 * names the static ones, of which lists and environments always give TRUE. */
SEXP joist_r_jit_call(SEXP state, SEXP arguments, SEXP dynamic, SEXP rules, SEXP policy,
                      SEXP device);
/* The same without static arguments, under the rules in force; FALSE for a NULL state, and where a
 * run may be an error. */
SEXP joist_r_jit_kept(SEXP state, SEXP arguments);
/* Whether a compiled function may run of a tensor, or a list of them: no kind of promotion is
 * named, nothing is recorded, and each is neither traced nor in a store. */
SEXP joist_r_can_fuse(SEXP x);
/* Stores what was compiled for these arguments, and gives what joist_r_jit_call() gives then. */
SEXP joist_r_jit_run(SEXP state, SEXP compiled, SEXP arguments, SEXP dynamic, SEXP rules,
                     SEXP policy, SEXP device);
/* The same on the device of the arguments, for functions that version 0.1.0 saved. */
SEXP joist_r_jit_store(SEXP state, SEXP compiled, SEXP arguments, SEXP dynamic, SEXP rules,
                       SEXP policy);
SEXP joist_r_jit_programs(SEXP state);

#endif
