#include "core/kernels/compare.h"

#include <stdint.h>

/* How the first element stands to the second. */
typedef enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 } standing;

static standing of_numbers(double lhs, double rhs) {
  if (lhs == rhs) return EQUAL;
  return lhs < rhs ? LESS : lhs > rhs ? GREATER : UNORDERED;
}

static standing i64_f64(int64_t lhs, double rhs) {
  if (!(rhs >= -0x1p63 && rhs < 0x1p63)) return of_numbers(0, rhs);
  const int64_t whole = (int64_t)rhs; /* toward zero */
  if (lhs == whole) return of_numbers(0, rhs - (double)whole);
  return lhs < whole ? LESS : GREATER;
}

static standing ui64_f64(uint64_t lhs, double rhs) {
  if (!(rhs >= 0 && rhs < 0x1p64)) return of_numbers(0, rhs);
  const uint64_t whole = (uint64_t)rhs;
  if (lhs == whole) return of_numbers(0, rhs - (double)whole);
  return lhs < whole ? LESS : GREATER;
}

/* Equal or not: complex numbers have no order. */
static standing i64_c128(int64_t lhs, joist_c128 rhs) {
  return cimag(rhs) == 0 ? i64_f64(lhs, creal(rhs)) : UNORDERED;
}

static standing ui64_c128(uint64_t lhs, joist_c128 rhs) {
  return cimag(rhs) == 0 ? ui64_f64(lhs, creal(rhs)) : UNORDERED;
}

static standing i64_ui64(int64_t lhs, uint64_t rhs) {
  if (lhs < 0 || (uint64_t)lhs < rhs) return LESS;
  return (uint64_t)lhs == rhs ? EQUAL : GREATER;
}

/* X(PAIR, L, R, LHS, RHS) */
#define PAIRS(X)                                 \
  X(i64_f64, int64_t, double, I64, F64)          \
  X(ui64_f64, uint64_t, double, UI64, F64)       \
  X(i64_c128, int64_t, joist_c128, I64, C128)    \
  X(ui64_c128, uint64_t, joist_c128, UI64, C128) \
  X(i64_ui64, int64_t, uint64_t, I64, UI64)

/* For which the second operand comes first, too: `first` is the place of the one of type L. */
#define LOOP(NAME, PAIR, L, R, FIRST, WANTED)                                         \
  static size_t NAME##_##PAIR##_##FIRST(size_t n, const void *const *in, void *out) { \
    const L *const x = (const L *)in[FIRST];                                          \
    const R *const y = (const R *)in[1 - FIRST];                                      \
    uint8_t *const z = (uint8_t *)out;                                                \
    for (size_t i = 0; i < n; i++) z[i] = (PAIR(x[i], y[i]) & (WANTED)) != 0;         \
    return n;                                                                         \
  }
#define LOOPS(PAIR, L, R, LHS, RHS)                   \
  LOOP(eq, PAIR, L, R, 0, EQUAL)                      \
  LOOP(eq, PAIR, L, R, 1, EQUAL)                      \
  LOOP(ne, PAIR, L, R, 0, LESS | GREATER | UNORDERED) \
  LOOP(ne, PAIR, L, R, 1, LESS | GREATER | UNORDERED) \
  LOOP(lt, PAIR, L, R, 0, LESS)                       \
  LOOP(lt, PAIR, L, R, 1, GREATER)                    \
  LOOP(le, PAIR, L, R, 0, LESS | EQUAL)               \
  LOOP(le, PAIR, L, R, 1, GREATER | EQUAL)            \
  LOOP(gt, PAIR, L, R, 0, GREATER)                    \
  LOOP(gt, PAIR, L, R, 1, LESS)                       \
  LOOP(ge, PAIR, L, R, 0, GREATER | EQUAL)            \
  LOOP(ge, PAIR, L, R, 1, LESS | EQUAL)
PAIRS(LOOPS)

typedef enum {
#define X(PAIR, L, R, LHS, RHS) PAIR_##PAIR,
  PAIRS(X)
#undef X
      PAIR_COUNT
} pair;

static pair pair_of(joist_dtype lhs, joist_dtype rhs) {
#define X(PAIR, L, R, LHS, RHS) \
  if (lhs == JOIST_##LHS && rhs == JOIST_##RHS) return PAIR_##PAIR;
  PAIRS(X)
#undef X
  return PAIR_COUNT;
}

/* The place of an operation in the table of kernels. */
static int row_of(joist_op op) {
  static const joist_op order[] = {JOIST_OP_EQ, JOIST_OP_NE, JOIST_OP_LT,
                                   JOIST_OP_LE, JOIST_OP_GT, JOIST_OP_GE};
  int row = 0;
  while (order[row] != op) row++;
  return row;
}

joist_kernel *joist_compare_find(joist_op op, joist_dtype lhs, joist_dtype rhs) {
#define BOTH(NAME, PAIR) \
  { NAME##_##PAIR##_0, NAME##_##PAIR##_1 }
#define KERNELS(PAIR, L, R, LHS, RHS) \
  {BOTH(eq, PAIR), BOTH(ne, PAIR), BOTH(lt, PAIR), BOTH(le, PAIR), BOTH(gt, PAIR), BOTH(ge, PAIR)},
  static joist_kernel *const kernels[PAIR_COUNT][6][2] = {PAIRS(KERNELS)};
  const pair straight = pair_of(lhs, rhs);
  const bool turned = straight == PAIR_COUNT;
  return kernels[turned ? pair_of(rhs, lhs) : straight][row_of(op)][turned];
}
