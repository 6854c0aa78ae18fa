/* Binding steps: looking up kernels and conversions. */
#include "core/cpu/bind.h"

#include "core/kernels/compare.h"
#include "core/kernels/half_tables.h"

#include <string.h>

static joist_kernel *kernel_of(const struct joist_instruction *i, const struct joist_step *step,
                               size_t count) {
  if (joist_step_operands(step) == 1 && step->in[0].dtype != i->signature.compute)
    return joist_half_kernel_find(step->op, step->in[0].dtype, count);
  return joist_is_mixed(i)
             ? joist_compare_find(step->op, i->signature.operand[0], i->signature.operand[1])
             : joist_kernel_find(step->op, i->signature.compute);
}

static joist_bound *conversion(joist_dtype from, joist_dtype to) {
  return from == to ? NULL : (joist_bound *)joist_convert_find(from, to);
}

/* What the step of an integer operation looks for results with that do not fit. */
static void bind_watch(const struct joist_instruction *i, struct joist_step *step) {
  step->looks[0] = (joist_bound *)joist_may_wrap_find(step->op, i->signature.compute);
  step->looks[1] = (joist_bound *)joist_wraps_find(step->op, i->signature.compute);
  step->looks[2] = (joist_bound *)joist_stream_wrap_find(step->op, i->signature.compute);
  step->looks[3] = (joist_bound *)joist_count_wraps_find(step->op, i->signature.compute);
  step->fused = joist_may_wrap_is_fused(step->op, i->signature.compute);
}

void joist_bind_step(const struct joist_program *program, struct joist_step *step, size_t count) {
  const struct joist_instruction *const i = &program->instructions[step->instruction];
  const joist_dtype from = step->in[0].dtype, to = step->out.dtype;
  switch (step->kind) {
    case JOIST_STEP_OPERATION:
      step->bound[0] = (joist_bound *)kernel_of(i, step, count);
      if (step->counts_wrapped) bind_watch(i, step);
      break;
    case JOIST_STEP_CONVERT: /* also to the same dtype */
      step->bound[0] = (joist_bound *)joist_convert_find(from, to);
      break;
    case JOIST_STEP_SPLAT:
      step->bound[0] = conversion(from, step->through);
      step->bound[1] = conversion(step->through, to);
      break;
    case JOIST_STEP_FOLD: {
      const joist_op combine = joist_op_combine(i->op);
      if (step->counts_wrapped && combine == JOIST_OP_ADD)
        step->looks[0] = (joist_bound *)joist_magnitudes_find(from);
      step->bound[0] = (joist_bound *)joist_kernel_find(combine, to);
      step->bound[1] = (joist_bound *)joist_fold_find(combine, from, to);
      step->bound[2] = (joist_bound *)joist_rows_find(combine, from, to);
      break;
    }
    case JOIST_STEP_COPY:
    case JOIST_STEP_GATHER:
      break;
  }
}

/* ---- folds of what a mask leaves ---- */

/* The step of the group that writes the slot, if it is an `op` and one step alone reads the slot;
 * NULL otherwise. */
static struct joist_step *only_for_one(const struct joist_plan *plan,
                                       const struct joist_group *group, struct joist_ref slot,
                                       joist_op op) {
  struct joist_step *const steps = plan->steps + group->first_step, *found = NULL;
  uint32_t readers = 0;
  if (slot.array) return NULL;
  for (uint32_t s = 0; s < group->step_count; s++) {
    for (uint32_t k = 0; k < steps[s].operand_count; k++)
      readers += !steps[s].in[k].array && steps[s].in[k].index == slot.index;
    if (steps[s].kind == JOIST_STEP_OPERATION && !steps[s].out.array &&
        steps[s].out.index == slot.index)
      found = &steps[s];
  }
  return found != NULL && readers == 1 && found->op == op ? found : NULL;
}

/* A sum of ifelse(mask, scalar, x), or of ifelse(mask | is_nan(x), scalar, x), selects while it
 * folds: one pass over x, which is prefetched. */
static void bind_masked_fold(const struct joist_plan *plan, const struct joist_group *group,
                             struct joist_step *fold) {
  const joist_op combine = joist_op_combine(plan->program->instructions[fold->instruction].op);
  joist_masked_fold *const masked =
      joist_masked_fold_find(combine, fold->in[0].dtype, fold->out.dtype);
  struct joist_step *const select = only_for_one(plan, group, fold->in[0], JOIST_OP_IFELSE);
  if (masked == NULL || fold->counts_wrapped || group->space.inner > 1 || select == NULL ||
      select + 1 != fold || select->in[0].repeats || !select->in[1].repeats || !select->in[2].array)
    return;
  memcpy(fold->masked, select->in, sizeof fold->masked);
  fold->bound[3] = (joist_bound *)masked;
  select->passed_over = true;
  struct joist_step *const either = only_for_one(plan, group, select->in[0], JOIST_OP_OR);
  if (either == NULL || !either->in[0].array) return;
  struct joist_step *const nan = only_for_one(plan, group, either->in[1], JOIST_OP_IS_NAN);
  if (nan == NULL || !nan->in[0].array || nan->in[0].index != select->in[2].index) return;
  fold->masked[0] = either->in[0];
  fold->drops_nan = either->passed_over = nan->passed_over = true;
}

/* ---- operations of arrays and one number ---- */

/* Powers and quotients by a scalar that was repeated to fill a slot. */
static void bind_by_number(const struct joist_plan *plan, struct joist_step *step) {
  const struct joist_instruction *const i = &plan->program->instructions[step->instruction];
  if (step->kind != JOIST_STEP_OPERATION || joist_step_operands(step) != 2 || joist_is_mixed(i) ||
      !step->in[1].repeats)
    return;
  joist_kernel *const kernel = joist_kernel_by_number_find(step->op, i->signature.compute);
  if (kernel == NULL) return;
  step->bound[0] = (joist_bound *)kernel;
  step->by_number = true;
}

/* Whether the step needs no slot as long as a tile. */
static bool needs_no_slot(const struct joist_step *step) {
  if (step->kind == JOIST_STEP_FOLD) return step->in[0].array || step->bound[3] != NULL;
  return step->kind == JOIST_STEP_SPLAT || step->passed_over ||
         (step->by_number && step->in[0].array && step->out.array);
}

/* Makes the tile as long as the tile of a plain sum where folds, or what reads one number, leave no
 * step that writes a slot. */
static void widen_tile(const struct joist_plan *plan, struct joist_group *group) {
  const struct joist_step *const steps = plan->steps + group->first_step;
  bool any = false;
  for (uint32_t s = 0; s < group->step_count; s++) {
    if (!needs_no_slot(&steps[s])) return;
    any |= steps[s].passed_over || steps[s].by_number;
  }
  const size_t tile = joist_fold_tile(group->space, JOIST_TILE_DIRECT);
  if (any && group->tile < tile) group->tile = tile;
}

void joist_bind_group(const struct joist_plan *plan, const struct joist_group *group) {
  if (group->bound) return;
  for (uint32_t s = 0; s < group->step_count; s++)
    joist_bind_step(plan->program, &plan->steps[group->first_step + s], group->count);
  for (uint32_t s = 0; s < group->step_count; s++) {
    struct joist_step *const step = &plan->steps[group->first_step + s];
    if (step->kind == JOIST_STEP_FOLD) bind_masked_fold(plan, group, step);
    bind_by_number(plan, step);
  }
  struct joist_group *const own = &plan->groups[group - plan->groups];
  widen_tile(plan, own);
  own->bound = true;
}
