/* R vectors, whatever their type. */
#ifndef JOIST_R_VECTOR_H
#define JOIST_R_VECTOR_H

#include <stddef.h>

#include "r/base/sexp.h"

/* The elements of an integer, double, complex or raw vector. */
void *joist_r_elements(SEXP vector);
/* Bytes of an element of such a vector; 0 for other types. */
size_t joist_r_element_size(SEXPTYPE type);

#endif
