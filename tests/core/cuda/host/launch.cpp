/* Launches without a GPU: all threads of all blocks, one after the other. */
#include "cuda_runtime.h"

thread_local dim3 threadIdx(0), blockIdx(0), blockDim(1), gridDim(1);

extern "C" cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t, cudaStream_t) {
  if (grid.x == 0 || block.x == 0) return cudaErrorInvalidValue; /* as a launch of nothing is */
  void (*const run)(const void *) = (void (*)(const void *))kernel;
  const cudaError_t result = host_runtime.next;
  host_runtime.next = cudaSuccess;
  if (result != cudaSuccess) return result;
  host_runtime.launches++;
  blockDim = block;
  gridDim = grid;
  for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++) run(arguments[0]);
  return cudaSuccess;
}
