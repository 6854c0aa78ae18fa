/* .Call entry points that make tensors of bytes, and bytes of tensors: raw vectors, `swapped` in
 * the other byte order than this machine's. */
#ifndef JOIST_R_BYTES_H
#define JOIST_R_BYTES_H

#include "r/sexp.h"

SEXP joist_r_from_bytes(SEXP bytes, SEXP dtype, SEXP shape, SEXP swapped);
SEXP joist_r_to_bytes(SEXP x, SEXP swapped);

#endif
