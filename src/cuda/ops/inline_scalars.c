/* Inputs of one element in the process's memory, as literals are. The kernels of elementwise groups
 * and of random numbers have them in their parameter, which costs neither memory of the device nor
 * a copy. */
#include "cuda/ops/inline_scalars.h"

#include "cuda/ops/operations.h"

enum { PLACE = 16 }; /* bytes for one element of any dtype */

/* Whether nothing but such kernels reads the array of a value. */
static bool fits_parameters(const struct joist_plan *plan, joist_value_id value) {
  const struct joist_program *const program = plan->program;
  if (joist_value_bytes(&program->values[value]) > sizeof(uint64_t)) return false;
  for (uint32_t k = 0; k < program->output_count; k++)
    if (plan->root[program->outputs[k]] == value) return false;
  for (uint32_t g = 0; g < plan->group_count; g++) {
    const struct joist_instruction *const i = &program->instructions[plan->groups[g].instruction];
    if (plan->groups[g].kind != JOIST_GROUP_ARRAY) continue;
    for (uint32_t k = 0; k < i->operand_count; k++)
      if (plan->root[i->operand[k]] == value && !joist_cuda_reads_on_host(i->op, k)) return false;
  }
  return true;
}

static joist_status place(const struct running *r, joist_value_id value, void **arrays,
                          void **owned, struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  joist_status status = JOIST_OK;
  if (*owned == NULL) status = allocate(r, program->input_count * PLACE, owned, error);
  if (status != JOIST_OK) return status;
  const void *const element = arrays[value];
  arrays[value] = (char *)*owned + program->values[value].input * PLACE;
  return joist_cuda_copy(r->device, arrays[value], element, bytes_of(program, value),
                         JOIST_COPY_TO_DEVICE, error);
}

joist_status joist_cuda_place_given(const struct running *r, void **arrays, bool *given,
                                    void **owned, struct joist_error *error) {
  const struct joist_plan *const plan = r->plan;
  joist_status status = JOIST_OK;
  for (uint32_t v = 0; v < plan->program->value_count && status == JOIST_OK; v++) {
    const uint32_t root = plan->root[v], input = plan->program->values[v].input;
    if (root != v) {
      given[v] = given[root];
      arrays[v] = arrays[root];
    } else if (input != JOIST_NO_INPUT && r->run->here[input]) {
      given[v] = fits_parameters(plan, v);
      if (!given[v]) status = place(r, v, arrays, owned, error);
    }
  }
  return status;
}
