/* Where a tail has a share: Newton's method on logarithms between bounds that it may not leave, and
 * for whole numbers bisection. */
#include "core/ops/distributions/quantile.h"

#include <float.h>

#include "core/kernels/special_f64.h"
#include "core/ops/distributions/mass.h"
#include "core/ops/distributions/tail.h"

#define LOG_TWO 0.69314718055994530942
enum { MOST_STEPS = 200 };

/* ln(1 - e^p) for p <= 0 */
static double log_rest(double p) {
  return p > -LOG_TWO ? f64_log(-f64_expm1(p)) : f64_log1p(-f64_exp(p));
}

/* A normal number whose smaller tail has the logarithm p, to 4.5e-4 (Abramowitz and Stegun
 * 26.2.23). */
static double rough_normal(double p, bool lower) {
  const double t = sqrt(-2 * p);
  const double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                           (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  return lower ? -z : z;
}

/* ---- numbers ---- */

struct distribution {
  double a, b; /* b is not used for gamma */
  bool beta;
};

/* The logarithm of a tail at x, and how it and its slope s change with ln x: by s, and by s times
 * the other part and s. */
static double log_tail_at(const struct distribution *d, double x, bool lower, double *slope) {
  double mass;
  const double value = d->beta ? joist_beta_tail(d->a, d->b, x, lower, &mass)
                               : joist_gamma_tail(d->a, x, lower, &mass);
  const double share = d->beta ? d->a * (d->b / (d->a + d->b)) / (1 - x) : d->a;
  *slope = share * f64_exp(mass - value);
  return value;
}

/* The x between 0 and `high` at which a tail has the logarithm p, from a start between them. By
 * Halley's method, whose error is at most the cube of a step by the square of what the logarithm
 * changes by. */
static double solve(const struct distribution *d, double p, bool lower, double start, double high) {
  double low = 0, x = start, last = INFINITY, away = 2;
  for (int n = 0; n < MOST_STEPS && x > 0; n++) {
    double slope;
    const double value = log_tail_at(d, x, lower, &slope), error = lower ? value - p : p - value;
    if (error == 0 || error != error) break;
    if (error > 0)
      high = x;
    else
      low = x;
    /* How x f(x) changes with ln x, f being the density. */
    const double odds = d->beta ? x / (1 - x) : x, turn = d->beta ? (d->b - 1) * odds : x;
    const double rise = d->a - turn, newton = error / slope;
    const double by = 1 - newton / 2 * (lower ? rise - slope : rise + slope);
    const double step = newton / (by > 0.5 ? by < 2 ? by : 2 : 0.5);
    if (fabs(step) < 1e-10 && fabs(step) >= last) break;
    last = fabs(step);
    double next = x * f64_exp(-step);
    if (!(next > low && next < high)) {
      next = low == 0 ? high / away : high == INFINITY ? low * away : sqrt(low) * sqrt(high);
      if (low == 0 || high == INFINITY) away *= away < 1e100 ? away : 1;
      last = INFINITY;
    }
    if (next == x) break;
    x = next;
    const double bent = fabs(turn) * (d->beta ? 1 + odds : 1);
    const double steep = 1 + fabs(rise) + slope;
    if (last * last * last * (steep * steep + bent) < 0x1p-56) break;
  }
  return x;
}

/* x up to which a share begins as a power of x, `power`, times 1 - slope x. */
static double corrected(double power, double slope) {
  return slope * power > -0.5 && slope * power < 1 ? power + slope * power * power : power;
}

/* ln Gamma(1 + a) */
static double log_gamma_next(double a) {
  static _Thread_local struct { double a, value; } last;
  double rest;
  if (last.a != a) {
    last.value = a < 1 ? lgamma_next_f64(a, f64_log(a + 0.5), 0, &rest) : f64_lgamma(a + 1);
    last.a = a;
  }
  return last.value;
}

double joist_inverse_gamma(double a, double p, bool lower) {
  if (!(a >= 0 && p <= 0)) return a < 0 || p > 0 ? (double)NAN : a + p;
  const double other = log_rest(p);
  if (a == 0 || (lower ? p : other) == -INFINITY) return 0;
  if (a == INFINITY || (lower ? other : p) == -INFINITY) return INFINITY;
  /* By the smaller tail. */
  const bool small = p < -LOG_TWO, below = small == lower;
  const double q = small ? p : other;
  const struct distribution d = {.a = a};
  const double lowest = f64_exp(((lower ? p : other) + log_gamma_next(a)) / a);
  /* Wilson and Hilferty (1931) */
  const double root = 1 - 1 / (9 * a) + rough_normal(q, below) / (3 * sqrt(a));
  const double start =
      root > 0.2 && a > 0.5 ? a * root * root * root : corrected(lowest, 1 / (a + 1));
  if (below && lowest == 0) return 0;
  return solve(&d, q, below, start > 0 && start < INFINITY ? start : a, INFINITY);
}

/* What is the same for all shares: ln B(a, b), and the logarithm of the share up to 1/2. */
struct shapes {
  double a, b, log_beta, half;
};

static struct shapes shapes_of(double a, double b) {
  static _Thread_local struct shapes last;
  if (last.a != a || last.b != b)
    last =
        (struct shapes){a, b, joist_log_beta(a, b), joist_incomplete_beta(a, b, 0.5, true, true)};
  return last;
}

/* Abramowitz and Stegun 26.5.22, for shapes above 1 and a normal number with the same tail */
static double rough_beta(double a, double b, double z) {
  const double s = 1 / (2 * a - 1), t = 1 / (2 * b - 1), h = 2 / (s + t), r = (z * z - 3) / 6;
  const double w = z * sqrt(h + r) / h + (t - s) * (r + 5.0 / 6 - 2 / (3 * h));
  return a / (a + b * f64_exp(-2 * w));
}

/* The x up to 1/2 at which a tail has that share, given by both logarithms. */
static double inverse_beta_low(double a, double b, double log_beta, double p, double other) {
  const bool small = p < -LOG_TWO;
  const struct distribution d = {.a = a, .b = b, .beta = true};
  const double lowest = f64_exp((p + f64_log(a) + log_beta) / a);
  if (lowest == 0) return 0;
  const double start = a > 1 && b > 1 ? rough_beta(a, b, rough_normal(small ? p : other, small))
                                      : corrected(lowest, (b - 1) / (a + 1));
  return solve(&d, small ? p : other, small, start > 0 && start < 0.5 ? start : 0.25, 1);
}

double joist_inverse_beta(double a, double b, double p, bool lower) {
  if (!(a >= 0 && b >= 0 && p <= 0)) return a < 0 || b < 0 || p > 0 ? (double)NAN : a + b + p;
  const double other = log_rest(p), below = lower ? p : other, above = lower ? other : p;
  if (below == -INFINITY) return 0;
  if (above == -INFINITY) return 1;
  if ((a == 0 && b == 0) || (a == INFINITY && b == INFINITY)) {
    if (a > 0) return 0.5;
    return below < -LOG_TWO ? 0 : below > -LOG_TWO ? 1 : 0.5;
  }
  if (a == 0 || b == INFINITY) return 0;
  if (b == 0 || a == INFINITY) return 1;
  const struct shapes own = shapes_of(a, b);
  if (below <= own.half) return inverse_beta_low(a, b, own.log_beta, below, above);
  return 1 - inverse_beta_low(b, a, own.log_beta, above, below);
}

/* ---- whole numbers ---- */

struct count {
  double mean, size, probability;
  bool binomial;
};

static double log_count_tail(const struct count *c, double k, bool lower) {
  if (!c->binomial) return joist_incomplete_gamma(k + 1, c->mean, !lower, true);
  return joist_incomplete_beta(k + 1, c->size - k, c->probability, !lower, true);
}

/* Whether k is enough, but for rounding. */
static bool is_reached(const struct count *c, double k, double below, double above) {
  const double fuzz = 64 * DBL_EPSILON;
  if (c->binomial && k >= c->size) return true;
  if (below < -LOG_TWO) return log_count_tail(c, k, true) >= below - fuzz;
  return log_count_tail(c, k, false) <= above + fuzz;
}

static double least_count(const struct count *c, double deviation, double below, double above) {
  const bool small = below < -LOG_TWO;
  const double guess = c->mean + deviation * rough_normal(small ? below : above, small);
  const double most = c->binomial ? c->size : INFINITY;
  double step = 1 + floor(deviation * 0x1p-10), low = -1;
  double high = floor(guess < 0 ? 0 : guess > most ? most : guess);
  for (; !is_reached(c, high, below, above); step *= 2) {
    low = high;
    high = high + step < most ? high + step : most;
  }
  for (; low < 0 && high > 0 && high - step >= 0; step *= 2) {
    if (!is_reached(c, high - step, below, above))
      low = high - step;
    else
      high -= step;
  }
  for (double middle; high - low > 1;) {
    middle = floor(low + 0.5 * (high - low));
    if (middle <= low || middle >= high) break;
    if (is_reached(c, middle, below, above))
      high = middle;
    else
      low = middle;
  }
  return high;
}

double joist_poisson_quantile(double mean, double p, bool lower) {
  if (!(mean >= 0 && p <= 0) || mean == INFINITY)
    return mean < 0 || mean == INFINITY || p > 0 ? (double)NAN : mean + p;
  const double other = log_rest(p), below = lower ? p : other, above = lower ? other : p;
  if (mean == 0 || below == -INFINITY) return 0;
  if (above == -INFINITY) return INFINITY;
  const struct count c = {.mean = mean};
  return least_count(&c, sqrt(mean), below, above);
}

double joist_binomial_quantile(double size, double probability, double p, bool lower) {
  if (!(size >= 0 && p <= 0) || size == INFINITY || !(probability >= 0 && probability <= 1) ||
      floor(size) != size)
    return size != size || p != p || probability != probability ? size + p + probability
                                                                : (double)NAN;
  const double other = log_rest(p), below = lower ? p : other, above = lower ? other : p;
  if (below == -INFINITY) return 0;
  if (above == -INFINITY || probability == 1) return size;
  if (probability == 0 || size == 0) return 0;
  const double mean = size * probability;
  const struct count c = {.mean = mean, .size = size, .probability = probability, .binomial = true};
  return least_count(&c, sqrt(mean * (1 - probability)), below, above);
}
