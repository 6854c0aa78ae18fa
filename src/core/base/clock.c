/* Clocks of the operating system. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE /* clock_gettime() */
#endif
#include "core/base/clock.h"

#include <time.h>

double joist_busy_seconds(void) {
#if defined(CLOCK_THREAD_CPUTIME_ID) && !defined(_WIN32)
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
#endif
  return 0;
}
