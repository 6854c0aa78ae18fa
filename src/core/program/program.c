/* Building programs. */
#include "core/program/program.h"

#include <stdlib.h>
#include <string.h>

#include "core/program/array.h"
#include "core/types/shape_rules.h"

void joist_program_init(struct joist_program *program) { memset(program, 0, sizeof *program); }

void joist_program_clear(struct joist_program *program) {
  free(program->values);
  free(program->instructions);
  free(program->outputs);
  joist_program_init(program);
}

/* Makes room for one more element; false when memory is out (the old array stays). */
static bool grow(void **array, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity) return true;
  if (*capacity > UINT32_MAX / 4) return false;
  const uint32_t larger = *capacity == 0 ? 8 : *capacity * 2;
  void *const moved = realloc(*array, larger * size);
  if (moved == NULL) return false;
  *array = moved;
  *capacity = larger;
  return true;
}

static joist_status out_of_memory(struct joist_error *error) {
  return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory while building a program");
}

static joist_status add_value(struct joist_program *program, struct joist_type type,
                              const struct joist_shape *shape, uint32_t input, uint32_t instruction,
                              joist_value_id *value, struct joist_error *error) {
  void *values = program->values;
  if (!grow(&values, program->value_count, &program->value_capacity, sizeof *program->values))
    return out_of_memory(error);
  program->values = values;
  *value = program->value_count++;
  program->values[*value] = (struct joist_value){type, *shape, input, instruction};
  return JOIST_OK;
}

joist_status joist_program_add_input(struct joist_program *program, struct joist_type type,
                                     const struct joist_shape *shape, joist_value_id *value,
                                     struct joist_error *error) {
  const joist_status status =
      add_value(program, type, shape, program->input_count, 0, value, error);
  if (status == JOIST_OK) program->input_count++;
  return status;
}

joist_status joist_program_infer(const struct joist_rules *rules, joist_op op,
                                 const struct joist_argument *arguments,
                                 const struct joist_attributes *attributes,
                                 struct joist_inference *inference, struct joist_error *error) {
  const size_t arity = (size_t)joist_op_arity(op);
  struct joist_operand operands[JOIST_ARITY_MAX];
  const struct joist_shape *shapes[JOIST_ARITY_MAX];
  for (size_t i = 0; i < arity; i++) {
    operands[i] = arguments[i].operand;
    shapes[i] = &arguments[i].shape;
  }
  joist_status status =
      joist_infer(rules, op, operands, attributes->requested, &inference->signature, error);
  if (status != JOIST_OK) return status;
  if (joist_op_is_reduction(op)) {
    joist_shape_reduce(shapes[0], attributes->dims, attributes->drop, &inference->shape);
  } else if (joist_op_is_array(op)) {
    status = joist_array_shape_of(op, shapes, attributes, &inference->shape, error);
    if (status != JOIST_OK) return status;
  } else if (op == JOIST_OP_BROADCAST) {
    char from[JOIST_SHAPE_TEXT], to[JOIST_SHAPE_TEXT];
    inference->shape = attributes->shape;
    if (!joist_shape_broadcasts_to(shapes[0], &inference->shape))
      return joist_fail(error, JOIST_ERROR_SHAPE, "shape %s cannot be broadcast to %s",
                        joist_shape_format(shapes[0], from),
                        joist_shape_format(&inference->shape, to));
  } else {
    status = joist_shape_broadcast(shapes, arity, &inference->shape, error);
    if (status != JOIST_OK) return status;
  }
  size_t count = 0;
  char text[JOIST_SHAPE_TEXT];
  if (!joist_shape_count(&inference->shape, &count))
    return joist_fail(error, JOIST_ERROR_SHAPE, "shape %s has more elements than memory can hold",
                      joist_shape_format(&inference->shape, text));
  return JOIST_OK;
}

/* An instruction that already computes the same; only the latest are looked at, so
 * that building a program takes linear time. */
static const struct joist_instruction *find_same(const struct joist_program *program, joist_op op,
                                                 const struct joist_inference *inference,
                                                 const joist_value_id *operands,
                                                 const struct joist_attributes *attributes) {
  enum { LOOK_BACK = 256 };
  const uint32_t count = program->instruction_count;
  const size_t bytes = (size_t)joist_op_arity(op) * sizeof *operands;
  for (uint32_t k = count; k-- > 0 && k + LOOK_BACK >= count;) {
    const struct joist_instruction *const i = &program->instructions[k];
    const struct joist_value *const result = &program->values[i->result];
    if (i->op == op && i->dims == attributes->dims && memcmp(i->operand, operands, bytes) == 0 &&
        memcmp(i->parameter, attributes->parameter, sizeof i->parameter) == 0 &&
        result->type.dtype == inference->signature.result.dtype &&
        result->type.ambiguous == inference->signature.result.ambiguous &&
        i->signature.operand[0] == inference->signature.operand[0] &&
        i->signature.operand[1] == inference->signature.operand[1] &&
        joist_shape_equal(&result->shape, &inference->shape))
      return i;
  }
  return NULL;
}

joist_status joist_program_add(struct joist_program *program, joist_op op,
                               const struct joist_inference *inference,
                               const joist_value_id *operands,
                               const struct joist_attributes *attributes, joist_value_id *result,
                               struct joist_error *error) {
  const struct joist_instruction *const same =
      find_same(program, op, inference, operands, attributes);
  if (same != NULL) {
    *result = same->result;
    return JOIST_OK;
  }
  void *instructions = program->instructions;
  if (!grow(&instructions, program->instruction_count, &program->instruction_capacity,
            sizeof *program->instructions))
    return out_of_memory(error);
  program->instructions = instructions;
  joist_value_id made; /* `result` may be one of `operands` */
  const joist_status status = add_value(program, inference->signature.result, &inference->shape,
                                        JOIST_NO_INPUT, program->instruction_count, &made, error);
  if (status != JOIST_OK) return status;
  struct joist_instruction *const added = &program->instructions[program->instruction_count++];
  *added = (struct joist_instruction){
      .op = op, .signature = inference->signature, .result = made, .dims = attributes->dims};
  memcpy(added->parameter, attributes->parameter, sizeof added->parameter);
  memcpy(added->operand, operands, (size_t)joist_op_arity(op) * sizeof *operands);
  *result = made;
  return JOIST_OK;
}

joist_status joist_program_add_output(struct joist_program *program, joist_value_id value,
                                      struct joist_error *error) {
  void *outputs = program->outputs;
  if (!grow(&outputs, program->output_count, &program->output_capacity, sizeof *program->outputs))
    return out_of_memory(error);
  program->outputs = outputs;
  program->outputs[program->output_count++] = value;
  return JOIST_OK;
}

joist_status joist_value_error(const struct joist_program *program, uint32_t instruction,
                               size_t position, struct joist_error *error) {
  const joist_op op = program->instructions[instruction].op;
  return joist_fail(error, JOIST_ERROR_VALUE, "%s at position %zu in nv_%s()",
                    op == JOIST_OP_POW ? "integer to a negative power" : "integer division by zero",
                    position + 1, joist_op_name(op));
}
