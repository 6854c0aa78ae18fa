/* Matrix products. */
#ifndef JOIST_CUDA_OPS_MATMUL_H
#define JOIST_CUDA_OPS_MATMUL_H

#include "cuda/ops/launch.h"

/* Whether one has a kernel, and running it. */
bool joist_cuda_multiplies(const struct running *r, const struct joist_instruction *i);
joist_status joist_cuda_multiply(const struct running *r, const struct joist_instruction *i,
                                 struct joist_error *error) JOIST_MUST_CHECK;

#endif
