/* What the host hands to the kernels of transposes, and how it starts one. */
#ifndef JOIST_CUDA_KERNELS_TRANSPOSE_KERNELS_H
#define JOIST_CUDA_KERNELS_TRANSPOSE_KERNELS_H

#include "cuda/kernels/device_code.h"

/* `rows` x `columns` elements of each plane of a batch with these extents. Rows are neighbours
 * in `in`, where columns are in_stride apart; columns are neighbours in `out`, where rows are
 * out_stride apart. Strides count elements. A plane is made in tiles, down x across of them. */
struct joist_cuda_transpose {
  uint64_t rows, columns, in_stride, out_stride;
  const void *in;
  void *out;
  uint32_t down, across, tiles; /* tiles: of all planes */
  uint32_t in_whole, out_whole; /* words of four bytes are aligned, where elements are smaller */
  uint32_t rank;
  uint32_t extent[JOIST_CUDA_WALK_RANK];
  uint64_t in_batch[JOIST_CUDA_WALK_RANK], out_batch[JOIST_CUDA_WALK_RANK];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Rows and columns of a tile of elements of `size` bytes. */
uint32_t joist_cuda_transpose_side(uint32_t size);

/* Starts the kernel for elements of `size` bytes on a cudaStream_t; gives a cudaError_t. */
int joist_cuda_start_transpose(uint32_t size, const struct joist_cuda_transpose *transpose,
                               void *stream);

#ifdef __cplusplus
}
#endif

#endif
