/* What is known of a device that is in use: its stream, its pool of memory, its buffers for
 * copies. Private to src/cuda. */
#ifndef JOIST_CUDA_HOST_CONTEXT_H
#define JOIST_CUDA_HOST_CONTEXT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "core/base/status.h"
#include "cuda/host/slabs.h"

enum {
  JOIST_CUDA_DEVICES = 16, /* most that are looked at */
  JOIST_CUDA_STAGING = 4 << 20,
  JOIST_CUDA_SMALL = 4 << 10,  /* copies in up to this size go through the ring */
  JOIST_CUDA_RING = 256 << 10, /* which has two halves, each with an event */
};

struct joist_cuda_state {
  bool open;
  int ordinal;
  int architecture;    /* 90 for compute capability 9.0 */
  cudaStream_t stream; /* all work of the device is in this order */
  cudaMemPool_t pool;  /* NULL where the driver has none: cudaMalloc then */
  void *context;       /* the driver's, NULL where it does not say */
  void *blas;          /* cuBLAS's handle, NULL until a product wants it */
  struct joist_cuda_slabs slabs;

  void *staging[2]; /* page-locked, JOIST_CUDA_STAGING bytes each */
  cudaEvent_t staged[2];
  void *ring; /* page-locked, too: small copies in need not wait for each other */
  int ring_half;
  size_t ring_at;             /* in this half */
  cudaEvent_t ring_passed[2]; /* the copies from a half that was left are done */
  uint64_t *failure;          /* two words of the device, and where they are read to */
  uint64_t *failure_found;    /* page-locked */
};

/* How many devices the driver shows; 0 when there is none, or it cannot be used. */
size_t joist_cuda_count(void);

/* The state of a device that can be used, which is then the current one of the runtime. */
joist_status joist_cuda_open(int ordinal, struct joist_cuda_state **state,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* The same of a device that was opened, without making it the current one: for what calls no
 * driver. NULL before that, and in a forked child. */
struct joist_cuda_state *joist_cuda_opened(int ordinal);

#endif
