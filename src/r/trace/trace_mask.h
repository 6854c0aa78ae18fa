/* Masks of traced tensors, which are values of the trace. */
#ifndef JOIST_R_TRACE_MASK_H
#define JOIST_R_TRACE_MASK_H

#include "core/program/missing.h"
#include "r/tensor/operands.h"

struct joist_r_trace;

/* The masks of values, as values of a trace. */
void joist_r_trace_masks(SEXP trace, const struct joist_r_value *values, size_t n,
                         joist_value_id *masks);
/* A traced tensor that was just made, with a mask, which may be JOIST_NO_MASK: that of its value
 * from now on. */
SEXP joist_r_traced_with(SEXP tensor, SEXP trace, joist_value_id mask);
/* A value in another shape of as many elements. */
joist_value_id joist_r_trace_reshaped(SEXP trace, joist_value_id value,
                                      const struct joist_shape *shape);
/* Adds an alias of a value, so that the value and its alias can have different masks. */
joist_value_id joist_r_renamed(SEXP trace, joist_value_id value);
/* Records the mask of a value in the trace. */
void joist_r_note_mask(struct joist_r_trace *trace, joist_value_id value, joist_value_id mask);
/* Gives a traced tensor that was just made the mask that its value has in the trace. */
SEXP joist_r_traced_masked(SEXP tensor, SEXP trace);

#endif
