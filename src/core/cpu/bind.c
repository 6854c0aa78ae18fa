/* Binding steps: looking up kernels and conversions. */
#include "core/cpu/bind.h"

#include "core/kernels/compare.h"
#include "core/kernels/half_tables.h"

static joist_kernel *kernel_of(const struct joist_instruction *i, const struct joist_step *step,
                               size_t count) {
  if (step->operand_count == 1 && step->in[0].dtype != i->signature.compute)
    return joist_half_kernel_find(i->op, step->in[0].dtype, count);
  return joist_is_mixed(i)
             ? joist_compare_find(i->op, i->signature.operand[0], i->signature.operand[1])
             : joist_kernel_find(i->op, i->signature.compute);
}

static joist_bound *conversion(joist_dtype from, joist_dtype to) {
  return from == to ? NULL : (joist_bound *)joist_convert_find(from, to);
}

void joist_bind_step(const struct joist_program *program, struct joist_step *step, size_t count) {
  const struct joist_instruction *const i = &program->instructions[step->instruction];
  const joist_dtype from = step->in[0].dtype, to = step->out.dtype;
  switch (step->kind) {
    case JOIST_STEP_OPERATION:
      step->bound[0] = (joist_bound *)kernel_of(i, step, count);
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

void joist_bind_group(const struct joist_plan *plan, const struct joist_group *group) {
  if (group->bound) return;
  for (uint32_t s = 0; s < group->step_count; s++)
    joist_bind_step(plan->program, &plan->steps[group->first_step + s], group->count);
  plan->groups[group - plan->groups].bound = true;
}
