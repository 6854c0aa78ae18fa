/* programs.h: building programs in tests. */
#ifndef JOIST_TESTS_PROGRAMS_H
#define JOIST_TESTS_PROGRAMS_H

#include "core/program/program.h"

#include "errors.h"

static const struct joist_type none = {JOIST_DTYPE_NONE, false};

static inline struct joist_argument argument_of(const struct joist_program *program,
                                                joist_value_id v) {
  struct joist_argument argument;
  memset(&argument, 0, sizeof argument);
  argument.operand.type = program->values[v].type;
  argument.operand.rank = program->values[v].shape.rank;
  argument.shape = program->values[v].shape;
  argument.value = v;
  return argument;
}

/* Functions whose result for a NaN part depends on the NaN's sign, in the C library. */
static inline bool is_wild(joist_op op, joist_dtype compute) {
  if (joist_dtype_kind(compute) != JOIST_KIND_COMPLEX) return false;
  return joist_op_class(op) == JOIST_CLASS_INEXACT || joist_op_class(op) == JOIST_CLASS_ANGLE ||
         op == JOIST_OP_POW || op == JOIST_OP_SIGN;
}

/* What a test avoids besides; NULL for nothing. */
static bool (*avoided)(joist_op op, joist_dtype compute) = NULL;

/* Adds an instruction; false when inference refuses it, or the test avoids it. */
static inline bool add(struct joist_program *program, const struct joist_rules *rules, joist_op op,
                       const joist_value_id *operands, const struct joist_attributes *attributes,
                       joist_value_id *result) {
  struct joist_argument arguments[JOIST_ARITY_MAX];
  struct joist_inference inference;
  struct joist_error error;
  for (int k = 0; k < joist_op_arity(op); k++) arguments[k] = argument_of(program, operands[k]);
  if (joist_program_infer(rules, op, arguments, attributes, &inference, &error) != JOIST_OK)
    return false;
  if (!joist_op_is_reduction(op) && is_wild(op, inference.signature.compute)) return false;
  if (avoided != NULL && avoided(op, inference.signature.compute)) return false;
  return CHECK_INT(joist_program_add(program, op, &inference, operands, attributes, result, &error),
                   JOIST_OK);
}

static inline joist_value_id add_simple(struct joist_program *program, joist_op op,
                                        joist_value_id a, joist_value_id b) {
  const joist_value_id operands[2] = {a, b};
  const int rank = program->values[a].shape.rank;
  const struct joist_attributes attributes = {
      .requested = none, .dims = (UINT32_C(1) << rank) - 1, .drop = true};
  joist_value_id result = 0;
  CHECK(add(program, joist_rules_at(0), op, operands, &attributes, &result));
  return result;
}

static inline joist_value_id add_input(struct joist_program *program, joist_dtype dtype, int rank,
                                       const uint32_t *extents) {
  struct joist_shape shape = {rank, {0}};
  joist_value_id value = 0;
  for (int d = 0; d < rank; d++) shape.extent[d] = extents[d];
  CHECK_INT(
      joist_program_add_input(program, (struct joist_type){dtype, false}, &shape, &value, NULL),
      JOIST_OK);
  return value;
}

static inline void add_output(struct joist_program *program, joist_value_id value) {
  CHECK_INT(joist_program_add_output(program, value, NULL), JOIST_OK);
}

static inline size_t count_of(const struct joist_program *program, joist_value_id v) {
  size_t count = 0;
  CHECK(joist_shape_count(&program->values[v].shape, &count));
  return count;
}

static inline size_t bytes_of(const struct joist_program *program, joist_value_id v) {
  return count_of(program, v) * joist_dtype_size(program->values[v].type.dtype);
}

/* A sum of two arrays and its total; one is repeated along the dims of `mask`, the other along
 * those one before. */
static inline void make_broadcast(struct joist_program *program, const uint32_t extents[4],
                                  uint32_t mask) {
  uint32_t left[4], right[4];
  for (int d = 0; d < 4; d++) {
    left[d] = mask >> d & 1 ? 1 : extents[d];
    right[d] = mask >> ((d + 1) % 4) & 1 ? 1 : extents[d];
  }
  joist_program_init(program);
  const joist_value_id a = add_input(program, JOIST_I16, 4, left);
  const joist_value_id b = add_input(program, JOIST_I64, 4, right);
  const joist_value_id sum = add_simple(program, JOIST_OP_ADD, a, b);
  add_output(program, sum);
  add_output(program, add_simple(program, JOIST_OP_REDUCE_SUM, sum, sum));
}

#endif
