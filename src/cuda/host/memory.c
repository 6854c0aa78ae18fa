/* Memory of a device: small blocks from slabs, others from a pool in the order of its stream.
 * Copies go through page-locked buffers: a ring for small ones in, else two, one being filled while
 * the other is on its way. */
#include "cuda/host/memory.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/host/errors.h"

enum { EMPTY_MOST = 32 }; /* slabs that are kept without a block in use, until memory is out */

static bool share_small, share_known;

void joist_cuda_share_small(bool share) {
  share_small = share;
  share_known = true;
}

static bool is_shared(size_t bytes) {
  if (!share_known) {
    const char *const text = getenv("JOIST_CUDA_SMALL");
    joist_cuda_share_small(text == NULL || strcmp(text, "own") != 0);
  }
  return share_small && bytes <= JOIST_CUDA_BLOCK_MOST;
}

/* ---- from the driver and back ---- */

static cudaError_t new_memory(const struct joist_cuda_state *state, size_t bytes, void **memory) {
  const cudaError_t result =
      state->pool != NULL ? cudaMallocFromPoolAsync(memory, bytes, state->pool, state->stream)
                          : cudaMalloc(memory, bytes);
  if (result == cudaSuccess) return result;
  (void)cudaGetLastError();
  *memory = NULL;
  return result;
}

static void give_back(const struct joist_cuda_state *state, void *memory) {
  const cudaError_t result =
      state->pool != NULL ? cudaFreeAsync(memory, state->stream) : cudaFree(memory);
  if (result != cudaSuccess) (void)cudaGetLastError();
}

/* Gives empty slabs back until at most `most` are left; whether there were more. */
static bool release_slabs(struct joist_cuda_state *state, size_t most) {
  const bool any = state->slabs.empty_count > most;
  while (state->slabs.empty_count > most) give_back(state, joist_cuda_slabs_release(&state->slabs));
  return any;
}

/* What slabs keep comes back before memory is out. */
static cudaError_t new_or_released(struct joist_cuda_state *state, size_t bytes, void **memory) {
  cudaError_t result = new_memory(state, bytes, memory);
  if (result == cudaErrorMemoryAllocation && release_slabs(state, 0))
    result = new_memory(state, bytes, memory);
  return result;
}

/* ---- allocating ---- */

/* Returns NULL if a slab does not fit; there may still be room for the block alone. */
static void *new_small(struct joist_cuda_state *state, size_t bytes) {
  void *memory;
  if (new_memory(state, JOIST_CUDA_SLAB, &memory) != cudaSuccess) return NULL;
  if (joist_cuda_slabs_add(&state->slabs, memory))
    return joist_cuda_slabs_take(&state->slabs, bytes);
  give_back(state, memory);
  return NULL;
}

cudaError_t joist_cuda_reserve(struct joist_cuda_state *state, size_t bytes, void **memory) {
  *memory = NULL;
  if (bytes == 0) bytes = 1; /* for a unique address */
  if (is_shared(bytes)) {
    *memory = joist_cuda_slabs_take(&state->slabs, bytes);
    if (*memory == NULL) *memory = new_small(state, bytes);
    if (*memory != NULL) return cudaSuccess;
  }
  return new_or_released(state, bytes, memory);
}

void *joist_cuda_allocate(const struct joist_device *device, size_t bytes) {
  struct joist_cuda_state *state = joist_cuda_opened(device->ordinal);
  void *memory = NULL;
  if (state != NULL && is_shared(bytes)) memory = joist_cuda_slabs_take(&state->slabs, bytes);
  if (memory != NULL) return memory;
  if (joist_cuda_open(device->ordinal, &state, NULL) != JOIST_OK) return NULL;
  return joist_cuda_reserve(state, bytes, &memory) == cudaSuccess ? memory : NULL;
}

/* Nothing can be reported from here, and a forked child has no driver to tell. */
void joist_cuda_free(const struct joist_device *device, void *memory) {
  struct joist_cuda_state *state = joist_cuda_opened(device->ordinal);
  if (memory == NULL || state == NULL) return;
  const bool of_slab = joist_cuda_slabs_give(&state->slabs, memory);
  if (of_slab && state->slabs.empty_count <= EMPTY_MOST) return;
  if (joist_cuda_open(device->ordinal, &state, NULL) != JOIST_OK) return;
  if (of_slab)
    (void)release_slabs(state, EMPTY_MOST);
  else
    give_back(state, memory);
}

/* ---- copying ---- */

/* Where `bytes` of the ring are free: behind the latest copy, or else at the start of the
 * other half, once the copies from it are done, which they mostly are. */
static cudaError_t ring_place(struct joist_cuda_state *state, size_t bytes, char **place) {
  enum { HALF = JOIST_CUDA_RING / 2, ALIGNMENT = 16 };
  if (state->ring_at + bytes > HALF) {
    const int other = 1 - state->ring_half;
    cudaError_t result = cudaEventRecord(state->ring_passed[state->ring_half], state->stream);
    if (result == cudaSuccess) result = cudaEventSynchronize(state->ring_passed[other]);
    if (result != cudaSuccess) return result;
    state->ring_half = other;
    state->ring_at = 0;
  }
  *place = (char *)state->ring + (size_t)state->ring_half * HALF + state->ring_at;
  state->ring_at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return cudaSuccess;
}

static cudaError_t copy_small(struct joist_cuda_state *state, void *to, const void *from,
                              size_t bytes) {
  char *place;
  const cudaError_t result = ring_place(state, bytes, &place);
  if (result != cudaSuccess) return result;
  memcpy(place, from, bytes);
  return cudaMemcpyAsync(to, place, bytes, cudaMemcpyHostToDevice, state->stream);
}

static cudaError_t copy_in(struct joist_cuda_state *state, char *to, const char *from,
                           size_t bytes) {
  cudaError_t result = cudaSuccess;
  if (bytes <= JOIST_CUDA_SMALL) return copy_small(state, to, from, bytes);
  for (size_t k = 0, done = 0; done < bytes && result == cudaSuccess; k ^= 1) {
    const size_t n = bytes - done < JOIST_CUDA_STAGING ? bytes - done : JOIST_CUDA_STAGING;
    result = cudaEventSynchronize(state->staged[k]);
    if (result != cudaSuccess) break;
    memcpy(state->staging[k], from + done, n);
    result =
        cudaMemcpyAsync(to + done, state->staging[k], n, cudaMemcpyHostToDevice, state->stream);
    if (result == cudaSuccess) result = cudaEventRecord(state->staged[k], state->stream);
    done += n;
  }
  return result;
}

static cudaError_t copy_out(struct joist_cuda_state *state, char *to, const char *from,
                            size_t bytes) {
  size_t length[2] = {0, 0}, asked = 0, done = 0;
  cudaError_t result = cudaSuccess;
  /* Two are on their way before the first is waited for. */
  for (size_t k = 0; done < bytes && result == cudaSuccess; k ^= 1) {
    if (length[k] > 0) {
      result = cudaEventSynchronize(state->staged[k]);
      if (result != cudaSuccess) break;
      memcpy(to + done, state->staging[k], length[k]);
      done += length[k];
      length[k] = 0;
    }
    if (asked == bytes) continue;
    length[k] = bytes - asked < JOIST_CUDA_STAGING ? bytes - asked : JOIST_CUDA_STAGING;
    /* A copy in that still reads the buffer comes first in the stream. */
    result = cudaMemcpyAsync(state->staging[k], from + asked, length[k], cudaMemcpyDeviceToHost,
                             state->stream);
    if (result == cudaSuccess) result = cudaEventRecord(state->staged[k], state->stream);
    asked += length[k];
  }
  return result;
}

joist_status joist_cuda_copy(const struct joist_device *device, void *to, const void *from,
                             size_t bytes, joist_copy direction, struct joist_error *error) {
  struct joist_cuda_state *state;
  const joist_status status = joist_cuda_open(device->ordinal, &state, error);
  if (status != JOIST_OK || bytes == 0) return status;
  cudaError_t result = cudaErrorInvalidValue;
  switch (direction) {
    case JOIST_COPY_TO_DEVICE:
      result = copy_in(state, to, from, bytes);
      break;
    case JOIST_COPY_TO_HOST:
      result = copy_out(state, to, from, bytes);
      break;
    case JOIST_COPY_WITHIN:
      result = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, state->stream);
      break;
  }
  return joist_cuda_check(result, "copying", error);
}

/* ---- figures ---- */

/* To a pool, all of a slab is in use. */
struct joist_device_figures joist_cuda_figures(const struct joist_device *device) {
  struct joist_device_figures figures = {0, 0, 0, 0};
  struct joist_cuda_state *state;
  uint64_t used = 0, reserved = 0;
  if (joist_cuda_open(device->ordinal, &state, NULL) != JOIST_OK) return figures;
  if (state->pool != NULL) {
    (void)cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrUsedMemCurrent, &used);
    (void)cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
  }
  const size_t free = state->slabs.free;
  figures.used = used > free ? (size_t)used - free : 0;
  figures.kept = (size_t)(reserved - used) + free;
  (void)cudaMemGetInfo(&figures.available, &figures.total);
  return figures;
}

size_t joist_cuda_trim(const struct joist_device *device) {
  struct joist_cuda_state *state;
  if (joist_cuda_open(device->ordinal, &state, NULL) != JOIST_OK) return 0;
  const size_t before = joist_cuda_figures(device).kept;
  (void)release_slabs(state, 0);
  (void)cudaStreamSynchronize(state->stream);
  if (state->pool != NULL) (void)cudaMemPoolTrimTo(state->pool, 0);
  const size_t after = joist_cuda_figures(device).kept;
  return before > after ? before - after : 0;
}
