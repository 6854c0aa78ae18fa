/* How many threads the engine may use. A process-wide setting of our own: nothing here
 * changes what OpenMP does for other packages. */
#ifndef JOIST_CORE_BASE_THREADS_H
#define JOIST_CORE_BASE_THREADS_H

#include <stdbool.h>

/* Reads JOIST_NUM_THREADS, OMP_THREAD_LIMIT, OMP_NUM_THREADS and the number of cores, and
 * registers the fork handler: a forked child runs single-threaded, because OpenMP's
 * threads do not survive a fork. */
void joist_threads_init(void);

int joist_threads_get(void);
/* Sets the number, at least 1 and at most joist_threads_limit(); returns what is set. */
int joist_threads_set(int number);
int joist_threads_limit(void);
bool joist_threads_have_openmp(void);

#endif
