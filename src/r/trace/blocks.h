/* Programs of chunked tensors in stages (see core/plan/block_schedule.h), and the program of a
 * block of a stage as part of a trace. */
#ifndef JOIST_R_BLOCKS_H
#define JOIST_R_BLOCKS_H

#include "r/base/sexp.h"

/* .Call entry points.
 *
 * The stages that can run when the values with the numbers `known` are there: a list of `last`,
 * whether the tensor is among what they give, and `stages`, each a list of
 *   role      how its values come from blocks: "each" for blocks of the tensor, "fold", "counts" or
 *             "product" for parts, "none" for what is computed in memory
 *   values    the numbers of the values that it gives, from 1 on, and their `types`
 *   program   as text, whose outputs are these values, or what they are combined from
 *   inputs    of the program: leaves, and numbers of values
 *   lasts     of each value that is combined: its leaf, or its `op`, and whether to `drop` dims
 *   parts     for each output, whether blocks give the parts of its operation
 *   extents, chunks, inner, outer   the space of its blocks, and the dims of each sort */
SEXP joist_r_block_round(SEXP x, SEXP known);
/* A plan for the program of a stage, whose space has `rank` dims, an external pointer; the numbers
 * of the inputs that it reads; and which dim of the space each dim of them follows, 0 for a whole
 * one. */
SEXP joist_r_block_plan(SEXP program, SEXP parts, SEXP rank);
/* The outputs of a block of these extents, as traced tensors. `reads` are what the plan reads:
 * traced tensors of the trace that the block becomes part of, and constants. If `reversed`, all
 * have their dims in reverse order. */
SEXP joist_r_block_append(SEXP plan, SEXP extents, SEXP reversed, SEXP reads);

#endif
