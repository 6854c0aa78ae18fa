/* .Call entry points of the bodies of loops and branches: traces within a trace. */
#ifndef JOIST_R_REGIONS_H
#define JOIST_R_REGIONS_H

#include "r/base/sexp.h"

/* The trace of a body, within another, and the tensors that it is given: like those of a list, of
 * any kind. */
SEXP joist_r_region_begin(SEXP parent, SEXP like);
/* Ends the trace of a body that gives a list of tensors. */
SEXP joist_r_region_end(SEXP body, SEXP outputs);
/* Adds an operation with bodies to a trace: on a list of tensors, to which what the bodies capture
 * is added. Gives a list of its results. */
SEXP joist_r_region_apply(SEXP trace, SEXP name, SEXP operands, SEXP bodies, SEXP attributes);
/* The instructions of a body once more, in the trace of another, which it captures nothing of: with
 * a list of tensors for its inputs. `number` is that of the instruction in `trace`. Gives a list of
 * what the body gives. */
SEXP joist_r_region_inline(SEXP trace, SEXP number, SEXP region, SEXP into, SEXP inputs);

/* The instructions of a body in its trace, on slices of the operands for which `varies` holds: they
 * lie along the last dim, `extent` of them. The marks in it become new ones. Gives a list of what
 * the body gives, and of whether each has slices. */
SEXP joist_r_region_batch(SEXP trace, SEXP body, SEXP operands, SEXP varies, SEXP extent,
                          SEXP marks, SEXP new_marks);
/* The marks in a body: a list with a vector for each, the mark and the ranks of its operands. */
SEXP joist_r_region_marks(SEXP body);

#endif
