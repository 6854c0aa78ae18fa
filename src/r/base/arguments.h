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
/* The length of a list of tensors, named `what`; raises joist_value_error. */
R_xlen_t joist_r_list_length(SEXP x, const char *what);
/* Raises joist_value_error unless `bytes` is a raw vector. */
void joist_r_check_raw(SEXP bytes);
/* A shape from an R vector of extents; raises joist_shape_error. */
void joist_r_shape(SEXP x, struct joist_shape *shape);
/* The shape {n} of a vector of n elements; raises joist_shape_error beyond 2^31 - 1. */
void joist_r_vector_shape(R_xlen_t n, struct joist_shape *shape);
/* The 0-based dim of `shape` that a 1-based number names; negative ones count from the
 * last. Raises joist_shape_error. */
int joist_r_dim(SEXP dim, const struct joist_shape *shape);
/* .Call: whether every element is a whole number that R's integers have. */
SEXP joist_r_is_whole(SEXP x);

#endif
