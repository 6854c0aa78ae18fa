/* Instructions of operations on masked values. */
#include "core/program/missing_builder.h"

#include <math.h>

#include "core/program/emit.h"
#include "core/types/error.h"

joist_value_id joist_mask_append(struct builder *b, joist_op op,
                                 const struct joist_inference *inference, const joist_value_id *ids,
                                 size_t n, const struct joist_attributes *attributes) {
  if (b->status != JOIST_OK) return 0;
  struct joist_instruction instruction = joist_instruction_of(op, inference, ids, n, attributes, 0);
  instruction.source = b->m->source;
  if (inference == b->m->inference && inference->watch != 0 && b->result_mask != JOIST_NO_MASK)
    instruction.missing = b->result_mask + 1;
  b->status = joist_program_add(b->program, &instruction, inference, b->error);
  return b->status == JOIST_OK ? instruction.result : 0;
}

joist_value_id joist_mask_main_operation(struct builder *b, const joist_value_id *ids) {
  return joist_mask_append(b, b->m->op, b->m->inference, ids, b->m->count, b->m->attributes);
}

joist_value_id joist_mask_emit(struct builder *b, joist_op op, const joist_value_id *ids, size_t n,
                               const struct joist_attributes *attributes) {
  joist_value_id made = 0;
  if (b->status == JOIST_OK)
    b->status =
        joist_program_emit(b->program, op, ids, n, attributes, b->m->source, 0, &made, b->error);
  return b->status == JOIST_OK ? made : 0;
}

joist_value_id joist_mask_emit1(struct builder *b, joist_op op, joist_value_id x) {
  return joist_mask_emit(b, op, &x, 1, &joist_mask_none);
}

joist_value_id joist_mask_emit2(struct builder *b, joist_op op, joist_value_id x,
                                joist_value_id y) {
  const joist_value_id ids[] = {x, y};
  return joist_mask_emit(b, op, ids, 2, &joist_mask_none);
}

joist_value_id joist_mask_emit3(struct builder *b, joist_op op, joist_value_id x, joist_value_id y,
                                joist_value_id z) {
  const joist_value_id ids[] = {x, y, z};
  return joist_mask_emit(b, op, ids, 3, &joist_mask_none);
}

struct joist_attributes joist_mask_kept_attributes(const struct builder *b, uint32_t names) {
  struct joist_attributes kept = {.count = 0};
  for (uint32_t k = 0; k < b->m->attributes->count; k++)
    if (names >> b->m->attributes->item[k].name & 1)
      kept.item[kept.count++] = b->m->attributes->item[k];
  return kept;
}

joist_value_id joist_mask_emit_alike(struct builder *b, joist_op op, joist_value_id x,
                                     uint32_t names) {
  const struct joist_attributes kept = joist_mask_kept_attributes(b, names);
  return joist_mask_emit(b, op, &x, 1, &kept);
}

joist_value_id joist_mask_converted(struct builder *b, joist_value_id x, struct joist_type type) {
  if (b->status != JOIST_OK) return 0;
  const struct joist_value *const value = value_of(b, x);
  if (value->type.dtype == type.dtype && value->type.ambiguous == type.ambiguous) return x;
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set_type(&attributes, type);
  return joist_mask_emit(b, JOIST_OP_CONVERT, &x, 1, &attributes);
}

joist_value_id joist_mask_constant(struct builder *b, joist_dtype dtype, double number) {
  const struct joist_shape one = {1, {1}}, scalar = {.rank = 0};
  struct joist_attributes attributes = joist_mask_none, shape = joist_mask_none;
  int64_t extents[JOIST_RANK_MAX], no_extents[JOIST_RANK_MAX];
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, 0);
  joist_attributes_set_number(&attributes, JOIST_ATTRIBUTE_FROM, number);
  joist_attributes_set_shape(&attributes, &one, extents);
  joist_attributes_set_type(&attributes, (struct joist_type){dtype, false});
  const joist_value_id made = joist_mask_emit(b, JOIST_OP_IOTA, NULL, 0, &attributes);
  joist_attributes_set_shape(&shape, &scalar, no_extents);
  return joist_mask_emit(b, JOIST_OP_RESHAPE, &made, 1, &shape);
}

joist_value_id joist_mask_reshaped(struct builder *b, joist_op op, joist_value_id x,
                                   const struct joist_shape *shape) {
  if (b->status != JOIST_OK || joist_shape_equal(&value_of(b, x)->shape, shape)) return x;
  struct joist_attributes attributes = joist_mask_none;
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  return joist_mask_emit(b, op, &x, 1, &attributes);
}

joist_value_id joist_mask_broadcast(struct builder *b, joist_value_id x,
                                    const struct joist_shape *shape) {
  return joist_mask_reshaped(b, JOIST_OP_BROADCAST, x, shape);
}

joist_value_id joist_mask_either(struct builder *b, joist_value_id x, joist_value_id y) {
  if (x == JOIST_NO_MASK) return y;
  return y == JOIST_NO_MASK || x == y ? x : joist_mask_emit2(b, JOIST_OP_OR, x, y);
}

joist_value_id joist_mask_mask_of(struct builder *b, size_t k) {
  if (has_mask(b, k)) return b->m->masks[k];
  if (b->status != JOIST_OK) return 0;
  const struct joist_shape shape = value_of(b, b->m->operands[k])->shape;
  return joist_mask_broadcast(b, joist_mask_constant(b, JOIST_BOOL, 0), &shape);
}

joist_value_id joist_mask_able_to_hold(struct builder *b, joist_value_id x, double number) {
  const joist_dtype dtype = value_of(b, x)->type.dtype, wide = joist_dtype_compute(dtype);
  const bool is_float = joist_dtype_kind(dtype) == JOIST_KIND_FLOAT;
  const bool fits = is_float ? number != 0 || joist_dtype_has_zero(dtype)
                             : wide == dtype || number <= (double)joist_dtype_max_int(dtype);
  return fits ? x
              : joist_mask_converted(b, x,
                                     (struct joist_type){wide, value_of(b, x)->type.ambiguous});
}

joist_value_id joist_mask_filled(struct builder *b, joist_value_id x, joist_value_id mask,
                                 double number) {
  if (b->status != JOIST_OK || mask == JOIST_NO_MASK) return x;
  x = joist_mask_able_to_hold(b, x, number);
  const joist_value_id with = joist_mask_constant(b, value_of(b, x)->type.dtype, number);
  return joist_mask_emit3(b, JOIST_OP_IFELSE, mask, with, x);
}

joist_value_id joist_mask_filled_anyhow(struct builder *b, joist_value_id x, joist_value_id mask) {
  if (b->status != JOIST_OK) return x;
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  return joist_mask_filled(b, x, mask,
                           joist_dtype_has_zero(dtype) ? 0 : joist_dtype_min_float(dtype));
}

joist_value_id joist_mask_filled_extreme(struct builder *b, joist_value_id x, joist_value_id mask,
                                         bool largest) {
  if (b->status != JOIST_OK) return 0;
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT && joist_dtype_has_infinity(dtype))
    return joist_mask_filled(b, x, mask, largest ? INFINITY : -INFINITY);
  if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT)
    return joist_mask_filled(b, x, mask,
                             largest ? joist_dtype_max_float(dtype) : joist_dtype_min_float(dtype));
  const double least = (double)joist_dtype_min_int(dtype);
  if (!largest) return joist_mask_filled(b, x, mask, least);
  /* The largest i64 is not a double. */
  const joist_value_id with =
      joist_mask_emit1(b, JOIST_OP_BITWISE_NOT, joist_mask_constant(b, dtype, least));
  return joist_mask_emit3(b, JOIST_OP_IFELSE, mask, with, x);
}

void joist_mask_refuse(struct builder *b) {
  if (b->status == JOIST_OK)
    b->status = JOIST_FAIL(b->error, JOIST_E_MISSING_VALUES, .op = joist_op_name(b->m->op));
}
