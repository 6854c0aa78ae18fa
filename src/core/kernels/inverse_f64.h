/* Inverse functions of doubles, and roots, that compilers turn into vector code.
 *
 * The same plain arithmetic as in math_f64.h. Every argument has its result here, the
 * special ones as by C's functions. Errors are below 1 unit in the last place, of asinh and
 * atanh below 1.5, as tests/core/test_math_f64.c and test_inverse_f64.c state and
 * check. */
#ifndef JOIST_CORE_KERNELS_INVERSE_F64_H
#define JOIST_CORE_KERNELS_INVERSE_F64_H

#include "core/kernels/math_f64.h"

/* pi, pi / 2 and pi / 4 times it are what doubles of theirs lack. */
#define PI_REST 0x1.678afae35cdd1p-55
#define HALF_PI 0x1.921fb54442d18p+0

/* ---- inverse trigonometric ---- */

/* (asin(s) - s) / s for s^2 = z <= 1/4, to 2^-57 of asin(s) */
JOIST_INLINE double asin_tail_f64(double z) {
  double p = 0x1.d72b2bc8155f8p-6;
  p = p * z - 0x1.e6aaa8a0a04ccp-7;
  p = p * z + 0x1.1d189408314eep-6;
  p = p * z + 0x1.65a9c4dfcf8b2p-8;
  p = p * z + 0x1.52420b04b37bep-7;
  p = p * z + 0x1.782651caa6547p-7;
  p = p * z + 0x1.c9cf07674736ap-7;
  p = p * z + 0x1.1c4d35cf95421p-6;
  p = p * z + 0x1.6e8bb1c8209a2p-6;
  p = p * z + 0x1.f1c71c1db0623p-6;
  p = p * z + 0x1.6db6db6e31f13p-5;
  p = p * z + 0x1.3333333332ecap-4;
  p = p * z + 0x1.5555555555556p-3;
  return p * z;
}

/* asin(s) = *first + the value, where s = t up to 1/2 and above the root of (1 - t) / 2: then
 * asin(t) = pi / 2 - 2 asin(s). *first is s, or the leading half of the root. */
JOIST_INLINE double asin_reduced_f64(double t, double *first) {
  const double z = t > 0.5 ? (1.0 - t) * 0.5 : t * t, root = sqrt(z);
  const double high = leading_f64(root);
  /* no division by zero for t = 1 */
  const double low = (z - high * high) / (root + high + DBL_MIN);
  const double s = t > 0.5 ? root : t, rest = t > 0.5 ? low : 0.0;
  *first = t > 0.5 ? high : t;
  return rest + s * asin_tail_f64(z);
}

JOIST_INLINE double f64_asin(double x) {
  double s;
  const double t = fabs(x), tail = asin_reduced_f64(t, &s);
  const double sum = HALF_PI - 2 * s, lost = (HALF_PI - sum) - 2 * s;
  const double large = sum + (lost + (HALF_PI * PI_REST - 2 * tail));
  return copysign(t > 0.5 ? large : s + tail, x);
}

JOIST_INLINE double f64_acos(double x) {
  double s;
  const double t = fabs(x), tail = asin_reduced_f64(t, &s);
  const double base = t <= 0.5 ? HALF_PI : x > 0 ? 0.0 : 2 * HALF_PI;
  const double factor = copysign(t > 0.5 ? 2.0 : 1.0, t > 0.5 ? x : -x);
  const double sum = base + factor * s, lost = (base - sum) + factor * s;
  return sum + (lost + (base * PI_REST + factor * tail));
}

/* (atan(z) - z) / z for z^2 = w, |z| <= 3/8, to 2^-58 of atan(z) */
JOIST_INLINE double atan_tail_f64(double w) {
  double p = -0x1.69b4c63b53448p-6;
  p = p * w + 0x1.52fc05a2ac14ep-5;
  p = p * w - 0x1.a625183df8ebep-5;
  p = p * w + 0x1.e0ddff65e678ap-5;
  p = p * w - 0x1.1107878689be2p-4;
  p = p * w + 0x1.3b133d319302ep-4;
  p = p * w - 0x1.745d13d109714p-4;
  p = p * w + 0x1.c71c71b7ae4d2p-4;
  p = p * w - 0x1.2492492480925p-3;
  p = p * w + 0x1.999999999989bp-3;
  p = p * w - 0x1.5555555555555p-2;
  return p * w;
}

/* 1 / x for positive normal x, to 2 % */
JOIST_INLINE double rough_inverse_f64(double x) {
  const double guess = of_bits(UINT64_C(0x7fde623822fc16e6) - bits_of(x));
  return guess * (2.0 - x * guess);
}

/* What n / (d + d_low) is more than its rounded quotient z, for results not below 2^-30;
 * of smaller ones the products could underflow. */
JOIST_INLINE double quotient_rest_f64(double n, double d, double d_low, double z) {
  const double z_high = leading_f64(z), d_high = leading_f64(d);
  const double z_low = z - z_high, d_rest = d - d_high;
  const double left = ((n - z_high * d_high) - z_high * d_rest) - z_low * d_high;
  const double rest = (left - (z_low * d_rest + z * d_low)) * rough_inverse_f64(d);
  return fabs(z) < 0x1p-30 ? 0.0 : rest;
}

/* With n <= d the smaller and the larger of |y| and |x|, and c = 0, 1/2 or 1:
 * atan(n / d) = atan(c) + atan(z), z = (n - c d) / (d + c n). The numerator is exact. From
 * there the angle is its distance from the nearest of 0, pi / 2 and pi. */
JOIST_INLINE double f64_atan2(double y, double x) {
  const double up = fabs(y), along = fabs(x);
  const double larger = up > along ? up : along, smaller = up > along ? along : up;
  /* so that nothing overflows, nor halves of subnormals count; 0: d is 0 or infinite */
  const double small_fit = larger < 0x1p-900 ? 0x1p100 : 1.0;
  const double finite_fit = larger > 0x1p900 ? 0x1p-100 : larger == 0 ? 0.0 : small_fit;
  const double fit = larger > DBL_MAX ? 0.0 : finite_fit;
  const double n = smaller > DBL_MAX ? 1.0 : smaller * fit, d = fit == 0 ? 1.0 : larger * fit;
  const double c = n > 0.75 * d ? 1.0 : n > 0.375 * d ? 0.5 : 0.0;
  const double base = n > 0.75 * d ? 0.5 * HALF_PI : n > 0.375 * d ? 0x1.dac670561bb4fp-2 : 0.0;
  const double base_low = n > 0.75 * d    ? 0.5 * HALF_PI * PI_REST
                          : n > 0.375 * d ? 0x1.a2b7f222f65e2p-56
                                          : 0.0;
  const double numerator = n - c * d, denominator = d + c * n;
  const double z = numerator / denominator;
  const double z_low = quotient_rest_f64(numerator, denominator, (d - denominator) + c * n, z);
  const double tail = z_low + z * atan_tail_f64(z * z);
  const double side = copysign(1.0, x), way = up > along ? -side : side;
  const double start = up > along ? HALF_PI : side < 0 ? 2 * HALF_PI : 0.0;
  const double sum = start + way * base, lost = (start - sum) + way * base;
  const double rest = lost + (start * PI_REST + way * (base_low + tail));
  return copysign(sum + (way * z + rest), y);
}

/* ---- inverse hyperbolic ---- */

/* ln(u + low) + k_more ln 2 for positive normal u and a `low` below its last place. */
JOIST_INLINE double log_sum_f64(double u, double low, double k_more) {
  double k;
  const double f = split_for_log(u, &k) - 1.0, square_half = 0.5 * f * f;
  /* divided by 1 + f, to a few digits */
  const double more = low * power_of_two(-k) * (1.0 - f * (1.0 - f * (1.0 - f)));
  const double n = k + k_more;
  const double tail = log_tail_f64(f, square_half) + (n * 0x1.ef35793c7673p-45 + more);
  return n * 0x1.62e42fefa38p-1 - ((square_half - tail) - f);
}

/* Above, asinh(x) and acosh(x) are ln(2 x): of 2^-30 x and 31 ln 2, which never overflows. */
#define HUGE_INVERSE 0x1p28

/* ln(1 + w), w = t + t^2 / (1 + sqrt(1 + t^2)) for t = |x| */
JOIST_INLINE double f64_asinh(double x) {
  const double t = fabs(x), over = (t * t) / (1.0 + sqrt(t * t + 1.0));
  const double w = t + over, w_low = (t - w) + over, sum = 1.0 + w;
  const double lost = w < 1 ? w - (sum - 1.0) : 1.0 - (sum - w);
  const double u = t > HUGE_INVERSE ? t * 0x1p-30 : sum;
  const double low = t > HUGE_INVERSE ? 0.0 : lost + w_low;
  const double value = log_sum_f64(u, low, t > HUGE_INVERSE ? 31.0 : 0.0);
  return copysign(t <= DBL_MAX ? value : t, x);
}

/* ln(x + sqrt(2 t + t^2)), t = x - 1, with what the square and the root lose */
JOIST_INLINE double f64_acosh(double x) {
  const double t = x - 1.0, high = leading_f64(t), square = t * t;
  const double square_low = (high * high - square) + (t - high) * (t + high);
  const double sum = 2 * t + square, sum_low = ((2 * t - sum) + square) + square_low;
  const double root = sqrt(sum), root_high = leading_f64(root);
  const double root_low = ((sum - root_high * root_high) + sum_low) / (root + root_high + DBL_MIN);
  const double whole = x + root, lost = ((x - whole) + root_high) + root_low;
  const double u = x > HUGE_INVERSE ? x * 0x1p-30 : whole;
  const double value = log_sum_f64(u, x > HUGE_INVERSE ? 0.0 : lost, x > HUGE_INVERSE ? 31.0 : 0.0);
  const double finite = x <= DBL_MAX ? value : x;
  return x < 1 ? (double)NAN : finite;
}

/* (artanh(s) - s) / s for s^2 = z, |s| <= 0.29, to 2^-59 of artanh(s) */
JOIST_INLINE double atanh_tail_f64(double z) {
  double p = 0x1.21df7dcf876ccp-4;
  p = p * z + 0x1.8ab4948172302p-5;
  p = p * z + 0x1.e59e9c13853aap-5;
  p = p * z + 0x1.10f3dd7afa125p-4;
  p = p * z + 0x1.3b14c98c56266p-4;
  p = p * z + 0x1.745d10e6f5f44p-4;
  p = p * z + 0x1.c71c71dc56097p-4;
  p = p * z + 0x1.24924924805e8p-3;
  p = p * z + 0x1.9999999999a55p-3;
  p = p * z + 0x1.5555555555555p-2;
  return p * z;
}

/* For t = |x| from 1/4 on, with 1 - t = 2^-k m and 1.1 <= m < 2.2:
 * artanh(t) = k ln 2 / 2 + artanh((1 + t - m) / (1 + t + m)). */
JOIST_INLINE double f64_atanh(double x) {
  const uint64_t start = UINT64_C(0x3ff199999999999a), one = UINT64_C(0x3ff0000000000000);
  const double t = fabs(x), above = 1.0 + t, below = 1.0 - t;
  const uint64_t shifted = bits_of(below) + (one - start);
  const double m = of_bits((shifted & UINT64_C(0x000fffffffffffff)) + start);
  const double minus_k = of_bits((shifted >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  const double above_low = (1.0 - above) + t, scale = power_of_two(-minus_k);
  const double below_low = ((1.0 - below) - t) * scale;
  const double numerator = (above - m) + (above_low - below_low);
  const double quotient = numerator / ((above + m) + (above_low + below_low));
  const double s = t < 0.25 ? t : quotient, half_k = t < 0.25 ? 0.0 : -0.5 * minus_k;
  const double whole = half_k * 0x1.62e42fefa38p-1, sum = whole + s, lost = (whole - sum) + s;
  const double rest = half_k * 0x1.ef35793c7673p-45 + s * atanh_tail_f64(s * s);
  const double value = sum + (lost + rest), inside = t == 1 ? (double)INFINITY : value;
  return t > 1 ? (double)NAN : copysign(inside, x);
}

/* ---- roots ---- */

/* 1 / sqrt(x), after one step for what the root and its reciprocal are rounded by. Numbers whose
 * products would be subnormal are scaled first. */
JOIST_INLINE double f64_rsqrt(double x) {
  const double a = x < 0x1p-500 ? x * 0x1p600 : x, root = sqrt(a), y = 1.0 / root;
  const double high = leading_f64(root), low = root - high, y_high = leading_f64(y);
  const double rest = ((a - high * high) - 2 * high * low) - low * low;
  const double left = ((1.0 - high * y_high) - high * (y - y_high)) - low * y;
  const double value = y + y * (left - 0.5 * (rest * y) * y);
  return ((x > 0) & (x < INFINITY)) ? (x < 0x1p-500 ? value * 0x1p300 : value) : 1.0 / sqrt(x);
}

/* From an estimate of 17 bits, whose cube is exact, by the series of (1 + e)^(1/3). */
JOIST_INLINE double f64_cbrt(double x) {
  double m, scale;
  const double t = fabs(x), guess = reduce_cbrt(t < DBL_MIN ? t * 0x1p54 : t, &m, &scale);
  const double y = (guess + 0x1.8p36) - 0x1.8p36, cube = y * y * y, e = (m - cube) / cube;
  const double series = e * (1.0 / 3 - e * (1.0 / 9 - e * (5.0 / 81 - e * (10.0 / 243))));
  const double root = (y + y * series) * (t < DBL_MIN ? scale * 0x1p-18 : scale);
  return x - x == 0 && x != 0 ? copysign(root, x) : x;
}

/* sqrt(x^2 + y^2), the squares as sums of two doubles each. Scaling by a power of two keeps
 * them normal and is exact. */
JOIST_INLINE double f64_hypot(double x, double y) {
  const double a = fabs(x), b = fabs(y), larger = a > b ? a : b, smaller = a > b ? b : a;
  const double small_scale = larger < 0x1p-400 ? 0x1p600 : 1.0;
  const double small_back = larger < 0x1p-400 ? 0x1p-600 : 1.0;
  const double scale = larger > 0x1p500 ? 0x1p-600 : small_scale;
  const double back = larger > 0x1p500 ? 0x1p600 : small_back;
  const double p = larger * scale, p_high = leading_f64(p), p_square = p_high * p_high;
  const double q = smaller * scale, q_high = leading_f64(q), q_square = q_high * q_high;
  const double sum = p_square + q_square, lost = (p_square - sum) + q_square;
  const double rest = (p - p_high) * (p + p_high) + (q - q_high) * (q + q_high);
  const double value = sqrt(sum + (lost + rest)) * back;
  const double edge = a > DBL_MAX ? a : value;
  return b > DBL_MAX ? b : edge;
}

#endif
