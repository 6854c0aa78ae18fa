/* Appending the instructions that an operation on masked values becomes. Private to missing*.c. */
#ifndef JOIST_CORE_PROGRAM_MISSING_BUILDER_H
#define JOIST_CORE_PROGRAM_MISSING_BUILDER_H

#include "core/program/missing.h"

/* Appends instructions until one fails; later ones are then left out. */
struct builder {
  struct joist_program *program;
  const struct joist_missing *m;
  joist_value_id
      result_mask; /* of the operation's result, where it is known before the operation */
  joist_status status;
  struct joist_error *error;
};

static const struct joist_attributes joist_mask_none = {.count = 0};

static inline const struct joist_value *value_of(const struct builder *b, joist_value_id id) {
  return &b->program->values[id];
}

static inline const struct joist_shape *result_shape(const struct builder *b) {
  return &b->m->inference->shape[0];
}

static inline bool has_mask(const struct builder *b, size_t k) {
  return b->m->masks[k] != JOIST_NO_MASK;
}

joist_value_id joist_mask_append(struct builder *b, joist_op op,
                                 const struct joist_inference *inference, const joist_value_id *ids,
                                 size_t n, const struct joist_attributes *attributes);

/* The operation itself, on these operands. */
joist_value_id joist_mask_main_operation(struct builder *b, const joist_value_id *ids);

joist_value_id joist_mask_emit(struct builder *b, joist_op op, const joist_value_id *ids, size_t n,
                               const struct joist_attributes *attributes);

joist_value_id joist_mask_emit1(struct builder *b, joist_op op, joist_value_id x);

joist_value_id joist_mask_emit2(struct builder *b, joist_op op, joist_value_id x, joist_value_id y);

joist_value_id joist_mask_emit3(struct builder *b, joist_op op, joist_value_id x, joist_value_id y,
                                joist_value_id z);

/* Those attributes of the operation that are among `names`, a set of bits. */
struct joist_attributes joist_mask_kept_attributes(const struct builder *b, uint32_t names);

/* Another operation on one value, with some attributes of the operation. */
joist_value_id joist_mask_emit_alike(struct builder *b, joist_op op, joist_value_id x,
                                     uint32_t names);

joist_value_id joist_mask_converted(struct builder *b, joist_value_id x, struct joist_type type);

/* A scalar. */
joist_value_id joist_mask_constant(struct builder *b, joist_dtype dtype, double number);

joist_value_id joist_mask_reshaped(struct builder *b, joist_op op, joist_value_id x,
                                   const struct joist_shape *shape);

joist_value_id joist_mask_broadcast(struct builder *b, joist_value_id x,
                                    const struct joist_shape *shape);

/* Where either mask is TRUE; one of them may be none. */
joist_value_id joist_mask_either(struct builder *b, joist_value_id x, joist_value_id y);

/* A mask for operand k, which is FALSE everywhere if it has none. */
joist_value_id joist_mask_mask_of(struct builder *b, size_t k);

/* x, in the dtype it is computed in if its own, of a byte, lacks 0 or 1. */
joist_value_id joist_mask_able_to_hold(struct builder *b, joist_value_id x, double number);

/* x, with a number in the places of a mask. */
joist_value_id joist_mask_filled(struct builder *b, joist_value_id x, joist_value_id mask,
                                 double number);

/* x, with some small number that its dtype has in the places of a mask: 0, unless it has none. */
joist_value_id joist_mask_filled_anyhow(struct builder *b, joist_value_id x, joist_value_id mask);

/* x, with the largest or the smallest number of its dtype in the places of a mask. */
joist_value_id joist_mask_filled_extreme(struct builder *b, joist_value_id x, joist_value_id mask,
                                         bool largest);

void joist_mask_refuse(struct builder *b);

#endif
