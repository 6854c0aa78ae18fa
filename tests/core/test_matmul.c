/* Matrix products, against three loops over one element at a time: every dtype, every
 * instruction set, extents around the blocks of the kernels, transposed operands, batches that
 * broadcast, and any number of threads. */
#include "core/cpu/engine.h"
#include "core/kernels/kernels.h"
#include "core/ops/linalg/blas.h"
#include "core/ops/linalg/gemm.h"
#include "core/plan/plan.h"

#include "arrays.h"
#include "programs.h"
#include "rules.h"
#include "sets.h"

enum { THREADS = 3 };

static void *allocate(size_t bytes) {
  void *const block = malloc(bytes + 1);
  if (block == NULL) abort();
  memset(block, 0x5a, bytes + 1);
  return block;
}

/* Runs nv_matmul() of two arrays as a program, in a dtype that is asked for or in their own. */
static joist_status run_matmul(joist_dtype dtype, joist_dtype asked,
                               const struct joist_shape *shapes, const int32_t *transposed,
                               const void *const *inputs, int threads, struct joist_shape *shape,
                               void **out) {
  struct joist_program program;
  struct joist_error error = {0};
  const bool own = asked == JOIST_DTYPE_NONE;
  const struct joist_attributes flags =
      with(with(no_attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS, transposed[0]),
           JOIST_ATTRIBUTE_TRANSPOSE_RHS, transposed[1]);
  const struct joist_attributes attributes =
      own ? flags : with_type(flags, (struct joist_type){asked, false});
  struct joist_inference inference;
  joist_value_id values[2], result = 0;
  joist_program_init(&program);
  for (int k = 0; k < 2; k++)
    values[k] = add_input(&program, dtype, shapes[k].rank, shapes[k].extent);
  joist_status status = infer_and_append(&program, JOIST_OP_MATMUL, values, 2, &attributes,
                                         &inference, &result, &error);
  if (status == JOIST_OK) {
    struct joist_plan *plan = NULL;
    *shape = inference.shape[0];
    *out = allocate(elements_in(shape) * joist_dtype_size(own ? dtype : asked));
    CHECK(joist_program_add_output(&program, result, &error) == JOIST_OK);
    CHECK(joist_plan_make(&program, &plan, &error) == JOIST_OK);
    const struct joist_run run = {.threads = threads, .parallel_from = 1};
    status = joist_plan_run(plan, inputs, out, &run, &error);
    CHECK_MSG(status == JOIST_OK, "%s: %s", joist_dtype_name(dtype), words(&error));
    joist_plan_free(plan);
  }
  joist_program_clear(&program);
  return status;
}

/* ---- the reference ---- */

/* Where element (row, column) of the matrix lies that product `j` of a batch reads. */
static size_t position(const struct joist_shape *operand, const struct joist_shape *result,
                       size_t j, size_t row, size_t column) {
  size_t at = 0, stride = (size_t)operand->extent[0] * operand->extent[1];
  for (int d = 2; d < result->rank; d++) {
    const size_t index = j % result->extent[d];
    j /= result->extent[d];
    if (d >= operand->rank) continue;
    if (operand->extent[d] > 1) at += index * stride;
    stride *= operand->extent[d];
  }
  return at + column * operand->extent[0] + row;
}

/* A sum of products in 64 bits or long double, and the sum of their absolute values. */
struct sum {
  uint64_t integer;
  long double part[2], size;
};

/* Elements as 64-bit integers, or as pairs of doubles. */
static void *widen(joist_dtype dtype, size_t count, const void *elements) {
  const bool whole = joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT;
  void *const wide = allocate(count * 16);
  joist_convert_find_portable(dtype, whole ? JOIST_UI64 : JOIST_C128)(count, elements, wide);
  return wide;
}

static void add_product(joist_category category, const void *lhs, size_t a, const void *rhs,
                        size_t b, struct sum *sum) {
  if (category < JOIST_CATEGORY_FLOAT) {
    const uint64_t product = ((const uint64_t *)lhs)[a] * ((const uint64_t *)rhs)[b];
    sum->integer =
        category == JOIST_CATEGORY_BOOL ? sum->integer | product : sum->integer + product;
    return;
  }
  const double *const x = (const double *)lhs + 2 * a, *const y = (const double *)rhs + 2 * b;
  if (category != JOIST_CATEGORY_COMPLEX) {
    const long double product = (long double)x[0] * y[0];
    sum->part[0] += product;
    sum->size += fabsl(product);
    return;
  }
  sum->part[0] += (long double)x[0] * y[0] - (long double)x[1] * y[1];
  sum->part[1] += (long double)x[0] * y[1] + (long double)x[1] * y[0];
  sum->size += (fabsl((long double)x[0]) + fabsl((long double)x[1])) *
               (fabsl((long double)y[0]) + fabsl((long double)y[1]));
}

/* The bound on the error of a sum of n products: Higham, Accuracy and Stability of Numerical
 * Algorithms, 2002, section 3.1; complex products take two more operations. */
static bool close_enough(joist_dtype dtype, size_t n, const char *element, const struct sum *sum) {
  double got[2];
  if (joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT) {
    uint64_t value = 0;
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &sum->integer, &value);
    if (dtype == JOIST_BOOL) *(uint8_t *)&value = sum->integer != 0; /* its first byte */
    return memcmp(&value, element, joist_dtype_size(dtype)) == 0;
  }
  joist_convert_find_portable(dtype, JOIST_C128)(1, element, got);
  const long double compute = half_unit(joist_dtype_real(joist_dtype_compute(dtype)));
  const long double own = half_unit(joist_dtype_real(dtype));
  for (int p = 0; p < 2; p++) {
    bool right;
    if (lacks_number(joist_dtype_real(dtype), sum->part[p], 0, got[p], &right)) {
      if (right) continue;
      return false;
    }
    /* Beyond the largest number is infinity, NaN or that number. */
    const long double largest = (long double)joist_dtype_max_float(dtype);
    if (is_small(dtype) && fabsl(sum->part[p]) > 0.99L * largest) {
      if (isnan(got[p]) || fabs(got[p]) > 0.8 * largest) continue;
      return false;
    }
    const long double bound = (long double)(n + 3) * compute * sum->size +
                              2 * own * fabsl(sum->part[p]) +
                              smallest_number(joist_dtype_real(dtype));
    if (!(fabsl(got[p] - sum->part[p]) <= bound)) return false;
  }
  return true;
}

static void check_product(joist_dtype dtype, const struct joist_shape *shapes,
                          const int32_t *transposed, fill_kind kind) {
  const size_t size = joist_dtype_size(dtype);
  void *in[2], *wide[2];
  for (int k = 0; k < 2; k++) {
    in[k] = allocate(elements_in(&shapes[k]) * size);
    fill(dtype, elements_in(&shapes[k]), kind, in[k]);
    wide[k] = widen(dtype, elements_in(&shapes[k]), in[k]);
  }
  const void *const inputs[2] = {in[0], in[1]};
  struct joist_shape shape = {0};
  void *first = NULL;
  char text[64];
  for (int threads = 1; threads <= THREADS; threads++) {
    void *out = NULL;
    if (!CHECK(run_matmul(dtype, JOIST_DTYPE_NONE, shapes, transposed, inputs, threads, &shape,
                          &out) == JOIST_OK))
      return;
    const size_t bytes = elements_in(&shape) * size;
    CHECK_MSG(((unsigned char *)out)[bytes] == 0x5a, "written past the end");
    if (threads == 1) {
      first = out;
      continue;
    }
    CHECK_MSG(memcmp(out, first, bytes) == 0, "%s: other bits on %d threads",
              joist_dtype_name(dtype), threads);
    free(out);
  }
  const size_t m = shape.extent[0], n = shape.extent[1];
  const size_t terms = shapes[0].extent[transposed[0] ? 0 : 1], total = elements_in(&shape);
  const size_t next[2] = {transposed[0] ? 1 : shapes[0].extent[0],
                          transposed[1] ? shapes[1].extent[0] : 1};
  const joist_category category = joist_dtype_category(dtype);
  size_t wrong = 0, at = 0;
  for (size_t e = 0; e < total; e++) {
    const size_t row = e % m, column = e / m % n, j = e / (m * n);
    struct sum sum = {0};
    size_t a = transposed[0] ? position(&shapes[0], &shape, j, 0, row)
                             : position(&shapes[0], &shape, j, row, 0);
    size_t b = transposed[1] ? position(&shapes[1], &shape, j, column, 0)
                             : position(&shapes[1], &shape, j, 0, column);
    for (size_t p = 0; p < terms; p++, a += next[0], b += next[1])
      add_product(category, wide[0], a, wide[1], b, &sum);
    /* A dtype without a zero has no number for what is 0 in f32. */
    if (!joist_dtype_has_zero(dtype)) continue;
    if (close_enough(dtype, terms, (char *)first + e * size, &sum)) continue;
    if (wrong++ == 0) at = e;
  }
  CHECK_MSG(wrong == 0, "%s %s %zux%zux%zu t%d%d: %zu wrong, the first at %zu: %s",
            joist_kernels_name(), joist_dtype_name(dtype), m, terms, n, (int)transposed[0],
            (int)transposed[1], wrong, at,
            wrong == 0 ? "" : element_text(dtype, (char *)first + at * size, text));
  free(first);
  for (int k = 0; k < 2; k++) {
    free(in[k]);
    free(wide[k]);
  }
}

static void check_matrices(joist_dtype dtype, uint32_t m, uint32_t k, uint32_t n, int flags) {
  const int32_t transposed[2] = {flags & 1, flags >> 1};
  struct joist_shape shapes[2] = {{2, {m, k}}, {2, {k, n}}};
  if (transposed[0]) shapes[0] = (struct joist_shape){2, {k, m}};
  if (transposed[1]) shapes[1] = (struct joist_shape){2, {n, k}};
  check_product(dtype, shapes, transposed,
                joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER ? FILL_BITS : FILL_SMALL);
}

/* Extents around those of tiles and blocks. */
static void test_extents(joist_dtype dtype) {
  static const uint32_t extents[][3] = {
      {0, 3, 2},  {2, 0, 3},   {3, 2, 0},    {1, 1, 1},      {1, 40, 1},     {40, 1, 50},
      {7, 5, 3},  {16, 8, 6},  {17, 256, 7}, {33, 257, 13},  {5, 255, 12},   {65, 3, 25},
      {1, 9, 70}, {130, 4, 1}, {3, 515, 11}, {1, 301, 1030}, {1030, 301, 1}, {1, 1, 217}};
  for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
    for (int flags = 0; flags < 4; flags++)
      check_matrices(dtype, extents[e][0], extents[e][1], extents[e][2], flags);
  for (int round = 0; round < 6; round++)
    check_matrices(dtype, (uint32_t)(1 + random_below(90)), (uint32_t)(1 + random_below(300)),
                   (uint32_t)(1 + random_below(40)), (int)random_below(4));
}

static void test_batches(joist_dtype dtype) {
  static const struct joist_shape pairs[][2] = {
      {{3, {3, 4, 5}}, {3, {4, 2, 5}}},          {{3, {3, 4, 5}}, {2, {4, 2}}},
      {{2, {3, 4}}, {4, {4, 2, 3, 2}}},          {{4, {3, 4, 1, 3}}, {3, {4, 2, 6}}},
      {{4, {2, 2, 3, 1}}, {4, {2, 2, 1, 4}}},    {{3, {3, 4, 0}}, {3, {4, 2, 1}}},
      {{5, {1, 2, 2, 1, 3}}, {4, {2, 1, 2, 7}}}, {{3, {30, 40, 17}}, {2, {40, 9}}}};
  const int32_t plain[2] = {0, 0};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
    check_product(dtype, pairs[p], plain, FILL_SMALL);
}

/* Products of a matrix and itself, half of which is copied, have the bits of those with a copy. */
static void test_itself(joist_dtype dtype) {
  for (int round = 0; round < 12; round++) {
    const int32_t transposed[2] = {round % 2, 1 - round % 2};
    const uint32_t m = (uint32_t)(20 + random_below(150)), k = (uint32_t)(1 + random_below(600));
    const uint32_t count = round % 3 == 0 ? 7 : 1;
    const struct joist_shape one = {3, {transposed[0] ? k : m, transposed[0] ? m : k, count}};
    const struct joist_shape shapes[2] = {one, one};
    const size_t bytes = elements_in(&one) * joist_dtype_size(dtype);
    void *const x = allocate(bytes), *const copy = allocate(bytes), *want = NULL;
    fill(dtype, elements_in(&one),
         joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER ? FILL_BITS : FILL_SMALL, x);
    memcpy(copy, x, bytes);
    struct joist_shape shape = {0};
    CHECK(run_matmul(dtype, JOIST_DTYPE_NONE, shapes, transposed, (const void *[]){x, copy}, 1,
                     &shape, &want) == JOIST_OK);
    for (int threads = 1; threads <= THREADS; threads++) {
      void *out = NULL;
      CHECK(run_matmul(dtype, JOIST_DTYPE_NONE, shapes, transposed, (const void *[]){x, x}, threads,
                       &shape, &out) == JOIST_OK);
      CHECK_MSG(memcmp(out, want, elements_in(&shape) * joist_dtype_size(dtype) + 1) == 0,
                "%s %s %ux%u t%d with itself, %d threads", joist_kernels_name(),
                joist_dtype_name(dtype), m, k, (int)transposed[0], threads);
      free(out);
    }
    free(want);
    free(x);
    free(copy);
  }
}

/* Products in a wider dtype have the bits of those of converted operands. */
static void check_asked(joist_dtype from, joist_dtype to, const uint32_t *extents, int flags) {
  const int32_t transposed[2] = {flags & 1, flags >> 1};
  const uint32_t m = extents[0], k = extents[1], n = extents[2];
  const struct joist_shape shapes[2] = {{2, {transposed[0] ? k : m, transposed[0] ? m : k}},
                                        {2, {transposed[1] ? n : k, transposed[1] ? k : n}}};
  void *narrow[2], *wide[2], *want = NULL;
  for (int o = 0; o < 2; o++) {
    const size_t count = elements_in(&shapes[o]);
    narrow[o] = allocate(count * joist_dtype_size(from));
    wide[o] = allocate(count * joist_dtype_size(to));
    fill(from, count, joist_dtype_category(from) < JOIST_CATEGORY_FLOAT ? FILL_BITS : FILL_SMALL,
         narrow[o]);
    joist_convert_find_portable(from, to)(count, narrow[o], wide[o]);
  }
  const void *const inputs[2] = {narrow[0], narrow[1]}, *const converted[2] = {wide[0], wide[1]};
  struct joist_shape shape = {0};
  CHECK(run_matmul(to, JOIST_DTYPE_NONE, shapes, transposed, converted, 1, &shape, &want) ==
        JOIST_OK);
  for (int threads = 1; threads <= THREADS; threads++) {
    void *out = NULL;
    CHECK(run_matmul(from, to, shapes, transposed, inputs, threads, &shape, &out) == JOIST_OK);
    CHECK_MSG(memcmp(out, want, elements_in(&shape) * joist_dtype_size(to) + 1) == 0,
              "%s %s in %s, %ux%ux%u t%d", joist_kernels_name(), joist_dtype_name(from),
              joist_dtype_name(to), m, k, n, flags);
    free(out);
  }
  free(want);
  for (int o = 0; o < 2; o++) {
    free(narrow[o]);
    free(wide[o]);
  }
}

static void test_asked(void) {
  static const joist_dtype pairs[][2] = {
      {JOIST_I8, JOIST_I32},   {JOIST_I8, JOIST_I64},   {JOIST_UI8, JOIST_I16},
      {JOIST_BOOL, JOIST_I32}, {JOIST_I8, JOIST_I8},    {JOIST_F16, JOIST_F32},
      {JOIST_BF16, JOIST_F64}, {JOIST_C64, JOIST_C128}, {JOIST_F32, JOIST_C64}};
  static const uint32_t extents[][3] = {{2, 3, 4},    {7, 31, 13},  {65, 3, 25},  {33, 257, 13},
                                        {129, 4, 12}, {3, 515, 11}, {40, 70, 97}, {6, 6, 6}};
  static const uint32_t vectors[][3] = {{1, 40, 1}, {1, 301, 70}, {90, 17, 1}, {2, 0, 3}};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
    for (int flags = 0; flags < 4; flags++) {
      for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
        check_asked(pairs[p][0], pairs[p][1], extents[e], flags);
      /* Floats times a vector are added up in another order. */
      for (size_t e = 0; e < sizeof vectors / sizeof *vectors; e++)
        if (joist_dtype_category(pairs[p][1]) < JOIST_CATEGORY_FLOAT)
          check_asked(pairs[p][0], pairs[p][1], vectors[e], flags);
    }
}

/* More than one block of rows and of columns, and more terms than are packed at once. */
static void test_large(void) {
  check_matrices(JOIST_F32, 700, 300, 30, 0);
  check_matrices(JOIST_F32, 20, 20, 2300, 3);
  check_matrices(JOIST_F64, 30, 9000, 5, 1);
  check_matrices(JOIST_I32, 300, 40, 400, 2);
  /* A few long rows by a vector: for each of them a task. */
  check_matrices(JOIST_F32, 5, 70000, 1, 1);
  check_matrices(JOIST_F64, 1, 40000, 7, 0);
}

static void test_refusals(void) {
  static const struct joist_shape pairs[][2] = {
      {{2, {2, 3}}, {2, {2, 3}}}, {{1, {3}}, {2, {3, 3}}}, {{3, {2, 3, 2}}, {3, {3, 2, 3}}}};
  const int32_t plain[2] = {0, 0};
  const void *const inputs[2] = {NULL, NULL};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    struct joist_shape shape;
    void *out = NULL;
    CHECK(run_matmul(JOIST_F32, JOIST_DTYPE_NONE, pairs[p], plain, inputs, 1, &shape, &out) ==
          JOIST_ERROR_SHAPE);
  }
}

/* NaN and infinity reach the result, 0 times them included. */
static void test_special(void) {
  const double a[4] = {NAN, 1, 0, 2}, b[2] = {0, 1}, c[2] = {INFINITY, 0};
  const struct joist_shape shapes[2] = {{2, {2, 2}}, {2, {2, 1}}};
  const int32_t plain[2] = {0, 0};
  struct joist_shape shape;
  double *out = NULL;
  const void *inputs[2] = {a, b};
  CHECK(run_matmul(JOIST_F64, JOIST_DTYPE_NONE, shapes, plain, inputs, 1, &shape, (void **)&out) ==
        JOIST_OK);
  CHECK(isnan(out[0]) && out[1] == 2);
  free(out);
  inputs[1] = c;
  CHECK(run_matmul(JOIST_F64, JOIST_DTYPE_NONE, shapes, plain, inputs, 1, &shape, (void **)&out) ==
        JOIST_OK);
  CHECK(isnan(out[0]) && isinf(out[1]));
  free(out);
}

/* ---- a BLAS ---- */

static int blas_calls, blas_threads = 7;

/* C = A B in f64, the textbook way. */
static void stub_gemm(const char *ta, const char *tb, const int *m, const int *n, const int *k,
                      const void *alpha, const void *a, const int *lda, const void *b,
                      const int *ldb, const void *beta, void *c, const int *ldc, size_t la,
                      size_t lb) {
  const double *const x = a, *const y = b;
  blas_calls++;
  CHECK(*(const double *)alpha == 1 && *(const double *)beta == 0 && la == 1 && lb == 1);
  CHECK_INT(blas_threads, 2);
  for (int j = 0; j < *n; j++)
    for (int i = 0; i < *m; i++) {
      double sum = 0;
      for (int p = 0; p < *k; p++)
        sum += x[*ta == 'T' ? i * *lda + p : p * *lda + i] *
               y[*tb == 'T' ? p * *ldb + j : j * *ldb + p];
      ((double *)c)[j * *ldc + i] = sum;
    }
}

static int stub_set_threads(int threads) {
  const int before = blas_threads;
  blas_threads = threads;
  return before;
}

static void test_blas(void) {
  const struct joist_shape shapes[2] = {{3, {4, 3, 2}}, {2, {5, 4}}};
  const int32_t transposed[2] = {1, 1};
  double a[24], b[20], *out = NULL, *own = NULL;
  struct joist_shape shape;
  fill(JOIST_F64, 24, FILL_SMALL, a);
  fill(JOIST_F64, 20, FILL_SMALL, b);
  const void *const inputs[2] = {a, b};
  CHECK(run_matmul(JOIST_F64, JOIST_DTYPE_NONE, shapes, transposed, inputs, 2, &shape,
                   (void **)&own) == JOIST_OK);
  joist_blas.gemm[JOIST_F64] = stub_gemm;
  joist_blas.set_threads = stub_set_threads;
  CHECK(run_matmul(JOIST_F64, JOIST_DTYPE_NONE, shapes, transposed, inputs, 2, &shape,
                   (void **)&out) == JOIST_OK);
  CHECK_INT(blas_calls, 2);
  CHECK_INT(blas_threads, 7);
  CHECK(memcmp(out, own, elements_in(&shape) * sizeof *out) == 0); /* halves: no rounding */
  joist_blas.gemm[JOIST_F64] = NULL;
  joist_blas.set_threads = NULL;
  free(out);
  free(own);
}

int main(void) {
  const char *sets[MAX_SETS];
  const int count = find_sets(sets);
  use_rules();
  for (int s = 0; s < count; s++) {
    joist_kernels_select(sets[s]);
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      if (is_small((joist_dtype)d) && s < count - 1) continue; /* by the kernels of another dtype */
      test_extents((joist_dtype)d);
      test_itself((joist_dtype)d);
      test_batches((joist_dtype)d);
    }
    test_asked();
    test_large();
    test_special();
  }
  test_refusals();
  test_blas();
  return check_report("matmul");
}
