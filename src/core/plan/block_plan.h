/* Planning a program block by block: which part of each value a block of its outputs needs, and the
 * program that computes one block.
 *
 * Blocks are boxes of a space; maps say which of its dims each dim of a value follows. A value that
 * is needed in two ways, such as x in x %*% t(x), is computed in both. */
#ifndef JOIST_CORE_PLAN_BLOCK_PLAN_H
#define JOIST_CORE_PLAN_BLOCK_PLAN_H

#include "core/program/program.h"

struct joist_block_plan;

/* What blocks of the outputs of a program are computed in. */
struct joist_block_space {
  int rank; /* 0: the outputs are computed as a whole, by any operations */
  /* For each output: whether it is combined from parts, which a block of the space gives. The space
   * then has the dims of the operand or, for a product, those of the result and the terms of its
   * sums. The dims of other outputs are the first ones of the space. */
  const bool *parts;
  uint8_t watched; /* joist_watch, or'ed: what is done where values do not fit */
};

/* The plan refers to `program`, which must outlive it. JOIST_ERROR_VALUE if an operation needs all
 * elements of its operands. Free with joist_block_plan_free. */
joist_status joist_block_plan_make(const struct joist_program *program,
                                   const struct joist_block_space *space,
                                   struct joist_block_plan **made,
                                   struct joist_error *error) JOIST_MUST_CHECK;
void joist_block_plan_free(struct joist_block_plan *plan);

/* What it reads: inputs of the program, each as often as blocks need different parts of it. */
uint32_t joist_block_plan_reads(const struct joist_block_plan *plan);
/* The value that is read by number `k`, and its map, which belongs to the plan. */
joist_value_id joist_block_plan_read(const struct joist_block_plan *plan, uint32_t k,
                                     const int8_t **map);

/* Appends the instructions of a block of these extents to a program in which its reads are the
 * values `reads`. `outputs` become the values of the plan's outputs, or of their parts, which
 * keep all dims and are of the dtype that they are combined in. If `reversed`, the extents, the
 * reads and the outputs have their dims in reverse order, as elements in C order have them. */
joist_status joist_block_plan_append(const struct joist_block_plan *plan, const uint32_t *extents,
                                     bool reversed, const joist_value_id *reads,
                                     struct joist_program *program, joist_value_id *outputs,
                                     struct joist_error *error) JOIST_MUST_CHECK;

#endif
