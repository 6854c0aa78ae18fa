/* Permuting dims. */
#ifndef JOIST_CUDA_OPS_TRANSPOSE_H
#define JOIST_CUDA_OPS_TRANSPOSE_H

#include "cuda/ops/launch.h"

joist_status joist_cuda_permute(const struct running *r, const struct joist_instruction *i,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
