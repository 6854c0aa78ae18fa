/* What the host hands to the kernels that find extremes, and how it starts one. */
#ifndef JOIST_CUDA_KERNELS_ARGEXTREME_KERNELS_H
#define JOIST_CUDA_KERNELS_ARGEXTREME_KERNELS_H

#include "cuda/kernels/device_code.h"

/* Elements (inner, middle, outer), of which every line along the middle dim has one result. A line
 * is cut into segments; the threads of a block are X x Y x Z: places of inner, rows of a segment,
 * places of outer. Elements are compared by keys, numbers whose largest is the extreme. */
struct joist_cuda_positions {
  uint64_t inner, middle, outer, segments, rows; /* of a segment */
  const void *in;
  const uint32_t *found; /* where each key of `in` was found; NULL when these are elements */
  /* Of one segment: positions. Of several: candidates, a key and where it was found, from 0 on. */
  int32_t *out;
  void *out_keys;
  uint32_t *out_found;
  /* The key of an element from its bits: the sign bit, infinity (0 for integers), and what turns
   * the order around. */
  uint64_t sign, infinity, turn;
  uint32_t size; /* bytes of an element or of a key */
  uint32_t x, y, z;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Gives a cudaError_t. */
int joist_cuda_start_positions(const struct joist_cuda_positions *positions, void *stream);

#ifdef __cplusplus
}
#endif

#endif
