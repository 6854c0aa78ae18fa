/* The CUDA devices as core/device.h has them. */
#include "cuda/cuda.h"

#include "cuda/diagnose.h"
#include "cuda/host/context.h"
#include "cuda/host/errors.h"
#include "cuda/host/loader.h"
#include "cuda/host/memory.h"
#include "cuda/ops/operations.h"
#include "cuda/ops/run.h"

static bool in_use(const struct joist_device *device) {
  return joist_cuda_opened(device->ordinal) != NULL;
}

static joist_status ready(const struct joist_device *device, struct joist_error *error) {
  struct joist_cuda_state *state;
  return joist_cuda_open(device->ordinal, &state, error);
}

static joist_status synchronize(const struct joist_device *device, struct joist_error *error) {
  struct joist_cuda_state *state;
  const joist_status status = joist_cuda_open(device->ordinal, &state, error);
  if (status != JOIST_OK) return status;
  return joist_cuda_check(cudaStreamSynchronize(state->stream), "waiting for the GPU", error);
}

#define DEVICE(ORDINAL)                                                                \
  {                                                                                    \
    .name = "cuda:" #ORDINAL, .ordinal = ORDINAL, .in_use = in_use, .ready = ready,    \
    .allocate = joist_cuda_allocate, .free = joist_cuda_free, .copy = joist_cuda_copy, \
    .run = joist_cuda_run, .runs = joist_cuda_runs, .synchronize = synchronize,        \
    .figures = joist_cuda_figures, .trim = joist_cuda_trim                             \
  }
static const struct joist_device devices[JOIST_CUDA_DEVICES] = {
    DEVICE(0), DEVICE(1), DEVICE(2),  DEVICE(3),  DEVICE(4),  DEVICE(5),  DEVICE(6),  DEVICE(7),
    DEVICE(8), DEVICE(9), DEVICE(10), DEVICE(11), DEVICE(12), DEVICE(13), DEVICE(14), DEVICE(15)};

static const struct joist_device *at(size_t ordinal) { return &devices[ordinal]; }

static bool has_driver(void) { return joist_cuda_driver() != NULL; }

const struct joist_device_kind joist_cuda_devices = {.name = "cuda",
                                                     .most = JOIST_CUDA_DEVICES,
                                                     .count = joist_cuda_count,
                                                     .at = at,
                                                     .has_driver = has_driver,
                                                     .diagnose = joist_cuda_diagnose};
