/* What the errors of the CUDA runtime mean. */
#ifndef JOIST_CUDA_HOST_ERRORS_H
#define JOIST_CUDA_HOST_ERRORS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/status.h"

/* JOIST_OK, or what `result` means for somebody who was doing `what`, which is a constant. */
joist_status joist_cuda_check(cudaError_t result, const char *what, struct joist_error *error);

/* A version number of CUDA as text, 12.4 for 12040. False for none. */
bool joist_cuda_version_text(int version, char *text, size_t size);

#endif
