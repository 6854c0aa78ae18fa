/* What the steps of a group do with one tile; folds excepted, which elementwise.c knows. */
#ifndef JOIST_CORE_CPU_STEPS_H
#define JOIST_CORE_CPU_STEPS_H

#include "core/plan/groups.h"

/* An operation, a conversion or a copy of n elements. Returns n, or the index of the first that
 * fails. */
size_t joist_step_run(const struct joist_step *step, size_t n, const void *const *in, void *out);

/* The scalar at `in`, converted and repeated. */
void joist_step_splat(const struct joist_step *step, size_t n, const void *in, char *out);

/* Elements first .. first + n - 1 of the group's index space, taken from an operand whose extents
 * of 1 are repeated; `list` has the positions of a view that needs them. */
void joist_step_gather(const struct joist_group *group, const struct joist_step *step, size_t first,
                       size_t n, const char *in, const void *list, char *out);

/* Whether a step of so many bytes writes past the caches. */
bool joist_step_streams(const struct joist_group *group, const struct joist_step *step,
                        size_t stream_from);

#endif
