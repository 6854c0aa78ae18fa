/* Operations that move elements, on a device. */
#include "cuda/ops/move_ops.h"

#include "core/ops/move/move_ops.h"
#include "core/types/convert.h"
#include "cuda/ops/operations.h"

static size_t size_of(const struct running *r, joist_value_id value) {
  return joist_dtype_size(r->plan->program->values[value].type.dtype);
}

static const struct joist_shape *shape_of(const struct running *r, joist_value_id value) {
  return &r->plan->program->values[value].shape;
}

/* Operand k in the dtype that the instruction wants; `made` is to be freed. */
static joist_status read_operand(const struct running *r, const struct joist_instruction *i,
                                 uint32_t k, const void **in, void **made,
                                 struct joist_error *error) {
  return joist_cuda_convert(r, i->operand[k], joist_signature_operand(&i->signature, k), in, made,
                            error);
}

/* ---- positions ---- */

/* Positions are addresses, wherever they come from: which of them, each less `base`, is the
 * first that is not below `extent`; UINT64_MAX if there is none. */
static joist_status find_invalid(const struct running *r, joist_value_id positions, int64_t base,
                                 size_t extent, uint64_t *found, struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const struct joist_cuda_check check = {.count = count_of(program, positions),
                                         .index = r->arrays[positions],
                                         .base = base,
                                         .extent = extent,
                                         .failure = r->state->failure,
                                         .dtype = (uint32_t)program->values[positions].type.dtype};
  *found = UINT64_MAX;
  if (check.count == 0) return JOIST_OK;
  joist_status status = clear_failure(r, error);
  if (status == JOIST_OK) status = start(r, JOIST_CUDA_CHECK, check.count, &check, error);
  return status == JOIST_OK ? read_failure(r, found, error) : status;
}

/* An element of the positions, read back for an error. */
static joist_status read_position(const struct running *r, const struct joist_instruction *i,
                                  size_t k, int64_t *position, struct joist_error *error) {
  const joist_dtype dtype = r->plan->program->values[i->operand[1]].type.dtype;
  const size_t size = joist_dtype_size(dtype);
  uint64_t element[2];
  const joist_status status =
      joist_cuda_copy(r->device, element, (const char *)r->arrays[i->operand[1]] + k * size, size,
                      JOIST_COPY_TO_HOST, error);
  if (status == JOIST_OK) joist_convert_find(dtype, JOIST_I64)(1, element, position);
  return status;
}

/* Of take and put. */
static joist_status check_positions(const struct running *r, const struct joist_instruction *i,
                                    struct joist_error *error) {
  const size_t extent = count_of(r->plan->program, i->operand[0]);
  uint64_t found;
  int64_t position = 0;
  joist_status status = find_invalid(r, i->operand[1], 0, extent, &found, error);
  if (status != JOIST_OK || found == UINT64_MAX) return status;
  status = read_position(r, i, (size_t)found, &position, error);
  if (status != JOIST_OK) return status;
  return joist_position_error(i->op, position, (size_t)found, extent, error);
}

bool joist_cuda_can_take(const struct running *r, const struct joist_instruction *i) {
  (void)r;
  return i->signature.operand[1] == JOIST_I64;
}

joist_status joist_cuda_take(const struct running *r, const struct joist_instruction *i,
                             struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const struct joist_cuda_move move = {
      .count = count_of(program, i->result),
      .index = r->arrays[i->operand[1]],
      .in = r->arrays[i->operand[0]],
      .out = r->arrays[i->result],
      .size = (uint32_t)joist_dtype_size(program->values[i->result].type.dtype)};
  const joist_status status = check_positions(r, i, error);
  if (status != JOIST_OK || move.out == NULL) return status;
  return start(r, JOIST_CUDA_TAKE, move.count, &move, error);
}

/* The number of an element that is put has 32 bits. */
bool joist_cuda_can_put(const struct running *r, const struct joist_instruction *i) {
  return joist_cuda_can_take(r, i) && count_of(r->plan->program, i->operand[1]) < UINT32_MAX;
}

joist_status joist_cuda_put(const struct running *r, const struct joist_instruction *i,
                            struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const bool one = count_of(program, i->operand[2]) == 1;
  struct joist_cuda_move move = {.count = count_of(program, i->operand[1]),
                                 .index = r->arrays[i->operand[1]],
                                 .out = r->arrays[i->result],
                                 .size = (uint32_t)size_of(r, i->result),
                                 .step = one ? 0 : 1};
  void *owner = NULL, *made = NULL;
  joist_status status = check_positions(r, i, error);
  if (status == JOIST_OK)
    status =
        copy_within(r, move.out, r->arrays[i->operand[0]], bytes_of(program, i->result), error);
  if (status == JOIST_OK) status = read_operand(r, i, 2, &move.in, &made, error);
  if (status == JOIST_OK && !one && move.count > 0) {
    const size_t bytes = count_of(program, i->result) * sizeof(uint32_t);
    status = allocate(r, bytes, &owner, error);
    move.owner = owner;
    if (status == JOIST_OK)
      status = joist_cuda_check(cudaMemsetAsync(owner, 0, bytes, r->state->stream),
                                "assigning elements", error);
    if (status == JOIST_OK) status = start(r, JOIST_CUDA_OWN, move.count, &move, error);
  }
  if (status == JOIST_OK) status = start(r, JOIST_CUDA_PUT, move.count, &move, error);
  joist_cuda_free(r->device, made);
  joist_cuda_free(r->device, owner);
  return status;
}

/* ---- walks ---- */

/* Whether the elements lie next to each other in both arrays. */
static bool is_run(const struct joist_walk *walk) {
  return walk->rank == 0 ||
         (walk->rank == 1 && walk->in_stride[0] == 1 && walk->out_stride[0] == 1);
}

/* Runs are moved in words as wide as they and their places allow; returns the bytes of one. */
static size_t widen(struct joist_walk *walk, size_t size) {
  enum { WIDEST = 16 };
  if (walk->in_stride[0] != 1 || walk->out_stride[0] != 1) return size;
  uint64_t all = walk->extent[0] | (uint64_t)walk->in_base | (uint64_t)walk->out_base;
  for (int d = 1; d < walk->rank; d++)
    all |= (uint64_t)walk->in_stride[d] | (uint64_t)walk->out_stride[d];
  int64_t factor = 1;
  while (size * (size_t)factor < WIDEST && (all & (uint64_t)factor) == 0) factor *= 2;
  walk->count /= (size_t)factor;
  walk->extent[0] /= (size_t)factor;
  walk->in_base /= factor;
  walk->out_base /= factor;
  for (int d = 1; d < walk->rank; d++) {
    walk->in_stride[d] /= factor;
    walk->out_stride[d] /= factor;
  }
  return size * (size_t)factor;
}

joist_status joist_cuda_walk_along(const struct running *r, const struct joist_walk *elements,
                                   size_t size, const void *in, void *out,
                                   struct joist_error *error) {
  struct joist_walk walk = *elements;
  if (walk.count == 0) return JOIST_OK;
  if (is_run(&walk))
    return copy_within(r, (char *)out + walk.out_base * (int64_t)size,
                       (const char *)in + walk.in_base * (int64_t)size, walk.count * size, error);
  size = widen(&walk, size);
  struct joist_cuda_walk parameter = {.count = walk.count,
                                      .in = in,
                                      .out = out,
                                      .in_base = walk.in_base,
                                      .out_base = walk.out_base,
                                      .size = (uint32_t)size,
                                      .rank = (uint32_t)walk.rank};
  for (int d = 0; d < walk.rank; d++) {
    parameter.extent[d] = walk.extent[d];
    parameter.in_stride[d] = walk.in_stride[d];
    parameter.out_stride[d] = walk.out_stride[d];
  }
  return start(r, JOIST_CUDA_WALK, parameter.count, &parameter, error);
}

/* Moves elements of operand k to the result. */
static joist_status walk_operand(const struct running *r, const struct joist_instruction *i,
                                 uint32_t k, const struct joist_walk *walk,
                                 struct joist_error *error) {
  const void *in;
  void *made;
  if (walk->count == 0) return JOIST_OK;
  joist_status status = read_operand(r, i, k, &in, &made, error);
  if (status == JOIST_OK)
    status = joist_cuda_walk_along(r, walk, size_of(r, i->result), in, r->arrays[i->result], error);
  joist_cuda_free(r->device, made);
  return status;
}

joist_status joist_cuda_reshape(const struct running *r, const struct joist_instruction *i,
                                struct joist_error *error) {
  return copy_within(r, r->arrays[i->result], r->arrays[i->operand[0]],
                     bytes_of(r->plan->program, i->result), error);
}

joist_status joist_cuda_concatenate(const struct running *r, const struct joist_instruction *i,
                                    struct joist_error *error) {
  const int dim = joist_attribute_dim(i->attributes);
  size_t first = 0;
  joist_status status = JOIST_OK;
  for (uint32_t k = 0; k < i->operand_count && status == JOIST_OK; k++) {
    struct joist_walk walk;
    first += joist_walk_part(shape_of(r, i->result), shape_of(r, i->operand[k]), dim, first, &walk);
    status = walk_operand(r, i, k, &walk, error);
  }
  return status;
}

joist_status joist_cuda_slice(const struct running *r, const struct joist_instruction *i,
                              struct joist_error *error) {
  struct joist_walk walk;
  joist_walk_slice(shape_of(r, i->operand[0]), i->attributes, &walk);
  return walk_operand(r, i, 0, &walk, error);
}

joist_status joist_cuda_update(const struct running *r, const struct joist_instruction *i,
                               struct joist_error *error) {
  const bool one = count_of(r->plan->program, i->operand[1]) == 1;
  struct joist_walk walk;
  const joist_status status = copy_within(r, r->arrays[i->result], r->arrays[i->operand[0]],
                                          bytes_of(r->plan->program, i->result), error);
  if (status != JOIST_OK) return status;
  joist_walk_update(shape_of(r, i->operand[0]), i->attributes, one, &walk);
  return walk_operand(r, i, 1, &walk, error);
}

joist_status joist_cuda_pad(const struct running *r, const struct joist_instruction *i,
                            struct joist_error *error) {
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  joist_walk_add(&walk, count_of(r->plan->program, i->result), 0, 1, NULL);
  const joist_status status = walk_operand(r, i, 1, &walk, error);
  if (status != JOIST_OK) return status;
  joist_walk_pad(shape_of(r, i->operand[0]), shape_of(r, i->result), i->attributes, &walk);
  return walk_operand(r, i, 0, &walk, error);
}

/* ---- gathering ---- */

static joist_status invalid_entry(const struct running *r, const struct joist_instruction *i,
                                  size_t k, size_t extent, struct joist_error *error) {
  int64_t entry = 0;
  const joist_status status = read_position(r, i, k, &entry, error);
  if (status != JOIST_OK) return status;
  return joist_gather_error(entry, k, joist_attribute_dim(i->attributes), extent, error);
}

/* Positions are integers. */
bool joist_cuda_can_gather(const struct running *r, const struct joist_instruction *i) {
  const joist_kind kind = joist_dtype_kind(i->signature.operand[1]);
  (void)r;
  return kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
}

joist_status joist_cuda_gather(const struct running *r, const struct joist_instruction *i,
                               struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const struct joist_shape *const shape = shape_of(r, i->operand[0]);
  const int dim = joist_attribute_dim(i->attributes);
  const size_t extent = shape->extent[dim];
  struct joist_cuda_gather parameter = {
      .count = count_of(program, i->result),
      .inner = joist_shape_lines(shape, dim).inner,
      .entries = count_of(program, i->operand[1]),
      .extent = extent,
      .index = r->arrays[i->operand[1]],
      .in = r->arrays[i->operand[0]],
      .out = r->arrays[i->result],
      .size = (uint32_t)size_of(r, i->result),
      .dtype = (uint32_t)program->values[i->operand[1]].type.dtype};
  uint64_t found;
  const joist_status status = find_invalid(r, i->operand[1], 1, extent, &found, error);
  if (status != JOIST_OK) return status;
  if (found != UINT64_MAX) return invalid_entry(r, i, (size_t)found, extent, error);
  if (parameter.out == NULL) return JOIST_OK;
  return start(r, JOIST_CUDA_GATHER_ALONG, parameter.count, &parameter, error);
}
