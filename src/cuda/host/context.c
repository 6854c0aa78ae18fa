/* Finding and opening CUDA devices. */
#include "cuda/host/context.h"

#include <pthread.h>
#include <string.h>

#include "core/types/error.h"
#include "cuda/host/errors.h"
#include "cuda/host/loader.h"
#include "cuda/kernels/kernels.h"

static struct joist_cuda_state states[JOIST_CUDA_DEVICES];
static bool awake;  /* a driver was asked for devices */
static bool forked; /* after that: it is the parent's */

/* ---- finding ---- */

static void after_fork_in_child(void) { forked = awake; }

/* The driver does not survive a fork. */
static joist_status check_process(struct joist_error *error) {
  if (!forked) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_FORKED);
}

static cudaError_t device_count(int *count) {
  *count = 0;
  if (joist_cuda_driver() == NULL) return cudaErrorInsufficientDriver;
  if (!awake && pthread_atfork(NULL, NULL, after_fork_in_child) != 0)
    return cudaErrorMemoryAllocation;
  awake = true;
  const cudaError_t result = cudaGetDeviceCount(count);
  if (result != cudaSuccess) {
    (void)cudaGetLastError(); /* or the next call would report it again */
    *count = 0;
  }
  if (*count > JOIST_CUDA_DEVICES) *count = JOIST_CUDA_DEVICES;
  return result;
}

size_t joist_cuda_count(void) {
  int count;
  if (check_process(NULL) != JOIST_OK) return 0;
  return device_count(&count) == cudaSuccess ? (size_t)count : 0;
}

/* ---- opening ---- */

static cudaError_t make_pool(struct joist_cuda_state *state) {
  int supported = 0;
  size_t available = 0, total = 0;
  if (cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, state->ordinal) !=
      cudaSuccess) {
    (void)cudaGetLastError(); /* drivers before 11.2 do not know the question */
    return cudaSuccess;
  }
  if (!supported) return cudaSuccess;
  struct cudaMemPoolProps properties;
  memset(&properties, 0, sizeof properties);
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = state->ordinal;
  cudaError_t result = cudaMemPoolCreate(&state->pool, &properties);
  if (result == cudaSuccess) result = cudaMemGetInfo(&available, &total);
  /* What is kept when a stream is idle; fresh memory costs more than most operations. */
  uint64_t keep = total / 4;
  if (result == cudaSuccess)
    result = cudaMemPoolSetAttribute(state->pool, cudaMemPoolAttrReleaseThreshold, &keep);
  return result;
}

static cudaError_t open_device(struct joist_cuda_state *state) {
  int major = 0, minor = 0;
  cudaError_t result =
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, state->ordinal);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, state->ordinal);
  state->architecture = 10 * major + minor;
  /* Rather now than at the first operation. */
  if (result == cudaSuccess) result = (cudaError_t)joist_cuda_find_code();
  if (result == cudaSuccess)
    result = cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking);
  if (result == cudaSuccess) result = make_pool(state);
  for (int k = 0; k < 2 && result == cudaSuccess; k++) {
    result = cudaMallocHost(&state->staging[k], JOIST_CUDA_STAGING);
    if (result == cudaSuccess)
      result = cudaEventCreateWithFlags(&state->staged[k], cudaEventDisableTiming);
    if (result == cudaSuccess)
      result = cudaEventCreateWithFlags(&state->ring_passed[k], cudaEventDisableTiming);
  }
  if (result == cudaSuccess) result = cudaMallocHost(&state->ring, JOIST_CUDA_RING);
  void *memory = NULL;
  if (result == cudaSuccess) result = cudaMalloc(&memory, 2 * sizeof *state->failure);
  state->failure = memory;
  memory = NULL;
  if (result == cudaSuccess) result = cudaMallocHost(&memory, 2 * sizeof *state->failure_found);
  state->failure_found = memory;
  return result;
}

/* Gives back what opening had made before it failed. */
static void close_device(struct joist_cuda_state *state) {
  for (int k = 0; k < 2; k++) {
    if (state->staged[k] != NULL) (void)cudaEventDestroy(state->staged[k]);
    if (state->ring_passed[k] != NULL) (void)cudaEventDestroy(state->ring_passed[k]);
    if (state->staging[k] != NULL) (void)cudaFreeHost(state->staging[k]);
  }
  if (state->ring != NULL) (void)cudaFreeHost(state->ring);
  if (state->failure != NULL) (void)cudaFree(state->failure);
  if (state->failure_found != NULL) (void)cudaFreeHost(state->failure_found);
  if (state->pool != NULL) (void)cudaMemPoolDestroy(state->pool);
  if (state->stream != NULL) (void)cudaStreamDestroy(state->stream);
  memset(state, 0, sizeof *state);
}

/* The context that cudaSetDevice() made current, by which it is known later that nothing else has
 * been since; NULL where it may do so later, as before CUDA 12. */
static void *context_set(void) {
  int version = 0;
  (void)cudaRuntimeGetVersion(&version);
  return version >= 12000 ? joist_cuda_context() : NULL;
}

joist_status joist_cuda_open(int ordinal, struct joist_cuda_state **opened,
                             struct joist_error *error) {
  struct joist_cuda_state *const state = &states[ordinal];
  const joist_status status = check_process(error);
  if (status != JOIST_OK) return status;
  /* All that the runtime does is in the current context, and cudaSetDevice() makes one current. */
  if (state->open && state->context != NULL && state->context == joist_cuda_context()) {
    *opened = state;
    return JOIST_OK;
  }
  if (!state->open) {
    int count;
    const cudaError_t found = device_count(&count);
    if (found != cudaSuccess) return joist_cuda_check(found, "looking for GPUs", error);
    if (ordinal >= count)
      return JOIST_FAIL(error, JOIST_E_GPU_NUMBER, .number = {ordinal}, .count = {(size_t)count});
  }
  cudaError_t result = cudaSetDevice(ordinal);
  if (result == cudaSuccess && !state->open) {
    state->ordinal = ordinal;
    result = open_device(state);
    if (result != cudaSuccess) close_device(state);
    state->open = result == cudaSuccess;
    state->context = state->open ? context_set() : NULL;
  }
  *opened = state;
  return joist_cuda_check(result, "opening the device", error);
}

struct joist_cuda_state *joist_cuda_opened(int ordinal) {
  return states[ordinal].open && !forked ? &states[ordinal] : NULL;
}
