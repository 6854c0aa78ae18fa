/* Runs plans. */
#include "r/run.h"

#include <stdint.h>

#include "core/base/threads.h"
#include "r/interrupt.h"
#include "r/payload.h"

struct joist_run joist_r_run(void) {
  return (struct joist_run){.threads = joist_threads_get(), .poll = joist_r_poll, .context = NULL};
}

/* An interrupt must not jump over a caller that holds a plan. */
static void collect_all(void *unused) {
  (void)unused;
  joist_r_collect(true);
}

joist_status joist_r_run_plan(const struct joist_device *device, const struct joist_plan *plan,
                              const void *const *inputs, const bool *here, void *const *outputs,
                              bool in_place, struct joist_error *error) {
  struct joist_run run = joist_r_run();
  if (in_place) run.stream_from = SIZE_MAX; /* the caches have the elements */
  run.here = here;
  joist_status status = device->run(device, plan, inputs, outputs, &run, error);
  if (status != JOIST_ERROR_MEMORY || device->host) return status;
  R_ToplevelExec(collect_all, NULL);
  device->trim(device);
  status = device->run(device, plan, inputs, outputs, &run, error);
  return status == JOIST_ERROR_MEMORY ? JOIST_ERROR_DEVICE : status;
}
