/* Starting the kernels that draw random numbers. */
#ifndef JOIST_CUDA_KERNELS_DRAW_KERNELS_H
#define JOIST_CUDA_KERNELS_DRAW_KERNELS_H

#include "cuda/kernels/draws.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All give a cudaError_t; there is one element at least. */
int joist_cuda_start_draw(const struct joist_cuda_draw *draw, void *stream);
int joist_cuda_start_draw_check(const struct joist_cuda_draw *draw, void *stream);

#ifdef __cplusplus
}
#endif

#endif
