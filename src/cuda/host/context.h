/* What is known of a device that is in use: its stream, its pool of memory, its buffers for
 * copies. Private to src/cuda. */
#ifndef JOIST_CUDA_HOST_CONTEXT_H
#define JOIST_CUDA_HOST_CONTEXT_H

#include <cuda_runtime_api.h>

#include "cuda/cuda.h"
#include "cuda/host/slabs.h"

enum {
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
  uint64_t *failure;          /* of the device, and where it is read to */
  uint64_t *failure_found;    /* page-locked */
};

/* The state of a device that can be used, which is then the current one of the runtime. */
joist_status joist_cuda_open(int ordinal, struct joist_cuda_state **state,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* The same of a device that was opened, without making it the current one: for what calls no
 * driver. NULL before that, and in a forked child. */
struct joist_cuda_state *joist_cuda_opened(int ordinal);

/* JOIST_OK, or what `result` means for somebody who was doing `what`. */
joist_status joist_cuda_check(cudaError_t result, const char *what, struct joist_error *error);

/* loader.c: the handle of the driver's library, NULL if it cannot be loaded. */
void *joist_cuda_driver(void);
/* The context that the driver has current in this thread, NULL when it does not say. */
void *joist_cuda_context(void);

/* memory.c: new memory of an open device, the current one of the runtime. */
cudaError_t joist_cuda_reserve(struct joist_cuda_state *state, size_t bytes, void **memory);
/* The vtable's functions of memory. */
void *joist_cuda_allocate(const struct joist_device *device, size_t bytes);
void joist_cuda_free(const struct joist_device *device, void *memory);
joist_status joist_cuda_copy(const struct joist_device *device, void *to, const void *from,
                             size_t bytes, joist_copy direction, struct joist_error *error);
struct joist_device_figures joist_cuda_figures(const struct joist_device *device);
size_t joist_cuda_trim(const struct joist_device *device);

/* ops/operations.c */
bool joist_cuda_runs(const struct joist_device *device, joist_op op);

/* ops/run.c */
joist_status joist_cuda_run(const struct joist_device *device, const struct joist_plan *plan,
                            const void *const *inputs, void *const *outputs,
                            const struct joist_run *run, struct joist_error *error);

#endif
