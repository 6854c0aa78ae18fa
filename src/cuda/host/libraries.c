/* Loading libraries of the CUDA toolkit. */
#include "cuda/host/libraries.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { OLDEST = 11, NEWEST = 14 }; /* major numbers of releases */

/* The endings of library names; NVRTC 11 has its own numbers. */
static const struct {
  int major;
  const char *ending;
} releases[] = {{14, ".so.14"},   {13, ".so.13"},   {12, ".so.12"},
                {11, ".so.11.2"}, {11, ".so.11.0"}, {11, ".so.11"}};

/* `folder` ends with a slash, or is "" for the loader's path. */
static void *load(const char *folder, const char *name, const char *ending) {
  char path[600];
  snprintf(path, sizeof path, "%.400s%.100s%s", folder, name, ending);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *load_anywhere(const char *name, const char *ending) {
  static const char *const subs[] = {"lib64", "lib", "targets/x86_64-linux/lib"};
  const char *const homes[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
  void *handle = load("", name, ending);
  for (size_t h = 0; h < sizeof homes / sizeof *homes; h++)
    for (size_t s = 0; homes[h] != NULL && s < sizeof subs / sizeof *subs && handle == NULL; s++) {
      char folder[512];
      snprintf(folder, sizeof folder, "%.400s/%s/", homes[h], subs[s]);
      handle = load(folder, name, ending);
    }
  return handle;
}

static void *load_release(const char *name, int major) {
  void *handle = NULL;
  for (size_t k = 0; k < sizeof releases / sizeof *releases && handle == NULL; k++)
    if (releases[k].major == major) handle = load_anywhere(name, releases[k].ending);
  return handle;
}

/* A driver need not accept what a library of a later major release makes. */
void *joist_cuda_library(const char *name) {
  int runtime = 0, driver = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) driver = INT_MAX;
  const int built = runtime / 1000, latest = driver / 1000;
  void *handle = built <= latest ? load_release(name, built) : NULL;
  for (int major = latest < NEWEST ? latest : NEWEST; major >= OLDEST && handle == NULL; major--)
    if (major != built) handle = load_release(name, major);
  return handle != NULL ? handle : load_anywhere(name, ".so");
}
