/* The parallel loop: every task runs once, no two at a time have the same worker, and polls come
 * in between and can stop it. How ranges are cut into strips and shares. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "core/base/parallel.h"

#include <math.h>
#include <time.h>

#ifdef __linux__
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "core/base/clock.h"
#include "errors.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { THREADS = 5, MOST = 3000 };

/* ---- cutting ---- */

static void test_sizes(void) {
  for (size_t n = 0; n < 200; n++)
    for (size_t by = 1; by < 40; by++) {
      size_t pieces = 0, end = 0;
      for (size_t k = 0; k < n; k += by) {
        const struct joist_part part = joist_strip_of(n, by, pieces++);
        CHECK(part.first == k && part.n == (n < k + by ? n - k : by));
      }
      CHECK_INT(joist_divide_up(n, by), pieces);
      CHECK_INT(joist_round_up(n, by), pieces * by);
      CHECK_INT(joist_smaller(n, by), n < by ? n : by);
      for (size_t k = 0; k < by; k++) {
        const struct joist_part part = joist_share_of(n, by, k);
        CHECK(part.first == end && part.n >= n / by && part.n <= n / by + 1);
        end += part.n;
      }
      CHECK_INT(end, n);
    }
  CHECK(joist_divide_up(SIZE_MAX, 2) == SIZE_MAX / 2 + 1);
  CHECK(joist_share_of(SIZE_MAX, 3, 2).first == SIZE_MAX / 3 * 2);
}

/* ---- tasks ---- */

/* What tasks leave behind. */
struct trace {
  _Atomic int runs[MOST];
  _Atomic int busy[THREADS]; /* workers that are at it */
  _Atomic int clashes;
  _Atomic size_t lowest;
  int polls, stop_at;
};

static void leave_trace(const void *context, size_t task, size_t worker) {
  struct trace *const trace = *(struct trace *const *)context;
  if (worker >= THREADS || trace->busy[worker]++ != 0) trace->clashes++;
  trace->runs[task]++;
  joist_lower(&trace->lowest, MOST - task);
  if (worker < THREADS) trace->busy[worker]--;
}

static bool poll_trace(void *context) {
  struct trace *const trace = context;
  return ++trace->polls == trace->stop_at;
}

/* Tasks that ran once, as all those before the first that did not. */
static size_t ran(const struct trace *trace) {
  size_t first = 0, n = 0;
  while (first < MOST && trace->runs[first] == 1) first++;
  for (size_t k = first; k < MOST; k++) n += trace->runs[k] != 0;
  CHECK_INT(n, 0);
  return first;
}

static void test_tasks(void) {
  static const size_t counts[] = {0, 1, 2, 3, 5, 64, 161, 1000, MOST};
  for (int threads = 1; threads <= THREADS; threads++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      struct trace trace = {.lowest = MOST}, *const context = &trace;
      joist_parallel(threads, counts[c], leave_trace, &context);
      CHECK_INT(ran(&trace), counts[c]);
      CHECK_INT(trace.clashes, 0);
      CHECK_INT(trace.lowest, counts[c] == 0 ? MOST : MOST - counts[c] + 1);
    }
}

static void test_polls(void) {
  static const size_t work[] = {0, 1, 1u << 20, 1u << 24, SIZE_MAX / 2, SIZE_MAX};
  for (int threads = 1; threads <= THREADS; threads++)
    for (size_t w = 0; w < sizeof work / sizeof *work; w++) {
      struct trace trace = {.lowest = MOST}, *const context = &trace;
      const struct joist_run run = {
          .threads = threads, .parallel_from = 1, .poll = poll_trace, .context = &trace};
      struct joist_error error;
      CHECK_INT(joist_tasks_run(&run, MOST, work[w], leave_trace, &context, &error), JOIST_OK);
      CHECK_INT(ran(&trace), MOST);
      CHECK_INT(trace.clashes, 0);
      /* Never for little work, often for much. */
      CHECK_MSG(work[w] > 1 ? trace.polls >= MOST / 128 - 1 : trace.polls == 0,
                "%zu additions by %d threads: %d polls", work[w], threads, trace.polls);
      if (work[w] <= 1) continue;
      trace = (struct trace){.stop_at = 3};
      CHECK_INT(joist_tasks_run(&run, MOST, work[w], leave_trace, &context, &error),
                JOIST_INTERRUPTED);
      CHECK(ran(&trace) >= 3 && ran(&trace) <= (size_t)3 * 128);
      CHECK_INT(trace.polls, 3);
    }
}

static void test_threads_for(void) {
  const struct joist_run all = {.threads = 4, .parallel_from = 1}, usual = {.threads = 4};
  CHECK_INT(joist_threads_for(&all, 1, 3), 3);
  CHECK_INT(joist_threads_for(&all, 1, 9), 4);
  CHECK_INT(joist_threads_for(&all, SIZE_MAX, 1), 1);
  CHECK_INT(joist_threads_for(&all, 0, 9), 1);
  CHECK_INT(joist_threads_for(&usual, 1000, 9), 1);
  CHECK_INT(joist_threads_for(&usual, SIZE_MAX, SIZE_MAX), 4);
}

#ifdef _OPENMP
static void sleep_for(long milliseconds) {
  nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* The second worker holds up the caller, whose own tasks are over when it begins. */
static void hold_up(const void *context, size_t task, size_t worker) {
  atomic_bool *const others_began = *(atomic_bool *const *)context;
  (void)task;
  if (worker > 0) {
    atomic_store(others_began, true);
    sleep_for(20);
  } else {
    for (int k = 0; k < 60000 && !atomic_load(others_began); k++) sleep_for(1);
  }
}

/* A team that made the caller wait is not asked again for a while; and then it is. */
static void test_wait(void) {
  const struct joist_run run = {.threads = 2}, all = {.threads = 2, .parallel_from = 1};
  atomic_bool others_began = false, *const context = &others_began;
  CHECK_INT(joist_threads_for(&run, SIZE_MAX, 2), 2);
  joist_parallel(2, 2, hold_up, &context);
  CHECK(others_began);
  CHECK_INT(joist_threads_for(&run, SIZE_MAX, 2), 1);
  CHECK_INT(joist_threads_for(&all, SIZE_MAX, 2), 2);
  const double start = omp_get_wtime();
  double alone = 0;
  while (joist_threads_for(&run, SIZE_MAX, 2) == 1 && alone < 30) {
    sleep_for(10);
    alone = omp_get_wtime() - start;
  }
  CHECK_MSG(alone >= 0.3 && alone < 30, "alone for %g s", alone);
}

struct uneven {
  atomic_bool began;
  double took[2]; /* seconds, by worker */
};

/* The second worker has the longer one of two tasks. */
static void spin_longer(const void *context, size_t task, size_t worker) {
  struct uneven *const uneven = *(struct uneven *const *)context;
  (void)task;
  if (worker > 0) atomic_store(&uneven->began, true);
  for (int k = 0; k < 2000 && !atomic_load(&uneven->began); k++) sleep_for(1);
  const double work = worker > 0 ? 0.016 : 0.01, start = omp_get_wtime();
  const double busy = joist_busy_seconds();
  while (joist_busy_seconds() - busy < work) continue;
  uneven->took[worker] += omp_get_wtime() - start;
}

/* A team that is done before the caller alone would be is asked again, though the caller waits;
 * tried until no other program holds up either of the two, for some seconds. */
static void test_uneven(void) {
  const struct joist_run run = {.threads = 2};
  const double start = omp_get_wtime();
  bool undisturbed = false;
  while (!undisturbed && omp_get_wtime() - start < 5) {
    if (joist_threads_for(&run, SIZE_MAX, 2) == 1) {
      sleep_for(10);
      continue;
    }
    struct uneven uneven = {.began = false}, *const context = &uneven;
    joist_parallel(2, 2, spin_longer, &context);
    undisturbed = uneven.took[0] < 0.0105 && uneven.took[1] > 0.015 && uneven.took[1] < 0.017;
  }
  if (!undisturbed) printf("other programs disturb a team of two all the time\n");
  CHECK(!undisturbed || joist_threads_for(&run, SIZE_MAX, 2) == 2);
}

#ifdef __linux__
static void spin(const void *context, size_t task, size_t worker) {
  (void)task;
  (void)worker;
  volatile double sum = 0;
  for (int k = 0; k < *(const int *)context; k++) sum = sum + k;
}

/* Processor time of some regions. */
static double time_of_regions(int threads, int turns) {
  const struct joist_run run = {.threads = threads};
  const clock_t start = clock();
  for (int k = 0; k < 50; k++) {
    struct joist_error error;
    if (joist_tasks_run(&run, 16, 1 << 16, spin, &turns, &error) != JOIST_OK) return INFINITY;
  }
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* On one processor a second thread only alternates with the caller, which spins for it at the start
 * or end of a region. This must cost little, because the caller soon works alone. Runs in a child
 * process, whose threads stay on that processor. */
static void test_one_processor(void) {
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    double alone = 0, team = 0;
    if (sched_setaffinity(0, sizeof one, &one) == 0)
      for (int round = 0; round < 10; round++) {
        alone += time_of_regions(1, 20000);
        team += time_of_regions(2, 20000);
      }
    printf("one processor: %.2f s alone, %.2f s as a team\n", alone, team);
    fflush(stdout);
    _exit(team <= 1.75 * alone ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}
#endif
#endif

int main(void) {
#if defined(_OPENMP) && defined(__linux__)
  test_one_processor(); /* before this process has threads */
#endif
  test_sizes();
  test_threads_for();
#ifdef _OPENMP
  test_wait();
  if (joist_busy_seconds() > 0) test_uneven();
#endif
  test_tasks();
  test_polls();
  return check_report("parallel");
}
