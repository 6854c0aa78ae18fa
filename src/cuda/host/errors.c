/* Errors of the runtime. */
#include "cuda/host/errors.h"

#include <stdio.h>

bool joist_cuda_version_text(int version, char *text, size_t size) {
  if (version <= 0) return false;
  snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
  return true;
}

static joist_status driver_too_old(struct joist_error *error) {
  int driver = 0, runtime = 0;
  char has[32] = "none", needs[32] = "?";
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  joist_cuda_version_text(runtime, needs, sizeof needs);
  if (!joist_cuda_version_text(driver, has, sizeof has))
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
