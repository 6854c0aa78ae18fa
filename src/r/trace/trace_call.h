/* Operations on traced tensors. */
#ifndef JOIST_R_TRACE_CALL_H
#define JOIST_R_TRACE_CALL_H

#include "r/tensor/call.h"

/* Adds the operation to the body being traced, or to the trace that its operands belong to. */
joist_r_applies joist_r_trace_call;

/* R adds its own flags as integers, takes powers of its own integers in double, and its doubles
 * take the dtype of tensors that they meet: such operands are read so, before dtypes are inferred.
 */
void joist_r_trace_read_numbers(struct joist_r_call *call);

/* R's own integers do not wrap: results of theirs that do not fit are an error. To be called with
 * the inference. */
void joist_r_trace_watch_numbers(struct joist_r_call *call);

/* If `number` is an R number, notes that `made`, which has its elements in another shape, is one,
 * too. */
void joist_r_trace_note_reshaped(const struct joist_r_value *number,
                                 const struct joist_attributes *shape,
                                 const struct joist_r_value *made);

/* .Call entry points. Whether a traced tensor stands for a number that the plain run has as one of
 * R's own, computed or handed on by branches and loops; to say so of a tensor, which is given back;
 * and the number in double, an ambiguous f64. */
SEXP joist_r_trace_is_number(SEXP x);
SEXP joist_r_trace_as_number(SEXP x);

/* .Call entry point: what the plain run has for a traced tensor differs by a traced condition: in
 * R's type (1), or in that one is a number of R and the other a tensor (2). `set`, unless it is 0,
 * says so. */
SEXP joist_r_trace_mixed(SEXP x, SEXP set);
SEXP joist_r_trace_in_full(SEXP x);

#endif
