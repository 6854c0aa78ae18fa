/* What is fused: reductions over some dims with what feeds them, with the bits of the same
 * operations one by one, and without temporaries. */
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"
#include "sets.h"

static joist_value_id add_reduction(struct joist_program *program, joist_op op, joist_value_id x,
                                    uint32_t dims, bool drop) {
  const struct joist_attributes attributes =
      with(with_dims(no_attributes, dims), JOIST_ATTRIBUTE_DROP, drop);
  joist_value_id result = 0;
  CHECK(add(program, joist_rules_at(0), op, &x, 1, &attributes, &result));
  return result;
}

static joist_value_id add_shaped(struct joist_program *program, const struct joist_shape *shape,
                                 joist_dtype dtype) {
  return add_input(program, dtype, shape->rank, shape->extent);
}

/* Runs a program into outputs that the caller frees. */
static void run(const struct joist_program *program, int threads, void **inputs, void **outputs) {
  struct joist_plan *plan = NULL;
  const struct joist_run how = {.threads = threads, .parallel_from = 1};
  struct joist_error error = {0};
  CHECK_INT(joist_plan_make(program, &plan, NULL), JOIST_OK);
  for (uint32_t k = 0; k < program->output_count; k++)
    outputs[k] = malloc(bytes_of(program, program->outputs[k]) + 1);
  CHECK_MSG(joist_plan_run(plan, (const void *const *)inputs, outputs, &how, &error) == JOIST_OK,
            "%s", words(&error));
  joist_plan_free(plan);
}

/* x * y and its square root or negative reduced in one program, and one operation after the other.
 */
static void check_bits(const struct joist_shape *shape, uint32_t dims, joist_op op,
                       joist_dtype dtype) {
  struct joist_program fused, first, second;
  void *inputs[2], *separate[2], *mine[2], *want[2];
  char text[JOIST_SHAPE_TEXT];
  const joist_op more = dtype == JOIST_C64 ? JOIST_OP_NEGATE : JOIST_OP_SQRT;
  joist_program_init(&fused);
  joist_value_id x = add_shaped(&fused, shape, dtype), y = add_shaped(&fused, shape, JOIST_F32);
  joist_value_id product = add_simple(&fused, JOIST_OP_MUL, x, y);
  joist_value_id root = add_simple(&fused, more, product, product);
  add_output(&fused, add_reduction(&fused, op, product, dims, true));
  add_output(&fused, add_reduction(&fused, op, root, dims, true));
  const joist_dtype to[2] = {fused.values[product].type.dtype, fused.values[root].type.dtype};

  joist_program_init(&first);
  x = add_shaped(&first, shape, dtype), y = add_shaped(&first, shape, JOIST_F32);
  product = add_simple(&first, JOIST_OP_MUL, x, y);
  add_output(&first, product);
  add_output(&first, add_simple(&first, more, product, product));

  const size_t n = count_of(&fused, 0);
  inputs[0] = malloc(n * joist_dtype_size(dtype) + 1);
  inputs[1] = malloc(n * sizeof(float) + 1);
  fill(dtype, n, FILL_SMALL, inputs[0]);
  fill(JOIST_F32, n, FILL_SMALL, inputs[1]);
  run(&first, 2, inputs, separate);
  for (int threads = 1; threads <= 3; threads++) {
    run(&fused, threads, inputs, mine);
    for (int k = 0; k < 2; k++) {
      joist_program_init(&second);
      x = add_shaped(&second, shape, to[k]);
      add_output(&second, add_reduction(&second, op, x, dims, true));
      run(&second, threads, &separate[k], &want[k]);
      CHECK_MSG(memcmp(mine[k], want[k], bytes_of(&second, second.outputs[0])) == 0,
                "nv_%s(%s%s, dims %x): other bits when it is fused", joist_op_name(op),
                joist_dtype_name(dtype), joist_shape_format(shape, text), dims);
      free(mine[k]);
      free(want[k]);
      joist_program_clear(&second);
    }
  }
  for (int k = 0; k < 2; k++) {
    free(inputs[k]);
    free(separate[k]);
  }
  joist_program_clear(&fused);
  joist_program_clear(&first);
}

static void test_bits(void) {
  static const struct joist_shape shapes[] = {
      {1, {9}},           {1, {5000}},      {2, {3, 7}},        {2, {2, 70001}},  {2, {70001, 2}},
      {2, {1030, 20}},    {2, {20, 1030}},  {2, {300, 300}},    {3, {7, 300, 5}}, {3, {600, 9, 3}},
      {3, {5, 2049, 11}}, {3, {1, 513, 3}}, {4, {3, 4, 50, 6}}, {2, {0, 3}},      {3, {129, 2, 70}},
      {3, {128, 5, 70}},  {2, {1025, 300}}};
  static const joist_op ops[] = {JOIST_OP_REDUCE_SUM, JOIST_OP_REDUCE_MEAN, JOIST_OP_REDUCE_PROD};
  static const joist_dtype dtypes[] = {JOIST_F64, JOIST_F32, JOIST_F16, JOIST_I16, JOIST_C64};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
    for (uint32_t dims = 0; dims < UINT32_C(1) << shapes[s].rank; dims++)
      for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        check_bits(&shapes[s], dims, ops[(s + dims + d) % 3], dtypes[d]);
}

/* ---- sums of what a mask leaves ---- */

/* How the elements to leave out are found. */
enum { BY_MASK, BY_MASK_OR_NAN, BY_NAN_OR_MASK, BY_BROADCAST, FOR_TWO, WAYS };

/* ifelse(missing, value, x); x, the mask and the value are inputs. */
static joist_value_id add_rest(struct joist_program *program, const struct joist_shape *shape,
                               joist_dtype dtype, int way) {
  struct joist_shape lines = *shape;
  if (way == BY_BROADCAST && shape->rank > 0) lines.extent[shape->rank - 1] = 1;
  const joist_value_id x = add_shaped(program, shape, dtype);
  const joist_value_id mask = add_shaped(program, &lines, JOIST_BOOL);
  const joist_value_id value = add_input(program, dtype, 0, NULL);
  joist_value_id missing = mask, rest = 0;
  if (way == BY_MASK_OR_NAN || way == BY_NAN_OR_MASK) {
    const joist_value_id nan = add_simple(program, JOIST_OP_IS_NAN, x, x);
    missing = way == BY_MASK_OR_NAN ? add_simple(program, JOIST_OP_OR, mask, nan)
                                    : add_simple(program, JOIST_OP_OR, nan, mask);
  }
  CHECK(add(program, joist_rules_at(0), JOIST_OP_IFELSE, (joist_value_id[]){missing, value, x}, 3,
            &no_attributes, &rest));
  return rest;
}

static void check_masked(const struct joist_shape *shape, uint32_t dims, joist_dtype dtype, int way,
                         fill_kind kind) {
  struct joist_program fused, first, second;
  void *inputs[3], *rest[1], *mine[2], *want[1];
  char text[JOIST_SHAPE_TEXT];
  joist_program_init(&fused);
  joist_program_init(&first);
  joist_program_init(&second);
  const joist_value_id selected = add_rest(&fused, shape, dtype, way);
  const joist_op op = way == FOR_TWO ? JOIST_OP_REDUCE_MEAN : JOIST_OP_REDUCE_SUM;
  add_output(&fused, add_reduction(&fused, JOIST_OP_REDUCE_SUM, selected, dims, true));
  if (way == FOR_TWO) add_output(&fused, add_reduction(&fused, op, selected, dims, true));
  add_output(&first, add_rest(&first, shape, dtype, way));
  add_output(&second, add_reduction(&second, JOIST_OP_REDUCE_SUM, add_shaped(&second, shape, dtype),
                                    dims, true));
  const joist_dtype sum = second.values[second.outputs[0]].type.dtype;
  const size_t n = count_of(&fused, 0), size = joist_dtype_size(dtype);
  inputs[0] = malloc(n * size + 1);
  inputs[1] = malloc(n + 1);
  inputs[2] = malloc(size);
  fill(dtype, n, kind, inputs[0]);
  fill(dtype, 1, FILL_SMALL, inputs[2]);
  for (size_t i = 0; i < n; i++) ((char *)inputs[1])[i] = (char)(i % 7 < 3 || i % 640 < 65);
  run(&first, 2, inputs, rest);
  run(&second, 2, rest, want);
  for (int threads = 1; threads <= 3; threads++) {
    run(&fused, threads, inputs, mine);
    const size_t at = first_difference(sum, count_of(&second, second.outputs[0]), mine[0], want[0]);
    CHECK_MSG(at == count_of(&second, second.outputs[0]),
              "sum of the rest of %s%s, dims %x, way %d, result %zu: another when it is fused",
              joist_dtype_name(dtype), joist_shape_format(shape, text), dims, way, at);
    for (uint32_t k = 0; k < fused.output_count; k++) free(mine[k]);
  }
  for (int k = 0; k < 3; k++) free(inputs[k]);
  free(rest[0]);
  free(want[0]);
  joist_program_clear(&fused);
  joist_program_clear(&first);
  joist_program_clear(&second);
}

static void test_masked(void) {
  static const struct joist_shape shapes[] = {
      {1, {1}},        {1, {3}},      {1, {9}},     {1, {63}},      {1, {513}},
      {1, {520}},      {2, {8, 5}},   {2, {9, 70}}, {2, {2, 9001}}, {2, {5000, 3}},
      {3, {7, 30, 5}}, {2, {600, 3}}, {2, {0, 3}}};
  const char *sets[MAX_SETS];
  const int set_count = find_sets(sets);
  for (int k = 0; k < set_count; k++) {
    joist_kernels_select(sets[k]);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (uint32_t dims = 0; dims < UINT32_C(1) << shapes[s].rank; dims++)
        for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
          for (int way = 0; way < WAYS; way++)
            if ((d != JOIST_BOOL || way != FOR_TWO) &&
                (!is_small((joist_dtype)d) || ((int)s + d + way) % 8 == 0))
              check_masked(&shapes[s], dims, (joist_dtype)d, way,
                           (fill_kind)((s + (size_t)d + (size_t)way) % FILL_COUNT));
  }
}

/* Reductions over every choice of dims take no temporaries, several of the same dims one pass. */
static void test_temporaries(void) {
  static const struct joist_shape shape = {3, {40, 50, 60}};
  for (uint32_t dims = 1; dims < 8; dims++) {
    struct joist_program program;
    struct joist_plan *plan = NULL;
    joist_program_init(&program);
    const joist_value_id x = add_shaped(&program, &shape, JOIST_F32);
    const joist_value_id y = add_simple(&program, JOIST_OP_MUL, x, x);
    const joist_value_id z = add_simple(&program, JOIST_OP_EXP, y, y);
    add_output(&program, add_reduction(&program, JOIST_OP_REDUCE_SUM, z, dims, true));
    add_output(&program, add_reduction(&program, JOIST_OP_REDUCE_MAX, y, dims, false));
    add_output(&program, add_reduction(&program, JOIST_OP_REDUCE_ANY, y, dims, false));
    CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
    CHECK_INT(joist_plan_group_count(plan), 1);
    CHECK_INT(joist_plan_temporary_bytes(plan), 0);
    joist_plan_free(plan);
    joist_program_clear(&program);
  }
}

/* Early in a run or late, one element decides; an error is reported all the same. */
static void test_decided(void) {
  const uint32_t n = 300000;
  uint8_t *const x = calloc(n, 1), *const y = malloc(n);
  int32_t *const z = calloc(n, sizeof *z);
  if (!CHECK(x != NULL && y != NULL && z != NULL)) return;
  memset(y, 1, n);
  struct joist_program program, failing;
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_BOOL, 1, &n);
  const joist_value_id b = add_input(&program, JOIST_BOOL, 1, &n);
  static const struct {
    joist_op op;
    bool all;
  } ops[] = {{JOIST_OP_REDUCE_ANY, false},
             {JOIST_OP_REDUCE_MAX, false},
             {JOIST_OP_REDUCE_ALL, true},
             {JOIST_OP_REDUCE_MIN, true}};
  for (size_t k = 0; k < 4; k++) {
    program.output_count = 0;
    add_output(&program, add_reduction(&program, ops[k].op, ops[k].all ? b : a, 1, true));
    for (uint32_t at = 0; at <= n; at += 49999)
      for (int threads = 1; threads <= 3; threads++) {
        void *out[1];
        if (at < n) x[at] = 1, y[at] = 0;
        run(&program, threads, (void *[]){x, y}, out);
        CHECK_INT(*(uint8_t *)out[0], (at < n) != ops[k].all);
        free(out[0]);
        if (at < n) x[at] = 0, y[at] = 1;
      }
  }
  joist_program_init(&failing);
  const joist_value_id c = add_input(&failing, JOIST_I32, 1, &n);
  const joist_value_id zero = add_input(&failing, JOIST_I32, 0, NULL);
  const joist_value_id one = add_input(&failing, JOIST_I32, 0, NULL);
  const joist_value_id rest = add_simple(&failing, JOIST_OP_MOD, one, c);
  add_output(&failing, add_reduction(&failing, JOIST_OP_REDUCE_ANY,
                                     add_simple(&failing, JOIST_OP_GE, rest, zero), 1, true));
  for (uint32_t i = 0; i + 1 < n; i++) z[i] = 1;
  struct joist_plan *plan = NULL;
  CHECK_INT(joist_plan_make(&failing, &plan, NULL), JOIST_OK);
  for (int threads = 1; threads <= 3; threads++) {
    struct joist_error error;
    uint8_t out;
    const int32_t scalars[2] = {0, 1};
    const struct joist_run how = {.threads = threads, .parallel_from = 1};
    CHECK_INT(joist_plan_run(plan, (const void *[]){z, &scalars[0], &scalars[1]}, (void *[]){&out},
                             &how, &error),
              JOIST_ERROR_VALUE);
    CHECK_INT(error.position, 300000);
  }
  joist_plan_free(plan);
  joist_program_clear(&failing);
  joist_program_clear(&program);
  free(x);
  free(y);
  free(z);
}

/* Rows are taken out of order; the position of the first failure is the first all the same. */
static void test_first_failure(void) {
  const uint32_t extents[2] = {3000, 40};
  const size_t n = (size_t)extents[0] * extents[1];
  int32_t *const x = malloc(n * sizeof *x);
  if (!CHECK(x != NULL)) return;
  for (size_t i = 0; i < n; i++) x[i] = 1;
  x[2 * 3000 + 10] = x[1 * 3000 + 2900] = x[39 * 3000] = 0;
  struct joist_program program;
  struct joist_plan *plan = NULL;
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_I32, 2, extents);
  const joist_value_id b = add_simple(&program, JOIST_OP_MOD, a, a);
  add_output(&program, add_reduction(&program, JOIST_OP_REDUCE_SUM, b, 2, true));
  CHECK_INT(joist_plan_make(&program, &plan, NULL), JOIST_OK);
  for (int threads = 1; threads <= 3; threads++) {
    struct joist_error error;
    int64_t out[3000];
    const struct joist_run how = {.threads = threads, .parallel_from = 1};
    CHECK_INT(joist_plan_run(plan, (const void *[]){x}, (void *[]){out}, &how, &error),
              JOIST_ERROR_VALUE);
    CHECK_INT(error.position, 5901);
  }
  joist_plan_free(plan);
  joist_program_clear(&program);
  free(x);
}

int main(void) {
  use_rules();
  joist_kernels_select(getenv("JOIST_TEST_KERNELS"));
  test_bits();
  test_masked();
  test_temporaries();
  test_decided();
  test_first_failure();
  return check_report("fusion");
}
