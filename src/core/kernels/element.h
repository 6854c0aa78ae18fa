/* What the expressions of ops.def call for one element, where C has no operator for it.
 * Integers are computed in 64 bits, which narrower ones then take the low bits of. */
#ifndef JOIST_CORE_KERNELS_ELEMENT_H
#define JOIST_CORE_KERNELS_ELEMENT_H

#include <math.h>
#include <stdint.h>

#include "core/base/target.h"

JOIST_DEVICE static inline uint64_t power_int(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

JOIST_DEVICE static inline int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

JOIST_DEVICE static inline int64_t mod_int(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* The sign of the dividend. */
JOIST_DEVICE static inline int64_t remainder_int(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}

JOIST_DEVICE static inline uint64_t divide_uint(uint64_t a, uint64_t b) { return a / b; }
JOIST_DEVICE static inline uint64_t remainder_uint(uint64_t a, uint64_t b) { return a % b; }

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
 * off, and those of f32 0.51 but for x^-0.5. Products of f32 are made in f64, where they are exact
 * or nearly so; in f64 a square that leaves the usual range is left to pow(). */
#define QUICK_EXPONENT(b)                                                                     \
  ((b == 1) | (b == -1) | (b == 3) | (b == -2) | ((sizeof(b) == sizeof(float)) & (b == -3)) | \
   (b == 0.5f) | (b == -0.5f))

/* (-0)^0.5 is 0 and (-Inf)^0.5 is Inf, which roots are not. */
#define ROOT(sqrt, a) (a < 0 && a - a != 0 ? -a : sqrt(a + 0))

JOIST_DEVICE static inline float quick_powerf(float a, float b) {
  const double wide = a;
  if (b == 1) return a;
  if (b == -1) return 1 / a;
  if (b == 3) return (float)(wide * wide * wide);
  if (b == -2) return (float)(1 / (wide * wide));
  if (b == -3) return (float)(1 / (wide * wide * wide));
  return b > 0 ? ROOT(sqrtf, a) : 1 / ROOT(sqrtf, a);
}

JOIST_DEVICE static inline bool is_usual(double x) { return x > 0x1p-900 && x < 0x1p900; }

JOIST_DEVICE static inline double quick_power(double a, double b) {
  if (b == 1) return a;
  if (b == -1) return 1 / a;
  if (b == 3) return a * a * a;
  if (b == -2) return is_usual(a * a) ? 1 / (a * a) : power(a, b);
  return b > 0 ? ROOT(sqrt, a) : 1 / ROOT(sqrt, a);
}

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
  JOIST_DEVICE static inline REAL clamp_float##S(REAL low, REAL x, REAL high) { \
    const REAL raised = x > low ? x : low;                                      \
    const REAL within = raised < high ? raised : high;                          \
    const REAL nan = x != x ? x : low;                                          \
    return nan != nan ? nan : within;                                           \
  }
REAL_HELPERS(float, f)
REAL_HELPERS(double, )

#undef REAL_HELPERS

#endif
