/* What the kernels of random numbers share: parameters, the stream of bits, launches. */
#ifndef JOIST_CUDA_DRAWS_CUH
#define JOIST_CUDA_DRAWS_CUH

#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

#define JOIST_INLINE JOIST_DEVICE static inline
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "core/kernels/philox.h"
#include "core/kernels/random_element.h"
#include "cuda/kernels/draws.h"
#include "cuda/kernels/loops.cuh"

/* ---- parameters ---- */

JOIST_DEVICE static inline bool is_single(const joist_cuda_parameter &parameter) {
  return parameter.elements == nullptr;
}
JOIST_DEVICE static inline bool are_single(const joist_cuda_draw &draw) {
  return is_single(draw.lhs) && is_single(draw.rhs);
}

template <class T>
JOIST_DEVICE static inline T parameter_at(const joist_cuda_parameter &parameter, uint64_t at) {
  return is_single(parameter) ? *(const T *)parameter.one : ((const T *)parameter.elements)[at];
}

/* Those of E elements, of which the first n <= E are there. */
template <class T, int E>
JOIST_DEVICE static inline void load_parameter(const joist_cuda_parameter &parameter,
                                               uint64_t first, uint32_t n, joist_pack<T, E> &out) {
  if (!is_single(parameter) && n == (uint32_t)E) {
    load_whole(parameter.elements, first, out);
    return;
  }
  JOIST_UNROLL for (int k = 0; k < E; k++) {
    out.x[k] = parameter_at<T>(parameter, first + ((uint32_t)k < n ? (uint32_t)k : n - 1));
  }
}

/* ---- the stream, and what is made of it ---- */

JOIST_DEVICE static inline joist_stream dense_stream(const joist_cuda_draw &draw) {
  const joist_stream stream = {{draw.key[0], draw.key[1]}, 0, JOIST_STREAM_DENSE};
  return stream;
}

/* The first element whose parameters do not fit counts. */
JOIST_DEVICE static inline void report_draw(const joist_cuda_draw &draw, uint64_t at) {
  atomicMin((unsigned long long *)draw.failure, (unsigned long long)at);
}

/* The first n <= E elements. */
template <class T, int E>
JOIST_DEVICE static inline void store_drawn(const joist_cuda_draw &draw, uint64_t first, uint32_t n,
                                            const joist_pack<T, E> &out) {
  if (n == (uint32_t)E)
    store_whole(draw.out, first, out);
  else
    store_row(draw.out, first, 1, n, out);
}

/* ---- starting a kernel ---- */

static inline int launch_draw(const void *kernel, const joist_cuda_draw *draw, uint64_t threads,
                              void *stream) {
  const uint64_t blocks = (threads + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK;
  const unsigned grid = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  void *arguments[] = {const_cast<joist_cuda_draw *>(draw)};
  return (int)cudaLaunchKernel(kernel, dim3(grid), dim3(JOIST_CUDA_BLOCK), arguments, 0,
                               (cudaStream_t)stream);
}

#endif
