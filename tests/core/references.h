/* Functions that the C library does not have, to compare with. */
#ifndef JOIST_TESTS_REFERENCES_H
#define JOIST_TESTS_REFERENCES_H

#include <math.h>

static inline double rsqrt(double x) { return 1 / sqrt(x); }
static inline long double rsqrtl(long double x) { return 1 / sqrtl(x); }

/* A quarter of the way of pi at most from where the sine or the cosine is 0: elsewhere they are
 * each other. */
static inline long double pi_times(long double x) {
  return x * 3.141592653589793238462643383279502884L;
}
static inline long double sin_pil(long double x) {
  if (!isfinite(x)) return (long double)NAN;
  const long double part = remainderl(x, 2), t = fabsl(part), s = t > 0.5L ? 1 - t : t;
  return copysignl(s > 0.25L ? cosl(pi_times(0.5L - s)) : sinl(pi_times(s)), part);
}
static inline long double cos_pil(long double x) {
  if (!isfinite(x)) return (long double)NAN;
  const long double t = fabsl(remainderl(x, 2)), s = t > 0.5L ? 1 - t : t;
  const long double value = s > 0.25L ? sinl(pi_times(0.5L - s)) : cosl(pi_times(s));
  return t > 0.5L ? -value : value;
}
static inline long double tan_pil(long double x) {
  const long double c = cos_pil(x);
  return c == 0 ? (long double)NAN : sin_pil(x) / c;
}
static inline double sin_pi(double x) { return (double)sin_pil((long double)x); }
static inline double cos_pi(double x) { return (double)cos_pil((long double)x); }
static inline double tan_pi(double x) { return (double)tan_pil((long double)x); }

static inline double logistic(double x) { return 1 / (1 + exp(-x)); }
/* e^-x overflows before the result is 0. */
static inline long double logisticl(long double x) {
  return x < -60 ? expl(x) : 1 / (1 + expl(-x));
}

/* As in R, without a value at 0. */
static inline double gamma_or_nan(double x) { return x == 0 ? (double)NAN : tgamma(x); }
static inline long double gamma_or_nanl(long double x) {
  return x == 0 ? (long double)NAN : tgammal(x);
}

/* Near the zero, as a Taylor series (computed with 60 digits); elsewhere by the asymptotic series
 * with Bernoulli's numbers B_2n / 2n: Abramowitz and Stegun (1964), 6.3.18 and 23.1. */
static inline long double digammal(long double x) {
  static const long double terms[] = {1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
                                      1.0L / 132, -691.0L / 32760, 1.0L / 12,  -3617.0L / 8160};
  static const long double near[] = {
      0.9676722454476211704274448L,   -0.4427631689835921060928653L,
      0.2584997609556510106244014L,   -0.1639427054424065275042513L,
      0.1078240506912623657571829L,   -0.07219956125645471092612178L,
      0.04880428816414310722509253L,  -0.0331611264748473592922584L,
      0.02259764823221810465962483L,  -0.01542476590494895913880032L,
      0.01053879161661217538812405L,  -0.007204534386356868240970474L,
      0.004926781395729853446354266L, -0.003369801655439328082792857L};
  const long double pi = 3.141592653589793238462643383279502884L;
  if (isinf(x)) return x > 0 ? x : (long double)NAN;
  if (x <= 0) {
    const long double r = x - roundl(x);
    return r == 0 ? (long double)NAN : digammal(1 - x) - pi / tanl(pi * r);
  }
  /* The zero in two parts. */
  const long double zero = 0x1.762d86356be3fp+0L, rest = 9.54999542996569771518419907597e-17L;
  const long double from = (x - zero) - rest;
  long double sum = 0;
  if (fabsl(from) < 0.05L) {
    for (int n = 13; n >= 0; n--) sum = (sum + near[n]) * from;
    return sum;
  }
  for (; x < 24; x += 1) sum -= 1 / x;
  const long double z = 1 / (x * x);
  long double series = 0;
  for (int n = 7; n >= 0; n--) series = (series + terms[n]) * z;
  return sum + logl(x) - 1 / (2 * x) - series;
}
static inline double digamma(double x) { return (double)digammal((long double)x); }

#endif
