/* random_programs.h: programs made up at random, for the tests of what runs
 * them. */
#ifndef JOIST_TESTS_RANDOM_PROGRAMS_H
#define JOIST_TESTS_RANDOM_PROGRAMS_H

#include "interpreter.h"
#include "programs.h"

enum { VALUES_MAX = 96, OUTPUTS_MAX = 48 };

/* ---- inputs and errors ---- */

/* In a random program, the input that holds positions, if there is one, and the
 * number of elements that an array needs to have all of them. */
static joist_value_id positions = JOIST_NO_INPUT;
static size_t positions_below;

/* Arrays for all inputs, filled. The caller frees each. */
CHECK_UNUSED static void make_inputs(const struct joist_program *program, fill_kind kind,
                                     void **inputs) {
  for (uint32_t v = 0; v < program->value_count; v++) {
    const uint32_t input = program->values[v].input;
    if (input == JOIST_NO_INPUT) continue;
    const joist_dtype dtype = program->values[v].type.dtype;
    inputs[input] = malloc(bytes_of(program, v) + 1);
    if (inputs[input] == NULL) continue;
    fill(dtype, count_of(program, v), kind, inputs[input]);
    for (size_t k = 0; v == positions && k < count_of(program, v); k++)
      ((int64_t *)inputs[input])[k] = (int64_t)random_below(positions_below);
  }
}

/* Whether the error is one of those that the interpreter met. */
CHECK_UNUSED static bool error_fits(const struct interpreter *in, const struct joist_error *error) {
  for (int k = 0; k < in->failure_count; k++) {
    if (error->op == NULL || strcmp(error->op, joist_op_name(in->failures[k].op)) != 0) continue;
    const bool empty = in->failures[k].position == SIZE_MAX;
    if (empty
            ? error->code == JOIST_E_NO_ELEMENTS
            : error->code != JOIST_E_NO_ELEMENTS && error->position == in->failures[k].position + 1)
      return true;
  }
  return false;
}

CHECK_UNUSED static void print_program(const struct joist_program *program) {
  char text[JOIST_SHAPE_TEXT];
  for (uint32_t v = 0; v < program->value_count; v++)
    if (program->values[v].input != JOIST_NO_INPUT)
      fprintf(stderr, "  %%%u = input %s%s\n", v, joist_dtype_name(program->values[v].type.dtype),
              joist_shape_format(&program->values[v].shape, text));
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    const struct joist_instruction *const i = &program->instructions[k];
    fprintf(stderr, "  %%%u: %s%s = %s(", i->result,
            joist_dtype_name(program->values[i->result].type.dtype),
            joist_shape_format(&program->values[i->result].shape, text), joist_op_name(i->op));
    for (uint32_t a = 0; a < i->operand_count; a++) fprintf(stderr, " %%%u", i->operand[a]);
    fprintf(stderr, " ) in %s, dims %x\n", joist_dtype_name(i->signature.operand[0]), i->dims);
  }
  fprintf(stderr, "  outputs");
  for (uint32_t k = 0; k < program->output_count; k++)
    fprintf(stderr, " %%%u", program->outputs[k]);
  fprintf(stderr, "\n");
}

/* ---- random programs ---- */

struct style {
  size_t elements;  /* at most, about */
  bool checked;     /* operations that can fail */
  bool zero;        /* zero extents */
  int instructions; /* at most */
};

CHECK_UNUSED static struct joist_shape random_shape(const struct style *style) {
  static const uint32_t extents[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 64, 65};
  struct joist_shape shape = {(int)random_below(5), {0}};
  size_t room = style->elements;
  for (int d = 0; d < shape.rank; d++) {
    uint32_t extent = extents[random_below(sizeof extents / sizeof *extents)];
    if (d + 1 == shape.rank && one_in(2)) extent = (uint32_t)(1 + random_below(room));
    if (extent > room) extent = (uint32_t)room;
    if (style->zero && one_in(6)) extent = 0;
    shape.extent[d] = extent;
    if (extent > 0) room /= extent;
    if (room == 0) room = 1;
  }
  return shape;
}

/* The shape with some extents of 1, or that of a scalar. */
CHECK_UNUSED static struct joist_shape narrowed(struct joist_shape shape) {
  if (one_in(5)) shape.rank = 0;
  if (one_in(2))
    for (int d = 0; d < shape.rank; d++)
      if (one_in(3)) shape.extent[d] = 1;
  return shape;
}

CHECK_UNUSED static struct joist_shape reshaped(struct joist_shape shape) {
  size_t count = 0;
  struct joist_shape flat = {1, {0}};
  CHECK(joist_shape_count(&shape, &count));
  flat.extent[0] = (uint32_t)count;
  switch (random_below(4)) {
    case 0:
      return flat;
    case 1: /* reversed */
      for (int d = 0; d < shape.rank / 2; d++) {
        const uint32_t extent = shape.extent[d];
        shape.extent[d] = shape.extent[shape.rank - 1 - d];
        shape.extent[shape.rank - 1 - d] = extent;
      }
      return shape;
    case 2:
      flat.extent[flat.rank++] = 1;
      return flat;
    default:
      if (count % 2 == 0) flat = (struct joist_shape){2, {2, (uint32_t)(count / 2)}};
      return flat;
  }
}

CHECK_UNUSED static void random_permutation(int rank, int64_t *order) {
  for (int d = 0; d < rank; d++) {
    const int other = (int)random_below((size_t)d + 1);
    order[d] = order[other];
    order[other] = d;
  }
}

/* The array operations that interpreter.h knows; the others have tests of their
 * own. */
CHECK_UNUSED static bool interpreter_has(joist_op op) {
  return op == JOIST_OP_RESHAPE || op == JOIST_OP_TAKE || op == JOIST_OP_PUT ||
         op == JOIST_OP_CONCATENATE || op == JOIST_OP_PERMUTE || op == JOIST_OP_IOTA;
}

/* Rather a recent value: programs then are deep. */
CHECK_UNUSED static joist_value_id random_value(const struct joist_program *program) {
  const size_t values = program->value_count;
  return (joist_value_id)(one_in(2) ? values - 1 - random_below(values < 4 ? values : 4)
                                    : random_below(values));
}

/* Whether `part` goes beside `whole` along the dim. */
CHECK_UNUSED static bool goes_beside(const struct joist_shape *whole,
                                     const struct joist_shape *part, int dim) {
  bool fits = part->rank == whole->rank;
  for (int d = 0; fits && d < whole->rank; d++)
    fits = d == dim || part->extent[d] == whole->extent[d];
  return fits || part->rank == 0;
}

/* Up to `most` operands of a concatenate, of any dtypes, scalars among them; 0 when there are
 * none. */
CHECK_UNUSED static size_t random_parts(const struct joist_program *program,
                                        const struct style *style, joist_value_id *operands,
                                        size_t most, struct joist_attributes *attributes) {
  const struct joist_shape row = {1, {1}};
  const struct joist_shape *const first = &program->values[operands[0]].shape;
  const struct joist_shape *const whole = first->rank == 0 ? &row : first;
  const size_t wanted = 1 + random_below(most);
  if (count_of(program, operands[0]) > 2 * style->elements) return 0;
  const int dim = (int)random_below((size_t)whole->rank);
  size_t count = 1;
  for (size_t tries = 0; tries < 8 * wanted && count < wanted; tries++) {
    operands[count] = random_value(program);
    count += goes_beside(whole, &program->values[operands[count]].shape, dim);
  }
  /* The first may be a scalar, too. */
  const size_t other = random_below(count);
  const joist_value_id swapped = operands[other];
  operands[other] = operands[0];
  operands[0] = swapped;
  *attributes = with(*attributes, JOIST_ATTRIBUTE_DIM, dim);
  return count;
}

/* Numbers that the dtype has; false when there are none. */
CHECK_UNUSED static bool random_iota(const struct joist_shape *shape,
                                     struct joist_attributes *attributes) {
  const joist_dtype dtype = (joist_dtype)random_below(JOIST_DTYPE_COUNT);
  if (shape->rank == 0) return false;
  const int dim = (int)random_below((size_t)shape->rank);
  double from = (double)random_below(20) - (one_in(2) ? 10 : 0);
  if (joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT) {
    from += 0.25 * (double)random_below(4);
    const double most = fmin(joist_dtype_max_float(dtype), 60000);
    if (from < joist_dtype_min_float(dtype) || from + shape->extent[dim] > most) return false;
  } else if (from < (double)joist_dtype_min_int(dtype) ||
             from + shape->extent[dim] > (double)joist_dtype_max_int(dtype)) {
    return false;
  }
  *attributes = with_type(*attributes, (struct joist_type){dtype, one_in(6)});
  *attributes = with_shape(with(*attributes, JOIST_ATTRIBUTE_DIM, dim), shape);
  joist_attributes_set_number(attributes, JOIST_ATTRIBUTE_FROM, from);
  return true;
}

CHECK_UNUSED static bool random_instruction(struct joist_program *program,
                                            const struct joist_rules *rules,
                                            const struct style *style,
                                            const struct joist_shape *base) {
  const joist_op op = one_in(25)   ? JOIST_OP_CONCATENATE
                      : one_in(40) ? JOIST_OP_IOTA
                                   : (joist_op)random_below(JOIST_OP_COUNT);
  if (joist_op_is_array(op) && !interpreter_has(op)) return false;
  const joist_class class = joist_op_class(op);
  enum { OPERANDS_MAX = 5 };
  joist_value_id operands[OPERANDS_MAX], result;
  struct joist_attributes attributes = no_attributes;
  size_t count = joist_operation(op)->least;
  if (is_checked(op) && !style->checked) return false;
  for (int k = 0; k < OPERANDS_MAX; k++) operands[k] = random_value(program);
  const struct joist_value *const first = &program->values[operands[0]];
  if (class == JOIST_CLASS_CONVERT || class == JOIST_CLASS_BITCAST ||
      ((class == JOIST_CLASS_ACCUMULATE || class == JOIST_CLASS_AVERAGE) && one_in(4)))
    attributes = with_type(
        attributes, (struct joist_type){(joist_dtype)random_below(JOIST_DTYPE_COUNT), false});
  /* The bits of a NaN that was computed are not to be relied on. */
  if (class == JOIST_CLASS_BITCAST && first->input == JOIST_NO_INPUT &&
      joist_dtype_category(first->type.dtype) >= JOIST_CATEGORY_FLOAT)
    return false;
  if (op == JOIST_OP_TAKE || op == JOIST_OP_PUT) {
    if (positions == JOIST_NO_INPUT || count_of(program, operands[0]) < positions_below)
      return false;
    operands[1] = positions;
    if (op == JOIST_OP_PUT && count_of(program, operands[2]) != 1 &&
        count_of(program, operands[2]) != count_of(program, positions))
      return false;
  }
  if (op == JOIST_OP_CONCATENATE) {
    count = random_parts(program, style, operands, OPERANDS_MAX, &attributes);
    if (count == 0) return false;
  }
  if (op == JOIST_OP_IOTA && !random_iota(one_in(2) ? base : &first->shape, &attributes))
    return false;
  if (op == JOIST_OP_PERMUTE) {
    int64_t order[JOIST_RANK_MAX];
    random_permutation(first->shape.rank, order);
    attributes =
        with_list(attributes, JOIST_ATTRIBUTE_PERMUTATION, order, (size_t)first->shape.rank);
  }
  if (op == JOIST_OP_RESHAPE || op == JOIST_OP_BROADCAST) {
    const struct joist_shape shape = op == JOIST_OP_RESHAPE ? reshaped(first->shape)
                                     : one_in(3)            ? first->shape
                                                            : *base;
    attributes = with_shape(attributes, &shape);
  }
  if (joist_op_is_reduction(op)) {
    const uint32_t some = (uint32_t)random_below((size_t)1 << first->shape.rank);
    const uint32_t all = (UINT32_C(1) << first->shape.rank) - 1;
    attributes = with_dims(attributes, one_in(3) ? all : some);
    attributes = with(attributes, JOIST_ATTRIBUTE_DROP, one_in(2));
  }
  if (!add(program, rules, op, operands, count, &attributes, &result)) return false;
  const struct joist_value *const made = &program->values[result];
  if (made->input == JOIST_NO_INPUT &&
      is_float_reduction(&program->instructions[made->instruction]))
    add_output(program, result);
  return true;
}

CHECK_UNUSED static void random_program(struct joist_program *program, const struct style *style) {
  const struct joist_rules *const rules = joist_rules_at(random_below(joist_rules_count()));
  const struct joist_shape base = random_shape(style);
  const size_t inputs = 1 + random_below(5);
  joist_program_init(program);
  for (size_t k = 0; k < inputs; k++) {
    const struct joist_shape shape = one_in(4) ? random_shape(style) : narrowed(base);
    joist_value_id value;
    const struct joist_type type = {(joist_dtype)random_below(JOIST_DTYPE_COUNT), one_in(6)};
    CHECK_INT(joist_program_add_input(program, type, &shape, &value, NULL), JOIST_OK);
  }
  positions = JOIST_NO_INPUT;
  size_t count = 0;
  if (one_in(3) && joist_shape_count(&base, &count) && count > 0) {
    const struct joist_shape shape = {1, {(uint32_t)(1 + random_below(count))}};
    positions_below = count;
    CHECK_INT(joist_program_add_input(program, (struct joist_type){JOIST_I64, false}, &shape,
                                      &positions, NULL),
              JOIST_OK);
  }
  const int wanted = 1 + (int)random_below((size_t)style->instructions);
  for (int tries = 0; tries < 40 * wanted && (int)program->instruction_count < wanted; tries++)
    random_instruction(program, rules, style, &base);
  for (size_t k = 1 + random_below(3); k > 0; k--)
    add_output(program, (joist_value_id)random_below(program->value_count));
  add_output(program, program->value_count - 1);
  if (one_in(4)) add_output(program, program->outputs[0]);
}

#endif
