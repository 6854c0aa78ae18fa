/* Positions of extremes on a device, in one pass, or in two where lines are long and few. */
#include "core/ops/move/walk.h"
#include "cuda/kernels/argextreme_kernels.h"
#include "cuda/ops/operations.h"

static size_t ceiling(size_t n, size_t parts) { return (n + parts - 1) / parts; }

/* The smallest power of two that is at least n, but `most` (one itself) where that is less. */
static uint32_t power_of_two(size_t n, uint32_t most) {
  uint32_t power = 1;
  while (power < n && power < most) power *= 2;
  return power;
}

/* Threads next to each other read elements next to each other: of several lines where these are not
 * contiguous, and of several short ones. Long lines are cut so that every multiprocessor has
 * some. */
static void share(struct joist_cuda_positions *search, bool may_cut) {
  enum { ACROSS = 32, ROWS = 4, LONG = 16, BLOCKS = 2048 };
  search->y = power_of_two(ceiling(search->middle, ROWS),
                           JOIST_CUDA_BLOCK / power_of_two(search->inner, ACROSS));
  search->x = power_of_two(search->inner, JOIST_CUDA_BLOCK / search->y);
  search->z = JOIST_CUDA_BLOCK / search->x / search->y;
  const size_t tiles = ceiling(search->inner, search->x) * ceiling(search->outer, search->z);
  const size_t most = ceiling(search->middle, LONG * search->y), wanted = ceiling(BLOCKS, tiles);
  const size_t segments = !may_cut ? 1 : most < wanted ? most : wanted;
  search->rows = ceiling(search->middle, segments);
  search->segments = ceiling(search->middle, search->rows);
}

/* How the bits of a dtype that has an order are compared. */
static void set_order(struct joist_cuda_positions *search, joist_dtype dtype, bool least) {
  const uint64_t sign = UINT64_C(1) << (8 * joist_dtype_size(dtype) - 1);
  const joist_kind kind = joist_dtype_kind(dtype);
  search->size = (uint32_t)joist_dtype_size(dtype);
  search->sign = kind == JOIST_KIND_INT || kind == JOIST_KIND_FLOAT ? sign : 0;
  search->turn = least ? sign | (sign - 1) : 0;
  search->infinity = joist_dtype_greatest_bits(dtype);
}

static joist_status find(const struct running *r, const struct joist_cuda_positions *search,
                         struct joist_error *error) {
  return joist_cuda_check((cudaError_t)joist_cuda_start_positions(search, r->state->stream),
                          "starting a kernel", error);
}

/* The segments of each line have left candidates. */
static joist_status find_in_two(const struct running *r, struct joist_cuda_positions *search,
                                struct joist_error *error) {
  const size_t candidates = search->inner * search->segments * search->outer;
  const uint32_t size = search->size == 8 ? 8 : 4;
  void *keys = NULL, *found = NULL;
  joist_status status = allocate(r, candidates * size, &keys, error);
  if (status == JOIST_OK) status = allocate(r, candidates * sizeof(uint32_t), &found, error);
  search->out_keys = keys;
  search->out_found = found;
  if (status == JOIST_OK) status = find(r, search, error);
  struct joist_cuda_positions last = {.inner = search->inner,
                                      .middle = search->segments,
                                      .outer = search->outer,
                                      .in = keys,
                                      .found = found,
                                      .out = search->out,
                                      .size = size};
  share(&last, false);
  if (status == JOIST_OK) status = find(r, &last, error);
  joist_cuda_free(r->device, keys);
  joist_cuda_free(r->device, found);
  return status;
}

/* An empty array has no extreme: the CPU's engine reports the error. */
bool joist_cuda_can_locate(const struct running *r, const struct joist_instruction *i) {
  return count_of(r->plan->program, i->operand[0]) > 0;
}

joist_status joist_cuda_locate(const struct running *r, const struct joist_instruction *i,
                               struct joist_error *error) {
  const struct joist_lines lines = joist_shape_lines(&r->plan->program->values[i->operand[0]].shape,
                                                     joist_attribute_dim(i->attributes));
  struct joist_cuda_positions search = {.inner = lines.inner,
                                        .middle = lines.middle,
                                        .outer = lines.outer,
                                        .out = r->arrays[i->result]};
  void *made = NULL;
  joist_status status =
      joist_cuda_convert(r, i->operand[0], i->signature.operand[0], &search.in, &made, error);
  set_order(&search, i->signature.operand[0], i->op == JOIST_OP_ARGMIN);
  share(&search, true);
  if (status == JOIST_OK)
    status = search.segments > 1 ? find_in_two(r, &search, error) : find(r, &search, error);
  joist_cuda_free(r->device, made);
  return status;
}
