/* Elementary functions of floats that compilers turn into vector code.
 *
 * Every function is straight-line arithmetic, and its bits depend on no instruction set: there is
 * no contraction and no approximate reciprocal. exp, tanh, the logarithms and erf (in
 * special_f32.h) are computed in float with fused multiply-adds, which leaves errors below 0.98
 * ulp. The others are computed in double and rounded to float once: the error is below 0.52 ulp
 * where the double result is good to 2^-30. Range reduction after Cody and Waite (1980); the
 * polynomials are Taylor series of the degree that the reduced range asks for, Chebyshev
 * interpolations or minimax fits. Arguments outside of a function's stated domain are left to the
 * caller, which repairs those elements with the C library. */
#ifndef JOIST_CORE_KERNELS_MATH_F32_H
#define JOIST_CORE_KERNELS_MATH_F32_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/target.h"
#include "core/types/narrow.h"

JOIST_INLINE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

JOIST_INLINE double of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* a b + c, rounded once. Without an instruction for it, the product is exact in double and the sum
 * is rounded to double, then to float. That is another float only if the rounded sum lies halfway
 * between two, once in 2^29 times, so it is used where the last bit of the value seldom counts. No
 * argument of the functions below has another result for it: `make accuracy` in tests/core compares
 * every float. */
#if defined(JOIST_FMA) || defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__CUDACC__)
#define FUSED(a, b, c) fmaf(a, b, c)
#else
#define FUSED(a, b, c) ((float)((double)(a) * (double)(b) + (double)(c)))
#endif

/* Adding it rounds to the nearest integer, which the low bits of the sum then hold. */
#define ROUNDING 0x1.8p52
#define ROUNDING_F32 0x1.8p23f

/* x = k ln 2 + r with |r| <= ln 2 / 2; gives k, and 2^k in *scale. */
JOIST_INLINE double round_exp(double x, double *scale) {
  const double shifted = x * 1.44269504088896340736 + ROUNDING;
  *scale = of_bits((bits_of(shifted) + 1023) << 52);
  return shifted - ROUNDING;
}

/* The same; gives r. */
JOIST_INLINE double reduce_exp(double x, double *scale) {
  const double k = round_exp(x, scale);
  return (x - k * 0x1.62e42fefa38p-1) - k * 0x1.ef35793c7673p-45;
}

/* The same to 2^-43, which is good enough for a float. */
JOIST_INLINE double reduce_exp_wide(double x, double *scale) {
  return x - round_exp(x, scale) * 0.693147180559945309417;
}

/* (e^r - 1) / r for |r| <= ln 2 / 2, to 2^-31 */
JOIST_INLINE double expm1_over(double r) {
  double p = 0x1.a15179d80ae96p-13;
  p = p * r + 0x1.6d7543e4127b8p-10;
  p = p * r + 0x1.1110c632a3088p-7;
  p = p * r + 0x1.5554accfdb593p-5;
  p = p * r + 0x1.55555567532adp-3;
  p = p * r + 0x1.000000287f871p-1;
  return p * r + 1.0;
}

/* Limits under which 2^k is a normal double; beyond, float results are 0 or infinite. */
JOIST_INLINE double limited(double x) {
  const double low = x < -700 ? -700 : x;
  return low > 700 ? 700 : low;
}

JOIST_INLINE double exp_wide(double x) {
  double scale;
  const double r = reduce_exp_wide(limited(x), &scale);
  return scale * (1.0 + r * expm1_over(r));
}

JOIST_INLINE double expm1_wide(double x) {
  double scale;
  const double r = reduce_exp_wide(limited(x), &scale);
  return scale * (r * expm1_over(r)) + (scale - 1.0);
}

/* x = 2^k m with sqrt(1/2) <= m < sqrt(2), for the bits of a positive normal x; gives m, and k. The
 * exponent in the bits may be as little as -64. */
JOIST_INLINE double split_bits_for_log(uint64_t bits, double *k) {
  const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd), bias = 1023 + 64;
  const uint64_t shifted = bits + ((bias << 52) - root);
  *k = of_bits((shifted >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023 + 64);
  return of_bits((shifted & UINT64_C(0x000fffffffffffff)) + root);
}

JOIST_INLINE double split_for_log(double x, double *k) { return split_bits_for_log(bits_of(x), k); }

/* The same; gives ln m, and k. */
JOIST_INLINE double reduce_log(double x, double *k) {
  const double m = split_for_log(x, k);
  /* ln m = 2 artanh(s) */
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  return s * (p * z + 2.0);
}

/* `value` for positive finite x, else what a logarithm gives at 0, infinity, below, NaN. */
JOIST_INLINE double log_edges(double x, double value) {
  const double finite = x < INFINITY ? value : x;
  const double number = x < 0 ? (double)NAN : finite; /* a NaN stays the one it is: R's NA */
  return x == 0 ? (double)-INFINITY : number;
}

JOIST_INLINE double log_wide(double x) {
  double k;
  const double log_m = reduce_log(x, &k);
  return k * 0.693147180559945309417 + log_m;
}

/* sin and cos of r + n pi / 2 for |x| <= TRIG_LIMIT, r = x - n pi / 2. */
#define TRIG_LIMIT 100000.0f
JOIST_INLINE double sin_cos(double x, uint64_t quarter) {
  const double shifted = x * 0.636619772367581343076 + ROUNDING;
  const double n = shifted - ROUNDING;
  /* pi / 2 in 33 bits, so that n times it is exact, and the rest */
  const double r = (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
  const double z = r * r;
  double s = -1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = r + r * (z * s);
  double c = 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 0.5;
  c = c * z + 1.0;
  const uint64_t q = bits_of(shifted) + quarter;
  const double value = (q & 1) != 0 ? c : s;
  return of_bits(bits_of(value) ^ ((q & 2) << 62));
}

/* x = k ln 2 + r; gives r. The low bits of *shifted are k. */
JOIST_INLINE float reduce_exp_f32(float x, float *shifted) {
  *shifted = x * 0x1.715476p+0f + ROUNDING_F32;
  const float k = *shifted - ROUNDING_F32;
  return FUSED(k, -0x1.7f7d1cp-20f, FUSED(k, -0x1.62e4p-1f, x));
}

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2 */
JOIST_INLINE float exp_tail(float r) {
  float p = 0x1.6a4eccp-10f;
  p = FUSED(p, r, 0x1.12399cp-7f);
  p = FUSED(p, r, 0x1.5558bp-5f);
  p = FUSED(p, r, 0x1.555492p-3f);
  return FUSED(p, r, 0x1.fffffcp-2f);
}

/* e^x = 2^k (1 + r + r^2 p(r)). The exponent k is added to the bits of the sum; what is below the
 * normal numbers is rounded by adding 1 to 2^126 times it, whose last bits are then the bits of the
 * result. */
JOIST_INLINE float fast_exp(float x) {
  float shifted;
  const float r = reduce_exp_f32(x < -104 ? -104 : x, &shifted), p = exp_tail(r);
  const float sum = 1 + r, lost = (1 - sum) + r;
  const uint32_t bits = float_bits(sum + FUSED(r * r, p, lost)) + (float_bits(shifted) << 23);
  const uint32_t subnormal = float_bits(float_from_bits(bits + (126u << 23)) + 1) - 0x3f800000u;
  const float value = float_from_bits((int32_t)bits < 0x00800000 ? subnormal : bits);
  return x <= 0x1.62e42ep+6f ? value : x * INFINITY; /* a NaN stays the one it is: R's NA */
}
JOIST_INLINE float fast_expm1(float x) { return x == 0 ? x : (float)expm1_wide(x); }
/* The logarithm k `two` + ln(1 + f) `base` of x = 2^k (1 + f), 2/3 <= 1 + f < 4/3. Both constants
 * are sums of two floats, and k times the first part of `two` is exact. ln(1 + f) = f - f^2 / 2 +
 * f^3 p(f). Subnormal numbers are read as integers. */
JOIST_INLINE float log_based(float x, float base, float base_low, float two, float two_low) {
  const uint32_t own = float_bits(x), least = 0x3f2aaaab; /* 2/3 */
  const int32_t bits = (int32_t)own;
  const uint32_t subnormal = float_bits((float)bits) - (149u << 23);
  const uint32_t shifted = (bits < 0x00800000 ? subnormal : own) - least;
  const float k = (float)((int32_t)shifted >> 23);
  const float f = float_from_bits((shifted & 0x007fffff) + least) - 1;
  float p = -0x1.07c8a8p-3f;
  p = FUSED(p, f, 0x1.1e678cp-3f);
  p = FUSED(p, f, -0x1.f332f4p-4f);
  p = FUSED(p, f, 0x1.1ed662p-3f);
  p = FUSED(p, f, -0x1.559c44p-3f);
  p = FUSED(p, f, 0x1.99d044p-3f);
  p = FUSED(p, f, -0x1.fffefcp-3f);
  p = FUSED(p, f, 0x1.555506p-2f);
  const float first = f * base, sum = FUSED(k, two, first), lost = FUSED(k, two, -sum) + first;
  const float lost_before = FUSED(f, base_low, FUSED(f, base, -first));
  const float both = base == 1 ? lost : lost + lost_before; /* constants, once this is inlined */
  const float tail = FUSED(f * (f * first), p, two_low == 0 ? both : FUSED(k, two_low, both));
  const float value = sum + FUSED(-0.5f * first, f, tail);
  const float positive = bits < 0 ? NAN : value;
  const float finite = (bits & 0x7fffffff) == 0 ? -INFINITY : positive;
  return x < INFINITY ? finite : x; /* a NaN stays the one it is: R's NA */
}

JOIST_INLINE float fast_log(float x) { return log_based(x, 1, 0, 0x1.62e4p-1f, 0x1.7f7d1cp-20f); }
JOIST_INLINE float fast_log2(float x) { return log_based(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1, 0); }
JOIST_INLINE float fast_log10(float x) {
  return log_based(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f);
}
/* ln(1 + x); what 1 + x loses is added to first order. */
JOIST_INLINE float fast_log1p(float x) {
  const double u = 1.0 + x;
  const double value = log_wide(u) + (x - (u - 1.0)) / u;
  return x == 0 ? x : (float)log_edges(u, value);
}
/* tanh(r / 2) = up / down for |r| <= ln 2 / 2, to 2^-30 */
JOIST_INLINE double tanh_half(double r, double *down) {
  const double z = r * r;
  *down = 2.0 + 0x1.9984b3734d12ep-3 * z;
  return r + (r * z) * 0x1.10bdba5829c28p-6;
}
/* With -x = k ln 2 + r: e^r = (down + up) / (down - up). */
JOIST_INLINE float fast_logistic(float x) {
  double scale, down;
  const double r = reduce_exp_wide(limited(-(double)x), &scale), up = tanh_half(r, &down);
  const double one = down - up;
  return (float)(one / (one + scale * (down + up)));
}
/* An odd polynomial below 0.55; from there on 1 - t, where t = 2 / (e^(2 |x|) + 1) is brought
 * nearer by what its divisor, 2^k (1 + (e^r - 1)) + 1, and the quotient have lost. */
JOIST_INLINE float fast_tanh(float x) {
  const float size = fabsf(x), z = x * x;
  float shifted, p = -0x1.9bba8p-8f;
  p = FUSED(p, z, 0x1.59568ap-6f);
  p = FUSED(p, z, -0x1.b92bbap-5f);
  p = FUSED(p, z, 0x1.110d3cp-3f);
  p = FUSED(p, z, -0x1.55554cp-2f);
  const float small = FUSED(size * z, p, size);
  const float r = reduce_exp_f32(size > 10 ? 20 : 2 * size, &shifted);
  const float less_one = FUSED(r * r, exp_tail(r), r);
  const float scale = float_from_bits((float_bits(shifted) << 23) + 0x3f800000);
  const float divisor = FUSED(scale, less_one, scale + 1), t = 2 / divisor;
  const float lost = FUSED(scale, less_one, scale + 1 - divisor);
  const float rest = FUSED(-t, lost, FUSED(-t, divisor, 2));
  const float value = copysignf(size < 0.55f ? small : 1 - FUSED(0.5f * rest, t, t), x);
  return x == x ? value : x; /* a NaN stays the one it is: R's NA */
}
JOIST_INLINE float fast_sinh(float x) {
  const double e = expm1_wide(fabs((double)x));
  return x == 0 ? x : (float)copysign(0.5 * (e + e / (e + 1.0)), (double)x);
}
JOIST_INLINE float fast_cosh(float x) {
  const double e = exp_wide(fabs((double)x));
  return (float)(0.5 * (e + 1.0 / e));
}
JOIST_INLINE float fast_sin(float x) { return x == 0 ? x : (float)sin_cos(x, 0); }
JOIST_INLINE float fast_cos(float x) { return (float)sin_cos(x, 1); }
JOIST_INLINE float fast_tan(float x) { return x == 0 ? x : (float)(sin_cos(x, 0) / sin_cos(x, 1)); }
/* For positive finite x and finite y. */
JOIST_INLINE float fast_pow(float x, float y) {
  return y == 2 ? x * x : (float)exp_wide(y * log_wide(x));
}

JOIST_INLINE float fast_rsqrt(float x) { return (float)(1.0 / sqrt((double)x)); }

/* atan(n / d) for 0 <= n <= d, d > 0: brought below tan(pi / 8) by (n - d) / (n + d). */
JOIST_INLINE double atan_quotient(double n, double d) {
  const double limit = 0.41421356237309504880 * d;
  const double z = (n > limit ? n - d : n) / (n > limit ? n + d : d), w = z * z;
  double p = -0x1.4b3891ff382b2p-5;
  p = p * w + 0x1.24434e877a5ddp-4;
  p = p * w - 0x1.71d3c10805470p-4;
  p = p * w + 0x1.c6f68737bd590p-4;
  p = p * w - 0x1.2491c08b2dc95p-3;
  p = p * w + 0x1.99999825954bep-3;
  p = p * w - 0x1.5555555502188p-2;
  return (n > limit ? 0.785398163397448309616 : 0.0) + (z + z * (w * p));
}

JOIST_INLINE float fast_atan(float x) {
  const double t = fabs((double)x);
  const double angle = atan_quotient(t > 1 ? 1.0 : t, t > 1 ? t : 1.0);
  return (float)copysign(t > 1 ? 1.57079632679489661923 - angle : angle, (double)x);
}
/* asin of t up to 1/2, and of the root of (1 - t) / 2 for larger t: then asin(t) is
 * pi / 2 - 2 asin(root). */
JOIST_INLINE double asin_reduced(double t) {
  const double z = t > 0.5 ? (1.0 - t) * 0.5 : t * t, root = sqrt(z), s = t > 0.5 ? root : t;
  double p = 0x1.fb7ca379d49c6p-6;
  p = p * z + 0x1.5a80a068e3ee2p-7;
  p = p * z + 0x1.82db23768c84fp-6;
  p = p * z + 0x1.efedf83ab6506p-6;
  p = p * z + 0x1.6dc0f007c13e8p-5;
  p = p * z + 0x1.33331ecf8b70bp-4;
  p = p * z + 0x1.5555555c0171dp-3;
  return s + s * (z * p);
}
JOIST_INLINE float fast_asin(float x) {
  const double t = fabs((double)x), angle = asin_reduced(t);
  return (float)copysign(t > 0.5 ? 1.57079632679489661923 - 2 * angle : angle, (double)x);
}
JOIST_INLINE float fast_acos(float x) {
  const double t = fabs((double)x), angle = asin_reduced(t);
  const double large = x > 0 ? 2 * angle : 3.14159265358979323846 - 2 * angle;
  return (float)(t > 0.5 ? large : 1.57079632679489661923 - copysign(angle, (double)x));
}
/* 0 / 0 counts as 0, infinite / infinite as 1. */
JOIST_INLINE float fast_atan2(float y, float x) {
  const double up = fabs((double)y), along = fabs((double)x);
  const double larger = up > along ? up : along, smaller = up > along ? along : up;
  const double n = smaller > FLT_MAX ? 1e200 : smaller, d = larger > FLT_MAX ? 1e200 : larger;
  const double angle = atan_quotient(n, d == 0 ? 1.0 : d);
  const double first = up > along ? 1.57079632679489661923 - angle : angle;
  const double turned = copysign(1.0, (double)x) < 0 ? 3.14159265358979323846 - first : first;
  return (float)copysign(turned, (double)y);
}
JOIST_INLINE float fast_hypot(float x, float y) {
  const double a = fabs((double)x), b = fabs((double)y), value = sqrt(a * a + b * b);
  const double edge = a > FLT_MAX ? a : value;
  return (float)(b > FLT_MAX ? b : edge);
}
/* ln(1 + t) for t >= 0, exact to first order in t */
JOIST_INLINE double log1p_positive(double t) {
  const double u = 1.0 + t;
  return log_wide(u) + (t - (u - 1.0)) / u;
}
JOIST_INLINE float fast_asinh(float x) {
  const double t = fabs((double)x);
  const double value = log1p_positive(t + t * t / (1.0 + sqrt(t * t + 1.0)));
  return x - x == 0 ? (float)copysign(value, (double)x) : x;
}
JOIST_INLINE float fast_acosh(float x) {
  const double t = (double)x - 1.0;
  const double value = log1p_positive(t + sqrt(t * (t + 2.0)));
  const float finite = x <= FLT_MAX ? (float)value : x;
  return x >= 1 ? finite : NAN;
}
JOIST_INLINE float fast_atanh(float x) {
  const double t = fabs((double)x);
  const double value = 0.5 * log1p_positive(2 * t / (1 - t));
  const double inside = t == 1 ? (double)INFINITY : value;
  return t <= 1 ? (float)copysign(inside, (double)x) : NAN;
}
/* x = scale^3 m for positive normal x, with scale a power of two and 2^-3/2 <= m < 2^3/2; gives
 * the cube root of m to 2^-13. */
JOIST_INLINE double reduce_cbrt(double x, double *m, double *scale) {
  double k;
  const double part = split_for_log(x, &k), shifted = k * (1.0 / 3) + ROUNDING;
  const double rest = k - 3 * (shifted - ROUNDING); /* -1, 0 or 1 */
  *scale = of_bits((bits_of(shifted) + 1023) << 52);
  *m = part * (rest > 0 ? 2.0 : rest < 0 ? 0.5 : 1.0);
  double p = 0x1.c9349f1d940e5p-5;
  p = p * part - 0x1.217d40c0d4bc9p-2;
  p = p * part + 0x1.76ade2dee9f55p-1;
  p = p * part + 0x1.fb0981ceb7d7fp-2;
  return p * (rest > 0 ? 1.25992104989487316477 : rest < 0 ? 0.79370052598409973738 : 1.0);
}
/* By one step of Halley's method. */
JOIST_INLINE float fast_cbrt(float x) {
  double m, scale;
  const double y = reduce_cbrt(fabs((double)x), &m, &scale), cube = y * y * y;
  const double root = scale * (y + y * ((m - cube) / (2 * cube + m)));
  return x - x == 0 && x != 0 ? (float)copysign(root, (double)x) : x;
}

#endif
