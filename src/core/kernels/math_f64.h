/* Elementary functions of doubles that compilers turn into vector code.
 *
 * As in math_f32.h the arithmetic is straight-line and plain, so that the bits depend on no
 * instruction set. What a double cannot hold of a reduced argument or of a leading term is
 * carried along as a second double (Dekker 1971), which keeps the errors near half a unit in
 * the last place; tests/core/test_math_f64.c states and checks them. The polynomials are
 * Chebyshev interpolations, their errors below 2^-57 of the result. Arguments outside of a
 * function's stated domain are left to the caller, which repairs those elements with the C
 * library. */
#ifndef JOIST_CORE_KERNELS_MATH_F64_H
#define JOIST_CORE_KERNELS_MATH_F64_H

#include "core/kernels/math_f32.h"

/* ---- exponentials ---- */

/* x = k ln 2 + r + low, |r| <= ln 2 / 2. The first part of ln 2 has 42 bits, so that k times
 * it is exact. */
JOIST_INLINE double reduce_exp_f64(double x, double *k, double *low) {
  *k = (x * 1.44269504088896340736 + ROUNDING) - ROUNDING;
  const double high = x - *k * 0x1.62e42fefa38p-1, rest = *k * 0x1.ef35793c7673p-45;
  const double r = high - rest;
  *low = (high - r) - rest;
  return r;
}

/* (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2. Pairs of terms are added to a sum in r^2, which takes
 * half the time of one sum where the next operation waits for the result. */
JOIST_INLINE double exp_tail_f64(double r) {
  const double z = r * r;
  double p = (0x1.27e4db646b17ep-22 + 0x1.af4de97ca4194p-26 * r) + 0x1.1f730349868cep-29 * z;
  p = p * z + (0x1.a01a01a6d889cp-16 + 0x1.71de0231960ebp-19 * r);
  p = p * z + (0x1.6c16c16c162d4p-10 + 0x1.a01a01abe7fe1p-13 * r);
  p = p * z + (0x1.5555555555556p-5 + 0x1.11111111100dcp-7 * r);
  return p * z + (0x1.0000000000000p-1 + 0x1.5555555555557p-3 * r);
}

/* 2^k for whole k of a normal result */
JOIST_INLINE double power_of_two(double k) { return of_bits((bits_of(k + ROUNDING) + 1023) << 52); }

/* 2^k value in two steps, so that only the last rounds when the result is subnormal. */
JOIST_INLINE double scaled_f64(double value, double k) {
  const double half = (k * 0.5 + ROUNDING) - ROUNDING;
  return value * power_of_two(half) * power_of_two(k - half);
}

JOIST_INLINE double limited_exp_f64(double x) {
  const double floored = x < -750 ? -750 : x;
  return floored > 710 ? 710 : floored;
}

/* 2^k e^(r + low) */
JOIST_INLINE double exp_reduced_f64(double r, double low, double k) {
  const double tail = r * r * exp_tail_f64(r), sum = 1.0 + r, lost = (1.0 - sum) + r;
  return scaled_f64(sum + (lost + (tail + low * (sum + tail))), k);
}

JOIST_INLINE double f64_exp(double x) {
  double k, low;
  const double r = reduce_exp_f64(limited_exp_f64(x), &k, &low);
  return exp_reduced_f64(r, low, k);
}

/* e^(x + low); beyond the limits `low` may be anything. */
JOIST_INLINE double exp_sum_f64(double x, double low) {
  double k, rest;
  const double within = limited_exp_f64(x), r = reduce_exp_f64(within, &k, &rest);
  return exp_reduced_f64(r, x == within ? rest + low : rest, k);
}

/* For |x| <= 709 */
JOIST_INLINE double expm1_within_f64(double x) {
  double k, low;
  const double r = reduce_exp_f64(x, &k, &low);
  const double scale = power_of_two(k - 1); /* of a normal number for k = 1024, too */
  const double a = scale - 0.5, b = scale * r, sum = a + b;
  const double lost = fabs(a) >= fabs(b) ? (a - sum) + b : (b - sum) + a;
  const double lost_before = (scale - a) - 0.5;
  return 2 * (sum + (lost + lost_before + scale * (r * r * exp_tail_f64(r) + low)));
}

JOIST_INLINE double f64_expm1(double x) {
  const double floored = x < -50 ? -50 : x;
  const double value = expm1_within_f64(floored > 709.9 ? 709.9 : floored);
  const double inside = x > 709.78271289338397 ? (double)INFINITY : value;
  return fabs(x) < 0x1p-54 ? x : inside;
}

/* tanh(r / 2) = (r + tail) / (2 + w) for |r| <= ln 2 / 2; the tail contains what r has lost. */
JOIST_INLINE double tanh_half_f64(double r, double low, double *w) {
  const double z = r * r;
  *w = z * (0x1.c7195eb6086eap-3 + 0x1.03fc946530b54p-9 * z);
  return (r * z) * (0x1.c7102582cc7f1p-6 + 0x1.15323cd092a9dp-14 * z) + low;
}

/* With 2 |x| = k ln 2 + r, it is (minus (2 + w) + plus (r + tail)) / (plus (2 + w) + minus (r +
 * tail)), where plus and minus are 2^k + 1 and 2^k - 1. Large terms are added last. */
JOIST_INLINE double f64_tanh(double x) {
  double k, low, w;
  const double t = fabs(x), r = reduce_exp_f64(2 * (t > 22 ? 22 : t), &k, &low);
  const double tail = tanh_half_f64(r, low, &w);
  const double power = power_of_two(k), plus = power + 1, minus = power - 1;
  const double up = 2 * minus + (plus * r + (minus * w + plus * tail));
  const double down = 2 * plus + (minus * r + (plus * w + minus * tail));
  return copysign(up / down, x);
}

/* For t = k ln 2 + r >= 0, cosh(t) = C cosh(r) + S sinh(r) and sinh(t) = S cosh(r) + C sinh(r),
 * where C and S are 2^(k - 1) plus and minus 2^(-k - 1): gives cosh(r) - 1 and sinh(r), and half of
 * C and of S, since C overflows before its product with e^r does. */
struct hyperbolic_f64 {
  double sum, difference, even, odd;
};

JOIST_INLINE struct hyperbolic_f64 hyperbolic_parts_f64(double t) {
  double k, low;
  const double r = reduce_exp_f64(t > 710.5 ? 710.5 : t, &k, &low), z = r * r;
  double p = 0x1.289185613a3d6p-22;
  p = p * z + 0x1.a019b90d2ae7ap-16;
  p = p * z + 0x1.6c16c1788bd90p-10;
  p = p * z + 0x1.5555555553d63p-5;
  p = p * z + 0x1.0000000000001p-1;
  double q = 0x1.af38a9b0ec855p-26;
  q = q * z + 0x1.71de0dae63bb3p-19;
  q = q * z + 0x1.a01a01a7c41d5p-13;
  q = q * z + 0x1.11111111109b3p-7;
  q = q * z + 0x1.5555555555556p-3;
  /* beyond, the smaller power does not count */
  const double up = power_of_two(k - 2), down = power_of_two(-2 - (k > 60 ? 60 : k));
  const struct hyperbolic_f64 parts = {up + down, up - down, z * p, r + (r * (z * q) + low)};
  return parts;
}

JOIST_INLINE double f64_sinh(double x) {
  const struct hyperbolic_f64 h = hyperbolic_parts_f64(fabs(x));
  const double half = h.difference + (h.difference * h.even + h.sum * h.odd);
  return fabs(x) < 0x1p-28 ? x : copysign(2 * half, x);
}

JOIST_INLINE double f64_cosh(double x) {
  const struct hyperbolic_f64 h = hyperbolic_parts_f64(fabs(x));
  return 2 * (h.sum + (h.sum * h.even + h.difference * h.odd));
}

/* With -|x| = k ln 2 + r and e^r = two / one, it is one / (one + 2^k two) for positive x, else
 * 2^k two / (one + 2^k two). */
JOIST_INLINE double f64_logistic(double x) {
  double k, low, w;
  const double t = fabs(x), r = reduce_exp_f64(-(t > 750 ? 750 : t), &k, &low);
  const double odd = r + tanh_half_f64(r, low, &w);
  const double one = 2 + (w - odd), two = 2 + (w + odd);
  const double down = one + power_of_two(k < -100 ? -100 : k) * two; /* beyond, it does not count */
  return scaled_f64((x < 0 ? two : one) / down, x < 0 ? k : 0);
}

/* ---- logarithms ---- */

/* x = 2^k m with sqrt(1/2) <= m < sqrt(2), for positive x; gives m - 1, which is exact. */
JOIST_INLINE double reduce_log_f64(double x, double *k) {
  const uint64_t subnormal = bits_of(x * 0x1p54) - (UINT64_C(54) << 52);
  return split_bits_for_log(x < DBL_MIN ? subnormal : bits_of(x), k) - 1.0;
}

/* ln(1 + f) = f - f^2 / 2 + the value. With s = f / (2 + f) it is 2 artanh(s), and
 * f - f^2 / 2 = 2 s - s f^2 / 2. */
JOIST_INLINE double log_tail_f64(double f, double square_half) {
  const double s = f / (2.0 + f), z = s * s;
  double p = 0x1.2b5900de53b32p-3;
  p = p * z + 0x1.39fe51a7c18f9p-3;
  p = p * z + 0x1.7462b51cb66b1p-3;
  p = p * z + 0x1.c71c62e3f11e6p-3;
  p = p * z + 0x1.2492492df281ap-2;
  p = p * z + 0x1.99999999952d7p-2;
  p = p * z + 0x1.5555555555558p-1;
  return s * (square_half + z * p);
}

JOIST_INLINE double f64_log(double x) {
  double k;
  const double f = reduce_log_f64(x, &k), square_half = 0.5 * f * f;
  const double tail = log_tail_f64(f, square_half) + k * 0x1.ef35793c7673p-45;
  return log_edges(x, k * 0x1.62e42fefa38p-1 - ((square_half - tail) - f));
}

/* ln(1 + x). What rounding 1 + x loses is added to first order. */
JOIST_INLINE double f64_log1p(double x) {
  double k;
  const double u = 1.0 + x;
  const double lost = x < 1 ? x - (u - 1.0) : 1.0 - (u - x);
  const double f = reduce_log_f64(u, &k), square_half = 0.5 * f * f;
  const double tail = log_tail_f64(f, square_half) + (k * 0x1.ef35793c7673p-45 + lost / u);
  const double value = log_edges(u, k * 0x1.62e42fefa38p-1 - ((square_half - tail) - f));
  return fabs(x) < 0x1p-54 ? x : value;
}

/* k `two` + ln(1 + f) `base`. The first parts of the constants have so few bits that k times it,
 * and the product with 26 bits of f - f^2 / 2, are exact. */
JOIST_INLINE double log_based_f64(double x, double base, double base_high, double base_low,
                                  double two_high, double two_low) {
  double k;
  const double f = reduce_log_f64(x, &k), square_half = 0.5 * f * f;
  const double high = of_bits(bits_of(f - square_half) & UINT64_C(0xfffffffff8000000));
  const double low = ((f - high) - square_half) + log_tail_f64(f, square_half);
  const double product = high * base_high, whole = k * two_high, sum = whole + product;
  const double rest = low * base + high * base_low;
  const double more = two_low == 0 ? rest : rest + k * two_low; /* a constant, once inlined */
  return log_edges(x, sum + (((whole - sum) + product) + more));
}

JOIST_INLINE double f64_log2(double x) {
  return log_based_f64(x, 1.44269504088896340736, 0x1.715476p+0, 0x1.4ae0bf85ddf44p-26, 1, 0);
}
JOIST_INLINE double f64_log10(double x) {
  return log_based_f64(x, 0.434294481903251827651, 0x1.bcb7b1p-2, 0x1.49b9438ca9aaep-28,
                       0x1.34413509f6p-2, 0x1.9fef311f12b36p-42);
}

/* ---- powers ---- */

/* The leading 26 bits: products of two such numbers are exact. */
JOIST_INLINE double leading_f64(double x) {
  return of_bits(bits_of(x) & UINT64_C(0xfffffffff8000000));
}

/* a^4 of any a, at most 0.51 ulp off, 0.76 where it is subnormal: of the square as a sum of two
 * doubles. */
JOIST_INLINE double fourth_power_f64(double a) {
  const double size = a * a, up = size < 0x1p-450 ? 0x1p256 : 1,
               down = size < 0x1p-450 ? 0x1p-512 : 1;
  const double x = a * up, high = leading_f64(x), square = high * high,
               more = (x - high) * (x + high);
  const double s = leading_f64(square + more), rest = (square - s) + more;
  return size < 0x1p512 ? (s * s + rest * (2 * s + rest)) * down * down : size * size;
}

/* ln x for positive x, as the sum of 26 leading bits and *low, to 2^-64: with
 * x = 2^k (1 + f) and s = f / (2 + f), it is k ln 2 + 2/3 s (3 + s^2 + 3 (s^4 / 5 + s^6 / 7 ...)),
 * each term a sum of two doubles. */
JOIST_INLINE double log_pair_f64(double x, double *low) {
  double k;
  const double f = reduce_log_f64(x, &k), sum = 2.0 + f, s = f / sum, z = s * s;
  double q = 0x1.08788c3e01713p-3;
  q = q * z + 0x1.1018ae366a914p-3;
  q = q * z + 0x1.3b18b8ee7a308p-3;
  q = q * z + 0x1.745d09f06d811p-3;
  q = q * z + 0x1.c71c71d7e7fc3p-3;
  q = q * z + 0x1.249249248e532p-2;
  q = q * z + 0x1.999999999999ep-2;
  const double s_high = leading_f64(s), sum_high = leading_f64(sum);
  const double sum_low = f - (sum_high - 2.0);
  const double s_low = ((f - s_high * sum_high) - s_high * sum_low) / sum;
  const double square = s_high * s_high;
  const double tail = 1.5 * z * z * q + s_low * (s_high + s);
  const double three = leading_f64(3.0 + square + tail);
  const double three_low = tail - ((three - 3.0) - square);
  const double u = s_high * three, v = s_low * three + three_low * s;
  const double high = leading_f64(u + v), rest_high = v - (high - u);
  const double log_high = high * 0x1.555555p-1;
  const double log_low = high * 0x1.5555555555555p-27 + rest_high * (2.0 / 3);
  const double whole = k * 0x1.62e42fefa38p-1, log_sum = whole + log_high;
  const double rest = ((whole - log_sum) + log_high) + (log_low + k * 0x1.ef35793c7673p-45);
  const double leading = leading_f64(log_sum + rest);
  *low = rest - (leading - log_sum);
  return leading;
}

/* For positive finite x and finite y: e^(y ln x). */
JOIST_INLINE double f64_pow(double x, double y) {
  double l_low;
  const double l = log_pair_f64(x, &l_low);
  /* beyond, the result is 0, 1 or infinite */
  const double most = y > 1e20 ? 1e20 : y, exponent = most < -1e20 ? -1e20 : most;
  const double y_high = leading_f64(exponent);
  const double product = y_high * l, product_low = (exponent - y_high) * l + exponent * l_low;
  const double total = product + product_low;
  const double value = exp_sum_f64(total, product_low - (total - product));
  return y == 2 ? x * x : value;
}

/* ---- trigonometric ---- */

/* sin and cos of x + quarter pi / 2 for |x| <= TRIG_LIMIT_F64: n pi / 2 is subtracted in
 * parts of 33 bits, of which n times each is exact. */
#define TRIG_LIMIT_F64 800000.0
JOIST_INLINE double subtract_f64(double a, double b, double *lost) {
  const double difference = a - b, part = difference - a;
  *lost = (a - (difference - part)) - (b + part);
  return difference;
}

JOIST_INLINE double sin_of_f64(double r, double low) {
  const double z = r * r;
  double p = -0x1.ab17a792c9454p-41;
  p = p * z + 0x1.61217ec01840fp-33;
  p = p * z - 0x1.ae6454126638cp-26;
  p = p * z + 0x1.71de3a54605eep-19;
  p = p * z - 0x1.a01a01a019936p-13;
  p = p * z + 0x1.1111111111110p-7;
  p = p * z - 0x1.5555555555555p-3;
  return r + (r * (z * p) + low * (1.0 - 0.5 * z));
}

JOIST_INLINE double cos_of_f64(double r, double low) {
  const double z = r * r, half = 0.5 * z, w = 1.0 - half;
  double p = -0x1.907d7aec5a8a3p-37;
  p = p * z + 0x1.1eeb68b109cf5p-29;
  p = p * z - 0x1.27e4fa17a41bfp-22;
  p = p * z + 0x1.a01a019f4e867p-16;
  p = p * z - 0x1.6c16c16c16966p-10;
  p = p * z + 0x1.5555555555555p-5;
  return w + (((1.0 - w) - half) + (z * z * p - r * low));
}

/* Where |b| is not the smaller one, the difference below is exact. */
JOIST_INLINE double subtract_ordered_f64(double a, double b, double *lost) {
  const double difference = a - b;
  *lost = (a - difference) - b;
  return difference;
}

JOIST_INLINE uint64_t reduce_trig_f64(double x, double *r, double *low) {
  const double shifted = x * 0.636619772367581343076 + ROUNDING, n = shifted - ROUNDING;
  double lost, lost_more;
  const double first = x - n * 0x1.921fb544p+0;
  const double second = subtract_ordered_f64(first, n * 0x1.0b4611a6p-34, &lost);
  const double third = subtract_ordered_f64(second, n * 0x1.3198a2ep-69, &lost_more);
  const double rest = (lost + lost_more) - n * 0x1.b839a252049c1p-104;
  *r = third + rest;
  *low = (third - *r) + rest;
  return bits_of(shifted);
}

JOIST_INLINE double trig_f64(double x, uint64_t quarter) {
  double r, low;
  const uint64_t q = reduce_trig_f64(x, &r, &low) + quarter;
  const double s = sin_of_f64(r, low), c = cos_of_f64(r, low);
  return of_bits(bits_of((q & 1) != 0 ? c : s) ^ ((q & 2) << 62));
}

JOIST_INLINE double f64_sin(double x) { return fabs(x) < 0x1p-27 ? x : trig_f64(x, 0); }
JOIST_INLINE double f64_cos(double x) { return trig_f64(x, 1); }
/* tan r = (r + r z n(z)) / (1 + z d(z)), z = r^2, and tan(r + low) = (N + low D) / (D - low N). */
JOIST_INLINE double f64_tan(double x) {
  double r, low;
  const uint64_t q = reduce_trig_f64(x, &r, &low);
  const double z = r * r;
  double n = -0x1.2b7013e0fd005p-16;
  n = n * z + 0x1.c0cc7e6c9f94bp-9;
  n = n * z - 0x1.1127ce44bd79fp-3;
  double d = 0x1.0b1c23c1b6c13p-21;
  d = d * z - 0x1.46d1524c78a52p-12;
  d = d * z + 0x1.a46cf46e21212p-6;
  d = d * z - 0x1.dde93c77b4125p-2;
  const double down = 1.0 + (z * d - r * low), up = r + (r * (z * n) + low * down);
  const double value = ((q & 1) != 0 ? -down : up) / ((q & 1) != 0 ? up : down);
  return x == 0 ? x : value;
}

/* Of t >= 0, brought below tan(pi / 8) as in atan_positive(). */
JOIST_INLINE double f64_atan(double x) {
  const double t = fabs(x);
  const double numerator = t > 2.41421356237309504880   ? -1.0
                           : t > 0.41421356237309504880 ? t - 1.0
                                                        : t;
  const double denominator = t > 2.41421356237309504880   ? t
                             : t > 0.41421356237309504880 ? t + 1.0
                                                          : 1.0;
  const double base = t > 2.41421356237309504880   ? 0x1.921fb54442d18p+0
                      : t > 0.41421356237309504880 ? 0x1.921fb54442d18p-1
                                                   : 0.0;
  const double base_low = base * 0x1.678afae35cdd1p-55;
  const double z = numerator / denominator, w = z * z;
  double p = -0x1.3a2542728045dp-6;
  p = p * w + 0x1.415dac62703f9p-5;
  p = p * w - 0x1.a097da6da6daep-5;
  p = p * w + 0x1.dfe5f38033a0cp-5;
  p = p * w - 0x1.10fa72be70e23p-4;
  p = p * w + 0x1.3b1262ac56c6bp-4;
  p = p * w - 0x1.745d0b24c8584p-4;
  p = p * w + 0x1.c71c71852517ep-4;
  p = p * w - 0x1.2492492435f94p-3;
  p = p * w + 0x1.9999999999349p-3;
  p = p * w - 0x1.5555555555555p-2;
  const double value = base + (z + (z * (w * p) + base_low));
  return copysign(x == x ? value : x, x);
}

#endif
