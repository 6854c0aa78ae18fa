/* Loading compiled kernels through the driver's own interface, found at run time. */
#include "cuda/host/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/host/errors.h"
#include "cuda/host/libraries.h"
#include "cuda/host/nvrtc.h"
#include "cuda/kernels/device_code.h"

/* The part of cuda.h that is used, whose header some toolkits leave out. Results have the
 * numbers of the runtime's errors (cudaError_t); 0 is success. */
typedef struct driver_module *module;
typedef struct driver_function *function;
typedef int result;

static struct {
  bool tried, found;
  result (*load)(module *, const void *);
  result (*unload)(module);
  result (*get)(function *, module, const char *);
  result (*current)(void **); /* NULL where it is not found */
  result (*launch)(function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   cudaStream_t, void **, void **);
} driver;

void *joist_cuda_driver(void) {
  static void *handle = NULL;
  if (handle == NULL) handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return handle;
}

void *joist_cuda_cublas(void) {
  static void *handle = NULL;
  if (handle == NULL) handle = joist_cuda_library("libcublas");
  return handle;
}

static bool find(const char *name, void *to) {
  void *const found = dlsym(joist_cuda_driver(), name);
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

static bool find_driver(void) {
  if (driver.tried) return driver.found;
  driver.tried = true;
  driver.found = joist_cuda_driver() != NULL && find("cuModuleLoadData", &driver.load) &&
                 find("cuModuleUnload", &driver.unload) &&
                 find("cuModuleGetFunction", &driver.get) && find("cuLaunchKernel", &driver.launch);
  if (driver.found) (void)find("cuCtxGetCurrent", &driver.current);
  return driver.found;
}

void *joist_cuda_context(void) {
  void *context = NULL;
  if (!find_driver() || driver.current == NULL || driver.current(&context) != 0) return NULL;
  return context;
}

joist_status joist_cuda_load(const char *source, int architecture,
                             struct joist_cuda_compiled **compiled, char *log, size_t log_size) {
  module loaded = NULL;
  function found = NULL;
  *compiled = NULL;
  if (!find_driver()) {
    snprintf(log, log_size, "the driver cannot load kernels");
    return JOIST_ERROR_DEVICE;
  }
  void *const image = joist_nvrtc_compile(source, architecture, NULL, log, log_size);
  if (image == NULL) return JOIST_ERROR_DEVICE;
  result failed = driver.load(&loaded, image);
  if (failed == 0) failed = driver.get(&found, loaded, JOIST_CUDA_GENERATED);
  free(image);
  if (failed != 0) {
    if (loaded != NULL) (void)driver.unload(loaded);
    snprintf(log, log_size, "the driver refuses a compiled kernel: CUresult %d", failed);
    return failed == (result)cudaErrorMemoryAllocation ? JOIST_ERROR_MEMORY : JOIST_ERROR_DEVICE;
  }
  *compiled = (struct joist_cuda_compiled *)(void *)found;
  return JOIST_OK;
}

joist_status joist_cuda_start_compiled(struct joist_cuda_compiled *compiled, uint64_t threads,
                                       const void *parameter, cudaStream_t stream,
                                       struct joist_error *error) {
  const uint64_t blocks = (threads + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK;
  const unsigned grid = blocks < INT32_MAX ? (unsigned)blocks : (unsigned)INT32_MAX;
  /* The driver copies from it; it asks for pointers that are not const. */
  union {
    const void *read;
    void *write;
  } only = {parameter};
  void *arguments[] = {only.write};
  const result failed = driver.launch((function)(void *)compiled, grid, 1, 1, JOIST_CUDA_BLOCK, 1,
                                      1, 0, stream, arguments, NULL);
  return joist_cuda_check((cudaError_t)failed, "starting a kernel", error);
}
