/* .Call entry points of packed tensors. */
#ifndef JOIST_R_PACKED_H
#define JOIST_R_PACKED_H

#include "r/base/sexp.h"

/* An f32 tensor packed along its first dim as a type of blocks; NULL for other operands. */
SEXP joist_r_pack_blocks(SEXP x, SEXP type);
/* The product of a packed matrix with a packed one of integers along its blocks, as `lhs` and `rhs`
 * are or transposed; NULL for other operands. */
SEXP joist_r_packed_product(SEXP lhs, SEXP rhs, SEXP lhs_transposed, SEXP rhs_transposed);

#endif
