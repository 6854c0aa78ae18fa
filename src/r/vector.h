/* R vectors, whatever their type. */
#ifndef JOIST_R_VECTOR_H
#define JOIST_R_VECTOR_H

#include "r/sexp.h"

/* The elements of an integer, double, complex or raw vector. */
void *joist_r_elements(SEXP vector);

#endif
