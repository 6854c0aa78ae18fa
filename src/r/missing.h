/* Missing values of tensors: masks as R objects, and operations on tensors that have some. */
#ifndef JOIST_R_MISSING_H
#define JOIST_R_MISSING_H

#include "core/program/missing.h"
#include "r/operands.h"

struct joist_r_trace;

/* The mask of a value that has one, as an operand of its own: bool, of the same shape. Returns the
 * object that owns the elements, to be protected. */
SEXP joist_r_mask_value(const struct joist_r_value *value, struct joist_r_value *mask);

/* Gives a tensor with elements, just made, that mask, a payload on its device: none if nothing is
 * missing. Both are protected. */
void joist_r_set_mask(SEXP tensor, SEXP mask);
/* Gives it the mask of a value with as many elements. */
void joist_r_copy_mask(SEXP tensor, const struct joist_r_value *value);

/* The elements of a value on the CPU with 0 where it is missing, in memory that .Call frees; those
 * of the value if none is. */
const void *joist_r_zeroed(const struct joist_r_value *value);

/* Whether an operation has to know of missing values, and its attributes without NA_RM. */
bool joist_r_is_lowered(const struct joist_r_value *values, size_t n,
                        const struct joist_attributes *attributes, struct joist_attributes *plain,
                        bool *remove);

/* The masks of values, as values of a trace. */
void joist_r_trace_masks(SEXP trace, const struct joist_r_value *values, size_t n,
                         joist_value_id *masks);
/* A traced tensor that was just made, with a mask, which may be JOIST_NO_MASK: that of its value
 * from now on. */
SEXP joist_r_traced_with(SEXP tensor, SEXP trace, joist_value_id mask);
/* A value of a trace under a name of its own: the same elements may be read without a mask. */
joist_value_id joist_r_renamed(SEXP trace, joist_value_id value);
/* Notes the mask of a value of a trace. */
void joist_r_note_mask(struct joist_r_trace *trace, joist_value_id value, joist_value_id mask);
/* The same value with the mask that it has in the trace. */
SEXP joist_r_traced_masked(SEXP tensor, SEXP trace);

/* Runs an operation on tensors with elements, of which some are missing. */
SEXP joist_r_run_missing(joist_op op, const struct joist_r_value *values, size_t n,
                         const struct joist_inference *inference,
                         const struct joist_attributes *attributes, bool remove);
/* The same for abstract tensors. */
SEXP joist_r_abstract_missing(joist_op op, const struct joist_r_value *values, size_t n,
                              const struct joist_inference *inference,
                              const struct joist_attributes *attributes, bool remove);

/* .Call entry points. */
/* The mask of a tensor, a bool tensor; NULL if no value is missing. */
SEXP joist_r_mask_of(SEXP x);
/* The tensor with a bool tensor of its shape as its mask, or without one: NULL. */
SEXP joist_r_with_mask(SEXP x, SEXP mask);

#endif
