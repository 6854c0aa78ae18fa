/* Work that splits into independent tasks: shared among threads, with polls in between. */
#ifndef JOIST_CORE_BASE_PARALLEL_H
#define JOIST_CORE_BASE_PARALLEL_H

#include <stdatomic.h>

#include "core/base/bits.h"
#include "core/base/run.h"
#include "core/base/status.h"

enum { JOIST_PARALLEL_FROM = 1 << 18 }; /* additions' worth of work that pays a second thread */

/* JOIST_INTERRUPTED when the caller asks to stop; that status has no facts. */
joist_status joist_run_poll(const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

/* Number of threads for `work` additions' worth of computing that splits into `tasks`. */
int joist_threads_for(const struct joist_run *run, size_t work, size_t tasks);

/* Bytes from which a result is better written past the caches, which would not keep it. */
size_t joist_stream_from(const struct joist_run *run);

/* One of the tasks. They run in any order, several at once, each with another `worker`, a number
 * less than the number of threads: it says whose scratch memory to use. They write to different
 * places, and what they write depends neither on the worker nor on how many there are. */
typedef void joist_task(const void *context, size_t task, size_t worker);

/* Runs tasks 0 .. count - 1 by at most `threads` workers; one is the caller. */
void joist_parallel(int threads, size_t count, joist_task *task, const void *context);

/* The same for long work: tasks of about `work` additions' worth each, with polls in between.
 * JOIST_INTERRUPTED when the caller asked to stop. */
joist_status joist_tasks_run_on(const struct joist_run *run, int threads, size_t count, size_t work,
                                joist_task *task, const void *context,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* The same by as many threads as pay. */
joist_status joist_tasks_run(const struct joist_run *run, size_t count, size_t work,
                             joist_task *task, const void *context,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* Lowers a number that other workers lower, too. */
static inline void joist_lower(_Atomic size_t *lowest, size_t to) {
  size_t now = atomic_load_explicit(lowest, memory_order_relaxed);
  while (to < now && !atomic_compare_exchange_weak_explicit(lowest, &now, to, memory_order_relaxed,
                                                            memory_order_relaxed))
    continue;
}

#endif
