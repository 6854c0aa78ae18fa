/* Functions of distributions against values computed with 40 digits (distribution_values.def), and
 * quantiles against the functions whose inverses they are. */
#include <math.h>

#include "check.h"
#include "core/ops/distributions/mass.h"
#include "core/ops/distributions/quantile.h"
#include "core/ops/distributions/tail.h"

#define EPSILON 0x1p-52

enum function {
  GAMMA_LOWER,
  GAMMA_UPPER,
  BETA_LOWER,
  BETA_UPPER,
  LOG_BETA,
  POISSON,
  BINOMIAL,
  FUNCTIONS
};
static const char *const names[FUNCTIONS] = {"gamma, lower", "gamma, upper", "beta, lower",
                                             "beta, upper",  "log_beta",     "log_poisson",
                                             "log_binomial"};
static double worst[FUNCTIONS];

static const struct {
  enum function f;
  double a, b, c, d, value;
} values[] = {
#define VALUE(F, A, B, C, D, V) {F, A, B, C, D, V},
#define SLOPES(F, A, B, C, BY_A, BY_B)
#include "distribution_values.def"
#undef VALUE
#undef SLOPES
};

static const struct {
  enum function f;
  double a, b, c, slope[2];
} slopes[] = {
#define VALUE(F, A, B, C, D, V)
#define SLOPES(F, A, B, C, BY_A, BY_B) {F, A, B, C, {BY_A, BY_B}},
#include "distribution_values.def"
};

static double logarithm(enum function f, double a, double b, double c) {
  switch (f) {
    case GAMMA_LOWER:
    case GAMMA_UPPER:
      return joist_incomplete_gamma(a, b, f == GAMMA_LOWER, true);
    case BETA_LOWER:
    case BETA_UPPER:
      return joist_incomplete_beta(a, b, c, f == BETA_LOWER, true);
    case LOG_BETA:
      return joist_log_beta(a, b);
    case POISSON:
      return joist_log_poisson(a, b);
    default:
      return joist_log_binomial(a, b, c, 1 - c);
  }
}

/* The other tail is what this one lacks of 1. */
static void check_tails(enum function f, double a, double b, double c, double value) {
  const bool beta = f == BETA_LOWER || f == BETA_UPPER;
  const bool lower = f == GAMMA_LOWER || f == BETA_LOWER;
  const double own = beta ? joist_incomplete_beta(a, b, c, lower, false)
                          : joist_incomplete_gamma(a, b, lower, false);
  const double other = beta ? joist_incomplete_beta(a, b, c, !lower, false)
                            : joist_incomplete_gamma(a, b, !lower, false);
  const double want = exp(value), bound = 64 * EPSILON * (1 + fabs(value));
  CHECK_MSG(fabs(own - want) <= bound * want, "%s(%a, %a, %a): want %a, got %a", names[f], a, b, c,
            want, own);
  CHECK_MSG(fabs(other + expm1(value)) <= bound * want + EPSILON, "%s(%a, %a, %a), the other: %a",
            names[f], a, b, c, other);
}

static void check_values(void) {
  for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
    const enum function f = values[k].f;
    const double a = values[k].a, b = values[k].b, c = values[k].c, want = values[k].value;
    const double got = logarithm(f, a, b, c), error = fabs(got - want) / fmax(1, fabs(want));
    if (error > worst[f]) worst[f] = error;
    CHECK_MSG(error <= 64 * EPSILON, "%s(%a, %a, %a): want %.17g, got %.17g", names[f], a, b, c,
              want, got);
    if (f <= BETA_UPPER) check_tails(f, a, b, c, want);
  }
}

static void slopes_of(enum function f, double a, double b, double c, bool lower, double *got) {
  got[1] = 0;
  if (f == GAMMA_LOWER || f == GAMMA_UPPER)
    got[0] = joist_incomplete_gamma_slope(a, b, lower);
  else
    joist_incomplete_beta_slopes(a, b, c, lower, got);
}

/* Of logarithms; those of one tail are those of the other, but for their shares. */
static void check_slopes(void) {
  double largest = 0;
  for (size_t k = 0; k < sizeof slopes / sizeof *slopes; k++) {
    const enum function f = slopes[k].f;
    const double a = slopes[k].a, b = slopes[k].b, c = slopes[k].c;
    const bool lower = f == GAMMA_LOWER || f == BETA_LOWER;
    const double log_share = logarithm(f, a, b, c), ratio = -1 / expm1(-log_share);
    double got[2], other[2];
    slopes_of(f, a, b, c, lower, got);
    slopes_of(f, a, b, c, !lower, other);
    for (int j = 0; j < 2; j++) {
      const double want = slopes[k].slope[j], error = fabs(got[j] - want) / fabs(want);
      if (want == 0) continue;
      if (error > largest) largest = error;
      CHECK_MSG(error <= 1e-11, "%s(%a, %a, %a), slope %d: want %.17g, got %.17g", names[f], a, b,
                c, j, want, got[j]);
      const double turned = want * ratio;
      CHECK_MSG(fabs(other[j] - turned) <= 1e-10 * fabs(turned) || fabs(log_share) < 1e-3,
                "%s(%a, %a, %a), the other slope %d: want %.17g, got %.17g", names[f], a, b, c, j,
                turned, other[j]);
    }
  }
  printf("slopes: at most %.1e\n", largest);
  double none[2];
  slopes_of(BETA_LOWER, 0, 1, 0.5, true, none);
  CHECK(none[0] != none[0] && none[1] != none[1]);
  slopes_of(BETA_LOWER, 2, 3, 1, true, none);
  CHECK(none[0] == 0 && none[1] == 0);
  slopes_of(GAMMA_LOWER, 2, INFINITY, 0, true, none);
  CHECK(none[0] == 0);
  slopes_of(GAMMA_LOWER, -1, 2, 0, true, none);
  CHECK(none[0] != none[0]);
}

static void check_quantiles(void) {
  static const double shapes[] = {0.02, 0.2, 0.5, 1, 3, 40, 500, 1e5};
  static const double logs[] = {-1e-9, -1e-3, -0.1, -0.6931, -2, -30, -183, -600, -1000};
  enum { SHAPES = sizeof shapes / sizeof *shapes, LOGS = sizeof logs / sizeof *logs };
  for (int i = 0; i < SHAPES; i++)
    for (int k = 0; k < LOGS; k++)
      for (int lower = 0; lower < 2; lower++) {
        const double a = shapes[i], p = logs[k], x = joist_inverse_gamma(a, p, lower);
        /* Beyond the smallest doubles, and where a tail says more than x can. */
        const double up = joist_incomplete_gamma(a, x * (1 + 4 * EPSILON), lower, true);
        const double down = joist_incomplete_gamma(a, x * (1 - 4 * EPSILON), lower, true);
        const double off = 32 * EPSILON * fmax(1, fabs(p));
        if (x > 1e-300)
          CHECK_MSG(fmin(up, down) - off <= p && p <= fmax(up, down) + off,
                    "inverse_gamma(%g, %g): %.17g", a, p, x);
        for (int j = 0; j < SHAPES; j++) {
          double both[2];
          joist_inverse_beta(a, shapes[j], p, lower, both);
          const double b = shapes[j], y = both[0];
          CHECK(both[0] == 1 - both[1] || both[1] == 1 - both[0] || both[0] != both[0]);
          const double least = fmax(y - 4 * EPSILON * fmin(y, 1 - y) - EPSILON * (y > 0.5), 0);
          const double most = fmin(y + 4 * EPSILON * fmin(y, 1 - y) + EPSILON * (y > 0.5), 1);
          const double below = joist_incomplete_beta(a, b, least, lower, true);
          const double above = joist_incomplete_beta(a, b, most, lower, true);
          if (y > 1e-300)
            CHECK_MSG(fmin(below, above) - off <= p && p <= fmax(below, above) + off,
                      "inverse_beta(%g, %g, %g): %.17g", a, b, p, y);
        }
      }
}

/* By sums of probabilities. */
static void check_counts(void) {
  for (int n = 1; n <= 60; n += 7) {
    double binomial = 0, poisson = 0;
    for (int k = 0; k < n; k++) {
      binomial += exp(joist_log_binomial(k, n - k, 0.3, 0.7));
      poisson += exp(joist_log_poisson(k, n));
      /* Just below the share of k, and just above it. */
      for (int more = 0; more < 2; more++) {
        const double by = more ? 1e-9 : -1e-9;
        if (binomial < 1 - 1e-6) {
          const double got = joist_binomial_quantile(n, 0.3, log(binomial * (1 + by)), true);
          CHECK_MSG(got == k + more, "binomial quantile of %d: %g, not %d", n, got, k + more);
        }
        const double got = joist_poisson_quantile(n, log(poisson * (1 + by)), true);
        CHECK_MSG(got == k + more, "Poisson quantile of %d: %g, not %d", n, got, k + more);
        const double upper = joist_poisson_quantile(n, log1p(-poisson * (1 + by)), false);
        if (poisson > 1e-6) CHECK_MSG(upper == k + more, "upper quantile of %d: %g", n, upper);
      }
    }
  }
  CHECK(joist_poisson_quantile(1e12, log(0.5), true) == 1e12);
  CHECK(joist_binomial_quantile(1e9, 0.5, log(0.5), true) == 5e8);
}

/* The probability of k of a negative binomial number of size 2.5, and of a hypergeometric one. */
static double negative_binomial(double k) {
  return exp(joist_log_binomial(2.5, k, 0.3, 0.7)) * 2.5 / (2.5 + k);
}
static double hypergeometric(double m, double n, double k, double x) {
  return exp(joist_log_binomial(x, m - x, 0.5, 0.5) +
             joist_log_binomial(k - x, n - k + x, 0.5, 0.5) -
             joist_log_binomial(k, m + n - k, 0.5, 0.5));
}

static void check_more_counts(void) {
  double sum = 0;
  for (int k = 0; k < 60; k++) {
    sum += negative_binomial(k);
    for (int more = 0; more < 2 && sum < 1 - 1e-6; more++) {
      const double by = more ? 1e-9 : -1e-9;
      const double got = joist_negative_binomial_quantile(2.5, 0.3, log(sum * (1 + by)), true);
      const double upper =
          joist_negative_binomial_quantile(2.5, 0.3, log1p(-sum * (1 + by)), false);
      CHECK_MSG(got == k + more && upper == got, "negative binomial quantile: %g, %g", got, upper);
    }
  }
  static const double balls[][3] = {{30, 40, 20}, {5, 3, 6}, {200, 10, 100}, {1, 1000, 1}};
  for (int j = 0; j < 4; j++) {
    const double m = balls[j][0], n = balls[j][1], k = balls[j][2], most = m < k ? m : k;
    double below = 0;
    for (double x = k > n ? k - n : 0; x <= most; x++) {
      below += hypergeometric(m, n, k, x);
      const double got = joist_hypergeometric_share(m, n, k, x, true, false);
      CHECK_MSG(fabs(got - below) <= 1e-12 * below, "hypergeometric share of %g: %.17g, not %.17g",
                x, got, below);
      const double rest = joist_hypergeometric_share(m, n, k, x, false, true);
      CHECK(fabs(exp(rest) - (1 - below)) <= 1e-12);
      for (int more = 0; more < 2 && below < 1 - 1e-6; more++) {
        const double p = below * (1 + (more ? 1e-9 : -1e-9));
        const double count = joist_hypergeometric_quantile(m, n, k, log(p), true);
        const double upper = joist_hypergeometric_quantile(m, n, k, log1p(-p), false);
        CHECK_MSG(count == x + more && upper == count, "hypergeometric quantile: %g, %g", count,
                  upper);
      }
    }
  }
  CHECK(joist_negative_binomial_quantile(3, 1, 0, true) == 0);
  CHECK(joist_negative_binomial_quantile(3, 0.5, 0, true) == INFINITY);
  CHECK(isnan(joist_hypergeometric_quantile(3, 2, 6, -1, true)));
  CHECK(isnan(joist_hypergeometric_share(3.5, 2, 1, 1, true, false)));
  CHECK(isnan(joist_hypergeometric_share(1e300, 1e300, 1e300, 5e299, true, false)));
  CHECK(isnan(joist_hypergeometric_quantile(3, 2, 1, 1, true)));
}

int main(void) {
  check_values();
  check_slopes();
  check_quantiles();
  check_counts();
  check_more_counts();
  for (int f = 0; f < FUNCTIONS; f++)
    printf("%s: at most %.2f epsilon\n", names[f], worst[f] / EPSILON);
  return check_report("distributions");
}
