/* Distribution functions: the share of one tail of a distribution, and where it has that share. */
#ifndef JOIST_CORE_OPS_DISTRIBUTIONS_TAIL_H
#define JOIST_CORE_OPS_DISTRIBUTIONS_TAIL_H

#include <stdbool.h>

/* The regularized incomplete gamma and beta functions (NIST DLMF 8.2.4, 8.17.2) of any numbers:
 * the one tail, or the other. NaN for negative shapes. */
double joist_incomplete_gamma(double a, double x, bool lower, bool logarithm);
double joist_incomplete_beta(double a, double b, double x, bool lower, bool logarithm);

/* The logarithms of tails of positive shapes where there is something on both sides of x, and of
 * joist_log_poisson(a, x) and joist_log_binomial(a, b, x, 1 - x). */
double joist_gamma_tail(double a, double x, bool lower, double *log_poisson);
double joist_beta_tail(double a, double b, double x, bool lower, double *log_binomial);

/* How the logarithm of that tail changes with the shapes. */
double joist_incomplete_gamma_slope(double a, double x, bool lower);
void joist_incomplete_beta_slopes(double a, double b, double x, bool lower, double slopes[2]);

/* The share of up to x white balls, or of more, among k balls of m white and n black ones; NaN if
 * these are not whole numbers, up to rounding, which they become. */
double joist_hypergeometric_share(double m, double n, double k, double x, bool lower,
                                  bool logarithm);
bool joist_hypergeometric_shapes(double *m, double *n, double *k);

#endif
