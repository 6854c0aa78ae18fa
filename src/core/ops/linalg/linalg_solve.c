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

static double modulus(const struct joist_problem *problem, const double *number) {
  return problem->pairs ? hypot(number[0], number[1]) : fabs(number[0]);
}

joist_status joist_solve_chol(const struct joist_problem *problem, struct joist_error *error) {
  const bool lower = given(problem, JOIST_ATTRIBUTE_LOWER);
  const int n = problem->n;
  const size_t width = (size_t)1 << problem->pairs;
  int info = 0;
  joist_lapack.potrf[problem->pairs](lower ? "L" : "U", &n, problem->a, &n, &info, 1);
  /* Some libraries go on with the root of NaN. */
  for (int k = 0; k < n && info == 0; k++)
    if (!isfinite(problem->a[(size_t)k * ((size_t)n + 1) * width])) info = k + 1;
  if (info > 0)
    return JOIST_FAIL(error, JOIST_E_NOT_POSITIVE_DEFINITE, .count = {(size_t)info},
                      .batch = problem->batch);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const size_t at = ((size_t)j * (size_t)n + (size_t)i) * width;
      for (size_t part = 0; part < width; part++)
        problem->out[at + part] = (lower ? i >= j : i <= j) ? problem->a[at + part] : 0;
    }
  return JOIST_OK;
}

/* The largest sum of absolute values of a column. */
static double norm_of(const struct joist_problem *problem) {
  double norm = 0;
  const double *at = problem->a;
  for (int j = 0; j < problem->n; j++) {
    double sum = 0;
    for (int i = 0; i < problem->n; i++, at += 1 << problem->pairs) sum += modulus(problem, at);
    if (sum > norm) norm = sum;
  }
  return norm;
}

/* The right sides become the solution, or the columns of the identity the inverse. */
static void load_right_sides(const struct joist_problem *problem) {
  const size_t n = (size_t)problem->n, width = (size_t)1 << problem->pairs;
  if (problem->b != NULL) {
    memcpy(problem->out, problem->b, n * (size_t)problem->columns * width * sizeof(double));
    return;
  }
  memset(problem->out, 0, n * n * width * sizeof(double));
  for (size_t j = 0; j < n; j++) problem->out[j * (n + 1) * width] = 1;
}

double joist_least_condition(const struct joist_problem *problem) {
  const bool known = joist_attributes_find(problem->attributes, JOIST_ATTRIBUTE_FROM) != NULL;
  return known ? joist_attribute_number(problem->attributes, JOIST_ATTRIBUTE_FROM) : DBL_EPSILON;
}

/* As R's solve() does, a matrix whose inverse would have no correct digit is an error. */
joist_status joist_solve_linear(const struct joist_problem *problem, struct joist_error *error) {
  const int n = problem->n, columns = problem->b != NULL ? problem->columns : n;
  const int kind = problem->pairs;
  const double norm = norm_of(problem);
  double reciprocal = 1;
  int info = 0, *integers = NULL;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  double *const work = joist_scratch(6 * (size_t)n, 2 * (size_t)n, &integers);
  if (work == NULL) return joist_no_memory(error);
  int *const pivots = integers + n;
  void *const more = kind == 1 ? (void *)(work + 4 * (size_t)n) : (void *)integers;
  joist_lapack.getrf[kind](&n, &n, problem->a, &n, pivots, &info);
  if (info > 0) {
    status = JOIST_FAIL(error, JOIST_E_SINGULAR, .count = {(size_t)info}, .batch = problem->batch);
  } else {
    joist_lapack.gecon[kind]("1", &n, problem->a, &n, &norm, &reciprocal, work, more, &info, 1);
    if (reciprocal < joist_least_condition(problem))
      status = JOIST_FAIL(error, JOIST_E_NEARLY_SINGULAR, .number = {reciprocal},
                          .batch = problem->batch);
  }
  if (status == JOIST_OK) {
    load_right_sides(problem);
    joist_lapack.getrs[kind]("N", &n, &columns, problem->a, &n, pivots, problem->out, &n, &info, 1);
  }
  free(work);
  return status;
}

joist_status joist_solve_triangular(const struct joist_problem *problem,
                                    struct joist_error *error) {
  const int n = problem->n;
  int info = 0;
  load_right_sides(problem);
  joist_lapack.trtrs[problem->pairs](given(problem, JOIST_ATTRIBUTE_LOWER) ? "L" : "U",
                                     given(problem, JOIST_ATTRIBUTE_TRANSPOSE) ? "T" : "N",
                                     given(problem, JOIST_ATTRIBUTE_UNIT_DIAGONAL) ? "U" : "N", &n,
                                     &problem->columns, problem->a, &n, problem->out, &n, &info, 1,
                                     1, 1);
  if (info > 0)
    return JOIST_FAIL(error, JOIST_E_SINGULAR_TRIANGLE, .count = {(size_t)info},
                      .batch = problem->batch);
  return JOIST_OK;
}

/* The factors on the diagonal of U, with the signs of the rows' swaps: their product, or its sign
 * (of modulus 1) and the logarithm of its absolute value. Of real ones the imaginary part is 0. */
struct factors {
  joist_c128 product, sign;
  double logarithm;
};

static joist_c128 element(const struct joist_problem *problem, size_t at) {
  return problem->pairs ? ((const joist_c128 *)(const void *)problem->a)[at] : problem->a[at];
}

static joist_status factorize(const struct joist_problem *problem, struct factors *factors,
                              struct joist_error *error) {
  const int n = problem->n;
  int info = 0, *pivots = NULL;
  double *const work = joist_scratch(0, (size_t)n, &pivots);
  if (work == NULL) return joist_no_memory(error);
  if (n > 0) joist_lapack.getrf[problem->pairs](&n, &n, problem->a, &n, pivots, &info);
  *factors = (struct factors){1, 1, 0};
  for (int k = 0; k < n; k++) {
    const joist_c128 u = element(problem, (size_t)k * ((size_t)n + 1));
    const double size = problem->pairs ? cabs(u) : fabs(creal(u));
    const int swap = pivots[k] != k + 1 ? -1 : 1;
    factors->logarithm += log(size);
    if (problem->pairs) {
      factors->sign *= size > 0 ? swap * (u / size) : 0;
      factors->product *= swap * u;
    } else {
      factors->sign = creal(factors->sign) * (creal(u) < 0 ? -swap : swap);
      factors->product = creal(factors->product) * (swap * creal(u));
    }
  }
  if (info > 0) factors->sign = 1; /* as in R */
  free(work);
  return JOIST_OK;
}

static double *put(const struct joist_problem *problem, double *to, joist_c128 value) {
  *to++ = creal(value);
  if (problem->pairs) *to++ = cimag(value);
  return to;
}

joist_status joist_solve_det(const struct joist_problem *problem, struct joist_error *error) {
  struct factors factors;
  const joist_status status = factorize(problem, &factors, error);
  if (status == JOIST_OK) put(problem, problem->out, factors.product);
  return status;
}

/* out: sign, logarithm. */
joist_status joist_solve_determinant(const struct joist_problem *problem,
                                     struct joist_error *error) {
  struct factors factors;
  const joist_status status = factorize(problem, &factors, error);
  if (status == JOIST_OK) *put(problem, problem->out, factors.sign) = factors.logarithm;
  return status;
}

/* Parts of a matrix of m rows: rows up to the diagonal of the first `columns` columns, or below it,
 * where the diagonal is 1. */
static void triangle(const struct joist_problem *problem, bool upper, size_t rows, size_t columns,
                     double *to) {
  const size_t width = (size_t)1 << problem->pairs, m = (size_t)problem->m;
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++)
      for (size_t part = 0; part < width; part++) {
        const double held = problem->a[(j * m + i) * width + part];
        const double diagonal = upper ? held : part == 0;
        *to++ = i == j ? diagonal : (upper ? i < j : i > j) ? held : 0;
      }
}

/* out: the rows in the order of L U, from 1 on; L (m x k) and U (k x n). A singular matrix has
 * factors, too. */
joist_status joist_solve_lu(const struct joist_problem *problem, struct joist_error *error) {
  const int m = problem->m, n = problem->n, k = m < n ? m : n;
  const size_t width = (size_t)1 << problem->pairs;
  double *const rows = problem->out, *const lower = rows + m;
  int info = 0, *pivots = NULL;
  double *const work = joist_scratch(0, (size_t)k, &pivots);
  if (work == NULL) return joist_no_memory(error);
  if (k > 0) joist_lapack.getrf[problem->pairs](&m, &n, problem->a, &m, pivots, &info);
  for (int i = 0; i < m; i++) rows[i] = i + 1;
  for (int i = 0; i < k; i++) {
    const double other = rows[pivots[i] - 1];
    rows[pivots[i] - 1] = rows[i];
    rows[i] = other;
  }
  triangle(problem, false, (size_t)m, (size_t)k, lower);
  triangle(problem, true, (size_t)k, (size_t)n, lower + (size_t)m * (size_t)k * width);
  free(work);
  return JOIST_OK;
}
