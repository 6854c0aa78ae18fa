/* Running independent tasks. */
#include "core/base/parallel.h"

#include "core/base/clock.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  BLOCK = 1 << 24,         /* additions' worth before the first call of poll */
  LONGEST_BLOCK = 1 << 27, /* and between later ones: some 30 ms */
  STREAM_FROM = 1 << 23,   /* bytes */
  TAKES = 32               /* a thread takes its tasks in so many parts: see below */
};

joist_status joist_run_poll(const struct joist_run *run, struct joist_error *error) {
  (void)error; /* the status says it all */
  return run->poll != NULL && run->poll(run->context) ? JOIST_INTERRUPTED : JOIST_OK;
}

#ifdef _OPENMP
/* ---- whether a team pays ----
 *
 * Where other programs want the processors, a thread that has taken its last tasks may wait for
 * one, and the caller with it: for milliseconds, where the work takes one; or it still has to leave
 * the last region before the next may begin. So waits that are long beside the work, and longer
 * together than what teams saved before, send the caller off to work alone for many times as long.
 * Each further one doubles that, regions without one halve it.
 *
 * No count of work can tell whether other programs want the processors. Two threads on two
 * processors, a million f32, mean milliseconds of a call beside one busy process (and one thread):
 * sums 0.7 (0.9), without this 8.4; `x + y` 3.1 (5.5), without 24.0; exp() 9.0 (8.9), without 22.8.
 */

static const double as_long = 25;       /* times the wait */
static const double longest_alone = 1;  /* seconds */
static const double no_wait = 0.2e-3;   /* what waking a thread takes */
static const double trust = 0.1;        /* after so long without a wait a spell is half as long */
static const double most_saved = 10e-3; /* an idle machine makes a team wait now and then, too */

static _Thread_local struct {
  double until; /* by omp_get_wtime(): till then alone */
  double spell; /* how long the last time was to be, or less by now */
  double saved; /* by regions without a wait, half of what the others worked in them */
} alone;

static bool is_alone(void) { return alone.until > 0 && omp_get_wtime() < alone.until; }

/* Called after a region in which the caller worked and, before and after, waited for so many
 * seconds. `alone_took` is how long the caller alone would have taken for all tasks. If that is
 * longer than work and wait together, the wait paid: there were few tasks, and other threads were
 * still running theirs. */
static void note_wait(double worked, double waited, double alone_took) {
  if (waited < no_wait + worked / 4 || worked + waited < alone_took) {
    alone.spell *= trust / (trust + worked);
    alone.saved += worked / 2;
    if (alone.saved > most_saved) alone.saved = most_saved;
    return;
  }
  alone.saved -= waited;
  if (alone.saved >= 0) return;
  alone.saved = 0;
  alone.spell = 2 * alone.spell + as_long * waited;
  if (alone.spell > longest_alone) alone.spell = longest_alone;
  alone.until = omp_get_wtime() + alone.spell;
}
#else
static bool is_alone(void) { return false; }
#endif

/* `parallel_from` 1 asks for a team whether it pays or not. */
static bool team_pays(const struct joist_run *run) {
  return run->parallel_from == 1 || !is_alone();
}

int joist_threads_for(const struct joist_run *run, size_t work, size_t tasks) {
  const size_t from = run->parallel_from > 0 ? run->parallel_from : (size_t)JOIST_PARALLEL_FROM;
  if (run->threads <= 1 || tasks <= 1 || work < from || !team_pays(run)) return 1;
  return (int)joist_smaller((size_t)run->threads, tasks);
}

size_t joist_stream_from(const struct joist_run *run) {
  return run->stream_from > 0 ? run->stream_from : (size_t)STREAM_FROM;
}

/* Tasks before `end`, by those who take them, a few at a time. */
struct range {
  _Atomic size_t next;
  size_t end, few;
  joist_task *task;
  const void *context;
};

/* Takes tasks as long as there are any. Returns how many it took. */
static size_t take(struct range *range, size_t worker) {
  size_t taken = 0;
  for (size_t first; (first = atomic_fetch_add(&range->next, range->few)) < range->end;)
    for (size_t k = first; k < range->end && k - first < range->few; k++, taken++)
      range->task(range->context, k, worker);
  return taken;
}

/* Tasks begin .. end - 1. A team of one would still cost OpenMP a rendezvous. Threads take a few
 * tasks at a time: they seldom meet, and one that waits for a processor holds up few. */
static void run_range(int threads, size_t begin, size_t end, joist_task *task,
                      const void *context) {
  const size_t count = end - begin, few = joist_divide_up(count, (size_t)threads * TAKES);
  struct range range = {.next = begin, .end = end, .few = few, .task = task, .context = context};
#ifdef _OPENMP
  if (threads > 1 && count > 1) {
    /* With many tasks the wait for the last ones is short, unless a thread lacks a processor. */
    const bool clocked = few == 1;
    const double start = omp_get_wtime();
    double began = start, ended = start, busy = 0;
    size_t taken = 0; /* by the caller */
#pragma omp parallel num_threads(threads)
    {
      const size_t worker = (size_t)omp_get_thread_num();
      if (worker > 0) {
        take(&range, worker);
      } else {
        began = omp_get_wtime();
        if (clocked) busy = joist_busy_seconds();
        taken = take(&range, worker);
        if (clocked) busy = joist_busy_seconds() - busy;
        ended = omp_get_wtime();
      }
    }
    const double alone_took = taken > 0 ? busy * (double)count / (double)taken : 0;
    note_wait(ended - began, began - start + omp_get_wtime() - ended, alone_took);
    return;
  }
#endif
  take(&range, 0);
}

void joist_parallel(int threads, size_t count, joist_task *task, const void *context) {
  run_range(threads, 0, count, task, context);
}

joist_status joist_tasks_run_on(const struct joist_run *run, int threads, size_t count, size_t work,
                                joist_task *task, const void *context, struct joist_error *error) {
  const size_t workers = (size_t)threads;
  size_t block = BLOCK;
  for (size_t begin = 0, step; begin < count; begin += step) {
    if (begin > 0 && joist_run_poll(run, error) != JOIST_OK) return JOIST_INTERRUPTED;
    const size_t fit = block / (work == 0 ? 1 : work), rest = count - begin;
    /* A block keeps every thread busy, however large a task is. */
    step = joist_smaller(fit < workers ? workers : fit, rest);
    run_range(begin == 0 || team_pays(run) ? threads : 1, begin, begin + step, task, context);
    if (block < LONGEST_BLOCK) block *= 2;
  }
  return JOIST_OK;
}

joist_status joist_tasks_run(const struct joist_run *run, size_t count, size_t work,
                             joist_task *task, const void *context, struct joist_error *error) {
  const size_t all = count > 0 && work > SIZE_MAX / count ? SIZE_MAX : count * work;
  return joist_tasks_run_on(run, joist_threads_for(run, all, count), count, work, task, context,
                            error);
}
