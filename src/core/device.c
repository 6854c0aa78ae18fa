/* The table of devices, and the CPU. */
#include "core/device.h"

#include <string.h>

#include "core/pool.h"

static joist_status copy_on_cpu(void *to, const void *from, size_t bytes, joist_copy direction,
                                struct joist_error *error) {
  (void)direction;
  (void)error;
  if (bytes > 0) memcpy(to, from, bytes);
  return JOIST_OK;
}

/* The CPU is done when it returns. */
static joist_status synchronize_cpu(struct joist_error *error) {
  (void)error;
  return JOIST_OK;
}

static const struct joist_device devices[] = {
    {.name = "cpu",
     .allocate = joist_pool_allocate,
     .free = joist_pool_free,
     .copy = copy_on_cpu,
     .run = joist_plan_run,
     .synchronize = synchronize_cpu},
};

size_t joist_device_count(void) { return sizeof devices / sizeof *devices; }

const struct joist_device *joist_device_at(size_t index) { return &devices[index]; }

const struct joist_device *joist_device_find(const char *name) {
  for (size_t k = 0; k < joist_device_count(); k++)
    if (strcmp(devices[k].name, name) == 0) return &devices[k];
  return NULL;
}
