/* The CPU engine: plans a program once and runs it tile by tile.
 *
 * A plan cuts a program into groups. An elementwise group is one loop over tiles that
 * stay in cache: operands are converted tile by tile, every instruction runs one
 * kernel over the tile, and reductions are sinks that fold it. The order in which a sink
 * folds depends on the shape alone, so the bits of a result depend neither on the number
 * of threads nor on what is fused. */
#ifndef JOIST_CORE_ENGINE_H
#define JOIST_CORE_ENGINE_H

#include "core/program.h"

struct joist_plan;

/* The plan refers to `program`, which must outlive it. Free with joist_plan_free. */
joist_status joist_plan_make(const struct joist_program *program, struct joist_plan **plan,
                             struct joist_error *error) JOIST_MUST_CHECK;
void joist_plan_free(struct joist_plan *plan);

struct joist_run {
  int threads;
  /* Below this many elements times their work one thread is used; 0 for the measured
   * default, 1 to use all threads for everything, as tests do. */
  size_t parallel_from;
  /* From this many bytes on a result is written past the caches; 0 for what they hold. */
  size_t stream_from;
  /* Called between blocks of tiles from the calling thread; true stops the run. May
   * be NULL. Must not jump out of the engine. */
  bool (*poll)(void *context);
  void *context;
  /* For devices with memory of their own: the inputs, of one element each, that are in the
   * process's memory all the same, as literals are. NULL when none is. */
  const bool *here;
};

/* Runs the plan. `inputs` and `outputs` are payloads in the program's order, aligned
 * for their dtype; outputs overlap nothing. Fails with JOIST_ERROR_VALUE (integer
 * division by zero and the like; the message has the position), JOIST_ERROR_MEMORY
 * or JOIST_INTERRUPTED; outputs are then undefined. */
joist_status joist_plan_run(const struct joist_plan *plan, const void *const *inputs,
                            void *const *outputs, const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

/* Counts for tests and explanations: loops over memory, and bytes of temporaries that
 * a run allocates besides its outputs (per-thread scratch excluded). */
size_t joist_plan_group_count(const struct joist_plan *plan);
size_t joist_plan_temporary_bytes(const struct joist_plan *plan);

#endif
