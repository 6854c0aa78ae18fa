/* Reductions after their first pass: joining strips, reducing what is left of the dims, means. What
 * is combined in which order depends on the shape alone. */
#include "core/cpu/reduce.h"

#include "core/base/pool.h"
#include "core/cpu/bind.h"
#include "core/cpu/elementwise.h"
#include "core/types/error.h"

#include <stdlib.h>
#include <string.h>

static size_t reduction_length(const struct joist_program *program,
                               const struct joist_instruction *instruction) {
  const struct joist_shape *const shape = &program->values[instruction->operand[0]].shape;
  size_t length = 1;
  for (int d = 0; d < shape->rank; d++)
    if (instruction->dims >> d & 1) length *= shape->extent[d];
  return length;
}

/* Divides a mean by the number of elements, and converts to the dtype of the result. */
static void finish(const struct joist_program *program, const struct joist_instruction *instruction,
                   size_t n, void *accumulated, void *out) {
  const joist_dtype accumulator = instruction->signature.operand[0];
  if (instruction->op == JOIST_OP_REDUCE_MEAN) {
    const double length = (double)reduction_length(program, instruction);
    if (accumulator == JOIST_C128)
      for (size_t k = 0; k < n; k++) ((joist_c128 *)accumulated)[k] /= length;
    else
      for (size_t k = 0; k < n; k++) ((double *)accumulated)[k] /= length;
  }
  joist_convert_find(accumulator, instruction->signature.result[0].dtype)(n, accumulated, out);
}

static joist_status reduce_nothing(const struct joist_program *program,
                                   const struct joist_instruction *instruction, size_t results,
                                   char *out, struct joist_error *error) {
  const joist_dtype dtype = instruction->signature.operand[0];
  const size_t size = joist_dtype_size(instruction->signature.result[0].dtype);
  _Alignas(16) char value[JOIST_ELEMENT_MAX];
  for (size_t k = 0; k < results; k++) {
    if (!joist_identity(joist_op_combine(instruction->op), dtype, value))
      return JOIST_FAIL(error, JOIST_E_NO_ELEMENTS, .op = joist_op_name(instruction->op));
    finish(program, instruction, 1, value, out + k * size);
  }
  return JOIST_OK;
}

/* One pass over accumulated values: a program of one sink. */
static joist_status run_pass(const struct joist_program *program,
                             const struct joist_instruction *instruction,
                             struct joist_fold_space space, char *in, char *out,
                             const struct joist_run *run, struct joist_error *error) {
  const joist_dtype dtype = instruction->signature.operand[0];
  const struct joist_ref ref = {true, 0, (uint32_t)joist_dtype_size(dtype), dtype, false};
  struct joist_step step = {.kind = JOIST_STEP_FOLD,
                            .operand_count = 1,
                            .in = {ref},
                            .out = ref,
                            .instruction = (uint32_t)(instruction - program->instructions)};
  joist_bind_step(program, &step, 0);
  const struct joist_plan plan = {.program = program, .steps = &step};
  const struct joist_group group = {.kind = JOIST_GROUP_ELEMENTWISE,
                                    .count = space.inner * space.middle * space.outer,
                                    .step_count = 1,
                                    .sink_count = 1,
                                    .space = space,
                                    .work = 1,
                                    .tile = joist_fold_tile(space, JOIST_TILE_DIRECT)};
  return joist_tiles_run(&plan, &group, (void *[]){in}, &out, NULL, run, error);
}

joist_status joist_reduction_finish(const struct joist_program *program,
                                    const struct joist_instruction *instruction, char *accumulated,
                                    void *out, const struct joist_run *run,
                                    struct joist_error *error) {
  const struct joist_shape *const shape = &program->values[instruction->operand[0]].shape;
  const size_t results = joist_value_count(&program->values[instruction->result]);
  const size_t elements = joist_value_count(&program->values[instruction->operand[0]]);
  if (results == 0) return JOIST_OK;
  if (elements == 0) return reduce_nothing(program, instruction, results, out, error);
  const size_t size = joist_dtype_size(instruction->signature.operand[0]);
  struct joist_fold_dims dims = joist_fold_dims(shape, instruction->dims);
  struct joist_fold_space space;
  int d = joist_fold_next(&dims, &space);
  if (d >= 0) dims.extent[d] = joist_fold_strips(space);
  char *current = accumulated;
  joist_status status = JOIST_OK;
  while (status == JOIST_OK && (d = joist_fold_next(&dims, &space)) >= 0) {
    dims.extent[d] = joist_fold_strips(space);
    char *const next = joist_scratch_allocate(space.inner * dims.extent[d] * space.outer * size);
    if (next == NULL)
      status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
    else
      status = run_pass(program, instruction, space, current, next, run, error);
    if (current != accumulated) joist_scratch_free(current);
    current = next;
  }
  if (status == JOIST_OK) finish(program, instruction, results, current, out);
  if (current != accumulated) joist_scratch_free(current);
  return status;
}
