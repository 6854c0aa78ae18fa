/* The steps of instructions in the current group, and the slots that hold operands and results in
 * the forms that steps read. */
#ifndef JOIST_CORE_PLAN_STEPS_H
#define JOIST_CORE_PLAN_STEPS_H

#include "core/plan/planner.h"

/* Forgets the forms of values: those of a group are not in the slots of the next one. */
void joist_forget_forms(struct joist_planner *planner);

/* Adds the steps of an elementwise instruction. */
void joist_plan_elementwise(struct joist_planner *planner, uint32_t index);

/* Adds the steps of a reduction. */
void joist_plan_sink(struct joist_planner *planner, uint32_t index);

#endif
