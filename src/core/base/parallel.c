/* Running independent tasks. */
#include "core/base/parallel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  BLOCK = 1 << 27,         /* additions' worth between two calls of poll: some 30 ms */
  PARALLEL_FROM = 1 << 18, /* elements x work (an addition being 1) that pay a second thread */
  STREAM_FROM = 1 << 23,   /* bytes */
  TAKES = 32               /* a thread takes its tasks in so many parts: see below */
};

joist_status joist_run_poll(const struct joist_run *run, struct joist_error *error) {
  (void)error; /* the status says it all */
  return run->poll != NULL && run->poll(run->context) ? JOIST_INTERRUPTED : JOIST_OK;
}

int joist_threads_for(const struct joist_run *run, size_t work, size_t tasks) {
  const size_t from = run->parallel_from > 0 ? run->parallel_from : (size_t)PARALLEL_FROM;
  if (run->threads <= 1 || tasks <= 1 || work < from) return 1;
  return (int)joist_smaller((size_t)run->threads, tasks);
}

size_t joist_stream_from(const struct joist_run *run) {
  return run->stream_from > 0 ? run->stream_from : (size_t)STREAM_FROM;
}

/* Tasks begin .. end - 1. A team of one would still cost OpenMP a rendezvous. Threads take a few
 * tasks at a time: they seldom meet, and one that waits for a processor holds up few. */
static void run_range(int threads, size_t begin, size_t end, joist_task *task,
                      const void *context) {
#ifdef _OPENMP
  if (threads > 1 && end - begin > 1) {
    const size_t few = joist_divide_up(end - begin, (size_t)threads * TAKES);
#pragma omp parallel for num_threads(threads) schedule(dynamic, few)
    for (size_t k = begin; k < end; k++) task(context, k, (size_t)omp_get_thread_num());
    return;
  }
#endif
  (void)threads;
  for (size_t k = begin; k < end; k++) task(context, k, 0);
}

void joist_parallel(int threads, size_t count, joist_task *task, const void *context) {
  run_range(threads, 0, count, task, context);
}

joist_status joist_tasks_run_on(const struct joist_run *run, int threads, size_t count, size_t work,
                                joist_task *task, const void *context, struct joist_error *error) {
  const size_t fit = BLOCK / (work == 0 ? 1 : work), workers = (size_t)threads;
  /* A block keeps every thread busy, however large a task is. */
  const size_t step = fit < workers ? workers : fit;
  for (size_t begin = 0; begin < count; begin += step) {
    if (begin > 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
    run_range(threads, begin, count - begin < step ? count : begin + step, task, context);
  }
  return JOIST_OK;
}

joist_status joist_tasks_run(const struct joist_run *run, size_t count, size_t work,
                             joist_task *task, const void *context, struct joist_error *error) {
  const size_t all = count > 0 && work > SIZE_MAX / count ? SIZE_MAX : count * work;
  return joist_tasks_run_on(run, joist_threads_for(run, all, count), count, work, task, context,
                            error);
}
