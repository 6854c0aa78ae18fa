/* Loops and branches for many slices at once. Private to batch*.c. */
#ifndef JOIST_CORE_PROGRAM_BATCH_LOOPS_H
#define JOIST_CORE_PROGRAM_BATCH_LOOPS_H

#include "core/program/batch_builder.h"

/* An operation with bodies, whose results get values. */
void joist_batch_bodies(struct batching *b, const struct joist_instruction *i);

/* A loop over slices that runs an instruction for each; gives its first result. */
joist_value_id joist_batch_apart(struct batching *b, const struct joist_instruction *i);

#endif
