/* Work that splits into independent tasks: shared among threads, with polls in between. */
#ifndef JOIST_CORE_BASE_PARALLEL_H
#define JOIST_CORE_BASE_PARALLEL_H

#include "core/base/run.h"
#include "core/base/status.h"

/* JOIST_INTERRUPTED when the caller asks to stop. */
joist_status joist_run_poll(const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

/* Number of threads for `work` additions' worth of computing that splits into `tasks`. */
int joist_threads_for(const struct joist_run *run, size_t work, size_t tasks);

/* Bytes from which a result is better written past the caches, which would not keep it. */
size_t joist_stream_from(const struct joist_run *run);

/* One of the tasks. Tasks run in any order, several at once, and write to different places. */
typedef void joist_task(const void *context, size_t task);

/* Runs tasks 0 .. count - 1, each about `work` additions' worth. JOIST_INTERRUPTED when the
 * caller asked to stop. */
joist_status joist_tasks_run(const struct joist_run *run, size_t count, size_t work,
                             joist_task *task, const void *context,
                             struct joist_error *error) JOIST_MUST_CHECK;

#endif
