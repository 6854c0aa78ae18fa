/* Launches without a GPU: all threads of all blocks, one after the other. Those of a launch
 * with shared memory wait for each other: they take turns at every __syncthreads(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "cuda_runtime.h"

thread_local dim3 threadIdx(0), blockIdx(0), blockDim(1), gridDim(1);

enum { SHARED_BYTES = 48 << 10, STACK_BYTES = 128 << 10, THREADS_MAX = 1024 };

struct alignas(16) joist_shared_word {
  uint64_t part[2];
};
joist_shared_word joist_shared[SHARED_BYTES / sizeof(joist_shared_word)];

/* Each kernel takes a parameter of a type of its own. */
typedef void kernel_function(const void *);
#ifdef __clang__
#define UNTYPED_CALL __attribute__((no_sanitize("function")))
#else
#define UNTYPED_CALL
#endif

static struct {
  kernel_function *run;
  const void *parameter;
  unsigned current;
  bool done[THREADS_MAX];
  ucontext_t scheduler, thread[THREADS_MAX];
  char *stacks;
} block;

static UNTYPED_CALL void run_thread(void) {
  block.run(block.parameter);
  block.done[block.current] = true;
}

void __syncthreads(void) {
  const unsigned own = block.current;
  swapcontext(&block.thread[own], &block.scheduler);
}

/* Alone in a function: getcontext() may return twice. */
static void prepare_thread(unsigned t) {
  block.done[t] = false;
  getcontext(&block.thread[t]);
  block.thread[t].uc_stack.ss_sp = block.stacks + (size_t)t * STACK_BYTES;
  block.thread[t].uc_stack.ss_size = STACK_BYTES;
  block.thread[t].uc_link = &block.scheduler;
  makecontext(&block.thread[t], run_thread, 0);
}

/* Every turn takes all threads to the same barrier, or to the end. */
static void run_block(unsigned threads) {
  memset(joist_shared, 0xa5, sizeof joist_shared);
  for (unsigned t = 0; t < threads; t++) prepare_thread(t);
  for (unsigned done = 0; done < threads;) {
    for (unsigned t = 0; t < threads; t++) {
      block.current = threadIdx.x = t;
      swapcontext(&block.scheduler, &block.thread[t]);
      done += block.done[t];
    }
    if (done > 0 && done < threads) {
      fprintf(stderr, "%u of %u threads of a block are at __syncthreads()\n", threads - done,
              threads);
      abort();
    }
  }
}

extern "C" UNTYPED_CALL cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 threads,
                                                     void **arguments, size_t shared,
                                                     cudaStream_t stream) {
  /* As a launch of nothing is. */
  if (grid.x == 0 || threads.x == 0) return cudaErrorInvalidValue;
  if (shared > SHARED_BYTES || threads.x > THREADS_MAX) return cudaErrorInvalidValue;
  if (!host_is_current(stream)) return cudaErrorInvalidResourceHandle;
  kernel_function *const run = (kernel_function *)kernel;
  const cudaError_t result = host_runtime.next;
  host_runtime.next = cudaSuccess;
  if (result != cudaSuccess) return result;
  host_flush();
  host_runtime.launches++;
  host_runtime.grid = grid.x;
  blockDim = threads;
  gridDim = grid;
  block.run = run;
  block.parameter = arguments[0];
  if (shared > 0 && block.stacks == nullptr)
    block.stacks = (char *)malloc((size_t)THREADS_MAX * STACK_BYTES);
  for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
    if (shared > 0) {
      run_block(threads.x);
      continue;
    }
    for (threadIdx.x = 0; threadIdx.x < threads.x; threadIdx.x++) run(arguments[0]);
  }
  return cudaSuccess;
}
