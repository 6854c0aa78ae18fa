/* The names of traced tensors: references to those of arguments, and constants. */
#ifndef JOIST_R_TRACE_NAMES_H
#define JOIST_R_TRACE_NAMES_H

#include "core/program/program.h"
#include "r/tensor/operands.h"

/* Gives the traced tensor of leaf number `leaf` among the arguments references to its names. */
void joist_r_name_argument(SEXP tensor, uint32_t leaf, SEXP names);
/* Gives a traced tensor that was just made names, or none for R_NilValue. */
void joist_r_name_traced(SEXP tensor, SEXP names);
/* Those that the first tensor of a value had; R_NilValue for none. */
SEXP joist_r_trace_names(SEXP pointer, joist_value_id value);

/* At the end of a trace. */
void joist_r_note_output_names(SEXP pointer, uint32_t output, SEXP names);

/* Whether arguments with other names can use a compiled program: R code has not asked for those
 * that differ. `names` gives those of a leaf. */
bool joist_r_fits_names(SEXP pointer, SEXP (*names)(uint32_t leaf, const void *context),
                        const void *context);

/* .Call: a traced or abstract tensor with the names of another object. */
SEXP joist_r_named_like(SEXP x, SEXP like);
/* .Call: `x`; an error if a traced condition decides its names. */
SEXP joist_r_decided(SEXP x);
/* .Call: whether a traced condition decides the names of `x`. */
SEXP joist_r_are_undecided(SEXP x);
/* .Call: an abstract or traced tensor with names that a traced condition decides; `condition` is
 * the error of code that reads them. */
SEXP joist_r_with_undecided(SEXP x, SEXP condition);

#endif
