/* Libraries that are used where they can be loaded: the compiler at run time (NVRTC) and
 * cuBLAS. */
#ifndef JOIST_CUDA_HOST_LIBRARIES_H
#define JOIST_CUDA_HOST_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

/* Loads a library of the toolkit: of the release that joist was built with, else of another
 * that the driver supports; from the loader's path, CUDA_HOME, /usr/local/cuda. NULL if there
 * is none. */
void *joist_cuda_library(const char *name);

/* loader.c: cuBLAS, or NULL. */
void *joist_cuda_cublas(void);

/* Whether a library can be used, with its version or what to do. */
bool joist_cuda_describe_nvrtc(char *text, size_t size);
bool joist_cuda_describe_cublas(char *text, size_t size);

/* Compiles CUDA C++ that may include the headers of src/cuda, for an architecture (90 for
 * compute capability 9.0): machine code where NVRTC knows one of the same major number, else
 * PTX of the latest one that is not newer. The image belongs to the caller (free()); NULL when
 * NVRTC is missing or refuses, and `log` then says why. */
void *joist_nvrtc_compile(const char *source, int architecture, char *log, size_t log_size);
bool joist_nvrtc_found(void);

#endif
