/* One function for each rule of ops.def. */
#include "core/program/missing.h"

#include <stdlib.h>

#include "core/program/missing_order.h"
#include "core/types/error.h"

static const struct joist_type known_bool = {JOIST_BOOL, false};

/* Which dims are folded, and whether the result has them. */
static const uint32_t folded_dims = 1u << JOIST_ATTRIBUTE_DIMS | 1u << JOIST_ATTRIBUTE_DROP;

/* Where any operand is missing, in the shape of the result. */
static joist_value_id any_missing(struct builder *b) {
  joist_value_id mask = JOIST_NO_MASK;
  for (size_t k = 0; k < b->m->count; k++) mask = joist_mask_either(b, mask, b->m->masks[k]);
  return mask == JOIST_NO_MASK ? mask : joist_mask_broadcast(b, mask, result_shape(b));
}

/* Operands of an operation that can fail at an element get 1 where the result is missing. */
static joist_value_id add_checked(struct builder *b, joist_value_id mask) {
  const joist_value_id *const own = b->m->operands;
  b->result_mask = mask;
  if (!joist_op_can_fail(b->m->op, b->m->inference->signature.compute))
    return joist_mask_main_operation(b, own);
  /* int1 has -1 and 0, and no negative powers. */
  const bool has_one = b->status != JOIST_OK || value_of(b, own[1])->type.dtype != JOIST_INT1;
  const double harmless = has_one ? 1 : b->m->op == JOIST_OP_POW ? 0 : -1;
  const joist_value_id ids[] = {own[0], joist_mask_filled(b, own[1], mask, harmless)};
  return joist_mask_main_operation(b, ids);
}

/* All results of the operation, the first of which is `first`, have the same mask. */
static void give_results(const struct builder *b, joist_value_id first, joist_value_id mask,
                         joist_value_id *results, joist_value_id *masks) {
  for (uint8_t r = 0; r < joist_operation(b->m->op)->results; r++) {
    results[r] = first + r;
    masks[r] = mask;
  }
}

static void add_any(struct builder *b, joist_value_id *results, joist_value_id *masks) {
  const joist_value_id mask = any_missing(b);
  give_results(b, add_checked(b, mask), mask, results, masks);
}

/* ---- elementwise ---- */

static void add_imaginary(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_dtype dtype = value_of(b, b->m->operands[0])->type.dtype;
  *result = joist_mask_main_operation(b, b->m->operands);
  if (joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX) *mask = b->m->masks[0];
}

static void add_false(struct builder *b, joist_value_id *result) {
  const joist_value_id made = joist_mask_main_operation(b, b->m->operands);
  *result =
      joist_mask_emit2(b, JOIST_OP_AND, made, joist_mask_emit1(b, JOIST_OP_NOT, b->m->masks[0]));
}

/* Where one operand is missing and the other leaves the result open, which it does where it is
 * TRUE (of `and`) or FALSE (of `or`). */
static joist_value_id left_open(struct builder *b, size_t k) {
  if (!has_mask(b, k)) return JOIST_NO_MASK;
  const size_t l = 1 - k;
  joist_value_id open = joist_mask_converted(b, b->m->operands[l], known_bool);
  if (b->m->op == JOIST_OP_OR) open = joist_mask_emit1(b, JOIST_OP_NOT, open);
  return joist_mask_emit2(b, JOIST_OP_AND, b->m->masks[k],
                          joist_mask_either(b, open, b->m->masks[l]));
}

static void add_logic(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  *result = joist_mask_main_operation(b, b->m->operands);
  const joist_value_id first = left_open(b, 0);
  *mask = joist_mask_broadcast(b, joist_mask_either(b, first, left_open(b, 1)), result_shape(b));
}

/* any() and all(): an element that decides it is not missing. */
static void add_truth(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const bool all = b->m->op == JOIST_OP_REDUCE_ALL;
  const joist_value_id missing = b->m->masks[0];
  const joist_value_id neutral = joist_mask_filled(b, b->m->operands[0], missing, all);
  *result = joist_mask_main_operation(b, &neutral);
  if (b->m->remove) return;
  const joist_value_id open = all ? *result : joist_mask_emit1(b, JOIST_OP_NOT, *result);
  *mask = joist_mask_emit2(
      b, JOIST_OP_AND, joist_mask_emit_alike(b, JOIST_OP_REDUCE_ANY, missing, folded_dims), open);
}

/* x^0 and 1^x are 1, whatever x is; as in R, not 1^x of a complex 1. */
static void add_power(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id *const ids = b->m->operands, *const masks = b->m->masks;
  joist_value_id open[] = {JOIST_NO_MASK, JOIST_NO_MASK};
  if (has_mask(b, 0)) { /* where the exponent is not 0 */
    const joist_value_id differs = joist_mask_converted(b, ids[1], known_bool);
    open[0] = joist_mask_emit2(b, JOIST_OP_AND, masks[0], joist_mask_either(b, masks[1], differs));
  }
  const joist_dtype base = joist_signature_operand(&b->m->inference->signature, 0);
  if (has_mask(b, 1) && joist_dtype_kind(base) == JOIST_KIND_COMPLEX) {
    open[1] = masks[1];
  } else if (has_mask(b, 1)) {                                         /* where the base is not 1 */
    const joist_value_id wide = joist_mask_able_to_hold(b, ids[0], 1); /* int1 has no 1 */
    const joist_value_id one = joist_mask_constant(b, value_of(b, wide)->type.dtype, 1);
    const joist_value_id differs = joist_mask_emit2(b, JOIST_OP_NE, wide, one);
    open[1] = joist_mask_emit2(b, JOIST_OP_AND, masks[1], joist_mask_either(b, masks[0], differs));
  }
  *mask = joist_mask_broadcast(b, joist_mask_either(b, open[0], open[1]), result_shape(b));
  *result = add_checked(b, joist_mask_either(b, masks[1], *mask));
}

static void add_select(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id condition = b->m->operands[0];
  joist_value_id chosen = JOIST_NO_MASK;
  *result = joist_mask_main_operation(b, b->m->operands);
  if (has_mask(b, 1) && has_mask(b, 2))
    chosen = joist_mask_emit3(b, JOIST_OP_IFELSE, condition, b->m->masks[1], b->m->masks[2]);
  else if (has_mask(b, 1))
    chosen = joist_mask_emit2(b, JOIST_OP_AND, condition, b->m->masks[1]);
  else if (has_mask(b, 2))
    chosen = joist_mask_emit2(b, JOIST_OP_AND, joist_mask_emit1(b, JOIST_OP_NOT, condition),
                              b->m->masks[2]);
  *mask = joist_mask_broadcast(b, joist_mask_either(b, b->m->masks[0], chosen), result_shape(b));
}

/* ---- moving elements ---- */

/* x with one more position along a dim; with one more element, in one dim, if `dim` is negative. */
static joist_value_id extended(struct builder *b, joist_value_id x, int dim) {
  if (b->status != JOIST_OK) return 0;
  if (dim < 0) {
    const struct joist_shape line = {1, {(uint32_t)joist_value_count(value_of(b, x))}};
    x = joist_mask_reshaped(b, JOIST_OP_RESHAPE, x, &line);
  }
  if (b->status != JOIST_OK) return 0;
  const struct joist_value value = *value_of(b, x);
  struct joist_attributes attributes = joist_mask_none;
  int64_t high[JOIST_RANK_MAX] = {0};
  high[dim < 0 ? 0 : dim] = 1;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_HIGH, high, (size_t)value.shape.rank);
  const double any = joist_dtype_has_zero(value.type.dtype) ? 0 : 1;
  const joist_value_id both[] = {x, joist_mask_constant(b, value.type.dtype, any)};
  return joist_mask_emit(b, JOIST_OP_PAD, both, 2, &attributes);
}

/* Whether no index is valid, as the dim has no positions; of all elements if `dim` is negative. */
static bool indexes_nothing(const struct builder *b, int dim) {
  const struct joist_value *const x = value_of(b, b->m->operands[0]);
  return dim < 0 ? joist_value_count(x) == 0 : x->shape.extent[dim] == 0;
}

/* A missing index reads the first position. Without positions, one is added for it, and
 * indices that are not missing become the position after that one: they still raise an error. */
static void add_gather(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const int dim = b->m->op == JOIST_OP_TAKE ? -1 : joist_attribute_dim(b->m->attributes);
  const double first = b->m->op == JOIST_OP_TAKE ? 0 : 1;
  const bool nothing = has_mask(b, 1) && indexes_nothing(b, dim);
  joist_value_id ids[] = {b->m->operands[0], b->m->operands[1]};
  if (nothing) {
    const joist_dtype dtype = value_of(b, ids[1])->type.dtype;
    const joist_value_id added = joist_mask_constant(b, dtype, first),
                         beyond = joist_mask_constant(b, dtype, first + 1);
    ids[0] = extended(b, ids[0], dim);
    ids[1] = joist_mask_emit3(b, JOIST_OP_IFELSE, b->m->masks[1], added, beyond);
  } else {
    ids[1] = joist_mask_filled(b, ids[1], b->m->masks[1], first);
  }
  *result = joist_mask_main_operation(b, ids);
  if (has_mask(b, 0) && !nothing) {
    const joist_value_id both[] = {b->m->masks[0], ids[1]};
    *mask = joist_mask_emit(b, b->m->op, both, 2, b->m->attributes);
  }
  if (!has_mask(b, 1) || b->status != JOIST_OK) return;
  joist_value_id index = b->m->masks[1];
  if (b->m->op == JOIST_OP_GATHER) {
    const int rank = value_of(b, index)->shape.rank;
    struct joist_shape beside = *result_shape(b);
    for (int d = 0; d < beside.rank; d++)
      if (d < dim || d >= dim + rank) beside.extent[d] = 1;
    index = joist_mask_reshaped(b, JOIST_OP_RESHAPE, index, &beside);
  }
  *mask = joist_mask_broadcast(b, joist_mask_either(b, *mask, index), result_shape(b));
}

static void add_concatenate(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const size_t count = b->m->count;
  joist_value_id *const ids = malloc(count * sizeof *ids);
  if (ids == NULL) b->status = JOIST_FAIL(b->error, JOIST_E_OUT_OF_MEMORY);
  *result = joist_mask_main_operation(b, b->m->operands);
  for (size_t k = 0; k < count && b->status == JOIST_OK; k++) ids[k] = joist_mask_mask_of(b, k);
  *mask = joist_mask_emit(b, JOIST_OP_CONCATENATE, ids, count, b->m->attributes);
  free(ids);
}

/* Operations that replace elements of the first operand by elements of the last, or add them. An
 * operand between the two has their positions. */
static void add_assign(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const size_t last = b->m->count - 1;
  joist_value_id ids[3] = {0, b->m->operands[1]};
  if (last == 2 && has_mask(b, 1)) {
    joist_mask_refuse(b);
    return;
  }
  ids[0] = joist_mask_mask_of(b, 0);
  ids[last] = joist_mask_mask_of(b, last);
  /* What is made of a missing element is missing. */
  const bool made = last == 2 && b->m->op != JOIST_OP_PUT;
  *mask = joist_mask_emit(b, made ? JOIST_OP_SCATTER_MAX : b->m->op, ids, b->m->count,
                          b->m->attributes);
  b->result_mask = *mask;
  for (size_t k = 0; k <= last; k++) ids[k] = b->m->operands[k];
  /* What is stored in the place of missing elements is not reported. */
  if (b->m->inference->watch != 0 && has_mask(b, last))
    ids[last] = joist_mask_filled(
        b, ids[last], b->m->masks[last],
        joist_dtype_has_zero(joist_signature_operand(&b->m->inference->signature, last)) ? 0 : 1);
  *result = joist_mask_main_operation(b, ids);
}

static void add_along(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  switch (b->m->op) {
    case JOIST_OP_TAKE:
    case JOIST_OP_GATHER:
    case JOIST_OP_TAKE_ALONG:
      add_gather(b, result, mask);
      return;
    case JOIST_OP_CONCATENATE:
      add_concatenate(b, result, mask);
      return;
    case JOIST_OP_PUT:
    case JOIST_OP_UPDATE:
    case JOIST_OP_PAD:
    case JOIST_OP_SCATTER_ADD:
    case JOIST_OP_SCATTER_MIN:
    case JOIST_OP_SCATTER_MAX:
    case JOIST_OP_SCATTER_MUL:
      add_assign(b, result, mask);
      return;
    case JOIST_OP_REQUIRE:
      if (has_mask(b, 1)) {
        joist_mask_refuse(b);
        return;
      }
      *result = joist_mask_main_operation(b, b->m->operands);
      *mask = b->m->masks[0];
      return;
    case JOIST_OP_ALIAS:
      *result = joist_mask_main_operation(b, b->m->operands);
      *mask = b->m->masks[0];
      return;
    default:
      *result = joist_mask_main_operation(b, b->m->operands);
      *mask = joist_mask_emit(b, b->m->op, b->m->masks, 1, b->m->attributes);
  }
}

/* ---- along dims ---- */

static bool combines_extremes(joist_op combine) {
  return combine == JOIST_OP_MIN || combine == JOIST_OP_MAX;
}

/* x where the elements that are left out are the identity of a reduction. */
static joist_value_id neutralized(struct builder *b, joist_value_id x, joist_value_id mask) {
  const joist_op combine = joist_op_combine(b->m->op);
  if (combines_extremes(combine))
    return joist_mask_filled_extreme(b, x, mask, combine == JOIST_OP_MIN);
  return joist_mask_filled(b, x, mask, combine == JOIST_OP_MUL);
}

/* A sum over the dims of the operation. */
static joist_value_id summed(struct builder *b, joist_value_id x, joist_dtype dtype) {
  struct joist_attributes attributes = joist_mask_kept_attributes(b, folded_dims);
  joist_attributes_set_type(&attributes, (struct joist_type){dtype, false});
  return joist_mask_emit(b, JOIST_OP_REDUCE_SUM, &x, 1, &attributes);
}

/* A sum divided by the number of elements that are left. */
static joist_value_id mean_of_rest(struct builder *b, joist_value_id mask) {
  const struct joist_type made = b->m->inference->signature.result[0];
  const joist_dtype wide = joist_op_part_dtype(b->m->op, made.dtype);
  const joist_value_id rest = neutralized(b, b->m->operands[0], mask);
  const joist_value_id sum = summed(b, rest, wide);
  const joist_value_id count = summed(b, joist_mask_emit1(b, JOIST_OP_NOT, mask), JOIST_I64);
  const struct joist_type divisor = {JOIST_F64, false};
  return joist_mask_converted(
      b, joist_mask_emit2(b, JOIST_OP_DIV, sum, joist_mask_converted(b, count, divisor)), made);
}

static void add_fold(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id missing = b->m->masks[0];
  if (!b->m->remove) {
    b->result_mask = *mask = joist_mask_emit_alike(b, JOIST_OP_REDUCE_ANY, missing, folded_dims);
    *result = joist_mask_main_operation(b, b->m->operands);
    return;
  }
  if (b->m->op == JOIST_OP_REDUCE_MEAN) {
    *result = mean_of_rest(b, missing);
    return;
  }
  const joist_value_id rest = neutralized(b, b->m->operands[0], missing);
  *result = joist_mask_converted(b, joist_mask_main_operation(b, &rest),
                                 b->m->inference->signature.result[0]);
  const joist_dtype dtype = b->m->inference->signature.result[0].dtype;
  /* Where nothing is left, integers have no extreme; the extreme of floats is infinite. */
  if (combines_extremes(joist_op_combine(b->m->op)) && joist_dtype_kind(dtype) != JOIST_KIND_FLOAT)
    *mask = joist_mask_emit_alike(b, JOIST_OP_REDUCE_ALL, missing, folded_dims);
}

static void add_scan(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  if (b->m->remove) { /* missing elements stay so, and change nothing behind them */
    const joist_value_id rest = neutralized(b, b->m->operands[0], b->m->masks[0]);
    b->result_mask = *mask =
        joist_mask_reshaped(b, JOIST_OP_RESHAPE, b->m->masks[0], result_shape(b));
    *result = joist_mask_converted(b, joist_mask_main_operation(b, &rest),
                                   b->m->inference->signature.result[0]);
    return;
  }
  b->result_mask = *mask =
      joist_mask_emit_alike(b, JOIST_OP_CUMMAX, b->m->masks[0], 1u << JOIST_ATTRIBUTE_DIM);
  *result = joist_mask_main_operation(b, b->m->operands);
}

/* ---- matrices ---- */

/* Whether a matrix has a missing element. */
static void add_matrix(struct builder *b, joist_value_id *results, joist_value_id *masks) {
  const int64_t dims[] = {0, 1};
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, dims, 2);
  const joist_value_id x = joist_mask_filled_anyhow(b, b->m->operands[0], b->m->masks[0]);
  const joist_value_id first = joist_mask_main_operation(b, &x);
  const joist_value_id mask = joist_mask_emit(b, JOIST_OP_REDUCE_ANY, b->m->masks, 1, &attributes);
  give_results(b, first, mask, results, masks);
}

/* Whether a line along the dim, or the dims, has a missing element. */
static void add_line(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const uint32_t others = joist_attribute_mask(b->m->attributes);
  const int dim = joist_attribute_dim(b->m->attributes);
  int64_t dims[JOIST_RANK_MAX + 1];
  size_t count = 0;
  for (int d = 0; d < result_shape(b)->rank; d++)
    if (d == dim || (others >> d & 1)) dims[count++] = d;
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DROP, 0);
  const joist_value_id x = joist_mask_filled_anyhow(b, b->m->operands[0], b->m->masks[0]);
  *result = joist_mask_main_operation(b, &x);
  const joist_value_id lines = joist_mask_emit(b, JOIST_OP_REDUCE_ANY, b->m->masks, 1, &attributes);
  b->result_mask = *mask = joist_mask_broadcast(b, lines, result_shape(b));
}

/* Which rows of the first matrix, or columns of the second, have a missing element. */
static joist_value_id lines_missing(struct builder *b, size_t k) {
  if (!has_mask(b, k) || b->status != JOIST_OK) return JOIST_NO_MASK;
  const bool transposed = joist_attribute_flag(
      b->m->attributes, k == 0 ? JOIST_ATTRIBUTE_TRANSPOSE_LHS : JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  const int64_t summed[] = {(k == 0) == transposed ? 0 : 1};
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, summed, 1);
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DROP, 0);
  const joist_value_id lines =
      joist_mask_emit(b, JOIST_OP_REDUCE_ANY, &b->m->masks[k], 1, &attributes);
  if (b->status != JOIST_OK) return lines;
  struct joist_shape shape = value_of(b, lines)->shape;
  if (transposed) {
    const uint32_t extent = shape.extent[0];
    shape.extent[0] = shape.extent[1];
    shape.extent[1] = extent;
  }
  while (shape.rank < result_shape(b)->rank) shape.extent[shape.rank++] = 1;
  return joist_mask_reshaped(b, JOIST_OP_RESHAPE, lines, &shape);
}

static void add_product(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id rows = lines_missing(b, 0);
  b->result_mask = *mask =
      joist_mask_broadcast(b, joist_mask_either(b, rows, lines_missing(b, 1)), result_shape(b));
  *result = joist_mask_main_operation(b, b->m->operands);
}

/* ---- convolutions ---- */

/* A convolution of masks: TRUE where any element is. */
static joist_value_id convolved(struct builder *b, joist_value_id x, joist_value_id y,
                                uint32_t names) {
  struct joist_attributes attributes = joist_mask_kept_attributes(b, names);
  const int64_t ones[] = {1, 1, 1};
  const joist_value_id ids[] = {x, y};
  if (!(names >> JOIST_ATTRIBUTE_SHAPE & 1))
    joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_SHAPE, ones,
                              joist_attribute_length(b->m->attributes, JOIST_ATTRIBUTE_SHAPE));
  return joist_mask_emit(b, b->m->op, ids, 2, &attributes);
}

static joist_value_id all_of(struct builder *b, const struct joist_shape *shape) {
  return joist_mask_broadcast(b, joist_mask_constant(b, JOIST_BOOL, 1), shape);
}

/* Missing elements of the second operand are in the sums of all positions, if as factors of 0. */
static joist_value_id lines_of_second(struct builder *b) {
  if (!has_mask(b, 1) || b->status != JOIST_OK) return JOIST_NO_MASK;
  int64_t dims[JOIST_RANK_MAX];
  size_t count = 0;
  const uint32_t positions = joist_attribute_length(b->m->attributes, JOIST_ATTRIBUTE_SHAPE);
  if (b->m->op == JOIST_OP_CONV_KERNEL) dims[count++] = 0;
  for (uint32_t d = 0; d < positions; d++) dims[count++] = 2 + (int64_t)d;
  struct joist_attributes attributes = joist_mask_none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DROP, 0);
  const joist_value_id any =
      joist_mask_emit(b, JOIST_OP_REDUCE_ANY, &b->m->masks[1], 1, &attributes);
  struct joist_shape channels = *result_shape(b);
  for (int d = 0; d < channels.rank; d++) channels.extent[d] = 1;
  channels.extent[1] = value_of(b, b->m->operands[0])->shape.extent[1];
  return convolved(b, all_of(b, &channels), any, 1u << JOIST_ATTRIBUTE_K);
}

/* Missing elements of the first operand are where a window has them. */
static joist_value_id windows_of_first(struct builder *b) {
  if (!has_mask(b, 0) || b->status != JOIST_OK) return JOIST_NO_MASK;
  const struct joist_shape other = value_of(b, b->m->operands[1])->shape;
  return convolved(b, b->m->masks[0], all_of(b, &other),
                   1u << JOIST_ATTRIBUTE_STEP | 1u << JOIST_ATTRIBUTE_LOW |
                       1u << JOIST_ATTRIBUTE_INTERIOR | 1u << JOIST_ATTRIBUTE_K |
                       1u << JOIST_ATTRIBUTE_SHAPE);
}

static void add_window(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id first = windows_of_first(b);
  b->result_mask = *mask =
      joist_mask_broadcast(b, joist_mask_either(b, first, lines_of_second(b)), result_shape(b));
  *result = joist_mask_main_operation(b, b->m->operands);
}

/* ---- any of them ---- */

/* With NA_RM, NaN is left out as missing values are. */
static joist_value_id with_nan(struct builder *b) {
  const joist_value_id x = b->m->operands[0];
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  if (joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT) return b->m->masks[0];
  return joist_mask_either(b, b->m->masks[0], joist_mask_emit1(b, JOIST_OP_IS_NAN, x));
}

joist_status joist_missing_add(struct joist_program *program, const struct joist_missing *missing,
                               joist_value_id *results, joist_value_id *masks,
                               struct joist_error *error) {
  struct joist_missing all = *missing;
  struct builder builder = {program, &all, JOIST_NO_MASK, JOIST_OK, error}, *const b = &builder;
  joist_value_id removed = JOIST_NO_MASK;
  for (uint8_t r = 0; r < joist_operation(missing->op)->results; r++) masks[r] = JOIST_NO_MASK;
  if (all.remove) {
    removed = with_nan(b);
    all.masks = &removed;
  }
  bool any = false;
  for (size_t k = 0; k < all.count; k++) any |= has_mask(b, k);
  if (!any) {
    give_results(b, joist_mask_main_operation(b, all.operands), JOIST_NO_MASK, results, masks);
    return b->status;
  }
  switch (joist_op_missing_rule(missing->op)) {
    case JOIST_MISSING_ANY:
      add_any(b, results, masks);
      break;
    case JOIST_MISSING_IMAGINARY:
      add_imaginary(b, results, masks);
      break;
    case JOIST_MISSING_FALSE:
      add_false(b, results);
      break;
    case JOIST_MISSING_KLEENE:
      if (joist_op_is_reduction(missing->op))
        add_truth(b, results, masks);
      else
        add_logic(b, results, masks);
      break;
    case JOIST_MISSING_POWER:
      add_power(b, results, masks);
      break;
    case JOIST_MISSING_SELECT:
      add_select(b, results, masks);
      break;
    case JOIST_MISSING_ALONG:
      add_along(b, results, masks);
      break;
    case JOIST_MISSING_FOLD:
      add_fold(b, results, masks);
      break;
    case JOIST_MISSING_SCAN:
      add_scan(b, results, masks);
      break;
    case JOIST_MISSING_ORDER:
      joist_missing_add_order(b, results, masks);
      break;
    case JOIST_MISSING_MATRIX:
      add_matrix(b, results, masks);
      break;
    case JOIST_MISSING_LINE:
      add_line(b, results, masks);
      break;
    case JOIST_MISSING_PRODUCT:
      add_product(b, results, masks);
      break;
    case JOIST_MISSING_WINDOW:
      add_window(b, results, masks);
      break;
    case JOIST_MISSING_NONE:
    case JOIST_MISSING_REFUSE:
      joist_mask_refuse(b);
  }
  return b->status;
}
