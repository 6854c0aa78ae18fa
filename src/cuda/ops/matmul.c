/* Matrix products on a device: by cuBLAS where it has the dtype, else by joist's kernel. */
#include "core/ops/move/walk.h"
#include "cuda/host/blas.h"
#include "cuda/ops/operations.h"

static const struct joist_shape *shape_of(const struct running *r, joist_value_id value) {
  return &r->plan->program->values[value].shape;
}

/* Dim d of an operand's batch, 1 where it has none. */
static uint64_t batch_extent(const struct joist_shape *shape, int d) {
  return d < shape->rank ? shape->extent[d] : 1;
}

/* Which matrices of the operands are multiplied; repeated ones have strides of 0. */
static void place_batch(const struct joist_shape *lhs, const struct joist_shape *rhs,
                        const struct joist_shape *result, struct joist_cuda_matmul *matmul) {
  int64_t strides[2] = {1, 1};
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  for (int d = 2; d < result->rank; d++) {
    const uint64_t left = batch_extent(lhs, d), right = batch_extent(rhs, d);
    joist_walk_add(&walk, result->extent[d], left == 1 ? 0 : strides[0],
                   right == 1 ? 0 : strides[1], NULL);
    strides[0] *= (int64_t)left;
    strides[1] *= (int64_t)right;
  }
  matmul->count = walk.count;
  matmul->rank = (uint32_t)walk.rank;
  for (int d = 0; d < walk.rank; d++) {
    matmul->extent[d] = walk.extent[d];
    matmul->lhs_stride[d] = (uint64_t)walk.in_stride[d];
    matmul->rhs_stride[d] = (uint64_t)walk.out_stride[d];
  }
}

static joist_status multiply(const struct running *r, joist_dtype dtype,
                             const struct joist_cuda_matmul *matmul, struct joist_error *error) {
  if (joist_cuda_blas_fits(r->state, dtype, matmul))
    return joist_cuda_blas_multiply(r->state, dtype, matmul, error);
  return joist_cuda_check(
      (cudaError_t)joist_cuda_start_matmul((uint32_t)dtype, matmul, r->state->stream),
      "starting a kernel", error);
}

/* Not if a dtype was asked for: the operands may have another one. */
bool joist_cuda_can_multiply(const struct running *r, const struct joist_instruction *i) {
  (void)r;
  return joist_attribute_type(i->attributes).dtype == JOIST_DTYPE_NONE;
}

joist_status joist_cuda_multiply(const struct running *r, const struct joist_instruction *i,
                                 struct joist_error *error) {
  const struct joist_shape *const lhs = shape_of(r, i->operand[0]);
  const struct joist_shape *const rhs = shape_of(r, i->operand[1]);
  const struct joist_shape *const result = shape_of(r, i->result);
  const bool lhs_transposed = joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS);
  const bool rhs_transposed = joist_attribute_flag(i->attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  struct joist_cuda_matmul matmul = {.m = result->extent[0],
                                     .n = result->extent[1],
                                     .k = lhs->extent[lhs_transposed ? 0 : 1],
                                     .out = r->arrays[i->result],
                                     .lhs_transposed = lhs_transposed,
                                     .rhs_transposed = rhs_transposed};
  void *made[2] = {NULL, NULL};
  if (count_of(r->plan->program, i->result) == 0) return JOIST_OK;
  matmul.lhs_across = lhs_transposed ? matmul.k : 1;
  matmul.lhs_along = lhs_transposed ? 1 : matmul.m;
  matmul.rhs_across = rhs_transposed ? 1 : matmul.k;
  matmul.rhs_along = rhs_transposed ? matmul.n : 1;
  place_batch(lhs, rhs, result, &matmul);
  joist_status status =
      joist_cuda_convert(r, i->operand[0], i->signature.operand[0], &matmul.lhs, &made[0], error);
  if (status == JOIST_OK)
    status =
        joist_cuda_convert(r, i->operand[1], i->signature.operand[1], &matmul.rhs, &made[1], error);
  if (status == JOIST_OK)
    status = multiply(r, r->plan->program->values[i->result].type.dtype, &matmul, error);
  for (int k = 0; k < 2; k++) joist_cuda_free(r->device, made[k]);
  return status;
}
