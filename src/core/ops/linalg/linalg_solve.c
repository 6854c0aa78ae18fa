/* Triangular factors, linear equations and determinants. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops/linalg/blas.h"
#include "core/ops/linalg/linalg.h"
#include "core/types/error.h"

static bool given(const struct joist_problem *problem, joist_attribute_name flag) {
  return joist_attribute_flag(problem->attributes, flag);
}

joist_status joist_solve_chol(const struct joist_problem *problem, struct joist_error *error) {
  const bool lower = given(problem, JOIST_ATTRIBUTE_LOWER);
  const int n = problem->n;
  int info = 0;
  joist_lapack.potrf(lower ? "L" : "U", &n, problem->a, &n, &info, 1);
  /* Some libraries go on with the root of NaN. */
  for (int k = 0; k < n && info == 0; k++)
    if (!isfinite(problem->a[(size_t)k * ((size_t)n + 1)])) info = k + 1;
  if (info > 0)
    return JOIST_FAIL(error, JOIST_E_NOT_POSITIVE_DEFINITE, .count = {(size_t)info},
                      .batch = problem->batch);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const size_t at = (size_t)j * (size_t)n + (size_t)i;
      problem->out[at] = (lower ? i >= j : i <= j) ? problem->a[at] : 0;
    }
  return JOIST_OK;
}

/* The largest sum of absolute values of a column. */
static double norm_of(const struct joist_problem *problem) {
  double norm = 0;
  for (int j = 0; j < problem->n; j++) {
    double sum = 0;
    for (int i = 0; i < problem->n; i++)
      sum += fabs(problem->a[(size_t)j * (size_t)problem->n + (size_t)i]);
    if (sum > norm) norm = sum;
  }
  return norm;
}

/* The right sides become the solution, or the columns of the identity the inverse. */
static void load_right_sides(const struct joist_problem *problem) {
  const size_t n = (size_t)problem->n;
  if (problem->b != NULL) {
    memcpy(problem->out, problem->b, n * (size_t)problem->columns * sizeof(double));
    return;
  }
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) problem->out[j * n + i] = i == j;
}

/* As R's solve() does, a matrix whose inverse would have no correct digit is an error. */
joist_status joist_solve_linear(const struct joist_problem *problem, struct joist_error *error) {
  const int n = problem->n, columns = problem->b != NULL ? problem->columns : n;
  const double norm = norm_of(problem);
  double reciprocal = 1;
  int info = 0, *integers = NULL;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  double *const work = joist_scratch(4 * (size_t)n, 2 * (size_t)n, &integers);
  if (work == NULL) return joist_no_memory(error);
  int *const pivots = integers + n;
  joist_lapack.getrf(&n, &n, problem->a, &n, pivots, &info);
  if (info > 0) {
    status = JOIST_FAIL(error, JOIST_E_SINGULAR, .count = {(size_t)info}, .batch = problem->batch);
  } else {
    joist_lapack.gecon("1", &n, problem->a, &n, &norm, &reciprocal, work, integers, &info, 1);
    if (reciprocal < DBL_EPSILON)
      status = JOIST_FAIL(error, JOIST_E_NEARLY_SINGULAR, .number = {reciprocal},
                          .batch = problem->batch);
  }
  if (status == JOIST_OK) {
    load_right_sides(problem);
    joist_lapack.getrs("N", &n, &columns, problem->a, &n, pivots, problem->out, &n, &info, 1);
  }
  free(work);
  return status;
}

joist_status joist_solve_triangular(const struct joist_problem *problem,
                                    struct joist_error *error) {
  const int n = problem->n;
  int info = 0;
  load_right_sides(problem);
  joist_lapack.trtrs(given(problem, JOIST_ATTRIBUTE_LOWER) ? "L" : "U",
                     given(problem, JOIST_ATTRIBUTE_TRANSPOSE) ? "T" : "N",
                     given(problem, JOIST_ATTRIBUTE_UNIT_DIAGONAL) ? "U" : "N", &n,
                     &problem->columns, problem->a, &n, problem->out, &n, &info, 1, 1, 1);
  if (info > 0)
    return JOIST_FAIL(error, JOIST_E_SINGULAR_TRIANGLE, .count = {(size_t)info},
                      .batch = problem->batch);
  return JOIST_OK;
}

/* The factors on the diagonal of U, with the signs of the rows' swaps: their product, or its sign
 * and the logarithm of its absolute value. */
struct factors {
  double product, sign, logarithm;
};

static joist_status factorize(const struct joist_problem *problem, struct factors *factors,
                              struct joist_error *error) {
  const int n = problem->n;
  int info = 0, *pivots = NULL;
  double *const work = joist_scratch(0, (size_t)n, &pivots);
  if (work == NULL) return joist_no_memory(error);
  if (n > 0) joist_lapack.getrf(&n, &n, problem->a, &n, pivots, &info);
  *factors = (struct factors){1, 1, 0};
  for (int k = 0; k < n; k++) {
    const double u = problem->a[(size_t)k * ((size_t)n + 1)];
    const bool swapped = pivots[k] != k + 1;
    if ((u < 0) != swapped) factors->sign = -factors->sign;
    factors->logarithm += log(fabs(u));
    factors->product *= swapped ? -u : u;
  }
  free(work);
  return JOIST_OK;
}

joist_status joist_solve_det(const struct joist_problem *problem, struct joist_error *error) {
  struct factors factors;
  const joist_status status = factorize(problem, &factors, error);
  if (status == JOIST_OK) problem->out[0] = factors.product;
  return status;
}

/* out: sign, logarithm. */
joist_status joist_solve_determinant(const struct joist_problem *problem,
                                     struct joist_error *error) {
  struct factors factors;
  const joist_status status = factorize(problem, &factors, error);
  if (status != JOIST_OK) return status;
  problem->out[0] = factors.sign;
  problem->out[1] = factors.logarithm;
  return JOIST_OK;
}
