#include "core/program/emit.h"

#include <stdlib.h>

#include "core/program/watch.h"
#include "core/promotion/builtin_rules.h"
#include "core/types/error.h"

struct joist_argument joist_argument_of(const struct joist_program *program, joist_value_id value) {
  const struct joist_value *const v = &program->values[value];
  return (struct joist_argument){
      .operand = {.type = v->type, .rank = v->shape.rank}, .shape = v->shape, .value = value};
}

joist_status joist_program_emit(struct joist_program *program, joist_op op,
                                const joist_value_id *operands, size_t count,
                                const struct joist_attributes *attributes, uint32_t source,
                                uint8_t watched, joist_value_id *result,
                                struct joist_error *error) {
  struct joist_argument few[JOIST_ELEMENT_OPERANDS], *arguments = few;
  struct joist_inference inference;
  if (count > JOIST_ELEMENT_OPERANDS) arguments = malloc(count * sizeof *arguments);
  if (arguments == NULL) return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  for (size_t k = 0; k < count; k++) arguments[k] = joist_argument_of(program, operands[k]);
  joist_status status =
      joist_program_infer(joist_rules_at(0), op, arguments, count, attributes, &inference, error);
  if (status == JOIST_OK && watched != 0)
    inference.watch = joist_watch_of(op, arguments, count, &inference, attributes, watched);
  if (arguments != few) free(arguments);
  if (status != JOIST_OK) return status;
  struct joist_instruction instruction =
      joist_instruction_of(op, &inference, operands, count, attributes, 0);
  instruction.source = source;
  status = joist_program_add(program, &instruction, &inference, error);
  *result = instruction.result;
  return status;
}
