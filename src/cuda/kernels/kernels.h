/* The kernels that are compiled with the package, and how the host starts one. */
#ifndef JOIST_CUDA_KERNELS_KERNELS_H
#define JOIST_CUDA_KERNELS_KERNELS_H

#include "cuda/kernels/device_code.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  JOIST_CUDA_INTERPRET,    /* struct joist_cuda_group */
  JOIST_CUDA_REDUCE,       /* struct joist_cuda_pass */
  JOIST_CUDA_FINISH,       /* struct joist_cuda_finish */
  JOIST_CUDA_TAKE,         /* struct joist_cuda_move */
  JOIST_CUDA_OWN,          /* struct joist_cuda_move: fills owner */
  JOIST_CUDA_PUT,          /* struct joist_cuda_move: writes what owner says */
  JOIST_CUDA_CHECK,        /* struct joist_cuda_check */
  JOIST_CUDA_WALK,         /* struct joist_cuda_walk */
  JOIST_CUDA_GATHER_ALONG, /* struct joist_cuda_gather */
  JOIST_CUDA_IOTA,         /* struct joist_cuda_iota */
  JOIST_CUDA_KERNELS
} joist_cuda_kernel;

/* Starts about as many threads as are given (kernels loop) on a cudaStream_t; gives a
 * cudaError_t. */
int joist_cuda_start(joist_cuda_kernel kernel, uint64_t threads, const void *parameter,
                     void *stream);

/* Whether the kernels have code for the current device; gives a cudaError_t. */
int joist_cuda_find_code(void);

#ifdef __cplusplus
}
#endif

#endif
