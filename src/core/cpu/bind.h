/* The bind pass of the CPU: the functions that run the steps of a plan. */
#ifndef JOIST_CORE_CPU_BIND_H
#define JOIST_CORE_CPU_BIND_H

#include "core/kernels/kernels.h"
#include "core/plan/groups.h"
#include "core/types/convert.h"

/* Binds a step of a group of `count` elements. */
void joist_bind_step(const struct joist_program *program, struct joist_step *step, size_t count);

/* Binds the steps of a group before its first run. */
void joist_bind_group(const struct joist_plan *plan, const struct joist_group *group);

/* Of OPERATION; FOLD: joins two rows. */
static inline joist_kernel *joist_bound_kernel(const struct joist_step *step) {
  return (joist_kernel *)step->bound[0];
}

/* Of FOLD. */
static inline joist_fold *joist_bound_fold(const struct joist_step *step) {
  return (joist_fold *)step->bound[1];
}
/* NULL where what is folded is in in[0]. */
static inline joist_masked_fold *joist_bound_masked_fold(const struct joist_step *step) {
  return (joist_masked_fold *)step->bound[3];
}
static inline joist_rows *joist_bound_rows(const struct joist_step *step) {
  return (joist_rows *)step->bound[2];
}

/* Of CONVERT (0), and the two of SPLAT: to the dtype `through` and from it, NULL for the same. */
static inline joist_convert_kernel *joist_bound_convert(const struct joist_step *step, int k) {
  return (joist_convert_kernel *)step->bound[k];
}

#endif
