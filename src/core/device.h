/* Devices: a table of functions per kind of memory and processor.
 *
 * The `cpu` is always there. Everything that runs a program or holds its payloads goes
 * through this table, so that a device is one more entry of it. */
#ifndef JOIST_CORE_DEVICE_H
#define JOIST_CORE_DEVICE_H

#include "core/engine.h"

typedef enum { JOIST_COPY_TO_DEVICE, JOIST_COPY_TO_HOST, JOIST_COPY_WITHIN } joist_copy;

struct joist_device {
  const char *name;
  /* Memory of the device, aligned for every dtype; NULL when it is out. Owned by the
   * caller until `free`. */
  void *(*allocate)(size_t bytes);
  void (*free)(void *memory);
  joist_status (*copy)(void *to, const void *from, size_t bytes, joist_copy direction,
                       struct joist_error *error);
  /* As joist_plan_run, on payloads in the device's memory; may return before it is done. */
  joist_status (*run)(const struct joist_plan *plan, const void *const *inputs,
                      void *const *outputs, const struct joist_run *run, struct joist_error *error);
  /* Waits for all that was started and reports what failed. */
  joist_status (*synchronize)(struct joist_error *error);
};

/* The devices of this build, the CPU first. joist_device_find gives NULL for a name that
 * is none of them. */
size_t joist_device_count(void);
const struct joist_device *joist_device_at(size_t index);
const struct joist_device *joist_device_find(const char *name);

#endif
