/* Groups on copies, by the CPU. */
#include "cuda/ops/on_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/cpu/engine.h"
#include "core/types/error.h"

/* Marks the arrays that a group reads and writes. */
static void arrays_of(const struct joist_plan *plan, const struct joist_group *group, bool *read,
                      bool *written) {
  const struct joist_instruction *const all = plan->program->instructions;
  if (group->kind == JOIST_GROUP_ARRAY) {
    const struct joist_instruction *const i = &all[group->instruction];
    for (uint32_t k = 0; k < joist_reads(i); k++) read[joist_read_at(i, k)] = true;
    for (uint32_t k = 0; k < i->result_count; k++) written[i->result + k] = true;
    return;
  }
  for (uint32_t s = 0; s < group->step_count; s++) {
    const struct joist_step *const step = &plan->steps[group->first_step + s];
    for (uint32_t k = 0; k < step->operand_count; k++)
      if (step->in[k].array) read[step->in[k].index] = true;
    if (step->kind == JOIST_STEP_FOLD)
      written[all[step->instruction].result] = true;
    else if (step->out.array)
      written[step->out.index] = true;
  }
}

joist_status joist_cuda_run_on_cpu(const struct running *r, struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const size_t n = program->value_count;
  void **const copies = calloc(n + 1, sizeof *copies + 2 * sizeof(bool));
  if (copies == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  bool *const read = (bool *)(copies + n), *const written = read + n;
  joist_status status = JOIST_OK;
  arrays_of(r->plan, r->group, read, written);
  for (uint32_t v = 0; v < n && status == JOIST_OK; v++) {
    if (!read[v] && !written[v]) continue;
    const size_t bytes = bytes_of(program, v);
    copies[v] = malloc(bytes + 1);
    if (copies[v] == NULL)
      status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY, .bytes = bytes);
    else if (read[v] && is_given(r, v))
      memcpy(copies[v], r->arrays[v], bytes);
    else if (read[v] && r->arrays[v] != NULL)
      status =
          joist_cuda_copy(r->device, copies[v], r->arrays[v], bytes, JOIST_COPY_TO_HOST, error);
  }
  if (status == JOIST_OK) status = joist_group_run(r->plan, r->group, copies, r->run, error);
  for (uint32_t v = 0; v < n && status == JOIST_OK; v++)
    if (written[v] && r->arrays[v] != NULL)
      status = joist_cuda_copy(r->device, r->arrays[v], copies[v], bytes_of(program, v),
                               JOIST_COPY_TO_DEVICE, error);
  for (uint32_t v = 0; v < n; v++) free(copies[v]);
  free(copies);
  return status;
}
