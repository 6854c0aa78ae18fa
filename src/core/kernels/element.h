/* What the expressions of ops.def call for one element, where C has no operator for it.
 * Integers are computed in 64 bits, which narrower ones then take the low bits of. */
#ifndef JOIST_CORE_KERNELS_ELEMENT_H
#define JOIST_CORE_KERNELS_ELEMENT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/base/target.h"
#include "core/kernels/math_f64.h"

/* The last float before 0.5, of the type T of the operands. */
#define BELOW_HALF (sizeof(T) == sizeof(float) ? (T)0x1.fffffep-2 : (T)0x1.fffffffffffffp-2)

JOIST_DEVICE static inline uint64_t power_int(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

JOIST_DEVICE static inline int64_t quotient_int(int64_t a, int64_t b) {
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

/* The sign of the dividend. */
JOIST_DEVICE static inline int64_t remainder_int(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}

JOIST_DEVICE static inline int64_t floor_div_int(int64_t a, int64_t b) {
  const int64_t r = remainder_int(a, b);
  return quotient_int(a, b) - (r != 0 && (r < 0) != (b < 0));
}

JOIST_DEVICE static inline int64_t mod_int(int64_t a, int64_t b) {
  const int64_t r = remainder_int(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* The upper 64 bits of a product. */
JOIST_DEVICE static inline uint64_t product_high(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(__CUDACC__)
  __extension__ typedef unsigned __int128 product;
  return (uint64_t)((product)a * b >> 64);
#else
  const uint64_t low = UINT64_C(0xffffffff);
  const uint64_t middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  const uint64_t other = (a & low) * (b >> 32) + (middle & low);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
#endif
}

JOIST_DEVICE static inline uint64_t divide_uint(uint64_t a, uint64_t b) { return a / b; }
JOIST_DEVICE static inline uint64_t remainder_uint(uint64_t a, uint64_t b) { return a % b; }

/* Rounded, halves away from zero; 0 where the divisor is. */
JOIST_DEVICE static inline uint64_t round_div_uint(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : a / b + (a % b >= b - a % b);
}
JOIST_DEVICE static inline int64_t round_div_int(int64_t a, int64_t b) {
  const uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  const uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b, size = round_div_uint(x, y);
  return (int64_t)((a < 0) != (b < 0) ? 0 - size : size);
}

JOIST_DEVICE static inline unsigned count_bits(uint64_t x) {
  x = x - ((x >> 1) & UINT64_C(0x5555555555555555));
  x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
  x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (unsigned)((x * UINT64_C(0x0101010101010101)) >> 56);
}

JOIST_DEVICE static inline double logistic(double x) { return 1 / (1 + exp(-x)); }

/* x^2 is x * x, as in R. x^0 and 1^y are 1 also for R's NA, whose bits pow() takes for a
 * signaling NaN. */
JOIST_DEVICE static inline double power(double x, double y) {
  return y == 2 ? x * x : x == 1 || y == 0 ? 1 : pow(x, y);
}

/* Powers that are multiplications, a division or a root in place of logarithms: at most 1.5 ulp
 * off, and errors of f32 0.51. Products of f32 are made in f64, where they are exact or nearly so;
 * in f64 a square that leaves the usual range is left to pow(). */
#define QUICK_EXPONENT(b)                                   \
  ((b == 1) | (b == -1) | (b == 3) | (b == 4) | (b == -2) | \
   ((sizeof(b) == sizeof(float)) & (b == -3)) | (b == 0.5f) | (b == -0.5f))

/* (-0)^0.5 is 0 and (-Inf)^0.5 is Inf, which roots are not. */
#define ROOT(sqrt, a) (a < 0 && a - a != 0 ? -a : sqrt(a + 0))

JOIST_DEVICE static inline float quick_powerf(float a, float b) {
  const double wide = a;
  if (b == 1) return a;
  if (b == -1) return 1 / a;
  if (b == 3) return (float)(wide * wide * wide);
  if (b == 4) return (float)(wide * wide * (wide * wide));
  if (b == -2) return (float)(1 / (wide * wide));
  if (b == -3) return (float)(1 / (wide * wide * wide));
  return b > 0 ? ROOT(sqrtf, a) : (float)(1 / ROOT(sqrt, wide));
}

JOIST_DEVICE static inline bool is_usual(double x) { return x > 0x1p-900 && x < 0x1p900; }

JOIST_DEVICE static inline double quick_power(double a, double b) {
  if (b == 1) return a;
  if (b == -1) return 1 / a;
  if (b == 3) return a * a * a;
  if (b == 4) return fourth_power_f64(a);
  if (b == -2) return is_usual(a * a) ? 1 / (a * a) : power(a, b);
  return b > 0 ? ROOT(sqrt, a) : 1 / ROOT(sqrt, a);
}

/* The bits that one or both numbers have. */
#define BIT_HELPER(NAME, REAL, BITS, OPERATOR)          \
  JOIST_DEVICE JOIST_INLINE REAL NAME(REAL a, REAL b) { \
    BITS x, y;                                          \
    memcpy(&x, &a, sizeof x);                           \
    memcpy(&y, &b, sizeof y);                           \
    x = x OPERATOR y;                                   \
    memcpy(&a, &x, sizeof a);                           \
    return a;                                           \
  }
BIT_HELPER(either_bitsf, float, uint32_t, |)
BIT_HELPER(either_bits, double, uint64_t, |)
BIT_HELPER(both_bitsf, float, uint32_t, &)
BIT_HELPER(both_bits, double, uint64_t, &)
#undef BIT_HELPER

/* Real-valued helpers, once for float and once for double. */
#define REAL_HELPERS(REAL, S)                                                   \
  JOIST_DEVICE static inline REAL floor_mod##S(REAL a, REAL b) {                \
    const REAL r = fmod##S(a, b);                                               \
    if (r == 0) return copysign##S((REAL)0, b);                                 \
    return (r < 0) != (b < 0) ? r + b : r;                                      \
  }                                                                             \
  JOIST_DEVICE static inline REAL floor_div##S(REAL a, REAL b) {                \
    if (b == 0 || a - a != 0) return a / b; /* a is not finite */               \
    const REAL r = fmod##S(a, b);                                               \
    REAL q = (a - r) / b;                                                       \
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;                                   \
    if (q == 0) return copysign##S((REAL)0, a / b);                             \
    const REAL whole = floor##S(q);                                             \
    return q - whole > (REAL)0.5 ? whole + 1 : whole;                           \
  }                                                                             \
  /* Equal numbers differ in the sign of zero, if at all. */                    \
  JOIST_DEVICE JOIST_INLINE REAL min_float##S(REAL a, REAL b) {                 \
    const REAL either = a < b || a != a ? a : b;                                \
    return a == b ? either_bits##S(a, b) : either;                              \
  }                                                                             \
  JOIST_DEVICE JOIST_INLINE REAL max_float##S(REAL a, REAL b) {                 \
    const REAL either = a > b || a != a ? a : b;                                \
    return a == b ? both_bits##S(a, b) : either;                                \
  }                                                                             \
  JOIST_DEVICE static inline REAL clamp_float##S(REAL low, REAL x, REAL high) { \
    return min_float##S(max_float##S(x, low), high);                            \
  }
REAL_HELPERS(float, f)
REAL_HELPERS(double, )

#undef REAL_HELPERS

/* The logarithm's real and imaginary part for |x|, |y| < 1/2, the exponential's for |x| < 1: of
 * complex numbers x + yi, where ln(1 + z) and e^z - 1 would cancel. */
JOIST_DEVICE static inline void log1p_parts(double x, double y, double *re, double *im) {
  *re = y == 0 ? log1p(x) : 0.5 * log1p(x * (2 + x) + y * y);
  *im = atan2(y, 1 + x);
}

JOIST_DEVICE static inline void expm1_parts(double x, double y, double *re, double *im) {
  const double half = sin(0.5 * y);
  *re = expm1(x) * cos(y) - 2 * half * half + 0.0; /* of -0, 0 */
  *im = exp(x) * sin(y);
}

#endif
