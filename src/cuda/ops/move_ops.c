/* Operations that move elements, on a device. */
#include "cuda/ops/move_ops.h"

#include "core/ops/move/move_ops.h"
#include "core/program/array.h"
#include "core/types/convert.h"

static size_t size_of(const struct running *r, joist_value_id value) {
  return joist_dtype_size(r->plan->program->values[value].type.dtype);
}

static const struct joist_shape *shape_of(const struct running *r, joist_value_id value) {
  return &r->plan->program->values[value].shape;
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

/* Of take and put. */
static joist_status check_positions(const struct running *r, const struct joist_instruction *i,
                                    struct joist_error *error) {
  const size_t extent = count_of(r->plan->program, i->operand[0]);
  uint64_t found;
  const joist_status status = find_invalid(r, i->operand[1], 0, extent, &found, error);
  if (status != JOIST_OK || found == UINT64_MAX) return status;
  return joist_position_error(extent, error);
}

static joist_status take(const struct running *r, const struct joist_instruction *i,
                         struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const struct joist_cuda_move move = {
      .count = count_of(program, i->result),
      .index = r->arrays[i->operand[1]],
      .in = r->arrays[i->operand[0]],
      .out = r->arrays[i->result],
      .size = (uint32_t)joist_dtype_size(program->values[i->result].type.dtype)};
  const joist_status status = check_positions(r, i, error);
  return status == JOIST_OK ? start(r, JOIST_CUDA_TAKE, move.count, &move, error) : status;
}

static joist_status put(const struct running *r, const struct joist_instruction *i,
                        struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const bool one = count_of(program, i->operand[2]) == 1;
  struct joist_cuda_move move = {
      .count = count_of(program, i->operand[1]),
      .index = r->arrays[i->operand[1]],
      .in = r->arrays[i->operand[2]],
      .out = r->arrays[i->result],
      .size = (uint32_t)joist_dtype_size(program->values[i->result].type.dtype),
      .step = one ? 0 : 1};
  void *owner = NULL;
  joist_status status = check_positions(r, i, error);
  if (status == JOIST_OK)
    status =
        copy_within(r, move.out, r->arrays[i->operand[0]], bytes_of(program, i->result), error);
  if (status == JOIST_OK && !one && move.count > 0) {
    const size_t bytes = count_of(program, i->result) * sizeof(uint32_t);
    status = allocate(r, bytes, &owner, error);
    if (status != JOIST_OK) return status;
    move.owner = owner;
    status = joist_cuda_check(cudaMemsetAsync(owner, 0, bytes, r->state->stream),
                              "assigning elements", error);
    if (status == JOIST_OK) status = start(r, JOIST_CUDA_OWN, move.count, &move, error);
  }
  if (status == JOIST_OK) status = start(r, JOIST_CUDA_PUT, move.count, &move, error);
  joist_cuda_free(r->device, owner);
  return status;
}

static joist_status concatenate(const struct running *r, const struct joist_instruction *i,
                                struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const struct joist_value *const result = &program->values[i->result];
  const int dim = i->parameter[0];
  const struct joist_lines lines = joist_shape_lines(&result->shape, dim);
  const size_t inner = lines.inner * joist_dtype_size(result->type.dtype), outer = lines.outer;
  size_t first = 0;
  joist_status status = JOIST_OK;
  for (int k = 0; k < 2 && status == JOIST_OK; k++) {
    const size_t run = inner * program->values[i->operand[k]].shape.extent[dim];
    char *const to = (char *)r->arrays[i->result] + first;
    const void *const from = r->arrays[i->operand[k]];
    if (outer == 1)
      status = copy_within(r, to, from, run, error);
    else if (run > 0 && outer > 0)
      status =
          joist_cuda_check(cudaMemcpy2DAsync(to, inner * result->shape.extent[dim], from, run, run,
                                             outer, cudaMemcpyDeviceToDevice, r->state->stream),
                           "concatenating", error);
    first += run;
  }
  return status;
}

/* ---- walks ---- */

joist_status joist_cuda_walk_along(const struct running *r, const struct joist_walk *walk,
                                   size_t size, const void *in, void *out,
                                   struct joist_error *error) {
  struct joist_cuda_walk parameter = {.count = walk->count,
                                      .in = in,
                                      .out = out,
                                      .in_base = walk->in_base,
                                      .out_base = walk->out_base,
                                      .size = (uint32_t)size,
                                      .rank = (uint32_t)walk->rank};
  for (int d = 0; d < walk->rank; d++) {
    parameter.extent[d] = walk->extent[d];
    parameter.in_stride[d] = walk->in_stride[d];
    parameter.out_stride[d] = walk->out_stride[d];
  }
  return start(r, JOIST_CUDA_WALK, parameter.count, &parameter, error);
}

static joist_status slice(const struct running *r, const struct joist_instruction *i,
                          struct joist_error *error) {
  struct joist_walk walk;
  joist_walk_slice(shape_of(r, i->operand[0]), i->parameter, &walk);
  return joist_cuda_walk_along(r, &walk, size_of(r, i->result), r->arrays[i->operand[0]],
                               r->arrays[i->result], error);
}

static joist_status update(const struct running *r, const struct joist_instruction *i,
                           struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  struct joist_walk walk;
  const joist_status status = copy_within(r, r->arrays[i->result], r->arrays[i->operand[0]],
                                          bytes_of(program, i->result), error);
  if (status != JOIST_OK) return status;
  joist_walk_update(shape_of(r, i->operand[0]), i->parameter, count_of(program, i->operand[1]) == 1,
                    &walk);
  return joist_cuda_walk_along(r, &walk, size_of(r, i->result), r->arrays[i->operand[1]],
                               r->arrays[i->result], error);
}

static joist_status pad(const struct running *r, const struct joist_instruction *i,
                        struct joist_error *error) {
  void *const out = r->arrays[i->result];
  struct joist_walk walk;
  joist_walk_init(&walk, false);
  joist_walk_add(&walk, count_of(r->plan->program, i->result), 0, 1, NULL);
  const joist_status status =
      joist_cuda_walk_along(r, &walk, size_of(r, i->result), r->arrays[i->operand[1]], out, error);
  if (status != JOIST_OK) return status;
  joist_walk_pad(shape_of(r, i->operand[0]), shape_of(r, i->result), i->parameter, &walk);
  return joist_cuda_walk_along(r, &walk, size_of(r, i->result), r->arrays[i->operand[0]], out,
                               error);
}

/* ---- gathering ---- */

/* The message quotes the entry, which is read back. */
static joist_status invalid_entry(const struct running *r, const struct joist_instruction *i,
                                  size_t k, size_t extent, struct joist_error *error) {
  const joist_dtype dtype = r->plan->program->values[i->operand[1]].type.dtype;
  const size_t size = joist_dtype_size(dtype);
  uint64_t element[2];
  int64_t entry = 0;
  const joist_status status =
      joist_cuda_copy(r->device, element, (const char *)r->arrays[i->operand[1]] + k * size, size,
                      JOIST_COPY_TO_HOST, error);
  if (status != JOIST_OK) return status;
  joist_convert_find(dtype, JOIST_I64)(1, element, &entry);
  return joist_gather_error(entry, k, i->parameter[0], extent, error);
}

static joist_status gather(const struct running *r, const struct joist_instruction *i,
                           struct joist_error *error) {
  const struct joist_program *const program = r->plan->program;
  const struct joist_shape *const shape = shape_of(r, i->operand[0]);
  const int dim = i->parameter[0];
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
  return start(r, JOIST_CUDA_GATHER_ALONG, parameter.count, &parameter, error);
}

/* ---- which, and running it ---- */

/* Whether a dtype's elements can be positions. */
static bool is_integer(joist_dtype dtype) {
  const joist_kind kind = joist_dtype_kind(dtype);
  return kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
}

/* A pitch of cudaMemcpy2D has 31 bits; without outer dims there is none. */
static bool pitch_fits(const struct joist_value *result, int dim) {
  const struct joist_lines lines = joist_shape_lines(&result->shape, dim);
  return lines.outer == 1 ||
         lines.inner * result->shape.extent[dim] * joist_dtype_size(result->type.dtype) <=
             INT32_MAX;
}

/* The number of an element that is put has 32 bits. */
bool joist_cuda_moves(const struct running *r, const struct joist_instruction *i) {
  const struct joist_program *const program = r->plan->program;
  for (int k = 0; k < joist_op_arity(i->op); k++)
    if (program->values[i->operand[k]].type.dtype != i->signature.operand[k]) return false;
  switch (i->op) {
    case JOIST_OP_RESHAPE:
    case JOIST_OP_SLICE:
    case JOIST_OP_UPDATE:
    case JOIST_OP_PAD:
      return true;
    case JOIST_OP_TAKE:
      return i->signature.operand[1] == JOIST_I64;
    case JOIST_OP_PUT:
      return i->signature.operand[1] == JOIST_I64 && count_of(program, i->operand[1]) < UINT32_MAX;
    case JOIST_OP_GATHER:
      return is_integer(i->signature.operand[1]);
    case JOIST_OP_CONCATENATE:
      return pitch_fits(&program->values[i->result], i->parameter[0]);
    default:
      return false;
  }
}

joist_status joist_cuda_move(const struct running *r, const struct joist_instruction *i,
                             struct joist_error *error) {
  switch (i->op) {
    case JOIST_OP_TAKE:
      return take(r, i, error);
    case JOIST_OP_PUT:
      return put(r, i, error);
    case JOIST_OP_CONCATENATE:
      return concatenate(r, i, error);
    case JOIST_OP_SLICE:
      return slice(r, i, error);
    case JOIST_OP_UPDATE:
      return update(r, i, error);
    case JOIST_OP_PAD:
      return pad(r, i, error);
    case JOIST_OP_GATHER:
      return gather(r, i, error);
    default:
      return copy_within(r, r->arrays[i->result], r->arrays[i->operand[0]],
                         bytes_of(r->plan->program, i->result), error);
  }
}
