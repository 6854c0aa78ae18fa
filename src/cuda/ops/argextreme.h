/* Positions of extremes. */
#ifndef JOIST_CUDA_OPS_ARGEXTREME_H
#define JOIST_CUDA_OPS_ARGEXTREME_H

#include "cuda/ops/launch.h"

/* Whether an operation that finds them has a kernel, and running it. */
bool joist_cuda_locates(const struct running *r, const struct joist_instruction *i);
joist_status joist_cuda_locate(const struct running *r, const struct joist_instruction *i,
                               struct joist_error *error) JOIST_MUST_CHECK;

#endif
