/* .Call entry points of the derivatives of loops: what is kept of an iteration, and the parts of a
 * body as bodies of their own. */
#ifndef JOIST_R_RESIDUALS_H
#define JOIST_R_RESIDUALS_H

#include "r/base/sexp.h"

/* The values that the last instructions of a body, which has ended, need of those that its first
 * `forward` instructions compute. `states`, `slices` and `outputs` are lists of its tensors: the
 * inputs that are states, the other inputs of an iteration, and its results besides states. Returns
 * a list: the tensors that a loop of `turns` iterations keeps; which slices are needed besides. */
SEXP joist_r_body_keep(SEXP body, SEXP forward, SEXP states, SEXP slices, SEXP outputs, SEXP turns);
/* Adds the instructions of a body, which has ended, to the trace of another that is under way:
 * those that the list of its tensors `outputs` needs, or what it gives if that is NULL. The list
 * `tensors` stands for its tensors `known`. Returns a list of the outputs. */
SEXP joist_r_body_copy(SEXP body, SEXP into, SEXP known, SEXP tensors, SEXP outputs);

#endif
