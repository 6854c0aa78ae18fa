/* Libraries of the CUDA toolkit, which need not be there: the compiler at run time (NVRTC) and
 * cuBLAS. */
#ifndef JOIST_CUDA_HOST_LIBRARIES_H
#define JOIST_CUDA_HOST_LIBRARIES_H

/* Loads a library of the toolkit: of the release that joist was built with, else of another
 * that the driver supports; from the loader's path, CUDA_HOME, /usr/local/cuda. NULL if there
 * is none. */
void *joist_cuda_library(const char *name);

#endif
