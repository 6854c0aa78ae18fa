/* What CUDA needs, and whether it is there. */
#include "cuda/diagnose.h"

#include <stdio.h>

#include "cuda/codegen/compile.h"
#include "cuda/host/blas.h"
#include "cuda/host/context.h"
#include "cuda/host/errors.h"
#include "cuda/host/loader.h"
#include "cuda/host/nvrtc.h"

static void diagnose_device(struct joist_diagnosis *diagnosis) {
  struct joist_cuda_state *state = NULL;
  size_t available = 0, total = 0;
  struct cudaDeviceProp properties;
  if (joist_cuda_open(0, &state, &diagnosis->why) != JOIST_OK) return;
  cudaError_t result = cudaGetDeviceProperties(&properties, 0);
  if (result == cudaSuccess) result = cudaMemGetInfo(&available, &total);
  diagnosis->found = joist_cuda_check(result, "asking for its memory", &diagnosis->why) == JOIST_OK;
  if (!diagnosis->found) return;
  snprintf(diagnosis->detail, sizeof diagnosis->detail,
           "%zu: cuda:0 is %.100s, compute capability %d.%d, %.1f of %.1f GiB free",
           joist_cuda_count(), properties.name, properties.major, properties.minor,
           (double)available / 0x1p30, (double)total / 0x1p30);
}

size_t joist_cuda_diagnose(struct joist_diagnosis *rows) {
  /* What is missing says why; the other facts are known only where it is there. */
  static const struct {
    const char *item;
    joist_error_code missing;
  } items[JOIST_DIAGNOSES] = {{"build", JOIST_E_NO_CUDA},
                              {"driver", JOIST_E_NO_DRIVER},
                              {"device", JOIST_E_GPU_UNKNOWN},
                              {"NVRTC", JOIST_E_NO_NVRTC},
                              {"cuBLAS", JOIST_E_NO_CUBLAS}};
  char version[32] = "?";
  int number = 0;
  for (int k = 0; k < JOIST_DIAGNOSES; k++)
    rows[k] = (struct joist_diagnosis){.item = items[k].item, .why = {.code = items[k].missing}};
  (void)cudaRuntimeGetVersion(&number);
  joist_cuda_version_text(number, version, sizeof version);
  rows[0].found = true;
  snprintf(rows[0].detail, sizeof rows[0].detail, "with CUDA %s", version);
  number = 0;
  rows[1].found = joist_cuda_driver() != NULL && cudaDriverGetVersion(&number) == cudaSuccess &&
                  joist_cuda_version_text(number, version, sizeof version);
  if (rows[1].found) {
    snprintf(rows[1].detail, sizeof rows[1].detail, "supports CUDA %s", version);
    diagnose_device(&rows[2]);
  }
  rows[3].found = joist_cuda_describe_nvrtc(rows[3].detail, sizeof rows[3].detail);
  if (rows[3].found) joist_cuda_describe_compiled(rows[3].detail, sizeof rows[3].detail);
  rows[4].found = joist_cuda_cublas() != NULL;
  if (rows[4].found) snprintf(rows[4].detail, sizeof rows[4].detail, "found");
  return JOIST_DIAGNOSES;
}
