/* Running the operations that have bodies: loops and branches. */
#ifndef JOIST_CORE_CPU_CONTROL_FLOW_H
#define JOIST_CORE_CPU_CONTROL_FLOW_H

#include "core/base/run.h"
#include "core/cpu/native.h"

/* The group of one such operation; `run_group` is for the groups of the bodies. */
joist_status joist_control_flow_run(const struct joist_plan *plan, const struct joist_group *group,
                                    void *const *arrays, joist_group_runner *run_group,
                                    const struct joist_run *run,
                                    struct joist_error *error) JOIST_MUST_CHECK;

#endif
