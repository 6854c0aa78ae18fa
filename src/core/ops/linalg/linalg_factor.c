/* Orthogonal factors: QR, singular values, eigenvalues of symmetric matrices. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops/linalg/blas.h"
#include "core/ops/linalg/linalg.h"
#include "core/types/error.h"

/* The work space that a routine asked for; 0 when LAPACK's integers cannot say it. */
static int work_size(double asked) {
  return asked >= 1 && asked < (double)INT_MAX - 1 ? (int)asked + 1 : 0;
}

static joist_status too_large(const struct joist_problem *problem, struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_WORK_SIZE, .batch = problem->batch);
}

static joist_status not_converged(const struct joist_problem *problem, const char *what, int info,
                                  struct joist_error *error) {
  return JOIST_FAIL(error, JOIST_E_NOT_CONVERGED, .name = {what}, .number = {info},
                    .batch = problem->batch);
}

/* out: Q (m x k), then R (k x n). */
joist_status joist_solve_qr(const struct joist_problem *problem, struct joist_error *error) {
  const int m = problem->m, n = problem->n, k = m < n ? m : n, query = -1;
  const size_t rows = (size_t)m, least = (size_t)k;
  double asked[2] = {0, 0}, unused = 0;
  int info = 0;
  joist_lapack.geqrf(&m, &n, problem->a, &m, &unused, &asked[0], &query, &info);
  joist_lapack.orgqr(&m, &k, &k, problem->a, &m, &unused, &asked[1], &query, &info);
  const int size = work_size(asked[0] > asked[1] ? asked[0] : asked[1]);
  if (size == 0) return too_large(problem, error);
  double *const tau = joist_scratch(least + (size_t)size, 0, NULL);
  if (tau == NULL) return joist_no_memory(error);
  double *const work = tau + k, *const r = problem->out + rows * least;
  joist_lapack.geqrf(&m, &n, problem->a, &m, tau, work, &size, &info);
  for (size_t j = 0; j < (size_t)n; j++)
    for (size_t i = 0; i < least; i++) r[j * least + i] = i <= j ? problem->a[j * rows + i] : 0;
  joist_lapack.orgqr(&m, &k, &k, problem->a, &m, tau, work, &size, &info);
  memcpy(problem->out, problem->a, rows * least * sizeof(double));
  free(tau);
  return JOIST_OK;
}

/* out: d (k), u (m x k), v (n x k). */
joist_status joist_solve_svd(const struct joist_problem *problem, struct joist_error *error) {
  const int m = problem->m, n = problem->n, k = m < n ? m : n, query = -1;
  const size_t least = (size_t)k, columns = (size_t)n;
  double *const d = problem->out, *const u = d + least, *const v = u + (size_t)m * least;
  double asked = 0;
  int info = 0, integer = 0;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  joist_lapack.gesdd("S", &m, &n, problem->a, &m, d, u, &m, v, &k, &asked, &query, &integer, &info,
                     1);
  const int size = work_size(asked);
  if (size == 0) return too_large(problem, error);
  int *integers = NULL;
  double *const vt = joist_scratch(least * columns + (size_t)size, 8 * least, &integers);
  if (vt == NULL) return joist_no_memory(error);
  joist_lapack.gesdd("S", &m, &n, problem->a, &m, d, u, &m, vt, &k, vt + least * columns, &size,
                     integers, &info, 1);
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < least; i++) v[i * columns + j] = vt[j * least + i];
  free(vt);
  return info > 0 ? not_converged(problem, "singular values", info, error) : JOIST_OK;
}

/* out: values (n) and vectors (n x n), from the largest value on as R's eigen() orders them;
 * LAPACK begins with the smallest. */
joist_status joist_solve_eigh(const struct joist_problem *problem, struct joist_error *error) {
  const int n = problem->n, query = -1, unused = 0;
  const size_t order = (size_t)n;
  const double none = 0;
  double asked = 0, value = 0;
  int info = 0, found = 0, integer = 0, support = 0;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  joist_lapack.syevr("V", "A", "L", &n, problem->a, &n, &none, &none, &unused, &unused, &none,
                     &found, &value, problem->out, &n, &support, &asked, &query, &integer, &query,
                     &info, 1, 1, 1);
  const int size = work_size(asked);
  if (size == 0) return too_large(problem, error);
  int *integers = NULL;
  double *const values =
      joist_scratch(order + order * order + (size_t)size, 2 * order + (size_t)integer, &integers);
  if (values == NULL) return joist_no_memory(error);
  double *const vectors = values + order, *const work = vectors + order * order;
  joist_lapack.syevr("V", "A", "L", &n, problem->a, &n, &none, &none, &unused, &unused, &none,
                     &found, values, vectors, &n, integers, work, &size, integers + 2 * order,
                     &integer, &info, 1, 1, 1);
  for (size_t k = 0; k < order && info == 0; k++) {
    const size_t from = order - 1 - k;
    problem->out[k] = values[from];
    memcpy(problem->out + order * (k + 1), vectors + order * from, order * sizeof(double));
  }
  free(values);
  return info != 0 ? not_converged(problem, "eigenvalues", info, error) : JOIST_OK;
}
