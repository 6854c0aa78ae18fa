/* Kernels: every operation and compute dtype, in every instruction set the machine has.
 *
 * A kernel is a function of its elements alone: the same bits for any length, position,
 * and instruction set, and in place. Integers are compared with arithmetic in __int128
 * that shares no code with the kernels, floats with C's own operators and with tables. */
#include "core/kernels/kernels.h"

#include "arrays.h"
#include "sets.h"

enum { LENGTH = 130, PADDED = LENGTH + 8 };

static const char *sets[MAX_SETS];
static int set_count;

static void test_selection(void) {
  CHECK(!joist_kernels_select("sse9") && !joist_kernels_select(""));
  CHECK(joist_kernels_select(NULL));
  if (getenv("JOIST_TEST_KERNELS") == NULL) CHECK_STR(joist_kernels_name(), sets[set_count - 1]);
}

static joist_kernel *kernel_of(int set, joist_op op, joist_dtype dtype) {
  joist_kernels_select(sets[set]);
  return joist_kernel_find(op, dtype);
}

static bool is_integer(joist_dtype dtype) {
  const joist_kind kind = joist_dtype_kind(dtype);
  return kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT;
}

static joist_dtype operand_dtype(joist_op op, int k, joist_dtype dtype) {
  return op == JOIST_OP_IFELSE && k == 0 ? JOIST_BOOL : dtype;
}

/* Operands of the checked operations that do not fail: no zeros, no negative exponents. */
static void make_valid(joist_op op, joist_dtype dtype, size_t n, char *b) {
  const size_t size = joist_dtype_size(dtype);
  if (!is_integer(dtype) || !is_checked(op)) return;
  for (size_t i = 0; i < n; i++) {
    int64_t value;
    joist_convert_find_portable(dtype, JOIST_I64)(1, b + i * size, &value);
    if (value == 0) value = 1;
    if (op == JOIST_OP_POW && value < 0) value = ~value;
    joist_convert_find_portable(JOIST_I64, dtype)(1, &value, b + i * size);
  }
}

/* ---- the same bits everywhere ---- */

static _Alignas(64) char operand[JOIST_ELEMENT_OPERANDS][PADDED * 16], result[(PADDED + 1) * 16],
    expected[PADDED * 16];

static void check_purity(joist_op op, joist_dtype dtype) {
  const int arity = joist_operation(op)->least;
  const joist_dtype made = joist_op_result(op, dtype);
  const size_t size = joist_dtype_size(dtype), out_size = joist_dtype_size(made);
  char text[64];
  for (int f = 0; f < FILL_COUNT; f++) {
    for (int k = 0; k < arity; k++)
      fill(operand_dtype(op, k, dtype), PADDED, (fill_kind)f, operand[k]);
    make_valid(op, dtype, PADDED, operand[arity - 1]);
    joist_kernel *const one = kernel_of(0, op, dtype);
    for (size_t i = 0; i < PADDED; i++) {
      const void *in[JOIST_ELEMENT_OPERANDS] = {NULL};
      for (int k = 0; k < arity; k++)
        in[k] = operand[k] + i * joist_dtype_size(operand_dtype(op, k, dtype));
      CHECK_INT(one(1, in, expected + i * out_size), 1);
    }
    for (int s = 0; s < set_count; s++) {
      joist_kernel *const kernel = kernel_of(s, op, dtype);
      for (size_t n = 0; n <= LENGTH; n++) {
        const size_t offset = n % 8, out_offset = n / 8 % 2;
        const void *in[JOIST_ELEMENT_OPERANDS] = {NULL};
        for (int k = 0; k < arity; k++)
          in[k] = operand[k] + offset * joist_dtype_size(operand_dtype(op, k, dtype));
        char *const out = result + out_offset * out_size;
        memset(result, 0x5a, sizeof result);
        CHECK_INT(kernel(n, in, out), n);
        const size_t at = first_difference(made, n, out, expected + offset * out_size);
        CHECK_MSG(at == n, "%s nv_%s(%s), element %zu of %zu: %s", sets[s], joist_op_name(op),
                  joist_dtype_name(dtype), at, n, element_text(made, out + at * out_size, text));
        bool clean = out_offset == 0 || memcmp(result, "ZZZZZZZZZZZZZZZZ", out_size) == 0;
        for (size_t b = n * out_size; b < (n + 1) * out_size; b++) clean &= out[b] == 0x5a;
        CHECK_MSG(clean, "%s nv_%s(%s) of %zu writes outside", sets[s], joist_op_name(op),
                  joist_dtype_name(dtype), n);
      }
      /* In place, in each operand that has room, at a length with a tail. */
      for (int k = 0; k < arity; k++) {
        const size_t n = LENGTH - 3;
        if (joist_dtype_size(operand_dtype(op, k, dtype)) != out_size) continue;
        const void *in[JOIST_ELEMENT_OPERANDS] = {operand[0], operand[1], operand[2]};
        memcpy(result, operand[k], n * out_size);
        in[k] = result;
        CHECK_INT(kernel(n, in, result), n);
        CHECK_MSG(first_difference(made, n, result, expected) == n, "%s nv_%s(%s) in place of %d",
                  sets[s], joist_op_name(op), joist_dtype_name(dtype), k);
      }
    }
  }
  /* All operands the same array, and written over. */
  if (op == JOIST_OP_IFELSE || size != out_size || (is_checked(op) && is_integer(dtype))) return;
  fill(dtype, LENGTH, FILL_SMALL, operand[0]);
  const void *in[JOIST_ELEMENT_OPERANDS] = {operand[0], operand[0], operand[0]};
  kernel_of(0, op, dtype)(LENGTH, in, expected);
  for (int s = 0; s < set_count; s++) {
    memcpy(result, operand[0], LENGTH * size);
    const void *same[JOIST_ELEMENT_OPERANDS] = {result, result, result};
    CHECK_INT(kernel_of(s, op, dtype)(LENGTH, same, result), LENGTH);
    CHECK(first_difference(made, LENGTH, result, expected) == LENGTH);
  }
}

/* ---- integers, against wide arithmetic ---- */

__extension__ typedef __int128 wide;

static wide read_wide(joist_dtype dtype, const void *at) {
  if (dtype == JOIST_UI64) return *(const uint64_t *)at;
  int64_t value;
  joist_convert_find_portable(dtype, JOIST_I64)(1, at, &value);
  return value;
}

/* The value modulo 2^bits, in the range of the dtype. */
static wide wrap(joist_dtype dtype, wide x) {
  const wide modulus = (wide)1 << (8 * joist_dtype_size(dtype));
  wide rest = x % modulus;
  if (rest < 0) rest += modulus;
  if (joist_dtype_kind(dtype) == JOIST_KIND_INT && rest >= modulus / 2) rest -= modulus;
  return rest;
}

static wide floored(wide a, wide b) {
  wide q = a / b;
  if (q * b != a && (a < 0) != (b < 0)) q--;
  return q;
}

/* The product modulo 2^64: in unsigned arithmetic, because 2^128 does not fit. */
static wide times(wide a, wide b) {
  __extension__ typedef unsigned __int128 unsigned_wide;
  return (wide)((unsigned_wide)a * (unsigned_wide)b & UINT64_MAX);
}

/* By squaring from the highest bit of b down. */
static wide power(wide a, wide b) {
  wide product = 1;
  for (int bit = 63; bit >= 0; bit--) {
    product = times(product, product);
    if ((b >> bit) & 1) product = times(product, a);
  }
  return product;
}

static bool reference(joist_op op, joist_dtype dtype, wide a, wide b, wide c, wide *out) {
  const int bits = 8 * (int)joist_dtype_size(dtype);
  const wide modulus = (wide)1 << bits, own = a < 0 ? a + modulus : a;
  const bool outside = b < 0 || b >= bits;
  int ones = 0;
  switch (op) {
    case JOIST_OP_ADD:
      *out = a + b;
      break;
    case JOIST_OP_SUB:
      *out = a - b;
      break;
    case JOIST_OP_MUL:
      *out = times(a, b);
      break;
    case JOIST_OP_NEGATE:
      *out = -a;
      break;
    case JOIST_OP_ABS:
      *out = a < 0 ? -a : a;
      break;
    case JOIST_OP_SIGN:
      *out = a > 0 ? 1 : a < 0 ? -1 : 0;
      break;
    case JOIST_OP_POW:
      *out = power(a, b);
      break;
    case JOIST_OP_DIV:
      *out = a / b;
      break;
    case JOIST_OP_ROUND_DIV:
      *out = b == 0 ? 0 : (2 * a + ((a < 0) != (b < 0) ? -b : b)) / (2 * b);
      break;
    case JOIST_OP_FLOORDIV:
      *out = floored(a, b);
      break;
    case JOIST_OP_MOD:
      *out = a - floored(a, b) * b;
      break;
    case JOIST_OP_REMAINDER:
      *out = a - a / b * b;
      break;
    case JOIST_OP_MIN:
      *out = a < b ? a : b;
      break;
    case JOIST_OP_MAX:
      *out = a < b ? b : a;
      break;
    case JOIST_OP_CLAMP:
      *out = b > a ? b : a;
      if (*out > c) *out = c;
      break;
    case JOIST_OP_BITWISE_AND:
      *out = a & b;
      break;
    case JOIST_OP_BITWISE_OR:
      *out = a | b;
      break;
    case JOIST_OP_BITWISE_XOR:
      *out = a ^ b;
      break;
    case JOIST_OP_BITWISE_NOT:
      *out = -1 - a;
      break;
    case JOIST_OP_SHIFT_LEFT:
      *out = outside ? 0 : times(own, (wide)1 << b);
      break;
    case JOIST_OP_SHIFT_RIGHT_LOGICAL:
      *out = outside ? 0 : own / ((wide)1 << b);
      break;
    case JOIST_OP_SHIFT_RIGHT_ARITHMETIC:
      *out = outside ? (a < 0 ? -1 : 0) : floored(a, (wide)1 << b);
      break;
    case JOIST_OP_POPCNT:
      for (int k = 0; k < bits; k++) ones += (int)(own >> k & 1);
      *out = ones;
      break;
    case JOIST_OP_EQ:
      *out = a == b;
      break;
    case JOIST_OP_NE:
      *out = a != b;
      break;
    case JOIST_OP_LT:
      *out = a < b;
      break;
    case JOIST_OP_LE:
      *out = a <= b;
      break;
    case JOIST_OP_GT:
      *out = a > b;
      break;
    case JOIST_OP_GE:
      *out = a >= b;
      break;
    case JOIST_OP_FLOOR:
    case JOIST_OP_CEILING:
    case JOIST_OP_TRUNC:
    case JOIST_OP_ROUND:
    case JOIST_OP_ROUND_AWAY:
    case JOIST_OP_RE:
    case JOIST_OP_CONJ:
      *out = a;
      break;
    case JOIST_OP_IM:
    case JOIST_OP_IS_NAN:
    case JOIST_OP_IS_INFINITE:
      *out = 0;
      break;
    case JOIST_OP_IS_FINITE:
      *out = 1;
      break;
    default:
      return false;
  }
  return true;
}

static void check_integers_of(joist_op op, joist_dtype dtype) {
  enum { MANY = 4096 };
  static _Alignas(64) char in[JOIST_ELEMENT_OPERANDS][MANY * 8], out[MANY * 8];
  const joist_dtype made = joist_op_result(op, dtype);
  const int arity = joist_operation(op)->least;
  const size_t size = joist_dtype_size(dtype);
  for (int f = 0; f < FILL_COUNT; f++) {
    const void *operands[JOIST_ELEMENT_OPERANDS] = {in[0], in[1], in[2]};
    for (int k = 0; k < arity; k++) fill(dtype, MANY, (fill_kind)f, in[k]);
    make_valid(op, dtype, MANY, in[arity - 1]);
    joist_kernel *const kernel = kernel_of(set_count - 1, op, dtype);
    CHECK_INT(kernel(MANY, operands, out), MANY);
    for (size_t i = 0; i < MANY; i++) {
      wide v[JOIST_ELEMENT_OPERANDS] = {0}, want;
      for (int k = 0; k < arity; k++) v[k] = read_wide(dtype, in[k] + i * size);
      if (!reference(op, dtype, v[0], v[1], v[2], &want)) return;
      want = made == JOIST_BOOL ? want : wrap(dtype, want);
      const wide got = read_wide(made, out + i * joist_dtype_size(made));
      CHECK_MSG(got == want, "nv_%s(%s): %lld, %lld, %lld gives %lld, not %lld", joist_op_name(op),
                joist_dtype_name(dtype), (long long)v[0], (long long)v[1], (long long)v[2],
                (long long)got, (long long)want);
    }
  }
}

/* The pairs that go wrong first. */
static void check_pair(joist_op op, joist_dtype dtype, int64_t a, int64_t b, int64_t want) {
  _Alignas(16) char x[16], y[16], z[16];
  joist_convert_find_portable(JOIST_I64, dtype)(1, &a, x);
  joist_convert_find_portable(JOIST_I64, dtype)(1, &b, y);
  for (int s = 0; s < set_count; s++) {
    const void *in[2] = {x, y};
    CHECK_INT(kernel_of(s, op, dtype)(1, in, z), 1);
    int64_t got;
    joist_convert_find_portable(joist_op_result(op, dtype), JOIST_I64)(1, z, &got);
    CHECK_MSG(got == want, "%s: nv_%s(%s): %lld, %lld gives %lld, not %lld", sets[s],
              joist_op_name(op), joist_dtype_name(dtype), (long long)a, (long long)b,
              (long long)got, (long long)want);
  }
}

static int64_t random_within(int64_t low, int64_t high) {
  return low + (int64_t)(random_bits() % ((uint64_t)(high - low) + 1));
}

/* Dividends next to multiples of the divisor, where a rounded quotient would show. */
static void test_divisions(void) {
  static const joist_dtype dtypes[] = {JOIST_I8,  JOIST_I16,  JOIST_I32,
                                       JOIST_UI8, JOIST_UI16, JOIST_UI32};
  for (size_t d = 0; d < 6; d++) {
    const int64_t min = joist_dtype_min_int(dtypes[d]);
    const int64_t max = (int64_t)joist_dtype_max_int(dtypes[d]);
    for (int k = 0; k < 20000; k++) {
      const int64_t narrow = k % 2 ? max : 1 + max / (1 + (int64_t)(random_bits() % 1000));
      const int64_t b = random_within(min == 0 ? 1 : -narrow, narrow);
      if (b == 0) continue;
      const int64_t a = random_within(min, max) / b * b + random_within(-1, 1);
      if (a < min || a > max || (a == min && b == -1)) continue;
      const int64_t rest = a % b, below = rest != 0 && (rest < 0) != (b < 0);
      check_pair(JOIST_OP_FLOORDIV, dtypes[d], a, b, a / b - below);
      check_pair(JOIST_OP_MOD, dtypes[d], a, b, below ? rest + b : rest);
      check_pair(JOIST_OP_REMAINDER, dtypes[d], a, b, rest);
      check_pair(JOIST_OP_DIV, dtypes[d], a, b, a / b);
    }
  }
}

static void test_edges(void) {
  static const joist_dtype dtypes[] = {JOIST_I8, JOIST_I16, JOIST_I32, JOIST_I64};
  for (size_t k = 0; k < 4; k++) {
    const joist_dtype dtype = dtypes[k];
    const int64_t min = joist_dtype_min_int(dtype), max = (int64_t)joist_dtype_max_int(dtype);
    check_pair(JOIST_OP_DIV, dtype, min, -1, min);
    check_pair(JOIST_OP_DIV, dtype, -7, 2, -3);
    check_pair(JOIST_OP_ROUND_DIV, dtype, min, -1, min);
    check_pair(JOIST_OP_ROUND_DIV, dtype, min, 2, min / 2);
    check_pair(JOIST_OP_ROUND_DIV, dtype, max, min, -1);
    check_pair(JOIST_OP_ROUND_DIV, dtype, max, 2, max / 2 + 1);
    check_pair(JOIST_OP_ROUND_DIV, dtype, -7, 2, -4);
    check_pair(JOIST_OP_ROUND_DIV, dtype, 7, 5, 1);
    check_pair(JOIST_OP_ROUND_DIV, dtype, 7, 0, 0);
    check_pair(JOIST_OP_FLOORDIV, dtype, min, -1, min);
    check_pair(JOIST_OP_MOD, dtype, min, -1, 0);
    check_pair(JOIST_OP_REMAINDER, dtype, min, -1, 0);
    check_pair(JOIST_OP_FLOORDIV, dtype, min, 1, min);
    check_pair(JOIST_OP_FLOORDIV, dtype, max, min, -1);
    check_pair(JOIST_OP_MOD, dtype, max, min, -1);
    check_pair(JOIST_OP_REMAINDER, dtype, max, min, max);
    check_pair(JOIST_OP_FLOORDIV, dtype, -7, 2, -4);
    check_pair(JOIST_OP_MOD, dtype, -7, 2, 1);
    check_pair(JOIST_OP_REMAINDER, dtype, -7, 2, -1);
    check_pair(JOIST_OP_MOD, dtype, 7, -2, -1);
    check_pair(JOIST_OP_ABS, dtype, min, 0, min);
    check_pair(JOIST_OP_NEGATE, dtype, min, 0, min);
    check_pair(JOIST_OP_MUL, dtype, min, -1, min);
    check_pair(JOIST_OP_ADD, dtype, max, 1, min);
    check_pair(JOIST_OP_SUB, dtype, min, 1, max);
    check_pair(JOIST_OP_POW, dtype, 0, 0, 1);
    check_pair(JOIST_OP_POW, dtype, -1, max, -1);
    check_pair(JOIST_OP_POW, dtype, 2, 8 * (int64_t)joist_dtype_size(dtype) - 1, min);
    check_pair(JOIST_OP_SHIFT_RIGHT_ARITHMETIC, dtype, min, 100, -1);
    check_pair(JOIST_OP_SHIFT_RIGHT_ARITHMETIC, dtype, -1, -1, -1);
    check_pair(JOIST_OP_SHIFT_LEFT, dtype, 1, -1, 0);
    check_pair(JOIST_OP_SHIFT_LEFT, dtype, -1, 8 * (int64_t)joist_dtype_size(dtype) - 1, min);
    check_pair(JOIST_OP_POPCNT, dtype, -1, 0, 8 * (int64_t)joist_dtype_size(dtype));
  }
  check_pair(JOIST_OP_ADD, JOIST_BOOL, 1, 1, 1);
  check_pair(JOIST_OP_MUL, JOIST_BOOL, 1, 0, 0);
  check_pair(JOIST_OP_NOT, JOIST_BOOL, 1, 0, 0);
  check_pair(JOIST_OP_BITWISE_NOT, JOIST_BOOL, 0, 0, 1);
}

/* A checked operation stops at its first failure, and has done what comes before. */
static void test_first_failure(void) {
  static const joist_op ops[] = {JOIST_OP_POW, JOIST_OP_FLOORDIV, JOIST_OP_MOD, JOIST_OP_REMAINDER,
                                 JOIST_OP_DIV};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      const joist_dtype dtype = (joist_dtype)d;
      const size_t size = joist_dtype_size(dtype);
      if (!is_integer(dtype)) continue;
      if (is_small(dtype)) {
        CHECK(joist_kernel_find(ops[k], dtype) == NULL);
        continue;
      }
      if (ops[k] == JOIST_OP_POW && joist_dtype_kind(dtype) == JOIST_KIND_UINT) continue;
      const int64_t bad = ops[k] == JOIST_OP_POW ? -1 : 0;
      for (int s = 0; s < set_count; s++) {
        joist_kernel *const kernel = kernel_of(s, ops[k], dtype);
        for (size_t n = 1; n <= LENGTH; n += 3)
          for (size_t at = 0; at < n; at += 1 + n / 9) {
            fill(dtype, n, FILL_BITS, operand[0]);
            fill(dtype, n, FILL_BITS, operand[1]);
            make_valid(ops[k], dtype, n, operand[1]);
            const void *in[2] = {operand[0], operand[1]};
            CHECK_INT(kernel(n, in, expected), n);
            joist_convert_find_portable(JOIST_I64, dtype)(1, &bad, operand[1] + at * size);
            if (at + 5 < n)
              joist_convert_find_portable(JOIST_I64, dtype)(1, &bad, operand[1] + (at + 5) * size);
            CHECK_INT(kernel(n, in, result), at);
            CHECK(memcmp(result, expected, at * size) == 0);
          }
      }
    }
}

/* ---- floats ---- */

static double run_f64(joist_op op, double a, double b, double c) {
  double out = 0;
  const void *in[3] = {&a, &b, &c};
  if (joist_op_result(op, JOIST_F64) == JOIST_BOOL) {
    uint8_t truth;
    joist_kernel_find(op, JOIST_F64)(1, in, &truth);
    return truth;
  }
  joist_kernel_find(op, JOIST_F64)(1, in, &out);
  return out;
}

static double run_f32(joist_op op, double x, double y, double z) {
  float a = (float)x, b = (float)y, c = (float)z, out = 0;
  const void *in[3] = {&a, &b, &c};
  if (joist_op_result(op, JOIST_F32) == JOIST_BOOL) {
    uint8_t truth;
    joist_kernel_find(op, JOIST_F32)(1, in, &truth);
    return truth;
  }
  joist_kernel_find(op, JOIST_F32)(1, in, &out);
  return (double)out;
}

static bool same(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b && !signbit(a) == !signbit(b);
}

static const double nan_ = NAN, inf = INFINITY;

static void test_float_table(void) {
  const struct {
    joist_op op;
    double a, b, c, want;
  } rows[] = {
      {JOIST_OP_MIN, nan_, 1, 0, nan_},
      {JOIST_OP_MIN, 1, nan_, 0, nan_},
      {JOIST_OP_MAX, nan_, 1, 0, nan_},
      {JOIST_OP_MAX, 1, nan_, 0, nan_},
      {JOIST_OP_MAX, -inf, 1, 0, 1},
      {JOIST_OP_MIN, 2, 1, 0, 1},
      {JOIST_OP_CLAMP, 0, nan_, 1, nan_},
      {JOIST_OP_CLAMP, nan_, 0.5, 1, nan_},
      {JOIST_OP_CLAMP, 0, 0.5, nan_, nan_},
      {JOIST_OP_CLAMP, 0, 7, 1, 1},
      {JOIST_OP_CLAMP, 0, -7, 1, 0},
      {JOIST_OP_CLAMP, 2, 1.5, 1, 1},
      {JOIST_OP_CLAMP, -inf, -inf, inf, -inf},
      {JOIST_OP_FLOORDIV, 7, 2, 0, 3},
      {JOIST_OP_FLOORDIV, -7, 2, 0, -4},
      {JOIST_OP_FLOORDIV, 7, -2, 0, -4},
      {JOIST_OP_FLOORDIV, 1, 0, 0, inf},
      {JOIST_OP_FLOORDIV, -1, 0, 0, -inf},
      {JOIST_OP_FLOORDIV, 0, 0, 0, nan_},
      {JOIST_OP_FLOORDIV, -1, inf, 0, -1},
      {JOIST_OP_FLOORDIV, 1, inf, 0, 0},
      {JOIST_OP_FLOORDIV, -0.0, 2, 0, -0.0},
      {JOIST_OP_MOD, 7, 2, 0, 1},
      {JOIST_OP_MOD, -7, 2, 0, 1},
      {JOIST_OP_MOD, 7, -2, 0, -1},
      {JOIST_OP_MOD, 1, 0, 0, nan_},
      {JOIST_OP_MOD, -1, inf, 0, inf},
      {JOIST_OP_MOD, 1, inf, 0, 1},
      {JOIST_OP_MOD, inf, 2, 0, nan_},
      {JOIST_OP_MOD, -4, 2, 0, 0},
      {JOIST_OP_MOD, 4, -2, 0, -0.0},
      {JOIST_OP_MOD, 1, nan_, 0, nan_},
      {JOIST_OP_REMAINDER, -7, 2, 0, -1},
      {JOIST_OP_REMAINDER, 7, -2, 0, 1},
      {JOIST_OP_REMAINDER, 1, 0, 0, nan_},
      {JOIST_OP_ROUND, 0.5, 0, 0, 0},
      {JOIST_OP_ROUND, 1.5, 0, 0, 2},
      {JOIST_OP_ROUND, 2.5, 0, 0, 2},
      {JOIST_OP_ROUND, -0.5, 0, 0, -0.0},
      {JOIST_OP_ROUND, -2.5, 0, 0, -2},
      {JOIST_OP_ROUND_AWAY, 0.5, 0, 0, 1},
      {JOIST_OP_ROUND_AWAY, 2.5, 0, 0, 3},
      {JOIST_OP_ROUND_AWAY, -0.5, 0, 0, -1},
      {JOIST_OP_ROUND_AWAY, -2.5, 0, 0, -3},
      {JOIST_OP_ROUND_AWAY, -0.25, 0, 0, -0.0},
      {JOIST_OP_ROUND_AWAY, nan_, 0, 0, nan_},
      {JOIST_OP_ROUND_AWAY, -inf, 0, 0, -inf},
      {JOIST_OP_SIGN, -3, 0, 0, -1},
      {JOIST_OP_SIGN, nan_, 0, 0, nan_},
      {JOIST_OP_SIGN, 0, 0, 0, 0},
      {JOIST_OP_POW, 0, 0, 0, 1},
      {JOIST_OP_POW, nan_, 0, 0, 1},
      {JOIST_OP_POW, 1, nan_, 0, 1},
      {JOIST_OP_POW, -2, 3, 0, -8},
      {JOIST_OP_POW, -3, 2, 0, 9},
      {JOIST_OP_POW, -8, 0.5, 0, nan_},
      {JOIST_OP_POW, 0, -1, 0, inf},
      {JOIST_OP_IS_NAN, nan_, 0, 0, 1},
      {JOIST_OP_IS_NAN, inf, 0, 0, 0},
      {JOIST_OP_IS_FINITE, inf, 0, 0, 0},
      {JOIST_OP_IS_FINITE, nan_, 0, 0, 0},
      {JOIST_OP_IS_FINITE, -1, 0, 0, 1},
      {JOIST_OP_IS_INFINITE, -inf, 0, 0, 1},
      {JOIST_OP_IS_INFINITE, nan_, 0, 0, 0},
      {JOIST_OP_EQ, nan_, nan_, 0, 0},
      {JOIST_OP_NE, nan_, nan_, 0, 1},
      {JOIST_OP_LE, nan_, 1, 0, 0},
      {JOIST_OP_GE, 0.0, -0.0, 0, 1},
      {JOIST_OP_EQ, 0.0, -0.0, 0, 1},
      {JOIST_OP_RSQRT, 4, 0, 0, 0.5},
      {JOIST_OP_RSQRT, 0, 0, 0, inf},
      {JOIST_OP_RSQRT, -0.0, 0, 0, -inf},
      {JOIST_OP_RSQRT, inf, 0, 0, 0},
      {JOIST_OP_RSQRT, -1, 0, 0, nan_},
      {JOIST_OP_MAX, 0, -0.0, 0, 0},
      {JOIST_OP_MAX, -0.0, 0, 0, 0},
      {JOIST_OP_MAX, -0.0, -0.0, 0, -0.0},
      {JOIST_OP_MIN, 0, -0.0, 0, -0.0},
      {JOIST_OP_MIN, -0.0, 0, 0, -0.0},
      {JOIST_OP_MIN, 0, 0, 0, 0},
      {JOIST_OP_CLAMP, 0, -0.0, 1, 0},
      {JOIST_OP_CLAMP, -1, 0, -0.0, -0.0},
      {JOIST_OP_SQRT, -1, 0, 0, nan_},
      {JOIST_OP_LOG, 0, 0, 0, -inf},
      {JOIST_OP_LOGISTIC, 0, 0, 0, 0.5},
      {JOIST_OP_LOGISTIC, -inf, 0, 0, 0},
      {JOIST_OP_LOGISTIC, inf, 0, 0, 1},
      {JOIST_OP_IM, 3, 0, 0, 0},
      {JOIST_OP_NEGATE, 0, 0, 0, -0.0},
      {JOIST_OP_ABS, -0.0, 0, 0, 0},
      {JOIST_OP_TRUNC, -1.5, 0, 0, -1},
      {JOIST_OP_FLOOR, -1.5, 0, 0, -2},
      {JOIST_OP_CEILING, -0.5, 0, 0, -0.0},
      {JOIST_OP_CBRT, -0.0, 0, 0, -0.0},
      {JOIST_OP_EXP, -inf, 0, 0, 0},
      {JOIST_OP_EXPM1, 0, 0, 0, 0},
  };
  for (int s = 0; s < set_count; s++) {
    joist_kernels_select(sets[s]);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      const double got = run_f64(rows[k].op, rows[k].a, rows[k].b, rows[k].c);
      const double single = run_f32(rows[k].op, rows[k].a, rows[k].b, rows[k].c);
      CHECK_MSG(same(got, rows[k].want), "%s f64 nv_%s(%g, %g, %g) gives %g", sets[s],
                joist_op_name(rows[k].op), rows[k].a, rows[k].b, rows[k].c, got);
      CHECK_MSG(same(single, rows[k].want), "%s f32 nv_%s(%g, %g, %g) gives %g", sets[s],
                joist_op_name(rows[k].op), rows[k].a, rows[k].b, rows[k].c, single);
    }
  }
}

/* Basic arithmetic is correctly rounded: what C computes without contraction. */
static void test_arithmetic(void) {
  joist_kernels_select(sets[set_count - 1]);
  for (int k = 0; k < 20000; k++) {
    double a, b;
    float x, y;
    const fill_kind kind = (fill_kind)(k % FILL_COUNT);
    fill(JOIST_F64, 1, kind, &a), fill(JOIST_F64, 1, kind, &b);
    fill(JOIST_F32, 1, kind, &x), fill(JOIST_F32, 1, kind, &y);
    volatile double sum = a + b, difference = a - b, product = a * b, quotient = a / b;
    CHECK(same(run_f64(JOIST_OP_ADD, a, b, 0), sum));
    CHECK(same(run_f64(JOIST_OP_SUB, a, b, 0), difference));
    CHECK(same(run_f64(JOIST_OP_MUL, a, b, 0), product));
    CHECK(same(run_f64(JOIST_OP_DIV, a, b, 0), quotient));
    CHECK(same(run_f64(JOIST_OP_SQRT, a, 0, 0), sqrt(a)));
    volatile float s = x + y, p = x * y, q = x / y;
    CHECK(same(run_f32(JOIST_OP_ADD, (double)x, (double)y, 0), (double)s));
    CHECK(same(run_f32(JOIST_OP_MUL, (double)x, (double)y, 0), (double)p));
    CHECK(same(run_f32(JOIST_OP_DIV, (double)x, (double)y, 0), (double)q));
    /* Floored division: a = q b + r, r has b's sign and is smaller. */
    if (!isfinite(a) || !isfinite(b) || b == 0 || fabs(a / b) > 1e15) continue;
    const double whole = run_f64(JOIST_OP_FLOORDIV, a, b, 0), rest = run_f64(JOIST_OP_MOD, a, b, 0);
    CHECK_MSG(
        floor(whole) == whole && fabs(rest) <= fabs(b) && (rest == 0 || (rest < 0) == (b < 0)),
        "%a %%/%% %a gives %a, rest %a", a, b, whole, rest);
    if (fabs(whole * b) < DBL_MAX)
      CHECK_MSG(fabs(whole * b + rest - a) <= 4 * DBL_EPSILON * (fabs(a) + fabs(b)),
                "%a %%/%% %a gives %a, rest %a", a, b, whole, rest);
  }
}

/* Elementary functions: f64 against libm in long double, f32 against f64, to some units in
 * the last place. */
static void test_functions(void) {
  static const struct {
    joist_op op;
    long double (*f)(long double);
    double low, high;
  } rows[] = {
      {JOIST_OP_EXP, expl, -700, 700},    {JOIST_OP_EXPM1, expm1l, -5, 5},
      {JOIST_OP_LOG, logl, 1e-300, 1e10}, {JOIST_OP_LOG2, log2l, 1e-3, 1e10},
      {JOIST_OP_LOG10, log10l, 1e-3, 10}, {JOIST_OP_LOG1P, log1pl, -0.9, 10},
      {JOIST_OP_SIN, sinl, -30, 30},      {JOIST_OP_COS, cosl, -30, 30},
      {JOIST_OP_TAN, tanl, -1.5, 1.5},    {JOIST_OP_ASIN, asinl, -1, 1},
      {JOIST_OP_ACOS, acosl, -1, 1},      {JOIST_OP_ATAN, atanl, -50, 50},
      {JOIST_OP_SINH, sinhl, -20, 20},    {JOIST_OP_COSH, coshl, -20, 20},
      {JOIST_OP_TANH, tanhl, -5, 5},      {JOIST_OP_ASINH, asinhl, -50, 50},
      {JOIST_OP_ACOSH, acoshl, 1, 50},    {JOIST_OP_ATANH, atanhl, -0.99, 0.99},
      {JOIST_OP_SQRT, sqrtl, 0, 1e10},    {JOIST_OP_CBRT, cbrtl, -1e10, 1e10},
  };
  enum { POINTS = 400 };
  for (int s = 0; s < set_count; s++)
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      double x[POINTS], y[POINTS], worst = 0, worst_single = 0;
      float u[POINTS], v[POINTS];
      for (int i = 0; i < POINTS; i++) {
        x[i] = rows[k].low + (rows[k].high - rows[k].low) * (double)(random_bits() >> 11) * 0x1p-53;
        u[i] = (float)x[i];
        if ((double)u[i] < rows[k].low || (double)u[i] > rows[k].high)
          u[i] = (float)rows[k].high / 2;
        if (fabsf(u[i]) > 80) u[i] = u[i] < 0 ? -80.0f : 80.0f;
      }
      const void *wide_in[1] = {x}, *single_in[1] = {u};
      kernel_of(s, rows[k].op, JOIST_F64)(POINTS, wide_in, y);
      kernel_of(s, rows[k].op, JOIST_F32)(POINTS, single_in, v);
      for (int i = 0; i < POINTS; i++) {
        const long double want = rows[k].f(x[i]), want_single = rows[k].f((long double)u[i]);
        const double error = fabs((double)((y[i] - want) / (fabsl(want) + 1e-300L)));
        const double single =
            fabs((double)(((long double)v[i] - want_single) / (fabsl(want_single) + 1e-30L)));
        if (!(error <= worst)) worst = error;
        if (!(single <= worst_single)) worst_single = single;
      }
      CHECK_MSG(worst <= 8 * DBL_EPSILON && worst_single <= 8 * (double)FLT_EPSILON,
                "%s nv_%s: relative errors %g (f64) and %g (f32)", sets[s],
                joist_op_name(rows[k].op), worst, worst_single);
    }
}

static void test_select(void) {
  const uint8_t p[4] = {1, 0, 1, 0};
  const double a[4] = {1, 2, NAN, 4}, b[4] = {5, NAN, 7, 8}, want[4] = {1, NAN, NAN, 8};
  double z[4];
  const void *in[3] = {p, a, b};
  for (int s = 0; s < set_count; s++) {
    CHECK_INT(kernel_of(s, JOIST_OP_IFELSE, JOIST_F64)(4, in, z), 4);
    for (int i = 0; i < 4; i++) CHECK(same(z[i], want[i]));
  }
}

/* ---- folds ---- */

static void test_fold(void) {
  joist_kernels_select(sets[set_count - 1]);
  enum { MANY = 5000 };
  int64_t *const x = malloc(MANY * sizeof *x), *const scratch = malloc(MANY * sizeof *x);
  if (!CHECK(x != NULL && scratch != NULL)) return;
  joist_fold *const add = joist_fold_find(JOIST_OP_ADD, JOIST_I64, JOIST_I64);
  for (size_t n = 1; n <= MANY; n = n < 70 ? n + 1 : n + 911) {
    uint64_t want = 0;
    for (size_t i = 0; i < n; i++) {
      x[i] = (int64_t)random_bits();
      want += (uint64_t)x[i];
    }
    add(1, n, x, scratch);
    CHECK_INT(scratch[0], (int64_t)want);
  }
  free(x);
  free(scratch);
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    _Alignas(16) char element[16];
    double value;
    CHECK(joist_identity(JOIST_OP_ADD, (joist_dtype)d, element));
    joist_convert_find((joist_dtype)d, JOIST_F64)(1, element, &value);
    CHECK(d == JOIST_F8E8M0FNU ? isnan(value) : value == 0);
    CHECK(joist_identity(JOIST_OP_MUL, (joist_dtype)d, element));
    joist_convert_find((joist_dtype)d, JOIST_F64)(1, element, &value);
    CHECK(value == (d == JOIST_INT1 ? -1 : 1)); /* modulo 2 */
    CHECK(!joist_identity(JOIST_OP_MIN, (joist_dtype)d, element));
    CHECK(!joist_identity(JOIST_OP_MAX, (joist_dtype)d, element));
  }
}

/* Parts of elements of the accumulator, as long doubles. */
static long double part_of(joist_dtype dtype, const char *x, size_t k) {
  switch (dtype) {
    case JOIST_F32:
    case JOIST_C64:
      return ((const float *)(const void *)x)[k];
    default:
      return ((const double *)(const void *)x)[k];
  }
}

/* What folds one run of the accumulator's dtype: one element after the other by the elementwise
 * kernel, or sums of floats in long double, which tell by how much a sum may be off. */
static void check_run(joist_op op, joist_dtype dtype, size_t n, const char *x, const char *got) {
  const size_t size = joist_dtype_size(dtype);
  const joist_kind kind = joist_dtype_kind(dtype);
  const bool inexact = kind == JOIST_KIND_FLOAT || kind == JOIST_KIND_COMPLEX;
  _Alignas(16) char want[16];
  if (!inexact || op != JOIST_OP_ADD) {
    memcpy(want, x, size);
    for (size_t k = 1; k < n; k++) {
      const void *const in[2] = {want, x + k * size};
      kernel_of(0, op, dtype)(1, in, want);
    }
    const bool rounds = inexact && op == JOIST_OP_MUL;
    if (!rounds) CHECK(memcmp(want, got, size) == 0);
    const size_t parts = kind == JOIST_KIND_COMPLEX ? 2 : 1;
    const double epsilon = size / parts == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON;
    long double most = 0, off = 0;
    for (size_t p = 0; p < parts && rounds; p++) {
      most += fabsl(part_of(dtype, want, p));
      off += fabsl(part_of(dtype, want, p) - part_of(dtype, got, p));
    }
    CHECK(off <= 4 * (double)n * epsilon * most);
    return;
  }
  const size_t parts = kind == JOIST_KIND_COMPLEX ? 2 : 1;
  const double epsilon = size / parts == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON;
  for (size_t p = 0; p < parts; p++) {
    long double sum = 0, most = 0;
    bool negative = true;
    for (size_t k = 0; k < n; k++) {
      const long double part = part_of(dtype, x, k * parts + p);
      sum += part;
      most += fabsl(part);
      negative = negative && signbit(part);
    }
    if (most == 0) CHECK(!signbit(part_of(dtype, got, p)) == !negative);
    /* At most 7 additions one after the other, or as many levels of pairs, and one per lane. */
    CHECK(fabsl(part_of(dtype, got, p) - sum) <= 5 * epsilon * most);
  }
}

/* Runs of every length about those where other loops begin, which end where their memory does. */
static void check_short_folds(joist_op op, joist_dtype from, joist_dtype to) {
  enum { MOST = 140 };
  static const size_t counts[] = {1, 2, 15, 16, 17, 40};
  const size_t in_size = joist_dtype_size(from), size = joist_dtype_size(to);
  for (size_t n = 1; n <= MOST; n += n < 67 || n > 125 ? 1 : 13)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
      const size_t runs = counts[c], all = runs * n;
      double *const numbers = malloc(all * sizeof *numbers);
      char *const x = malloc(all * in_size), *const wide = malloc(all * size);
      char *const first = malloc(runs * size), *const got = malloc(runs * size);
      uint8_t *const mask = malloc(all);
      if (!CHECK(numbers != NULL && x != NULL && wide != NULL && first != NULL && got != NULL &&
                 mask != NULL))
        exit(1);
      for (size_t k = 0; k < all; k++) {
        numbers[k] = op == JOIST_OP_MUL ? 0.75 + (double)(random_bits() % 512) / 1024
                                        : (double)(random_bits() % 4096) / 64 - 32;
        if (random_bits() % 8 == 0) numbers[k] = -0.0;
        mask[k] = random_bits() % 4 == 0;
      }
      if (c == 3)
        for (size_t k = 0; k < all; k++) numbers[k] = -0.0;
      joist_convert_find(JOIST_F64, from)(all, numbers, x);
      joist_convert_find(from, to)(all, x, wide);
      for (int s = 0; s < set_count; s++) {
        joist_kernels_select(sets[s]);
        joist_fold_find(op, from, to)(runs, n, x, s == 0 ? first : got);
        if (s > 0)
          CHECK_MSG(memcmp(first, got, runs * size) == 0, "%s nv_%s(%s): %zu runs of %zu", sets[s],
                    joist_op_name(op), joist_dtype_name(from), runs, n);
      }
      for (size_t r = 0; r < runs; r++) check_run(op, to, n, wide + r * n * size, first + r * size);
      /* What a mask leaves is summed as a copy would be. */
      _Alignas(16) char fill[16] = {0};
      for (int s = 0; s < set_count; s++) {
        joist_kernels_select(sets[s]);
        joist_masked_fold *const masked = joist_masked_fold_find(op, from, to);
        if (masked == NULL) continue;
        masked(runs, n, (const void *[]){mask, fill, x}, false, got);
        char *const kept = malloc(all * in_size);
        if (!CHECK(kept != NULL)) exit(1);
        for (size_t k = 0; k < all; k++)
          memcpy(kept + k * in_size, mask[k] ? fill : x + k * in_size, in_size);
        joist_fold_find(op, from, to)(runs, n, kept, first);
        CHECK_MSG(memcmp(first, got, runs * size) == 0, "%s masked sum of %s: %zu runs of %zu",
                  sets[s], joist_dtype_name(from), runs, n);
        free(kept);
      }
      free(numbers);
      free(x);
      free(wide);
      free(first);
      free(got);
      free(mask);
    }
}

static void test_short_folds(void) {
  int folds = 0;
  for (int k = 0; k < JOIST_OP_COUNT; k++)
    for (int from = 0; from < JOIST_DTYPE_COUNT; from++)
      for (int to = 0; to < JOIST_DTYPE_COUNT; to++)
        if (joist_fold_find((joist_op)k, (joist_dtype)from, (joist_dtype)to) != NULL) {
          check_short_folds((joist_op)k, (joist_dtype)from, (joist_dtype)to);
          folds++;
        }
  CHECK(folds > 50);
}

int main(void) {
  long kernels = 0;
  set_count = find_sets(sets);
  test_selection();
  for (int k = 0; k < JOIST_OP_COUNT; k++)
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      const joist_op op = (joist_op)k;
      const joist_dtype dtype = (joist_dtype)d;
      joist_kernel *const first = kernel_of(0, op, dtype);
      for (int s = 1; s < set_count; s++)
        CHECK_MSG((kernel_of(s, op, dtype) != NULL) == (first != NULL), "%s has another nv_%s(%s)",
                  sets[s], joist_op_name(op), joist_dtype_name(dtype));
      if (first == NULL) continue;
      kernels++;
      CHECK(joist_dtype_compute(dtype) == dtype);
      check_purity(op, dtype);
      if (is_integer(dtype)) check_integers_of(op, dtype);
    }
  CHECK(kernels > 300);
  test_edges();
  test_divisions();
  test_first_failure();
  test_float_table();
  test_arithmetic();
  test_functions();
  test_select();
  test_fold();
  test_short_folds();
  return check_report("kernels");
}
