/* Recording what operations do with dtypes while an R function runs, for trace_dtypes() and
 * compare_rules(). A recording is an external pointer that owns a struct joist_ledger; while one is
 * under way every operation arrives here, whether it runs, is abstract or is traced. */
#ifndef JOIST_R_LEDGER_H
#define JOIST_R_LEDGER_H

#include "core/audit/ledger.h"
#include "r/tensor/call.h"

/* The ledger of a recording. Raises joist_value_error when the pointer is empty. */
const struct joist_ledger *joist_r_ledger_of(SEXP ledger);

/* Whether a recording is under way. */
bool joist_r_recording(void);

/* Adds an operation that gave `result`, which the caller protects. */
void joist_r_record(const struct joist_r_call *call, SEXP result);

/* How many operations were recorded, for joist_r_record_one(). */
uint32_t joist_r_recorded(void);
/* The same for what is one operation to its user: those recorded since `mark` are forgotten. `op`
 * reads `n` R values, and its result has the type that inference says. */
void joist_r_record_one(uint32_t mark, joist_op op, const SEXP *operands, size_t n, SEXP result);

/* `copy` is the abstract tensor `x` in another shape. */
void joist_r_record_same(SEXP x, SEXP copy);

/* .Call entry points. The recording ends when its session is popped. `site` is a function
 * without arguments that gives the numbers of the place where an operation was written and of the
 * call, from 1. */
SEXP joist_r_ledger_begin(SEXP site, SEXP rules);
/* Pushes a session that does not record. */
SEXP joist_r_ledger_pause(void);
/* Numbers the tensors among the arguments, nested lists, in their order from 1; gives the arguments
 * with copies of those that are abstract. */
SEXP joist_r_ledger_arguments(SEXP ledger, SEXP arguments);
/* Which argument this tensor is; 0 if none. */
SEXP joist_r_ledger_argument_of(SEXP ledger, SEXP x);

#endif
