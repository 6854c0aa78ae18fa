/* Inputs of one element that are in the process's memory. */
#ifndef JOIST_CUDA_OPS_INLINE_SCALARS_H
#define JOIST_CUDA_OPS_INLINE_SCALARS_H

#include "cuda/ops/launch.h"

/* Says which values are given in parameters of kernels, and places the others in memory that
 * `owned` is to free. */
joist_status joist_cuda_place_given(const struct running *r, void **arrays, bool *given,
                                    void **owned, struct joist_error *error) JOIST_MUST_CHECK;

#endif
