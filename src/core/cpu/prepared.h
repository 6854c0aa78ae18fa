/* A group that is run many times on few elements, as those of a loop's body are: one tile, no
 * sinks. Where its steps read and write is looked up once. */
#ifndef JOIST_CORE_CPU_PREPARED_H
#define JOIST_CORE_CPU_PREPARED_H

#include "core/base/run.h"
#include "core/plan/groups.h"

struct joist_prepared;

/* `arrays` has the array of each value that has one; where `fixed`, per value, says no, it may be
 * another one in the next run, or have other elements. The table must outlive what is made, which
 * is NULL for a group that is not of the kind. Free with joist_prepared_free. */
joist_status joist_prepared_make(const struct joist_plan *plan, const struct joist_group *group,
                                 void *const *arrays, const bool *fixed,
                                 const struct joist_run *run, struct joist_prepared **made,
                                 struct joist_error *error) JOIST_MUST_CHECK;
void joist_prepared_free(struct joist_prepared *prepared);

joist_status joist_prepared_run(const struct joist_prepared *prepared,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
