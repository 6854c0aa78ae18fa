/* Error and gamma functions of floats that compilers turn into vector code.
 *
 * As in math_f32.h, straight-line arithmetic: erf in float with fused multiply-adds, the others in
 * double, rounded once, of fits good to 2^-31. The forms are as in special_f64.h, whose
 * reflected functions serve arguments of the gamma functions that are not positive. */
#ifndef JOIST_CORE_KERNELS_SPECIAL_F32_H
#define JOIST_CORE_KERNELS_SPECIAL_F32_H

#include "core/kernels/math_f32.h"

/* (erf(x) - x) / x for z = x^2 <= 1 */
JOIST_INLINE double erf_tail_wide(double z) {
  double p = -0x1.44cf5bd1e06c8p-17;
  p = p * z + 0x1.d8b8622362a36p-14;
  p = p * z - 0x1.bcd7d731d6c7ap-11;
  p = p * z + 0x1.562b1938b33f7p-8;
  p = p * z - 0x1.b829d8be4d646p-6;
  p = p * z + 0x1.ce2f09ab4c509p-4;
  p = p * z - 0x1.81274668286e5p-2;
  p = p * z + 0x1.06eba8202fd9dp-3;
  return p;
}

/* erfc(x) for x >= 0.46: (1 + h) e^(-x^2) / (1 + 2 x) */
JOIST_INLINE double erfc_large_wide(double x) {
  const double t = 1.0 - 7.5 / (x + 3.75), square = t * t;
  double even = 0x1.660405e044562p-12;
  even = even * square - 0x1.3ff302b6937c8p-7;
  even = even * square - 0x1.e0caaee663d2ap-5;
  even = even * square - 0x1.bda97085d0869p-4;
  even = even * square + 0x1.d5f2d1f5c3e07p-9;
  even = even * square + 0x1.e66d05ad6bf2fp-3;
  double odd = -0x1.25caa7502b95dp-12;
  odd = odd * square + 0x1.cd6ea532f4ca5p-10;
  odd = odd * square + 0x1.d0a2fe2f3c818p-6;
  odd = odd * square + 0x1.7a14ac2ffdcc9p-4;
  odd = odd * square + 0x1.510160866f8abp-4;
  odd = odd * square - 0x1.1f36767099bf0p-3;
  return exp_wide(-x * x) * (1.0 + (even + t * odd)) / (1.0 + 2.0 * x);
}

/* erf(x) = x + x p(x^2 - 1/2) up to 1, else 1 - q(|x| - 3/2)^2, which is 1 beyond 3.92. */
JOIST_INLINE float fast_erf(float x) {
  const float size = fabsf(x), within = size > 3.92f ? 3.92f : size;
  const float z = FUSED(within, within, -0.5f), t = within - 1.5f;
  float p = 0x1.5037e8p-14f;
  p = FUSED(p, z, -0x1.288f0ep-11f);
  p = FUSED(p, z, 0x1.c8175ep-9f);
  p = FUSED(p, z, -0x1.2b8d9ep-6f);
  p = FUSED(p, z, 0x1.454374p-4f);
  p = FUSED(p, z, -0x1.1fd164p-2f);
  p = FUSED(p, z, -0x1.1ae14ep-5f);
  float q = 0x1.d7f3d4p-18f;
  q = FUSED(q, t, -0x1.17742ap-14f);
  q = FUSED(q, t, 0x1.8b2702p-13f);
  q = FUSED(q, t, 0x1.9154ccp-13f);
  q = FUSED(q, t, -0x1.08b376p-9f);
  q = FUSED(q, t, 0x1.ac86dep-10f);
  q = FUSED(q, t, 0x1.9ce41ep-7f);
  q = FUSED(q, t, -0x1.f764ccp-6f);
  q = FUSED(q, t, -0x1.87be30p-6f);
  q = FUSED(q, t, 0x1.9bfa7ap-3f);
  q = FUSED(q, t, -0x1.4abf2ap-2f);
  q = FUSED(q, t, 0x1.790c54p-3f);
  const float large = size > 3.92f ? 1 : FUSED(-q, q, 1), small = FUSED(x, p, x);
  return size >= 1 ? copysignf(large, x) : small;
}

JOIST_INLINE float fast_erfc(float x) {
  const double t = x, large = erfc_large_wide(fabs(t));
  const double inside = 1.0 - (t + t * erf_tail_wide(t * t));
  const double outside = t < 0 ? 2.0 - large : large;
  return (float)(fabs(t) >= 0.46875 ? outside : inside);
}

/* ln gamma(1 + y) for y >= -1/2: y (y - 1) times a quotient of polynomials, or
 * w ln w - w + ln(2 pi) / 2 - 1 / (24 w) + ..., w = y + 1/2. */
JOIST_INLINE double lgamma_next_wide(double y) {
  const double w = y + 0.5;
  double p = 0x1.bf3308077a459p-11;
  p = p * w + 0x1.e27dc959ca28dp-4;
  p = p * w + 0x1.1cbe8c340d60bp+0;
  p = p * w + 0x1.717a05650e2b5p+1;
  p = p * w + 0x1.5194579966780p+1;
  p = p * w + 0x1.86bc061316c75p-1;
  double q = 0x1.496a091a419e4p-5;
  q = q * w + 0x1.7b89e392fb6c7p-1;
  q = q * w + 0x1.bf54c6f76752bp+1;
  q = q * w + 0x1.842918c321eeap+2;
  q = q * w + 0x1.0e0f8f3b6c6d3p+2;
  q = q * w + 0x1.0000000000000p+0;
  const double quotient = (y < 1.5 ? p : 1.0) / (y < 1.5 ? q : w * w + 1.0), z = quotient;
  double s = -0x1.2b7fe144f4167p-4;
  s = s * z - 0x1.45169ad31ef3bp-6;
  s = s * z - 0x1.319a52d553aa1p-5;
  s = s * z - 0x1.261037ce45460p-5;
  s = s * z - 0x1.33e0ea9561c25p-5;
  s = s * z - 0x1.416bc10da0982p-5;
  s = s * z - 0x1.555555ccecfb1p-5;
  const double large = w * (log_wide(w) - 1.0) + (0.918938533204672741780 + w * (z * s));
  return y < 1.5 ? y * (y - 1.0) * quotient : large;
}

JOIST_INLINE float fast_lgamma(float x) {
  const double t = x, value = lgamma_next_wide(t < 0.5 ? t : t - 1.0);
  return x < INFINITY ? (float)(t < 0.5 ? value - log_wide(t) : value) : x;
}

JOIST_INLINE float fast_gamma(float x) {
  const double t = x, log_gamma = lgamma_next_wide(t < 1 ? t : t - 1.0);
  return x < INFINITY ? (float)(exp_wide(log_gamma) / (t < 1 ? t : 1.0)) : x;
}

/* digamma(1 + y) for y >= -1/2: y less its zero, times a quotient of polynomials, or
 * ln w + 1 / (24 w^2) - ... */
JOIST_INLINE double digamma_next_wide(double y) {
  const double w = y + 0.5;
  double p = 0x1.b2c0021dbae19p-11;
  p = p * w + 0x1.13104c9a08beap-3;
  p = p * w + 0x1.50005c315cb1ep+0;
  p = p * w + 0x1.9b9617e0f83b5p+1;
  p = p * w + 0x1.055b63b9483adp+1;
  double q = 0x1.20bc2887a7e98p-5;
  q = q * w + 0x1.2c1247b2d23c1p-1;
  q = q * w + 0x1.30b717d16fb57p+1;
  q = q * w + 0x1.862a29e753812p+1;
  q = q * w + 0x1.0000000000000p+0;
  const double quotient = (y < 1.5 ? p : 1.0) / (y < 1.5 ? q : w * w + 1.0), z = quotient;
  double s = 0x1.7f01102b76d01p-5;
  s = s * z + 0x1.30c374b237f90p-6;
  s = s * z + 0x1.cfc4fdca48c0cp-6;
  s = s * z + 0x1.f97161d7f4f80p-6;
  s = s * z + 0x1.199ec9ff3f576p-5;
  s = s * z + 0x1.55554751bc37ep-5;
  return y < 1.5 ? (y - 0x1.d8b618d5af8fep-2) * quotient : log_wide(w) + z * s;
}

JOIST_INLINE float fast_digamma(float x) {
  const double t = x, value = digamma_next_wide(t < 0.5 ? t : t - 1.0);
  return x < INFINITY ? (float)(t < 0.5 ? value - 1.0 / t : value) : x;
}

#endif
