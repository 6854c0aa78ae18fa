/* Running the steps of an elementwise group tile by tile. */
#ifndef JOIST_CORE_CPU_ELEMENTWISE_H
#define JOIST_CORE_CPU_ELEMENTWISE_H

#include "core/base/run.h"
#include "core/cpu/exact.h"
#include "core/plan/groups.h"

/* Runs the steps of an elementwise group over its index space. `accumulated` has, per sink,
 * room for one value of the accumulator's dtype per inner x strip x outer; NULL without sinks.
 * `may_exceed`, unless NULL, becomes true if sums that are watched may not fit. */
joist_status joist_tiles_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, char *const *accumulated, bool *may_exceed,
                             const struct joist_run *run,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* Runs them again to fold exactly: `sums` has those of each sink, as many as joist_tiles_run()
 * accumulates values, NULL for sinks that are left out. False if the group writes over what it
 * reads. */
bool joist_tiles_can_repeat(const struct joist_plan *plan, const struct joist_group *group,
                            void *const *arrays);
joist_status joist_tiles_sum(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_halves *sums,
                             const struct joist_run *run,
                             struct joist_error *error) JOIST_MUST_CHECK;

#endif
