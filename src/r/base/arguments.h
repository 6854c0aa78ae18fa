/* Arguments that are one R value: flags, numbers, strings, shapes, dimensions. What is none of
 * them raises joist_value_error or joist_shape_error. */
#ifndef JOIST_R_ARGUMENTS_H
#define JOIST_R_ARGUMENTS_H

#include <stdbool.h>

#include "core/types/shape.h"
#include "r/base/sexp.h"

/* TRUE or FALSE argument; raises joist_value_error naming `what`. */
bool joist_r_flag(SEXP x, const char *what);
/* The one R number in `x`, which has no class; NaN for anything else. */
double joist_r_number(SEXP x);
/* One string argument (CHAR); raises joist_value_error naming `what`. */
const char *joist_r_string(SEXP x, const char *what);
/* A shape from an R vector of extents; raises joist_shape_error. */
void joist_r_shape(SEXP x, struct joist_shape *shape);
/* The 0-based dim of `shape` that a 1-based number names; negative ones count from the
 * last. Raises joist_shape_error. */
int joist_r_dim(SEXP dim, const struct joist_shape *shape);

#endif
