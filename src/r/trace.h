/* Traces: programs under construction, and compiled ones, as external pointers. */
#ifndef JOIST_R_TRACE_H
#define JOIST_R_TRACE_H

#include "r/tensor.h"

/* Adds `op` to the trace that the traced operand belongs to; gives a traced tensor. */
SEXP joist_r_trace_apply(const struct joist_rules *rules, joist_op op,
                         const struct joist_r_value *values,
                         const struct joist_attributes *attributes);

/* .Call entry points. `arguments` is a list, `dynamic` says which of them are traced. */
SEXP joist_r_trace_begin(SEXP arguments, SEXP dynamic, SEXP rules);
SEXP joist_r_trace_end(SEXP trace, SEXP result, SEXP rules);
SEXP joist_r_jit_state(SEXP capacity);
/* TRUE: nothing is compiled for these arguments; FALSE: run the R function itself;
 * otherwise the result, which is never logical. */
SEXP joist_r_jit_call(SEXP state, SEXP arguments, SEXP dynamic, SEXP rules, SEXP device);
SEXP joist_r_jit_store(SEXP state, SEXP compiled, SEXP arguments, SEXP dynamic, SEXP rules);
SEXP joist_r_jit_programs(SEXP state);
SEXP joist_r_program_text(SEXP compiled);

#endif
