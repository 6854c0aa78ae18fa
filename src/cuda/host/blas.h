/* cuBLAS, where it can be loaded: products of floats and complex numbers. */
#ifndef JOIST_CUDA_HOST_BLAS_H
#define JOIST_CUDA_HOST_BLAS_H

#include "core/types/dtypes.h"
#include "cuda/host/context.h"
#include "cuda/kernels/matmul_kernels.h"

/* Whether it is there and multiplies these. */
bool joist_cuda_blas_fits(const struct joist_cuda_state *state, joist_dtype dtype,
                          const struct joist_cuda_matmul *matmul);

joist_status joist_cuda_blas_multiply(struct joist_cuda_state *state, joist_dtype dtype,
                                      const struct joist_cuda_matmul *matmul,
                                      struct joist_error *error) JOIST_MUST_CHECK;

/* Whether products may go to cuBLAS (at first they may); for tests of joist's own kernel. */
void joist_cuda_blas_use(bool use);

#endif
