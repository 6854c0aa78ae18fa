/* Distribution functions: the share of one tail of a distribution, and where it has that share. */
#ifndef JOIST_CORE_OPS_DISTRIBUTIONS_TAIL_H
#define JOIST_CORE_OPS_DISTRIBUTIONS_TAIL_H

#include <stdbool.h>

/* The tail that is computed is e^scale times the factor, the other one what it lacks of 1: so
 * logarithms are known where shares underflow. */
struct joist_tail {
  double scale, factor;
  bool lower;
};

/* The tail asked for, or its logarithm. */
double joist_tail_value(struct joist_tail tail, bool lower, bool logarithm);

/* Of the gamma distribution of shape a > 0, at 0 < x < Inf. */
struct joist_tail joist_gamma_tail(double a, double x);
/* Of the beta distribution of shapes a, b > 0, at 0 < x < 1, with y = 1 - x. */
struct joist_tail joist_beta_tail(double a, double b, double x, double y);

/* e^40 times the largest element that is left out is the first one. The integral of e^g from 0 on
 * where g(0) = 0, g'(0) = -slope and g''(0) = -curvature, up to `most`; g is called with the two
 * numbers `shape` of the distribution. */
typedef double joist_log_ratio(const double *shape, double t);
double joist_tail_integral(joist_log_ratio *g, const double *shape, double slope, double curvature,
                           double most);

/* The regularized incomplete gamma and beta functions (NIST DLMF 8.2.4, 8.17.2) of any numbers:
 * the one tail, or the other. NaN for negative shapes. */
double joist_incomplete_gamma(double a, double x, bool lower, bool logarithm);
double joist_incomplete_beta(double a, double b, double x, bool lower, bool logarithm);

#endif
