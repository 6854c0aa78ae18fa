/* random_draws.h: random numbers on the device against the CPU's engine: the same bits, the same
 * errors, and no way by the CPU but for the words of an error. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_RANDOM_DRAWS_H
#define JOIST_TESTS_CUDA_RANDOM_DRAWS_H

#include <cuda_runtime_api.h>

#include "core/ops/random/random_counts.h"

/* ---- one operation, here and there ---- */

static long launches_so_far(void) {
#ifdef JOIST_TEST_GPU
  return 0;
#else
  return host_runtime.launches;
#endif
}

/* Checks how many kernels a run launched: none on the CPU. On a GPU the number is unknown. */
static void check_launches(long before, long least, long most, const char *what) {
#ifdef JOIST_TEST_GPU
  (void)before, (void)least, (void)most, (void)what;
#else
  const long launches = host_runtime.launches - before;
  CHECK_MSG(launches >= least && launches <= most, "%s: %ld launches, want %ld to %ld", what,
            launches, least, most);
#endif
}

/* Runs a program on both devices; true when both gave results, of the same bits. */
static bool check_alike(const struct joist_program *program, void *const *inputs,
                        const char *what) {
  struct joist_error here = {0}, there = {0};
  const struct joist_run run = {.threads = 1};
  struct joist_plan *plan = NULL;
  void **const want = new_outputs(program), **const got = new_outputs(program);
  CHECK_INT(joist_plan_make(program, &plan, &here), JOIST_OK);
  const joist_status status = joist_plan_run(plan, (const void *const *)inputs, want, &run, &here);
  const joist_status own = run_there(program, inputs, got, &there);
  CHECK_MSG(own == status && strcmp(words(&here), words(&there)) == 0,
            "%s: status %d \"%s\", want %d \"%s\"", what, (int)own, words(&there), (int)status,
            words(&here));
  for (uint32_t k = 0; k < program->output_count && status == JOIST_OK && own == JOIST_OK; k++) {
    const joist_value_id v = program->outputs[k];
    const joist_dtype dtype = program->values[v].type.dtype;
    const size_t n = count_of(program, v), size = joist_dtype_size(dtype);
    size_t at = 0;
    while (at < n && memcmp((char *)got[k] + at * size, (char *)want[k] + at * size, size) == 0)
      at++;
    char mine[64], other[64];
    CHECK_MSG(at == n, "%s: element %zu of %zu: %s, want %s", what, at, n,
              at == n ? "" : element_text(dtype, (char *)got[k] + at * size, mine),
              at == n ? "" : element_text(dtype, (char *)want[k] + at * size, other));
    seen.compared += (long)n;
  }
  joist_plan_free(plan);
  free_outputs(want);
  free_outputs(got);
  return status == JOIST_OK && own == JOIST_OK;
}

/* ---- draws with given parameters ---- */

static struct joist_attributes drawn_as(joist_dtype dtype, int rank, const uint32_t *extents) {
  struct joist_shape shape = {rank, {0}};
  for (int d = 0; d < rank; d++) shape.extent[d] = extents[d];
  return with_shape(with_type(no_attributes, (struct joist_type){dtype, false}), &shape);
}

/* A parameter: its dtype, whether every element has its own, and its values, repeated. */
struct test_parameter {
  joist_dtype dtype;
  bool each;
  int count;
  const double *values;
};

static void *new_parameter(const struct test_parameter *parameter, size_t n) {
  const size_t size = joist_dtype_size(parameter->dtype);
  char *const elements = malloc(n * size + 1);
  for (size_t k = 0; elements != NULL && k < n; k++)
    joist_convert_find_portable(JOIST_F64, parameter->dtype)(
        1, &parameter->values[k % (size_t)parameter->count], elements + k * size);
  return elements;
}

/* What the device's kernel reads a parameter as. */
static joist_dtype carrier_of(joist_op op, joist_dtype dtype, int k, joist_dtype parameter) {
  if (op == JOIST_OP_RUNIF) return dtype;
  if (op == JOIST_OP_RBINOM) return JOIST_F64;
  if (op == JOIST_OP_RNORM)
    return k == 1 && joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX ? JOIST_C128 : JOIST_F64;
  if (parameter == JOIST_UI64) return JOIST_UI64;
  return joist_dtype_category(parameter) < JOIST_CATEGORY_FLOAT ? JOIST_I64 : JOIST_F64;
}

/* Draws `dtype`; false when that is an error, on both devices. */
static bool check_draw(joist_op op, joist_dtype dtype, int rank, const uint32_t *extents,
                       const struct test_parameter *parameters) {
  const uint32_t two = 2;
  uint32_t key[2] = {(uint32_t)random_bits(), (uint32_t)random_bits()};
  struct joist_program program;
  const struct joist_attributes attributes = drawn_as(dtype, rank, extents);
  joist_value_id operands[3], result = 0;
  void *inputs[3] = {key, NULL, NULL};
  const int count = joist_operation(op)->least;
  size_t n = 1;
  bool fine = true;
  char what[120];
  for (int d = 0; d < rank; d++) n *= extents[d];
  joist_program_init(&program);
  operands[0] = add_input(&program, JOIST_UI32, 1, &two);
  /* One launch draws, one checks parameters that are there, one converts each. */
  long launches = n > 0;
  for (int k = 1; k < count; k++) {
    const struct test_parameter *const p = &parameters[k - 1];
    operands[k] = add_input(&program, p->dtype, p->each ? rank : 0, extents);
    inputs[k] = new_parameter(p, p->each ? n : 1);
    launches += p->each && n > 1 && p->dtype != carrier_of(op, dtype, k, p->dtype);
  }
  if (count > 1) launches += n > 1 && (parameters[0].each || parameters[1].each);
  if (add(&program, joist_rules_at(0), op, operands, (size_t)count, &attributes, &result)) {
    add_output(&program, result);
    snprintf(what, sizeof what, "nv_%s() of %zu %s with %s%s and %s%s", joist_op_name(op), n,
             joist_dtype_name(dtype), count > 1 ? joist_dtype_name(parameters[0].dtype) : "",
             count > 1 && parameters[0].each ? "[]" : "",
             count > 1 ? joist_dtype_name(parameters[1].dtype) : "",
             count > 1 && parameters[1].each ? "[]" : "");
    const long before = launches_so_far();
    fine = check_alike(&program, inputs, what);
    if (fine) check_launches(before, launches, launches, what);
  }
  free(inputs[1]);
  free(inputs[2]);
  joist_program_clear(&program);
  return fine;
}

/* ---- every dtype, parameters of every dtype, one or many ---- */

static const joist_op drawn_ops[] = {JOIST_OP_RUNIF, JOIST_OP_RNORM, JOIST_OP_RANDINT,
                                     JOIST_OP_RBINOM};
enum { DRAWN_OPS = sizeof drawn_ops / sizeof *drawn_ops };

static void test_draw_dtypes(void) {
  static const double low[] = {0, 1, 0, 0, 1}, high[] = {1, 1, 5, 100, 2, 3, 77};
  static const double ones[] = {1, 1, 1, 0}, bits[] = {0, 0, 0, 1};
  static const double sizes[] = {1, 0, 7, 100, 30}, probs[] = {0.3, 1, 0.5, 0, 0.07, 0.999, 0.5};
  const uint32_t extents[] = {17, 59};
  for (int o = 0; o < DRAWN_OPS; o++)
    for (int d = 0; d < JOIST_WORD_COUNT; d++)
      for (int p = 0; p < JOIST_WORD_COUNT; p++)
        for (int each = 0; each < 4 && !leaves_out(d) && !leaves_out(p); each++) {
          const bool binomial = drawn_ops[o] == JOIST_OP_RBINOM;
          const double *const first = !binomial ? low : d == JOIST_BOOL ? bits : sizes;
          const double *const second = binomial ? probs : high;
          const bool narrow = d == JOIST_BOOL && drawn_ops[o] == JOIST_OP_RANDINT;
          const joist_dtype other = (joist_dtype)((p + d) % JOIST_WORD_COUNT);
          const joist_dtype right = each % 2 ? other : (joist_dtype)p;
          const struct test_parameter parameters[] = {
              {(joist_dtype)p, (each & 1) != 0, narrow || first == bits ? 4 : 5,
               narrow ? bits : first},
              {right, (each & 2) != 0, narrow ? 1 : 7, narrow ? ones : second}};
          const bool fine = check_draw(drawn_ops[o], (joist_dtype)d, 2, extents, parameters);
          CHECK(fine || joist_dtype_kind(right) == JOIST_KIND_COMPLEX || each > 0);
        }
}

/* About the number of elements of a thread, of a block of threads, and of the CPU's blocks. */
static void test_draw_sizes(void) {
  static const uint32_t about[] = {1, 4, 8, 16, 256, 512, 1024, 2048, 4096, 100000};
  static const double low[] = {-3, 0, 1.5, -1}, high[] = {4, 1e3, 2, 1.75, 9}, ends[] = {-7, -3, 0};
  static const double sizes[] = {1, 30, 0, 100}, probs[] = {0.5, 0.1, 0.9, 1, 0.3};
  for (size_t a = 0; a < sizeof about / sizeof *about; a++)
    for (uint32_t n = about[a] - 1; n <= about[a] + 1; n++)
      for (int d = 0; d < JOIST_WORD_COUNT; d++) {
        if (leaves_out(d) || (n > 5000 && n % 2 == 0)) continue;
        (void)check_draw(JOIST_OP_RANDOM_BITS, (joist_dtype)d, 1, &n, NULL);
        for (int each = 0; each < 4; each++) {
          const joist_dtype dtype = (joist_dtype)d;
          const joist_dtype real = joist_dtype_real(dtype);
          const bool whole = joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT;
          struct test_parameter parameters[] = {{whole ? JOIST_I64 : real, each % 2 != 0, 4, low},
                                                {whole ? JOIST_I64 : real, each / 2 != 0, 5, high}};
          (void)check_draw(JOIST_OP_RUNIF, dtype, 1, &n, parameters);
          (void)check_draw(JOIST_OP_RNORM, dtype, 1, &n, parameters);
          parameters[0].values = ends;
          parameters[0].count = 3;
          parameters[1].count = 2;
          (void)check_draw(JOIST_OP_RANDINT, dtype, 1, &n, parameters);
          parameters[0] = (struct test_parameter){JOIST_F64, each % 2 != 0, 4, sizes};
          parameters[1] = (struct test_parameter){JOIST_F64, each / 2 != 0, 5, probs};
          (void)check_draw(JOIST_OP_RBINOM, dtype, 1, &n, parameters);
        }
      }
}

/* ---- parameters at the limits ---- */

struct limits {
  double low, high;
};

static void check_pairs(joist_op op, joist_dtype dtype, joist_dtype parameter,
                        const struct limits *pairs, size_t count) {
  enum { N = 1500 };
  const uint32_t n = N;
  static double low[N], high[N];
  for (size_t k = 0; k < N; k++) {
    low[k] = pairs[k % count].low;
    high[k] = pairs[k % count].high;
  }
  for (size_t k = 0; k < count; k++) {
    const struct test_parameter one[] = {{parameter, false, 1, low + k},
                                         {parameter, k % 2 == 0, 1, high + k}};
    (void)check_draw(op, dtype, 1, &n, one);
  }
  const struct test_parameter each[] = {{parameter, true, N, low}, {parameter, true, N, high}};
  (void)check_draw(op, dtype, 1, &n, each);
}

static void test_draw_limits(void) {
  static const struct limits uniform[] = {
      {0, 1},           {-0.0, 1},       {-0.0, 0},     {0, -0.0},       {-1, 1},
      {3, 3},           {0, 0x1p-149},   {0, 0x1p-24},  {-0x1p-24, 0},   {0, 0x1p-1074},
      {1, 1 + 0x1p-7},  {-65504, 65504}, {-3e38, 3e38}, {-1e308, 1e308}, {0x1p-1022, 0x1p-1021},
      {1, 1 + 0x1p-52}, {-5, -1},        {1e-8, 60000}};
  static const struct limits normal[] = {
      {0, 1},         {-0.0, 1},    {0, 0},        {-0.0, -0.0},   {1e300, 1e8}, {0, 1e308},
      {0, 0x1p-1074}, {5, 0x1p-30}, {INFINITY, 1}, {-INFINITY, 2}, {65000, 400}, {1e38, 1e38}};
  /* Where many numbers are drawn again: a little more than half of all. */
  static const struct limits whole[] = {{0, 0},
                                        {0, 1},
                                        {-128, 127},
                                        {0, 255},
                                        {-32768, 32767},
                                        {0, 0x1p31},
                                        {-0x1p31, 0x1p31 - 1},
                                        {0, 0x1p32 - 1},
                                        {-2048, 2048},
                                        {-0x1p24, 0x1p24},
                                        {-0x1p53, 0x1p53},
                                        {-0x1p62, 0x1p62},
                                        {0, 0x1.8p30},
                                        {5, 0x1.000002p31},
                                        {-0x1p63, 0x1.fffffffffffffp62},
                                        {-0x1p63, 1},
                                        {0, 0x1.0000000000001p63},
                                        {0, 0x1.fffffffffffffp63}};
  static const struct limits trials[] = {
      {1, 0.5},      {1, 0},      {0, 0.5},       {100, 0.01},    {100, 0.4}, {127, 0.999},
      {40, 1},       {2000, 0.5}, {30000, 1e-4},  {1e6, 0.7},     {1e9, 0.3}, {1e9, 1e-9},
      {0x1p53, 0.5}, {1e15, 0.9}, {0x1p31, 1e-8}, {0x1p40, 1e-11}};
  for (int d = 0; d < JOIST_WORD_COUNT; d++) {
    if (leaves_out(d)) continue;
    const joist_dtype own = joist_dtype_real((joist_dtype)d);
    check_pairs(JOIST_OP_RUNIF, own, own, uniform, sizeof uniform / sizeof *uniform);
    check_pairs(JOIST_OP_RUNIF, own, JOIST_F64, uniform, sizeof uniform / sizeof *uniform);
    check_pairs(JOIST_OP_RNORM, (joist_dtype)d, own, normal, sizeof normal / sizeof *normal);
    check_pairs(JOIST_OP_RNORM, (joist_dtype)d, JOIST_F64, normal, sizeof normal / sizeof *normal);
    /* Pairs that fit the dtype alone: one that does not is an error of all. */
    struct limits fits[sizeof whole / sizeof *whole];
    size_t count = 0;
    const bool exact = joist_dtype_category((joist_dtype)d) < JOIST_CATEGORY_FLOAT;
    const double least = exact ? (double)joist_dtype_min_int((joist_dtype)d) : -0x1p53;
    const double most = exact ? (double)joist_dtype_max_int((joist_dtype)d) : 0x1p53;
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
      if (whole[k].low >= least && whole[k].high < most) fits[count++] = whole[k];
    check_pairs(JOIST_OP_RANDINT, (joist_dtype)d, JOIST_F64, fits, count);
    check_pairs(JOIST_OP_RANDINT, (joist_dtype)d, JOIST_UI64, fits, count);
    check_pairs(JOIST_OP_RANDINT, (joist_dtype)d, JOIST_I64, fits, count);
    check_pairs(JOIST_OP_RANDINT, (joist_dtype)d, JOIST_F64, whole, sizeof whole / sizeof *whole);
    count = 0;
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++)
      if (trials[k].low <= joist_count_most((joist_dtype)d)) fits[count++] = trials[k];
    check_pairs(JOIST_OP_RBINOM, (joist_dtype)d, JOIST_F64, fits, count);
  }
}

/* All 64 bits, which no double has. */
static void test_widest_range(void) {
  const uint32_t n = 3000, two = 2;
  uint32_t key[2] = {1, 2};
  for (int k = 0; k < 2; k++) {
    const joist_dtype dtype = k == 0 ? JOIST_I64 : JOIST_UI64;
    uint64_t low = k == 0 ? (uint64_t)INT64_MIN : 0, high = k == 0 ? INT64_MAX : UINT64_MAX;
    struct joist_program program;
    const struct joist_attributes attributes = drawn_as(dtype, 1, &n);
    joist_value_id result = 0;
    joist_program_init(&program);
    const joist_value_id operands[] = {add_input(&program, JOIST_UI32, 1, &two),
                                       add_input(&program, dtype, 0, NULL),
                                       add_input(&program, dtype, 0, NULL)};
    CHECK(add(&program, joist_rules_at(0), JOIST_OP_RANDINT, operands, 3, &attributes, &result));
    add_output(&program, result);
    for (int less = 0; less < 2; less++, high--) {
      const long before = launches_so_far();
      CHECK(check_alike(&program, (void *[]){key, &low, &high}, "widest range"));
      check_launches(before, 1, 1, "widest range");
    }
    joist_program_clear(&program);
  }
}

/* ---- errors ---- */

/* One element among good ones, and one for all. */
static void check_wrong(joist_op op, joist_dtype dtype, double low, double high) {
  enum { N = 2000, AT = 1234 };
  const uint32_t n = N;
  static double lows[N], highs[N];
  for (int k = 0; k < N; k++) {
    lows[k] = k == AT || k == AT + 9 ? low : 0;
    highs[k] = k == AT || k == AT + 9 ? high : 1;
  }
  const struct test_parameter each[] = {{JOIST_F64, true, N, lows}, {JOIST_F64, true, N, highs}};
  const struct test_parameter one[] = {{JOIST_F64, false, 1, &low}, {JOIST_F64, false, 1, &high}};
  const struct test_parameter mixed[] = {{JOIST_F64, false, 1, &low}, {JOIST_F64, true, 1, &high}};
  CHECK(!check_draw(op, dtype, 1, &n, each));
  CHECK(!check_draw(op, dtype, 1, &n, one));
  CHECK(!check_draw(op, dtype, 1, &n, mixed));
}

static void test_draw_errors(void) {
  const uint32_t n = 20, two = 2;
  for (int d = 0; d < JOIST_WORD_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    const joist_kind kind = joist_dtype_kind(dtype);
    if (leaves_out(d)) continue;
    check_wrong(JOIST_OP_RANDINT, dtype, 1, 0);
    check_wrong(JOIST_OP_RANDINT, dtype, 0, 0.5);
    check_wrong(JOIST_OP_RANDINT, dtype, NAN, 1);
    check_wrong(JOIST_OP_RANDINT, dtype, 0, 0x1p64);
    check_wrong(JOIST_OP_RANDINT, dtype, -0x1p70, 1);
    check_wrong(JOIST_OP_RANDINT, dtype, 0, INFINITY);
    check_wrong(JOIST_OP_RBINOM, dtype, -1, 1);
    check_wrong(JOIST_OP_RBINOM, dtype, 0.5, 1);
    check_wrong(JOIST_OP_RBINOM, dtype, NAN, 1);
    check_wrong(JOIST_OP_RBINOM, dtype, 0x1p54, 1);
    check_wrong(JOIST_OP_RBINOM, dtype, 1, -0.1);
    check_wrong(JOIST_OP_RBINOM, dtype, 1, NAN);
    check_wrong(JOIST_OP_RBINOM, dtype, 1, 1.1);
    if (kind == JOIST_KIND_FLOAT) {
      check_wrong(JOIST_OP_RUNIF, dtype, 2, 1);
      check_wrong(JOIST_OP_RUNIF, dtype, NAN, 1);
      check_wrong(JOIST_OP_RUNIF, dtype, 0, NAN);
      check_wrong(JOIST_OP_RUNIF, dtype, -INFINITY, 1);
      check_wrong(JOIST_OP_RUNIF, dtype, 0, INFINITY);
    }
    if (kind != JOIST_KIND_FLOAT && kind != JOIST_KIND_COMPLEX) continue;
    check_wrong(JOIST_OP_RNORM, dtype, 0, -1);
    check_wrong(JOIST_OP_RNORM, dtype, 0, NAN);
    check_wrong(JOIST_OP_RNORM, dtype, 0, INFINITY);
  }
  /* An invalid key. */
  for (int o = 0; o < DRAWN_OPS; o++) {
    struct joist_program program;
    const struct joist_attributes attributes = drawn_as(JOIST_F32, 1, &n);
    int32_t key[2] = {1, 2};
    float low = 0, high = 1;
    joist_value_id result = 0;
    joist_program_init(&program);
    const joist_value_id operands[] = {add_input(&program, JOIST_I32, 1, &two),
                                       add_input(&program, JOIST_F32, 0, NULL),
                                       add_input(&program, JOIST_F32, 0, NULL)};
    CHECK(add(&program, joist_rules_at(0), drawn_ops[o], operands, 3, &attributes, &result));
    add_output(&program, result);
    CHECK(!check_alike(&program, (void *[]){key, &low, &high}, "no key"));
    joist_program_clear(&program);
  }
}

/* ---- keys ---- */

/* A number that is whole, and at most 2^53, in its dtype makes a key. */
static void check_fold(joist_dtype dtype, double number, int split) {
  const uint32_t two = 2;
  double own;
  uint32_t key[2] = {(uint32_t)random_bits(), (uint32_t)random_bits()};
  char element[16];
  struct joist_program program;
  const struct joist_attributes attributes = with_type(
      with(no_attributes, JOIST_ATTRIBUTE_SPLIT, split), (struct joist_type){JOIST_UI32, false});
  joist_value_id result = 0;
  char what[64];
  joist_convert_find_portable(JOIST_F64, dtype)(1, &number, element);
  joist_convert_find_portable(dtype, JOIST_F64)(1, element, &own);
  const bool fine = joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT ||
                    (own == floor(own) && fabs(own) <= 0x1p53);
  snprintf(what, sizeof what, "nv_fold_in() of %s %g", joist_dtype_name(dtype), number);
  joist_program_init(&program);
  const joist_value_id operands[] = {add_input(&program, JOIST_UI32, 1, &two),
                                     add_input(&program, dtype, 0, NULL)};
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_FOLD_IN, operands, 2, &attributes, &result));
  add_output(&program, result);
  const long before = launches_so_far();
  CHECK_INT(check_alike(&program, (void *[]){key, element}, what), fine);
  if (fine) check_launches(before, 1, 2, what);
  joist_program_clear(&program);
}

static void test_keys(void) {
  static const double numbers[] = {0,      1,      2,   100, 127,      -1,  -7,
                                   0x1p31, 0x1p53, 1.5, NAN, INFINITY, 1e30};
  for (int d = 0; d < JOIST_WORD_COUNT; d++)
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
      for (int often = 0; often < 6; often++) /* given or not, see run_there() */
        if (joist_dtype_kind((joist_dtype)d) != JOIST_KIND_COMPLEX)
          check_fold((joist_dtype)d, numbers[k], often % 2);
}

/* ---- within a program: parameters that were computed, results that are used ---- */

static void test_draw_programs(void) {
  const uint32_t n = 3000, two = 2;
  static float x[3000], y[3000];
  uint32_t key[2] = {7, 8};
  int32_t number = 5;
  for (uint32_t k = 0; k < n; k++) x[k] = (float)k, y[k] = (float)(k % 7);
  struct joist_program program;
  const struct joist_attributes drawn = drawn_as(JOIST_F32, 1, &n);
  joist_value_id keys[2], normal = 0, uniform = 0;
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_UI32, 1, &two);
  const joist_value_id b = add_input(&program, JOIST_F32, 1, &n);
  const joist_value_id c = add_input(&program, JOIST_F32, 1, &n);
  const joist_value_id i = add_input(&program, JOIST_I32, 0, NULL);
  for (int k = 0; k < 2; k++) {
    const struct joist_attributes attributes = with_type(
        with(no_attributes, JOIST_ATTRIBUTE_SPLIT, k), (struct joist_type){JOIST_UI32, false});
    CHECK(add(&program, joist_rules_at(0), JOIST_OP_FOLD_IN, (joist_value_id[]){a, i}, 2,
              &attributes, &keys[k]));
  }
  const joist_value_id mean = add_simple(&program, JOIST_OP_ADD, b, c);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_RNORM, (joist_value_id[]){keys[0], mean, c}, 3,
            &drawn, &normal));
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_RUNIF, (joist_value_id[]){keys[1], c, mean}, 3,
            &drawn, &uniform));
  add_output(&program, add_simple(&program, JOIST_OP_MUL, normal, uniform));
  for (int k = 0; k < 4; k++)
    CHECK(check_alike(&program, (void *[]){key, x, y, &number}, "a program that draws"));
  joist_program_clear(&program);
}

static void test_draws(void) {
  test_draw_dtypes();
  test_draw_sizes();
  test_draw_limits();
  test_widest_range();
  test_draw_errors();
  test_keys();
  test_draw_programs();
}

#endif
