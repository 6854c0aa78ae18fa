/* A group that is run many times on few elements, as in a loop's body: one tile, no
 * sinks. Where its steps read and write is looked up once. */
#ifndef JOIST_CORE_CPU_PREPARED_H
#define JOIST_CORE_CPU_PREPARED_H

#include "core/base/run.h"
#include "core/plan/groups.h"

struct joist_prepared;

/* `arrays` has the array of each value that has one. Where `fixed`, per value, is false, the next
 * run may have another array, or other elements in it. The table must outlive `*made`, which is
 * NULL if the group cannot be prepared. Free with joist_prepared_free. */
joist_status joist_prepared_make(const struct joist_plan *plan, const struct joist_group *group,
                                 void *const *arrays, const bool *fixed,
                                 const struct joist_run *run, struct joist_prepared **made,
                                 struct joist_error *error) JOIST_MUST_CHECK;
void joist_prepared_free(struct joist_prepared *prepared);

joist_status joist_prepared_run(const struct joist_prepared *prepared,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
