/* Permuting dims on a device: planes in tiles where the first dim becomes another one, runs
 * where it stays. */
#include "core/ops/move/permute.h"
#include "cuda/kernels/transpose_kernels.h"
#include "cuda/ops/move_ops.h"
#include "cuda/ops/operations.h"

/* Extents below this leave most of a tile empty. */
enum { NARROW = 8, WORD = 4 };

/* Few elements in a row of `in`: neighbours there are moved together, as there would be few in a
 * row of `out` otherwise. */
static void read_in_order(struct joist_walk *walk, int a) {
  const size_t extent = walk->extent[a];
  const int64_t in_stride = walk->in_stride[a], out_stride = walk->out_stride[a];
  for (int d = a; d > 0; d--) {
    walk->extent[d] = walk->extent[d - 1];
    walk->in_stride[d] = walk->in_stride[d - 1];
    walk->out_stride[d] = walk->out_stride[d - 1];
  }
  walk->extent[0] = extent;
  walk->in_stride[0] = in_stride;
  walk->out_stride[0] = out_stride;
}

/* Whether words of WORD bytes are aligned in an array with these strides. */
static bool is_whole(size_t size, uint64_t stride, uint32_t rank, const uint64_t *batch) {
  bool whole = stride * size % WORD == 0;
  for (uint32_t d = 0; d < rank; d++) whole &= batch[d] * size % WORD == 0;
  return whole;
}

/* The planes of dim 0, dense in `out`, and dim a, dense in `in`. False when tiles do not pay, or
 * are too many for a launch. */
static bool plan_tiles(const struct joist_walk *walk, int a, size_t size,
                       struct joist_cuda_transpose *t) {
  const uint64_t side = joist_cuda_transpose_side((uint32_t)size);
  t->rows = walk->extent[a];
  t->columns = walk->extent[0];
  const uint64_t down = (t->rows + side - 1) / side, across = (t->columns + side - 1) / side;
  const uint64_t planes = walk->count / t->rows / t->columns;
  if (t->rows < NARROW || t->columns < NARROW || down * across * planes > INT32_MAX) return false;
  t->in_stride = (uint64_t)walk->in_stride[0];
  t->out_stride = (uint64_t)walk->out_stride[a];
  t->down = (uint32_t)down;
  t->across = (uint32_t)across;
  t->tiles = (uint32_t)(down * across * planes);
  t->rank = 0;
  for (int d = 1; d < walk->rank; d++) {
    if (d == a) continue;
    t->extent[t->rank] = (uint32_t)walk->extent[d];
    t->in_batch[t->rank] = (uint64_t)walk->in_stride[d];
    t->out_batch[t->rank++] = (uint64_t)walk->out_stride[d];
  }
  t->in_whole = is_whole(size, t->in_stride, t->rank, t->in_batch);
  t->out_whole = is_whole(size, t->out_stride, t->rank, t->out_batch);
  return true;
}

joist_status joist_cuda_permute(const struct running *r, const struct joist_instruction *i,
                                struct joist_error *error) {
  const struct joist_value *const operand = &r->plan->program->values[i->operand[0]];
  const size_t size = joist_dtype_size(operand->type.dtype);
  const void *const in = r->arrays[i->operand[0]];
  void *const out = r->arrays[i->result];
  struct joist_cuda_transpose transpose = {.in = in, .out = out};
  struct joist_walk walk;
  joist_walk_permute(&operand->shape, i->attributes, &walk);
  int a = 0;
  while (a < walk.rank && walk.in_stride[a] != 1) a++;
  if (walk.count == 0 || a == 0 || a == walk.rank)
    return joist_cuda_walk_along(r, &walk, size, in, out, error);
  if (!plan_tiles(&walk, a, size, &transpose)) {
    if (walk.extent[a] < walk.extent[0]) read_in_order(&walk, a);
    return joist_cuda_walk_along(r, &walk, size, in, out, error);
  }
  return joist_cuda_check(
      (cudaError_t)joist_cuda_start_transpose((uint32_t)size, &transpose, r->state->stream),
      "starting a kernel", error);
}
