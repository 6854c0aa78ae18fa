/* Finding, opening and describing CUDA devices; what their errors mean. */
#include "cuda/host/context.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda/codegen/compile.h"
#include "cuda/host/libraries.h"
#include "cuda/kernels/kernels.h"

static struct joist_cuda_state states[JOIST_CUDA_DEVICES];
static bool awake;  /* a driver was asked for devices */
static bool forked; /* after that: it is the parent's */

/* ---- errors ---- */

static bool version_text(int version, char *text, size_t size) {
  if (version <= 0) return false;
  snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
  return true;
}

static joist_status driver_too_old(struct joist_error *error) {
  int driver = 0, runtime = 0;
  char has[32] = "none", needs[32] = "?";
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  version_text(runtime, needs, sizeof needs);
  if (!version_text(driver, has, sizeof has))
    return joist_fail(error, JOIST_ERROR_DEVICE,
                      "there is no NVIDIA driver on this machine (libcuda.so.1 cannot be loaded); "
                      "install the driver (in a container: start it with its GPUs), or use the "
                      "device \"cpu\"");
  return joist_fail(
      error, JOIST_ERROR_DEVICE,
      "the NVIDIA driver is too old: it supports CUDA %s and joist was built with CUDA "
      "%s; update the driver, or build joist with an older toolkit",
      has, needs);
}

/* What to do about errors that name no cure themselves; NULL for others. */
static const char *advice_on(cudaError_t result) {
  switch (result) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidKernelImage:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
      return "this joist has no code for this GPU: it is built for compute capability 7.5 to 9.0, "
             "and for later ones where the driver is as new as the toolkit; update the driver, "
             "build joist with a toolkit that knows the GPU, or use the device \"cpu\"";
    case cudaErrorDevicesUnavailable:
      return "another process has the GPU for itself: nvidia-smi shows which; wait for it, or "
             "choose another GPU (CUDA_VISIBLE_DEVICES)";
    case cudaErrorSystemNotReady:
      return "a service of the driver does not run: start nvidia-fabricmanager";
    case cudaErrorStubLibrary:
      return "libcuda.so.1 is the toolkit's stub: take its folder out of LD_LIBRARY_PATH, or "
             "install the NVIDIA driver";
    default:
      return NULL;
  }
}

/* Of the runtime: the one that was opened last. */
static int current_device(void) {
  int ordinal = 0;
  (void)cudaGetDevice(&ordinal);
  return ordinal;
}

joist_status joist_cuda_check(cudaError_t result, const char *what, struct joist_error *error) {
  switch (result) {
    case cudaSuccess:
      return JOIST_OK;
    case cudaErrorMemoryAllocation:
      (void)cudaGetLastError();
      return joist_fail(error, JOIST_ERROR_MEMORY,
                        "the memory of the GPU is out while %s; remove tensors and call "
                        "nv_trim_memory(), or see nv_memory(device = \"cuda:%d\")",
                        what, current_device());
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
      return driver_too_old(error);
    case cudaErrorNoDevice:
      return joist_fail(error, JOIST_ERROR_DEVICE,
                        "the NVIDIA driver shows no GPU; see CUDA_VISIBLE_DEVICES and nvidia-smi");
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return joist_fail(error, JOIST_ERROR_DEVICE,
                        "%s failed while %s: %s; the GPU cannot be used by this process any more: "
                        "save what you need from the CPU and restart R",
                        cudaGetErrorName(result), what, cudaGetErrorString(result));
    default:
      break;
  }
  const char *const advice = advice_on(result);
  return joist_fail(error, JOIST_ERROR_DEVICE, "%s while %s: %s; %s", cudaGetErrorName(result),
                    what, cudaGetErrorString(result),
                    advice != NULL ? advice : "cuda_diagnostics() says what is there");
}

/* ---- finding ---- */

static void after_fork_in_child(void) { forked = awake; }

/* The driver does not survive a fork. */
static joist_status check_process(struct joist_error *error) {
  if (!forked) return JOIST_OK;
  return joist_fail(error, JOIST_ERROR_DEVICE,
                    "CUDA was used before this process was forked, and does not work in a forked "
                    "process; use parallel::makePSOCKcluster() instead of mclapply(), or nv_to(x, "
                    "\"cpu\") before forking");
}

bool joist_cuda_has_driver(void) { return joist_cuda_driver() != NULL; }

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
  if (result == cudaSuccess) result = cudaMalloc(&memory, sizeof *state->failure);
  state->failure = memory;
  memory = NULL;
  if (result == cudaSuccess) result = cudaMallocHost(&memory, sizeof *state->failure_found);
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
      return joist_fail(
          error, JOIST_ERROR_DEVICE,
          "there is no device \"cuda:%d\": the driver shows %d GPU%s, numbered from 0", ordinal,
          count, count == 1 ? "" : "s");
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

/* ---- the table ---- */

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

const struct joist_device *joist_cuda_device(size_t ordinal) { return &devices[ordinal]; }

/* ---- diagnosis ---- */

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
  version_text(number, version, sizeof version);
  rows[0].found = true;
  snprintf(rows[0].detail, sizeof rows[0].detail, "with CUDA %s", version);
  number = 0;
  rows[1].found = joist_cuda_driver() != NULL && cudaDriverGetVersion(&number) == cudaSuccess &&
                  version_text(number, version, sizeof version);
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
