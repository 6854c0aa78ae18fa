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
  struct joist_error error = {0};
  struct joist_cuda_state *state = NULL;
  size_t available = 0, total = 0;
  struct cudaDeviceProp properties;
  if (joist_cuda_open(0, &state, &error) != JOIST_OK) {
    snprintf(diagnosis->detail, sizeof diagnosis->detail, "%.255s", error.message);
    return;
  }
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess ||
      cudaMemGetInfo(&available, &total) != cudaSuccess)
    return;
  diagnosis->found = true;
  snprintf(diagnosis->detail, sizeof diagnosis->detail,
           "%zu: cuda:0 is %.100s, compute capability %d.%d, %.1f of %.1f GiB free",
           joist_cuda_count(), properties.name, properties.major, properties.minor,
           (double)available / 0x1p30, (double)total / 0x1p30);
}

size_t joist_cuda_diagnose(struct joist_diagnosis *rows) {
  static const char *const items[JOIST_DIAGNOSES] = {"build", "driver", "device", "NVRTC",
                                                     "cuBLAS"};
  char version[32] = "?";
  int number = 0;
  for (int k = 0; k < JOIST_DIAGNOSES; k++)
    rows[k] = (struct joist_diagnosis){.item = items[k], .found = false, .detail = ""};
  (void)cudaRuntimeGetVersion(&number);
  joist_cuda_version_text(number, version, sizeof version);
  rows[0].found = true;
  snprintf(rows[0].detail, sizeof rows[0].detail, "with CUDA %s", version);
  number = 0;
  rows[1].found = joist_cuda_driver() != NULL && cudaDriverGetVersion(&number) == cudaSuccess &&
                  joist_cuda_version_text(number, version, sizeof version);
  snprintf(rows[1].detail, sizeof rows[1].detail,
           rows[1].found ? "supports CUDA %s"
                         : "libcuda.so.1 cannot be loaded: install the NVIDIA driver, or in a "
                           "container start it with its GPUs (docker run --gpus all)",
           version);
  if (rows[1].found)
    diagnose_device(&rows[2]);
  else
    snprintf(rows[2].detail, sizeof rows[2].detail, "unknown without a driver");
  rows[3].found = joist_cuda_describe_nvrtc(rows[3].detail, sizeof rows[3].detail);
  if (rows[3].found) joist_cuda_describe_compiled(rows[3].detail, sizeof rows[3].detail);
  rows[4].found = joist_cuda_describe_cublas(rows[4].detail, sizeof rows[4].detail);
  return JOIST_DIAGNOSES;
}
