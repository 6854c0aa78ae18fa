/* Where the arrays of a planned program live: in inputs, outputs or scratch. */
#ifndef JOIST_CORE_PLAN_STORAGE_H
#define JOIST_CORE_PLAN_STORAGE_H

#include "core/plan/groups.h"

/* Decides where arrays live, when the groups are in their order; `root` is given. */
joist_status joist_storage_plan(struct joist_plan *plan,
                                struct joist_error *error) JOIST_MUST_CHECK;

/* Which of the pointers to inputs and outputs is that to the array of a value; NULL for one in
 * scratch, or without. */
const void *joist_plan_source(const struct joist_plan *plan, uint32_t value,
                              const void *const *inputs, void *const *outputs);

/* The array of every value that has one: in inputs, outputs or `scratch`, of scratch_bytes. */
void joist_plan_place(const struct joist_plan *plan, const void *const *inputs,
                      void *const *outputs, char *scratch, void **arrays);

/* When all groups have run: a value that is several outputs, or an input, is computed once, and
 * copied here. */
void joist_plan_finish(const struct joist_plan *plan, void *const *arrays, void *const *outputs);

#endif
