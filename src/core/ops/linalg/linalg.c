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

/* positions (m), then factors of m x k and k x n. */
joist_status joist_lu_shape(const struct joist_shape *const *shapes,
                            const struct joist_attributes *attributes, struct joist_shape *results,
                            struct joist_error *error) {
  const joist_status status = joist_qr_shape(shapes, attributes, results + 1, error);
  if (status == JOIST_OK) results[0] = part_shape(shapes[0], 1, shapes[0]->extent[0], 0);
  return status;
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

joist_status joist_singular_values_shape(const struct joist_shape *const *shapes,
                                         const struct joist_attributes *attributes,
                                         struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  const joist_status status = joist_batch_shape(shapes[0], NULL, result, error);
  const uint32_t m = shapes[0]->extent[0], n = shapes[0]->extent[1];
  if (status == JOIST_OK) *result = part_shape(shapes[0], 1, m < n ? m : n, 0);
  return status;
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

joist_status joist_eig_shape(const struct joist_shape *const *shapes,
                             const struct joist_attributes *attributes, struct joist_shape *results,
                             struct joist_error *error) {
  return joist_eigh_shape(shapes, attributes, results, error);
}

joist_status joist_eigvals_shape(const struct joist_shape *const *shapes,
                                 const struct joist_attributes *attributes,
                                 struct joist_shape *result, struct joist_error *error) {
  (void)attributes;
  const joist_status status = square_shape(shapes[0], result, error);
  if (status == JOIST_OK) *result = part_shape(shapes[0], 1, shapes[0]->extent[0], 0);
  return status;
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
  const size_t count = ((size_t)problem->m * (size_t)problem->n) << problem->pairs;
  size_t at = 0;
  while (at < count && problem->a[at] - problem->a[at] == 0) at++;
  if (at == count) return JOIST_OK;
  const size_t element = at >> problem->pairs;
  return JOIST_FAIL(error, JOIST_E_MATRIX_NOT_FINITE, .number = {problem->a[at]},
                    .count = {element % (size_t)problem->m + 1, element / (size_t)problem->m + 1},
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
  joist_dtype dtype, wide; /* `wide` is f64 or c128 */
  size_t count, doubles;   /* of one matrix: elements, and doubles of `wide` */
};

static struct stack stack_of(const struct joist_shape *shape, joist_dtype dtype, int matrix_dims) {
  const bool pairs = joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX;
  const size_t count = leading_count(shape, matrix_dims);
  return (struct stack){shape, dtype, pairs ? JOIST_C128 : JOIST_F64, count, count << pairs};
}

static void load(const struct stack *stack, const void *elements, size_t index, double *to) {
  const char *const from =
      (const char *)elements + index * stack->count * joist_dtype_size(stack->dtype);
  joist_convert_find(stack->dtype, stack->wide)(stack->count, from, to);
}

static void store(const struct stack *stack, const double *from, size_t index, void *elements) {
  char *const to = (char *)elements + index * stack->count * joist_dtype_size(stack->dtype);
  joist_convert_find(stack->wide, stack->dtype)(stack->count, from, to);
}

/* Matrices of a batch, which is the dims of `shape` from `first` on. */
static size_t batch_count(const struct joist_shape *shape, int first) {
  size_t count = 1;
  for (int d = first; d < shape->rank; d++) count *= shape->extent[d];
  return count;
}

/* A call, and the matrices of its operands and results. */
struct batch {
  const struct joist_call *call;
  const struct joist_shape *shape; /* of the first result, of which `dims` belong to a matrix */
  int dims;
  size_t matrices, doubles; /* how many, and doubles for the operands and results of one */
  struct stack in[2], out[JOIST_RESULTS_MAX];
  joist_small_solver *small;
  unsigned char *solved; /* by `small` */
};

static struct joist_problem problem_in(const struct batch *b, double *memory) {
  const struct joist_instruction *const i = b->call->instruction;
  const bool two = i->operand_count == 2;
  const struct joist_shape *const a = b->in[0].shape;
  return (struct joist_problem){.attributes = i->attributes,
                                .m = (int)a->extent[0],
                                .n = (int)a->extent[1],
                                .columns = two ? (int)b->in[1].shape->extent[1] : 0,
                                .pairs = b->in[0].wide == JOIST_C128,
                                .a = memory,
                                .b = two ? memory + b->in[0].doubles : NULL,
                                .out = memory + b->in[0].doubles + b->in[1].doubles};
}

static void load_matrix(const struct batch *b, const struct joist_problem *problem, size_t j) {
  double *const to[] = {problem->a, problem->b};
  for (uint32_t k = 0; k < b->call->instruction->operand_count; k++) {
    const struct stack *const in = &b->in[k];
    load(in, b->call->in[k], joist_batch_index(in->shape, b->shape, b->dims, j), to[k]);
  }
}

static void store_results(const struct batch *b, const double *from, size_t j) {
  for (uint32_t r = 0; r < b->call->instruction->result_count; r++) {
    store(&b->out[r], from, j, b->call->out[r]);
    from += b->out[r].doubles;
  }
}

/* ---- small matrices, on all threads ---- */

enum { SMALL_IN_TASK = 64 };

/* The largest number of doubles of a small problem, with a right side as large as the matrix. */
enum { SMALL_DOUBLES = 3 * JOIST_SMALL * JOIST_SMALL };

static void run_small(const void *context, size_t task, size_t worker) {
  (void)worker;
  const struct batch *const b = context;
  const size_t from = task * SMALL_IN_TASK;
  const size_t to = from + SMALL_IN_TASK < b->matrices ? from + SMALL_IN_TASK : b->matrices;
  double memory[SMALL_DOUBLES];
  const struct joist_problem problem = problem_in(b, memory);
  for (size_t j = from; j < to; j++) {
    load_matrix(b, &problem, j);
    b->solved[j] = b->small(&problem);
    if (b->solved[j]) store_results(b, problem.out, j);
  }
}

static joist_status run_all_small(struct batch *b, struct joist_error *error) {
  const size_t n = b->in[0].shape->extent[0];
  if (b->small == NULL || b->in[0].wide == JOIST_C128 || n > JOIST_SMALL ||
      b->doubles > SMALL_DOUBLES)
    return JOIST_OK;
  b->solved = calloc(b->matrices, 1);
  if (b->solved == NULL) return joist_no_memory(error);
  return joist_tasks_run(b->call->run, (b->matrices + SMALL_IN_TASK - 1) / SMALL_IN_TASK,
                         SMALL_IN_TASK * n * n * (n + 8), run_small, b, error);
}

/* ---- others, one after the other ---- */

static joist_status run_each(const struct batch *b, joist_solver *solver,
                             struct joist_error *error) {
  double *const scratch = joist_scratch(b->doubles, 0, NULL);
  if (scratch == NULL) return joist_no_memory(error);
  struct joist_problem problem = problem_in(b, scratch);
  const int before = joist_blas_enter(b->call->run->threads);
  joist_status status = JOIST_OK;
  for (size_t j = 0; j < b->matrices && status == JOIST_OK; j++) {
    if (b->solved != NULL && b->solved[j]) continue;
    if (j > 0) status = joist_run_poll(b->call->run, error);
    if (status != JOIST_OK) break;
    if (b->matrices > 1) problem.batch = j + 1;
    load_matrix(b, &problem, j);
    status = solver(&problem, error);
    if (status == JOIST_OK) store_results(b, problem.out, j);
  }
  joist_blas_leave(before);
  free(scratch);
  return status;
}

/* `dims` of the first result belong to one matrix, the others to the batch. */
static joist_status run(const struct joist_call *call, int dims, joist_solver *solver,
                        joist_small_solver *small, struct joist_error *error) {
  const struct joist_instruction *const i = call->instruction;
  const struct joist_shape *const shape = &call->result[0].shape;
  struct batch b = {.call = call, .shape = shape, .dims = dims, .small = small};
  size_t results = 0;
  for (uint32_t k = 0; k < i->operand_count; k++) {
    b.in[k] = stack_of(&call->operand[k]->shape, i->signature.operand[k], 2);
    b.doubles += b.in[k].doubles;
  }
  for (uint32_t r = 0; r < i->result_count; r++) {
    const struct joist_value *const result = &call->result[r];
    b.out[r] =
        stack_of(&result->shape, result->type.dtype, result->shape.rank - shape->rank + dims);
    b.doubles += b.out[r].doubles;
    results += b.out[r].count;
  }
  b.matrices = batch_count(shape, dims);
  if (joist_lapack.potrf[0] == NULL)
    return JOIST_FAIL(error, JOIST_E_NO_LAPACK, .op = joist_op_name(i->op));
  if (b.matrices * results == 0) return JOIST_OK;
  joist_status status = run_all_small(&b, error);
  if (status == JOIST_OK) status = run_each(&b, solver, error);
  free(b.solved);
  return status;
}

#define RUN(NAME, DIMS, SOLVER, SMALL)                                                        \
  joist_status joist_##NAME##_run(const struct joist_call *call, struct joist_error *error) { \
    return run(call, DIMS, SOLVER, SMALL, error);                                             \
  }
RUN(chol, 2, joist_solve_chol, NULL)
RUN(inverse, 2, joist_solve_linear, joist_small_linear)
RUN(solve, 2, joist_solve_linear, joist_small_linear)
RUN(triangular_solve, 2, joist_solve_triangular, NULL)
RUN(det, 0, joist_solve_det, joist_small_det)
RUN(determinant, 0, joist_solve_determinant, NULL)
RUN(lu, 1, joist_solve_lu, NULL)
RUN(qr, 2, joist_solve_qr, NULL)
RUN(svd, 1, joist_solve_svd, NULL)
RUN(singular_values, 1, joist_solve_singular_values, NULL)
RUN(eigh, 1, joist_solve_eigh, NULL)
RUN(eig, 1, joist_solve_eig, NULL)
RUN(eigvals, 1, joist_solve_eigvals, NULL)
