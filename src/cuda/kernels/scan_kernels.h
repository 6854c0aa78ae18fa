/* Starting the kernels of cumulative operations. */
#ifndef JOIST_CUDA_KERNELS_SCAN_KERNELS_H
#define JOIST_CUDA_KERNELS_SCAN_KERNELS_H

#include <stddef.h>

#include "cuda/kernels/scan_kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of a run at most, an odd number; bytes of a total. */
uint32_t joist_cuda_scan_run(joist_cuda_scan_kind kind);
size_t joist_cuda_scan_total(joist_cuda_scan_kind kind);

/* Start a kernel on a cudaStream_t and return a cudaError_t. The first kernel scans (or only makes
 * totals); the second turns the totals of segments into the total before each segment. */
int joist_cuda_start_scan(joist_cuda_scan_kind kind, const struct joist_cuda_scan *scan,
                          void *stream);
int joist_cuda_start_carry(joist_cuda_scan_kind kind, const struct joist_cuda_scan *scan,
                           void *stream);

#ifdef __cplusplus
}
#endif

#endif
