/* Quantiles of distributions, by the logarithm of a tail. */
#ifndef JOIST_CORE_OPS_DISTRIBUTIONS_QUANTILE_H
#define JOIST_CORE_OPS_DISTRIBUTIONS_QUANTILE_H

#include <stdbool.h>

/* Where an incomplete gamma or beta function has the logarithm p <= 0: x, or x and 1 - x. */
double joist_inverse_gamma(double a, double p, bool lower);
void joist_inverse_beta(double a, double b, double p, bool lower, double both[2]);

/* The least whole number up to which the lower tail has at least the logarithm p, or beyond which
 * the upper one has at most that. */
double joist_poisson_quantile(double mean, double p, bool lower);
double joist_binomial_quantile(double size, double probability, double p, bool lower);
double joist_negative_binomial_quantile(double size, double probability, double p, bool lower);
double joist_hypergeometric_quantile(double m, double n, double k, double p, bool lower);

#endif
