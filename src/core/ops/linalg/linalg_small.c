/* Real matrices of few rows: Gaussian elimination with partial pivoting, whose loops cost less than
 * LAPACK's calls. Owns no memory and calls nothing, so that threads can share a batch. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/ops/linalg/linalg.h"

/* L and U in place of `a` (n x n, by columns), 1 / the diagonal of U, and the row that was swapped
 * with each. False if a pivot is 0 or not finite. */
static bool factorize(double *a, size_t n, double *inverse, size_t *pivots) {
  for (size_t k = 0; k < n; k++) {
    double *const column = a + k * n;
    size_t at = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(column[i]) > fabs(column[at])) at = i;
    const double pivot = column[at];
    if (pivot == 0 || !isfinite(pivot)) return false;
    pivots[k] = at;
    inverse[k] = 1 / pivot;
    if (at != k)
      for (size_t j = 0; j < n; j++) {
        const double other = a[j * n + at];
        a[j * n + at] = a[j * n + k];
        a[j * n + k] = other;
      }
    for (size_t i = k + 1; i < n; i++) column[i] /= pivot;
    for (size_t j = k + 1; j < n; j++) {
      double *const to = a + j * n;
      const double by = to[k];
      for (size_t i = k + 1; i < n; i++) to[i] -= column[i] * by;
    }
  }
  return true;
}

/* A bound of the largest sum of a row of |T^-1|, by the comparison matrix of a triangle T: N. J.
 * Higham (2002), Accuracy and Stability of Numerical Algorithms, section 8.2. */
static double bound(const double *a, size_t n, const double *inverse, bool upper) {
  double sums[JOIST_SMALL], most = 0;
  for (size_t step = 0; step < n; step++) {
    const size_t i = upper ? n - 1 - step : step;
    double sum = 1;
    for (size_t j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
      sum += fabs(a[j * n + i]) * sums[j];
    sums[i] = upper ? sum * fabs(inverse[i]) : sum;
    if (sums[i] > most) most = sums[i];
  }
  return most;
}

static void substitute(const double *a, size_t n, const size_t *pivots, double *x) {
  for (size_t k = 0; k < n; k++) {
    const double other = x[pivots[k]];
    x[pivots[k]] = x[k];
    x[k] = other;
  }
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) x[i] -= a[j * n + i] * x[j];
  for (size_t j = n; j-- > 0;) {
    x[j] /= a[j * n + j];
    for (size_t i = 0; i < j; i++) x[i] -= a[j * n + i] * x[j];
  }
}

bool joist_small_linear(const struct joist_problem *problem) {
  const size_t n = (size_t)problem->n;
  const size_t columns = problem->b != NULL ? (size_t)problem->columns : n;
  double inverse[JOIST_SMALL], norm = 0;
  size_t pivots[JOIST_SMALL];
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += fabs(problem->a[j * n + i]);
    if (!(sum <= norm)) norm = sum;
  }
  if (!isfinite(norm) || !factorize(problem->a, n, inverse, pivots)) return false;
  /* Norms of rows and columns differ by a factor of at most n, as do those of the inverse. */
  const double size = (double)n;
  const double condition = norm * bound(problem->a, n, inverse, true) *
                           bound(problem->a, n, inverse, false) * size * size;
  if (!(condition < 0.5 / fmax(DBL_EPSILON, joist_least_condition(problem)))) return false;
  if (problem->b != NULL) {
    memcpy(problem->out, problem->b, n * columns * sizeof(double));
  } else {
    memset(problem->out, 0, n * n * sizeof(double));
    for (size_t j = 0; j < n; j++) problem->out[j * (n + 1)] = 1;
  }
  for (size_t j = 0; j < columns; j++) substitute(problem->a, n, pivots, problem->out + j * n);
  return true;
}

bool joist_small_det(const struct joist_problem *problem) {
  const size_t n = (size_t)problem->n;
  double inverse[JOIST_SMALL], product = 1;
  size_t pivots[JOIST_SMALL];
  if (!factorize(problem->a, n, inverse, pivots)) return false;
  for (size_t k = 0; k < n; k++)
    product *= pivots[k] != k ? -problem->a[k * (n + 1)] : problem->a[k * (n + 1)];
  problem->out[0] = product;
  return true;
}
