/* Where a tail has a share: Newton's method on logarithms between bounds that it may not leave, and
 * for whole numbers bisection. */
#include "core/ops/distributions/quantile.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#include "core/base/bits.h"
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
  /* Far out in the upper tail of gamma, whose logarithm is nearly (a - 1) ln x - x there, mass and
   * value cancel. */
  *slope = d->beta || lower || x < 1e9 * (1 + d->a) ? share * f64_exp(mass - value) : x - d->a + 1;
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
    /* Upper tails of gamma fall as e^-x: far too large an x would come back by factors of e. */
    const double step = fmax(newton / (by > 0.5 ? by < 2 ? by : 2 : 0.5), -4);
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

/* What is the same for all shares: ln B(a, b), and the logarithms of the shares up to 1/2 and
 * beyond. */
struct shapes {
  double a, b, log_beta, below, above;
};

static struct shapes shapes_of(double a, double b) {
  static _Thread_local struct shapes last;
  if (last.a != a || last.b != b)
    last = (struct shapes){a, b, joist_log_beta(a, b), joist_incomplete_beta(a, b, 0.5, true, true),
                           joist_incomplete_beta(a, b, 0.5, false, true)};
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

/* Where there is nothing to solve, else NaN. */
static double inverse_beta_limit(double a, double b, double below, double above) {
  if (below == -INFINITY) return 0;
  if (above == -INFINITY) return 1;
  if ((a == 0 && b == 0) || (a == INFINITY && b == INFINITY)) {
    if (a > 0) return 0.5;
    return below < -LOG_TWO ? 0 : below > -LOG_TWO ? 1 : 0.5;
  }
  if (a == 0 || b == INFINITY) return 0;
  return b == 0 || a == INFINITY ? 1 : (double)NAN;
}

void joist_inverse_beta(double a, double b, double p, bool lower, double both[2]) {
  both[0] = both[1] = a < 0 || b < 0 || p > 0 ? (double)NAN : a + b + p;
  if (!(a >= 0 && b >= 0 && p <= 0)) return;
  const double other = log_rest(p), below = lower ? p : other, above = lower ? other : p;
  both[0] = inverse_beta_limit(a, b, below, above);
  both[1] = 1 - both[0];
  if (both[0] == both[0]) return;
  const struct shapes own = shapes_of(a, b);
  const bool low = below < -LOG_TWO ? below <= own.below : above >= own.above;
  const double x = low ? inverse_beta_low(a, b, own.log_beta, below, above)
                       : inverse_beta_low(b, a, own.log_beta, above, below);
  both[0] = low ? x : 1 - x;
  both[1] = low ? 1 - x : x;
}

/* ---- whole numbers ---- */

/* Of the shapes of a distribution: mean; size and probability; or what there is of either kind, and
 * how many are drawn. */
struct count {
  enum { POISSON, BINOMIAL, NEGATIVE_BINOMIAL, HYPERGEOMETRIC } kind;
  double shape[3], mean, deviation, least, most;
};

static double log_count_tail(const struct count *c, double k, bool lower) {
  const double *const shape = c->shape;
  switch (c->kind) {
    case POISSON:
      return joist_incomplete_gamma(k + 1, shape[0], !lower, true);
    case BINOMIAL:
      return joist_incomplete_beta(k + 1, shape[0] - k, shape[1], !lower, true);
    case NEGATIVE_BINOMIAL:
      return joist_incomplete_beta(shape[0], k + 1, shape[1], lower, true);
    default:
      return joist_hypergeometric_share(shape[0], shape[1], shape[2], k, lower, true);
  }
}

/* The distribution is the same for many shares, which meet the same counts. */
static double recent_tail(const struct count *c, double k, bool lower) {
  enum { RECENT_BITS = 8 };
  static _Thread_local struct {
    uint64_t key[6]; /* begins with 0 where there is none */
    double value;
  } recent[1 << RECENT_BITS];
  const double asked[6] = {1 + c->kind, c->shape[0], c->shape[1], c->shape[2], k, lower};
  uint64_t key[6];
  memcpy(key, asked, sizeof key);
  const size_t at = (size_t)(joist_hash_word(lower, key[4]) * JOIST_GOLDEN >> (64 - RECENT_BITS));
  if (memcmp(recent[at].key, key, sizeof key) != 0) {
    recent[at].value = log_count_tail(c, k, lower);
    memcpy(recent[at].key, key, sizeof key);
  }
  return recent[at].value;
}

/* Whether k is enough, but for rounding. */
static bool is_reached(const struct count *c, double k, double below, double above) {
  const double fuzz = 64 * DBL_EPSILON;
  if (k >= c->most) return true;
  if (below < -LOG_TWO) return recent_tail(c, k, true) >= below - fuzz;
  return recent_tail(c, k, false) <= above + fuzz;
}

static double least_count(const struct count *c, double p, bool lower) {
  const double other = log_rest(p), below = lower ? p : other, above = lower ? other : p;
  if (below == -INFINITY || c->least == c->most) return c->least;
  if (above == -INFINITY) return c->most;
  const bool small = below < -LOG_TWO;
  const double guess = c->mean + c->deviation * rough_normal(small ? below : above, small);
  double step = 1 + floor(c->deviation * 0x1p-10), low = c->least - 1;
  double high = floor(guess < c->least ? c->least : guess > c->most ? c->most : guess);
  for (; !is_reached(c, high, below, above); step *= 2) {
    low = high;
    high = high + step < c->most ? high + step : c->most;
  }
  for (; low < c->least && high > c->least && high - step >= c->least; step *= 2) {
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
  const struct count c = {.kind = POISSON,
                          .shape = {mean},
                          .mean = mean,
                          .deviation = sqrt(mean),
                          .most = mean > 0 ? (double)INFINITY : 0};
  return least_count(&c, p, lower);
}

double joist_binomial_quantile(double size, double probability, double p, bool lower) {
  if (!(size >= 0 && p <= 0) || size == INFINITY || !(probability >= 0 && probability <= 1) ||
      floor(size) != size)
    return size != size || p != p || probability != probability ? size + p + probability
                                                                : (double)NAN;
  const double mean = size * probability;
  const struct count c = {.kind = BINOMIAL,
                          .shape = {size, probability},
                          .mean = mean,
                          .deviation = sqrt(mean * (1 - probability)),
                          .most = size};
  return least_count(&c, p, lower);
}

double joist_negative_binomial_quantile(double size, double probability, double p, bool lower) {
  if (!(size >= 0 && p <= 0) || size == INFINITY || !(probability > 0 && probability <= 1))
    return size != size || p != p || probability != probability ? size + p + probability
                                                                : (double)NAN;
  const double mean = size * ((1 - probability) / probability);
  const struct count c = {.kind = NEGATIVE_BINOMIAL,
                          .shape = {size, probability},
                          .mean = mean,
                          .deviation = sqrt(mean / probability),
                          .most = mean > 0 ? (double)INFINITY : 0};
  return least_count(&c, p, lower);
}

double joist_hypergeometric_quantile(double m, double n, double k, double p, bool lower) {
  if (p != p || !joist_hypergeometric_shapes(&m, &n, &k)) return m + n + k + p;
  if (p > 0) return NAN;
  const double all = m + n, mean = k * (m / (all > 0 ? all : 1));
  const double rest = (n / all) * ((all - k) / (all - 1));
  const struct count c = {.kind = HYPERGEOMETRIC,
                          .shape = {m, n, k},
                          .mean = mean,
                          .deviation = all > 1 ? sqrt(mean * rest) : 0,
                          .least = k > n ? k - n : 0,
                          .most = m < k ? m : k};
  return least_count(&c, p, lower);
}
