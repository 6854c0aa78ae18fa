/* Instead of host/loader.c and host/nvrtc.c of src/cuda: generated source is compiled by the C++
 * compiler of the machine (the environment variable CXX) into a shared library, and loaded. */
#include "cuda/host/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/codegen/generate.h"
#include "cuda/host/errors.h"
#include "loader.h"

/* Kernels that were asked for. The first time each is only noted down, and the interpreter
 * runs instead; host_compile_all() compiles them together, since one at a time would take
 * most of a second each. */
static struct kernel {
  char *source;
  const void *compiled;
} * kernels;
static size_t kernel_count, kernel_capacity, kernels_compiled;

void *joist_cuda_driver(void) { return &kernels; }

void *joist_cuda_context(void) { return host_context(); }

/* This program, which has the functions of blas.c here. */
void *joist_cuda_cublas(void) { return dlopen(NULL, RTLD_NOW); }

char *host_sources(size_t first, size_t end) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *const out = open_memstream(&text, &bytes);
  if (out == NULL) return NULL;
  fputs(joist_cuda_prelude(), out);
  for (size_t k = first; k < end && k < kernel_count; k++) {
    const size_t length = strlen(JOIST_CUDA_GENERATED);
    const char *rest = kernels[k].source + strlen(joist_cuda_prelude());
    for (const char *at; (at = strstr(rest, JOIST_CUDA_GENERATED)) != NULL; rest = at + length)
      fprintf(out, "%.*s%s%zu", (int)(at - rest), rest, JOIST_CUDA_GENERATED, k);
    fputs(rest, out);
  }
  return fclose(out) == 0 ? text : NULL;
}

/* Kernels first .. end - 1 in one library. */
static bool compile_some(size_t first, size_t end) {
  char folder[] = "/tmp/joist-cuda-XXXXXX", file[64], object[64], library[64], command[1024];
  if (mkdtemp(folder) == NULL) return false;
  snprintf(file, sizeof file, "%s/source.cpp", folder);
  snprintf(object, sizeof object, "%s/source.o", folder);
  snprintf(library, sizeof library, "%s/source.so", folder);
  FILE *const out = fopen(file, "w");
  char *const source = host_sources(first, end);
  if (out == NULL || source == NULL) return false;
  fputs(source, out);
  fclose(out);
  free(source);
  const char *const compiler = getenv("CXX");
  /* In two steps, by names without the folder: ccache keeps what is compiled, nothing linked. */
  const char *const run = compiler == NULL ? "c++" : compiler;
  snprintf(
      command, sizeof command,
      "cd %s && %s -std=c++17 -O0 -ffp-contract=off -fno-strict-aliasing -fPIC %s -c source.cpp"
      " -o source.o && %s -shared source.o -o source.so",
      folder, run, JOIST_HOST_INCLUDES, run);
  void *const handle = system(command) == 0 ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
  unlink(library);
  unlink(object);
  unlink(file);
  rmdir(folder);
  if (handle == NULL) return false;
  for (size_t k = first; k < end; k++) {
    char name[64];
    snprintf(name, sizeof name, "%s%zu", JOIST_CUDA_GENERATED, k);
    kernels[k].compiled = dlsym(handle, name);
    if (kernels[k].compiled == NULL) return false;
  }
  return true;
}

bool host_compile_all(void) {
  enum { TOGETHER = 400 };
  for (; kernels_compiled < kernel_count; kernels_compiled += TOGETHER) {
    const size_t end =
        kernels_compiled + TOGETHER < kernel_count ? kernels_compiled + TOGETHER : kernel_count;
    if (!compile_some(kernels_compiled, end)) return false;
  }
  kernels_compiled = kernel_count;
  return true;
}

size_t host_kernel_count(void) { return kernel_count; }

joist_status joist_cuda_load(const char *source, int architecture,
                             struct joist_cuda_compiled **compiled, char *log, size_t log_size) {
  (void)architecture;
  *compiled = NULL;
  size_t k = 0;
  while (k < kernel_count && strcmp(kernels[k].source, source) != 0) k++;
  if (k < kernel_count && kernels[k].compiled != NULL) {
    *compiled = (struct joist_cuda_compiled *)(void *)(uintptr_t)kernels[k].compiled;
    return JOIST_OK;
  }
  snprintf(log, log_size, "not yet");
  if (k < kernel_count) return JOIST_ERROR_DEVICE;
  if (kernel_count == kernel_capacity) {
    kernel_capacity = kernel_capacity * 2 + 256;
    kernels = realloc(kernels, kernel_capacity * sizeof *kernels);
  }
  if (kernels == NULL) abort();
  char *const copy = malloc(strlen(source) + 1);
  if (copy == NULL) abort();
  strcpy(copy, source);
  kernels[kernel_count++] = (struct kernel){copy, NULL};
  return JOIST_ERROR_DEVICE;
}

joist_status joist_cuda_start_compiled(struct joist_cuda_compiled *compiled, uint64_t threads,
                                       const void *parameter, cudaStream_t stream,
                                       struct joist_error *error) {
  struct dim3 grid = {(unsigned)((threads + JOIST_CUDA_BLOCK - 1) / JOIST_CUDA_BLOCK), 1, 1};
  struct dim3 block = {JOIST_CUDA_BLOCK, 1, 1};
  union {
    const void *read;
    void *write;
  } only = {parameter};
  void *arguments[] = {only.write};
  return joist_cuda_check(
      cudaLaunchKernel((const void *)compiled, grid, block, arguments, 0, stream),
      "starting a kernel", error);
}
