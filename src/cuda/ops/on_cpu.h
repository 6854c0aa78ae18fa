/* What has no kernel, on copies, by the CPU's engine: right, if slow. */
#ifndef JOIST_CUDA_OPS_ON_CPU_H
#define JOIST_CUDA_OPS_ON_CPU_H

#include "cuda/ops/launch.h"

/* Runs the group that is being run. */
joist_status joist_cuda_run_on_cpu(const struct running *r,
                                   struct joist_error *error) JOIST_MUST_CHECK;

#endif
