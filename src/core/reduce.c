/* Reductions over some of the dims.
 *
 * Neighbouring dims that are reduced together are one dim, so a pass sees
 * (inner, middle, outer) and reduces the middle. Runs of contiguous elements are
 * folded; otherwise rows are combined in a tree. What is combined in which order
 * depends on the shape alone. */
#include "core/plan.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  CHUNK = 4096, /* elements folded at once in a contiguous run */
  WIDTH = 512,  /* elements of a row combined at once */
  LEAF = 8,     /* rows combined one after the other below the tree */
  DEPTH = 36,   /* levels of the tree of rows, enough for 2^32 of them */
  BLOCK = 1 << 24
};

struct pass {
  joist_kernel *combine;
  joist_fold *fold;
  joist_convert_kernel *convert; /* NULL: the input has the accumulator's dtype */
  size_t in_size, size;          /* bytes per element of input and accumulator */
  size_t inner, middle, outer;
  const char *in;
  char *out;
};

size_t joist_reduction_length(const struct joist_program *program,
                              const struct joist_instruction *instruction) {
  const struct joist_shape *const shape = &program->values[instruction->operand[0]].shape;
  size_t length = 1;
  for (int d = 0; d < shape->rank; d++)
    if (instruction->dims >> d & 1) length *= shape->extent[d];
  return length;
}

void joist_reduction_finish(const struct joist_program *program,
                            const struct joist_instruction *instruction, size_t n,
                            void *accumulated, void *out) {
  const joist_dtype accumulator = instruction->signature.operand[0];
  if (instruction->op == JOIST_OP_REDUCE_MEAN) {
    const double length = (double)joist_reduction_length(program, instruction);
    if (accumulator == JOIST_C128)
      for (size_t k = 0; k < n; k++) ((joist_c128 *)accumulated)[k] /= length;
    else
      for (size_t k = 0; k < n; k++) ((double *)accumulated)[k] /= length;
  }
  joist_convert_find(accumulator, instruction->signature.result.dtype)(n, accumulated, out);
}

/* Elements of the input from `first` on, in the accumulator's dtype. */
static const char *load(const struct pass *pass, size_t first, size_t n, char *scratch) {
  const char *const in = pass->in + first * pass->in_size;
  if (pass->convert == NULL) return in;
  pass->convert(n, in, scratch);
  return scratch;
}

/* Rows first .. first + count - 1, `n` elements of each from `at` on, combined into `out`. */
static void combine_rows(const struct pass *pass, size_t at, size_t n, size_t count, char *out,
                         char *scratch) {
  char *const other = scratch;
  if (count <= LEAF) {
    const char *const row = load(pass, at, n, out);
    if (row != out) memcpy(out, row, n * pass->size);
    for (size_t k = 1; k < count; k++) {
      const void *operands[2] = {out, load(pass, at + k * pass->inner, n, other)};
      pass->combine(n, operands, out);
    }
    return;
  }
  const size_t half = count / 2;
  char *const deeper = scratch + WIDTH * pass->size;
  combine_rows(pass, at, n, half, out, scratch);
  combine_rows(pass, at + half * pass->inner, n, count - half, other, deeper);
  const void *operands[2] = {out, other};
  pass->combine(n, operands, out);
}

/* Task k of a pass: a chunk of a contiguous run (one partial result), or a piece of the
 * rows of one outer index. */
static void run_task(const struct pass *pass, size_t k, char *scratch, char *partial) {
  if (pass->inner == 1) {
    const size_t chunks = (pass->middle + CHUNK - 1) / CHUNK;
    const size_t first = k % chunks * CHUNK;
    const size_t n = pass->middle - first < CHUNK ? pass->middle - first : CHUNK;
    const char *const x = load(pass, k / chunks * pass->middle + first, n, scratch);
    pass->fold(n, x, partial + k * pass->size);
    return;
  }
  const size_t pieces = (pass->inner + WIDTH - 1) / WIDTH;
  const size_t first = k % pieces * WIDTH, outer = k / pieces;
  const size_t n = pass->inner - first < WIDTH ? pass->inner - first : WIDTH;
  combine_rows(pass, outer * pass->middle * pass->inner + first, n, pass->middle,
               pass->out + (outer * pass->inner + first) * pass->size, scratch);
}

/* Tasks begin .. begin + length - 1, shared among threads. */
static void run_tasks(const struct pass *pass, size_t begin, size_t length, char *scratch,
                      size_t stride, int threads, char *partial) {
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      char *const own = scratch + (size_t)omp_get_thread_num() * stride;
#pragma omp for schedule(dynamic, 1 + length / ((size_t)threads * 64)) nowait
      for (size_t k = begin; k < begin + length; k++) run_task(pass, k, own, partial);
    }
    return;
  }
#endif
  (void)stride;
  (void)threads;
  for (size_t k = begin; k < begin + length; k++) run_task(pass, k, scratch, partial);
}

static joist_status run_pass(const struct pass *pass, const struct joist_run *run,
                             struct joist_error *error) {
  const size_t chunks = (pass->middle + CHUNK - 1) / CHUNK;
  const size_t tasks =
      pass->inner == 1 ? pass->outer * chunks : pass->outer * ((pass->inner + WIDTH - 1) / WIDTH);
  const size_t each =
      pass->inner == 1 ? (pass->middle < CHUNK ? pass->middle : CHUNK) : pass->middle * WIDTH;
  int threads = run->threads;
  const size_t from = run->parallel_from > 0 ? run->parallel_from : JOIST_PARALLEL_FROM;
  if (pass->outer * pass->middle * pass->inner < from) threads = 1;
  if ((size_t)threads > tasks) threads = (int)tasks;
  const size_t stride = pass->inner == 1 ? CHUNK * pass->size : DEPTH * WIDTH * pass->size;
  /* With one chunk per run the partial results are the results. */
  const bool separate = pass->inner == 1 && chunks > 1;
  const size_t partial_bytes = separate ? tasks * pass->size : 0;
  char *const block = malloc(stride * (size_t)threads + partial_bytes);
  if (block == NULL)
    return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: scratch of a reduction");
  char *const partial = separate ? block + stride * (size_t)threads : pass->out;
  size_t step = BLOCK / (each == 0 ? 1 : each);
  if (step < (size_t)threads) step = (size_t)threads;
  joist_status status = JOIST_OK;
  for (size_t begin = 0; begin < tasks && status == JOIST_OK; begin += step) {
    const size_t length = tasks - begin < step ? tasks - begin : step;
    if (begin > 0 && run->poll != NULL && run->poll(run->context))
      status = joist_fail(error, JOIST_INTERRUPTED, "interrupted");
    if (status != JOIST_OK) break;
    run_tasks(pass, begin, length, block, stride, threads, partial);
  }
  if (status == JOIST_OK && separate)
    for (size_t o = 0; o < pass->outer; o++) {
      char *const run_of = partial + o * chunks * pass->size;
      pass->fold(chunks, run_of, pass->out + o * pass->size);
    }
  free(block);
  return status;
}

/* Merges neighbouring dims that are both reduced or both kept; extents of 1 vanish. */
static int merge_dims(const struct joist_shape *shape, uint32_t mask, size_t *extent,
                      bool *reduced) {
  int rank = 0;
  for (int d = 0; d < shape->rank; d++) {
    const bool r = (mask >> d & 1) != 0;
    if (shape->extent[d] == 1) continue;
    if (rank > 0 && reduced[rank - 1] == r) {
      extent[rank - 1] *= shape->extent[d];
    } else {
      extent[rank] = shape->extent[d];
      reduced[rank++] = r;
    }
  }
  return rank;
}

static joist_status reduce_nothing(const struct joist_instruction *instruction, size_t results,
                                   char *accumulated, struct joist_error *error) {
  const joist_dtype dtype = instruction->signature.operand[0];
  const size_t size = joist_dtype_size(dtype);
  for (size_t k = 0; k < results; k++)
    if (!joist_identity(joist_op_combine(instruction->op), dtype, accumulated + k * size))
      return joist_fail(error, JOIST_ERROR_VALUE, "nv_%s() of no elements has no value",
                        joist_op_name(instruction->op));
  return JOIST_OK;
}

joist_status joist_reduce_dims(const struct joist_program *program,
                               const struct joist_instruction *instruction, const void *in,
                               void *out, const struct joist_run *run, struct joist_error *error) {
  const struct joist_value *const operand = &program->values[instruction->operand[0]];
  const joist_dtype accumulator = instruction->signature.operand[0];
  const size_t size = joist_dtype_size(accumulator);
  size_t results = 0, elements = 0;
  (void)joist_shape_count(&program->values[instruction->result].shape, &results);
  (void)joist_shape_count(&operand->shape, &elements);
  if (results == 0) return JOIST_OK;

  size_t extent[JOIST_RANK_MAX];
  bool reduced[JOIST_RANK_MAX];
  int rank = merge_dims(&operand->shape, instruction->dims, extent, reduced);
  const char *current = in;
  joist_dtype from = operand->type.dtype;
  char *owned = NULL; /* the accumulated values of the last pass */
  joist_status status = JOIST_OK;
  for (int d = 0; elements > 0 && d < rank && status == JOIST_OK; d++) {
    if (!reduced[d]) continue;
    const joist_op combine = joist_op_combine(instruction->op);
    struct pass pass = {
        .combine = joist_kernel_find(combine, accumulator),
        .fold = joist_fold_find(combine, accumulator),
        .convert = from == accumulator ? NULL : joist_convert_find(from, accumulator),
        .in_size = joist_dtype_size(from),
        .size = size,
        .inner = 1,
        .middle = extent[d],
        .outer = 1,
        .in = current};
    for (int e = 0; e < d; e++) pass.inner *= reduced[e] ? 1 : extent[e];
    for (int e = d + 1; e < rank; e++) pass.outer *= extent[e];
    char *const next = malloc(pass.inner * pass.outer * size);
    if (next == NULL) {
      free(owned);
      return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: results of a reduction");
    }
    pass.out = next;
    status = run_pass(&pass, run, error);
    free(owned);
    owned = next;
    current = next;
    from = accumulator;
  }
  if (status == JOIST_OK && owned == NULL) {
    /* Nothing to combine: no elements, or only extents of 1. */
    owned = malloc(results * size);
    if (owned == NULL)
      return joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: results of a reduction");
    if (elements == 0)
      status = reduce_nothing(instruction, results, owned, error);
    else
      joist_convert_find(from, accumulator)(results, current, owned);
  }
  if (status == JOIST_OK) joist_reduction_finish(program, instruction, results, owned, out);
  free(owned);
  return status;
}
