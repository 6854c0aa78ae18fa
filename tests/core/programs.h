/* programs.h: building programs in tests. */
#ifndef JOIST_TESTS_PROGRAMS_H
#define JOIST_TESTS_PROGRAMS_H

#include "core/program/program.h"
#include "core/promotion/builtin_rules.h"

#include "errors.h"

#include <stdlib.h>

static const struct joist_type none = {JOIST_DTYPE_NONE, false};

/* An R number, whose dtype is a guess. */
static inline struct joist_operand whole_literal(joist_dtype guess, double value) {
  return (struct joist_operand){.type = {guess, true},
                                .literal = true,
                                .has_range = true,
                                .whole = true,
                                .low = value,
                                .high = value};
}

/* Whether operations decide as JAX's do, and not only tables. */
static inline bool is_jax(const struct joist_rules *rules) {
  return strncmp(rules->id, "jax", 3) == 0 && strcmp(rules->id, "jax_lax") != 0;
}

/* The type of a product of matrices whose common type is `joined`: JAX gives that of two weak
 * matrices the default dtype of its category. */
static inline struct joist_type matrix_product_of(const struct joist_rules *rules,
                                                  struct joist_type joined) {
  if (is_jax(rules) && joined.ambiguous)
    joined.dtype = (joist_dtype)rules->literal[joist_dtype_category(joined.dtype)];
  return joined;
}

/* ---- attributes: each function gives those it is given and one more ---- */

static const struct joist_attributes no_attributes = {.count = 0};

static inline struct joist_attributes with(struct joist_attributes attributes,
                                           joist_attribute_name name, int64_t value) {
  joist_attributes_set(&attributes, name, value);
  return attributes;
}

/* The list is copied; its copy lasts until ROOMS more were made. */
static inline struct joist_attributes with_list(struct joist_attributes attributes,
                                                joist_attribute_name name, const int64_t *list,
                                                size_t count) {
  enum { ROOMS = 16 };
  static int64_t rooms[ROOMS][JOIST_RANK_MAX];
  static size_t latest;
  int64_t *const room = rooms[latest++ % ROOMS];
  if (count > 0) memcpy(room, list, count * sizeof *list);
  joist_attributes_set_list(&attributes, name, room, count);
  return attributes;
}

static inline struct joist_attributes with_shape(struct joist_attributes attributes,
                                                 const struct joist_shape *shape) {
  int64_t extents[JOIST_RANK_MAX];
  for (int d = 0; d < shape->rank; d++) extents[d] = shape->extent[d];
  return with_list(attributes, JOIST_ATTRIBUTE_SHAPE, extents, (size_t)shape->rank);
}

/* DIMS from the bits of a mask. */
static inline struct joist_attributes with_dims(struct joist_attributes attributes, uint32_t mask) {
  int64_t dims[JOIST_RANK_MAX];
  size_t count = 0;
  for (int d = 0; d < JOIST_RANK_MAX; d++)
    if (mask >> d & 1) dims[count++] = d;
  return with_list(attributes, JOIST_ATTRIBUTE_DIMS, dims, count);
}

/* Nothing is asked for with `none`. */
static inline struct joist_attributes with_type(struct joist_attributes attributes,
                                                struct joist_type type) {
  if (type.dtype != JOIST_DTYPE_NONE) joist_attributes_set_type(&attributes, type);
  return attributes;
}

/* ---- instructions ---- */

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

/* What inference says of the operation on values of the program. */
static inline joist_status infer(const struct joist_program *program,
                                 const struct joist_rules *rules, joist_op op,
                                 const joist_value_id *operands, size_t count,
                                 const struct joist_attributes *attributes,
                                 struct joist_inference *inference, struct joist_error *error) {
  struct joist_argument *const arguments = malloc((count + 1) * sizeof *arguments);
  if (arguments == NULL) abort();
  for (size_t k = 0; k < count; k++) arguments[k] = argument_of(program, operands[k]);
  const joist_status status =
      joist_program_infer(rules, op, arguments, count, attributes, inference, error);
  free(arguments);
  return status;
}

/* Adds an instruction that was inferred. */
static inline joist_status append(struct joist_program *program, joist_op op,
                                  const struct joist_inference *inference,
                                  const joist_value_id *operands, size_t count,
                                  const struct joist_attributes *attributes, joist_value_id *result,
                                  struct joist_error *error) {
  struct joist_instruction instruction =
      joist_instruction_of(op, inference, operands, count, attributes, 0);
  const joist_status status = joist_program_add(program, &instruction, inference, error);
  *result = instruction.result;
  return status;
}

/* Both, under the first rule set. */
static inline joist_status infer_and_append(struct joist_program *program, joist_op op,
                                            const joist_value_id *operands, size_t count,
                                            const struct joist_attributes *attributes,
                                            struct joist_inference *inference,
                                            joist_value_id *result, struct joist_error *error) {
  const joist_status status =
      infer(program, joist_rules_at(0), op, operands, count, attributes, inference, error);
  if (status != JOIST_OK) return status;
  return append(program, op, inference, operands, count, attributes, result, error);
}

/* Adds an instruction; false when inference refuses it, or the test avoids it. */
static inline bool add(struct joist_program *program, const struct joist_rules *rules, joist_op op,
                       const joist_value_id *operands, size_t count,
                       const struct joist_attributes *attributes, joist_value_id *result) {
  struct joist_inference inference;
  struct joist_error error;
  if (infer(program, rules, op, operands, count, attributes, &inference, &error) != JOIST_OK)
    return false;
  if (!joist_op_is_reduction(op) && is_wild(op, inference.signature.compute)) return false;
  if (avoided != NULL && avoided(op, inference.signature.compute)) return false;
  return CHECK_INT(append(program, op, &inference, operands, count, attributes, result, &error),
                   JOIST_OK);
}

/* An operation that has no attributes, or a reduction over all dims. */
static inline joist_value_id add_simple(struct joist_program *program, joist_op op,
                                        joist_value_id a, joist_value_id b) {
  const joist_value_id operands[2] = {a, b};
  const uint32_t all = (UINT32_C(1) << program->values[a].shape.rank) - 1;
  const struct joist_attributes attributes =
      joist_op_is_reduction(op) ? with_dims(no_attributes, all) : no_attributes;
  joist_value_id result = 0;
  CHECK(add(program, joist_rules_at(0), op, operands, joist_operation(op)->least, &attributes,
            &result));
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

static inline size_t elements_in(const struct joist_shape *shape) {
  size_t count = 0;
  CHECK(joist_shape_count(shape, &count));
  return count;
}

static inline size_t count_of(const struct joist_program *program, joist_value_id v) {
  return elements_in(&program->values[v].shape);
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
