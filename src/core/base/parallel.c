/* Running independent tasks. */
#include "core/base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  BLOCK = 1 << 24,         /* additions' worth between two calls of poll */
  PARALLEL_FROM = 1 << 18, /* elements x work (an addition being 1) that pay a second thread */
  STREAM_FROM = 1 << 23    /* bytes */
};

joist_status joist_run_poll(const struct joist_run *run, struct joist_error *error) {
  if (run->poll == NULL || !run->poll(run->context)) return JOIST_OK;
  return joist_fail(error, JOIST_INTERRUPTED, "interrupted");
}

int joist_threads_for(const struct joist_run *run, size_t work, size_t tasks) {
  const size_t from = run->parallel_from > 0 ? run->parallel_from : (size_t)PARALLEL_FROM;
  if (run->threads <= 1 || tasks <= 1 || work < from) return 1;
  return (size_t)run->threads < tasks ? run->threads : (int)tasks;
}

size_t joist_stream_from(const struct joist_run *run) {
  return run->stream_from > 0 ? run->stream_from : (size_t)STREAM_FROM;
}

joist_status joist_tasks_run(const struct joist_run *run, size_t count, size_t work,
                             joist_task *task, const void *context, struct joist_error *error) {
  const int threads = joist_threads_for(run, count * work, count);
  const size_t block = work >= BLOCK ? 1 : BLOCK / (work == 0 ? 1 : work);
  /* A block keeps every thread busy, however large a task is. */
  const size_t step = block < (size_t)threads ? (size_t)threads : block;
  for (size_t begin = 0; begin < count; begin += step) {
    const size_t end = count - begin < step ? count : begin + step;
    if (begin > 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1) schedule(dynamic, 1)
#endif
    for (size_t k = begin; k < end; k++) task(context, k);
  }
  return JOIST_OK;
}
