/* What the host hands to the kernels of quantized blocks, and how it starts one. */
#ifndef JOIST_CUDA_KERNELS_PACKED_KERNELS_H
#define JOIST_CUDA_KERNELS_PACKED_KERNELS_H

#include <stdbool.h>

#include "cuda/kernels/device_code.h"

/* Rows of blocks: their values, or their products with columns of `depth` elements. */
struct joist_cuda_packed {
  const uint8_t *packed;
  const float *x; /* NULL for values */
  float *out;
  uint64_t rows, row_bytes, depth, columns;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Whether there is a kernel for a joist_block. */
bool joist_cuda_has_packed(int block);

/* Starts the kernel for a joist_block on a cudaStream_t; gives a cudaError_t. */
int joist_cuda_start_packed(int block, const struct joist_cuda_packed *packed, void *stream);

#ifdef __cplusplus
}
#endif

#endif
