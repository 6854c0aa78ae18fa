/* A group that is run many times on few elements, as those of a loop's body are: one tile, no
 * sinks. Where its steps read and write is looked up once. */
#ifndef JOIST_CORE_CPU_STRAIGHT_H
#define JOIST_CORE_CPU_STRAIGHT_H

#include "core/base/run.h"
#include "core/plan/groups.h"

struct joist_straight;

/* `arrays` has the array of each value that has one; where `fixed`, per value, says no, it may be
 * another one in the next run, or have other elements. The table must outlive what is made, which
 * is NULL for a group that is not of the kind. Free with joist_straight_free. */
joist_status joist_straight_make(const struct joist_plan *plan, const struct joist_group *group,
                                 void *const *arrays, const bool *fixed,
                                 const struct joist_run *run, struct joist_straight **made,
                                 struct joist_error *error) JOIST_MUST_CHECK;
void joist_straight_free(struct joist_straight *straight);

joist_status joist_straight_run(const struct joist_straight *straight,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
