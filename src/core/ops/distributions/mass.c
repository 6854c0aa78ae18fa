#include "core/ops/distributions/mass.h"

#include <stdint.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/vectorize.h"

JOIST_VECTORIZE_FILE
#include "core/kernels/special_f64.h"

#define LOG_TWO_PI 1.83787706640934548356

/* 1 / (2 k + 1) */
static const double odd_inverses[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                      1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23,
                                      1.0 / 25, 1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33};
enum { TERMS_NEAR = 10, TERMS = 16 };

/* With s = u / (2 + u), ln(1 + u) = 2 artanh(s) and u = 2 s + s u. */
double joist_log1p_rest(double u) {
  if (!(u > -0.3 && u < 0.4)) return f64_log1p(u) - u;
  const double s = u / (2 + u), z = s * s;
  double sum = 0;
  for (int k = TERMS_NEAR; k > 0; k--) sum = sum * z + odd_inverses[k];
  return s * (2 * z * sum - u);
}

/* Where the series of NIST DLMF 5.11.1 has converged; as many steps lead there from 1 on, and one
 * more for vectors. */
enum { CONVERGED = 10, STEPS = CONVERGED };

/* The sum of (x + 1/2) ln(1 + 1 / x) - 1 from *x in steps of 1 up to CONVERGED, which *x becomes
 * next to. The steps are computed side by side. */
static double stirling_steps(double *x) {
  double total = 0, at[STEPS], z[STEPS], sum[STEPS] = {0};
  if (*x < 1) {
    total = (*x + 0.5) * (f64_log1p(*x) - f64_log(*x)) - 1;
    *x += 1;
  }
  int steps = 0;
  for (int j = 0; j < STEPS; j++, *x += 1) at[j] = *x;
  while (steps < STEPS - 1 && at[steps] < CONVERGED) steps++;
  *x = at[steps];
  JOIST_VECTORIZE_LOOP
  for (int j = 0; j < STEPS; j++) {
    const double s = 1 / (2 * at[j] + 1);
    z[j] = s * s;
  }
  for (int k = TERMS; k > 0; k--) {
    JOIST_VECTORIZE_LOOP
    for (int j = 0; j < STEPS; j++) sum[j] = sum[j] * z[j] + odd_inverses[k];
  }
  for (int j = 0; j < steps; j++) total += z[j] * sum[j];
  return total;
}

static double stirling_error(double x) {
  const double sum = x < CONVERGED ? stirling_steps(&x) : 0;
  const double inverse = 1 / x, z = inverse * inverse;
  double series = 1.0 / 156;
  series = series * z - 691.0 / 360360;
  series = series * z + 1.0 / 1188;
  series = series * z - 1.0 / 1680;
  series = series * z + 1.0 / 1260;
  series = series * z - 1.0 / 360;
  series = series * z + 1.0 / 12;
  return sum + series * inverse;
}

/* The shapes of a distribution are the same for many elements. */
double joist_stirling_error(double x) {
  enum { RECENT_BITS = 8 };
  static _Thread_local struct {
    uint64_t bits;
    double value;
  } recent[1 << RECENT_BITS]; /* bits of 0: empty */
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const size_t k = (size_t)(bits * JOIST_GOLDEN >> (64 - RECENT_BITS));
  if (recent[k].bits != bits || bits == 0) {
    recent[k].value = stirling_error(x);
    recent[k].bits = bits;
  }
  return recent[k].value;
}

/* x ln(x / m) + m - x for x, m > 0 */
static double deviance(double x, double m) {
  const double u = (m - x) / x;
  if (u > -0.5 && u < 0x1p60) return -x * joist_log1p_rest(u);
  return x * (f64_log(x) - f64_log(m)) + (m - x);
}

double joist_log_poisson(double x, double m) {
  if (!(x >= 0 && m >= 0)) return x < 0 || m < 0 ? (double)NAN : x + m;
  if (x == 0) return -m;
  if (m == 0 || x == INFINITY || m == INFINITY) return -(double)INFINITY;
  double rest;
  if (x < 1) return x * f64_log(m) - m - lgamma_next_f64(x, f64_log(x + 0.5), 0, &rest);
  return -0.5 * (LOG_TWO_PI + f64_log(x)) - joist_stirling_error(x) - deviance(x, m);
}

/* a ln x, where y = 1 - x may have more digits */
static double log_power(double a, double x, double y) {
  return a * (x < 0.5 ? f64_log(x) : f64_log1p(-y));
}

double joist_log_binomial(double a, double b, double x, double y) {
  if (!(a >= 0 && b >= 0 && x >= 0 && y >= 0))
    return a < 0 || b < 0 || x < 0 || y < 0 ? (double)NAN : a + b + x + y;
  if (a == 0) return b == 0 ? 0 : log_power(b, y, x);
  if (b == 0) return log_power(a, x, y);
  if (x == 0 || y == 0 || a == INFINITY || b == INFINITY) return -(double)INFINITY;
  const double n = a + b;
  const double errors = joist_stirling_error(a) + joist_stirling_error(b) - joist_stirling_error(n);
  const double root = 0.5 * (f64_log(n / a / b) - LOG_TWO_PI);
  return root - errors - deviance(a, n * x) - deviance(b, n * y);
}

double joist_log_beta(double a, double b) {
  if (!(a >= 0 && b >= 0)) return a < 0 || b < 0 ? (double)NAN : a + b;
  const double p = a < b ? a : b, q = a < b ? b : a;
  if (p == 0) return INFINITY;
  if (q == INFINITY) return -(double)INFINITY;
  const double ratio = p / q, more = f64_log1p(ratio);
  const double less = q / p < 1e300 ? f64_log1p(q / p) : f64_log(q) - f64_log(p);
  const double errors =
      joist_stirling_error(p) + joist_stirling_error(q) - joist_stirling_error(p + q);
  return 0.5 * (LOG_TWO_PI - f64_log(p) + more) - p * less - q * more + errors;
}

/* The derivative of Stirling's error for x >= 10 */
static double stirling_error_slope(double x) {
  const double z = 1 / (x * x);
  double series = -1.0 / 132;
  series = series * z + 1.0 / 240;
  series = series * z - 1.0 / 252;
  series = series * z + 1.0 / 120;
  series = series * z - 1.0 / 12;
  return series * z;
}

double joist_log_rise(double a, double b) {
  double sum = 0;
  while (b < 10) {
    sum -= f64_log1p(a / b);
    b += 1;
  }
  /* A difference would not be as small as a. */
  const double errors = a < 1e-5 ? a * stirling_error_slope(b + 0.5 * a)
                                 : joist_stirling_error(a + b) - joist_stirling_error(b);
  return sum + ((b - 0.5) * f64_log1p(a / b) + a * (f64_log(a + b) - 1) + errors);
}

/* ---- digamma: Stirling's series, NIST DLMF 5.11.2, from this number on ---- */

static const double ENOUGH = 16;

/* psi(a + b) - psi(b) - ln(1 + a / b). Each power of 1 / b and 1 / (a + b) is subtracted by its
 * factors. */
static double rise_rest(double a, double b) {
  const double v = 1 / b, w = 1 / (a + b), less = a * v * w, v2 = v * v, w2 = w * w;
  const double v4 = v2 * v2, w4 = w2 * w2, v8 = v4 * v4, w8 = w4 * w4;
  const double sum = 1.0 / 12 - (v2 + w2) / 120 + (v4 + v2 * w2 + w4) / 252 -
                     (v2 + w2) * (v4 + w4) / 240 +
                     (v8 + v4 * v2 * w2 + v4 * w4 + v2 * w4 * w2 + w8) / 132;
  return less * (0.5 + (v + w) * sum);
}

double joist_digamma_rise(double a, double b) {
  double sum = 0;
  while (b < ENOUGH) {
    sum += a / (b * (a + b));
    b += 1;
  }
  return sum + (f64_log1p(a / b) + rise_rest(a, b));
}

double joist_log_plus_rise(double a, double b, double x, double y) {
  const double log_x = x < 0.5 ? f64_log(x) : f64_log1p(-y);
  if (a < ENOUGH) return log_x + joist_digamma_rise(b, a);
  const double away = (b * x - a * y) / a;
  const double log = fabs(away) < 0.5 ? f64_log1p(away) : log_x + f64_log1p(b / a);
  return log + rise_rest(b, a);
}

double joist_log_over_digamma(double a, double x) {
  if (a < ENOUGH) return f64_log(x) - (digamma_next_f64(a) - 1 / a);
  const double away = (x - a) / a, u = 1 / a, u2 = u * u;
  const double log = fabs(away) < 0.5 ? f64_log1p(away) : f64_log(x / a);
  const double rest = 1.0 / 12 - u2 * (1.0 / 120 - u2 * (1.0 / 252 - u2 * (1.0 / 240 - u2 / 132)));
  return log + u * (0.5 + u * rest);
}
