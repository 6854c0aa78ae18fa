/* Missing values of operations that sort, search and count. */
#include "core/program/missing_order.h"

#include <math.h>

static joist_value_id ordered(struct builder *b, joist_op op, joist_value_id x, bool decreasing) {
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, joist_attribute_dim(b->m->attributes));
  if (decreasing) joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DECREASING, 1);
  return joist_mask_emit(b, op, &x, 1, &attributes);
}

static joist_value_id taken(struct builder *b, joist_value_id x, joist_value_id positions) {
  const joist_value_id ids[] = {x, positions};
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, joist_attribute_dim(b->m->attributes));
  return joist_mask_emit(b, JOIST_OP_TAKE_ALONG, ids, 2, &attributes);
}

/* The positions in the order of the elements, the positions of missing ones last: sorting is
 * stable. */
static joist_value_id order_of(struct builder *b, joist_value_id x, joist_value_id mask) {
  const bool decreasing = joist_attribute_flag(b->m->attributes, JOIST_ATTRIBUTE_DECREASING);
  const joist_value_id first =
      ordered(b, JOIST_OP_ARGSORT, joist_mask_filled_anyhow(b, x, mask), decreasing);
  const joist_value_id second = ordered(b, JOIST_OP_ARGSORT, taken(b, mask, first), false);
  return taken(b, first, second);
}

/* The first positions in that order: the elements are moved so that the missing ones are last, with
 * a value that no other comes after, and of equal elements the first ones are taken. */
static joist_value_id first_of_order(struct builder *b, joist_value_id x, joist_value_id mask) {
  const bool decreasing = joist_attribute_flag(b->m->attributes, JOIST_ATTRIBUTE_DECREASING);
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  const bool nan = joist_dtype_kind(dtype) == JOIST_KIND_FLOAT && joist_dtype_has_nan(dtype);
  const joist_value_id filled =
      nan ? joist_mask_filled(b, x, mask, NAN) : joist_mask_filled_extreme(b, x, mask, !decreasing);
  const joist_value_id present_first = ordered(b, JOIST_OP_ARGSORT, mask, false);
  const joist_value_id moved = taken(b, filled, present_first);
  return taken(b, present_first, joist_mask_emit(b, JOIST_OP_TOP_K, &moved, 1, b->m->attributes));
}

static void add_sort(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id x = b->m->operands[0], missing = b->m->masks[0];
  if (b->m->op == JOIST_OP_TOP_K) {
    *result = first_of_order(b, x, missing);
    return;
  }
  const joist_value_id order = order_of(b, x, missing);
  if (b->m->op == JOIST_OP_SORT) {
    *result = joist_mask_converted(b, taken(b, x, order), b->m->inference->signature.result[0]);
    *mask = taken(b, missing, order);
    return;
  }
  *result = order;
}

/* The first position of the extreme among the elements that are not missing. */
static void add_position(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const bool is_min = b->m->op == JOIST_OP_ARGMIN;
  const joist_value_id x = b->m->operands[0], missing = b->m->masks[0];
  const struct joist_value value = *value_of(b, x);
  const int dim = joist_attribute_dim(b->m->attributes);
  int64_t dims[JOIST_RANK_MAX];
  size_t count = 0;
  if (joist_value_count(&value) == 0) { /* fails, unless it has no results */
    *result = joist_mask_main_operation(b, b->m->operands);
    return;
  }
  for (int d = 0; d < value.shape.rank; d++)
    if (dim < 0 || d == dim) dims[count++] = d;
  struct joist_attributes dropped = joist_mask_kept_attributes(b, 1u << JOIST_ATTRIBUTE_DROP),
                          kept = joist_mask_none;
  joist_attributes_set_list(&dropped, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set_list(&kept, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set(&kept, JOIST_ATTRIBUTE_DROP, 0);
  const joist_value_id rest = joist_mask_filled_extreme(b, x, missing, is_min);
  const joist_value_id extreme =
      joist_mask_emit(b, is_min ? JOIST_OP_REDUCE_MIN : JOIST_OP_REDUCE_MAX, &rest, 1, &kept);
  joist_value_id hits = joist_mask_emit2(b, JOIST_OP_EQ, rest, extreme);
  if (joist_dtype_kind(value.type.dtype) == JOIST_KIND_FLOAT)
    hits = joist_mask_emit2(b, JOIST_OP_OR, hits, joist_mask_emit1(b, JOIST_OP_IS_NAN, rest));
  hits = joist_mask_emit2(b, JOIST_OP_AND, hits, joist_mask_emit1(b, JOIST_OP_NOT, missing));
  *result = joist_mask_emit(b, JOIST_OP_ARGMAX, &hits, 1, b->m->attributes);
  *mask = joist_mask_emit(b, JOIST_OP_REDUCE_ALL, &missing, 1, &dropped);
}

/* DIM or DIMS of a value with one dim. */
static struct joist_attributes of_line(joist_attribute_name name) {
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set(&attributes, name, 0);
  return attributes;
}

/* The first position of each element among the elements of a table that are not missing, or
 * `nomatch`. The missing elements of the table are moved to its end for the search: it finds one of
 * them only if no other element is equal. `table` and `mask` have one dim. */
static joist_value_id match_present(struct builder *b, joist_value_id table, joist_value_id mask,
                                    joist_value_id nomatch) {
  const struct joist_attributes along = of_line(JOIST_ATTRIBUTE_DIM);
  const struct joist_attributes all = of_line(JOIST_ATTRIBUTE_DIMS);
  const joist_value_id positions = joist_mask_emit(b, JOIST_OP_ARGSORT, &mask, 1, &along);
  const joist_value_id present = joist_mask_emit1(b, JOIST_OP_NOT, mask);
  const joist_value_id left = joist_mask_emit(b, JOIST_OP_REDUCE_SUM, &present, 1, &all);
  const joist_value_id reordered[] = {table, positions};
  const joist_value_id ids[] = {b->m->operands[0],
                                joist_mask_emit(b, JOIST_OP_TAKE_ALONG, reordered, 2, &along)};
  const joist_value_id found =
      joist_mask_append(b, JOIST_OP_MATCH, b->m->inference, ids, 2, &joist_mask_none);
  const joist_value_id one = joist_mask_constant(b, JOIST_I32, 1);
  const joist_value_id any = joist_mask_emit2(b, JOIST_OP_GE, found, one);
  const joist_value_id hit =
      joist_mask_emit2(b, JOIST_OP_AND, any, joist_mask_emit2(b, JOIST_OP_LE, found, left));
  const joist_value_id safe[] = {positions, joist_mask_emit3(b, JOIST_OP_IFELSE, hit, found, one)};
  const joist_value_id place = joist_mask_emit(b, JOIST_OP_GATHER, safe, 2, &along);
  return joist_mask_emit3(b, JOIST_OP_IFELSE, hit, place, nomatch);
}

/* Missing elements match the first missing one of the table. */
static void add_match(struct builder *b, joist_value_id *result) {
  const size_t n = joist_value_count(value_of(b, b->m->operands[1]));
  const joist_value_id nomatch = joist_mask_constant(
      b, JOIST_I32, (double)joist_attribute_value(b->m->attributes, JOIST_ATTRIBUTE_NOMATCH));
  joist_value_id missing_at = nomatch;
  if (!has_mask(b, 1) || n == 0) {
    *result = joist_mask_main_operation(b, b->m->operands);
  } else {
    const struct joist_shape line = {1, {(uint32_t)n}};
    const struct joist_attributes along = of_line(JOIST_ATTRIBUTE_DIM);
    const struct joist_attributes all = of_line(JOIST_ATTRIBUTE_DIMS);
    const joist_value_id table = joist_mask_reshaped(b, JOIST_OP_RESHAPE, b->m->operands[1], &line);
    const joist_value_id mask = joist_mask_reshaped(b, JOIST_OP_RESHAPE, b->m->masks[1], &line);
    *result = match_present(b, table, mask, nomatch);
    const joist_value_id first = joist_mask_emit(b, JOIST_OP_ARGMAX, &mask, 1, &along);
    const joist_value_id any = joist_mask_emit(b, JOIST_OP_REDUCE_ANY, &mask, 1, &all);
    missing_at = joist_mask_emit3(b, JOIST_OP_IFELSE, any, first, nomatch);
  }
  if (has_mask(b, 0))
    *result = joist_mask_emit3(b, JOIST_OP_IFELSE, b->m->masks[0], missing_at, *result);
}

void joist_missing_add_order(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  joist_value_id bins;
  switch (b->m->op) {
    case JOIST_OP_SORT:
    case JOIST_OP_ARGSORT:
    case JOIST_OP_TOP_K:
      add_sort(b, result, mask);
      return;
    case JOIST_OP_ARGMIN:
    case JOIST_OP_ARGMAX:
      add_position(b, result, mask);
      return;
    case JOIST_OP_MATCH:
      add_match(b, result);
      return;
    case JOIST_OP_TABULATE: /* bins count from 1 */
      bins = joist_mask_filled_anyhow(b, b->m->operands[0], b->m->masks[0]);
      *result = joist_mask_main_operation(b, &bins);
      return;
    default:
      if (has_mask(b, 0)) joist_mask_refuse(b);
      *result = joist_mask_main_operation(b, b->m->operands);
      *mask = b->m->masks[1];
  }
}
