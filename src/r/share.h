/* .Call entry points: sharing mapped tensors with other processes. */
#ifndef JOIST_R_SHARE_H
#define JOIST_R_SHARE_H

#include "r/sexp.h"

/* The tensor over a map of its own, which is sent to other processes by path. Raises
 * joist_value_error unless it is mapped. */
SEXP joist_r_share(SEXP x);
/* A character vector that tells the file and the place in it of a mapped tensor that nobody wrote
 * to; NULL for any other tensor. */
SEXP joist_r_mapped_place(SEXP x);

#endif
