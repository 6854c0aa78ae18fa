/* Compiled loops and groups: when they are compiled, and how loops run. */
#ifndef JOIST_CORE_CPU_NATIVE_H
#define JOIST_CORE_CPU_NATIVE_H

#include "core/base/run.h"
#include "core/base/text.h"
#include "core/codegen/native.h"
#include "core/plan/groups.h"

/* Runs a group on arrays in memory, one per value that has one. */
typedef joist_status joist_group_runner(const struct joist_plan *plan,
                                        const struct joist_group *group, void *const *arrays,
                                        const struct joist_run *run, struct joist_error *error);

/* Counts `turns` more iterations of a loop by the interpreter, 0 before the first of a run, and
 * starts to compile it once it is worth it. `*ready` becomes whether there is compiled code by now.
 */
joist_status joist_native_look(const struct joist_plan *plan, const struct joist_group *group,
                               size_t turns, const struct joist_run *run, bool *ready,
                               struct joist_error *error) JOIST_MUST_CHECK;

/* Whether the loop has compiled code or may still get it. Then nothing inside it is compiled on its
 * own. */
bool joist_native_is_possible(const struct joist_plan *plan, const struct joist_group *group,
                              const struct joist_run *run);

/* Runs the compiled code of a loop on the arrays of `plan`, from iteration `first_turn` on (a `for`
 * counts from 1, a `scan` from 0). `current` has the carries before it, none of them in the array
 * of a result; NULL for the operands that they start as. */
joist_status joist_native_run(const struct joist_plan *plan, const struct joist_group *group,
                              void *const *arrays, const void *const *current, int64_t first_turn,
                              joist_group_runner *run_group, const struct joist_run *settings,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* The compiled code for parts of an elementwise group, which has been bound; NULL: not yet, or
 * never. Counts one run of the group. */
joist_status joist_native_find_part(const struct joist_plan *plan, const struct joist_group *group,
                                    const struct joist_run *run, joist_native_part **part,
                                    struct joist_error *error) JOIST_MUST_CHECK;

/* Adds the source texts of a plan's loops and, outside of these, of its groups. */
void joist_native_source(const struct joist_plan *plan, struct joist_text *text);

#endif
