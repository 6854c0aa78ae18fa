/* Moves of elements that are not made: the groups that read their results read through them. */
#ifndef JOIST_CORE_PLAN_VIEWED_H
#define JOIST_CORE_PLAN_VIEWED_H

#include "core/plan/planner.h"
#include "core/plan/view.h"

/* Finds the moves that only elementwise operations and reductions read. `readers` is scratch: a
 * number per value. */
void joist_find_viewed(struct joist_planner *planner, const bool *needed, uint32_t *readers);

/* Whether the value is taken from listed positions. */
bool joist_is_listed(const struct joist_program *program, joist_value_id value);

/* The array that holds the value's elements. */
joist_value_id joist_viewed_base(const struct joist_planner *planner, joist_value_id value);

/* The value, spread over the space of the current group. */
void joist_view_of_value(const struct joist_planner *planner, joist_value_id value,
                         struct joist_view *view);

#endif
