/* Operations of linear algebra: shapes of their results, and the loop over a batch. */
#include "core/ops/linalg/linalg.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/ops/linalg/blas.h"
#include "core/ops/linalg/matrix_batch.h"
#include "core/types/convert.h"
#include "core/types/error.h"

/* ---- shapes ---- */

static joist_status check_square(const struct joist_shape *shape, struct joist_error *error) {
  if (shape->extent[0] == shape->extent[1]) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_NOT_SQUARE, .shape = {*shape});
}

/* Results as large as the matrix. */
static joist_status square_shape(const struct joist_shape *shape, struct joist_shape *result,
                                 struct joist_error *error) {
  joist_status status = joist_batch_shape(shape, NULL, result, error);
  if (status == JOIST_OK) status = check_square(shape, error);
  *result = *shape;
  return status;
}

/* A result of `rank` dims, rows x columns at most, for every matrix of the batch of `shape`. */
static struct joist_shape part_shape(const struct joist_shape *shape, int rank, uint32_t rows,
                                     uint32_t columns) {
  struct joist_shape part = {.rank = rank + shape->rank - 2, .extent = {rows}};
  if (rank == 2) part.extent[1] = columns;
  for (int d = 2; d < shape->rank; d++) part.extent[rank + d - 2] = shape->extent[d];
  return part;
}

/* LAPACK counts elements in 32 bits. */
static joist_status check_size(const struct joist_shape *shape, uint64_t count,
                               struct joist_error *error) {
  if (count <= INT32_MAX) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_MATRIX_SIZE, .shape = {*shape});
}

joist_status joist_chol_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes, struct joist_shape *result,
                              struct joist_error *error) {
  (void)attributes;
  return square_shape(shapes[0], result, error);
}

joist_status joist_inverse_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  return square_shape(shapes[0], result, error);
}

joist_status joist_solve_shape(const struct joist_shape *const *shapes,
                               const struct joist_attributes *attributes,
                               struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  joist_status status = joist_batch_shape(shapes[0], shapes[1], result, error);
  if (status == JOIST_OK) status = check_square(shapes[0], error);
  if (status != JOIST_OK) return status;
  if (shapes[0]->extent[0] != shapes[1]->extent[0])
    return JOIST_FAIL(error, JOIST_E_SOLVE_SHAPES, .shape = {*shapes[0], *shapes[1]},
                      .count = {shapes[1]->extent[0], shapes[0]->extent[0]});
  result->extent[0] = shapes[1]->extent[0];
  result->extent[1] = shapes[1]->extent[1];
  return JOIST_OK;
}

joist_status joist_triangular_solve_shape(const struct joist_shape *const *shapes,
                                          const struct joist_attributes *attributes,
                                          struct joist_shape *result, struct joist_error *error) {
  return joist_solve_shape(shapes, attributes, result, error);
}

joist_status joist_det_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *result,
                             struct joist_error *error) {
  (void)attributes;
  const joist_status status = square_shape(shapes[0], result, error);
  if (status == JOIST_OK) *result = part_shape(shapes[0], 0, 0, 0);
  return status;
}

joist_status joist_determinant_shape(const struct joist_shape *const *shapes,
                                     const struct joist_attributes *attributes,
                                     struct joist_shape *results, struct joist_error *error) {
  const joist_status status = joist_det_shape(shapes, attributes, results, error);
  results[1] = results[0];
  return status;
}

joist_status joist_qr_shape(const struct joist_shape *const *shapes,
                            const struct joist_attributes *attributes, struct joist_shape *results,
                            struct joist_error *error) {
  (void)attributes;
  const joist_status status = joist_batch_shape(shapes[0], NULL, results, error);
  if (status != JOIST_OK) return status;
  const uint32_t m = shapes[0]->extent[0], n = shapes[0]->extent[1], k = m < n ? m : n;
  results[0] = part_shape(shapes[0], 2, m, k);
  results[1] = part_shape(shapes[0], 2, k, n);
  return check_size(shapes[0], (uint64_t)k * ((uint64_t)m + n), error);
}

joist_status joist_svd_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *results,
                             struct joist_error *error) {
  (void)attributes;
  const joist_status status = joist_batch_shape(shapes[0], NULL, results, error);
  if (status != JOIST_OK) return status;
  const uint32_t m = shapes[0]->extent[0], n = shapes[0]->extent[1], k = m < n ? m : n;
  results[0] = part_shape(shapes[0], 1, k, 0);
  results[1] = part_shape(shapes[0], 2, m, k);
  results[2] = part_shape(shapes[0], 2, n, k);
  return check_size(shapes[0], (uint64_t)k * (1 + (uint64_t)m + n), error);
}

joist_status joist_eigh_shape(const struct joist_shape *const *shapes,
                              const struct joist_attributes *attributes,
                              struct joist_shape *results, struct joist_error *error) {
  (void)attributes;
  const joist_status status = square_shape(shapes[0], results, error);
  if (status != JOIST_OK) return status;
  const uint32_t n = shapes[0]->extent[0];
  results[0] = part_shape(shapes[0], 1, n, 0);
  results[1] = part_shape(shapes[0], 2, n, n);
  return check_size(shapes[0], (uint64_t)n * ((uint64_t)n + 1), error);
}

/* ---- one matrix after the other ---- */

double *joist_scratch(size_t doubles, size_t integers, int **first_integer) {
  double *const scratch = malloc(doubles * sizeof(double) + integers * sizeof(int) + 1);
  if (first_integer != NULL)
    *first_integer = scratch == NULL ? NULL : (int *)(void *)(scratch + doubles);
  return scratch;
}

joist_status joist_no_memory(struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_OUT_OF_MEMORY);
}

joist_status joist_check_finite(const struct joist_problem *problem, struct joist_error *error) {
  const size_t count = (size_t)problem->m * (size_t)problem->n;
  size_t at = 0;
  while (at < count && problem->a[at] - problem->a[at] == 0) at++;
  if (at == count) return JOIST_OK;
  return JOIST_FAIL(error, JOIST_E_MATRIX_NOT_FINITE, .number = {problem->a[at]},
                    .count = {at % (size_t)problem->m + 1, at / (size_t)problem->m + 1},
                    .batch = problem->batch);
}

/* The elements of the first `dims` dims. */
static size_t leading_count(const struct joist_shape *shape, int dims) {
  size_t count = 1;
  for (int d = 0; d < dims; d++) count *= shape->extent[d];
  return count;
}

/* What the loop over a batch needs to know of one operand or the result. */
struct stack {
  const struct joist_shape *shape;
  joist_dtype dtype;
  size_t count; /* elements of one matrix */
};

static struct stack stack_of(const struct joist_shape *shape, joist_dtype dtype, int matrix_dims) {
  return (struct stack){shape, dtype, leading_count(shape, matrix_dims)};
}

static void load(const struct stack *stack, const void *elements, size_t index, double *to) {
  const char *const from =
      (const char *)elements + index * stack->count * joist_dtype_size(stack->dtype);
  joist_convert_find(stack->dtype, JOIST_F64)(stack->count, from, to);
}

static void store(const struct stack *stack, const double *from, size_t index, void *elements) {
  char *const to = (char *)elements + index * stack->count * joist_dtype_size(stack->dtype);
  joist_convert_find(JOIST_F64, stack->dtype)(stack->count, from, to);
}

/* Matrices of a batch, which is the dims of `shape` from `first` on. */
static size_t batch_count(const struct joist_shape *shape, int first) {
  size_t count = 1;
  for (int d = first; d < shape->rank; d++) count *= shape->extent[d];
  return count;
}

/* `matrix_dims` of the first result belong to one matrix, the others to the batch. */
static joist_status run(const struct joist_call *call, int matrix_dims, joist_solver *solver,
                        struct joist_error *error) {
  const struct joist_instruction *const i = call->instruction;
  const bool two = i->operand_count == 2;
  const struct joist_shape *const batch = &call->result[0].shape;
  const struct stack a = stack_of(&call->operand[0]->shape, i->signature.operand[0], 2);
  const struct stack b = two ? stack_of(&call->operand[1]->shape, i->signature.operand[1], 2)
                             : (struct stack){NULL, JOIST_F64, 0};
  const size_t matrices = batch_count(batch, matrix_dims), batch_rank = (size_t)batch->rank;
  struct stack out[JOIST_RESULTS_MAX];
  size_t count = 0;
  for (uint32_t r = 0; r < i->result_count; r++) {
    const struct joist_value *const result = &call->result[r];
    const int own = result->shape.rank - (int)batch_rank + matrix_dims;
    out[r] = stack_of(&result->shape, result->type.dtype, own);
    count += out[r].count;
  }
  if (joist_lapack.potrf == NULL)
    return JOIST_FAIL(error, JOIST_E_NO_LAPACK, .op = joist_op_name(i->op));
  if (matrices * count == 0) return JOIST_OK;
  double *const scratch = joist_scratch(a.count + b.count + count, 0, NULL);
  if (scratch == NULL) return joist_no_memory(error);
  struct joist_problem problem = {.attributes = i->attributes,
                                  .m = (int)a.shape->extent[0],
                                  .n = (int)a.shape->extent[1],
                                  .columns = two ? (int)b.shape->extent[1] : 0,
                                  .a = scratch,
                                  .b = two ? scratch + a.count : NULL,
                                  .out = scratch + a.count + b.count};
  const int before = joist_blas_enter(call->run->threads);
  joist_status status = JOIST_OK;
  for (size_t j = 0; j < matrices && status == JOIST_OK; j++) {
    if (j > 0) status = joist_run_poll(call->run, error);
    if (status != JOIST_OK) break;
    if (matrices > 1) problem.batch = j + 1;
    load(&a, call->in[0], joist_batch_index(a.shape, batch, matrix_dims, j), problem.a);
    if (two) load(&b, call->in[1], joist_batch_index(b.shape, batch, matrix_dims, j), problem.b);
    status = solver(&problem, error);
    const double *part = problem.out;
    for (uint32_t r = 0; r < i->result_count && status == JOIST_OK; r++) {
      store(&out[r], part, j, call->out[r]);
      part += out[r].count;
    }
  }
  joist_blas_leave(before);
  free(scratch);
  return status;
}

joist_status joist_chol_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 2, joist_solve_chol, error);
}

joist_status joist_inverse_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 2, joist_solve_linear, error);
}

joist_status joist_solve_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 2, joist_solve_linear, error);
}

joist_status joist_triangular_solve_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 2, joist_solve_triangular, error);
}

joist_status joist_det_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 0, joist_solve_det, error);
}

joist_status joist_determinant_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 0, joist_solve_determinant, error);
}

joist_status joist_qr_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 2, joist_solve_qr, error);
}

joist_status joist_svd_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 1, joist_solve_svd, error);
}

joist_status joist_eigh_run(const struct joist_call *call, struct joist_error *error) {
  return run(call, 1, joist_solve_eigh, error);
}
