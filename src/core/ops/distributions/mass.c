#include "core/ops/distributions/mass.h"

#include "core/kernels/special_f64.h"

#define LOG_TWO_PI 1.83787706640934548356

/* With s = u / (2 + u), ln(1 + u) = 2 artanh(s) and u = 2 s + s u. */
double joist_log1p_rest(double u) {
  if (!(u > -0.3 && u < 0.4)) return f64_log1p(u) - u;
  const double s = u / (2 + u), z = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = sum * z + 1.0 / k;
  return s * (2 * z * sum - u);
}

/* (x + 1/2) ln(1 + 1 / x) - 1 */
static double stirling_step(double x) {
  if (x < 1) return (x + 0.5) * (f64_log1p(x) - f64_log(x)) - 1;
  const double s = 1 / (2 * x + 1), z = s * s;
  double sum = 0;
  for (int k = 33; k >= 3; k -= 2) sum = sum * z + 1.0 / k;
  return z * sum;
}

/* By recurrence to where the series of NIST DLMF 5.11.1 has converged. */
double joist_stirling_error(double x) {
  double sum = 0;
  while (x < 10) {
    sum += stirling_step(x);
    x += 1;
  }
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
