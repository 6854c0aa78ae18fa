/* .Call entry points: sharing mapped tensors with other processes. */
#ifndef JOIST_R_SHARE_H
#define JOIST_R_SHARE_H

#include "r/base/sexp.h"

/* The tensor with its own map of the file, which is sent to other processes by path. Raises
 * joist_value_error unless it is mapped. */
SEXP joist_r_share(SEXP x);
/* A character vector with the file of a mapped tensor and the place in it; NULL for any other
 * tensor, and for one that has been written to. */
SEXP joist_r_mapped_place(SEXP x);

#endif
