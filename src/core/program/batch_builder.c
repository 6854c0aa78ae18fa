/* Appending the instructions that operations on many slices become. */
#include "core/program/batch_builder.h"

#include <stdlib.h>

#include "core/program/emit.h"
#include "core/types/error.h"

joist_value_id joist_batch_emit(struct batching *b, joist_op op, const joist_value_id *ids,
                                size_t n, const struct joist_attributes *attributes) {
  joist_value_id made = 0;
  if (b->status == JOIST_OK)
    b->status =
        joist_program_emit(b->program, op, ids, n, attributes, b->source, 0, &made, b->error);
  return b->status == JOIST_OK ? made : 0;
}

joist_value_id joist_batch_emit1(struct batching *b, joist_op op, joist_value_id x) {
  return joist_batch_emit(b, op, &x, 1, &joist_batch_none);
}

joist_value_id joist_batch_emit2(struct batching *b, joist_op op, joist_value_id x,
                                 joist_value_id y) {
  const joist_value_id ids[] = {x, y};
  return joist_batch_emit(b, op, ids, 2, &joist_batch_none);
}

static joist_value_id shaped(struct batching *b, joist_op op, joist_value_id x,
                             const struct joist_shape *shape) {
  if (b->status != JOIST_OK || joist_shape_equal(&batch_value(b, x)->shape, shape)) return x;
  struct joist_attributes attributes = joist_batch_none;
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  return joist_batch_emit(b, op, &x, 1, &attributes);
}

joist_value_id joist_batch_reshaped(struct batching *b, joist_value_id x,
                                    const struct joist_shape *shape) {
  return shaped(b, JOIST_OP_RESHAPE, x, shape);
}

joist_value_id joist_batch_broadcast(struct batching *b, joist_value_id x,
                                     const struct joist_shape *shape) {
  return shaped(b, JOIST_OP_BROADCAST, x, shape);
}

joist_value_id joist_batch_permuted(struct batching *b, joist_value_id x, const int64_t *dims) {
  if (b->status != JOIST_OK) return 0;
  const size_t rank = (size_t)batch_value(b, x)->shape.rank;
  struct joist_attributes attributes = joist_batch_none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_PERMUTATION, dims, rank);
  return joist_batch_emit(b, JOIST_OP_PERMUTE, &x, 1, &attributes);
}

joist_value_id joist_batch_turned(struct batching *b, joist_value_id x) {
  int64_t dims[JOIST_RANK_MAX];
  if (b->status != JOIST_OK) return 0;
  const int rank = batch_value(b, x)->shape.rank;
  for (int d = 0; d < rank; d++) dims[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
  return joist_batch_permuted(b, x, dims);
}

joist_value_id joist_batch_converted(struct batching *b, joist_value_id x, struct joist_type type) {
  if (b->status != JOIST_OK) return 0;
  const struct joist_type own = batch_value(b, x)->type;
  if (own.dtype == type.dtype && own.ambiguous == type.ambiguous) return x;
  struct joist_attributes attributes = joist_batch_none;
  joist_attributes_set_type(&attributes, type);
  return joist_batch_emit(b, JOIST_OP_CONVERT, &x, 1, &attributes);
}

joist_value_id joist_batch_numbers(struct batching *b, joist_dtype dtype, double first, int rank,
                                   uint32_t extent) {
  struct joist_shape shape = {.rank = rank};
  struct joist_attributes attributes = joist_batch_none;
  int64_t extents[JOIST_RANK_MAX];
  for (int d = 0; d < rank; d++) shape.extent[d] = d == rank - 1 ? extent : 1;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, rank - 1);
  joist_attributes_set_number(&attributes, JOIST_ATTRIBUTE_FROM, first);
  joist_attributes_set_shape(&attributes, &shape, extents);
  joist_attributes_set_type(&attributes, (struct joist_type){dtype, false});
  return joist_batch_emit(b, JOIST_OP_IOTA, NULL, 0, &attributes);
}

joist_value_id joist_batch_number(struct batching *b, struct joist_type type, double number) {
  const struct joist_shape scalar = {.rank = 0};
  const joist_value_id made = joist_batch_numbers(b, type.dtype, number, 1, 1);
  return joist_batch_converted(b, joist_batch_reshaped(b, made, &scalar), type);
}

joist_value_id joist_batch_gathered(struct batching *b, joist_value_id x, joist_value_id positions,
                                    int dim) {
  const joist_value_id ids[] = {x, positions};
  struct joist_attributes attributes = joist_batch_none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, dim);
  return joist_batch_emit(b, JOIST_OP_GATHER, ids, 2, &attributes);
}

joist_value_id joist_batch_either(struct batching *b, joist_value_id flags, joist_value_id yes,
                                  joist_value_id no) {
  if (b->status != JOIST_OK || yes == no) return yes;
  struct joist_shape shape = batch_value(b, yes)->shape;
  for (int d = 0; d < shape.rank - 1; d++) shape.extent[d] = 1;
  const joist_value_id ids[] = {joist_batch_reshaped(b, flags, &shape), yes, no};
  return joist_batch_emit(b, JOIST_OP_IFELSE, ids, 3, &joist_batch_none);
}

joist_value_id joist_batch_fold(struct batching *b, joist_op op, joist_value_id flags) {
  static const int64_t first = 0;
  struct joist_attributes attributes = joist_batch_none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, &first, 1);
  return joist_batch_emit(b, op, &flags, 1, &attributes);
}

struct joist_shape joist_batch_longer(struct batching *b, const struct joist_shape *shape,
                                      uint32_t extent) {
  struct joist_shape longer = *shape;
  if (shape->rank < JOIST_RANK_MAX)
    longer.extent[longer.rank++] = extent;
  else if (b->status == JOIST_OK)
    b->status =
        JOIST_FAIL(b->error, JOIST_E_RANK_LIMIT, .count = {JOIST_RANK_MAX + 1, JOIST_RANK_MAX});
  return longer;
}

joist_value_id joist_batch_spread(struct batching *b, joist_value_id x, bool varies) {
  if (b->status != JOIST_OK || varies) return x;
  const struct joist_shape own = batch_value(b, x)->shape;
  const struct joist_shape one = joist_batch_longer(b, &own, 1);
  const struct joist_shape all = joist_batch_longer(b, &own, b->batch->extent);
  return joist_batch_broadcast(b, joist_batch_reshaped(b, x, &one), &all);
}

joist_value_id joist_batch_varying(struct batching *b, joist_value_id v) {
  return joist_batch_spread(b, b->value[v], b->varies[v]);
}

joist_value_id joist_batch_aligned(struct batching *b, joist_value_id v, int rank) {
  const struct joist_shape *const own = &b->from->values[v].shape;
  if (!b->varies[v] && own->rank == 0) return b->value[v];
  struct joist_shape shape = *own;
  while (shape.rank < rank) shape.extent[shape.rank++] = 1;
  shape = joist_batch_longer(b, &shape, b->varies[v] ? b->batch->extent : 1);
  return joist_batch_reshaped(b, b->value[v], &shape);
}

/* The mask of the results of a watched instruction. */
static uint32_t mask_of(struct batching *b, const struct joist_instruction *i) {
  if (i->missing == 0) return 0;
  const joist_value_id mask = i->missing - 1;
  return 1 + (b->varies[i->result] ? joist_batch_varying(b, mask) : b->value[mask]);
}

joist_value_id joist_batch_apply(struct batching *b, const struct joist_instruction *i,
                                 const joist_value_id *ids,
                                 const struct joist_attributes *attributes) {
  struct joist_instruction copy = *i;
  struct joist_inference inference = {.signature = i->signature, .watch = i->watch};
  const struct joist_shape *few[JOIST_ELEMENT_OPERANDS + 1], **shapes = few;
  copy.missing = mask_of(b, i);
  copy.operand = ids;
  copy.attributes = attributes;
  if (i->operand_count > JOIST_ELEMENT_OPERANDS)
    shapes = malloc((i->operand_count + 1) * sizeof *shapes);
  if (shapes == NULL && b->status == JOIST_OK)
    b->status = JOIST_FAIL(b->error, JOIST_E_OUT_OF_MEMORY);
  if (b->status == JOIST_OK) {
    for (uint32_t k = 0; k < i->operand_count; k++) shapes[k] = &batch_value(b, ids[k])->shape;
    shapes[i->operand_count] = NULL;
    b->status = joist_program_infer_shapes(i->op, shapes, i->operand_count, attributes,
                                           inference.shape, b->error);
  }
  if (shapes != few) free((void *)shapes);
  for (uint32_t r = 0; r < i->result_count && b->status == JOIST_OK; r++) {
    size_t elements = 0;
    if (!joist_shape_count(&inference.shape[r], &elements))
      b->status = JOIST_FAIL(b->error, JOIST_E_ELEMENT_LIMIT, .shape = {inference.shape[r]});
  }
  if (b->status == JOIST_OK) b->status = joist_program_add(b->program, &copy, &inference, b->error);
  return b->status == JOIST_OK ? copy.result : 0;
}
