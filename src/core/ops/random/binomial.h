/* Binomial random numbers, exact for every size up to 2^53 and every probability.
 *
 * Below a mean of 10 the distribution function is inverted by adding up probabilities;
 * above, BTRS of Hörmann, "The generation of binomial random variates", J. Statist. Comput.
 * Simul. 46 (1993): a transformed ratio of uniforms with a squeeze. Probabilities are
 * compared as in Loader, "Fast and accurate computation of binomial probabilities" (2000),
 * by deviances, which do not cancel for large sizes. Includers are compiled without fused
 * multiply-adds, see vectorize.h. */
#ifndef JOIST_CORE_OPS_RANDOM_BINOMIAL_H
#define JOIST_CORE_OPS_RANDOM_BINOMIAL_H

#include "core/kernels/philox.h"
#include "core/kernels/random_element.h"

/* What is the same for all numbers of one size and probability. */
struct joist_binomial {
  double n, p, q;    /* p <= 1/2 */
  double size, prob; /* as given */
  bool inverted;
  double none, odds; /* inversion: the probability of 0, and p / q */
  double a, b, c, squeeze, alpha, mode_log;
};

/* Whether `most` or fewer trials can be drawn. */
JOIST_INLINE bool is_size(double size, double most) {
  return size >= 0 && size <= most && size == floor(size);
}
JOIST_INLINE bool is_probability(double prob) { return prob >= 0 && prob <= 1; }

/* ln(1 - p) for 0 <= p <= 1/2 */
JOIST_INLINE double log1m(double p) {
  const double s = p / (2.0 - p), z = s * s;
  double sum = 0;
  for (int k = 37; k >= 3; k -= 2) sum = (sum + 1.0 / k) * z;
  return -2.0 * (s + s * sum);
}

/* e^x for -50 <= x <= 0 */
JOIST_INLINE double exp_fine(double x) {
  double scale, sum = 1;
  const double r = reduce_exp(x, &scale);
  for (int k = 16; k >= 1; k--) sum = sum * r / k + 1.0;
  return scale * sum;
}

/* ln k! - ((k + 1/2) ln k - k + ln(2 pi) / 2), for whole k >= 1 */
JOIST_INLINE double stirling_rest(double k) {
  static const double small[15] = {
      0.081061466795327258220,  0.041340695955409294094,  0.027677925684998339149,
      0.020790672103765093112,  0.016644691189821192163,  0.013876128823070747999,
      0.011896709945891770095,  0.010411265261972096497,  0.0092554621827127329177,
      0.0083305634333628712565, 0.007573675487951840795,  0.0069428401072095298659,
      0.0064089941880042070684, 0.0059513701127588477356, 0.005554733551962801371};
  if (k < 16) return small[(int)k - 1];
  const double z = 1.0 / (k * k);
  return (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188))))) / k;
}

/* x ln(x / m) + m - x, which is 0 at x = m, for positive x and m */
JOIST_INLINE double deviance(double x, double m) {
  const double v = (x - m) / (x + m);
  if (v > 0.1 || v < -0.1) return x * log_fine(x / m) + (m - x);
  const double z = v * v;
  double sum = 0;
  for (int k = 19; k >= 3; k -= 2) sum = (sum + 1.0 / k) * z;
  return (x - m) * v + 2.0 * x * v * sum;
}

/* ln k! - k ln m + m */
JOIST_INLINE double log_term(double k, double m) {
  if (k == 0) return m;
  return deviance(k, m) + stirling_rest(k) + 0.5 * log_fine(6.28318530717958647692 * k);
}

/* The logarithm of the probability of k, but for a constant. */
JOIST_INLINE double binomial_log(const struct joist_binomial *d, double k) {
  return -log_term(k, d->n * d->p) - log_term(d->n - k, d->n * d->q);
}

/* `size` is whole, from 0 to 2^53; `prob` is from 0 to 1. */
JOIST_INLINE struct joist_binomial binomial_setup(double size, double prob) {
  struct joist_binomial d = {0, 0, 0, 0, 0, false, 0, 0, 0, 0, 0, 0, 0, 0};
  d.n = d.size = size;
  d.prob = prob;
  d.p = prob > 0.5 ? 1.0 - prob : prob;
  d.q = 1.0 - d.p;
  const double mean = size * d.p;
  d.inverted = mean < 10;
  if (mean == 0) {
    d.none = 1;
    return d;
  }
  if (d.inverted) {
    d.none = exp_fine(size * log1m(d.p));
    d.odds = d.p / d.q;
    return d;
  }
  const double sd = sqrt(mean * d.q);
  d.b = 1.15 + 2.53 * sd;
  d.a = -0.0873 + 0.0248 * d.b + 0.01 * d.p;
  d.c = mean + 0.5;
  d.squeeze = 0.92 - 4.2 / d.b;
  d.alpha = (2.83 + 5.1 / d.b) * sd;
  d.mode_log = binomial_log(&d, floor((size + 1.0) * d.p));
  return d;
}

/* Up to where probabilities are added: beyond, there is less than 2^-64 in all. */
#define MOST_ADDED 110
JOIST_INLINE double binomial_most(const struct joist_binomial *d) {
  return d->n < MOST_ADDED ? d->n : MOST_ADDED;
}

/* Adds up probabilities until they pass u; fails when rounding errors alone are left. */
JOIST_INLINE bool binomial_invert(const struct joist_binomial *d, double u, double *k) {
  const double most = binomial_most(d);
  double rest = u, probability = d->none, x = 0;
  while (rest >= probability) {
    if (x >= most) return false;
    rest -= probability;
    x += 1;
    probability *= (d->n - x + 1.0) / x * d->odds;
  }
  *k = x;
  return true;
}

/* The same, of a list of these probabilities. */
JOIST_INLINE void binomial_list(const struct joist_binomial *d, double listed[MOST_ADDED + 1]) {
  listed[0] = d->none;
  for (int x = 1; x <= binomial_most(d); x++)
    listed[x] = listed[x - 1] * ((d->n - x + 1.0) / x * d->odds);
}
JOIST_INLINE bool binomial_invert_listed(const struct joist_binomial *d, const double *listed,
                                         double u, double *k) {
  const int most = (int)binomial_most(d);
  double rest = u;
  int x = 0;
  while (rest >= listed[x]) {
    if (x >= most) return false;
    rest -= listed[x++];
  }
  *k = x;
  return true;
}

/* One attempt with a block of bits: true when it gave a number. The list is NULL if there is none.
 */
JOIST_INLINE bool binomial_attempt(const struct joist_binomial *d, const double *listed,
                                   struct joist_block bits, double *out) {
  const double first = unit_of_words(bits.word[0], bits.word[1]);
  double k;
  if (d->inverted) {
    if (!(listed != NULL ? binomial_invert_listed(d, listed, first, &k)
                         : binomial_invert(d, first, &k)))
      return false;
  } else {
    const double u = first - 0.5, v = 1.0 - unit_of_words(bits.word[2], bits.word[3]);
    const double us = 0.5 - fabs(u);
    k = floor((2.0 * d->a / us + d->b) * u + d->c);
    if (!(k >= 0 && k <= d->n)) return false;
    if ((us < 0.07 || v > d->squeeze) &&
        log_fine(v * d->alpha / (d->a / (us * us) + d->b)) > binomial_log(d, k) - d->mode_log)
      return false;
  }
  *out = d->prob > 0.5 ? d->n - k : k;
  return true;
}

#endif
