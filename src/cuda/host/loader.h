/* Loading the driver, libraries and compiled kernels. */
#ifndef JOIST_CUDA_HOST_LOADER_H
#define JOIST_CUDA_HOST_LOADER_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/status.h"

#define JOIST_CUDA_GENERATED "joist_generated" /* name of the one kernel of a source */

struct joist_cuda_compiled; /* a kernel that can be started; lives as long as the process */

/* The handle of the driver's library, NULL if it cannot be loaded. */
void *joist_cuda_driver(void);
/* The context that the driver has current in this thread, NULL when it does not say. */
void *joist_cuda_context(void);
/* The handle of cuBLAS, or NULL. */
void *joist_cuda_cublas(void);

/* Compiles and loads the kernel of a source for the current device; NULL with a reason if that
 * fails. JOIST_ERROR_MEMORY when the device's is out, so that it may work later. */
joist_status joist_cuda_load(const char *source, int architecture,
                             struct joist_cuda_compiled **compiled, char *log,
                             size_t log_size) JOIST_MUST_CHECK;

/* As joist_cuda_start. */
joist_status joist_cuda_start_compiled(struct joist_cuda_compiled *compiled, uint64_t threads,
                                       const void *parameter, cudaStream_t stream,
                                       struct joist_error *error) JOIST_MUST_CHECK;

#endif
