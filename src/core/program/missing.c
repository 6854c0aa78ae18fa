/* One function for each rule of ops.def. */
#include "core/program/missing.h"

#include <math.h>
#include <stdlib.h>

#include "core/promotion/builtin_rules.h"
#include "core/types/error.h"

/* Appends instructions until one fails; later ones are then left out. */
struct builder {
  struct joist_program *program;
  const struct joist_missing *m;
  joist_value_id
      result_mask; /* of the operation's result, where it is known before the operation */
  joist_status status;
  struct joist_error *error;
};

static const struct joist_attributes none = {.count = 0};
static const struct joist_type known_bool = {JOIST_BOOL, false};

static const struct joist_value *value_of(const struct builder *b, joist_value_id id) {
  return &b->program->values[id];
}

static const struct joist_shape *result_shape(const struct builder *b) {
  return &b->m->inference->shape[0];
}

/* ---- appending ---- */

static joist_value_id append(struct builder *b, joist_op op,
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

/* The operation itself, on these operands. */
static joist_value_id main_operation(struct builder *b, const joist_value_id *ids) {
  return append(b, b->m->op, b->m->inference, ids, b->m->count, b->m->attributes);
}

static struct joist_argument argument_of(const struct builder *b, joist_value_id id) {
  const struct joist_value *const value = value_of(b, id);
  return (struct joist_argument){.operand = {.type = value->type, .rank = value->shape.rank},
                                 .shape = value->shape,
                                 .value = id};
}

/* Another operation, on values of dtypes that need no promotion. */
static joist_value_id emit(struct builder *b, joist_op op, const joist_value_id *ids, size_t n,
                           const struct joist_attributes *attributes) {
  enum { FEW = 3 };
  struct joist_argument few[FEW], *arguments = few;
  struct joist_inference inference;
  if (b->status != JOIST_OK) return 0;
  if (n > FEW) arguments = malloc(n * sizeof *arguments);
  if (arguments == NULL) {
    b->status = JOIST_FAIL(b->error, JOIST_E_OUT_OF_MEMORY);
    return 0;
  }
  for (size_t k = 0; k < n; k++) arguments[k] = argument_of(b, ids[k]);
  b->status =
      joist_program_infer(joist_rules_at(0), op, arguments, n, attributes, &inference, b->error);
  if (arguments != few) free(arguments);
  return append(b, op, &inference, ids, n, attributes);
}

static joist_value_id emit1(struct builder *b, joist_op op, joist_value_id x) {
  return emit(b, op, &x, 1, &none);
}

static joist_value_id emit2(struct builder *b, joist_op op, joist_value_id x, joist_value_id y) {
  const joist_value_id ids[] = {x, y};
  return emit(b, op, ids, 2, &none);
}

static joist_value_id emit3(struct builder *b, joist_op op, joist_value_id x, joist_value_id y,
                            joist_value_id z) {
  const joist_value_id ids[] = {x, y, z};
  return emit(b, op, ids, 3, &none);
}

/* Those attributes of the operation that are among `names`, a set of bits. */
static struct joist_attributes kept_attributes(const struct builder *b, uint32_t names) {
  struct joist_attributes kept = {.count = 0};
  for (uint32_t k = 0; k < b->m->attributes->count; k++)
    if (names >> b->m->attributes->item[k].name & 1)
      kept.item[kept.count++] = b->m->attributes->item[k];
  return kept;
}

/* Which dims are folded, and whether the result has them. */
static const uint32_t folded_dims = 1u << JOIST_ATTRIBUTE_DIMS | 1u << JOIST_ATTRIBUTE_DROP;

/* Another operation on one value, with some attributes of the operation. */
static joist_value_id emit_alike(struct builder *b, joist_op op, joist_value_id x, uint32_t names) {
  const struct joist_attributes kept = kept_attributes(b, names);
  return emit(b, op, &x, 1, &kept);
}

static joist_value_id converted(struct builder *b, joist_value_id x, struct joist_type type) {
  if (b->status != JOIST_OK) return 0;
  const struct joist_value *const value = value_of(b, x);
  if (value->type.dtype == type.dtype && value->type.ambiguous == type.ambiguous) return x;
  struct joist_attributes attributes = none;
  joist_attributes_set_type(&attributes, type);
  return emit(b, JOIST_OP_CONVERT, &x, 1, &attributes);
}

/* A scalar. */
static joist_value_id constant(struct builder *b, joist_dtype dtype, double number) {
  const struct joist_shape one = {1, {1}}, scalar = {.rank = 0};
  struct joist_attributes attributes = none, shape = none;
  int64_t extents[JOIST_RANK_MAX], no_extents[JOIST_RANK_MAX];
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, 0);
  joist_attributes_set_number(&attributes, JOIST_ATTRIBUTE_FROM, number);
  joist_attributes_set_shape(&attributes, &one, extents);
  joist_attributes_set_type(&attributes, (struct joist_type){dtype, false});
  const joist_value_id made = emit(b, JOIST_OP_IOTA, NULL, 0, &attributes);
  joist_attributes_set_shape(&shape, &scalar, no_extents);
  return emit(b, JOIST_OP_RESHAPE, &made, 1, &shape);
}

static joist_value_id reshaped(struct builder *b, joist_op op, joist_value_id x,
                               const struct joist_shape *shape) {
  if (b->status != JOIST_OK || joist_shape_equal(&value_of(b, x)->shape, shape)) return x;
  struct joist_attributes attributes = none;
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  return emit(b, op, &x, 1, &attributes);
}

static joist_value_id broadcast(struct builder *b, joist_value_id x,
                                const struct joist_shape *shape) {
  return reshaped(b, JOIST_OP_BROADCAST, x, shape);
}

/* ---- masks ---- */

static bool has_mask(const struct builder *b, size_t k) { return b->m->masks[k] != JOIST_NO_MASK; }

/* Where either mask is TRUE; one of them may be none. */
static joist_value_id either(struct builder *b, joist_value_id x, joist_value_id y) {
  if (x == JOIST_NO_MASK) return y;
  return y == JOIST_NO_MASK || x == y ? x : emit2(b, JOIST_OP_OR, x, y);
}

/* A mask for operand k, which is FALSE everywhere if it has none. */
static joist_value_id mask_of(struct builder *b, size_t k) {
  if (has_mask(b, k)) return b->m->masks[k];
  if (b->status != JOIST_OK) return 0;
  const struct joist_shape shape = value_of(b, b->m->operands[k])->shape;
  return broadcast(b, constant(b, JOIST_BOOL, 0), &shape);
}

/* x, in the dtype it is computed in if its own, of a byte, lacks 0 or 1. */
static joist_value_id able_to_hold(struct builder *b, joist_value_id x, double number) {
  const joist_dtype dtype = value_of(b, x)->type.dtype, wide = joist_dtype_compute(dtype);
  const bool is_float = joist_dtype_kind(dtype) == JOIST_KIND_FLOAT;
  const bool fits = is_float ? number != 0 || joist_dtype_has_zero(dtype)
                             : wide == dtype || number <= (double)joist_dtype_max_int(dtype);
  return fits ? x : converted(b, x, (struct joist_type){wide, value_of(b, x)->type.ambiguous});
}

/* x, with a number in the places of a mask. */
static joist_value_id filled(struct builder *b, joist_value_id x, joist_value_id mask,
                             double number) {
  if (b->status != JOIST_OK || mask == JOIST_NO_MASK) return x;
  x = able_to_hold(b, x, number);
  const joist_value_id with = constant(b, value_of(b, x)->type.dtype, number);
  return emit3(b, JOIST_OP_IFELSE, mask, with, x);
}

/* x, with some small number that its dtype has in the places of a mask: 0, unless it has none. */
static joist_value_id filled_anyhow(struct builder *b, joist_value_id x, joist_value_id mask) {
  if (b->status != JOIST_OK) return x;
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  return filled(b, x, mask, joist_dtype_has_zero(dtype) ? 0 : joist_dtype_min_float(dtype));
}

/* x, with the largest or the smallest number of its dtype in the places of a mask. */
static joist_value_id filled_extreme(struct builder *b, joist_value_id x, joist_value_id mask,
                                     bool largest) {
  if (b->status != JOIST_OK) return 0;
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT && joist_dtype_has_infinity(dtype))
    return filled(b, x, mask, largest ? INFINITY : -INFINITY);
  if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT)
    return filled(b, x, mask,
                  largest ? joist_dtype_max_float(dtype) : joist_dtype_min_float(dtype));
  const double least = (double)joist_dtype_min_int(dtype);
  if (!largest) return filled(b, x, mask, least);
  /* The largest i64 is not a double. */
  const joist_value_id with = emit1(b, JOIST_OP_BITWISE_NOT, constant(b, dtype, least));
  return emit3(b, JOIST_OP_IFELSE, mask, with, x);
}

/* Where any operand is missing, in the shape of the result. */
static joist_value_id any_missing(struct builder *b) {
  joist_value_id mask = JOIST_NO_MASK;
  for (size_t k = 0; k < b->m->count; k++) mask = either(b, mask, b->m->masks[k]);
  return mask == JOIST_NO_MASK ? mask : broadcast(b, mask, result_shape(b));
}

/* Operands of an operation that can fail at an element get 1 where the result is missing. */
static joist_value_id add_checked(struct builder *b, joist_value_id mask) {
  const joist_value_id *const own = b->m->operands;
  b->result_mask = mask;
  if (!joist_op_can_fail(b->m->op, b->m->inference->signature.compute))
    return main_operation(b, own);
  /* int1 has -1 and 0, and no negative powers. */
  const bool has_one = b->status != JOIST_OK || value_of(b, own[1])->type.dtype != JOIST_INT1;
  const double harmless = has_one ? 1 : b->m->op == JOIST_OP_POW ? 0 : -1;
  const joist_value_id ids[] = {own[0], filled(b, own[1], mask, harmless)};
  return main_operation(b, ids);
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
  *result = main_operation(b, b->m->operands);
  if (joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX) *mask = b->m->masks[0];
}

static void add_false(struct builder *b, joist_value_id *result) {
  const joist_value_id made = main_operation(b, b->m->operands);
  *result = emit2(b, JOIST_OP_AND, made, emit1(b, JOIST_OP_NOT, b->m->masks[0]));
}

/* Where one operand is missing and the other leaves the result open, which it does where it is
 * TRUE (of `and`) or FALSE (of `or`). */
static joist_value_id left_open(struct builder *b, size_t k) {
  if (!has_mask(b, k)) return JOIST_NO_MASK;
  const size_t l = 1 - k;
  joist_value_id open = converted(b, b->m->operands[l], known_bool);
  if (b->m->op == JOIST_OP_OR) open = emit1(b, JOIST_OP_NOT, open);
  return emit2(b, JOIST_OP_AND, b->m->masks[k], either(b, open, b->m->masks[l]));
}

static void add_logic(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  *result = main_operation(b, b->m->operands);
  const joist_value_id first = left_open(b, 0);
  *mask = broadcast(b, either(b, first, left_open(b, 1)), result_shape(b));
}

/* any() and all(): an element that decides it is not missing. */
static void add_truth(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const bool all = b->m->op == JOIST_OP_REDUCE_ALL;
  const joist_value_id missing = b->m->masks[0];
  const joist_value_id neutral = filled(b, b->m->operands[0], missing, all);
  *result = main_operation(b, &neutral);
  if (b->m->remove) return;
  const joist_value_id open = all ? *result : emit1(b, JOIST_OP_NOT, *result);
  *mask = emit2(b, JOIST_OP_AND, emit_alike(b, JOIST_OP_REDUCE_ANY, missing, folded_dims), open);
}

/* x^0 and 1^x are 1, whatever x is; as in R, not 1^x of a complex 1. */
static void add_power(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id *const ids = b->m->operands, *const masks = b->m->masks;
  joist_value_id open[] = {JOIST_NO_MASK, JOIST_NO_MASK};
  if (has_mask(b, 0)) { /* where the exponent is not 0 */
    const joist_value_id differs = converted(b, ids[1], known_bool);
    open[0] = emit2(b, JOIST_OP_AND, masks[0], either(b, masks[1], differs));
  }
  const joist_dtype base = joist_signature_operand(&b->m->inference->signature, 0);
  if (has_mask(b, 1) && joist_dtype_kind(base) == JOIST_KIND_COMPLEX) {
    open[1] = masks[1];
  } else if (has_mask(b, 1)) {                              /* where the base is not 1 */
    const joist_value_id wide = able_to_hold(b, ids[0], 1); /* int1 has no 1 */
    const joist_value_id one = constant(b, value_of(b, wide)->type.dtype, 1);
    const joist_value_id differs = emit2(b, JOIST_OP_NE, wide, one);
    open[1] = emit2(b, JOIST_OP_AND, masks[1], either(b, masks[0], differs));
  }
  *mask = broadcast(b, either(b, open[0], open[1]), result_shape(b));
  *result = add_checked(b, either(b, masks[1], *mask));
}

static void add_select(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id condition = b->m->operands[0];
  joist_value_id chosen = JOIST_NO_MASK;
  *result = main_operation(b, b->m->operands);
  if (has_mask(b, 1) && has_mask(b, 2))
    chosen = emit3(b, JOIST_OP_IFELSE, condition, b->m->masks[1], b->m->masks[2]);
  else if (has_mask(b, 1))
    chosen = emit2(b, JOIST_OP_AND, condition, b->m->masks[1]);
  else if (has_mask(b, 2))
    chosen = emit2(b, JOIST_OP_AND, emit1(b, JOIST_OP_NOT, condition), b->m->masks[2]);
  *mask = broadcast(b, either(b, b->m->masks[0], chosen), result_shape(b));
}

/* ---- moving elements ---- */

/* x with one more position along a dim; with one more element, in one dim, if `dim` is negative. */
static joist_value_id extended(struct builder *b, joist_value_id x, int dim) {
  if (b->status != JOIST_OK) return 0;
  if (dim < 0) {
    const struct joist_shape line = {1, {(uint32_t)joist_value_count(value_of(b, x))}};
    x = reshaped(b, JOIST_OP_RESHAPE, x, &line);
  }
  if (b->status != JOIST_OK) return 0;
  const struct joist_value value = *value_of(b, x);
  struct joist_attributes attributes = none;
  int64_t high[JOIST_RANK_MAX] = {0};
  high[dim < 0 ? 0 : dim] = 1;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_HIGH, high, (size_t)value.shape.rank);
  const double any = joist_dtype_has_zero(value.type.dtype) ? 0 : 1;
  const joist_value_id both[] = {x, constant(b, value.type.dtype, any)};
  return emit(b, JOIST_OP_PAD, both, 2, &attributes);
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
    const joist_value_id added = constant(b, dtype, first), beyond = constant(b, dtype, first + 1);
    ids[0] = extended(b, ids[0], dim);
    ids[1] = emit3(b, JOIST_OP_IFELSE, b->m->masks[1], added, beyond);
  } else {
    ids[1] = filled(b, ids[1], b->m->masks[1], first);
  }
  *result = main_operation(b, ids);
  if (has_mask(b, 0) && !nothing) {
    const joist_value_id both[] = {b->m->masks[0], ids[1]};
    *mask = emit(b, b->m->op, both, 2, b->m->attributes);
  }
  if (!has_mask(b, 1) || b->status != JOIST_OK) return;
  joist_value_id index = b->m->masks[1];
  if (b->m->op == JOIST_OP_GATHER) {
    const int rank = value_of(b, index)->shape.rank;
    struct joist_shape beside = *result_shape(b);
    for (int d = 0; d < beside.rank; d++)
      if (d < dim || d >= dim + rank) beside.extent[d] = 1;
    index = reshaped(b, JOIST_OP_RESHAPE, index, &beside);
  }
  *mask = broadcast(b, either(b, *mask, index), result_shape(b));
}

static void add_concatenate(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const size_t count = b->m->count;
  joist_value_id *const ids = malloc(count * sizeof *ids);
  if (ids == NULL) b->status = JOIST_FAIL(b->error, JOIST_E_OUT_OF_MEMORY);
  *result = main_operation(b, b->m->operands);
  for (size_t k = 0; k < count && b->status == JOIST_OK; k++) ids[k] = mask_of(b, k);
  *mask = emit(b, JOIST_OP_CONCATENATE, ids, count, b->m->attributes);
  free(ids);
}

static void refuse(struct builder *b) {
  if (b->status == JOIST_OK)
    b->status = JOIST_FAIL(b->error, JOIST_E_MISSING_VALUES, .op = joist_op_name(b->m->op));
}

/* Counts the missing elements that each sum is of. */
static joist_value_id scattered(struct builder *b, joist_value_id ids[3]) {
  const struct joist_type counts = {JOIST_I32, false};
  ids[0] = converted(b, ids[0], counts);
  ids[2] = converted(b, ids[2], counts);
  return emit(b, JOIST_OP_SCATTER_ADD, ids, 3, b->m->attributes);
}

/* Operations that replace elements of the first operand by elements of the last, or add them. An
 * operand between the two has their positions. */
static void add_assign(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const size_t last = b->m->count - 1;
  joist_value_id ids[3] = {0, b->m->operands[1]};
  if (last == 2 && has_mask(b, 1)) {
    refuse(b);
    return;
  }
  ids[0] = mask_of(b, 0);
  ids[last] = mask_of(b, last);
  if (b->m->op == JOIST_OP_SCATTER_ADD)
    *mask = converted(b, scattered(b, ids), known_bool);
  else
    *mask = emit(b, b->m->op, ids, b->m->count, b->m->attributes);
  b->result_mask = *mask;
  *result = main_operation(b, b->m->operands);
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
      add_assign(b, result, mask);
      return;
    case JOIST_OP_REQUIRE:
      if (has_mask(b, 1)) {
        refuse(b);
        return;
      }
      *result = main_operation(b, b->m->operands);
      *mask = b->m->masks[0];
      return;
    case JOIST_OP_ALIAS:
      *result = main_operation(b, b->m->operands);
      *mask = b->m->masks[0];
      return;
    default:
      *result = main_operation(b, b->m->operands);
      *mask = emit(b, b->m->op, b->m->masks, 1, b->m->attributes);
  }
}

/* ---- along dims ---- */

static bool combines_extremes(joist_op combine) {
  return combine == JOIST_OP_MIN || combine == JOIST_OP_MAX;
}

/* x where the elements that are left out are the identity of a reduction. */
static joist_value_id neutralized(struct builder *b, joist_value_id x, joist_value_id mask) {
  const joist_op combine = joist_op_combine(b->m->op);
  if (combines_extremes(combine)) return filled_extreme(b, x, mask, combine == JOIST_OP_MIN);
  return filled(b, x, mask, combine == JOIST_OP_MUL);
}

/* A sum over the dims of the operation. */
static joist_value_id summed(struct builder *b, joist_value_id x, joist_dtype dtype) {
  struct joist_attributes attributes = kept_attributes(b, folded_dims);
  joist_attributes_set_type(&attributes, (struct joist_type){dtype, false});
  return emit(b, JOIST_OP_REDUCE_SUM, &x, 1, &attributes);
}

/* A sum divided by the number of elements that are left. */
static joist_value_id mean_of_rest(struct builder *b, joist_value_id mask) {
  const struct joist_type made = b->m->inference->signature.result[0];
  const joist_dtype wide = joist_op_part_dtype(b->m->op, made.dtype);
  const joist_value_id rest = neutralized(b, b->m->operands[0], mask);
  const joist_value_id sum = summed(b, rest, wide);
  const joist_value_id count = summed(b, emit1(b, JOIST_OP_NOT, mask), JOIST_I64);
  const struct joist_type divisor = {JOIST_F64, false};
  return converted(b, emit2(b, JOIST_OP_DIV, sum, converted(b, count, divisor)), made);
}

static void add_fold(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id missing = b->m->masks[0];
  if (!b->m->remove) {
    b->result_mask = *mask = emit_alike(b, JOIST_OP_REDUCE_ANY, missing, folded_dims);
    *result = main_operation(b, b->m->operands);
    return;
  }
  if (b->m->op == JOIST_OP_REDUCE_MEAN) {
    *result = mean_of_rest(b, missing);
    return;
  }
  const joist_value_id rest = neutralized(b, b->m->operands[0], missing);
  *result = converted(b, main_operation(b, &rest), b->m->inference->signature.result[0]);
  const joist_dtype dtype = b->m->inference->signature.result[0].dtype;
  /* Where nothing is left, integers have no extreme; the extreme of floats is infinite. */
  if (combines_extremes(joist_op_combine(b->m->op)) && joist_dtype_kind(dtype) != JOIST_KIND_FLOAT)
    *mask = emit_alike(b, JOIST_OP_REDUCE_ALL, missing, folded_dims);
}

static void add_scan(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  if (b->m->remove) { /* missing elements stay so, and change nothing behind them */
    const joist_value_id rest = neutralized(b, b->m->operands[0], b->m->masks[0]);
    b->result_mask = *mask = reshaped(b, JOIST_OP_RESHAPE, b->m->masks[0], result_shape(b));
    *result = converted(b, main_operation(b, &rest), b->m->inference->signature.result[0]);
    return;
  }
  b->result_mask = *mask =
      emit_alike(b, JOIST_OP_CUMMAX, b->m->masks[0], 1u << JOIST_ATTRIBUTE_DIM);
  *result = main_operation(b, b->m->operands);
}

/* ---- order ---- */

static joist_value_id ordered(struct builder *b, joist_op op, joist_value_id x, bool decreasing) {
  struct joist_attributes attributes = none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, joist_attribute_dim(b->m->attributes));
  if (decreasing) joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DECREASING, 1);
  return emit(b, op, &x, 1, &attributes);
}

static joist_value_id taken(struct builder *b, joist_value_id x, joist_value_id positions) {
  const joist_value_id ids[] = {x, positions};
  struct joist_attributes attributes = none;
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, joist_attribute_dim(b->m->attributes));
  return emit(b, JOIST_OP_TAKE_ALONG, ids, 2, &attributes);
}

/* The positions in the order of the elements, the positions of missing ones last: sorting is
 * stable. */
static joist_value_id order_of(struct builder *b, joist_value_id x, joist_value_id mask) {
  const bool decreasing = joist_attribute_flag(b->m->attributes, JOIST_ATTRIBUTE_DECREASING);
  const joist_value_id first = ordered(b, JOIST_OP_ARGSORT, filled_anyhow(b, x, mask), decreasing);
  const joist_value_id second = ordered(b, JOIST_OP_ARGSORT, taken(b, mask, first), false);
  return taken(b, first, second);
}

static void add_sort(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id x = b->m->operands[0], missing = b->m->masks[0];
  joist_value_id order = order_of(b, x, missing);
  if (b->m->op == JOIST_OP_SORT) {
    *result = converted(b, taken(b, x, order), b->m->inference->signature.result[0]);
    *mask = taken(b, missing, order);
    return;
  }
  if (b->m->op == JOIST_OP_TOP_K && b->status == JOIST_OK) {
    const struct joist_shape *const shape = &value_of(b, order)->shape;
    struct joist_attributes attributes = none;
    int64_t start[JOIST_RANK_MAX] = {0}, stop[JOIST_RANK_MAX];
    for (int d = 0; d < shape->rank; d++) stop[d] = (int64_t)result_shape(b)->extent[d] - 1;
    joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_START, start, (size_t)shape->rank);
    joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_STOP, stop, (size_t)shape->rank);
    order = emit(b, JOIST_OP_SLICE, &order, 1, &attributes);
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
    *result = main_operation(b, b->m->operands);
    return;
  }
  for (int d = 0; d < value.shape.rank; d++)
    if (dim < 0 || d == dim) dims[count++] = d;
  struct joist_attributes dropped = kept_attributes(b, 1u << JOIST_ATTRIBUTE_DROP), kept = none;
  joist_attributes_set_list(&dropped, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set_list(&kept, JOIST_ATTRIBUTE_DIMS, dims, count);
  joist_attributes_set(&kept, JOIST_ATTRIBUTE_DROP, 0);
  const joist_value_id rest = filled_extreme(b, x, missing, is_min);
  const joist_value_id extreme =
      emit(b, is_min ? JOIST_OP_REDUCE_MIN : JOIST_OP_REDUCE_MAX, &rest, 1, &kept);
  joist_value_id hits = emit2(b, JOIST_OP_EQ, rest, extreme);
  if (joist_dtype_kind(value.type.dtype) == JOIST_KIND_FLOAT)
    hits = emit2(b, JOIST_OP_OR, hits, emit1(b, JOIST_OP_IS_NAN, rest));
  hits = emit2(b, JOIST_OP_AND, hits, emit1(b, JOIST_OP_NOT, missing));
  *result = emit(b, JOIST_OP_ARGMAX, &hits, 1, b->m->attributes);
  *mask = emit(b, JOIST_OP_REDUCE_ALL, &missing, 1, &dropped);
}

/* DIM or DIMS of a value with one dim. */
static struct joist_attributes of_line(joist_attribute_name name) {
  struct joist_attributes attributes = none;
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
  const joist_value_id positions = emit(b, JOIST_OP_ARGSORT, &mask, 1, &along);
  const joist_value_id present = emit1(b, JOIST_OP_NOT, mask);
  const joist_value_id left = emit(b, JOIST_OP_REDUCE_SUM, &present, 1, &all);
  const joist_value_id reordered[] = {table, positions};
  const joist_value_id ids[] = {b->m->operands[0],
                                emit(b, JOIST_OP_TAKE_ALONG, reordered, 2, &along)};
  const joist_value_id found = append(b, JOIST_OP_MATCH, b->m->inference, ids, 2, &none);
  const joist_value_id one = constant(b, JOIST_I32, 1);
  const joist_value_id any = emit2(b, JOIST_OP_GE, found, one);
  const joist_value_id hit = emit2(b, JOIST_OP_AND, any, emit2(b, JOIST_OP_LE, found, left));
  const joist_value_id safe[] = {positions, emit3(b, JOIST_OP_IFELSE, hit, found, one)};
  const joist_value_id place = emit(b, JOIST_OP_GATHER, safe, 2, &along);
  return emit3(b, JOIST_OP_IFELSE, hit, place, nomatch);
}

/* Missing elements match the first missing one of the table. */
static void add_match(struct builder *b, joist_value_id *result) {
  const size_t n = joist_value_count(value_of(b, b->m->operands[1]));
  const joist_value_id nomatch = constant(
      b, JOIST_I32, (double)joist_attribute_value(b->m->attributes, JOIST_ATTRIBUTE_NOMATCH));
  joist_value_id missing_at = nomatch;
  if (!has_mask(b, 1) || n == 0) {
    *result = main_operation(b, b->m->operands);
  } else {
    const struct joist_shape line = {1, {(uint32_t)n}};
    const struct joist_attributes along = of_line(JOIST_ATTRIBUTE_DIM);
    const struct joist_attributes all = of_line(JOIST_ATTRIBUTE_DIMS);
    const joist_value_id table = reshaped(b, JOIST_OP_RESHAPE, b->m->operands[1], &line);
    const joist_value_id mask = reshaped(b, JOIST_OP_RESHAPE, b->m->masks[1], &line);
    *result = match_present(b, table, mask, nomatch);
    const joist_value_id first = emit(b, JOIST_OP_ARGMAX, &mask, 1, &along);
    const joist_value_id any = emit(b, JOIST_OP_REDUCE_ANY, &mask, 1, &all);
    missing_at = emit3(b, JOIST_OP_IFELSE, any, first, nomatch);
  }
  if (has_mask(b, 0)) *result = emit3(b, JOIST_OP_IFELSE, b->m->masks[0], missing_at, *result);
}

static void add_order(struct builder *b, joist_value_id *result, joist_value_id *mask) {
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
      bins = filled_anyhow(b, b->m->operands[0], b->m->masks[0]);
      *result = main_operation(b, &bins);
      return;
    default:
      if (has_mask(b, 0)) refuse(b);
      *result = main_operation(b, b->m->operands);
      *mask = b->m->masks[1];
  }
}

/* ---- matrices ---- */

/* Whether a matrix has a missing element. */
static void add_matrix(struct builder *b, joist_value_id *results, joist_value_id *masks) {
  const int64_t dims[] = {0, 1};
  struct joist_attributes attributes = none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, dims, 2);
  const joist_value_id x = filled_anyhow(b, b->m->operands[0], b->m->masks[0]);
  const joist_value_id first = main_operation(b, &x);
  const joist_value_id mask = emit(b, JOIST_OP_REDUCE_ANY, b->m->masks, 1, &attributes);
  give_results(b, first, mask, results, masks);
}

/* Which rows of the first matrix, or columns of the second, have a missing element. */
static joist_value_id lines_missing(struct builder *b, size_t k) {
  if (!has_mask(b, k) || b->status != JOIST_OK) return JOIST_NO_MASK;
  const bool transposed = joist_attribute_flag(
      b->m->attributes, k == 0 ? JOIST_ATTRIBUTE_TRANSPOSE_LHS : JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  const int64_t summed[] = {(k == 0) == transposed ? 0 : 1};
  struct joist_attributes attributes = none;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_DIMS, summed, 1);
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DROP, 0);
  const joist_value_id lines = emit(b, JOIST_OP_REDUCE_ANY, &b->m->masks[k], 1, &attributes);
  if (b->status != JOIST_OK) return lines;
  struct joist_shape shape = value_of(b, lines)->shape;
  if (transposed) {
    const uint32_t extent = shape.extent[0];
    shape.extent[0] = shape.extent[1];
    shape.extent[1] = extent;
  }
  while (shape.rank < result_shape(b)->rank) shape.extent[shape.rank++] = 1;
  return reshaped(b, JOIST_OP_RESHAPE, lines, &shape);
}

static void add_product(struct builder *b, joist_value_id *result, joist_value_id *mask) {
  const joist_value_id rows = lines_missing(b, 0);
  b->result_mask = *mask = broadcast(b, either(b, rows, lines_missing(b, 1)), result_shape(b));
  *result = main_operation(b, b->m->operands);
}

/* ---- any of them ---- */

/* With NA_RM, NaN is left out as missing values are. */
static joist_value_id with_nan(struct builder *b) {
  const joist_value_id x = b->m->operands[0];
  const joist_dtype dtype = value_of(b, x)->type.dtype;
  if (joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT) return b->m->masks[0];
  return either(b, b->m->masks[0], emit1(b, JOIST_OP_IS_NAN, x));
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
    give_results(b, main_operation(b, all.operands), JOIST_NO_MASK, results, masks);
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
      add_order(b, results, masks);
      break;
    case JOIST_MISSING_MATRIX:
      add_matrix(b, results, masks);
      break;
    case JOIST_MISSING_PRODUCT:
      add_product(b, results, masks);
      break;
    case JOIST_MISSING_NONE:
    case JOIST_MISSING_REFUSE:
      refuse(b);
  }
  return b->status;
}
