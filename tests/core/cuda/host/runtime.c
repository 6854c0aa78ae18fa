/* The runtime of cuda_runtime_api.h, and loading of the driver's library, on the CPU. */
#include "cuda_runtime_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host_runtime host_runtime = {.driver = 13000, .limit = (size_t)8 << 30, .pools = 1};

static cudaError_t once(void) {
  const cudaError_t result = host_runtime.next;
  host_runtime.next = cudaSuccess;
  return result;
}

cudaError_t cudaDriverGetVersion(int *version) {
  *version = host_runtime.driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = 2;
  return host_runtime.count_result;
}
static int current;
cudaError_t cudaSetDevice(int ordinal) {
  if (ordinal >= 2) return cudaErrorInvalidValue;
  current = ordinal;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *ordinal) {
  *ordinal = current;
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char *cudaGetErrorName(cudaError_t error) {
  static char name[32];
  snprintf(name, sizeof name, "cudaError %d", (int)error);
  return name;
}
const char *cudaGetErrorString(cudaError_t error) {
  (void)error;
  return "as a test asked";
}
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int ordinal) {
  (void)ordinal;
  *value = attribute == cudaDevAttrMemoryPoolsSupported     ? host_runtime.pools
           : attribute == cudaDevAttrComputeCapabilityMajor ? 9
                                                            : 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int ordinal) {
  (void)ordinal;
  *properties = (struct cudaDeviceProp){"the CPU, in a test", 9, 0};
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = host_runtime.limit - host_runtime.used;
  *total = host_runtime.limit;
  return cudaSuccess;
}

/* Streams, events and pools have nothing in them but an address of their own. */
static char anything[4];
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  (void)flags;
  *stream = (cudaStream_t)(void *)&anything[0];
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  (void)stream;
  return once();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  (void)flags;
  *event = (cudaEvent_t)(void *)&anything[1];
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  (void)event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)event;
  (void)stream;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  (void)event;
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
  (void)properties;
  *pool = (cudaMemPool_t)(void *)&anything[2];
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  (void)pool;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value) {
  (void)pool;
  (void)attribute;
  (void)value;
  return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value) {
  (void)pool;
  *(uint64_t *)value = host_runtime.used;
  if (attribute == cudaMemPoolAttrReservedMemCurrent) *(uint64_t *)value += host_runtime.kept;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes) {
  (void)pool;
  if (host_runtime.kept > bytes) host_runtime.kept = bytes;
  return cudaSuccess;
}

/* ---- memory: 256 bytes in front of a block hold its size ---- */

enum { FRONT = 256 };

cudaError_t cudaMalloc(void **memory, size_t bytes) {
  const size_t whole = (FRONT + bytes + 255) / 256 * 256;
  if (bytes > host_runtime.limit - host_runtime.used) return cudaErrorMemoryAllocation;
  char *const block = aligned_alloc(256, whole);
  if (block == NULL) return cudaErrorMemoryAllocation;
  memset(block, 0xa5, whole); /* nothing on a device is 0 by itself */
  memcpy(block, &bytes, sizeof bytes);
  host_runtime.used += bytes;
  host_runtime.blocks++;
  *memory = block + FRONT;
  return cudaSuccess;
}
cudaError_t cudaFree(void *memory) {
  size_t bytes;
  if (memory == NULL) return cudaSuccess;
  memcpy(&bytes, (char *)memory - FRONT, sizeof bytes);
  host_runtime.used -= bytes;
  host_runtime.blocks--;
  free((char *)memory - FRONT);
  return cudaSuccess;
}
cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  (void)pool;
  (void)stream;
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
  (void)stream;
  return cudaFree(memory);
}
cudaError_t cudaMallocHost(void **memory, size_t bytes) {
  *memory = malloc(bytes);
  return *memory == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFreeHost(void *memory) {
  free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  (void)kind;
  (void)stream;
  memcpy(to, from, bytes);
  return once();
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  (void)kind;
  (void)stream;
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
  for (size_t k = 0; k < height; k++)
    memcpy((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width);
  return once();
}
cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream) {
  (void)stream;
  memset(memory, byte, bytes);
  return cudaSuccess;
}
