/* What the host hands to the kernels of matrix products, and how it starts one. */
#ifndef JOIST_CUDA_KERNELS_MATMUL_KERNELS_H
#define JOIST_CUDA_KERNELS_MATMUL_KERNELS_H

#include "cuda/kernels/device_code.h"

/* `count` products of m x k by k x n matrices. Line i (row of lhs, column of rhs) and term p
 * of an operand is at i * across + p * along, one of which is 1. Element (i, j, ...) of a
 * batch of these extents is made of the matrices at the sums of its strides, in matrices. */
struct joist_cuda_matmul {
  uint64_t m, n, k, count;
  const void *lhs, *rhs;
  void *out;
  uint64_t lhs_across, lhs_along, rhs_across, rhs_along;
  uint32_t lhs_transposed, rhs_transposed; /* as the strides say; for cuBLAS */
  uint32_t rank;
  uint64_t extent[JOIST_CUDA_WALK_RANK];
  uint64_t lhs_stride[JOIST_CUDA_WALK_RANK], rhs_stride[JOIST_CUDA_WALK_RANK];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Starts the kernel of a dtype on a cudaStream_t; gives a cudaError_t. */
int joist_cuda_start_matmul(uint32_t dtype, const struct joist_cuda_matmul *matmul, void *stream);

#ifdef __cplusplus
}
#endif

#endif
