/* cuda_runtime_api.h for tests without a GPU: the part of the CUDA runtime that src/cuda
 * uses, on the CPU. Memory is malloc's, a launch runs its threads one after the other, and
 * copies from and to the host are done as late as streams and events allow. What it cannot
 * show: races, launches and copies as such. */
#ifndef JOIST_TESTS_CUDA_RUNTIME_API_H
#define JOIST_TESTS_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorStubLibrary = 34,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorInvalidPtx = 218,
  cudaErrorJitCompilerNotFound = 221,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorAssert = 710,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719,
  cudaErrorSystemNotReady = 802,
  cudaErrorSystemDriverMismatch = 803
} cudaError_t;
typedef struct host_stream *cudaStream_t;
typedef struct host_event *cudaEvent_t;
typedef struct host_pool *cudaMemPool_t;
typedef enum {
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice
} cudaMemcpyKind;
enum {
  cudaDevAttrMemoryPoolsSupported,
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor
};
enum {
  cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrReservedMemCurrent
};
enum { cudaStreamNonBlocking, cudaEventDisableTiming };
enum { cudaMemAllocationTypePinned, cudaMemLocationTypeDevice };
struct cudaMemPoolProps {
  int allocType;
  struct {
    int type, id;
  } location;
};
struct cudaDeviceProp {
  char name[256];
  int major, minor;
};
struct cudaFuncAttributes {
  int numRegs;
};
struct dim3 {
  unsigned x, y, z;
#ifdef __cplusplus
  dim3(unsigned first = 1) : x(first), y(1), z(1) {}
#endif
};

cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int ordinal);
cudaError_t cudaGetDevice(int *ordinal);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int ordinal);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int ordinal);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block,
                             void **arguments, size_t shared, cudaStream_t stream);

/* What a test of errors sets. */
struct host_runtime {
  cudaError_t count_result; /* of cudaGetDeviceCount */
  cudaError_t next;         /* of the next copy or launch, once */
  cudaError_t allocation;   /* of every allocation */
  cudaError_t code;         /* of finding the code of a kernel */
  int driver;               /* version; 0 when there is none */
  int runtime;              /* version */
  size_t limit;             /* bytes of the device's memory */
  size_t used, blocks;      /* of it, and number of allocations */
  size_t kept;              /* bytes that a pool is said to keep */
  int context;              /* whether it says which context is current */
  int pools;                /* whether the driver has them; -1 when it does not know the word */
  /* Calls: launches, waits for an event and for a stream. */
  long launches, event_waits, stream_waits;
  long settings, allocations, copies; /* of the device, of memory, to and from the host */
  unsigned grid;                      /* blocks of the last launch */
};
extern struct host_runtime host_runtime;

/* Does the copies that are waiting. */
void host_flush(void);
/* The current context; NULL when it is not said. */
void *host_context(void);
/* Whether a stream is the current device's, as launches need it. */
int host_is_current(cudaStream_t stream);

struct host_blas {
  int next;         /* status of the next call, once */
  int create, mode; /* of the next cublasCreate() and cublasSetMathMode(), once */
  long calls;       /* of products */
  long handles;     /* made and not destroyed */
};
extern struct host_blas host_blas;

#ifdef __cplusplus
}
#endif

#endif
