/* .Call entry points of npy files. */
#ifndef JOIST_R_NPY_H
#define JOIST_R_NPY_H

#include "r/base/sexp.h"

/* A tensor of the file at `path` or, where that is NULL, of `bytes`. */
SEXP joist_r_read_npy(SEXP path, SEXP bytes, SEXP dtype, SEXP raw, SEXP reversed, SEXP map);
/* The bytes of a file that begins with the bytes of `head`: those of its header where `head` has
 * less than that, otherwise all; more may follow. */
SEXP joist_r_npy_size(SEXP head, SEXP dtype);
/* Writes a file, or gives its bytes where `path` is NULL. */
SEXP joist_r_write_npy(SEXP x, SEXP path, SEXP c_order, SEXP swapped);

#endif
