/* Shares of tails: series and continued fractions, and where shapes are large, an integral. */
#include "core/ops/distributions/tail.h"

#include <float.h>

#include "core/kernels/special_f64.h"
#include "core/ops/distributions/mass.h"

/* Shapes from which a tail is integrated; iterations that none but absurd numbers need. */
#define LARGE 300
enum { MOST_TERMS = 100000, NODES = 32 };

/* The tail that is computed is e^scale times the factor, the other one what it lacks of 1: so
 * logarithms are known where shares underflow. */
struct tail {
  double scale, factor;
  bool lower;
  bool near, turned; /* by a power of x, of this logarithm; or by one of 1 - x */
  double power;
};

/* The tail asked for, or its logarithm. */
static double tail_value(struct tail tail, bool lower, bool logarithm) {
  if (tail.lower == lower && logarithm) return tail.scale + f64_log(tail.factor);
  const double share = f64_exp(tail.scale) * tail.factor, own = share < 1 ? share : 1;
  if (tail.lower == lower) return own;
  return logarithm ? f64_log1p(-own) : 1 - own;
}

/* Logarithms of tails change with the shapes as logarithms of x, and of 1 - x, are in them on
 * average, less what they are on average in all. Functions that are given a place for slopes, and
 * not NULL, put there how the logarithm of the tail that they compute changes. */

/* Of the other tail. */
static double other_slope(double own, double slope) { return -slope * own / (1 - own); }

/* ---- integrals ---- */

/* The integral of e^g from 0 on where g(0) = 0, g'(0) = -slope and g''(0) = -curvature, up to
 * `most`; g is called with numbers of the distribution. e^40 times the largest element that is left
 * out is the first one. The logarithms are of (1 + t toward[k]) on average. */
typedef double log_ratio(const double *shape, double t);

/* Gauss-Legendre (Abramowitz and Stegun 25.4.30), with the nodes' positive halves. e^g is
 * nearly e^(-slope t - curvature t^2 / 2), of which 32 nodes leave no error. */
static double tail_integral(log_ratio *g, const double *shape, double slope, double curvature,
                            double most, const double toward[2], double *logarithms) {
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
  double sum = 0, means[2] = {0, 0};
  for (int k = 0; k < NODES; k++) {
    const double node = half_node[k / 2];
    const double t = 0.5 * end * (k % 2 == 0 ? 1 + node : 1 - node);
    const double part = half_weight[k / 2] * f64_exp(g(shape, t));
    sum += part;
    for (int j = 0; logarithms != NULL && j < 2; j++) means[j] += part * f64_log1p(t * toward[j]);
  }
  for (int j = 0; logarithms != NULL && j < 2; j++) logarithms[j] = means[j] / sum;
  return 0.5 * end * sum;
}

/* ---- gamma ---- */

/* Whether a sum stays the same when this part, and smaller ones, are added to it. */
static bool is_absorbed(double part, double sum) { return fabs(part) < 0x1p-55 * fabs(sum); }

/* x < 1 and a < 1: P = x^a / Gamma(1 + a) (1 + sum), NIST DLMF 8.7.1. Q is 1 less that, by parts.
 */
static struct tail gamma_near_zero(double a, double x, double *slope) {
  double term = 1, sum = 0, change = 0, rest;
  for (int n = 1; n < 40; n++) {
    term *= -x / n;
    const double part = term * (a / (a + n));
    sum += part;
    if (slope != NULL)
      change += term * (n / ((a + n) * (a + n)));
    else if (is_absorbed(part, sum))
      break;
  }
  const double log_gamma = lgamma_next_f64(a, f64_log(a + 0.5), 0, &rest);
  const double scale = a * f64_log(x) - log_gamma, less = f64_expm1(scale);
  const double upper = -(sum + less + sum * less);
  const bool lower = upper > 0.5;
  if (slope != NULL) {
    const double own = f64_log(x) - digamma_next_f64(a) + change / (1 + sum);
    *slope = lower ? own : other_slope(1 - upper, own);
  }
  return lower ? (struct tail){scale, 1 + sum, true, true, false, scale}
               : (struct tail){0, upper, false, true, false, scale};
}

/* NIST DLMF 8.11.4 */
static double gamma_series(double a, double x, double *slope) {
  double term = 1, sum = 1, inverse = 0, change = 0;
  for (int n = 1; n < MOST_TERMS && term > sum * (DBL_EPSILON / 64); n++) {
    term *= x / (a + n);
    sum += term;
    if (slope == NULL) continue;
    inverse += 1 / (a + n);
    change -= term * inverse;
  }
  if (slope != NULL) *slope = joist_log_over_digamma(a, x) - 1 / a + change / sum;
  return sum;
}

/* Whether a step still changes the value. Smaller steps are what underflow leaves of squares. */
static bool goes_on(double step, double value) {
  return fabs(step) > DBL_EPSILON / 2 * fabs(value) && fabs(step) > 0x1p-500;
}

/* Whether the factor c d still changes a fraction, by more than the rounding of a subnormal d. */
static bool multiplies(double c, double d) {
  const double step = fabs(c * d - 1);
  return step > DBL_EPSILON / 2 && step * fabs(d) > DBL_TRUE_MIN;
}

/* NIST DLMF 8.9.2 by Lentz's method (W. H. Press and others, Numerical Recipes, 5.2). */
static double gamma_fraction(double a, double x, double *slope) {
  double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d;
  double by_c = 0, by_d = d * d, change = d; /* slopes, the last of the logarithm of h */
  bool more = true;
  for (int n = 1; n < MOST_TERMS && more; n++) {
    const double numerator = -n * (n - a), c_before = c, d_before = d;
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    h *= c * d;
    more = multiplies(c, d);
    if (slope == NULL) continue;
    by_d = -d * d * (n * d_before + numerator * by_d - 1);
    by_c = -1 + (n - numerator * (by_c / c_before)) / c_before;
    const double step = by_c / c + by_d / d;
    change += step;
    more = more || goes_on(step, change);
  }
  if (slope != NULL) *slope = joist_log_over_digamma(a, x) + change;
  return a * h;
}

/* Of the density at x + t x and at x; shape less 1, x */
static double gamma_above(const double *shape, double t) {
  return shape[0] * joist_log1p_rest(t) + (shape[0] - shape[1]) * t;
}
static double gamma_below(const double *shape, double t) { return gamma_above(shape, -t); }

/* Of shape a > 0, at 0 < x < Inf. */
static struct tail gamma_tail(double a, double x, double *slope) {
  if (x < 1 && a < 1) return gamma_near_zero(a, x, slope);
  const double scale = joist_log_poisson(a, x);
  if (a >= LARGE && fabs(x - a) < 0.5 * a) {
    const double shape[2] = {a - 1, x};
    const bool lower = x < a;
    const double steep = lower ? shape[0] - x : x - shape[0], toward[2] = {lower ? -1 : 1, 0};
    double logarithms[2];
    const double integral =
        tail_integral(lower ? gamma_below : gamma_above, shape, steep, shape[0],
                      lower ? 1 : (double)INFINITY, toward, slope == NULL ? NULL : logarithms);
    if (slope != NULL) *slope = joist_log_over_digamma(a, x) + logarithms[0];
    return (struct tail){.scale = scale, .factor = a * integral, .lower = lower};
  }
  const bool below = x < a || x < 1;
  return (struct tail){.scale = scale,
                       .factor = below ? gamma_series(a, x, slope) : gamma_fraction(a, x, slope),
                       .lower = below};
}

double joist_incomplete_gamma(double a, double x, bool lower, bool logarithm) {
  if (!(a >= 0) || x != x) return a < 0 ? (double)NAN : a + x;
  const bool below = x <= 0 || (a == INFINITY && x < INFINITY);
  if (below || a == 0 || x == INFINITY) {
    const bool all = below != lower;
    return logarithm ? (all ? 0 : -(double)INFINITY) : all;
  }
  return tail_value(gamma_tail(a, x, NULL), lower, logarithm);
}

double joist_gamma_tail(double a, double x, bool lower, double *log_poisson) {
  const struct tail tail = gamma_tail(a, x, NULL);
  *log_poisson = tail.near ? tail.power - x : tail.scale;
  return tail_value(tail, lower, true);
}

double joist_incomplete_gamma_slope(double a, double x, bool lower) {
  if (!(a > 0 && a < INFINITY) || x != x) return NAN;
  if (x <= 0 || x == INFINITY) return 0;
  double slope;
  const struct tail tail = gamma_tail(a, x, &slope);
  return tail.lower == lower ? slope : other_slope(tail_value(tail, tail.lower, false), slope);
}

/* ---- beta ---- */

/* How the numbers of a fraction change with both shapes; the logarithm of the last one. */
struct change {
  double c[2], d[2], h[2];
};

/* x^a y^b / B(a, b) times it is the share: equation 9 of A. R. DiDonato and A. H. Morris, Algorithm
 * 708, ACM Transactions on Mathematical Software 18, 1992, by Lentz's method. */
static double beta_fraction(double a, double b, double x, double y, double *slopes) {
  const double excess = a * y - b * x;
  double c = a / (a + 1) * (excess + 1), d = 0, h = c;
  struct change change = {.c = {c / (a * (a + 1)) + a / (a + 1) * y, -a / (a + 1) * x}};
  for (int j = 0; j < 2; j++) change.h[j] = change.c[j] / c;
  bool more = true;
  for (int m = 1; m < MOST_TERMS && more; m++) {
    const double at = a + 2 * m - 1, part = m * (b - m) * x / at;
    const double rise = (a + m - 1) * ((a + b + m - 1) / at) * x, numerator = rise * part;
    const double share = (a + m) / (at + 2), rest = excess + 1 + m * (1 + y);
    const double next = m + part + share * rest, d_before = d, c_before = c;
    d = 1 / (numerator * d + next);
    c = next + numerator / c;
    h *= c * d;
    more = multiplies(c, d);
    if (slopes == NULL) continue;
    const double by_part[2] = {-part / at, m * x / at};
    const double by_rise[2] = {x * ((2 * a + b + 2 * m - 2) / at) - rise / at,
                               x * ((a + m - 1) / at)};
    const double by_next[2] = {by_part[0] + (1 - share) / (at + 2) * rest + share * y,
                               by_part[1] - share * x};
    for (int j = 0; j < 2; j++) {
      const double by_numerator = by_rise[j] * part + rise * by_part[j];
      change.d[j] = -d * d * (by_numerator * d_before + numerator * change.d[j] + by_next[j]);
      change.c[j] = by_next[j] + (by_numerator - numerator * (change.c[j] / c_before)) / c_before;
      const double step = change.c[j] / c + change.d[j] / d;
      change.h[j] += step;
      more = more || goes_on(step, change.h[j]);
    }
  }
  if (slopes != NULL) {
    slopes[0] = joist_log_plus_rise(a, b, x, y) - change.h[0];
    slopes[1] = joist_log_plus_rise(b, a, y, x) - change.h[1];
  }
  return 1 / h;
}

/* ln Gamma(1 + a), and ln(Gamma(a + b) / Gamma(b)): the shapes are the same for many elements. */
static void shape_logarithms(double a, double b, double *log_gamma, double *log_rise) {
  static _Thread_local struct { double a, b, log_gamma, log_rise; } last;
  if (last.a != a || last.b != b) {
    double rest;
    last.log_gamma = lgamma_next_f64(a, f64_log(a + 0.5), 0, &rest);
    last.log_rise = joist_log_rise(a, b);
    last.a = a;
    last.b = b;
  }
  *log_gamma = last.log_gamma;
  *log_rise = last.log_rise;
}

/* x^a / (a B(a, b)) (1 + sum), NIST DLMF 8.17.7 and 15.2.1; the other tail is 1 less that, by
 * parts. */
static struct tail beta_near_zero(double a, double b, double x, double *slopes) {
  double term = 1, by_b = 0, sum = 0, change[2] = {0, 0}, log_gamma, log_rise;
  for (int n = 1; n < 80; n++) {
    if (slopes != NULL) by_b = ((n - b) * by_b - term) / n * x;
    term *= (n - b) / n * x;
    const double share = a / (a + n), part = term * share;
    sum += part;
    if (slopes != NULL) {
      change[0] += term * (n / ((a + n) * (a + n)));
      change[1] += by_b * share;
    } else if (is_absorbed(part, sum)) {
      break;
    }
  }
  shape_logarithms(a, b, &log_gamma, &log_rise);
  const double scale = a * f64_log(x) - log_gamma + log_rise;
  const double less = f64_expm1(scale), upper = -(sum + less + sum * less);
  const bool lower = upper > 0.5;
  if (slopes != NULL) {
    slopes[0] = joist_log_plus_rise(a, b, x, 1 - x) - 1 / a + change[0] / (1 + sum);
    slopes[1] = joist_digamma_rise(a, b) + change[1] / (1 + sum);
    for (int j = 0; j < 2 && !lower; j++) slopes[j] = other_slope(1 - upper, slopes[j]);
  }
  return lower ? (struct tail){scale, 1 + sum, true, true, false, scale}
               : (struct tail){0, upper, false, true, false, scale};
}

/* Of the density at x - t x and at x; shapes less 1, x / (1 - x), slope */
static double beta_below(const double *shape, double t) {
  const double first = shape[0] * joist_log1p_rest(-t);
  return first + shape[1] * joist_log1p_rest(t * shape[2]) - shape[3] * t;
}

/* Of shapes a, b > 0, at 0 < x < 1, with y = 1 - x. */
static struct tail beta_tail(double a, double b, double x, double y, double *slopes) {
  const bool near_zero = a < 1 && b * x <= 0.7 && x <= 0.5;
  if (near_zero) return beta_near_zero(a, b, x, slopes);
  if (b * x > a * y || (b < 1 && a * y <= 0.7 && y <= 0.5)) {
    double turned[2];
    struct tail other = beta_tail(b, a, y, x, slopes == NULL ? NULL : turned);
    other.lower = !other.lower;
    other.turned = !other.turned;
    for (int j = 0; slopes != NULL && j < 2; j++) slopes[j] = turned[1 - j];
    return other;
  }
  const double scale = joist_log_binomial(a, b, x, y), n = a + b;
  if (a < LARGE || b < LARGE)
    return (struct tail){
        .scale = scale, .factor = a * (b / n) * beta_fraction(a, b, x, y, slopes), .lower = true};
  /* By the smaller of x and y, which has less to lose. */
  const double excess = x < y ? (a - 1) - (n - 2) * x : (n - 2) * y - (b - 1);
  const double shape[4] = {a - 1, b - 1, x / y, excess / y}, toward[2] = {-1, x / y};
  const double curvature = shape[0] + shape[1] * shape[2] * shape[2];
  const double integral = tail_integral(beta_below, shape, shape[3], curvature, 1, toward, slopes);
  if (slopes != NULL) {
    slopes[0] += joist_log_plus_rise(a, b, x, y);
    slopes[1] += joist_log_plus_rise(b, a, y, x);
  }
  return (struct tail){.scale = scale, .factor = a * (b / n) / y * integral, .lower = true};
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
  return tail_value(beta_tail(a, b, x, 1 - x, NULL), lower, logarithm);
}

double joist_beta_tail(double a, double b, double x, bool lower, double *log_binomial) {
  const struct tail tail = beta_tail(a, b, x, 1 - x, NULL);
  const double other = tail.turned ? a : b, less = tail.turned ? 1 - x : x;
  *log_binomial =
      tail.near ? tail.power + other * f64_log1p(-less) + f64_log((a + b) / other) : tail.scale;
  return tail_value(tail, lower, true);
}

void joist_incomplete_beta_slopes(double a, double b, double x, bool lower, double slopes[2]) {
  slopes[0] = slopes[1] = NAN;
  if (!(a > 0 && b > 0 && a < INFINITY && b < INFINITY) || x != x) return;
  slopes[0] = slopes[1] = 0;
  if (x <= 0 || x >= 1) return;
  const struct tail tail = beta_tail(a, b, x, 1 - x, slopes);
  const double own = tail_value(tail, tail.lower, false);
  for (int j = 0; j < 2 && tail.lower != lower; j++) slopes[j] = other_slope(own, slopes[j]);
}

/* ---- hypergeometric ---- */

/* The whole number that it is but for rounding; false if it is none from 0 to 2^53, beyond which
 * terms could not be counted. */
static bool is_count(double *x) {
  const double whole = rint(*x), rest = fabs(*x - whole);
  const bool is = rest <= 1e-7 * fmax(fabs(*x), 1) && whole >= 0 && whole <= 0x1p53;
  *x = is ? whole : (double)NAN;
  return is;
}

bool joist_hypergeometric_shapes(double *m, double *n, double *k) {
  const bool are = is_count(m) & is_count(n) & is_count(k);
  if (are && *k > *m + *n) *k = NAN;
  return are && *k == *k;
}

/* Of both tails the smaller one is added up, from its largest term on, as in Smyth's phyper() of R.
 * Turned, the other kind is counted. */
double joist_hypergeometric_share(double m, double n, double k, double x, bool lower,
                                  bool logarithm) {
  if (x != x || !joist_hypergeometric_shapes(&m, &n, &k)) return m + n + k + x;
  const double least = k > n ? k - n : 0, most = m < k ? m : k;
  x = floor(x + 1e-7);
  if (x < least || x >= most) {
    const bool all = (x < least) != lower;
    return logarithm ? (all ? 0 : -(double)INFINITY) : all;
  }
  const bool turned = x * (m + n) > k * m;
  const double first = turned ? k - x - 1 : x, white = turned ? n : m, black = turned ? m : n;
  double term = 1, sum = 1;
  for (double at = first; at > 0 && term >= DBL_EPSILON / 2 * sum; at--) {
    term *= at * (black - k + at) / ((k + 1 - at) * (white + 1 - at));
    sum += term;
  }
  const double share = k / (m + n), rest = 1 - share;
  const double scale = joist_log_binomial(first, white - first, share, rest) +
                       joist_log_binomial(k - first, black - (k - first), share, rest) -
                       joist_log_binomial(k, m + n - k, share, rest);
  const struct tail tail = {.scale = scale, .factor = sum, .lower = !turned};
  const double value = tail_value(tail, lower, logarithm);
  return logarithm && value > 0 ? 0 : value;
}
