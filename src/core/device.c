/* The table of devices, and the CPU. */
#include "core/device.h"

#include <string.h>

#include "core/base/pool.h"
#include "core/cpu/engine.h"

#if JOIST_CUDA_BUILT
#include "cuda/cuda.h"
#endif

static bool cpu_in_use(const struct joist_device *device) {
  (void)device;
  return true;
}

static joist_status cpu_ready(const struct joist_device *device, struct joist_error *error) {
  (void)device;
  (void)error;
  return JOIST_OK;
}

static void *cpu_allocate(const struct joist_device *device, size_t bytes) {
  (void)device;
  return joist_pool_allocate(bytes);
}

static void cpu_free(const struct joist_device *device, void *memory) {
  (void)device;
  joist_pool_free(memory);
}

static joist_status cpu_copy(const struct joist_device *device, void *to, const void *from,
                             size_t bytes, joist_copy direction, struct joist_error *error) {
  (void)device;
  (void)direction;
  (void)error;
  if (bytes > 0) memcpy(to, from, bytes);
  return JOIST_OK;
}

static joist_status cpu_run(const struct joist_device *device, const struct joist_plan *plan,
                            const void *const *inputs, void *const *outputs,
                            const struct joist_run *run, struct joist_error *error) {
  (void)device;
  return joist_plan_run(plan, inputs, outputs, run, error);
}

static bool cpu_runs(const struct joist_device *device, joist_op op) {
  (void)device;
  (void)op;
  return true;
}

/* The CPU is done when it returns. */
static joist_status cpu_synchronize(const struct joist_device *device, struct joist_error *error) {
  return cpu_ready(device, error);
}

static struct joist_device_figures cpu_figures(const struct joist_device *device) {
  const struct joist_pool_figures pool = joist_pool_figures();
  (void)device;
  return (struct joist_device_figures){.used = pool.used, .kept = pool.kept};
}

static size_t cpu_trim(const struct joist_device *device) {
  (void)device;
  return joist_pool_trim();
}

static const struct joist_device cpu = {.name = "cpu",
                                        .host = true,
                                        .in_use = cpu_in_use,
                                        .ready = cpu_ready,
                                        .allocate = cpu_allocate,
                                        .free = cpu_free,
                                        .copy = cpu_copy,
                                        .run = cpu_run,
                                        .runs = cpu_runs,
                                        .synchronize = cpu_synchronize,
                                        .figures = cpu_figures,
                                        .trim = cpu_trim};

static size_t cpu_count(void) { return 1; }

static const struct joist_device *cpu_at(size_t ordinal) {
  (void)ordinal;
  return &cpu;
}

static const struct joist_device_kind cpus = {
    .name = "cpu", .most = 1, .count = cpu_count, .at = cpu_at};

/* Every kind of device of this build, the CPU first. */
static const struct joist_device_kind *const kinds[] = {
    &cpus,
#if JOIST_CUDA_BUILT
    &joist_cuda_devices,
#endif
};
enum { KINDS = sizeof kinds / sizeof *kinds };

size_t joist_device_count(void) {
  size_t count = 0;
  for (size_t k = 0; k < KINDS; k++) count += kinds[k]->count();
  return count;
}

const struct joist_device *joist_device_at(size_t index) {
  for (size_t k = 0; k < KINDS; k++) {
    const size_t count = kinds[k]->count();
    if (index < count) return kinds[k]->at(index);
    index -= count;
  }
  return NULL;
}

const struct joist_device *joist_device_in_use(size_t index) {
  for (size_t k = 0; k < KINDS; k++)
    for (size_t ordinal = 0; ordinal < kinds[k]->most; ordinal++) {
      const struct joist_device *const device = kinds[k]->at(ordinal);
      if (device->in_use(device) && index-- == 0) return device;
    }
  return NULL;
}

const struct joist_device *joist_device_find(const char *name) {
  for (size_t k = 0; k < KINDS; k++) {
    if (strcmp(name, kinds[k]->name) == 0) return kinds[k]->at(0);
    for (size_t ordinal = 0; ordinal < kinds[k]->most; ordinal++)
      if (strcmp(name, kinds[k]->at(ordinal)->name) == 0) return kinds[k]->at(ordinal);
  }
  return NULL;
}

bool joist_device_has_driver(void) {
  bool any = false;
  for (size_t k = 0; k < KINDS; k++) any |= kinds[k]->has_driver != NULL && kinds[k]->has_driver();
  return any;
}

size_t joist_device_diagnose(struct joist_diagnosis *diagnoses) {
  for (size_t k = 0; k < KINDS; k++)
    if (kinds[k]->diagnose != NULL) return kinds[k]->diagnose(diagnoses);
  diagnoses[0] = (struct joist_diagnosis){.item = "build", .why = {.code = JOIST_E_NO_CUDA}};
  return 1;
}

size_t joist_device_trim(void) {
  const struct joist_device *device;
  size_t bytes = 0;
  for (size_t k = 0; (device = joist_device_in_use(k)) != NULL; k++) bytes += device->trim(device);
  return bytes;
}
