/* Running what the core computes from R. */
#ifndef JOIST_R_RUN_H
#define JOIST_R_RUN_H

#include "core/base/run.h"
#include "core/device.h"

/* Threads and interrupt polling for a run of the engine. */
struct joist_run joist_r_run(void);

/* Runs a plan; R's collector runs when memory is out, and then it is tried again. `here` is that of
 * struct joist_run. */
joist_status joist_r_run_plan(const struct joist_device *device, const struct joist_plan *plan,
                              const void *const *inputs, const bool *here, void *const *outputs,
                              bool in_place, struct joist_error *error) JOIST_MUST_CHECK;

#endif
