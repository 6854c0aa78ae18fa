/* Assigning registers to lowered code. */
#include "cuda/codegen/registers.h"

#include <stdlib.h>

/* Renumbers registers; false if more are in use at once than exist. `last` has room for
 * every register. */
static bool assign_registers(struct joist_code *code, uint32_t *last, uint16_t *assigned) {
  bool taken[JOIST_CUDA_REGISTERS] = {false};
  for (uint32_t s = 0; s < code->step_count; s++) {
    const struct joist_code_step *const step = &code->steps[s];
    if (joist_code_writes(step)) last[step->out] = s;
    for (int k = 0; k < joist_code_reads(step); k++) last[step->in[k]] = s;
  }
  for (uint32_t s = 0; s < code->step_count; s++) {
    struct joist_code_step *const step = &code->steps[s];
    uint16_t free_again[JOIST_REFS_MAX];
    const int n = joist_code_reads(step);
    for (int k = 0; k < n; k++) {
      const bool ends = last[step->in[k]] == s;
      step->in[k] = assigned[step->in[k]];
      free_again[k] = ends ? step->in[k] : UINT16_MAX;
    }
    if (joist_code_writes(step)) {
      /* Never an operand's own register: steps may write before they have read all. */
      uint16_t place = 0;
      while (place < JOIST_CUDA_REGISTERS && taken[place]) place++;
      if (place == JOIST_CUDA_REGISTERS) return false;
      const bool unread = last[step->out] == s;
      assigned[step->out] = place;
      step->out = place;
      taken[place] = !unread;
    }
    for (int k = 0; k < n; k++)
      if (free_again[k] != UINT16_MAX) taken[free_again[k]] = false;
  }
  return true;
}

static bool fits(const struct joist_code *code) {
  const uint32_t words = code->array_count + code->gather_count * (code->rank + 1) + code->rank;
  return words <= JOIST_CUDA_OWN_BYTES / 8 && code->sink_count <= JOIST_CUDA_SINKS;
}

bool joist_cuda_fit(struct joist_code *code) {
  const size_t registers = code->register_count + (size_t)1;
  uint32_t *const last = malloc(registers * (sizeof *last + sizeof(uint16_t)));
  if (last == NULL) return false;
  const bool done = fits(code) && assign_registers(code, last, (uint16_t *)(last + registers));
  free(last);
  return done;
}
