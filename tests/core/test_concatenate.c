/* Concatenating any number of operands, against putting the elements of one operand after the
 * other where they belong: mixed dtypes under every rule set, scalars, empty operands, every dim of
 * ranks 1 to 4, operands that the program computes; and what does not fit. */
#include "core/kernels/kernels.h"

#include "arrays.h"
#include "rules.h"
#include "single.h"

enum { MANY = 500, RANK = 4 };

/* Operand k goes to positions from `first` on; returns how many it has along the dim. */
static size_t place(const struct joist_value *operand, const char *elements,
                    const struct joist_shape *whole, int dim, size_t first, joist_dtype to,
                    char *want) {
  const struct joist_shape *const shape = &operand->shape;
  const joist_dtype from = operand->type.dtype;
  const bool scalar = shape->rank == 0;
  struct joist_shape part = *whole;
  part.extent[dim] = scalar ? 1 : shape->extent[dim];
  for (size_t k = 0, n = elements_in(&part); k < n; k++) {
    size_t rest = k, at = 0, stride = 1;
    for (int d = 0; d < whole->rank; d++) {
      at += (rest % part.extent[d] + (d == dim ? first : 0)) * stride;
      rest /= part.extent[d];
      stride *= whole->extent[d];
    }
    joist_convert_find_portable(from, to)(1, elements + (scalar ? 0 : k) * joist_dtype_size(from),
                                          want + at * joist_dtype_size(to));
  }
  return part.extent[dim];
}

/* `count` operands of up to `kinds` dtypes; not all of several are scalars. */
static void check_concatenate(const struct joist_rules *rules, size_t count, int rank,
                              size_t kinds) {
  struct joist_program program;
  struct joist_shape whole = {rank, {0}};
  joist_value_id operands[MANY], result = 0;
  joist_dtype dtypes[JOIST_DTYPE_COUNT];
  void *inputs[MANY];
  size_t total = 0;
  const int dim = (int)random_below((size_t)rank);
  joist_program_init(&program);
  for (size_t k = 0; k < kinds; k++) dtypes[k] = (joist_dtype)random_below(JOIST_DTYPE_COUNT);
  for (int d = 0; d < rank; d++) whole.extent[d] = (uint32_t)random_below(one_in(8) ? 3 : 5);
  for (size_t k = 0; k < count; k++) {
    struct joist_shape shape = whole;
    shape.extent[dim] = (uint32_t)random_below(4);
    if (one_in(6) && (k + 1 < count || count == 1)) shape.rank = 0;
    if (count == 1 && shape.rank == 0) whole = (struct joist_shape){1, {0}};
    operands[k] = add_input(&program, dtypes[random_below(kinds)], shape.rank, shape.extent);
    inputs[k] = malloc(bytes_of(&program, operands[k]) + 1);
    if (inputs[k] == NULL) abort();
    const struct joist_value *const v = &program.values[operands[k]];
    fill(v->type.dtype, joist_value_count(v), FILL_BITS, inputs[k]);
    total += shape.rank == 0 ? 1 : shape.extent[dim];
  }
  const int along = whole.rank == 1 ? 0 : dim;
  whole.extent[along] = (uint32_t)total;
  struct joist_operand types[MANY];
  for (size_t k = 0; k < count; k++) types[k] = argument_of(&program, operands[k]).operand;
  struct joist_type type;
  const bool joined = joist_common_type(rules, joist_op_pair(JOIST_OP_CONCATENATE), types, count,
                                        &type, NULL) == JOIST_OK;

  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, along);
  struct joist_inference inference;
  const joist_status status =
      infer(&program, rules, JOIST_OP_CONCATENATE, operands, count, &attributes, &inference, NULL);
  CHECK_INT(status, joined ? JOIST_OK : JOIST_ERROR_PROMOTION);
  if (status == JOIST_OK && joined) {
    CHECK_INT(inference.signature.result[0].dtype, type.dtype);
    CHECK_INT(inference.signature.result[0].ambiguous, type.ambiguous);
    CHECK(joist_shape_equal(&inference.shape[0], &whole));
    CHECK_INT(append(&program, JOIST_OP_CONCATENATE, &inference, operands, count, &attributes,
                     &result, NULL),
              JOIST_OK);
    add_output(&program, result);
    char *const want = malloc(bytes_of(&program, result) + 1);
    if (want == NULL) abort();
    size_t first = 0;
    for (size_t k = 0; k < count; k++)
      first +=
          place(&program.values[operands[k]], inputs[k], &whole, along, first, type.dtype, want);
    for (int threads = 1; threads <= 3; threads += 2) {
      joist_status ran;
      void *const got = run_output(&program, (const void *const *)inputs, threads, &ran);
      if (!CHECK_INT(ran, JOIST_OK)) continue;
      const size_t n = elements_in(&whole);
      CHECK_MSG(first_difference(type.dtype, n, got, want) == n,
                "%zu operands along dim %d of rank %d, as %s", count, along, whole.rank,
                joist_dtype_name(type.dtype));
      free(got);
    }
    free(want);
  }
  for (size_t k = 0; k < count; k++) free(inputs[k]);
  joist_program_clear(&program);
}

static void test_mixed(void) {
  for (size_t r = 0; r < joist_rules_count(); r++) {
    for (int round = 0; round < 60; round++)
      check_concatenate(joist_rules_at(r), 1 + random_below(6), 1 + (int)random_below(RANK), 2);
    for (int rank = 1; rank <= RANK; rank++)
      for (size_t kinds = 1; kinds <= 5; kinds++)
        check_concatenate(joist_rules_at(r), MANY, rank, kinds);
  }
}

/* x + k for k = 0 ... side by side: the operands are computed, and all of them are needed at the
 * end. */
static void test_computed(void) {
  enum { ROWS = 3, COLUMNS = 2 };
  static const uint32_t extents[] = {ROWS, COLUMNS};
  struct joist_program program;
  joist_value_id parts[MANY], result = 0;
  const float x[ROWS * COLUMNS] = {0.5f, 1, 2, 3, 4, 5};
  int32_t numbers[MANY];
  const void *inputs[1 + MANY] = {x};
  joist_program_init(&program);
  const joist_value_id operand = add_input(&program, JOIST_F32, 2, extents);
  for (int k = 0; k < MANY; k++) {
    numbers[k] = k;
    inputs[1 + k] = &numbers[k];
    parts[k] = add_simple(&program, JOIST_OP_ADD, operand, add_input(&program, JOIST_I32, 0, NULL));
  }
  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, 1);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_CONCATENATE, parts, MANY, &attributes, &result));
  add_output(&program, result);
  joist_status status;
  float *const got = run_output(&program, inputs, 2, &status);
  if (CHECK_INT(status, JOIST_OK)) {
    size_t wrong = 0;
    for (size_t k = 0; k < MANY; k++)
      for (size_t i = 0; i < ROWS * COLUMNS; i++)
        wrong += got[k * ROWS * COLUMNS + i] != x[i] + (float)k;
    CHECK_INT(wrong, 0);
  }
  free(got);
  joist_program_clear(&program);
}

/* `code` is JOIST_E_COUNT for what fits. */
static void check_refused(const struct joist_shape *shapes, size_t count, int dim,
                          joist_error_code code) {
  struct joist_program program;
  joist_value_id operands[MANY];
  struct joist_inference inference;
  struct joist_error error = {0};
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++)
    operands[k] = add_input(&program, JOIST_F32, shapes[k].rank, shapes[k].extent);
  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, dim);
  const joist_status status = infer(&program, joist_rules_at(0), JOIST_OP_CONCATENATE, operands,
                                    count, &attributes, &inference, &error);
  if (code == JOIST_E_COUNT)
    CHECK_INT(status, JOIST_OK);
  else
    CHECK_ERROR(status, error, code);
  joist_program_clear(&program);
}

static void test_refusals(void) {
  static const struct joist_shape pair[] = {{2, {2, 3}}, {2, {2, 4}}};
  static const struct joist_shape ranks[] = {{2, {2, 3}}, {1, {2}}};
  static const struct joist_shape scalars[] = {{0, {0}}, {0, {0}}, {0, {0}}};
  static const struct joist_shape huge[] = {{1, {1u << 30}}, {1, {1u << 30}}};
  check_refused(pair, 2, 1, JOIST_E_COUNT);
  check_refused(pair, 2, 0, JOIST_E_SIDE_BY_SIDE);
  check_refused(pair, 2, 2, JOIST_E_NO_DIMENSION);
  check_refused(pair, 2, -1, JOIST_E_NO_DIMENSION);
  check_refused(ranks, 2, 0, JOIST_E_SIDE_BY_SIDE);
  check_refused(ranks, 2, 1, JOIST_E_SIDE_BY_SIDE);
  check_refused(scalars, 3, 0, JOIST_E_COUNT);
  check_refused(scalars, 3, 1, JOIST_E_NO_DIMENSION);
  check_refused(huge, 1, 0, JOIST_E_COUNT);
  check_refused(huge, 2, 0, JOIST_E_EXTENT_LIMIT);
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_mixed();
  test_computed();
  test_refusals();
  return check_report("concatenate");
}
