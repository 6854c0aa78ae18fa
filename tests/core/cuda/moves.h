/* moves.h: operations that move elements on the device, against one element at a time: by the
 * attributes of an instruction, by an index, side by side; numbers that count on; and that none
 * goes by way of the CPU. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_MOVES_H
#define JOIST_TESTS_CUDA_MOVES_H

#include "random_draws.h"

enum { MOVED_RANK = 3 };

static joist_value_id add_move(struct joist_program *program, joist_op op, joist_value_id x,
                               joist_value_id y, const struct joist_attributes *attributes) {
  const joist_value_id operands[] = {x, y};
  joist_value_id result = 0;
  CHECK(add(program, joist_rules_at(0), op, operands, joist_operation(op)->least, attributes,
            &result));
  return result;
}

/* As check_program(); but for the inputs and outputs nothing is copied to or from the CPU. */
static void check_there(const struct joist_program *program, fill_kind kind, const char *what) {
#ifdef JOIST_TEST_GPU
  check_program(program, kind, what);
#else
  const long copies = host_runtime.copies;
  check_program(program, kind, what);
  CHECK_MSG(host_runtime.copies - copies <= program->input_count + program->output_count,
            "%s: %ld copies to and from the CPU", what, host_runtime.copies - copies);
#endif
}

/* ---- slices and pads ---- */

/* A random dtype whose values can take the place of elements. */
static joist_dtype assignable(joist_dtype own) {
  for (;;) {
    const joist_dtype other = (joist_dtype)random_below(JOIST_DTYPE_COUNT);
    const struct joist_operand pair[] = {{.type = {own, false}, .rank = 1},
                                         {.type = {other, false}, .rank = 1}};
    struct joist_signature signature;
    struct joist_error error;
    if (joist_infer(joist_rules_at(0), JOIST_OP_PAD, pair, 2, &no_attributes, &signature, &error) ==
        JOIST_OK)
      return other;
  }
}

/* A random slice of a shape, and its extents. Those of high rank have most dims whole. */
static struct joist_attributes random_slice(const struct joist_shape *shape,
                                            struct joist_shape *slice) {
  int64_t start[JOIST_RANK_MAX], stop[JOIST_RANK_MAX], step[JOIST_RANK_MAX];
  slice->rank = shape->rank;
  for (int d = 0; d < shape->rank; d++) {
    const bool whole = shape->rank > MOVED_RANK && !one_in(3);
    const int64_t extent = shape->extent[d];
    start[d] = whole ? 0 : (int64_t)random_below(shape->extent[d]);
    step[d] = whole ? 1 : (int64_t)random_below(7) - 3;
    const int64_t most = step[d] > 0   ? (extent - 1 - start[d]) / step[d] + 1
                         : step[d] < 0 ? start[d] / -step[d] + 1
                                       : 1;
    const bool fewer = step[d] != 0 && !whole && one_in(4);
    const int64_t n = fewer ? (int64_t)random_below((size_t)most + 1) : most;
    stop[d] = start[d] + (n - 1) * step[d];
    slice->extent[d] = (uint32_t)n;
  }
  const size_t rank = (size_t)shape->rank;
  return with_list(with_list(with_list(no_attributes, JOIST_ATTRIBUTE_START, start, rank),
                             JOIST_ATTRIBUTE_STOP, stop, rank),
                   JOIST_ATTRIBUTE_STEP, step, rank);
}

static void test_slices(joist_dtype dtype, const struct joist_shape *shape) {
  struct joist_program program;
  struct joist_shape slice;
  joist_program_init(&program);
  const struct joist_attributes attributes = random_slice(shape, &slice);
  const struct joist_shape flat = {1, {(uint32_t)elements_in(&slice)}};
  const struct joist_attributes reshaped_too = with_shape(attributes, &flat);
  const joist_value_id x = add_input(&program, dtype, shape->rank, shape->extent);
  const joist_value_id y = add_input(&program, assignable(dtype), slice.rank, slice.extent);
  const joist_value_id one = add_input(&program, assignable(dtype), 0, NULL);
  add_output(&program, add_move(&program, JOIST_OP_SLICE, x, x, &attributes));
  add_output(&program, add_move(&program, JOIST_OP_SLICE, x, x, &reshaped_too));
  add_output(&program, add_move(&program, JOIST_OP_UPDATE, x, y, &attributes));
  add_output(&program, add_move(&program, JOIST_OP_UPDATE, x, one, &attributes));
  check_there(&program, FILL_BITS, "slice");
  joist_program_clear(&program);
}

static void test_pads(joist_dtype dtype, const struct joist_shape *shape) {
  static const joist_attribute_name names[] = {JOIST_ATTRIBUTE_LOW, JOIST_ATTRIBUTE_HIGH,
                                               JOIST_ATTRIBUTE_INTERIOR};
  struct joist_program program;
  struct joist_attributes attributes = no_attributes;
  joist_program_init(&program);
  const joist_value_id x = add_input(&program, dtype, shape->rank, shape->extent);
  const joist_value_id value = add_input(&program, assignable(dtype), 0, NULL);
  for (int k = 0; k < 3; k++) {
    int64_t list[JOIST_RANK_MAX];
    for (int d = 0; d < shape->rank; d++) {
      const size_t half = shape->extent[d] / 2;
      list[d] = shape->rank > MOVED_RANK && d % 13 != 3 ? 0
                : k == 2                                ? (int64_t)random_below(3)
                         : (int64_t)random_below(half + 4) - (int64_t)half;
    }
    attributes = with_list(attributes, names[k], list, (size_t)shape->rank);
  }
  add_output(&program, add_move(&program, JOIST_OP_PAD, x, value, &attributes));
  check_there(&program, FILL_BITS, "pad");
  joist_program_clear(&program);
}

/* ---- by an index ---- */

/* Positions of any integer dtype, along each dim; then one that is out of range. */
static void test_gather(joist_dtype dtype, joist_dtype index, const struct joist_shape *shape) {
  enum { ENTRIES = 35, BEYOND = 100 };
  static const uint32_t entries[] = {5, 7};
  if (joist_dtype_max_int(index) < BEYOND) return; /* which has no such position */
  for (int dim = 0; dim < shape->rank; dim++) {
    struct joist_program program;
    const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, dim);
    int64_t position[ENTRIES];
    char converted[8 * ENTRIES];
    joist_program_init(&program);
    const joist_value_id x = add_input(&program, dtype, shape->rank, shape->extent);
    const joist_value_id k = add_input(&program, index, 2, entries);
    add_output(&program, add_move(&program, JOIST_OP_GATHER, x, k, &attributes));
    for (int e = 0; e < ENTRIES; e++) position[e] = 1 + (int64_t)random_below(shape->extent[dim]);
    joist_convert_find_portable(JOIST_I64, index)(ENTRIES, position, converted);
    void *inputs[] = {malloc(bytes_of(&program, x)), converted};
    void **const outputs = new_outputs(&program);
    fill(dtype, count_of(&program, x), FILL_BITS, inputs[0]);
    check_on(&program, inputs, "gather");
    static const int64_t wrong[] = {0, -1, BEYOND};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
      struct joist_error here = {0}, there = {0};
      const struct joist_run run = {.threads = 1};
      struct joist_plan *plan = NULL;
      position[20] = position[30] = wrong[w];
      joist_convert_find_portable(JOIST_I64, index)(ENTRIES, position, converted);
      CHECK_INT(joist_plan_make(&program, &plan, &here), JOIST_OK);
      CHECK_INT(joist_plan_run(plan, (const void *const *)inputs, outputs, &run, &here),
                JOIST_ERROR_SHAPE);
      CHECK_ERROR(run_there(&program, inputs, outputs, &there), there, JOIST_E_INDEX_RANGE);
      CHECK_INT(there.position, 21);
      CHECK_STR(words(&there), words(&here));
      joist_plan_free(plan);
    }
    free_outputs(outputs);
    free(inputs[0]);
    joist_program_clear(&program);
  }
}

static void test_invalid_positions(void) {
  const uint32_t n = 1000, m = 3;
  float x[1000] = {0}, y[1000];
  int64_t position[3] = {0, 999, 1000};
  for (int k = 0; k < 2; k++) {
    struct joist_program program;
    struct joist_error error = {0};
    joist_program_init(&program);
    const joist_value_id operands[3] = {add_input(&program, JOIST_F32, 1, &n),
                                        add_input(&program, JOIST_I64, 1, &m),
                                        add_input(&program, JOIST_F32, 0, NULL)};
    joist_value_id result = 0;
    CHECK(add(&program, joist_rules_at(0), k == 0 ? JOIST_OP_TAKE : JOIST_OP_PUT, operands,
              k == 0 ? 2 : 3, &no_attributes, &result));
    add_output(&program, result);
    position[2] = k == 0 ? 1000 : -1;
    CHECK_ERROR(run_there(&program, (void *[]){x, position, x}, (void *[]){y}, &error), error,
                JOIST_E_INDEX_RANGE);
    CHECK_INT(error.count[0], 1000);
    CHECK_INT(error.position, 3);
    CHECK(error.number[0] == (k == 0 ? 1001 : 0));
    CHECK(error.op == NULL);
    joist_program_clear(&program);
  }
}

/* ---- side by side ---- */

/* Operands of any dtypes, of which some are scalars and some have no elements. */
static void test_concatenate(size_t count, int rank) {
  enum { MOST = 90 };
  struct joist_program program;
  joist_value_id operands[MOST], result = 0;
  struct joist_shape base = {rank, {0}};
  char what[64];
  const int dim = (int)random_below((size_t)rank);
  const struct joist_attributes attributes = with(no_attributes, JOIST_ATTRIBUTE_DIM, dim);
  for (int d = 0; d < rank; d++) base.extent[d] = 1 + (uint32_t)random_below(rank > 3 ? 2 : 20);
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++) {
    const bool scalar = one_in(4) && (k > 0 || rank == 1);
    joist_dtype dtype = JOIST_BOOL;
    /* Those of up to a byte have no common dtype with others. */
    do dtype = (joist_dtype)random_below(count == 1 ? JOIST_DTYPE_COUNT : JOIST_WORD_COUNT);
    while (leaves_out(dtype));
    base.extent[dim] = (uint32_t)random_below(9);
    operands[k] = add_input(&program, dtype, scalar ? 0 : rank, base.extent);
  }
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_CONCATENATE, operands, count, &attributes,
            &result));
  add_output(&program, result);
  snprintf(what, sizeof what, "concatenate %zu of rank %d along %d", count, rank, dim);
  check_there(&program, one_in(2) ? FILL_BITS : FILL_SMALL, what);
  joist_program_clear(&program);
}

static void test_concatenates(void) {
  for (int round = 0; round < (short_run ? 20 : 100); round++)
    for (size_t count = 1; count <= 6; count++)
      test_concatenate(count, 1 + (int)random_below(round % 5 == 0 ? 12 : 3));
  test_concatenate(90, 1);
  test_concatenate(90, 2);
}

/* ---- counting ---- */

static void make_iota(struct joist_program *program, joist_dtype dtype,
                      const struct joist_shape *shape, int dim, double from) {
  struct joist_attributes attributes = drawn_as(dtype, shape->rank, shape->extent);
  joist_value_id result = 0;
  joist_attributes_set_number(&attributes, JOIST_ATTRIBUTE_FROM, from);
  attributes = with(attributes, JOIST_ATTRIBUTE_DIM, dim);
  joist_program_init(program);
  CHECK(add(program, joist_rules_at(0), JOIST_OP_IOTA, NULL, 0, &attributes, &result));
  add_output(program, result);
}

static void test_iota(void) {
  static const struct joist_shape shapes[] = {
      {1, {2}},    {1, {0}},    {3, {2, 2, 2}}, {1, {100}}, {3, {7, 90, 5}}, {4, {1, 65, 3, 33}},
      {1, {1024}}, {1, {1025}}, {1, {2048}},    {1, {2049}}};
  /* What few dtypes have: of these the CPU's engine says which, and what is wrong. The integers
   * of 64 bits end 1024 and 2048 numbers after two of them. */
  static const double starts[] = {0,
                                  -1,
                                  250,
                                  -0.5,
                                  -32768.25,
                                  0x1.fffffffffffffp62,
                                  0x1.fffffffffffffp63,
                                  65000,
                                  0x1p53,
                                  1e300,
                                  0x1p31,
                                  0x1p127,
                                  -0x1p63,
                                  NAN,
                                  -0x1p53,
                                  0x1p64,
                                  INFINITY,
                                  0x1p32,
                                  2040.5};
  /* Those of up to a byte are made on the CPU. */
  for (int d = 0; d < JOIST_WORD_COUNT; d++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes && !leaves_out(d); s++)
      for (int dim = 0; dim < shapes[s].rank; dim++) {
        struct joist_program program;
        const uint64_t most = joist_dtype_category((joist_dtype)d) >= JOIST_CATEGORY_FLOAT
                                  ? UINT32_MAX
                                  : joist_dtype_max_int((joist_dtype)d);
        if (shapes[s].extent[dim] <= 1 || shapes[s].extent[dim] - 1 <= most) {
          make_iota(&program, (joist_dtype)d, &shapes[s], dim, 0);
          check_there(&program, FILL_SMALL, "iota");
          joist_program_clear(&program);
        }
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
          char what[64];
          snprintf(what, sizeof what, "iota of %s from %g", joist_dtype_name((joist_dtype)d),
                   starts[k]);
          make_iota(&program, (joist_dtype)d, &shapes[s], dim, starts[k]);
          const long before = launches_so_far();
          const size_t n = count_of(&program, 0);
          if (check_alike(&program, NULL, what) && n > 0 && isfinite(starts[k]))
            check_launches(before, 1, 1, what);
          joist_program_clear(&program);
        }
      }
}

static void test_moves(void) {
  static const struct joist_shape shapes[] = {{3, {5, 7, 3}}, {3, {1, 40, 4}}, {3, {70, 1, 9}}},
                                  high = {12, {2, 3, 1, 2, 2, 1, 3, 2, 1, 2, 2, 2}};
  struct joist_shape highest = {JOIST_RANK_MAX, {0}};
  for (int d = 0; d < JOIST_RANK_MAX; d++) highest.extent[d] = d % 5 == 0 ? 2 : 1;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_kind kind = joist_dtype_kind((joist_dtype)d);
    if (leaves_out(d)) continue;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      for (int k = 0; k < 20; k++) test_slices((joist_dtype)d, &shapes[s]);
      for (int k = 0; k < 10; k++) test_pads((joist_dtype)d, &shapes[s]);
      if (kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT)
        for (int of = 0; of < JOIST_DTYPE_COUNT; of++)
          test_gather((joist_dtype)of, (joist_dtype)d, &shapes[s]);
    }
    for (int k = 0; k < 10; k++) {
      test_slices((joist_dtype)d, k % 2 ? &high : &highest);
      test_pads((joist_dtype)d, k % 2 ? &high : &highest);
    }
  }
  test_invalid_positions();
  test_concatenates();
  test_iota();
}

#endif
