/* Orthogonal factors: QR, singular values, eigenvalues. */
#include <limits.h>
#include <math.h>
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
  const int m = problem->m, n = problem->n, k = m < n ? m : n, query = -1, kind = problem->pairs;
  const size_t width = (size_t)1 << kind, rows = (size_t)m * width, least = (size_t)k * width;
  double asked[4] = {0, 0, 0, 0}, unused[2] = {0, 0};
  int info = 0;
  joist_lapack.geqrf[kind](&m, &n, problem->a, &m, unused, &asked[0], &query, &info);
  joist_lapack.orgqr[kind](&m, &k, &k, problem->a, &m, unused, &asked[2], &query, &info);
  const int size = work_size(asked[0] > asked[2] ? asked[0] : asked[2]);
  if (size == 0) return too_large(problem, error);
  double *const tau = joist_scratch(least + (size_t)size * width, 0, NULL);
  if (tau == NULL) return joist_no_memory(error);
  double *const work = tau + least, *const r = problem->out + rows * (size_t)k;
  joist_lapack.geqrf[kind](&m, &n, problem->a, &m, tau, work, &size, &info);
  for (size_t j = 0; j < (size_t)n; j++)
    for (size_t i = 0; i < least; i++)
      r[j * least + i] = i / width <= j ? problem->a[j * rows + i] : 0;
  joist_lapack.orgqr[kind](&m, &k, &k, problem->a, &m, tau, work, &size, &info);
  memcpy(problem->out, problem->a, rows * (size_t)k * sizeof(double));
  free(tau);
  return JOIST_OK;
}

/* Singular values and, for the job "S", vectors, by rows of `vt`; a work space and, of complex
 * numbers, one of real numbers. */
static void decompose(const struct joist_problem *problem, const char *job, double *d, double *u,
                      double *vt, double *work, const int *size, double *real, int *integers,
                      int *info) {
  const int m = problem->m, n = problem->n, k = m < n ? m : n;
  if (problem->pairs)
    joist_lapack.zgesdd(job, &m, &n, problem->a, &m, d, u, &m, vt, &k, work, size, real, integers,
                        info, 1);
  else
    joist_lapack.gesdd(job, &m, &n, problem->a, &m, d, u, &m, vt, &k, work, size, integers, info,
                       1);
}

static joist_status singular(const struct joist_problem *problem, const char *job,
                             struct joist_error *error) {
  const int query = -1;
  const size_t width = (size_t)1 << problem->pairs, m = (size_t)problem->m;
  const size_t n = (size_t)problem->n, k = m < n ? m : n, rows = *job == 'S' ? k : 0;
  double *const d = problem->out, *const u = d + k, *const v = u + m * k * width;
  double asked[2] = {0, 0}, none = 0;
  int info = 0, integer = 0, *integers = NULL;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  decompose(problem, job, d, &none, &none, asked, &query, &none, &integer, &info);
  const int size = work_size(asked[0]);
  if (size == 0) return too_large(problem, error);
  /* The largest need of any version of zgesdd(). */
  const size_t more = m > n ? m : n;
  const size_t real = problem->pairs ? k * (2 * more + 7 * k + 7) : 0;
  double *const vt = joist_scratch((rows * n + (size_t)size) * width + real, 8 * k, &integers);
  if (vt == NULL) return joist_no_memory(error);
  double *const work = vt + rows * n * width;
  decompose(problem, job, d, rows > 0 ? u : &none, vt, work, &size, work + (size_t)size * width,
            integers, &info);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < rows; i++) {
      v[(i * n + j) * width] = vt[(j * k + i) * width];
      if (problem->pairs) v[2 * (i * n + j) + 1] = -vt[2 * (j * k + i) + 1];
    }
  free(vt);
  return info > 0 ? not_converged(problem, "singular values", info, error) : JOIST_OK;
}

/* out: d (k), u (m x k), v (n x k). */
joist_status joist_solve_svd(const struct joist_problem *problem, struct joist_error *error) {
  return singular(problem, "S", error);
}

joist_status joist_solve_singular_values(const struct joist_problem *problem,
                                         struct joist_error *error) {
  return singular(problem, "N", error);
}

/* Values and vectors in the order of R's eigen(), from the largest value on; LAPACK begins with the
 * smallest. */
static void reverse_order(const struct joist_problem *problem, const double *values,
                          const double *vectors) {
  const size_t order = (size_t)problem->n, column = order << problem->pairs;
  for (size_t k = 0; k < order; k++) {
    const size_t from = order - 1 - k;
    problem->out[k] = values[from];
    memcpy(problem->out + order + column * k, vectors + column * from, column * sizeof(double));
  }
}

static joist_status hermitian(const struct joist_problem *problem, struct joist_error *error) {
  const int n = problem->n, query = -1;
  const size_t order = (size_t)n;
  double asked[2] = {0, 0}, none = 0;
  int info = 0;
  joist_lapack.zheev("V", "L", &n, problem->a, &n, &none, asked, &query, &none, &info, 1, 1);
  const int size = work_size(asked[0]);
  if (size == 0) return too_large(problem, error);
  double *const values = joist_scratch(4 * order + 2 * (size_t)size, 0, NULL);
  if (values == NULL) return joist_no_memory(error);
  double *const real = values + order, *const work = real + 3 * order;
  joist_lapack.zheev("V", "L", &n, problem->a, &n, values, work, &size, real, &info, 1, 1);
  if (info == 0) reverse_order(problem, values, problem->a);
  free(values);
  return info != 0 ? not_converged(problem, "eigenvalues", info, error) : JOIST_OK;
}

/* out: values (n) and vectors (n x n). */
joist_status joist_solve_eigh(const struct joist_problem *problem, struct joist_error *error) {
  const int n = problem->n, query = -1, unused = 0;
  const size_t order = (size_t)n;
  const double none = 0;
  double asked = 0, value = 0;
  int info = 0, found = 0, integer = 0, support = 0;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  if (problem->pairs) return hermitian(problem, error);
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
  if (info == 0) reverse_order(problem, values, vectors);
  free(values);
  return info != 0 ? not_converged(problem, "eigenvalues", info, error) : JOIST_OK;
}

/* ---- matrices that need not be symmetric ---- */

/* Real and imaginary parts of values, vectors as LAPACK writes them, and what follows. */
struct general {
  const char *job; /* "V" for vectors */
  double *values, *vectors, *work;
};

static void general_routine(const struct joist_problem *problem, const struct general *g,
                            const int *size, double *real, int *info) {
  const int n = problem->n, one = 1;
  double unused[2];
  if (problem->pairs)
    joist_lapack.zgeev("N", g->job, &n, problem->a, &n, g->values, unused, &one, g->vectors, &n,
                       g->work, size, real, info, 1, 1);
  else
    joist_lapack.dgeev("N", g->job, &n, problem->a, &n, g->values, g->values + n, unused, &one,
                       g->vectors, &n, g->work, size, info, 1, 1);
}

/* The parts of value k as LAPACK numbers them. */
static const double *value_of(const struct joist_problem *problem, const double *values, size_t k,
                              double parts[2]) {
  const size_t n = (size_t)problem->n;
  parts[0] = problem->pairs ? values[2 * k] : values[k];
  parts[1] = problem->pairs ? values[2 * k + 1] : values[n + k];
  return parts;
}

/* Vector k: LAPACK writes those of two conjugate values as real and imaginary part. */
static void write_vector(const struct joist_problem *problem, const struct general *g, size_t k,
                         double *to) {
  const size_t n = (size_t)problem->n;
  if (problem->pairs) {
    memcpy(to, g->vectors + 2 * n * k, 2 * n * sizeof *to);
    return;
  }
  const double imaginary = g->values[n + k], sign = imaginary < 0 ? -1 : 1;
  const double *const re = g->vectors + n * (imaginary < 0 ? k - 1 : k);
  for (size_t i = 0; i < n; i++) {
    to[2 * i] = re[i];
    to[2 * i + 1] = imaginary == 0 ? 0 : sign * re[n + i];
  }
}

/* In the order of R's eigen(): from the largest modulus on, equal ones as LAPACK has them. */
static void write_sorted(const struct joist_problem *problem, const struct general *g,
                         double *moduli, int *order) {
  const size_t n = (size_t)problem->n;
  double parts[2];
  for (size_t k = 0; k < n; k++) {
    value_of(problem, g->values, k, parts);
    const double own = hypot(parts[0], parts[1]);
    size_t at = k;
    for (; at > 0 && moduli[at - 1] < own; at--) {
      moduli[at] = moduli[at - 1];
      order[at] = order[at - 1];
    }
    moduli[at] = own;
    order[at] = (int)k;
  }
  for (size_t k = 0; k < n; k++) {
    const size_t from = (size_t)order[k];
    memcpy(problem->out + 2 * k, value_of(problem, g->values, from, parts), sizeof parts);
    if (*g->job == 'V') write_vector(problem, g, from, problem->out + 2 * n * (k + 1));
  }
}

static joist_status general(const struct joist_problem *problem, const char *job,
                            struct joist_error *error) {
  const int query = -1;
  const size_t n = (size_t)problem->n, square = *job == 'V' ? n * n : 1;
  const size_t width = (size_t)1 << problem->pairs;
  double asked[2] = {0, 0}, none = 0;
  int info = 0, *order = NULL;
  joist_status status = joist_check_finite(problem, error);
  if (status != JOIST_OK) return status;
  struct general g = {job, problem->out, problem->out, asked};
  general_routine(problem, &g, &query, &none, &info);
  const int size = work_size(asked[0]);
  if (size == 0) return too_large(problem, error);
  double *const real = joist_scratch(5 * n + (square + (size_t)size) * width, n, &order);
  if (real == NULL) return joist_no_memory(error);
  g.values = real + 3 * n;
  g.vectors = g.values + 2 * n;
  g.work = g.vectors + square * width;
  general_routine(problem, &g, &size, real, &info);
  if (info == 0) write_sorted(problem, &g, real + 2 * n, order);
  free(real);
  return info != 0 ? not_converged(problem, "eigenvalues", info, error) : JOIST_OK;
}

/* out: values (n) and vectors (n x n), complex. */
joist_status joist_solve_eig(const struct joist_problem *problem, struct joist_error *error) {
  return general(problem, "V", error);
}

joist_status joist_solve_eigvals(const struct joist_problem *problem, struct joist_error *error) {
  return general(problem, "N", error);
}
