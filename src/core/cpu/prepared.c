/* Groups of one tile, run many times. */
#include "core/cpu/prepared.h"

#include <stdlib.h>

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/cpu/bind.h"
#include "core/cpu/steps.h"
#include "core/cpu/watch.h"
#include "core/types/error.h"

/* A step, and where the pointers to its operands and its result are: in the table of arrays or, for
 * slots, here. Unused operands repeat the first one. */
struct placed {
  joist_kernel *kernel; /* NULL for other steps */
  const struct joist_step *step;
  void *const *in[JOIST_REFS_MAX];
  void *const *out;
  void *slot[JOIST_REFS_MAX + 1];
};

struct joist_prepared {
  const struct joist_plan *plan;
  const struct joist_group *group;
  char *arena;
  struct joist_tally *tally;
  uint32_t count;
  struct placed steps[];
};

static bool can_be_prepared(const struct joist_plan *plan, const struct joist_group *group,
                            const struct joist_run *run) {
  if (group->kind != JOIST_GROUP_ELEMENTWISE || group->sink_count > 0 || group->count == 0 ||
      group->count > group->tile)
    return false;
  for (uint32_t s = 0; s < group->step_count; s++)
    if (joist_step_streams(group, &plan->steps[group->first_step + s], joist_stream_from(run)))
      return false;
  return true;
}

/* Where the pointer to what `ref` means is. */
static void *const *place_of(const struct joist_prepared *prepared, struct joist_ref ref,
                             void *const *arrays, void **slot) {
  if (ref.array) return &arrays[ref.index];
  *slot = prepared->arena + prepared->plan->slot_offset[ref.index] * prepared->group->room;
  return slot;
}

static size_t run_placed(const struct joist_prepared *prepared, const struct placed *placed) {
  const struct joist_step *const step = placed->step;
  const size_t n = prepared->group->count;
  const void *in[JOIST_REFS_MAX];
  for (uint32_t k = 0; k < JOIST_REFS_MAX; k++) in[k] = *placed->in[k];
  if (placed->kernel != NULL) return placed->kernel(n, in, *placed->out);
  if (joist_step_is_watched(step))
    return joist_watch_run(prepared->plan->program, step, 0, n, in, *placed->out, prepared->tally);
  if (step->kind == JOIST_STEP_SPLAT) {
    joist_watch_splat(prepared->plan->program, step, in[0], prepared->tally);
    /* A slot may be shorter than a tile that was widened: what reads it then reads one element. */
    joist_step_splat(step, joist_smaller(n, prepared->group->room), in[0], *placed->out);
  } else if (step->kind == JOIST_STEP_GATHER) {
    joist_step_gather(prepared->group, step, 0, n, in[0], in[1], *placed->out);
  } else {
    return joist_step_run(step, n, in, *placed->out);
  }
  return n;
}

/* Steps that repeat a scalar come first; steps of fixed scalars are run here, once and for all. */
static void look_up(struct joist_prepared *prepared, void *const *arrays, const bool *fixed) {
  const struct joist_step *const all = prepared->plan->steps + prepared->group->first_step;
  for (int splats = 1; splats >= 0; splats--)
    for (uint32_t s = 0; s < prepared->group->step_count; s++) {
      if ((all[s].kind == JOIST_STEP_SPLAT) != (splats == 1)) continue;
      struct placed *const placed = &prepared->steps[prepared->count];
      placed->step = &all[s];
      placed->kernel = all[s].kind == JOIST_STEP_OPERATION && !all[s].counts_wrapped
                           ? joist_bound_kernel(&all[s])
                           : NULL;
      for (uint32_t k = 0; k < JOIST_REFS_MAX; k++)
        placed->in[k] = k == 0 || k < all[s].operand_count
                            ? place_of(prepared, all[s].in[k], arrays, &placed->slot[k])
                            : placed->in[0];
      placed->out = place_of(prepared, all[s].out, arrays, &placed->slot[JOIST_REFS_MAX]);
      if (splats == 1 && fixed[all[s].in[0].index])
        run_placed(prepared, placed);
      else
        prepared->count++;
    }
}

joist_status joist_prepared_make(const struct joist_plan *plan, const struct joist_group *group,
                                 void *const *arrays, const bool *fixed,
                                 const struct joist_run *run, struct joist_prepared **made,
                                 struct joist_error *error) {
  *made = NULL;
  if (!can_be_prepared(plan, group, run)) return JOIST_OK;
  struct joist_prepared *const prepared =
      malloc(sizeof *prepared + group->step_count * sizeof prepared->steps[0]);
  char *const arena = joist_pool_allocate(group->arena_bytes + 1);
  if (prepared == NULL || arena == NULL) {
    free(prepared);
    joist_pool_free(arena);
    return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = group->arena_bytes);
  }
  joist_bind_group(plan, group);
  *prepared =
      (struct joist_prepared){.plan = plan, .group = group, .arena = arena, .tally = run->tally};
  look_up(prepared, arrays, fixed);
  *made = prepared;
  return JOIST_OK;
}

void joist_prepared_free(struct joist_prepared *prepared) {
  if (prepared != NULL) joist_pool_free(prepared->arena);
  free(prepared);
}

joist_status joist_prepared_run(const struct joist_prepared *prepared, struct joist_error *error) {
  for (uint32_t s = 0; s < prepared->count; s++) {
    const size_t done = run_placed(prepared, &prepared->steps[s]);
    if (done < prepared->group->count)
      return joist_value_error(prepared->plan->program, prepared->steps[s].step->instruction, done,
                               error);
  }
  return JOIST_OK;
}
