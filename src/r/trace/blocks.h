/* Programs over the blocks of chunked tensors: what R's code knows of operations and their blocks,
 * and the program of a block as part of a trace. */
#ifndef JOIST_R_BLOCKS_H
#define JOIST_R_BLOCKS_H

#include "r/base/sexp.h"

/* .Call entry points.
 *
 * How an operation makes blocks, of operands of these `shapes`, a list, with these `chunks`, a list
 * with NULL for one in memory, and a result of the shape `result`: a list of the `role` (see
 * ops.def), the `chunks` of the result, whether blocks of it are combined from `parts`, `dims` and
 * `drop` of a reduction, and how many `terms` the sums of a product have, and those of a part
 * (`step`). Raises joist_value_error where it needs all elements. */
SEXP joist_r_blocks(SEXP op, SEXP shapes, SEXP chunks, SEXP attributes, SEXP result);
/* A plan for a space of `rank` dims, an external pointer that keeps the trace. `outputs` are traced
 * tensors of one trace, `maps` which dims of the space theirs follow, 0 for a whole one. The result
 * is a list of the plan, the numbers of the arguments that it reads, and their maps. */
SEXP joist_r_block_plan(SEXP outputs, SEXP maps, SEXP rank);
/* The outputs of a block of these extents, as traced tensors. `leaves` are what the plan reads:
 * traced tensors of the trace that the block becomes part of. If `reversed`, all have their dims in
 * reverse order. */
SEXP joist_r_block_append(SEXP plan, SEXP extents, SEXP reversed, SEXP leaves);

#endif
