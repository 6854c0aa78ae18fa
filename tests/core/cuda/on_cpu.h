/* on_cpu.h: operations without a kernel give the CPU's results and errors, and the device says
 * which they are. Included by test_cuda.c. */
#ifndef JOIST_TESTS_CUDA_ON_CPU_H
#define JOIST_TESTS_CUDA_ON_CPU_H

#include "core/ops/linalg/blas.h"
#include "random_draws.h"

/* Operand 0 counts from 0, operand 1 goes through 1 to 5. */
static const struct on_cpu {
  joist_op op;
  joist_dtype dtypes[2];
  struct joist_shape shapes[2];
} on_cpu[] = {
    {JOIST_OP_SORT, {JOIST_F32}, {{2, {8, 6}}}},
    {JOIST_OP_ARGSORT, {JOIST_I64}, {{2, {8, 6}}}},
    {JOIST_OP_TOP_K, {JOIST_BF16}, {{2, {8, 6}}}},
    {JOIST_OP_TAKE_ALONG, {JOIST_C128, JOIST_I32}, {{2, {8, 6}}, {2, {3, 6}}}},
    {JOIST_OP_MATCH, {JOIST_I16, JOIST_F64}, {{2, {8, 6}}, {1, {10}}}},
    {JOIST_OP_SEARCHSORTED, {JOIST_F32, JOIST_UI8}, {{1, {9}}, {2, {8, 6}}}},
    {JOIST_OP_TABULATE, {JOIST_I32}, {{1, {48}}}},
    {JOIST_OP_CHOL, {JOIST_F64}, {{2, {5, 5}}}},
    {JOIST_OP_DETERMINANT, {JOIST_F64}, {{3, {4, 4, 2}}}},
    {JOIST_OP_SVD, {JOIST_F32}, {{3, {6, 4, 2}}}},
};

static bool needs_lapack(joist_op op) {
  return op == JOIST_OP_CHOL || op == JOIST_OP_DETERMINANT || op == JOIST_OP_SVD;
}

/* What stands for a LAPACK gives numbers that tell matrices and results apart, no more. */
static void stub_potrf(const char *uplo, const int *n, void *a, const int *lda, int *info,
                       size_t length) {
  (void)uplo, (void)n, (void)a, (void)lda, (void)length;
  *info = 0;
}
static void stub_getrf(const int *m, const int *n, void *of, const int *lda, int *pivots,
                       int *info) {
  double *const a = of;
  (void)m, (void)lda;
  for (int k = 0; k < *n; k++) a[k * (*n + 1)] += pivots[k] = k + 1;
  *info = 0;
}
static void stub_gesdd(const char *job, const int *m, const int *n, double *a, const int *lda,
                       double *s, double *u, const int *ldu, double *vt, const int *ldvt,
                       double *work, const int *work_size, int *integers, int *info,
                       size_t length) {
  const int k = *m < *n ? *m : *n;
  (void)job, (void)lda, (void)ldu, (void)ldvt, (void)integers, (void)length;
  *info = 0;
  *work = 1;
  if (*work_size < 0) return;
  for (int i = 0; i < k; i++) s[i] = a[0] + i;
  for (int i = 0; i < *m * k; i++) u[i] = a[1] + 100 + i;
  for (int i = 0; i < k * *n; i++) vt[i] = a[2] + 200 + i;
}

static void *new_numbers(joist_dtype dtype, size_t n, bool counted) {
  const size_t size = joist_dtype_size(dtype);
  char *const elements = malloc(n * size + 1);
  for (size_t k = 0; elements != NULL && k < n; k++) {
    const double number = (double)(counted ? k : k % 5 + 1);
    joist_convert_find_portable(JOIST_F64, dtype)(1, &number, elements + k * size);
  }
  return elements;
}

/* Those of these attributes that the operation has. */
static struct joist_attributes attributes_for(joist_op op) {
  static const joist_attribute_name names[] = {JOIST_ATTRIBUTE_DIM, JOIST_ATTRIBUTE_K,
                                               JOIST_ATTRIBUTE_DECREASING};
  static const int64_t values[] = {0, 3, 1};
  const uint32_t has = joist_operation(op)->attributes;
  struct joist_attributes attributes = no_attributes;
  for (int k = 0; k < 3; k++)
    if (has >> names[k] & 1) attributes = with(attributes, names[k], values[k]);
  if (has >> JOIST_ATTRIBUTE_SHAPE & 1)
    attributes = with_shape(attributes, &(struct joist_shape){1, {20}});
  if (has >> JOIST_ATTRIBUTE_DTYPE & 1)
    attributes = with_type(attributes, (struct joist_type){JOIST_I64, false});
  return attributes;
}

/* With the results from `first` on as outputs. */
static void check_fallback(const struct on_cpu *c, uint32_t first, bool fine) {
  struct joist_program program;
  joist_value_id operands[2], result = 0;
  void *inputs[2] = {NULL};
  const struct joist_attributes attributes = attributes_for(c->op);
  const size_t count = joist_operation(c->op)->least;
  joist_program_init(&program);
  for (size_t k = 0; k < count; k++) {
    operands[k] = add_input(&program, c->dtypes[k], c->shapes[k].rank, c->shapes[k].extent);
    inputs[k] = new_numbers(c->dtypes[k], count_of(&program, operands[k]), k == 0);
  }
  CHECK(add(&program, joist_rules_at(0), c->op, operands, count, &attributes, &result));
  for (uint32_t k = first; k < joist_operation(c->op)->results; k++)
    add_output(&program, result + k);
  const long before = launches_so_far();
  CHECK_INT(check_alike(&program, inputs, joist_op_name(c->op)), fine);
  check_launches(before, 0, 0, joist_op_name(c->op));
  for (size_t k = 0; k < count; k++) free(inputs[k]);
  joist_program_clear(&program);
}

static void test_on_cpu(void) {
  static const joist_op kernels[] = {JOIST_OP_ADD,     JOIST_OP_CONVERT, JOIST_OP_REDUCE_MEAN,
                                     JOIST_OP_RESHAPE, JOIST_OP_IOTA,    JOIST_OP_CUMSUM,
                                     JOIST_OP_RUNIF,   JOIST_OP_MATMUL,  JOIST_OP_ARGMAX};
  const struct joist_device *const cpu = joist_device_find("cpu");
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) CHECK(gpu->runs(gpu, kernels[k]));
  for (size_t k = 0; k < sizeof on_cpu / sizeof *on_cpu; k++) {
    CHECK(cpu->runs(cpu, on_cpu[k].op) && !gpu->runs(gpu, on_cpu[k].op));
    if (needs_lapack(on_cpu[k].op)) check_fallback(&on_cpu[k], 0, false);
    joist_lapack =
        (struct joist_lapack){.potrf = {stub_potrf}, .getrf = {stub_getrf}, .gesdd = stub_gesdd};
    for (uint32_t first = 0; first < joist_operation(on_cpu[k].op)->results; first++)
      check_fallback(&on_cpu[k], first, true);
    joist_lapack = (struct joist_lapack){.gesdd = NULL};
  }
}

#endif
