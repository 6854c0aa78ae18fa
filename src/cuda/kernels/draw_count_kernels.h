/* Starting the kernels that draw integers and binomial numbers. */
#ifndef JOIST_CUDA_KERNELS_DRAW_COUNT_KERNELS_H
#define JOIST_CUDA_KERNELS_DRAW_COUNT_KERNELS_H

#include "cuda/kernels/draws.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As joist_cuda_start_draw() and joist_cuda_start_draw_check(). */
int joist_cuda_start_count(const struct joist_cuda_draw *draw, void *stream);
int joist_cuda_start_count_check(const struct joist_cuda_draw *draw, void *stream);

#ifdef __cplusplus
}
#endif

#endif
