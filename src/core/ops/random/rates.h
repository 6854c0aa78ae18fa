/* Exponential, gamma and Poisson random numbers of one element.
 *
 * Gamma numbers are made as by Marsaglia and Tsang, "A simple method for generating gamma
 * variables", ACM TOMS 26 (2000); below a shape of 1 as numbers of the next shape times a power of
 * a uniform number. Poisson numbers below a mean of 10 invert the distribution function by adding
 * up probabilities; above, they are made by PTRS of Hörmann, "The transformed rejection method for
 * generating Poisson random variables", Insurance: Mathematics and Economics 12 (1993). Every
 * element draws from its own blocks. Includers are compiled without fused multiply-adds, see
 * vectorize.h. */
#ifndef JOIST_CORE_OPS_RANDOM_RATES_H
#define JOIST_CORE_OPS_RANDOM_RATES_H

#include "core/ops/random/binomial.h"

/* Whether it is one: Inf is. */
JOIST_INLINE bool is_rate(double rate) { return rate >= 0; }

/* ---- exponential numbers ---- */

JOIST_INLINE double exponential_of_words(uint32_t low, uint32_t high, double rate) {
  if (rate == 0) return (double)INFINITY;
  return (0.0 - log_fine(open_unit_of_words(low, high))) / rate;
}

/* ---- gamma numbers ---- */

/* What is the same for all numbers of one shape. */
struct joist_gamma {
  double shape, d, c;
};

JOIST_INLINE struct joist_gamma gamma_setup(double shape) {
  const double d = (shape < 1 ? shape + 1.0 : shape) - 1.0 / 3;
  return (struct joist_gamma){shape, d, 1.0 / sqrt(9.0 * d)};
}

/* ln(1 + t) - t + t^2 / 2 - t^3 / 3, for t > -1: the series near 0, where the terms cancel. */
JOIST_INLINE double log1p_rest(double t) {
  if (t > 0.1 || t < -0.1) return log_fine(1.0 + t) - t + t * t * (0.5 - t / 3);
  double sum = 0;
  for (int k = 20; k >= 4; k--) sum = 1.0 / k - t * sum;
  return -(t * t) * (t * t) * sum;
}

/* e^x for x <= 0 */
JOIST_INLINE double exp_below(double x) {
  if (x >= -50) return exp_fine(x);
  if (x < -1500) return 0;
  double power = exp_fine(x / 32);
  for (int k = 0; k < 5; k++) power *= power;
  return power;
}

/* From a normal number and a block of bits: true when they gave a number. */
JOIST_INLINE bool gamma_of(const struct joist_gamma *g, double x, struct joist_block other,
                           double *out) {
  const double t = g->c * x, v = 1.0 + t;
  if (!(v > 0)) return false;
  const double u = open_unit_of_words(other.word[0], other.word[1]);
  /* ln u < x^2 / 2 + d (1 - v^3 + 3 ln v), with x^2 = 9 d t^2 */
  if (!(u < 1.0 - 0.0331 * (x * x) * (x * x)) && !(log_fine(u) < 3.0 * g->d * log1p_rest(t)))
    return false;
  *out = g->d * (v * v * v);
  if (g->shape < 1)
    *out *= exp_below(log_fine(open_unit_of_words(other.word[2], other.word[3])) / g->shape);
  return true;
}

/* Attempt number `attempt`, of two blocks. */
JOIST_INLINE bool gamma_attempt(const struct joist_gamma *g, const struct joist_stream *stream,
                                uint64_t element, uint32_t attempt, double *out) {
  const struct joist_block one = element_block(stream, element, 2 * attempt);
  const struct joist_block other = element_block(stream, element, 2 * attempt + 1);
  return gamma_of(g, normal_wide(one.word[0], one.word[1], one.word[2], one.word[3]).first, other,
                  out);
}

/* ---- Poisson numbers ---- */

/* The largest rate whose numbers are up to `most`, but for less than one in 10^30. */
JOIST_INLINE bool is_poisson_rate(double rate, double most) {
  return rate >= 0 && rate + 12.0 * sqrt(rate) + 40.0 <= most;
}

/* What is the same for all numbers of one rate. */
struct joist_poisson {
  double rate;
  bool inverted;
  double none; /* inversion: the probability of 0 */
  double a, b, alpha, squeeze;
};

JOIST_INLINE struct joist_poisson poisson_setup(double rate) {
  struct joist_poisson p = {rate, rate < 10, 0, 0, 0, 0, 0};
  if (p.inverted) {
    p.none = exp_fine(-rate);
    return p;
  }
  p.b = 0.931 + 2.53 * sqrt(rate);
  p.a = -0.059 + 0.02483 * p.b;
  p.alpha = 1.1239 + 1.1328 / (p.b - 3.4);
  p.squeeze = 0.9277 - 3.6224 / (p.b - 2.0);
  return p;
}

/* Adds up probabilities until they pass u; fails when rounding errors alone are left. */
JOIST_INLINE bool poisson_invert(const struct joist_poisson *p, double u, double *k) {
  double rest = u, probability = p->none, x = 0;
  while (rest >= probability) {
    if (x >= 110) return false;
    rest -= probability;
    x += 1;
    probability *= p->rate / x;
  }
  *k = x;
  return true;
}

/* One attempt with a block of bits: true when it gave a number. */
JOIST_INLINE bool poisson_attempt(const struct joist_poisson *p, struct joist_block bits,
                                  double *out) {
  const double first = unit_of_words(bits.word[0], bits.word[1]);
  if (p->inverted) return poisson_invert(p, first, out);
  const double u = first - 0.5, v = 1.0 - unit_of_words(bits.word[2], bits.word[3]);
  const double us = 0.5 - fabs(u);
  const double k = floor((2.0 * p->a / us + p->b) * u + p->rate + 0.43);
  *out = k;
  if (us >= 0.07 && v <= p->squeeze) return true;
  if (!(k >= 0 && k < 0x1p53) || (us < 0.013 && v > us)) return false;
  return log_fine(v * p->alpha / (p->a / (us * us) + p->b)) <= -log_term(k, p->rate);
}

#endif
