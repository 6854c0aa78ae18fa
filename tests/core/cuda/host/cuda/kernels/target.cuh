/* Instead of src/cuda/target.cuh: the same functions for the CPU. */
#ifndef JOIST_CUDA_TARGET_CUH
#define JOIST_CUDA_TARGET_CUH

#include "cuda_runtime.h"

#define JOIST_DEVICE
#define JOIST_OUTLINE __attribute__((noinline, unused))
#define JOIST_UNROLL
#define JOIST_ROLLED

#endif
