/* Logarithms of probabilities of single values, and what they are made of, without the cancellation
 * that sums of lgamma() have (C. Loader, Fast and accurate computation of binomial probabilities,
 * 2000). Errors are a few units in the last place of the largest term. */
#ifndef JOIST_CORE_OPS_DISTRIBUTIONS_MASS_H
#define JOIST_CORE_OPS_DISTRIBUTIONS_MASS_H

/* ln(1 + u) - u for u >= -1 */
double joist_log1p_rest(double u);

/* ln Gamma(1 + x) - (x + 1/2) ln x + x - ln sqrt(2 pi), for x > 0 */
double joist_stirling_error(double x);

/* ln(m^x e^-m / Gamma(1 + x)) for x, m >= 0 */
double joist_log_poisson(double x, double m);

/* ln(x^a y^b Gamma(1 + a + b) / (Gamma(1 + a) Gamma(1 + b))) for a, b >= 0 and x + y = 1 */
double joist_log_binomial(double a, double b, double x, double y);

/* ln(Gamma(a) Gamma(b) / Gamma(a + b)) for a, b >= 0, else NaN */
double joist_log_beta(double a, double b);

/* ln(Gamma(a + b) / Gamma(b)) for small a > 0 and b > 0 */
double joist_log_rise(double a, double b);

/* psi(a + b) - psi(b) for a, b > 0 */
double joist_digamma_rise(double a, double b);

/* ln x + psi(a + b) - psi(a), where x + y = 1, and ln x - psi(a), for a, b, x > 0 */
double joist_log_plus_rise(double a, double b, double x, double y);
double joist_log_over_digamma(double a, double x);

#endif
