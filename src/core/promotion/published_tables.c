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

/* The smallest dtype of a category that holds the values of two of it. None holds the values of
 * ui64 and a signed one. */
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

/* The join of two known dtypes: the dtype of the higher category, with the other's precision where
 * it is float and the higher is complex. */
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

/* Dtypes of up to a byte. */
static bool is_small(int node) {
  return is_known(node) && !joist_dtype_is_in(JOIST_DTYPES_DOCUMENTED, node);
}

/* Integers of fewer than 8 bits. */
static bool is_small_integer(int node) {
  return is_small(node) && category(node) == JOIST_CATEGORY_INTEGER;
}

static bool is_of_kind(int node, joist_kind kind) {
  return is_known(node) && joist_dtype_kind((joist_dtype)node) == kind;
}

/* Position among ml_dtypes' floats that convert to one another, 1 for the first; 0 for others. */
static int ml_dtypes_position(int node) {
  static const uint8_t order[] = {JOIST_F4E2M1FN,      JOIST_F6E3M2FN,   JOIST_F6E2M3FN,
                                  JOIST_F8E5M2FNUZ,    JOIST_F8E4M3FNUZ, JOIST_F8E4M3FN,
                                  JOIST_F8E4M3B11FNUZ, JOIST_F8E4M3,     JOIST_F8E3M4};
  for (size_t k = 0; k < sizeof order; k++)
    if (order[k] == node) return (int)k + 1;
  return 0;
}

/* A float of ml_dtypes, bf16 included, and another dtype. */
static int ml_dtypes_float(int dtype, int other) {
  const int position = ml_dtypes_position(dtype), other_position = ml_dtypes_position(other);
  if (dtype == other) return dtype;
  if (is_small_integer(other)) {
    const bool fits = dtype != JOIST_F6E2M3FN || joist_dtype_bits((joist_dtype)other) < 4;
    return position > 0 && fits ? dtype : NONE;
  }
  if (position > 0 && other_position > 0) return position > other_position ? dtype : other;
  if (is_small(other) || other == JOIST_BF16) return NONE;
  if (category(other) <= JOIST_CATEGORY_INTEGER && joist_dtype_size((joist_dtype)other) == 1)
    return dtype;
  if (category(other) == JOIST_CATEGORY_COMPLEX || other == JOIST_F32 || other == JOIST_F64)
    return other;
  /* f8E5M2 alone has a common dtype with f16 and integers of more than a byte. */
  if (dtype != JOIST_F8E5M2) return NONE;
  return other == JOIST_F16 ? JOIST_F32 : numpy_float(other);
}

/* An integer of ml_dtypes and another dtype, which is not one of its floats. */
static int ml_dtypes_integer(int dtype, int other) {
  if (category(other) != JOIST_CATEGORY_INTEGER)
    return category(other) == JOIST_CATEGORY_BOOL ? dtype : other;
  const bool is_unsigned = is_of_kind(dtype, JOIST_KIND_UINT);
  if (is_small(other)) {
    if (is_unsigned != is_of_kind(other, JOIST_KIND_UINT)) return NONE;
    return joist_dtype_bits((joist_dtype)dtype) > joist_dtype_bits((joist_dtype)other) ? dtype
                                                                                       : other;
  }
  return !is_unsigned && is_of_kind(other, JOIST_KIND_UINT) ? NONE : other;
}

/* The dtype of `x + 1`, `x + 1.0` and `x + 1j`. */
static int ml_dtypes_number(int weak, int dtype) {
  if (category(weak) == JOIST_CATEGORY_COMPLEX) return JOIST_C64;
  if (category(weak) == JOIST_CATEGORY_FLOAT)
    return is_small_integer(dtype) ? JOIST_F16 : JOIST_F32;
  return is_small_integer(dtype) ? JOIST_I8 : dtype;
}

/* numpy.promote_types() of NumPy 2.4.6 with ml_dtypes 0.6.0, and with a Python number the dtype of
 * a sum. */
int joist_table_ml_dtypes(const struct joist_rules *rules, int lhs, int rhs) {
  const bool left = is_small(lhs) || lhs == JOIST_BF16, right = is_small(rhs) || rhs == JOIST_BF16;
  if (!left && !right) return joist_table_numpy(rules, lhs, rhs);
  if (is_weak(lhs)) return ml_dtypes_number(lhs, rhs);
  if (is_weak(rhs)) return ml_dtypes_number(rhs, lhs);
  if (left && category(lhs) == JOIST_CATEGORY_FLOAT) return ml_dtypes_float(lhs, rhs);
  if (right && category(rhs) == JOIST_CATEGORY_FLOAT) return ml_dtypes_float(rhs, lhs);
  return left ? ml_dtypes_integer(lhs, rhs) : ml_dtypes_integer(rhs, lhs);
}

/* Unsigned integers that PyTorch 1.x lacks. */
static bool torch_lacks(int node) { return is_of_kind(node, JOIST_KIND_UINT) && node != JOIST_UI8; }

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

/* Those of up to a byte that PyTorch 2 has. */
static bool torch_2_has(int node) {
  const joist_dtype_set floats = JOIST_DTYPE_BIT(F4E2M1FN) | JOIST_DTYPE_BIT(F8E4M3FN) |
                                 JOIST_DTYPE_BIT(F8E4M3FNUZ) | JOIST_DTYPE_BIT(F8E5M2) |
                                 JOIST_DTYPE_BIT(F8E5M2FNUZ) | JOIST_DTYPE_BIT(F8E8M0FNU);
  return !is_small(node) || is_small_integer(node) || joist_dtype_is_in(floats, node);
}

/* A number takes the dtype of its category or a higher one. No float of up to a byte has imaginary
 * parts, and no signed integer of fewer than 8 bits becomes a float. */
static int torch_2_number(const struct joist_rules *rules, int weak, int other) {
  const joist_category own = category(weak);
  const bool is_float = is_small(other) && category(other) == JOIST_CATEGORY_FLOAT;
  const bool is_signed = is_small_integer(other) && is_of_kind(other, JOIST_KIND_INT);
  if (is_float && own == JOIST_CATEGORY_COMPLEX) return NONE;
  if (is_signed && own == JOIST_CATEGORY_FLOAT) return NONE;
  return number_join(rules, weak, other);
}

/* PyTorch since 2.3 has them, but they meet only themselves, floats and numbers; and numbers are
 * added by PyTorch. Its dtypes of up to a byte meet only themselves and numbers, but unsigned
 * integers other than ui8 meet f4E2M1FN. */
int joist_table_torch_2(const struct joist_rules *rules, int lhs, int rhs) {
  if (!torch_2_has(lhs) || !torch_2_has(rhs)) return NONE;
  if (is_weak(lhs)) return torch_2_number(rules, lhs, rhs);
  if (is_weak(rhs)) return torch_2_number(rules, rhs, lhs);
  if (lhs == rhs) return lhs;
  const bool both = !torch_lacks(lhs) && !torch_lacks(rhs);
  if (both) return is_small(lhs) || is_small(rhs) ? NONE : known_join(lhs, rhs);
  const int other = torch_lacks(lhs) ? rhs : lhs;
  const bool meets = !is_small(other) || other == JOIST_F4E2M1FN;
  return meets && category(other) == JOIST_CATEGORY_FLOAT ? other : NONE;
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

/* A dtype of up to a byte meets itself, bool, and guesses of its category among the other dtypes,
 * which give way; its own guess stays one with bool and with itself. Everything else is undefined:
 * what a lattice above it would give is not what anybody means. */
int joist_table_anvil_others(const struct joist_rules *rules, int lhs, int rhs) {
  (void)rules;
  const bool lhs_guess = !is_known(lhs), rhs_guess = !is_known(rhs);
  const int left = lhs_guess ? lhs - JOIST_NODE_AMBIGUOUS : lhs;
  const int right = rhs_guess ? rhs - JOIST_NODE_AMBIGUOUS : rhs;
  if (left == right) return lhs_guess ? rhs : lhs;
  if (left == JOIST_BOOL) return rhs;
  if (right == JOIST_BOOL) return lhs;
  if (category(left) != category(right) || lhs_guess == rhs_guess) return NONE;
  const int known = lhs_guess ? right : left, guessed = lhs_guess ? left : right;
  return is_small(known) && !is_small(guessed) ? known : NONE;
}

/* The same, but every result is known. */
int joist_table_anvl_others(const struct joist_rules *rules, int lhs, int rhs) {
  const int join = joist_table_anvil_others(rules, lhs, rhs);
  return join == NONE || is_known(join) ? join : join - JOIST_NODE_AMBIGUOUS;
}
