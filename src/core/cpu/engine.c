/* Running a plan on the CPU: its groups, one after the other, and their arrays. */
#include "core/cpu/engine.h"

#include "core/base/bits.h"
#include "core/base/parallel.h"
#include "core/base/pool.h"
#include "core/base/tally.h"
#include "core/cpu/bind.h"
#include "core/cpu/control_flow.h"
#include "core/cpu/elementwise.h"
#include "core/cpu/exact.h"
#include "core/cpu/execute.h"
#include "core/cpu/reduce.h"
#include "core/plan/fold_space.h"
#include "core/plan/storage.h"
#include "core/program/watch.h"
#include "core/types/error.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the values that the tiles accumulate for a sink, rounded up so that the next sink's
 * are aligned. */
static size_t accumulated_bytes(const struct joist_group *group, const struct joist_step *fold) {
  const struct joist_fold_space space = group->space;
  const size_t values = space.inner * joist_fold_strips(space) * space.outer;
  return (values * fold->out.size + JOIST_ELEMENT_MAX) / JOIST_ELEMENT_MAX * JOIST_ELEMENT_MAX;
}

/* Counts the results of a reduction that do not fit, if what it reads is in an array: otherwise
 * they are suspected, and counted in a run of a plan that fuses nothing. */
static joist_status check_sink(const struct joist_plan *plan, const struct joist_step *fold,
                               void *const *arrays, const struct joist_run *run,
                               struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  if (!fold->counts_wrapped) return JOIST_OK;
  const joist_value_id read = program->instructions[fold->instruction].operand[0];
  if (plan->materialized[read] || program->values[read].input != JOIST_NO_INPUT)
    return joist_exact_check(program, fold->instruction, arrays, run, error);
  if (run->tally != NULL) joist_tally_suspect(run->tally);
  return JOIST_OK;
}

/* Whether the exact sums of a sink are those of what it reads. */
static bool sums_exactly(const struct joist_program *program, const struct joist_step *fold) {
  const struct joist_instruction *const i = &program->instructions[fold->instruction];
  const struct joist_value *const x = &program->values[i->operand[0]];
  const size_t results = joist_value_count(&program->values[i->result]);
  const bool same = x->type.dtype == JOIST_BOOL ||
                    (!fold->signs_differ &&
                     joist_dtype_digits(fold->in[0].dtype) >= joist_dtype_digits(x->type.dtype));
  return fold->kind == JOIST_STEP_FOLD && fold->counts_wrapped && same &&
         joist_op_combine(i->op) == JOIST_OP_ADD && !(i->watch & JOIST_WATCH_SATURATE) &&
         results > 0 && joist_value_count(x) / results <= UINT32_MAX;
}

/* Counts the results of sums that do not fit, in a second pass over what they read; `*checked` says
 * of each step whether it did. */
static joist_status check_sums(const struct joist_plan *plan, const struct joist_group *group,
                               void *const *arrays, const struct joist_run *run, bool *repeats,
                               struct joist_error *error) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  const struct joist_fold_space space = group->space;
  const size_t count = space.inner * joist_fold_strips(space) * space.outer;
  size_t all = 0;
  *repeats = run->tally != NULL && joist_tiles_can_repeat(plan, group, arrays);
  for (uint32_t s = 0; s < group->step_count && *repeats; s++)
    all += sums_exactly(plan->program, &steps[s]);
  if (all == 0) return JOIST_OK;
  struct joist_halves *const sums = calloc(group->sink_count, sizeof *sums);
  uint64_t *const halves = calloc(2 * all * count, sizeof *halves);
  joist_status status = JOIST_OK;
  if (sums == NULL || halves == NULL) status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  size_t used = 0;
  for (uint32_t s = 0; s < group->step_count && status == JOIST_OK; s++) {
    if (!sums_exactly(plan->program, &steps[s])) continue;
    sums[steps[s].sink] = (struct joist_halves){halves + used, halves + used + count};
    used += 2 * count;
  }
  if (status == JOIST_OK) status = joist_tiles_sum(plan, group, arrays, sums, run, error);
  for (uint32_t s = 0; s < group->step_count && status == JOIST_OK; s++)
    if (sums_exactly(plan->program, &steps[s]))
      status = joist_exact_sums(plan->program, steps[s].instruction, sums[steps[s].sink],
                                steps[s].in[0].dtype, arrays, run, error);
  free(halves);
  free(sums);
  return status;
}

static joist_status run_elementwise(const struct joist_plan *plan, const struct joist_group *group,
                                    void *const *arrays, const struct joist_run *run,
                                    struct joist_error *error) {
  joist_bind_group(plan, group);
  if (group->sink_count == 0) return joist_tiles_run(plan, group, arrays, NULL, NULL, run, error);
  enum { FEW = 4, STACK_BYTES = 512 };
  const struct joist_step *const steps = plan->steps + group->first_step;
  size_t total = 0;
  for (uint32_t s = 0; s < group->step_count; s++)
    if (steps[s].kind == JOIST_STEP_FOLD) total += accumulated_bytes(group, &steps[s]);
  _Alignas(16) char stack[STACK_BYTES];
  char *few[FEW] = {NULL};
  char *const block = total <= STACK_BYTES ? stack : joist_scratch_allocate(total);
  char **const sinks = group->sink_count <= FEW ? few : malloc(group->sink_count * sizeof *sinks);
  joist_status status = JOIST_OK;
  bool may_exceed = false;
  if (block == NULL || sinks == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  } else {
    size_t used = 0;
    for (uint32_t s = 0; s < group->step_count; s++) {
      if (steps[s].kind != JOIST_STEP_FOLD) continue;
      sinks[steps[s].sink] = block + used;
      used += accumulated_bytes(group, &steps[s]);
    }
    status = joist_tiles_run(plan, group, arrays, sinks, &may_exceed, run, error);
    bool summed = false; /* before results are written over what they are of */
    if (status == JOIST_OK && may_exceed)
      status = check_sums(plan, group, arrays, run, &summed, error);
    for (uint32_t s = 0; s < group->step_count && status == JOIST_OK; s++) {
      if (steps[s].kind != JOIST_STEP_FOLD) continue;
      const struct joist_instruction *const i = &plan->program->instructions[steps[s].instruction];
      status = joist_reduction_finish(plan->program, i, sinks[steps[s].sink], arrays[i->result],
                                      run, error);
      if (status == JOIST_OK && run->exact && joist_mean_is_exact(plan->program, i))
        status = joist_exact_mean(plan->program, steps[s].instruction, arrays, run, error);
      if (status == JOIST_OK && may_exceed && !(summed && sums_exactly(plan->program, &steps[s])))
        status = check_sink(plan, &steps[s], arrays, run, error);
    }
  }
  if (sinks != few) free(sinks);
  if (block != stack) joist_scratch_free(block);
  return status;
}

joist_status joist_group_run(const struct joist_plan *plan, const struct joist_group *group,
                             void *const *arrays, const struct joist_run *run,
                             struct joist_error *error) {
  if (group->kind == JOIST_GROUP_ELEMENTWISE)
    return run_elementwise(plan, group, arrays, run, error);
  const struct joist_instruction *const i = &plan->program->instructions[group->instruction];
  if (i->region_count > 0)
    return joist_control_flow_run(plan, group, arrays, joist_group_run, run, error);
  return joist_execute(plan->program, i, arrays, run, error);
}

/* ---- plans ---- */

static joist_status run_placed(const struct joist_plan *plan, void *const *arrays,
                               void *const *outputs, const struct joist_run *run,
                               struct joist_error *error) {
  joist_status status = JOIST_OK;
  for (uint32_t g = 0; g < plan->group_count && status == JOIST_OK; g++)
    status = joist_group_run(plan, &plan->groups[g], arrays, run, error);
  if (status == JOIST_OK) joist_plan_finish(plan, arrays, outputs);
  return status;
}

joist_status joist_plan_run(const struct joist_plan *plan, const void *const *inputs,
                            void *const *outputs, const struct joist_run *run,
                            struct joist_error *error) {
  const struct joist_program *const program = plan->program;
  enum { FEW = 16 };
  void *few[FEW];
  const size_t bytes = plan->scratch_bytes;
  char none; /* where arrays without elements are */
  char *const scratch = bytes == 0 ? &none : joist_scratch_allocate(bytes);
  void **const arrays =
      program->value_count <= FEW ? few : malloc(program->value_count * sizeof *arrays);
  joist_status status = JOIST_OK;
  if (arrays == NULL || scratch == NULL) {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
  } else {
    joist_plan_place(plan, inputs, outputs, scratch, arrays);
    status = run_placed(plan, arrays, outputs, run, error);
  }
  if (arrays != few) free(arrays);
  if (bytes > 0) joist_scratch_free(scratch);
  return status;
}
