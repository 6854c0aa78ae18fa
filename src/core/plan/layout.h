/* The arena of a group: which slots share a place in it, and how long a tile is. */
#ifndef JOIST_CORE_PLAN_LAYOUT_H
#define JOIST_CORE_PLAN_LAYOUT_H

#include "core/plan/groups.h"

/* Lays out the slots of the group's steps, from `first_slot` to the last one so far, chooses its
 * tile, and finds the results that may be written past the caches. `scratch` is two
 * numbers per slot. */
void joist_group_lay_out(struct joist_plan *plan, struct joist_group *group, uint32_t first_slot,
                         uint32_t *scratch);

#endif
