/* Instructions of a trace that is under way, as R values: what derivatives are made from. */
#ifndef JOIST_R_TRACE_WALK_H
#define JOIST_R_TRACE_WALK_H

#include "r/base/sexp.h"

/* .Call entry point. `outputs` and `inputs` are lists of tensors of the trace. Returns the
 * instructions through which an output depends on an input by float or complex values, the latest
 * first; instructions that make an input do not count. Each is a list: `op`; `operands` and
 * `results`, lists of traced tensors; `attributes`, a named list that counts dims and positions
 * from 1; `dtypes`, those that the operands are read in; `depends`, which operands do. */
SEXP joist_r_trace_walk(SEXP trace, SEXP outputs, SEXP inputs);

/* .Call entry point: how many values there are, which is the number of the next one. */
SEXP joist_r_trace_length(SEXP trace);
/* .Call entry point: how many instructions there are. */
SEXP joist_r_trace_instructions(SEXP trace);
/* .Call entry point: derivatives compute the instructions from that number on again. */
SEXP joist_r_trace_again(SEXP trace, SEXP first);

/* .Call entry point: the values before `first` that instructions since then read for an output, and
 * with `constants` those of the trace as well. */
SEXP joist_r_trace_captured(SEXP trace, SEXP outputs, SEXP first, SEXP constants);

#endif
