/* A plan that is being run on a device, and what every kind of group needs of it. Private to
 * src/cuda. */
#ifndef JOIST_CUDA_OPS_LAUNCH_H
#define JOIST_CUDA_OPS_LAUNCH_H

#include "core/plan/groups.h"
#include "core/types/error.h"
#include "cuda/host/errors.h"
#include "cuda/host/memory.h"
#include "cuda/kernels/kernels.h"

struct running {
  const struct joist_device *device;
  struct joist_cuda_state *state;
  const struct joist_plan *plan;
  void *const *arrays; /* per value, in the device's memory but for those that are given */
  const bool *given;   /* per value: its element goes into parameters; NULL when none does */
  const struct joist_run *run;
  const struct joist_group *group; /* that is being run */
};

static inline size_t count_of(const struct joist_program *program, joist_value_id value) {
  return joist_value_count(&program->values[value]);
}

static inline size_t bytes_of(const struct joist_program *program, joist_value_id value) {
  return joist_value_bytes(&program->values[value]);
}

static inline joist_status out_of_memory(const struct running *r, size_t bytes,
                                         struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_GPU_MEMORY, .number = {r->device->ordinal}, .bytes = bytes);
}

static inline joist_status allocate(const struct running *r, size_t bytes, void **memory,
                                    struct joist_error *error) {
  const cudaError_t result = joist_cuda_reserve(r->state, bytes, memory);
  if (result == cudaErrorMemoryAllocation) return out_of_memory(r, bytes, error);
  return joist_cuda_check(result, "allocating memory", error);
}

static inline joist_status start(const struct running *r, joist_cuda_kernel kernel,
                                 uint64_t threads, const void *parameter,
                                 struct joist_error *error) {
  if (threads == 0) return JOIST_OK;
  return joist_cuda_check(
      (cudaError_t)joist_cuda_start(kernel, threads, parameter, r->state->stream),
      "starting a kernel", error);
}

static inline joist_status convert(const struct running *r, uint64_t count, joist_dtype from,
                                   const void *in, joist_dtype to, void *out,
                                   struct joist_error *error) {
  const struct joist_cuda_finish finish = {
      .count = count, .in = in, .out = out, .from = (uint32_t)from, .to = (uint32_t)to};
  return start(r, JOIST_CUDA_FINISH, count, &finish, error);
}

static inline joist_status copy_within(const struct running *r, void *to, const void *from,
                                       size_t bytes, struct joist_error *error) {
  if (bytes == 0 || to == from) return JOIST_OK;
  return joist_cuda_check(
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, r->state->stream), "copying",
      error);
}

/* What the threads noted in the device's `failure`, UINT64_MAX if nothing; waits for them. */
static inline joist_status read_failure(const struct running *r, uint64_t *found,
                                        struct joist_error *error) {
  struct joist_cuda_state *const state = r->state;
  cudaError_t result = cudaMemcpyAsync(state->failure_found, state->failure, sizeof *state->failure,
                                       cudaMemcpyDeviceToHost, state->stream);
  if (result == cudaSuccess) result = cudaStreamSynchronize(state->stream);
  *found = *state->failure_found;
  return joist_cuda_check(result, "running a program", error);
}

static inline joist_status clear_failure(const struct running *r, struct joist_error *error) {
  return joist_cuda_check(
      cudaMemsetAsync(r->state->failure, 0xff, sizeof *r->state->failure, r->state->stream),
      "starting a kernel", error);
}

static inline bool is_given(const struct running *r, joist_value_id value) {
  return r->given != NULL && r->given[value];
}

/* The elements of a value as `dtype`: its own memory, or a conversion that the caller frees. */
joist_status joist_cuda_convert(const struct running *r, joist_value_id value, joist_dtype dtype,
                                const void **data, void **made,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
