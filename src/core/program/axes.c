/* One function for each way in which operations carry dims over. */
#include "core/program/axes.h"

typedef enum {
  NEW,
  EACH,
  FIRST, /* as the first operand, which has the shape of the result */
  TEST,  /* as the first operand if it has that shape, as R's ifelse() */
  BROADCAST,
  LINES, /* as the first operand but for the dim along which elements are ordered */
  RESHAPE,
  PERMUTE,
  SLICE,
  GATHER,
  JOIN,
  REDUCE,
  POSITION,
  MATRIX_PRODUCT,
  CONVOLUTION,
  SOLUTION,
  INVERSE
} rule;

static rule rule_of(joist_op op) {
  static const rule stated[JOIST_OP_COUNT] = {
#define CUMULATIVE(ID, NAME, CLASS, KINDS, COMBINE, ATTRIBUTES) [JOIST_OP_##ID] = FIRST,
#define AXES(ID, RULE) [JOIST_OP_##ID] = RULE,
#include "core/program/ops.def"
  };
  if (stated[op] != NEW) return stated[op];
  return joist_operation(op)->family == JOIST_FAMILY_ELEMENTWISE ? EACH
         : joist_op_is_reduction(op)                             ? REDUCE
                                                                 : NEW;
}

/* Dim d of the first operand, without its positions. */
static struct joist_axis label(int d) {
  return (struct joist_axis){.kind = JOIST_AXIS_LABEL, .dim = d};
}

/* Dim d of an operand, all positions in their order. */
static struct joist_axis whole(uint32_t operand, int d) {
  return (struct joist_axis){JOIST_AXIS_RANGE, operand, d, 0, 1};
}

static void same(uint32_t operand, const struct joist_shape *from, const struct joist_shape *to,
                 struct joist_axis *axes) {
  if (from->rank != to->rank) return;
  for (int d = 0; d < to->rank; d++)
    if (from->extent[d] == to->extent[d]) axes[d] = whole(operand, d);
}

/* Extents of 1 come and go; all others are in their order. A row of all elements has no names, as
 * in R. */
static void reshaped(const struct joist_shape *from, const struct joist_shape *to,
                     struct joist_axis *axes) {
  int at[JOIST_RANK_MAX], count = 0, d = 0;
  if (to->rank == 1 && from->rank > 1) return;
  if (joist_shape_equal(from, to)) {
    same(0, from, to, axes);
    return;
  }
  for (int k = 0; k < from->rank; k++)
    if (from->extent[k] != 1) at[count++] = k;
  for (int k = 0; k < to->rank; k++) {
    if (to->extent[k] == 1) continue;
    if (d == count || from->extent[at[d]] != to->extent[k]) return;
    d++;
  }
  if (d != count) return;
  for (int k = 0, next = 0; k < to->rank; k++)
    if (to->extent[k] != 1) axes[k] = whole(0, at[next++]);
}

static void permuted(const struct joist_attributes *attributes, const struct joist_shape *to,
                     struct joist_axis *axes) {
  for (int d = 0; d < to->rank; d++)
    axes[d] = whole(0, (int)joist_attribute_at(attributes, JOIST_ATTRIBUTE_PERMUTATION, d));
}

static void sliced(const struct joist_attributes *attributes, const struct joist_shape *from,
                   const struct joist_shape *to, struct joist_axis *axes) {
  const bool drops = to->rank != from->rank;
  for (int d = 0, k = 0; d < from->rank && k < to->rank; d++) {
    const int64_t start = joist_attribute_at(attributes, JOIST_ATTRIBUTE_START, d);
    const int64_t stop = joist_attribute_at(attributes, JOIST_ATTRIBUTE_STOP, d);
    const int64_t step = joist_attribute_at(attributes, JOIST_ATTRIBUTE_STEP, d);
    if (drops && start == stop) continue;
    axes[k++] = (struct joist_axis){JOIST_AXIS_RANGE, 0, d, start, step};
  }
}

static void reduced(uint32_t gone, const struct joist_shape *from, const struct joist_shape *to,
                    struct joist_axis *axes) {
  const bool drops = to->rank != from->rank;
  for (int d = 0, k = 0; d < from->rank && k < to->rank; d++) {
    const bool goes = gone >> d & 1;
    if (goes && drops) continue;
    axes[k++] = goes ? label(d) : whole(0, d);
  }
}

/* Batch dims are the first operand's, or of the second where it has the extent. */
static void batched(const struct joist_shape *const *operands, size_t n, int first,
                    const struct joist_shape *to, struct joist_axis *axes) {
  for (int d = first; d < to->rank; d++)
    for (uint32_t k = 0; k < n; k++)
      if (operands[k]->rank > d && operands[k]->extent[d] == to->extent[d]) {
        axes[d] = whole(k, d);
        break;
      }
}

static void matrix_product(const struct joist_attributes *attributes,
                           const struct joist_shape *const *operands, const struct joist_shape *to,
                           struct joist_axis *axes) {
  const bool transposed_lhs = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_LHS);
  const bool transposed_rhs = joist_attribute_flag(attributes, JOIST_ATTRIBUTE_TRANSPOSE_RHS);
  const int lhs = operands[0]->rank, rhs = operands[1]->rank;
  int d = 0;
  if (lhs >= 2 && d < to->rank) axes[d++] = whole(0, transposed_lhs ? 1 : 0);
  if (rhs >= 2 && d < to->rank) axes[d++] = whole(1, transposed_rhs ? 0 : 1);
  if (lhs >= 2 && rhs >= 2) batched(operands, 2, 2, to, axes);
}

void joist_op_axes(joist_op op, const struct joist_attributes *attributes,
                   const struct joist_shape *const *operands, size_t n,
                   const struct joist_shape *result, struct joist_axis axes[JOIST_RANK_MAX]) {
  for (int d = 0; d < result->rank; d++) axes[d] = (struct joist_axis){.kind = JOIST_AXIS_NEW};
  if (n == 0) return;
  switch (rule_of(op)) {
    case NEW:
      break;
    case TEST:
      same(0, operands[0], result, axes);
      if (joist_shape_equal(operands[0], result)) break;
      /* fall through */
    case EACH:
      for (int d = 0; d < result->rank; d++)
        axes[d] = (struct joist_axis){.kind = JOIST_AXIS_EACH, .dim = d};
      break;
    case FIRST:
    case BROADCAST:
      same(0, operands[0], result, axes);
      break;
    case LINES:
      same(0, operands[0], result, axes);
      for (int d = 0; d < result->rank; d++)
        if (joist_attribute_dim(attributes) < 0 || d == joist_attribute_dim(attributes))
          axes[d].kind = axes[d].kind == JOIST_AXIS_RANGE ? JOIST_AXIS_LABEL : JOIST_AXIS_NEW;
      break;
    case RESHAPE:
      reshaped(operands[0], result, axes);
      break;
    case PERMUTE:
      permuted(attributes, result, axes);
      break;
    case SLICE:
      sliced(attributes, operands[0], result, axes);
      break;
    case GATHER:
      same(0, operands[0], result, axes);
      if (operands[0]->rank == result->rank) {
        const int d = joist_attribute_dim(attributes);
        axes[d] = (struct joist_axis){.kind = JOIST_AXIS_SELECTED, .dim = d};
      }
      break;
    case JOIN: {
      const int dim = joist_attribute_dim(attributes);
      for (int d = 0; d < result->rank; d++)
        axes[d] =
            (struct joist_axis){.kind = d == dim ? JOIST_AXIS_JOINED : JOIST_AXIS_EACH, .dim = d};
      break;
    }
    case REDUCE:
      reduced(joist_attribute_mask(attributes), operands[0], result, axes);
      break;
    case POSITION: {
      const int dim = joist_attribute_dim(attributes);
      reduced(dim < 0 ? UINT32_MAX : UINT32_C(1) << dim, operands[0], result, axes);
      break;
    }
    case MATRIX_PRODUCT:
      matrix_product(attributes, operands, result, axes);
      break;
    case CONVOLUTION: { /* the batch of one operand, and channels of the kernel that has them all */
      struct joist_shape positions = {.rank = 0};
      (void)joist_attribute_shape(attributes, &positions);
      const int channels = op == JOIST_OP_CONV ? 0 : 1;
      axes[0] = whole(0, 0);
      if (operands[1]->extent[channels] == result->extent[1]) axes[1] = whole(1, channels);
      batched(operands, n, 2 + positions.rank, result, axes);
      break;
    }
    case SOLUTION: /* of a x = b: the columns of a, and the columns of b */
      if (operands[0]->rank >= 2 && result->rank >= 1) axes[0] = whole(0, 1);
      if (operands[1]->rank >= 2 && result->rank >= 2) axes[1] = whole(1, 1);
      batched(operands, n, 2, result, axes);
      break;
    case INVERSE:
      if (operands[0]->rank >= 2) {
        axes[0] = whole(0, 1);
        axes[1] = whole(0, 0);
      }
      batched(operands, n, 2, result, axes);
      break;
  }
}
