/* sin, cos and tan of pi x that compilers turn into vector code.
 *
 * x is brought to |r| <= 1/4 by subtracting halves, which is exact for every number; pi r is then a
 * sum of two doubles. Plain arithmetic as in math_f64.h. At whole numbers and halves the results
 * are exact (IEEE 754-2019, 9.2), and as in R tan is NaN at its poles. */
#ifndef JOIST_CORE_KERNELS_HALF_TURNS_H
#define JOIST_CORE_KERNELS_HALF_TURNS_H

#include "core/kernels/math_f64.h"

/* |x| = 2 k + n / 2 + r. Gives n, in the lowest bits. Doubles from 2^53 on are even. */
JOIST_INLINE uint64_t reduce_half_turns(double x, double *r) {
  const double t = fabs(x), y = t < 0x1p53 ? t : 0.0, k = (0.5 * y + 0x1p52) - 0x1p52;
  const double part = y - 2 * k, shifted = 2 * part + ROUNDING;
  *r = part - 0.5 * (shifted - ROUNDING);
  return bits_of(shifted);
}

/* sin(pi |x|) after `quarter` more quarter turns; zeros are positive. */
JOIST_INLINE double half_turns(double x, uint64_t quarter) {
  double r;
  const uint64_t q = reduce_half_turns(x, &r) + quarter;
  const double high = leading_f64(r), leading = high * 0x1.921fb5p+1;
  const double rest = high * 0x1.110b4611a6263p-25 + (r - high) * 0x1.921fb54442d18p+1;
  const double angle = leading + rest, low = (leading - angle) + rest;
  const double s = sin_of_f64(angle, low), c = cos_of_f64(angle, low);
  return of_bits(bits_of((q & 1) != 0 ? c : s) ^ ((q & 2) << 62)) + 0.0;
}

/* NaN, the operand's own, where that is not finite. */
JOIST_INLINE double of_finite(double x, double value) { return x - x == 0 ? value : x - x; }

JOIST_INLINE double f64_sinpi(double x) {
  return of_finite(x, copysign(1.0, x) * half_turns(x, 0));
}
JOIST_INLINE double f64_cospi(double x) { return of_finite(x, half_turns(x, 1)); }
JOIST_INLINE double f64_tanpi(double x) {
  double r;
  reduce_half_turns(x, &r);
  const double s = half_turns(x, 0), c = half_turns(x, 1), ratio = s / c + 0.0;
  const double value = fabs(r) == 0.25 ? copysign(1.0, ratio) : ratio;
  return of_finite(x, c == 0 ? (double)NAN : copysign(1.0, x) * value);
}

JOIST_INLINE float fast_sinpi(float x) { return (float)f64_sinpi((double)x); }
JOIST_INLINE float fast_cospi(float x) { return (float)f64_cospi((double)x); }
JOIST_INLINE float fast_tanpi(float x) { return (float)f64_tanpi((double)x); }

#endif
