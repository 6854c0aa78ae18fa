/* Tensors whose elements are in a store (nv_chunked): operations on them are kept for later. */
#ifndef JOIST_R_DELAYED_H
#define JOIST_R_DELAYED_H

#include "core/program/ops.h"
#include "r/base/sexp.h"

bool joist_r_is_delayed(SEXP x);
/* What R makes of an operation on a list of operands of which one is such a tensor; of n operands
 * without attributes, as R's operators repeat them or not. */
SEXP joist_r_delay(joist_op op, SEXP operands, SEXP attributes);
SEXP joist_r_delay_plain(joist_op op, const SEXP *operands, size_t n, bool as_operator);

#endif
