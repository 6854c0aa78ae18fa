/* cuda_runtime.h for tests without a GPU: the words of CUDA C++ that src/cuda uses. */
#ifndef JOIST_TESTS_CUDA_RUNTIME_H
#define JOIST_TESTS_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"

/* A kernel is a function of a reference to its parameter, which can be called through a
 * pointer that does not know the parameter's type. */
#define __global__
#define __grid_constant__ &

#define __shared__
#define __launch_bounds__(...)

extern thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

/* Waits for the other threads of the block; only launches with shared memory have it. */
void __syncthreads(void);

static inline void atomicOr(unsigned long long *at, unsigned long long bits) { *at |= bits; }
static inline void atomicMin(unsigned long long *at, unsigned long long value) {
  if (value < *at) *at = value;
}
static inline void atomicMax(unsigned *at, unsigned value) {
  if (value > *at) *at = value;
}

#endif
