/* Launches without a GPU: all threads of all blocks, one after the other. Those of a launch
 * with shared memory wait for each other: they take turns at every __syncthreads(). In which
 * order blocks and threads run is drawn anew for each launch and turn, so that kernels that rely
 * on one, for want of a barrier or because they write what other threads read, give results
 * that differ. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <numeric>

#include "cuda_runtime.h"

#include "cuda/kernels/shared.cuh"

thread_local dim3 threadIdx(0), blockIdx(0), blockDim(1), gridDim(1);

enum { SHARED_BYTES = 48 << 10, STACK_BYTES = 128 << 10, THREADS_MAX = 1024 };

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
  jmp_buf scheduler, thread[THREADS_MAX];
  char *stacks;
  unsigned prepared; /* threads that wait on their stacks for the next block */
} block;

/* ---- the order of a turn ---- */

/* The numbers below `count`, each once: first, first + step, ... modulo count. */
struct order {
  unsigned first, step;
};

static uint64_t draw(void) {
  static uint64_t state = 0x9e3779b97f4a7c15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state >> 16;
}

/* Forwards, backwards, or neither. */
static struct order draw_order(unsigned count) {
  const uint64_t kind = draw() % 4;
  if (count < 2 || kind == 0) return {0, 1};
  if (kind == 1) return {count - 1, count - 1};
  struct order order = {(unsigned)(draw() % count), (unsigned)(1 + draw() % (count - 1))};
  while (std::gcd(order.step, count) != 1) order.step = 1 + order.step % (count - 1);
  return order;
}

static unsigned nth(struct order order, unsigned n, unsigned count) {
  return (unsigned)((order.first + (uint64_t)n * order.step) % count);
}

/* ---- threads that wait for each other ---- */

/* Back to the scheduler, until it goes on with this thread. Contexts only begin a stack: to change
 * them takes a system call. */
static void wait_for_turn(void) {
  if (_setjmp(block.thread[block.current]) == 0) _longjmp(block.scheduler, 1);
}

void __syncthreads(void) { wait_for_turn(); }

static UNTYPED_CALL void run_thread(void) {
  for (;;) {
    wait_for_turn();
    block.run(block.parameter);
    block.done[block.current] = true;
  }
}

static void prepare_thread(unsigned t) {
  static ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = block.stacks + (size_t)t * STACK_BYTES;
  context.uc_stack.ss_size = STACK_BYTES;
  makecontext(&context, run_thread, 0);
  block.current = t;
  if (_setjmp(block.scheduler) == 0) setcontext(&context);
}

static void go_on_with(unsigned t) {
  block.current = threadIdx.x = t;
  if (_setjmp(block.scheduler) == 0) _longjmp(block.thread[t], 1);
}

/* Every turn takes all threads to the same barrier, or to the end. */
static void run_block(unsigned threads) {
  memset(joist_shared, 0xa5, sizeof joist_shared);
  for (; block.prepared < threads; block.prepared++) prepare_thread(block.prepared);
  memset(block.done, 0, sizeof block.done);
  for (unsigned done = 0; done < threads;) {
    const struct order order = draw_order(threads);
    for (unsigned n = 0; n < threads; n++) {
      const unsigned t = nth(order, n, threads);
      go_on_with(t);
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
  const struct order blocks = draw_order(grid.x);
  for (unsigned b = 0; b < grid.x; b++) {
    blockIdx.x = nth(blocks, b, grid.x);
    if (shared > 0) {
      run_block(threads.x);
      continue;
    }
    const struct order order = draw_order(threads.x);
    for (unsigned n = 0; n < threads.x; n++) {
      threadIdx.x = nth(order, n, threads.x);
      run(arguments[0]);
    }
  }
  return cudaSuccess;
}
