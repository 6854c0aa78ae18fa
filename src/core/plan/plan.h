/* Planning a program: which instructions are fused, and which values get an array.
 *
 * A plan cuts a program into groups. An elementwise group is one loop over tiles that stay in
 * cache: operands are converted tile by tile, every instruction is one step over the tile, and
 * reductions are sinks that fold it. The order in which a sink folds depends on the shape alone, so
 * the bits of a result depend neither on the number of threads nor on what is fused. */
#ifndef JOIST_CORE_PLAN_PLAN_H
#define JOIST_CORE_PLAN_PLAN_H

#include "core/program/program.h"

struct joist_plan;

/* The plan refers to `program`, which must outlive it. Free with joist_plan_free. */
joist_status joist_plan_make(const struct joist_program *program, struct joist_plan **made,
                             struct joist_error *error) JOIST_MUST_CHECK;
/* A plan that fuses nothing: every value is in an array when the instructions that read it run. It
 * counts results that a fused plan only suspects not to fit. */
joist_status joist_plan_make_apart(const struct joist_program *program, struct joist_plan **made,
                                   struct joist_error *error) JOIST_MUST_CHECK;
void joist_plan_free(struct joist_plan *plan);

/* Counts for tests and explanations: loops over memory, and bytes of temporaries that
 * a run allocates besides its outputs (per-thread scratch excluded). */
size_t joist_plan_group_count(const struct joist_plan *plan);
size_t joist_plan_temporary_bytes(const struct joist_plan *plan);

#endif
