/* The thread setting and its limits, and a child after fork: it sees one thread, and runs
 * a program whose parent had more without waiting for threads that it does not have. */
#include "core/base/threads.h"

#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/plan/plan.h"
#include "core/promotion/builtin_rules.h"

#include "programs.h"
#include "rules.h"

#include <stdlib.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { ELEMENTS = 1 << 20 };

/* x * x + x and its sum: large enough for several threads. */
static joist_status run_program(int threads, const float *x, float *y, float *sum) {
  struct joist_program program;
  struct joist_error error;
  struct joist_plan *plan = NULL;
  joist_program_init(&program);
  const joist_value_id input = add_input(&program, JOIST_F32, 1, (uint32_t[]){ELEMENTS});
  const joist_value_id square = add_simple(&program, JOIST_OP_MUL, input, input);
  const joist_value_id result = add_simple(&program, JOIST_OP_ADD, square, input);
  add_output(&program, result);
  add_output(&program, add_simple(&program, JOIST_OP_REDUCE_SUM, result, result));
  joist_status status = joist_plan_make(&program, &plan, &error);
  if (status == JOIST_OK) {
    const struct joist_run run = {.threads = threads, .parallel_from = 1};
    status = joist_plan_run(plan, (const void *[]){x}, (void *[]){y, sum}, &run, &error);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
  return status;
}

static void test_settings(void) {
  const int limit = joist_threads_limit();
  CHECK(limit >= 1);
  CHECK(joist_threads_get() >= 1 && joist_threads_get() <= limit);
  CHECK_INT(joist_threads_set(1), 1);
  CHECK_INT(joist_threads_get(), 1);
  CHECK_INT(joist_threads_set(1000000), limit);
  CHECK_INT(joist_threads_set(0), 1);
  CHECK_INT(joist_threads_set(-5), 1);
  CHECK_INT(joist_threads_set(limit), limit);
  if (!joist_threads_have_openmp()) CHECK_INT(limit, 1);
}

#ifndef _WIN32
/* Runs init in a child with one variable set, and gives what it then sees. */
static void threads_with(const char *name, const char *value, int *limit, int *threads) {
  int ends[2], seen[2] = {-1, -1};
  if (!CHECK(pipe(ends) == 0)) return;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    setenv(name, value, 1);
    joist_threads_init();
    seen[0] = joist_threads_limit();
    seen[1] = joist_threads_get();
    const bool sent = write(ends[1], seen, sizeof seen) == (ssize_t)sizeof seen;
    _exit(sent ? 0 : 1);
  }
  int status;
  CHECK(read(ends[0], seen, sizeof seen) == (ssize_t)sizeof seen);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  close(ends[0]);
  close(ends[1]);
  *limit = seen[0];
  *threads = seen[1];
}

static void test_environment(void) {
  static const char *const limiting[] = {"OMP_THREAD_LIMIT", "OMP_NUM_THREADS"};
  static const char *const nonsense[] = {"", "0", "-3", "many", "99999999999999999999", "100001"};
  const int full = joist_threads_limit();
  int limit, threads;
  for (size_t k = 0; k < 2; k++) {
    threads_with(limiting[k], "1", &limit, &threads);
    CHECK_INT(limit, 1);
    CHECK_INT(threads, 1);
    for (size_t n = 0; n < sizeof nonsense / sizeof *nonsense; n++) {
      threads_with(limiting[k], nonsense[n], &limit, &threads);
      CHECK_MSG(limit == full, "%s=%s: limit %d", limiting[k], nonsense[n], limit);
    }
  }
  threads_with("JOIST_NUM_THREADS", "1", &limit, &threads);
  CHECK_INT(limit, full);
  CHECK_INT(threads, 1);
  threads_with("JOIST_NUM_THREADS", "1000", &limit, &threads);
  CHECK_INT(threads, full);
  threads_with("_R_CHECK_LIMIT_CORES_", "TRUE", &limit, &threads);
  CHECK(limit <= 2);
  threads_with("_R_CHECK_LIMIT_CORES_", "false", &limit, &threads);
  CHECK_INT(limit, full);
}

static void test_fork(void) {
  float *const x = malloc(ELEMENTS * sizeof *x), *const y = malloc(ELEMENTS * sizeof *y),
               *const again = malloc(ELEMENTS * sizeof *again);
  float sum = 0, other = 0;
  if (!CHECK(x != NULL && y != NULL && again != NULL)) return;
  for (size_t i = 0; i < ELEMENTS; i++) x[i] = (float)(i % 1000) / 1000;
  /* Two threads even on one core, so that the parent has a pool of them to lose. */
  CHECK_INT(run_program(2, x, y, &sum), JOIST_OK);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30); /* a hang becomes a failure */
    int wrong = joist_threads_get() != 1;
    wrong |= (joist_threads_limit() != 1) << 1;
    wrong |= (joist_threads_set(8) != 1) << 2;
    wrong |= (run_program(joist_threads_get(), x, again, &other) != JOIST_OK) << 3;
    wrong |= (memcmp(y, again, ELEMENTS * sizeof *y) != 0 || sum != other) << 4;
    _exit(wrong);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK_MSG(status == 0, "the forked child ended with status %#x", (unsigned)status);
  /* The parent is as it was. */
  CHECK_INT(joist_threads_get(), joist_threads_limit());
  CHECK_INT(run_program(2, x, again, &other), JOIST_OK);
  CHECK(memcmp(y, again, ELEMENTS * sizeof *y) == 0 && sum == other);
  free(x);
  free(y);
  free(again);
}
#endif

int main(void) {
  use_rules();
#ifndef _WIN32
  unsetenv("JOIST_NUM_THREADS");
  unsetenv("_R_CHECK_LIMIT_CORES_");
  unsetenv("OMP_NUM_THREADS");
  unsetenv("OMP_THREAD_LIMIT");
#endif
  joist_threads_init();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_settings();
#ifndef _WIN32
  test_environment();
  test_fork();
#endif
  return check_report("threads");
}
