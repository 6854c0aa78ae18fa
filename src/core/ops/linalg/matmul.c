/* Matrix products of arrays: the first two dims are matrices, the others a batch. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/ops/linalg/blas.h"
#include "core/ops/linalg/gemm.h"
#include "core/ops/linalg/matrix_batch.h"
#include "core/program/call.h"
#include "core/types/convert.h"
#include "core/types/error.h"

joist_status joist_matmul_shape(const struct joist_shape *const *shapes,
                                const struct joist_attributes *attributes,
                                struct joist_shape *result, struct joist_error *error) {
  const bool transposed[2] = {joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS),
                              joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS)};
  const joist_status status = joist_batch_shape(shapes[0], shapes[1], result, error);
  if (status != JOIST_OK) return status;
  const uint32_t left = shapes[0]->extent[transposed[0] ? 0 : 1];
  const uint32_t right = shapes[1]->extent[transposed[1] ? 1 : 0];
  if (left != right)
    return JOIST_FAIL(
        error, JOIST_E_MATMUL_SHAPES, .shape = {*shapes[0], *shapes[1]}, .count = {left, right},
        .name = {transposed[0] ? "rows" : "columns", transposed[1] ? "columns" : "rows"});
  result->extent[0] = shapes[0]->extent[transposed[0] ? 1 : 0];
  result->extent[1] = shapes[1]->extent[transposed[1] ? 0 : 1];
  return JOIST_OK;
}

/* The dtype whose kernel computes products of `dtype`; modulo 2^8 is modulo 2^16, narrowed. */
static joist_dtype product_dtype(joist_dtype dtype) {
  const bool byte =
      joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER && joist_dtype_size(dtype) == 1;
  return byte ? JOIST_I16 : joist_dtype_compute(dtype);
}

/* Where the matrices of an operand lie that the products of a batch read. */
static void locate(const struct joist_shape *operand, const struct joist_shape *result, size_t size,
                   const char *data, size_t count, const void **matrices) {
  const size_t matrix = (size_t)operand->extent[0] * operand->extent[1] * size;
  for (size_t j = 0; j < count; j++)
    matrices[j] = data + joist_batch_index(operand, result, 2, j) * matrix;
}

static bool fits_blas(const struct joist_gemm *p) {
  return p->lhs_dtype == p->dtype && p->rhs_dtype == p->dtype &&
         joist_blas.gemm[p->dtype] != NULL && p->m > 0 && p->n > 0 && p->k > 0 && p->m <= INT_MAX &&
         p->n <= INT_MAX && p->k <= INT_MAX;
}

static joist_status run_blas(const struct joist_gemm *p, const struct joist_run *run,
                             struct joist_error *error) {
  /* Real and complex, single and double: every dtype's 1 and 0 begin like one of these. */
  const float one_single[2] = {1, 0};
  const double one_double[2] = {1, 0}, zero[2] = {0, 0};
  const joist_dtype real = joist_dtype_real(p->dtype);
  const void *const one = real == JOIST_F32 ? (const void *)one_single : one_double;
  const int m = (int)p->m, n = (int)p->n, k = (int)p->k;
  const int lda = p->lhs_transposed ? k : m, ldb = p->rhs_transposed ? n : k;
  const size_t bytes = p->m * p->n * joist_dtype_size(p->dtype);
  const int before = joist_blas_enter(run->threads);
  joist_status status = JOIST_OK;
  for (size_t j = 0; j < p->count; j++) {
    if (j > 0) status = joist_run_poll(run, error);
    if (status != JOIST_OK) break;
    joist_blas.gemm[p->dtype](p->lhs_transposed ? "T" : "N", p->rhs_transposed ? "T" : "N", &m, &n,
                              &k, one, p->lhs[j], &lda, p->rhs[j], &ldb, zero,
                              (char *)p->result + j * bytes, &m, 1, 1);
  }
  joist_blas_leave(before);
  return status;
}

/* The elements of an operand in the dtype that products are computed in: elements of the call, or
 * converted ones in `*made`, which the caller frees. NULL if allocation fails. */
static const char *in_dtype(const struct joist_call *call, int k, joist_dtype dtype, void **made) {
  const joist_dtype own = call->instruction->signature.operand[k];
  if (own == dtype) return call->in[k];
  const size_t count = joist_value_count(call->operand[k]);
  *made = malloc(count * joist_dtype_size(dtype) + 1);
  if (*made != NULL) joist_convert_find(own, dtype)(count, call->in[k], *made);
  return *made;
}

joist_status joist_matmul_run(const struct joist_call *call, struct joist_error *error) {
  const struct joist_attributes *const attributes = joist_call_attributes(call);
  const bool transposed[2] = {joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS),
                              joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS)};
  const joist_dtype own = call->result->type.dtype, dtype = product_dtype(own);
  /* A dtype that is asked for is packed to; operands of others are converted first. */
  const bool asked = joist_attribute_type(attributes).dtype != JOIST_DTYPE_NONE;
  const joist_dtype *const given = call->instruction->signature.operand;
  const struct joist_shape *const shape = &call->result->shape;
  const size_t total = joist_value_count(call->result), size = joist_dtype_size(dtype);
  const size_t matrix = (size_t)shape->extent[0] * shape->extent[1];
  struct joist_gemm product = {.dtype = dtype,
                               .lhs_dtype = asked ? given[0] : dtype,
                               .rhs_dtype = asked ? given[1] : dtype,
                               .m = shape->extent[0],
                               .n = shape->extent[1],
                               .k = call->operand[0]->shape.extent[transposed[0] ? 0 : 1],
                               .count = total == 0 ? 0 : total / matrix,
                               .lhs_transposed = transposed[0],
                               .rhs_transposed = transposed[1],
                               .result = call->out[0]};
  if (total == 0) return JOIST_OK;
  void *made[3] = {NULL};
  const void **const matrices = malloc(2 * product.count * sizeof *matrices);
  bool memory = matrices != NULL;
  for (int k = 0; k < 2 && memory; k++) {
    const joist_dtype read = k == 0 ? product.lhs_dtype : product.rhs_dtype;
    const char *const data = in_dtype(call, k, read, &made[k]);
    memory = data != NULL;
    if (memory)
      locate(&call->operand[k]->shape, shape, joist_dtype_size(read), data, product.count,
             matrices + (size_t)k * product.count);
  }
  if (memory && own != dtype) memory = (product.result = made[2] = malloc(total * size)) != NULL;
  joist_status status = JOIST_OK;
  if (memory) {
    product.lhs = matrices;
    product.rhs = matrices + product.count;
    status = fits_blas(&product) ? run_blas(&product, call->run, error)
                                 : joist_gemm_run(&product, call->run, error);
  } else {
    status = JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
  }
  if (status == JOIST_OK && own != dtype)
    joist_convert_find(dtype, own)(total, product.result, call->out[0]);
  for (int k = 0; k < 3; k++) free(made[k]);
  free(matrices);
  return status;
}
