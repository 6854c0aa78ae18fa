/* Thread settings and the fork handler. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "core/base/threads.h"

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifndef _WIN32
#include <pthread.h>
#endif

static int limit = 1;
static int threads = 1;

/* A positive number from the environment, or `otherwise`. */
static int from_environment(const char *name, int otherwise) {
  const char *const text = getenv(name);
  if (text == NULL || *text == '\0') return otherwise;
  char *end;
  const long value = strtol(text, &end, 10);
  return value >= 1 && value <= 100000 ? (int)value : otherwise;
}

static int smaller(int a, int b) { return a < b ? a : b; }

#ifndef _WIN32
static void after_fork_in_child(void) {
  limit = 1;
  threads = 1;
}
#endif

void joist_threads_init(void) {
#ifdef _OPENMP
  limit = smaller(omp_get_num_procs(), omp_get_thread_limit());
#endif
  limit = smaller(limit, from_environment("OMP_THREAD_LIMIT", limit));
  limit = smaller(limit, from_environment("OMP_NUM_THREADS", limit));
  /* CRAN's limit on cores; the value is set by R CMD check. */
  const char *const check = getenv("_R_CHECK_LIMIT_CORES_");
  if (check != NULL && *check != '\0' && *check != 'f' && *check != 'F') limit = smaller(limit, 2);
  threads = smaller(limit, from_environment("JOIST_NUM_THREADS", limit));
#ifndef _WIN32
  pthread_atfork(NULL, NULL, after_fork_in_child);
#endif
}

int joist_threads_get(void) { return threads; }

int joist_threads_set(int number) {
  threads = number < 1 ? 1 : smaller(number, limit);
  return threads;
}

int joist_threads_limit(void) { return limit; }

bool joist_threads_have_openmp(void) {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}
