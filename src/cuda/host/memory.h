/* Memory of a device. */
#ifndef JOIST_CUDA_HOST_MEMORY_H
#define JOIST_CUDA_HOST_MEMORY_H

#include "core/device.h"
#include "cuda/host/context.h"

/* New memory of an open device, the current one of the runtime. */
cudaError_t joist_cuda_reserve(struct joist_cuda_state *state, size_t bytes, void **memory);

/* As struct joist_device has them. */
void *joist_cuda_allocate(const struct joist_device *device, size_t bytes);
void joist_cuda_free(const struct joist_device *device, void *memory);
joist_status joist_cuda_copy(const struct joist_device *device, void *to, const void *from,
                             size_t bytes, joist_copy direction, struct joist_error *error);
struct joist_device_figures joist_cuda_figures(const struct joist_device *device);
size_t joist_cuda_trim(const struct joist_device *device);

/* Whether small blocks of memory share allocations. Not where the environment variable
 * JOIST_CUDA_SMALL is "own", as tools that watch the bounds of allocations want it. */
void joist_cuda_share_small(bool share);

#endif
