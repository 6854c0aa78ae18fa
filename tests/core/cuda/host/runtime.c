/* The runtime of cuda_runtime_api.h, and loading of the driver's library, on the CPU. */
#include "cuda_runtime_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host_runtime host_runtime = {
    .driver = 13000, .runtime = 13000, .limit = (size_t)8 << 30, .pools = 1, .context = 1};

static cudaError_t last_error; /* as cudaGetLastError() gives it, once */

static cudaError_t noted(cudaError_t result) {
  if (result != cudaSuccess) last_error = result;
  return result;
}

static cudaError_t once(void) {
  const cudaError_t result = host_runtime.next;
  host_runtime.next = cudaSuccess;
  return noted(result);
}

/* ---- copies that wait ---- */

enum { WAITING = 4096 };
static struct {
  void *to;
  const void *from;
  size_t bytes;
} waiting[WAITING];
static size_t first_waiting, copies; /* numbers of the first that waits, of the next */

static void flush_until(size_t end) {
  for (; first_waiting < end; first_waiting++) {
    const size_t k = first_waiting % WAITING;
    memcpy(waiting[k].to, waiting[k].from, waiting[k].bytes);
  }
}

void host_flush(void) { flush_until(copies); }

cudaError_t cudaDriverGetVersion(int *version) {
  *version = host_runtime.driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = host_runtime.runtime;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
  *count = 2;
  return host_runtime.count_result;
}
static int current;
cudaError_t cudaSetDevice(int ordinal) {
  if (ordinal >= 2) return cudaErrorInvalidValue;
  host_runtime.settings++;
  current = ordinal;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *ordinal) {
  *ordinal = current;
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void) {
  const cudaError_t result = last_error;
  last_error = cudaSuccess;
  return result;
}
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
  if (attribute == cudaDevAttrMemoryPoolsSupported && host_runtime.pools < 0)
    return noted(cudaErrorInvalidValue);
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
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel) {
  (void)kernel;
  *attributes = (struct cudaFuncAttributes){0};
  return noted(host_runtime.code);
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  *available = host_runtime.limit - host_runtime.used;
  *total = host_runtime.limit;
  return cudaSuccess;
}

/* A stream is the address of its device, a pool some address. */
static char streams[2], pool_address;
struct host_event {
  size_t copies; /* that it comes after */
};
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  (void)flags;
  *stream = (cudaStream_t)(void *)&streams[current];
  return cudaSuccess;
}
void *host_context(void) { return host_runtime.context ? &streams[current] : NULL; }
int host_is_current(cudaStream_t stream) { return (char *)stream == &streams[current]; }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  (void)stream;
  host_runtime.stream_waits++;
  host_flush();
  return once();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof **event);
  return *event == NULL ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  free(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  (void)stream;
  event->copies = copies;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  host_runtime.event_waits++;
  flush_until(event->copies);
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
  (void)properties;
  *pool = (cudaMemPool_t)(void *)&pool_address;
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
  if (host_runtime.allocation != cudaSuccess) return noted(host_runtime.allocation);
  if (bytes > host_runtime.limit - host_runtime.used) return noted(cudaErrorMemoryAllocation);
  char *const block = aligned_alloc(256, whole);
  if (block == NULL) return noted(cudaErrorMemoryAllocation);
  memset(block, 0xa5, whole); /* nothing on a device is 0 by itself */
  memcpy(block, &bytes, sizeof bytes);
  host_runtime.used += bytes;
  host_runtime.blocks++;
  host_runtime.allocations++;
  *memory = block + FRONT;
  return cudaSuccess;
}
cudaError_t cudaFree(void *memory) {
  size_t bytes;
  if (memory == NULL) return cudaSuccess;
  host_flush();
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
  host_flush();
  free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  (void)stream;
  const cudaError_t result = once();
  if (result != cudaSuccess) return result;
  host_runtime.copies += kind != cudaMemcpyDeviceToDevice;
  if (copies - first_waiting == WAITING || kind == cudaMemcpyDeviceToDevice) host_flush();
  const size_t k = copies++ % WAITING;
  waiting[k].to = to;
  waiting[k].from = from;
  waiting[k].bytes = bytes;
  if (kind == cudaMemcpyDeviceToDevice) host_flush();
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t stream) {
  (void)stream;
  host_flush();
  memset(memory, byte, bytes);
  return cudaSuccess;
}
