/* The routines of a BLAS and a LAPACK, filled in by the host. Fortran's calling
 * convention: everything by reference, and the lengths of character arguments at the end (the
 * ABI of gfortran 8 and later). Without a BLAS products run on our own kernels; without a
 * LAPACK decompositions are errors. */
#ifndef JOIST_CORE_OPS_LINALG_BLAS_H
#define JOIST_CORE_OPS_LINALG_BLAS_H

#include <stddef.h>

#include "core/types/dtypes.h"

typedef void joist_blas_gemm(const char *transpose_a, const char *transpose_b, const int *m,
                             const int *n, const int *k, const void *alpha, const void *a,
                             const int *lda, const void *b, const int *ldb, const void *beta,
                             void *c, const int *ldc, size_t, size_t);

struct joist_blas {
  /* Products by dtype; NULL where our own kernel is to be used. */
  joist_blas_gemm *gemm[JOIST_DTYPE_COUNT];
  /* Sets the number of threads of the BLAS and returns the one before; NULL when the library
   * has no such setting. */
  int (*set_threads)(int threads);
};

typedef void joist_lapack_potrf(const char *uplo, const int *n, double *a, const int *lda,
                                int *info, size_t);
typedef void joist_lapack_getrf(const int *m, const int *n, double *a, const int *lda, int *pivots,
                                int *info);
typedef void joist_lapack_getrs(const char *transpose, const int *n, const int *columns,
                                const double *a, const int *lda, const int *pivots, double *b,
                                const int *ldb, int *info, size_t);
typedef void joist_lapack_gecon(const char *norm, const int *n, const double *a, const int *lda,
                                const double *norm_a, double *reciprocal, double *work,
                                int *integers, int *info, size_t);
typedef void joist_lapack_trtrs(const char *uplo, const char *transpose, const char *diagonal,
                                const int *n, const int *columns, const double *a, const int *lda,
                                double *b, const int *ldb, int *info, size_t, size_t, size_t);
typedef void joist_lapack_geqrf(const int *m, const int *n, double *a, const int *lda, double *tau,
                                double *work, const int *work_size, int *info);
typedef void joist_lapack_orgqr(const int *m, const int *n, const int *k, double *a, const int *lda,
                                const double *tau, double *work, const int *work_size, int *info);
typedef void joist_lapack_gesdd(const char *job, const int *m, const int *n, double *a,
                                const int *lda, double *s, double *u, const int *ldu, double *vt,
                                const int *ldvt, double *work, const int *work_size, int *integers,
                                int *info, size_t);
typedef void joist_lapack_syevr(const char *job, const char *range, const char *uplo, const int *n,
                                double *a, const int *lda, const double *vl, const double *vu,
                                const int *il, const int *iu, const double *tolerance, int *found,
                                double *w, double *z, const int *ldz, int *support, double *work,
                                const int *work_size, int *integers, const int *integers_size,
                                int *info, size_t, size_t, size_t);

/* All of them, or none. */
struct joist_lapack {
  joist_lapack_potrf *potrf;
  joist_lapack_getrf *getrf;
  joist_lapack_getrs *getrs;
  joist_lapack_gecon *gecon;
  joist_lapack_trtrs *trtrs;
  joist_lapack_geqrf *geqrf;
  joist_lapack_orgqr *orgqr;
  joist_lapack_gesdd *gesdd;
  joist_lapack_syevr *syevr;
};

extern struct joist_blas joist_blas;
extern struct joist_lapack joist_lapack;

/* Around calls of either: for their time the BLAS has our number of threads. */
int joist_blas_enter(int threads);
void joist_blas_leave(int before);

#endif
