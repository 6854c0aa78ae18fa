/* Products of any size: of as many numbers as there are, none of whose parts may overflow or
 * vanish before the whole does. For real and complex numbers in double precision.
 *
 * Multiplied one after the other, numbers that have overflowed or vanished on the way stay so.
 * Whether they do, a product depends on what it is behind: it knows the exponents of these for
 * which it would leave the range of double, the larger ones first, and the smaller ones. */
#ifndef JOIST_CUDA_SCALED_CUH
#define JOIST_CUDA_SCALED_CUH

#include "cuda/kernels/element.cuh"

/* factor x 2^exponent, where the larger part of the factor is at least 1 and below 2. Behind a
 * number whose exponent is at least `high` it is infinite, below `low` (at most `high`) zero. */
template <class N>
struct joist_scaled {
  N factor;
  int32_t exponent, high, low;
  uint32_t has; /* HAS_ZERO, HAS_INFINITY */
};

enum {
  HAS_ZERO = 1,
  HAS_INFINITY = 2,
  ALWAYS = 1 << 28,       /* beyond every exponent, also as a sum of two of them */
  EXPONENT_MOST = 1 << 26 /* whatever it is behind leaves the range long before */
};

JOIST_DEVICE static inline double larger_part(double x) { return fabs(x); }
JOIST_DEVICE static inline double larger_part(joist_c128 z) {
  const double re = fabs(z.re), im = fabs(z.im);
  return re > im ? re : im;
}
JOIST_DEVICE static inline bool has_nan(double x) { return x != x; }
JOIST_DEVICE static inline bool has_nan(joist_c128 z) { return z.re != z.re || z.im != z.im; }
JOIST_DEVICE static inline bool has_infinity(double x) { return is_inf(x); }
JOIST_DEVICE static inline bool has_infinity(joist_c128 z) { return is_inf(z.re) || is_inf(z.im); }
/* With the sign of a real x. */
JOIST_DEVICE static inline double with_sign(double value, double x) { return copysign(value, x); }
JOIST_DEVICE static inline joist_c128 with_sign(double value, joist_c128) {
  return joist_c128(value, is_inf(value) ? value : 0);
}

/* A power of two changes no digit. */
JOIST_DEVICE static inline double times(double x, double power) { return x * power; }
JOIST_DEVICE static inline joist_c128 times(joist_c128 z, double power) {
  return joist_c128(z.re * power, z.im * power);
}

/* 2^k for -1022 <= k <= 1023. */
JOIST_DEVICE static inline double power_of_two(int32_t k) {
  const uint64_t bits = (uint64_t)(k + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}
/* The exponent of a normal number. */
JOIST_DEVICE static inline int32_t exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int32_t)(bits >> 52 & 2047) - 1023;
}

template <class N>
JOIST_DEVICE static inline joist_scaled<N> scaled(N x) {
  joist_scaled<N> made = {with_sign(1, x), 0, ALWAYS, ALWAYS, 0};
  const double size = larger_part(x);
  if (has_infinity(x)) {
    made.high = made.low = -ALWAYS;
    made.has = HAS_INFINITY;
  } else if (has_nan(x)) {
    made.factor = x;
  } else if (size == 0) {
    made.has = HAS_ZERO;
  } else {
    /* Away from the ends of the range, so that the power of two is a normal number. */
    const int32_t shift = size < 0x1p-900 ? 128 : size > 0x1p900 ? -128 : 0;
    const double moved = power_of_two(shift);
    const int32_t exponent = exponent_of(size * moved);
    made.factor = times(times(x, moved), power_of_two(-exponent));
    made.exponent = exponent - shift;
    made.high = 1024 - made.exponent;
    made.low = -1074 - made.exponent;
  }
  return made;
}

JOIST_DEVICE static inline int32_t lower_of(int32_t a, int32_t b) { return a < b ? a : b; }
JOIST_DEVICE static inline int32_t higher_of(int32_t a, int32_t b) { return a > b ? a : b; }

/* a, then b. */
template <class N>
JOIST_DEVICE static inline joist_scaled<N> scaled_product(const joist_scaled<N> &a,
                                                          const joist_scaled<N> &b) {
  joist_scaled<N> made;
  made.factor = a.factor * b.factor;
  const int32_t more = exponent_of(larger_part(made.factor));
  made.has = a.has | b.has;
  if (has_nan(made.factor) || made.has == (HAS_ZERO | HAS_INFINITY))
    made.factor = N((double)NAN);
  else if (more != 0)
    made.factor = times(made.factor, power_of_two(-more));
  made.exponent =
      higher_of(-EXPONENT_MOST, lower_of(EXPONENT_MOST, a.exponent + b.exponent + more));
  made.high = lower_of(a.high, higher_of(b.high - a.exponent, a.low));
  made.low = higher_of(a.low, lower_of(b.low - a.exponent, a.high));
  return made;
}

/* As multiplied up from 1. */
template <class N>
JOIST_DEVICE static inline N scaled_value(const joist_scaled<N> &x) {
  if (has_nan(x.factor)) return x.factor;
  if (x.high <= 0)
    return (x.has & HAS_ZERO) != 0 ? N((double)NAN) : with_sign((double)INFINITY, x.factor);
  if (x.low > 0) return (x.has & HAS_INFINITY) != 0 ? N((double)NAN) : with_sign(0, x.factor);
  /* In two steps, of which the first is exact: rounded once. */
  const int32_t half = x.exponent / 2;
  return times(times(x.factor, power_of_two(half)), power_of_two(x.exponent - half));
}

#endif
