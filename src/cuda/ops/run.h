/* Running a plan on a device. */
#ifndef JOIST_CUDA_OPS_RUN_H
#define JOIST_CUDA_OPS_RUN_H

#include "core/device.h"

/* As struct joist_device has it. */
joist_status joist_cuda_run(const struct joist_device *device, const struct joist_plan *plan,
                            const void *const *inputs, void *const *outputs,
                            const struct joist_run *run, struct joist_error *error);

#endif
