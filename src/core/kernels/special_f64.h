/* Error and gamma functions of doubles that compilers turn into vector code.
 *
 * The same plain arithmetic as in math_f64.h. f64_lgamma(), f64_gamma() and f64_digamma() take
 * positive numbers and NaN; for the others there are reflected_lgamma() and so on, which need not
 * be fast. lgamma() is the logarithm of |gamma|. At 0, -1, -2 ... it is infinite, and the other two
 * are NaN, as in R.
 *
 * The polynomials, and the quotients p / q of polynomials, are minimax fits with errors below 2^-56
 * of the result. What is fitted is (1 + 2 x) e^(x^2) erfc(x) as in Shepherd and Laframboise (1981),
 * Mathematics of Computation 36, 249-253; for the gamma functions Stirling's series around
 * x - 1/2, formulas 5.11.8 and 5.15.8 of the NIST Digital Library of Mathematical Functions.
 * tests/core/test_special.c states and checks the errors. */
#ifndef JOIST_CORE_KERNELS_SPECIAL_F64_H
#define JOIST_CORE_KERNELS_SPECIAL_F64_H

#include "core/kernels/inverse_f64.h"
#include "core/kernels/math_f64.h"

/* ---- parts ---- */

/* e^(x + low) = 2^k (value + *rest); far beyond what a double holds, k is just large. */
JOIST_INLINE double exp_pair_f64(double x, double low, double *rest, double *k) {
  double reduced_low;
  const double floored = x < -1400 ? -1400 : x, within = floored > 1400 ? 1400 : floored;
  const double r = reduce_exp_f64(within, k, &reduced_low), sum = 1.0 + r;
  const double tail = r * r * exp_tail_f64(r);
  *rest = ((1.0 - sum) + r) + (tail + (reduced_low + low) * (sum + tail));
  return sum;
}

/* ---- error functions ---- */

/* (erf(x) - x) / x for z = x^2 <= 1 */
JOIST_INLINE double erf_tail_f64(double z) {
  double p = -0x1.acdfc20c79c2ap-31;
  p = p * z + 0x1.d7847ddc07089p-27;
  p = p * z - 0x1.5c16df6e62771p-23;
  p = p * z + 0x1.b9827a67edadap-20;
  p = p * z - 0x1.f4ca94843db2ap-17;
  p = p * z + 0x1.f9a2bf725db1ap-14;
  p = p * z - 0x1.c02db072e0671p-11;
  p = p * z + 0x1.565bccfa99ea3p-8;
  p = p * z - 0x1.b82ce31206263p-6;
  p = p * z + 0x1.ce2f21a041016p-4;
  p = p * z - 0x1.812746b0379c2p-2;
  p = p * z + 0x1.06eba8214db68p-3;
  return p;
}

/* (1 + 2 x) e^(x^2) erfc(x) - 1 for 0.46 <= x <= 40. Two short chains of dependent operations take
 * less time than a long one. */
JOIST_INLINE double erfc_factor_f64(double x) {
  const double t = (x - 3.75) / (x + 3.75), square = t * t;
  double even = 0x1.a49645c67b026p-26;
  even = even * square - 0x1.01c2b3a80a1d7p-22;
  even = even * square + 0x1.d26609c54897fp-20;
  even = even * square - 0x1.7fc6650d0c1c7p-17;
  even = even * square + 0x1.b13f223fe69cfp-15;
  even = even * square + 0x1.33fb458bd4380p-12;
  even = even * square - 0x1.3f603c551595ep-7;
  even = even * square - 0x1.e0d0fa6d6307ap-5;
  even = even * square - 0x1.bda9309a2b88cp-4;
  even = even * square + 0x1.d5f294815b3f3p-9;
  even = even * square + 0x1.e66d05aeaee14p-3;
  double odd = -0x1.118770e93f840p-29;
  odd = odd * square + 0x1.52106a0201c0cp-26;
  odd = odd * square - 0x1.cacc855464f08p-25;
  odd = odd * square - 0x1.05fa969573202p-20;
  odd = odd * square + 0x1.778f9166a022bp-16;
  odd = odd * square - 0x1.303fb42649766p-12;
  odd = odd * square + 0x1.cc3a0f10bc1ddp-10;
  odd = odd * square + 0x1.d0b0037c50472p-6;
  odd = odd * square + 0x1.7a14188a9ee82p-4;
  odd = odd * square + 0x1.510169d0965ecp-4;
  odd = odd * square - 0x1.1f367683f89a5p-3;
  return even + t * odd;
}

JOIST_INLINE double f64_erf(double x) {
  const double t = fabs(x), within = t < 40 ? t : 40.0, small = x + x * erf_tail_f64(x * x);
  const double e = f64_exp(-within * within), factor = 1.0 + erfc_factor_f64(within);
  const double large = 1.0 - e * factor / (1.0 + 2.0 * within);
  return t >= 1 ? copysign(large, x) : small;
}

/* For x >= 0.46; square, numerator and denominator are sums of two doubles. */
JOIST_INLINE double erfc_large_f64(double x) {
  double rest, k;
  const double within = x < 40 ? x : 40.0, high = leading_f64(within), leading = high * high;
  const double more = (within - high) * (within + high), square = leading + more;
  const double m = exp_pair_f64(-square, square - leading - more, &rest, &k);
  const double addend = rest + (m + rest) * erfc_factor_f64(within);
  const double n = m + addend, n_low = (m - n) + addend;
  const double d = 1.0 + 2.0 * within, d_low = 2.0 * within - (d - 1.0), quotient = n / d;
  const double lost = quotient_rest_f64(n, d, d_low, quotient) + n_low * rough_inverse_f64(d);
  return scaled_f64(quotient + lost, k);
}

JOIST_INLINE double f64_erfc(double x) {
  const double t = fabs(x), large = erfc_large_f64(t);
  const double inside = 1.0 - (x + x * erf_tail_f64(x * x));
  const double outside = x < 0 ? 2.0 - large : large;
  return t >= 0.46875 ? outside : inside;
}

/* ---- gamma functions ---- */

/* ln gamma(w + w_low + 1/2) for w >= 2 and ln w = l + l_low, as the sum of the value and *rest:
 * w ln w - w + ln(2 pi) / 2 - 1 / (24 w) + ... */
JOIST_INLINE double stirling_f64(double w, double w_low, double l, double l_low, double *rest) {
  double lost, lost_more;
  const double z = 1.0 / (w * w + 1.0);
  double p = -0x1.2024b1a378d22p-2;
  p = p * z + 0x1.1b3889b1b9a8fp-2;
  p = p * z - 0x1.c090dbad49f3bp-3;
  p = p * z + 0x1.6f72d3dda9ef4p-5;
  p = p * z - 0x1.b741d7ffbf549p-5;
  p = p * z - 0x1.b652b2fe4b67cp-6;
  p = p * z - 0x1.1825f1c4f43fdp-5;
  p = p * z - 0x1.13216199cf0d8p-5;
  p = p * z - 0x1.1f020dd69ed69p-5;
  p = p * z - 0x1.27a83bd8b6e02p-5;
  p = p * z - 0x1.33cf3cf03d601p-5;
  p = p * z - 0x1.416c16c170971p-5;
  p = p * z - 0x1.555555555553ap-5;
  const double high = leading_f64(w), product = high * l;
  const double less = subtract_f64(product, w, &lost);
  const double sum = subtract_f64(less, -0x1.d67f1c864beb5p-1, &lost_more);
  const double more = (w - high) * l + (w * l_low + w_low * l);
  const double tail = (lost + lost_more) + (more + (w * z * p - 0x1.65b5a1b7ff5dfp-55));
  const double value = sum + tail;
  *rest = w > 0x1p60 ? 0.0 : (sum - value) + tail;
  return w > 0x1p60 ? w * (l - 1.0 + l_low) : value;
}

/* ln gamma(1 + y) for y >= -1/2, likewise, where y + 1/2 has the logarithm l + l_low. Below 3/2 it
 * needs none and is y (y - 1) times 7/16 + p / q, so that the zeros are factors. */
JOIST_INLINE double lgamma_next_f64(double y, double l, double l_low, double *rest) {
  const double w = y + 0.5;
  double p = -0x1.3c0fee003b42bp-20;
  p = p * w - 0x1.aa0810710c2abp-9;
  p = p * w - 0x1.3fd99de216d4ap-4;
  p = p * w - 0x1.12a9014a5ea38p-1;
  p = p * w - 0x1.5600630c85c87p+0;
  p = p * w - 0x1.7f2427f2cd587p-1;
  p = p * w + 0x1.d1aa54cf0e4c6p+0;
  p = p * w + 0x1.88462d1a57e3fp+1;
  p = p * w + 0x1.b36f447983255p+0;
  p = p * w + 0x1.4d780c269af4dp-2;
  double q = 0x1.fc568adf81356p-8;
  q = q * w + 0x1.e4d6281159f6cp-3;
  q = q * w + 0x1.27d18afa32f48p+1;
  q = q * w + 0x1.44af9f4e775d0p+3;
  q = q * w + 0x1.708398124621bp+4;
  q = q * w + 0x1.cb7d30f532d94p+4;
  q = q * w + 0x1.3c2aa81516758p+4;
  q = q * w + 0x1.c0d76bc65378ap+2;
  q = q * w + 0x1.0000000000000p+0;
  const double m = y - 1.0, m_low = (-1.0 - m) + y, high = leading_f64(y), m_high = leading_f64(m);
  const double first = high * m_high, second = (y - high) * m + (high * (m - m_high) + y * m_low);
  const double product = first + second, lost = (first - product) + second, h = p / q - 0.0625;
  const double small = 0.5 * product + (product * h + lost * (0.5 + h));
  const double large = stirling_f64(w, y - (w - 0.5), l, l_low, rest);
  *rest = y < 1.5 ? 0.0 : *rest;
  return y < 1.5 ? small : large;
}

JOIST_INLINE double f64_lgamma(double x) {
  double l_low, rest;
  const double l = log_pair_f64(x < 0.5 ? x : x - 0.5, &l_low);
  const double value = lgamma_next_f64(x < 0.5 ? x : x - 1.0, l, l_low, &rest);
  const double number = x < 0.5 ? value - (l + l_low) : value;
  return x < INFINITY ? number : x;
}

JOIST_INLINE double f64_gamma(double x) {
  double l_low, low, rest, k;
  const double within = x < 180 ? x : 180.0, y = within < 1 ? within : within - 1.0;
  const double l = log_pair_f64(y + 0.5, &l_low), log_gamma = lgamma_next_f64(y, l, l_low, &low);
  const double m = exp_pair_f64(log_gamma, low, &rest, &k);
  const double value = scaled_f64((m + rest) / (x < 1 ? x : 1.0), k);
  return x < INFINITY ? value : x;
}

/* digamma(1 + y) for y >= -1/2: y less its zero, times a quotient of polynomials, or
 * ln w + 1 / (24 w^2) - ..., w = y + 1/2. */
JOIST_INLINE double digamma_next_f64(double y) {
  const double w = y + 0.5;
  double p = -0x1.8145022b39b74p-15;
  p = p * w - 0x1.7e07639a74607p-9;
  p = p * w - 0x1.a51860afb0c23p-5;
  p = p * w - 0x1.6db4fe1f5777ap-2;
  p = p * w - 0x1.08b24b2b359fdp+0;
  p = p * w - 0x1.d0340cbfc88ccp-1;
  p = p * w + 0x1.7f910825f6ef0p-1;
  p = p * w + 0x1.0ab6c773d7d77p+0;
  double q = 0x1.83d09baf2a299p-15;
  q = q * w + 0x1.9d2415e511739p-9;
  q = q * w + 0x1.00c50902d46eep-4;
  q = q * w + 0x1.0d79caded0a78p-1;
  q = q * w + 0x1.0f0ba87915b70p+1;
  q = q * w + 0x1.0978f687d40eap+2;
  q = q * w + 0x1.cda4ac74e3c75p+1;
  q = q * w + 0x1.0000000000000p+0;
  const double quotient = (y < 1.5 ? p : 1.0) / (y < 1.5 ? q : w * w + 1.0);
  double lost;
  const double distance = subtract_f64(y, 0x1.d8b618d5af8fep-2, &lost);
  const double rest = (lost + 0x1.1e563779a1f5bp-56) * (1.0 + quotient);
  const double small = distance + (distance * quotient + rest), z = quotient;
  double s = 0x1.28b5419b86f17p+1;
  s = s * z - 0x1.b979e9d8c8ebbp+1;
  s = s * z + 0x1.38b7ec1ebdac3p+1;
  s = s * z - 0x1.0a05b1485e32dp+0;
  s = s * z + 0x1.6558156019f41p-2;
  s = s * z - 0x1.f69b574991860p-5;
  s = s * z + 0x1.495b1f1a1156ap-5;
  s = s * z + 0x1.39f83033c6119p-6;
  s = s * z + 0x1.b394df6b071eep-6;
  s = s * z + 0x1.bd7cb7803c289p-6;
  s = s * z + 0x1.fab7aa4052779p-6;
  s = s * z + 0x1.1999999aa1512p-5;
  s = s * z + 0x1.5555555554b95p-5;
  return y < 1.5 ? small : f64_log(w) + z * s;
}

JOIST_INLINE double f64_digamma(double x) {
  const double value = digamma_next_f64(x < 0.5 ? x : x - 1.0);
  const double number = x < 0.5 ? value - 1.0 / x : value;
  return x < INFINITY ? number : x;
}

/* ---- gamma functions of x <= 0 ---- */

/* The distance of y >= 0 from the nearest whole number n, negative below it; (-1)^n in *sign. */
JOIST_INLINE double from_whole_f64(double y, double *sign) {
  const double n = floor(y), part = y - n, half = 0.5 * n;
  *sign = (half == floor(half)) == (part <= 0.5) ? 1.0 : -1.0;
  return part <= 0.5 ? part : part - 1.0;
}

/* sin(pi r) / pi for |r| <= 1/2 */
JOIST_INLINE double sin_pi_f64(double r) {
  const double z = r * r;
  double p = 0x1.0729f8a2fb3f6p-22;
  p = p * z - 0x1.d3e4df361c903p-18;
  p = p * z + 0x1.37469b11ac549p-13;
  p = p * z - 0x1.3381697ee0973p-9;
  p = p * z + 0x1.ac6805cc1da76p-6;
  p = p * z - 0x1.86a8e4720919dp-3;
  p = p * z + 0x1.9f9cb402bc402p-1;
  p = p * z - 0x1.a51a6625307d3p+0;
  return r + r * (z * p);
}

/* gamma(-y) gamma(1 + y) = -pi / sin(pi y) */
JOIST_DEVICE static inline double reflected_gamma(double x) {
  double sign, l_low, low, rest, k;
  const double y = -x, r = from_whole_f64(y, &sign), l = log_pair_f64(y + 0.5, &l_low);
  const double log_gamma = lgamma_next_f64(y, l, l_low, &low);
  const double m = exp_pair_f64(-log_gamma, -low, &rest, &k);
  const double value = scaled_f64((m + rest) / (-sign * sin_pi_f64(r)), k);
  return r == 0 ? (double)NAN : value;
}

JOIST_DEVICE static inline double reflected_lgamma(double x) {
  double sign, l_low, low, sine_low, lost;
  const double y = -x, r = from_whole_f64(y, &sign), l = log_pair_f64(y + 0.5, &l_low);
  const double sine = log_pair_f64(fabs(sin_pi_f64(r)), &sine_low);
  const double sum = subtract_f64(-sine, lgamma_next_f64(y, l, l_low, &low), &lost);
  return r == 0 || x == -INFINITY ? (double)INFINITY : sum + (lost - (sine_low + low));
}

/* digamma(-y) - digamma(1 + y) = pi / tan(pi y) */
JOIST_DEVICE static inline double reflected_digamma(double x) {
  double sign;
  const double y = -x, r = from_whole_f64(y, &sign), z = r * r;
  double p = -0x1.2093ef7e24478p-23;
  p = p * z + 0x1.209e6f8a7f69ep-18;
  p = p * z - 0x1.b6e1968eaea8ep-14;
  p = p * z + 0x1.f9d3883192e31p-10;
  p = p * z - 0x1.a6d1f29e85ff5p-6;
  p = p * z + 0x1.e1f5068914600p-3;
  p = p * z - 0x1.55d3c7e3cbf70p+0;
  p = p * z + 0x1.03c1f081b5ac3p+2;
  p = p * z - 0x1.3bd3cc9be45dep+2;
  const double shifted = 3.14159265358979323846 * sin_pi_f64(0.5 - fabs(r));
  const double cosine = z < 0.0625 ? 1.0 + z * p : shifted;
  const double value = digamma_next_f64(y) + cosine / sin_pi_f64(r);
  return r == 0 ? (double)NAN : value;
}

#endif
