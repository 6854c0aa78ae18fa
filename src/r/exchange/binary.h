/* .Call entry points that make tensors of bytes, and bytes of tensors: raw vectors, `swapped` in
 * the other byte order than this machine's. */
#ifndef JOIST_R_BINARY_H
#define JOIST_R_BINARY_H

#include "r/base/sexp.h"

SEXP joist_r_from_bytes(SEXP bytes, SEXP dtype, SEXP shape, SEXP swapped);
/* NULL where `path` leads to a device or a pipe, which R reads as a connection. */
SEXP joist_r_read_bin(SEXP path, SEXP dtype, SEXP shape, SEXP swapped, SEXP map);
SEXP joist_r_to_bytes(SEXP x, SEXP swapped);
SEXP joist_r_write_bin(SEXP x, SEXP path, SEXP swapped);

#endif
