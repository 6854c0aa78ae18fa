/* Errors of the runtime. */
#include "cuda/host/errors.h"

#include <stdio.h>

#include "core/types/error.h"

bool joist_cuda_version_text(int version, char *text, size_t size) {
  if (version <= 0) return false;
  snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
  return true;
}

static joist_status driver_too_old(struct joist_error *error) {
  int driver = 0, runtime = 0;
  char has[32], needs[32] = "?";
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  joist_cuda_version_text(runtime, needs, sizeof needs);
  if (!joist_cuda_version_text(driver, has, sizeof has))
    return JOIST_FAIL(error, JOIST_E_NO_DRIVER);
  return JOIST_FAIL(error, JOIST_E_DRIVER_OLD, .text = {joist_quote(has), joist_quote(needs)});
}

/* What is known of the cause. */
static joist_error_code code_of(cudaError_t result) {
  switch (result) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidKernelImage:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
      return JOIST_E_GPU_NO_CODE;
    case cudaErrorDevicesUnavailable:
      return JOIST_E_GPU_BUSY;
    case cudaErrorSystemNotReady:
      return JOIST_E_GPU_SERVICE;
    case cudaErrorStubLibrary:
      return JOIST_E_GPU_STUB;
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
      return JOIST_E_GPU_LOST;
    default:
      return JOIST_E_GPU_FAILED;
  }
}

/* The current device of the runtime: the one opened last. */
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
      return JOIST_FAIL(error, JOIST_E_GPU_MEMORY, .number = {current_device()}, .name = {what});
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
      return driver_too_old(error);
    case cudaErrorNoDevice:
      return JOIST_FAIL(error, JOIST_E_NO_GPU);
    default:
      return JOIST_FAIL(error, code_of(result),
                        .name = {cudaGetErrorName(result), what, cudaGetErrorString(result)});
  }
}
