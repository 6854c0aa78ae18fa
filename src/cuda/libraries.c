/* Loading libraries of the CUDA toolkit. */
#include "cuda/libraries.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *joist_cuda_library(const char *name) {
  static const char *const releases[] = {".so.14",   ".so.13", ".so.12", ".so.11.2",
                                         ".so.11.0", ".so.11", ".so"};
  const char *const home = getenv("CUDA_HOME");
  for (int place = 0; place < 3; place++) {
    char folder[512] = "";
    if (place == 1 && home == NULL) continue;
    if (place == 1) snprintf(folder, sizeof folder, "%.400s/lib64/", home);
    if (place == 2) snprintf(folder, sizeof folder, "/usr/local/cuda/lib64/");
    for (size_t k = 0; k < sizeof releases / sizeof *releases; k++) {
      char path[600];
      snprintf(path, sizeof path, "%s%s%s", folder, name, releases[k]);
      void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (handle != NULL) return handle;
    }
  }
  return NULL;
}

bool joist_cuda_describe_cublas(char *text, size_t size) {
  const void *const handle = joist_cuda_cublas();
  snprintf(text, size, "%s",
           handle != NULL ? "found"
                          : "libcublas cannot be loaded: install the CUDA toolkit's libraries "
                            "(matrix products then use joist's own kernel, which is slower)");
  return handle != NULL;
}
