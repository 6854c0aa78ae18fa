/* Clocks of the operating system. */
#if !defined(_WIN32) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE /* clock_gettime() */
#endif
#include "core/base/clock.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

double joist_busy_seconds(void) {
#if defined(CLOCK_THREAD_CPUTIME_ID) && !defined(_WIN32)
  struct timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
#endif
  return 0;
}

void joist_sleep_millisecond(void) {
#ifdef _WIN32
  Sleep(1);
#else
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
#endif
}
