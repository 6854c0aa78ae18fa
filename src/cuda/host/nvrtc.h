/* NVRTC, the CUDA compiler as a library. */
#ifndef JOIST_CUDA_HOST_NVRTC_H
#define JOIST_CUDA_HOST_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

bool joist_nvrtc_found(void);
/* Whether it can be used, and its version. */
bool joist_cuda_describe_nvrtc(char *text, size_t size);

/* Compiles CUDA C++ that may include the headers of src/cuda, for an architecture (90 for
 * compute capability 9.0): machine code where NVRTC knows one of the same major number, else
 * PTX of the latest one that is not newer. `option` is one more option of NVRTC, or NULL. The
 * image belongs to the caller (free()); NULL when NVRTC is missing or refuses, and `log` then says
 * why. */
void *joist_nvrtc_compile(const char *source, int architecture, const char *option, char *log,
                          size_t log_size);

#endif
