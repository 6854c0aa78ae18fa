/* Comparing R objects that may be, or hold, tensors without elements. */
#ifndef JOIST_R_SAME_H
#define JOIST_R_SAME_H

#include <stdbool.h>

#include "r/base/sexp.h"

/* Whether two R objects are the same as far as is known: what identical() says, but traced tensors
 * are the same if they stand for the same value, and abstract ones if they have the same type and
 * shape. Also a .Call entry point. */
bool joist_r_same(SEXP x, SEXP y);
SEXP joist_r_are_same(SEXP x, SEXP y);

#endif
