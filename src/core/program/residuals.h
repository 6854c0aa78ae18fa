/* Which values of an iteration a derivative keeps, so that it need not compute them again. */
#ifndef JOIST_CORE_PROGRAM_RESIDUALS_H
#define JOIST_CORE_PROGRAM_RESIDUALS_H

#include "core/program/program.h"

/* A body that computes an iteration by its first `forward` instructions, and derivatives by the
 * others. The inputs that are `states` take memory if they are kept; the other inputs are there
 * anyway. */
struct joist_residual_body {
  const struct joist_program *program;
  uint32_t forward;
  const joist_value_id *states;
  uint32_t state_count;
  size_t few, limit; /* bytes of an iteration: see below */
};

/* Sets `kept`, for each value of the program: of the iteration, as few bytes as possible from which
 * the derivatives can be computed without an expensive operation. Exponentials and logarithms count
 * as cheap if these are more than `few` and fewer bytes are enough then. If it still exceeds the
 * limit, other kinds of operations or all of them do; the states alone are always enough. */
joist_status joist_residuals_choose(const struct joist_residual_body *body, bool *kept,
                                    struct joist_error *error) JOIST_MUST_CHECK;

#endif
