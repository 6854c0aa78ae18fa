/* Reductions after their first pass. */
#ifndef JOIST_CORE_CPU_REDUCE_H
#define JOIST_CORE_CPU_REDUCE_H

#include "core/base/run.h"
#include "core/plan/groups.h"

/* From what the first pass left, (inner, strips, outer) values of the accumulator's dtype, to
 * the result. `accumulated` is overwritten. */
joist_status joist_reduction_finish(const struct joist_program *program,
                                    const struct joist_instruction *instruction, char *accumulated,
                                    void *out, const struct joist_run *run,
                                    struct joist_error *error) JOIST_MUST_CHECK;

#endif
