/* Shares of tails: series and continued fractions, and where shapes are large, an integral. */
#include "core/ops/distributions/tail.h"

#include <float.h>

#include "core/kernels/special_f64.h"
#include "core/ops/distributions/mass.h"

/* Shapes from which a tail is integrated; iterations that none but absurd numbers need. */
#define LARGE 300
enum { MOST_TERMS = 100000, NODES = 32 };

double joist_tail_value(struct joist_tail tail, bool lower, bool logarithm) {
  if (tail.lower == lower && logarithm) return tail.scale + f64_log(tail.factor);
  const double share = f64_exp(tail.scale) * tail.factor, own = share < 1 ? share : 1;
  if (tail.lower == lower) return own;
  return logarithm ? f64_log1p(-own) : 1 - own;
}

/* ---- integrals ---- */

/* Gauss-Legendre (Abramowitz and Stegun 25.4.30), with the nodes' positive halves. e^g is
 * nearly e^(-slope t - curvature t^2 / 2), of which 32 nodes leave no error. */
double joist_tail_integral(joist_log_ratio *g, const double *shape, double slope, double curvature,
                           double most) {
  static const double half_node[NODES / 2] = {
      0x1.fe995e70409b6p-1, 0x1.f8a212714bcdcp-1, 0x1.edf5518053baap-1, 0x1.deac0259f7f42p-1,
      0x1.caea9b4574cb9p-1, 0x1.b2e04fd686a13p-1, 0x1.96c69481c4bc5p-1, 0x1.76e0931d693bap-1,
      0x1.537a89c487f8ap-1, 0x1.2ce9146962ca4p-1, 0x1.038862866b29dp-1, 0x1.af76b57c6f8f1p-2,
      0x1.53d55ce57bdf6p-2, 0x1.ea0f7e19c094bp-3, 0x1.27e0ea717f237p-3, 0x1.8bbc8488cc499p-5};
  static const double half_weight[NODES / 2] = {
      0x1.cbf8bc743cc5cp-8, 0x1.0aa3c248696c9p-6, 0x1.a0060a8531ffap-6, 0x1.18c5800a355d9p-5,
      0x1.5ee963a335495p-5, 0x1.a1c6ae961fbfap-5, 0x1.e0bd76c924981p-5, 0x1.0d9b9a62cac10p-4,
      0x1.2854103b35e0cp-4, 0x1.40483e126fd14p-4, 0x1.553ee25ebebc6p-4, 0x1.6705e18e13ed1p-4,
      0x1.7572bdb3f6e51p-4, 0x1.8062fc0f6fef9p-4, 0x1.87bc776f8c6d7p-4, 0x1.8b6d9eaec77adp-4};
  const double reach = 80 / (slope + sqrt(slope * slope + 80 * curvature));
  const double end = reach < most ? reach : most;
  double sum = 0;
  for (int k = 0; k < NODES / 2; k++) {
    const double up = 0.5 * end * (1 + half_node[k]), down = 0.5 * end * (1 - half_node[k]);
    sum += half_weight[k] * (f64_exp(g(shape, up)) + f64_exp(g(shape, down)));
  }
  return 0.5 * end * sum;
}

/* ---- gamma ---- */

/* x < 1 and a < 1: P = x^a / Gamma(1 + a) (1 + sum), NIST DLMF 8.7.1. Q is 1 less that, by parts.
 */
static struct joist_tail gamma_near_zero(double a, double x) {
  double term = 1, sum = 0, rest;
  for (int n = 1; n < 40; n++) {
    term *= -x / n;
    sum += term * (a / (a + n));
  }
  const double log_gamma = lgamma_next_f64(a, f64_log(a + 0.5), 0, &rest);
  const double scale = a * f64_log(x) - log_gamma, less = f64_expm1(scale);
  const double upper = -(sum + less + sum * less);
  if (upper > 0.5) return (struct joist_tail){scale, 1 + sum, true};
  return (struct joist_tail){0, upper, false};
}

/* NIST DLMF 8.11.4 */
static double gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (int n = 1; n < MOST_TERMS && term > sum * (DBL_EPSILON / 8); n++) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

/* NIST DLMF 8.9.2 by Lentz's method (W. H. Press and others, Numerical Recipes, 5.2). */
static double gamma_fraction(double a, double x) {
  double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d, factor = 0;
  for (int n = 1; n < MOST_TERMS && fabs(factor - 1) > DBL_EPSILON / 2; n++) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    factor = c * d;
    h *= factor;
  }
  return a * h;
}

/* Of the density at x + t x and at x; shape less 1, x */
static double gamma_above(const double *shape, double t) {
  return shape[0] * joist_log1p_rest(t) + (shape[0] - shape[1]) * t;
}
static double gamma_below(const double *shape, double t) { return gamma_above(shape, -t); }

struct joist_tail joist_gamma_tail(double a, double x) {
  if (x < 1 && a < 1) return gamma_near_zero(a, x);
  const double scale = joist_log_poisson(a, x);
  if (a >= LARGE && fabs(x - a) < 0.5 * a) {
    const double shape[2] = {a - 1, x};
    const bool lower = x < a;
    const double slope = lower ? shape[0] - x : x - shape[0];
    const double integral = joist_tail_integral(lower ? gamma_below : gamma_above, shape, slope,
                                                shape[0], lower ? 1 : (double)INFINITY);
    return (struct joist_tail){scale, a * integral, lower};
  }
  if (x < a) return (struct joist_tail){scale, gamma_series(a, x), true};
  if (x < 1) return (struct joist_tail){scale, gamma_series(a, x), true};
  return (struct joist_tail){scale, gamma_fraction(a, x), false};
}

double joist_incomplete_gamma(double a, double x, bool lower, bool logarithm) {
  if (!(a >= 0) || x != x) return a < 0 ? (double)NAN : a + x;
  const bool below = x <= 0 || (a == INFINITY && x < INFINITY);
  if (below || a == 0 || x == INFINITY) {
    const bool all = below != lower;
    return logarithm ? (all ? 0 : -(double)INFINITY) : all;
  }
  return joist_tail_value(joist_gamma_tail(a, x), lower, logarithm);
}

/* ---- beta ---- */

/* x^a y^b / B(a, b) times it is the share: equation 9 of A. R. DiDonato and A. H. Morris, Algorithm
 * 708, ACM Transactions on Mathematical Software 18, 1992, by Lentz's method. */
static double beta_fraction(double a, double b, double x, double y) {
  const double excess = a * y - b * x;
  double c = a / (a + 1) * (excess + 1), d = 0, h = c, factor = 0;
  for (int m = 1; m < MOST_TERMS && fabs(factor - 1) > DBL_EPSILON / 2; m++) {
    const double at = a + 2 * m - 1, part = m * (b - m) * x / at;
    const double numerator = (a + m - 1) * ((a + b + m - 1) / at) * x * part;
    const double next = m + part + (a + m) / (at + 2) * (excess + 1 + m * (1 + y));
    d = 1 / (numerator * d + next);
    c = next + numerator / c;
    factor = c * d;
    h *= factor;
  }
  return 1 / h;
}

/* x^a / (a B(a, b)) (1 + sum), NIST DLMF 8.17.7 and 15.2.1; the other tail is 1 less that, by
 * parts. */
static struct joist_tail beta_near_zero(double a, double b, double x) {
  double term = 1, sum = 0, rest;
  for (int n = 1; n < 80; n++) {
    term *= (n - b) / n * x;
    sum += term * (a / (a + n));
  }
  const double log_gamma = lgamma_next_f64(a, f64_log(a + 0.5), 0, &rest);
  const double scale = a * f64_log(x) - log_gamma + joist_log_rise(a, b);
  const double less = f64_expm1(scale), upper = -(sum + less + sum * less);
  if (upper > 0.5) return (struct joist_tail){scale, 1 + sum, true};
  return (struct joist_tail){0, upper, false};
}

/* Of the density at x - t x and at x; shapes less 1, x / (1 - x), slope */
static double beta_below(const double *shape, double t) {
  const double first = shape[0] * joist_log1p_rest(-t);
  return first + shape[1] * joist_log1p_rest(t * shape[2]) - shape[3] * t;
}

struct joist_tail joist_beta_tail(double a, double b, double x, double y) {
  const bool near_zero = a < 1 && b * x <= 0.7 && x <= 0.5;
  if (near_zero) return beta_near_zero(a, b, x);
  if (b * x > a * y || (b < 1 && a * y <= 0.7 && y <= 0.5)) {
    struct joist_tail other = joist_beta_tail(b, a, y, x);
    other.lower = !other.lower;
    return other;
  }
  const double scale = joist_log_binomial(a, b, x, y), n = a + b;
  if (a < LARGE || b < LARGE)
    return (struct joist_tail){scale, a * (b / n) * beta_fraction(a, b, x, y), true};
  /* By the smaller of x and y, which has less to lose. */
  const double excess = x < y ? (a - 1) - (n - 2) * x : (n - 2) * y - (b - 1);
  const double shape[4] = {a - 1, b - 1, x / y, excess / y};
  const double curvature = shape[0] + shape[1] * shape[2] * shape[2];
  const double integral = joist_tail_integral(beta_below, shape, shape[3], curvature, 1);
  return (struct joist_tail){scale, a * (b / n) / y * integral, true};
}

double joist_incomplete_beta(double a, double b, double x, bool lower, bool logarithm) {
  if (!(a >= 0 && b >= 0) || x != x) return a < 0 || b < 0 ? (double)NAN : a + b + x;
  /* All of it is at 0 or at 1, half of it at both, or all at 1/2. */
  const bool none = a == 0 && b == 0, far = a == INFINITY && b == INFINITY;
  if (none && x >= 0 && x < 1) return logarithm ? -0.69314718055994530942 : 0.5;
  const bool at_zero = (a == 0 || b == INFINITY) && !far;
  const bool at_one = (b == 0 || a == INFINITY) && !far;
  const bool below = x < 0 || (x == 0 && !at_zero) || (at_one && x < 1) || (far && x < 0.5);
  if (below || at_zero || x >= 1 || far) {
    const bool all = below != lower;
    return logarithm ? (all ? 0 : -(double)INFINITY) : all;
  }
  return joist_tail_value(joist_beta_tail(a, b, x, 1 - x), lower, logarithm);
}
