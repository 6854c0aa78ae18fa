/* The published tables that are not lattices, each as one short function.
 *
 * A function gives the cell that the source prints; tests compare every cell with
 * the source. Knows nothing of how the cells are used. */
#include "core/promotion/published_tables.h"

#include "core/types/loss.h"

enum { NONE = JOIST_NODE_NONE };

static bool is_known(int node) { return node < JOIST_DTYPE_COUNT; }
static bool is_weak(int node) { return node >= JOIST_NODE_WEAK_INT; }

static joist_category category(int node) {
  return is_weak(node) ? joist_category_of_node(node) : joist_dtype_category((joist_dtype)node);
}

static joist_category higher(joist_category a, joist_category b) { return a > b ? a : b; }

static bool holds(joist_dtype dtype, int other) {
  return joist_conversion_loss((joist_dtype)other, dtype).losses == JOIST_LOSS_NONE;
}

/* The smallest dtype of a category that holds the values of two of it. None holds those of ui64 and
 * a signed one. */
static int join_within(int a, int b) {
  int join = NONE;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    if (joist_dtype_category(dtype) == category(a) && holds(dtype, a) && holds(dtype, b) &&
        (join == NONE || joist_dtype_bits(dtype) < joist_dtype_bits((joist_dtype)join)))
      join = d;
  }
  return join;
}

/* A number without a dtype takes the dtype's category if it fits in there, gives a
 * float dtype imaginary parts, and brings its default dtype otherwise. */
static int number_join(const struct joist_rules *rules, int weak, int other) {
  const joist_category own = category(weak), theirs = category(other);
  if (theirs >= own && is_known(other)) return other;
  if (is_known(other) && theirs == JOIST_CATEGORY_FLOAT)
    return (int)joist_dtype_complex((joist_dtype)other);
  return rules->literal[higher(own, theirs)];
}

/* The join of two known dtypes: that of the higher category, with the other's precision where it
 * is float and the higher is complex. */
static int known_join(int lhs, int rhs) {
  const joist_category left = category(lhs), right = category(rhs);
  if (left == JOIST_CATEGORY_FLOAT && right == JOIST_CATEGORY_COMPLEX)
    return join_within((int)joist_dtype_complex((joist_dtype)lhs), rhs);
  if (right == JOIST_CATEGORY_FLOAT && left == JOIST_CATEGORY_COMPLEX)
    return join_within((int)joist_dtype_complex((joist_dtype)rhs), lhs);
  if (left != right) return left > right ? lhs : rhs;
  return join_within(lhs, rhs);
}

/* The smallest float dtype that NumPy lets hold a dtype's values. */
static int numpy_float(int dtype) {
  if (category(dtype) >= JOIST_CATEGORY_FLOAT) return (int)joist_dtype_real((joist_dtype)dtype);
  const size_t size = joist_dtype_size((joist_dtype)dtype);
  return size == 1 ? JOIST_F16 : size == 2 ? JOIST_F32 : JOIST_F64;
}

int joist_table_numpy(const struct joist_rules *rules, int lhs, int rhs) {
  if (is_weak(lhs)) return number_join(rules, lhs, rhs);
  if (is_weak(rhs)) return number_join(rules, rhs, lhs);
  if (lhs == JOIST_BOOL) return rhs;
  if (rhs == JOIST_BOOL) return lhs;
  const joist_category highest = higher(category(lhs), category(rhs));
  if (highest == JOIST_CATEGORY_INTEGER) {
    const int join = join_within(lhs, rhs);
    return join == NONE ? JOIST_F64 : join;
  }
  const int real = join_within(numpy_float(lhs), numpy_float(rhs));
  return highest == JOIST_CATEGORY_COMPLEX ? (int)joist_dtype_complex((joist_dtype)real) : real;
}

/* PyTorch 1.x has no unsigned integers above ui8. */
static bool torch_lacks(int node) {
  return is_known(node) && joist_dtype_kind((joist_dtype)node) == JOIST_KIND_UINT &&
         joist_dtype_bits((joist_dtype)node) > 8;
}

int joist_table_torch(const struct joist_rules *rules, int lhs, int rhs) {
  if (torch_lacks(lhs) || torch_lacks(rhs)) return NONE;
  /* Two Python floats are added by Python, in double precision, before PyTorch sees
   * them. */
  if (is_weak(lhs) && lhs == rhs && category(lhs) >= JOIST_CATEGORY_FLOAT)
    return category(lhs) == JOIST_CATEGORY_FLOAT ? JOIST_F64 : JOIST_C128;
  if (is_weak(lhs)) return number_join(rules, lhs, rhs);
  if (is_weak(rhs)) return number_join(rules, rhs, lhs);
  return known_join(lhs, rhs);
}

/* PyTorch since 2.3 has them, but they meet only themselves, floats and numbers; and numbers are
 * added by PyTorch. */
int joist_table_torch_2(const struct joist_rules *rules, int lhs, int rhs) {
  if (is_weak(lhs)) return number_join(rules, lhs, rhs);
  if (is_weak(rhs)) return number_join(rules, rhs, lhs);
  if (!torch_lacks(lhs) && !torch_lacks(rhs)) return known_join(lhs, rhs);
  if (lhs == rhs || category(lhs) == JOIST_CATEGORY_FLOAT) return lhs;
  return category(rhs) == JOIST_CATEGORY_FLOAT ? rhs : NONE;
}

/* The left operand decides: a number on the left is a tensor of its default dtype, a
 * number on the right is converted if it fits the left category. */
int joist_table_tensorflow(const struct joist_rules *rules, int lhs, int rhs) {
  const int left = is_weak(lhs) ? rules->literal[category(lhs)] : lhs;
  if (left == JOIST_BOOL) return NONE;
  if (is_weak(rhs)) return category(rhs) <= category(left) ? left : NONE;
  return left == rhs ? left : NONE;
}

/* No promotion at all, but a number is a value of its default dtype. */
int joist_table_jax_lax(const struct joist_rules *rules, int lhs, int rhs) {
  if (lhs == JOIST_BOOL || rhs == JOIST_BOOL) return NONE;
  if (lhs == rhs) return lhs;
  if (is_weak(lhs) && rules->literal[category(lhs)] == rhs) return rhs;
  if (is_weak(rhs) && rules->literal[category(rhs)] == lhs) return lhs;
  return NONE;
}

/* Within a category only. Python numbers and complex are unspecified; so is bool, but two bools
 * need no promotion. */
int joist_table_array_api(const struct joist_rules *rules, int lhs, int rhs) {
  (void)rules;
  if (is_weak(lhs) || is_weak(rhs) || category(lhs) != category(rhs)) return NONE;
  return category(lhs) == JOIST_CATEGORY_COMPLEX ? NONE : join_within(lhs, rhs);
}

/* Within a category, and floats with complex. A Python number takes the dtype of an array that can
 * hold its kind of numbers, and gives floats imaginary parts; numbers alone are Python's. bool is
 * with bool only. */
int joist_table_array_api_2024(const struct joist_rules *rules, int lhs, int rhs) {
  const joist_category left = category(lhs), right = category(rhs);
  if (is_weak(lhs) && is_weak(rhs)) return left > right ? lhs : rhs;
  if (left == right && !is_weak(lhs) && !is_weak(rhs)) return known_join(lhs, rhs);
  if (left == JOIST_CATEGORY_BOOL || right == JOIST_CATEGORY_BOOL) return NONE;
  if (is_weak(lhs) && (left <= right || right == JOIST_CATEGORY_FLOAT))
    return number_join(rules, lhs, rhs);
  if (is_weak(rhs) && (right <= left || left == JOIST_CATEGORY_FLOAT))
    return number_join(rules, rhs, lhs);
  const bool inexact = left >= JOIST_CATEGORY_FLOAT && right >= JOIST_CATEGORY_FLOAT;
  return inexact && !is_weak(lhs) && !is_weak(rhs) ? known_join(lhs, rhs) : NONE;
}

/* anvil's known dtypes, but ui64 with a signed dtype is undefined. A guessed dtype
 * gives way within its category and counts as known otherwise. */
int joist_table_anvl(const struct joist_rules *rules, int lhs, int rhs) {
  (void)rules;
  const bool lhs_guess = !is_known(lhs), rhs_guess = !is_known(rhs);
  const int left = lhs_guess ? lhs - JOIST_NODE_AMBIGUOUS : lhs;
  const int right = rhs_guess ? rhs - JOIST_NODE_AMBIGUOUS : rhs;
  if (lhs_guess != rhs_guess && category(left) == category(right)) return lhs_guess ? right : left;
  return known_join(left, right);
}
