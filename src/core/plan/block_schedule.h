/* The order in which a program over chunked arrays runs: stages, each of which gives values as a
 * whole, until the output is left.
 *
 * A value that is combined from parts of its blocks, such as a sum, has to be there before what
 * reads it: it is computed first, and is in memory from then on, as is what follows from such
 * values alone. A round has the stages that can run by then. */
#ifndef JOIST_CORE_PLAN_BLOCK_SCHEDULE_H
#define JOIST_CORE_PLAN_BLOCK_SCHEDULE_H

#include "core/program/blocks.h"
#include "core/program/program.h"

/* An input of the program. */
struct joist_block_source {
  const uint32_t *chunks; /* the extents of its blocks; NULL if it is in memory */
  /* If it is combined from the parts of another value by other means than an operation: that value,
   * and the dims that are folded; otherwise JOIST_NO_INPUT. */
  joist_value_id of;
  uint32_t folded;
  bool drop;
};

struct joist_block_program {
  const struct joist_program *program; /* its output is the first one */
  const struct joist_block_source *sources;
  const uint32_t *chunks; /* of the output */
  const bool *known;      /* for each value: whether a stage gave it */
};

struct joist_block_stage {
  joist_block_role role; /* EACH: blocks of the output; NONE: all in memory */
  joist_value_id first;  /* of the values that it gives, which are linked by `next` */
  int rank;              /* of the space of its blocks */
  uint32_t inner;        /* bit d: along dim d, blocks are parts of a value */
  uint32_t extents[JOIST_RANK_MAX], chunks[JOIST_RANK_MAX];
};

struct joist_block_round {
  bool last; /* the output is among the values of its stages, of which there is one */
  uint32_t count;
  struct joist_block_stage *stages;
  joist_value_id *next; /* JOIST_NO_INPUT ends a list */
};

/* The stages that can run. Free with joist_block_round_free. JOIST_ERROR_VALUE if an operation
 * needs all elements of its operands. */
joist_status joist_block_round_make(const struct joist_block_program *run,
                                    struct joist_block_round *round,
                                    struct joist_error *error) JOIST_MUST_CHECK;
void joist_block_round_free(struct joist_block_round *round);

/* Appends to an empty program what gives the values of a stage. Its inputs are sources, and values
 * that stages before gave: their numbers are written to `inputs`, which has room for all values. */
joist_status joist_block_stage_program(const struct joist_block_program *run,
                                       const struct joist_block_round *round,
                                       const struct joist_block_stage *stage,
                                       struct joist_program *program, joist_value_id *inputs,
                                       struct joist_error *error) JOIST_MUST_CHECK;

#endif
