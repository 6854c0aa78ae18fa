/* The CPU engine: runs a plan, group by group, each tile by tile or by the operation's own
 * function. */
#ifndef JOIST_CORE_CPU_ENGINE_H
#define JOIST_CORE_CPU_ENGINE_H

#include "core/base/run.h"
#include "core/plan/groups.h"

/* Runs the plan; the first run binds its steps. `inputs` and `outputs` are payloads in the
 * program's order, aligned for their dtype. Outputs overlap nothing, with one exception: the result
 * of a single elementwise instruction may be written over an operand of its dtype and shape. Fails
 * with JOIST_ERROR_VALUE (integer division by zero and the like; the error has the position),
 * JOIST_ERROR_MEMORY or JOIST_INTERRUPTED; outputs are then undefined. */
joist_status joist_plan_run(const struct joist_plan *plan, const void *const *inputs,
                            void *const *outputs, const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

/* Runs one group on arrays in memory, one per value that has one. */
joist_status joist_group_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_run *run,
                             struct joist_error *error) JOIST_MUST_CHECK;

#endif
