/* Which values of a program differ between slices. */
#include "core/program/batch_flow.h"

#include <stdlib.h>

#include "core/program/regions.h"
#include "core/types/error.h"

joist_status joist_batch_flow_body(const struct joist_program *body, const bool *inputs,
                                   bool *outputs, struct joist_error *error) {
  bool *const varies = calloc(body->value_count + 1, sizeof *varies);
  if (varies == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t v = 0; v < body->value_count; v++)
    if (body->values[v].input != JOIST_NO_INPUT) varies[v] = inputs[body->values[v].input];
  const joist_status status = joist_batch_flow(body, varies, error);
  for (uint32_t k = 0; k < body->output_count; k++) outputs[k] = varies[body->outputs[k]];
  free(varies);
  return status;
}

/* Carries differ if what the body makes of them does; all results do if a condition does. `in` and
 * `out` are room for the flags of inputs and outputs of a body. */
static joist_status flow_once(const struct joist_instruction *i,
                              const struct joist_region_parts *parts, bool *varies, bool *in,
                              bool *out, bool *all, bool *changed, struct joist_error *error) {
  const uint32_t given = parts->carries + parts->arrays;
  uint32_t capture = parts->first + given;
  *changed = false;
  for (uint32_t r = 0; r < i->region_count; r++) {
    uint32_t n = 0;
    if (i->op == JOIST_OP_FOR) in[n++] = false;
    for (uint32_t k = 0; k < given; k++)
      in[n++] = varies[k < parts->carries ? i->result + k : i->operand[parts->first + k]];
    for (uint32_t k = 0; k < parts->captures[r]; k++) in[n++] = varies[i->operand[capture++]];
    const joist_status status = joist_batch_flow_body(i->regions[r], in, out, error);
    if (status != JOIST_OK) return status;
    if (i->op == JOIST_OP_WHILE && r == 0) {
      *all |= out[0];
      continue;
    }
    for (uint32_t k = 0; k < i->result_count; k++) {
      *changed |= out[k] && !varies[i->result + k];
      varies[i->result + k] |= out[k];
    }
  }
  return JOIST_OK;
}

static joist_status flow_bodies(const struct joist_program *program,
                                const struct joist_instruction *i, bool *varies,
                                struct joist_error *error) {
  const struct joist_region_parts parts = joist_region_parts(program, i);
  bool all = parts.first > 0 && varies[i->operand[0]], changed = true;
  bool *const room = malloc(i->operand_count + i->result_count + 3);
  if (room == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (uint32_t k = 0; k < i->result_count; k++)
    varies[i->result + k] = k < parts.carries && varies[i->operand[parts.first + k]];
  joist_status status = JOIST_OK;
  while (changed && !all && status == JOIST_OK)
    status = flow_once(i, &parts, varies, room, room + i->operand_count + 1, &all, &changed, error);
  for (uint32_t k = 0; k < i->result_count && all; k++) varies[i->result + k] = true;
  free(room);
  return status;
}

joist_status joist_batch_flow(const struct joist_program *program, bool *varies,
                              struct joist_error *error) {
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < program->instruction_count && status == JOIST_OK; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    if (i->region_count > 0) {
      status = flow_bodies(program, i, varies, error);
      continue;
    }
    const bool first = joist_op_batch_rule(i->op) == JOIST_BATCH_FIRST;
    bool any = false;
    for (uint32_t a = 0; a < (first ? 1 : i->operand_count); a++) any |= varies[i->operand[a]];
    for (uint32_t r = 0; r < i->result_count; r++) varies[i->result + r] = any;
  }
  return status;
}
