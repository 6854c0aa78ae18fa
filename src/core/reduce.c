/* Reductions around their first pass: what it sees of the operand, and what comes after it.
 *
 * Neighbouring dims that are reduced together are one dim, so a pass sees (inner, middle,
 * outer) and reduces the middle, in chunks. The first pass is fused with what computes the
 * operand; the next ones join the chunks and reduce what is left of the dims. What is
 * combined in which order depends on the shape alone. */
#include "core/plan.h"
#include "core/pool.h"

#include <stdlib.h>
#include <string.h>

enum {
  RUN_CHUNK = 1024,      /* elements of a contiguous run that are folded at once */
  ROW_CHUNK = 256,       /* rows that are combined at once, at least, */
  ROW_ELEMENTS = 1 << 16 /* and as many as have about so many elements */
};

size_t joist_fold_chunk(struct joist_fold_space space) {
  if (space.inner <= 1) return RUN_CHUNK;
  const size_t rows = ROW_ELEMENTS / space.inner;
  return rows < ROW_CHUNK ? ROW_CHUNK : rows;
}

size_t joist_fold_chunks(struct joist_fold_space space) {
  const size_t chunk = joist_fold_chunk(space);
  return space.middle / chunk + (space.middle % chunk != 0);
}

size_t joist_fold_tile(struct joist_fold_space space, size_t tile) {
  if (space.inner != 1) return tile;
  const size_t unit = space.middle == 0          ? 1
                      : space.middle < RUN_CHUNK ? space.middle
                                                 : (size_t)RUN_CHUNK;
  return tile < unit ? unit : tile / unit * unit;
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

/* The first dim that is still to be reduced; `rank` when there is none. */
static int next_dim(int rank, const size_t *extent, const bool *reduced) {
  int d = 0;
  while (d < rank && (!reduced[d] || extent[d] == 1)) d++;
  return d;
}

/* Nothing to combine is a middle of 1. */
static struct joist_fold_space space_at(int rank, const size_t *extent, int d) {
  struct joist_fold_space space = {1, d < rank ? extent[d] : 1, 1};
  for (int e = 0; e < d && d < rank; e++) space.inner *= extent[e];
  for (int e = d < rank ? d + 1 : 0; e < rank; e++) space.outer *= extent[e];
  return space;
}

struct joist_fold_space joist_reduction_space(const struct joist_program *program,
                                              const struct joist_instruction *instruction) {
  size_t extent[JOIST_RANK_MAX];
  bool reduced[JOIST_RANK_MAX];
  const int rank = merge_dims(&program->values[instruction->operand[0]].shape, instruction->dims,
                              extent, reduced);
  return space_at(rank, extent, next_dim(rank, extent, reduced));
}

static size_t reduction_length(const struct joist_program *program,
                               const struct joist_instruction *instruction) {
  const struct joist_shape *const shape = &program->values[instruction->operand[0]].shape;
  size_t length = 1;
  for (int d = 0; d < shape->rank; d++)
    if (instruction->dims >> d & 1) length *= shape->extent[d];
  return length;
}

/* Divides a mean by the number of elements, and converts to the dtype of the result. */
static void finish(const struct joist_program *program, const struct joist_instruction *instruction,
                   size_t n, void *accumulated, void *out) {
  const joist_dtype accumulator = instruction->signature.operand[0];
  if (instruction->op == JOIST_OP_REDUCE_MEAN) {
    const double length = (double)reduction_length(program, instruction);
    if (accumulator == JOIST_C128)
      for (size_t k = 0; k < n; k++) ((joist_c128 *)accumulated)[k] /= length;
    else
      for (size_t k = 0; k < n; k++) ((double *)accumulated)[k] /= length;
  }
  joist_convert_find(accumulator, instruction->signature.result.dtype)(n, accumulated, out);
}

static joist_status reduce_nothing(const struct joist_program *program,
                                   const struct joist_instruction *instruction, size_t results,
                                   char *out, struct joist_error *error) {
  const joist_dtype dtype = instruction->signature.operand[0];
  const size_t size = joist_dtype_size(instruction->signature.result.dtype);
  _Alignas(16) char value[JOIST_ELEMENT_MAX];
  for (size_t k = 0; k < results; k++) {
    if (!joist_identity(joist_op_combine(instruction->op), dtype, value))
      return joist_fail(error, JOIST_ERROR_VALUE, "nv_%s() of no elements has no value",
                        joist_op_name(instruction->op));
    finish(program, instruction, 1, value, out + k * size);
  }
  return JOIST_OK;
}

/* One pass over accumulated values: a program of one sink. */
static joist_status run_pass(const struct joist_program *program,
                             const struct joist_instruction *instruction,
                             struct joist_fold_space space, char *in, char *out,
                             const struct joist_run *run, struct joist_error *error) {
  const joist_dtype dtype = instruction->signature.operand[0];
  const joist_op combine = joist_op_combine(instruction->op);
  const struct joist_ref ref = {true, 0, (uint32_t)joist_dtype_size(dtype), dtype};
  struct joist_step step = {.kind = JOIST_STEP_FOLD,
                            .kernel = joist_kernel_find(combine, dtype),
                            .fold = joist_fold_find(combine, dtype, dtype),
                            .rows = joist_rows_find(combine, dtype, dtype),
                            .operand_count = 1,
                            .in = {ref},
                            .out = ref};
  const struct joist_plan plan = {.program = program, .steps = &step};
  enum { TILE = 16384 };
  const struct joist_group group = {.kind = JOIST_GROUP_ELEMENTWISE,
                                    .count = space.inner * space.middle * space.outer,
                                    .step_count = 1,
                                    .sink_count = 1,
                                    .space = space,
                                    .work = 1,
                                    .tile = joist_fold_tile(space, TILE)};
  return joist_tiles_run(&plan, &group, (void *[]){in}, &out, run, error);
}

joist_status joist_reduction_finish(const struct joist_program *program,
                                    const struct joist_instruction *instruction, char *accumulated,
                                    void *out, const struct joist_run *run,
                                    struct joist_error *error) {
  size_t extent[JOIST_RANK_MAX];
  bool reduced[JOIST_RANK_MAX];
  const struct joist_shape *const shape = &program->values[instruction->operand[0]].shape;
  const size_t results = joist_value_count(&program->values[instruction->result]);
  const size_t elements = joist_value_count(&program->values[instruction->operand[0]]);
  if (results == 0) return JOIST_OK;
  if (elements == 0) return reduce_nothing(program, instruction, results, out, error);
  const size_t size = joist_dtype_size(instruction->signature.operand[0]);
  const int rank = merge_dims(shape, instruction->dims, extent, reduced);
  int d = next_dim(rank, extent, reduced);
  if (d < rank) extent[d] = joist_fold_chunks(space_at(rank, extent, d));
  char *current = accumulated;
  joist_status status = JOIST_OK;
  while (status == JOIST_OK && (d = next_dim(rank, extent, reduced)) < rank) {
    const struct joist_fold_space space = space_at(rank, extent, d);
    extent[d] = joist_fold_chunks(space);
    char *const next = joist_scratch_allocate(space.inner * extent[d] * space.outer * size);
    if (next == NULL)
      status = joist_fail(error, JOIST_ERROR_MEMORY, "out of memory: results of a reduction");
    else
      status = run_pass(program, instruction, space, current, next, run, error);
    if (current != accumulated) joist_scratch_free(current);
    current = next;
  }
  if (status == JOIST_OK) finish(program, instruction, results, current, out);
  if (current != accumulated) joist_scratch_free(current);
  return status;
}
