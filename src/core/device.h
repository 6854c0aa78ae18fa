/* Devices: a table of functions per kind of memory and processor.
 *
 * The `cpu` is always there. Everything that runs a program or holds its payloads goes
 * through this table, so that a device is one more entry of it. */
#ifndef JOIST_CORE_DEVICE_H
#define JOIST_CORE_DEVICE_H

#include "core/base/run.h"
#include "core/plan/plan.h"
#include "core/types/error.h"

typedef enum { JOIST_COPY_TO_DEVICE, JOIST_COPY_TO_HOST, JOIST_COPY_WITHIN } joist_copy;

/* Bytes of a device's memory. */
struct joist_device_figures {
  size_t used;      /* by joist */
  size_t kept;      /* free, kept by joist for reuse */
  size_t available; /* free for all */
  size_t total;
};

struct joist_device {
  const char *name; /* "cpu", "cuda:0" */
  int ordinal;      /* among the devices of its kind */
  bool host;        /* its memory is the process's own */
  /* Whether this process uses it already; wakes no driver. */
  bool (*in_use)(const struct joist_device *device);
  /* JOIST_OK when it can be used; otherwise the error says why not. */
  joist_status (*ready)(const struct joist_device *device, struct joist_error *error);
  /* Memory of the device, aligned for every dtype; NULL when it is out. Owned by the
   * caller until `free`. */
  void *(*allocate)(const struct joist_device *device, size_t bytes);
  void (*free)(const struct joist_device *device, void *memory);
  /* Copies between the process's memory and the device's, or within the latter. When it returns,
   * the caller may change or free `from` and read `to`. */
  joist_status (*copy)(const struct joist_device *device, void *to, const void *from, size_t bytes,
                       joist_copy direction, struct joist_error *error);
  /* As joist_plan_run, on payloads in the device's memory; may return before it is done. Inputs
   * that are `here` may be changed or freed when it returns.
   * JOIST_ERROR_MEMORY when memory was out: it may work when some has been freed. */
  joist_status (*run)(const struct joist_device *device, const struct joist_plan *plan,
                      const void *const *inputs, void *const *outputs, const struct joist_run *run,
                      struct joist_error *error);
  /* Whether the device has a kernel for the operation; what has none runs on copies by the CPU. */
  bool (*runs)(const struct joist_device *device, joist_op op);
  /* Waits for all that was started and reports what failed. */
  joist_status (*synchronize)(const struct joist_device *device, struct joist_error *error);
  struct joist_device_figures (*figures)(const struct joist_device *device);
  /* Gives memory that is kept back; returns how many bytes. */
  size_t (*trim)(const struct joist_device *device);
};

/* The devices that are there, the CPU first; NULL behind the last. Asking for others than the CPU
 * wakes their drivers. */
size_t joist_device_count(void);
const struct joist_device *joist_device_at(size_t index);
/* The devices that the process uses already, the CPU first; NULL behind the last. */
const struct joist_device *joist_device_in_use(size_t index);
/* Trims all of those; returns how many bytes were given back. */
size_t joist_device_trim(void);
/* NULL if this build has no device of that name. A device that is found need not be ready. */
const struct joist_device *joist_device_find(const char *name);

/* Whether the driver of other devices can be loaded; does not wake it. */
bool joist_device_has_driver(void);

/* What CUDA needs, and whether it is there. */
struct joist_diagnosis {
  const char *item;
  bool found;
  char detail[256];       /* what was found */
  struct joist_error why; /* what is missing otherwise */
};
enum { JOIST_DIAGNOSES = 5 };
/* Returns how many were written, at most JOIST_DIAGNOSES. */
size_t joist_device_diagnose(struct joist_diagnosis *diagnoses);

/* A kind of devices: one entry of the list in device.c. */
struct joist_device_kind {
  const char *name;      /* stands for its first device */
  size_t most;           /* devices that are looked at */
  size_t (*count)(void); /* of those that are there; 0 without a driver */
  const struct joist_device *(*at)(size_t ordinal);      /* there or not */
  bool (*has_driver)(void);                              /* NULL if it needs none */
  size_t (*diagnose)(struct joist_diagnosis *diagnoses); /* NULL if nothing can be missing */
};

#endif
