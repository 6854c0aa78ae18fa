/* Runs plans. */
#include "r/memory/run.h"

#include <stdint.h>

#include "core/base/tally.h"
#include "core/base/threads.h"
#include "core/plan/plan.h"
#include "r/base/interrupt.h"
#include "r/memory/payload.h"

/* Set when the package is loaded: what prints uses tensors, whose files use this one. */
static joist_r_print *print = NULL;

void joist_r_print_by(joist_r_print *function) { print = function; }

static joist_native_policy native_policy = JOIST_NATIVE_AUTO;

joist_native_policy joist_r_native_policy(void) { return native_policy; }
void joist_r_set_native_policy(joist_native_policy policy) { native_policy = policy; }

struct joist_run joist_r_run(void) {
  return (struct joist_run){.threads = joist_threads_get(),
                            .native = native_policy,
                            .poll = joist_r_poll,
                            .print = print,
                            .context = NULL};
}

/* An interrupt must not jump over a caller that holds a plan. */
static void collect_all(void *unused) {
  (void)unused;
  joist_r_collect(true);
}

joist_status joist_r_run_plan(const struct joist_device *device, const struct joist_plan *plan,
                              const void *const *inputs, void *const *outputs, struct joist_run run,
                              struct joist_error *error) {
  joist_status status = device->run(device, plan, inputs, outputs, &run, error);
  if (status != JOIST_ERROR_MEMORY || device->host) return status;
  R_ToplevelExec(collect_all, NULL);
  device->trim(device);
  status = device->run(device, plan, inputs, outputs, &run, error);
  return status == JOIST_ERROR_MEMORY ? JOIST_ERROR_DEVICE : status;
}

joist_status joist_r_run_watched(const struct joist_device *device, const struct joist_plan *plan,
                                 const struct joist_program *program, const void *const *inputs,
                                 void *const *outputs, struct joist_run run,
                                 struct joist_tally *tally, struct joist_error *error) {
  joist_tally_init(tally, false);
  run.tally = tally;
  joist_status status = joist_r_run_plan(device, plan, inputs, outputs, run, error);
  if (status != JOIST_OK || !joist_tally_suspected(tally)) return status;
  struct joist_plan *apart = NULL;
  joist_tally_init(tally, false);
  run.exact = true;
  run.native = JOIST_NATIVE_NEVER;
  run.print = NULL; /* everything has been shown */
  status = joist_plan_make_apart(program, &apart, error);
  if (status == JOIST_OK) status = joist_r_run_plan(device, apart, inputs, outputs, run, error);
  joist_plan_free(apart);
  return status;
}
