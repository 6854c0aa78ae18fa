/* Batches: a program that computes for many slices at once what another one computes for each.
 *
 * A value that differs between slices gets a last dim along which they lie; what does not depend on
 * them stays as it is. Each operation has a rule for that in ops.def. A loop whose condition
 * differs runs until it holds for no slice, and keeps the state of those for which it does not
 * hold; a branch whose condition differs becomes both branches, of whose results each slice takes
 * one. */
#ifndef JOIST_CORE_PROGRAM_BATCH_H
#define JOIST_CORE_PROGRAM_BATCH_H

#include "core/program/program.h"

struct joist_batch {
  uint32_t extent; /* how many slices */
  /* The marks of aliases, and those that take their places. */
  const int64_t *marks, *new_marks;
  size_t mark_count;
};

/* Appends to `program` what `from`, which is no part of it, computes for each slice. `inputs` are
 * values of `program`, which have a dim of slices where `varies` says so. `outputs` become those
 * for the outputs of `from`: with a dim of slices where `outputs_vary`, if it is given, says so,
 * which must be wherever they differ. */
joist_status joist_program_batch(struct joist_program *program, const struct joist_program *from,
                                 const struct joist_batch *batch, const joist_value_id *inputs,
                                 const bool *varies, joist_value_id *outputs,
                                 const bool *outputs_vary,
                                 struct joist_error *error) JOIST_MUST_CHECK;

#endif
