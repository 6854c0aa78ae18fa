/* products.h: matrix products on the device, by joist's kernel and by cuBLAS, against one
 * element at a time. Elements are halves near zero, whose products and sums every dtype has
 * exactly, or bits of integers, which wrap. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_PRODUCTS_H
#define JOIST_TESTS_CUDA_PRODUCTS_H

#include "cuda/host/blas.h"

enum { BATCH_MAX = 3 };

struct product_case {
  uint32_t m, n, k;
  int lhs_batch, rhs_batch; /* dims */
  uint32_t lhs[BATCH_MAX], rhs[BATCH_MAX];
};

static const struct product_case product_cases[] = {
    {1, 1, 1, 0, 0, {0}, {0}},
    {3, 5, 2, 0, 0, {0}, {0}},
    {64, 64, 16, 0, 0, {0}, {0}},
    {65, 63, 17, 0, 0, {0}, {0}},
    {130, 70, 33, 0, 0, {0}, {0}},
    {1, 100, 40, 0, 0, {0}, {0}},
    {100, 1, 7, 0, 0, {0}, {0}},
    {4, 6, 0, 0, 0, {0}, {0}},
    {0, 3, 4, 0, 0, {0}, {0}},
    {5, 4, 3, 1, 0, {3}, {0}},
    {5, 4, 18, 0, 2, {0}, {4, 2}},
    {2, 3, 4, 2, 2, {3, 1}, {1, 2}},
    {7, 2, 5, 3, 3, {2, 3, 2}, {2, 3, 2}},
    {66, 3, 5, 3, 2, {2, 1, 3}, {2, 4}},
};

static const joist_attribute_name transpose[] = {JOIST_ATTRIBUTE_TRANSPOSE_LHS,
                                                 JOIST_ATTRIBUTE_TRANSPOSE_RHS};

/* Element (line, term) of matrix `number` of an operand as both kinds of numbers. */
static void read_factor(const struct joist_program *program, int k, const void *input,
                        size_t number, size_t line, size_t term, double part[2], int64_t *whole) {
  const struct joist_instruction *const i = &program->instructions[0];
  const struct joist_value *const value = &program->values[i->operand[k]];
  const joist_dtype from = value->type.dtype, dtype = i->signature.operand[k];
  const size_t rows = value->shape.extent[0], matrix = rows * value->shape.extent[1];
  /* Lines are rows of the left operand and columns of the right one. */
  const bool transposed = joist_attribute_flag(i->attributes, transpose[k]);
  const bool lines_are_rows = (k == 0) != transposed;
  const size_t at = number * matrix + (lines_are_rows ? line + term * rows : term + line * rows);
  uint64_t element[2];
  joist_convert_find_portable(from, dtype)(1, (const char *)input + at * joist_dtype_size(from),
                                           element);
  joist_convert_find_portable(dtype, JOIST_C128)(1, element, part);
  joist_convert_find_portable(dtype, JOIST_I64)(1, element, whole);
}

/* Which matrix of an operand product `index` of the result reads. */
static size_t matrix_number(const struct joist_shape *operand, const struct joist_shape *result,
                            size_t index) {
  size_t number = 0, stride = 1;
  for (int d = 2; d < operand->rank; d++) {
    size_t before = 1;
    for (int e = 2; e < d; e++) before *= result->extent[e];
    if (operand->extent[d] > 1) number += index / before % result->extent[d] * stride;
    stride *= operand->extent[d];
  }
  return number;
}

/* Element (row, column) of product `index`. */
static void expected_product(const struct joist_program *program, void *const *inputs, size_t index,
                             size_t row, size_t column, size_t terms, void *out) {
  const struct joist_instruction *const i = &program->instructions[0];
  const struct joist_shape *const shape = &program->values[i->result].shape;
  const joist_dtype dtype = program->values[i->result].type.dtype;
  const joist_kind kind = joist_dtype_kind(dtype);
  double sum[2] = {0, 0};
  uint64_t whole = 0;
  for (size_t p = 0; p < terms; p++) {
    double x[2][2];
    int64_t n[2];
    for (int k = 0; k < 2; k++)
      read_factor(program, k, inputs[k],
                  matrix_number(&program->values[i->operand[k]].shape, shape, index),
                  k == 0 ? row : column, p, x[k], &n[k]);
    sum[0] += x[0][0] * x[1][0] - x[0][1] * x[1][1];
    sum[1] += x[0][0] * x[1][1] + x[0][1] * x[1][0];
    whole += (uint64_t)n[0] * (uint64_t)n[1];
  }
  const int64_t wrapped = (int64_t)whole;
  if (kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT)
    joist_convert_find_portable(JOIST_I64, dtype)(1, &wrapped, out);
  else
    joist_convert_find_portable(JOIST_C128, dtype)(1, sum, out);
}

static void check_product(joist_dtype left, joist_dtype right, const struct product_case *c,
                          int flags) {
  struct joist_program program;
  struct joist_error error = {0};
  const joist_dtype dtypes[2] = {left, right};
  const struct joist_attributes attributes =
      with(with(no_attributes, transpose[0], flags & 1), transpose[1], flags >> 1);
  joist_value_id operands[2], result = 0;
  void *inputs[2];
  joist_program_init(&program);
  for (int k = 0; k < 2; k++) {
    uint32_t extents[2 + BATCH_MAX] = {k == 0 ? c->m : c->k, k == 0 ? c->k : c->n};
    const int batch = k == 0 ? c->lhs_batch : c->rhs_batch;
    if (flags >> k & 1) {
      extents[0] = k == 0 ? c->k : c->n;
      extents[1] = k == 0 ? c->m : c->k;
    }
    memcpy(extents + 2, k == 0 ? c->lhs : c->rhs, sizeof c->lhs);
    operands[k] = add_input(&program, dtypes[k], 2 + batch, extents);
    inputs[k] = malloc(bytes_of(&program, operands[k]) + 1);
    const bool integers = joist_dtype_kind(dtypes[k]) == JOIST_KIND_INT ||
                          joist_dtype_kind(dtypes[k]) == JOIST_KIND_UINT;
    fill(dtypes[k], count_of(&program, operands[k]),
         integers && left == right ? FILL_BITS : FILL_SMALL, inputs[k]);
  }
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_MATMUL, operands, 2, &attributes, &result));
  add_output(&program, result);
  void **const outputs = new_outputs(&program);
  CHECK_MSG(run_there(&program, inputs, outputs, &error) == JOIST_OK, "%s", words(&error));
  const joist_dtype dtype = program.values[result].type.dtype;
  const size_t total = count_of(&program, result), matrix = (size_t)c->m * c->n;
  size_t wrong = 0;
  for (size_t at = 0; at < total; at++) {
    uint64_t want[2];
    expected_product(&program, inputs, at / matrix, at % matrix % c->m, at % matrix / c->m, c->k,
                     want);
    wrong += !same_element(dtype, (char *)outputs[0] + at * joist_dtype_size(dtype), want);
  }
  CHECK_MSG(wrong == 0, "nv_matmul() of %s and %s, %ux%ux%u, %d: %zu of %zu elements differ",
            joist_dtype_name(left), joist_dtype_name(right), c->m, c->k, c->n, flags, wrong, total);
  seen.compared += (long)total;
  free_outputs(outputs);
  for (int k = 0; k < 2; k++) free(inputs[k]);
  joist_program_clear(&program);
}

/* The low bits of f32 are not lost on the way. */
static void check_precision(void) {
  enum { N = 64 };
  const uint32_t extents[2] = {N, N};
  static float x[N * N], one[N * N], out[N * N];
  struct joist_program program;
  struct joist_error error = {0};
  joist_value_id result = 0;
  for (int k = 0; k < N * N; k++) {
    x[k] = 1 + (float)k * 0x1p-20f;
    one[k] = k / N == k % N ? 1.0f : 0.0f;
  }
  joist_program_init(&program);
  const joist_value_id operands[2] = {add_input(&program, JOIST_F32, 2, extents),
                                      add_input(&program, JOIST_F32, 2, extents)};
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_MATMUL, operands, 2, &no_attributes, &result));
  add_output(&program, result);
  CHECK_INT(run_there(&program, (void *[]){x, one}, (void *[]){out}, &error), JOIST_OK);
  CHECK(memcmp(x, out, sizeof x) == 0);
  joist_program_clear(&program);
}

static bool has_blas(joist_dtype dtype) {
  return dtype == JOIST_F16 || dtype == JOIST_BF16 || dtype == JOIST_F32 || dtype == JOIST_F64 ||
         dtype == JOIST_C64 || dtype == JOIST_C128;
}

static void test_products(void) {
  for (int blas = 0; blas < 2; blas++) {
    joist_cuda_blas_use(blas != 0);
    for (size_t c = 0; c < sizeof product_cases / sizeof *product_cases; c++)
      for (int d = 0; d < JOIST_WORD_COUNT; d++)
        for (int flags = 0; flags < 4 && (blas == 0 || has_blas((joist_dtype)d)); flags++)
          check_product((joist_dtype)d, (joist_dtype)d, &product_cases[c], flags);
    check_product(JOIST_I32, JOIST_F64, &product_cases[3], 1);
    check_product(JOIST_BOOL, JOIST_F16, &product_cases[3], 2);
    check_product(JOIST_F32, JOIST_C64, &product_cases[11], 0);
    check_precision();
  }
}

#ifndef JOIST_TEST_GPU

/* Which products go to cuBLAS, and what its failures are. */
static void test_blas(void) {
  const uint32_t extents[] = {3, 3};
  static const struct {
    int status;
    joist_error_code code;
  } failures[] = {{13, JOIST_E_CUBLAS_FAILED}, {3, JOIST_E_GPU_MEMORY}};
  for (int d = 0; d < JOIST_WORD_COUNT; d++) {
    const bool has = has_blas((joist_dtype)d);
    const long calls = host_blas.calls, launches = host_runtime.launches;
    check_product((joist_dtype)d, (joist_dtype)d, &product_cases[1], 0);
    CHECK_INT(host_blas.calls - calls, has ? 1 : 0);
    CHECK_INT(host_runtime.launches - launches, has ? 0 : 1);
  }
  struct joist_program program;
  double x[9] = {0}, y[9];
  joist_value_id result = 0;
  joist_program_init(&program);
  const joist_value_id a = add_input(&program, JOIST_F64, 2, extents);
  CHECK(add(&program, joist_rules_at(0), JOIST_OP_MATMUL, (joist_value_id[]){a, a}, 2,
            &no_attributes, &result));
  add_output(&program, result);
  for (size_t k = 0; k < sizeof failures / sizeof *failures; k++) {
    struct joist_error error = {0};
    host_blas.next = failures[k].status;
    CHECK_ERROR(run_there(&program, (void *[]){x}, (void *[]){y}, &error), error, failures[k].code);
    if (k == 0) CHECK_STR(error.name[0], "execution failed");
    CHECK_STR(error.name[k == 0 ? 1 : 0], "multiplying matrices");
    CHECK_INT(run_there(&program, (void *[]){x}, (void *[]){y}, &error), JOIST_OK);
  }
  /* Opening cuBLAS: 1 is what it says for want of memory, too. What was made goes again. */
  struct joist_cuda_state *state = NULL;
  struct joist_error error = {0};
  CHECK_INT(joist_cuda_open(0, &state, &error), JOIST_OK);
  void *const open = state->blas;
  const long handles = host_blas.handles;
  for (int k = 0; k < 3; k++) {
    state->blas = NULL;
    host_blas.create = k == 0 ? 1 : k == 1 ? 13 : 0;
    host_blas.mode = k == 2 ? 1 : 0;
    CHECK_ERROR(run_there(&program, (void *[]){x}, (void *[]){y}, &error), error,
                k == 0 ? JOIST_E_CUBLAS_OPENING : JOIST_E_CUBLAS_FAILED);
    CHECK(state->blas == NULL);
    CHECK_INT(host_blas.handles, handles);
  }
  state->blas = open;
  joist_program_clear(&program);
  /* GPUs before 8.0 have no products of bf16. */
  const int architecture = state->architecture;
  for (int k = 0; k < 2; k++) {
    const long before = host_blas.calls;
    state->architecture = k == 0 ? 75 : architecture;
    check_product(JOIST_BF16, JOIST_BF16, &product_cases[1], 0);
    CHECK_INT(host_blas.calls - before, k);
  }
  /* A call takes 65535 products. */
  const long calls = host_blas.calls;
  check_product(JOIST_F32, JOIST_F32, &(struct product_case){2, 1, 1, 2, 1, {40000, 2}, {40000}},
                0);
  CHECK_INT(host_blas.calls - calls, 2);
  check_product(JOIST_F32, JOIST_F32, &(struct product_case){1, 2, 1, 1, 1, {70000}, {70000}}, 1);
  CHECK_INT(host_blas.calls - calls, 4);
}

#endif

#endif
