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

/* Matrices and work space of the real routines are double, of the complex ones pairs of double; the
 * sizes that routines ask for are the first of such numbers. */
typedef void joist_lapack_potrf(const char *uplo, const int *n, void *a, const int *lda, int *info,
                                size_t);
typedef void joist_lapack_getrf(const int *m, const int *n, void *a, const int *lda, int *pivots,
                                int *info);
typedef void joist_lapack_getrs(const char *transpose, const int *n, const int *columns,
                                const void *a, const int *lda, const int *pivots, void *b,
                                const int *ldb, int *info, size_t);
/* `more` is n integers of the real routine, 2 n doubles of the complex one. */
typedef void joist_lapack_gecon(const char *norm, const int *n, const void *a, const int *lda,
                                const double *norm_a, double *reciprocal, void *work, void *more,
                                int *info, size_t);
typedef void joist_lapack_trtrs(const char *uplo, const char *transpose, const char *diagonal,
                                const int *n, const int *columns, const void *a, const int *lda,
                                void *b, const int *ldb, int *info, size_t, size_t, size_t);
typedef void joist_lapack_geqrf(const int *m, const int *n, void *a, const int *lda, void *tau,
                                void *work, const int *work_size, int *info);
typedef void joist_lapack_orgqr(const int *m, const int *n, const int *k, void *a, const int *lda,
                                const void *tau, void *work, const int *work_size, int *info);
typedef void joist_lapack_gesdd(const char *job, const int *m, const int *n, double *a,
                                const int *lda, double *s, double *u, const int *ldu, double *vt,
                                const int *ldvt, double *work, const int *work_size, int *integers,
                                int *info, size_t);
typedef void joist_lapack_zgesdd(const char *job, const int *m, const int *n, void *a,
                                 const int *lda, double *s, void *u, const int *ldu, void *vt,
                                 const int *ldvt, void *work, const int *work_size, double *real,
                                 int *integers, int *info, size_t);
typedef void joist_lapack_syevr(const char *job, const char *range, const char *uplo, const int *n,
                                double *a, const int *lda, const double *vl, const double *vu,
                                const int *il, const int *iu, const double *tolerance, int *found,
                                double *w, double *z, const int *ldz, int *support, double *work,
                                const int *work_size, int *integers, const int *integers_size,
                                int *info, size_t, size_t, size_t);
typedef void joist_lapack_zheev(const char *job, const char *uplo, const int *n, void *a,
                                const int *lda, double *w, void *work, const int *work_size,
                                double *real, int *info, size_t, size_t);
typedef void joist_lapack_dgeev(const char *left, const char *right, const int *n, double *a,
                                const int *lda, double *real, double *imaginary, double *vl,
                                const int *ldvl, double *vr, const int *ldvr, double *work,
                                const int *work_size, int *info, size_t, size_t);
typedef void joist_lapack_zgeev(const char *left, const char *right, const int *n, void *a,
                                const int *lda, void *w, void *vl, const int *ldvl, void *vr,
                                const int *ldvr, void *work, const int *work_size, double *real,
                                int *info, size_t, size_t);

/* All of them, or none. Pairs are the real routine and the complex one. */
struct joist_lapack {
  joist_lapack_potrf *potrf[2];
  joist_lapack_getrf *getrf[2];
  joist_lapack_getrs *getrs[2];
  joist_lapack_gecon *gecon[2];
  joist_lapack_trtrs *trtrs[2];
  joist_lapack_geqrf *geqrf[2];
  joist_lapack_orgqr *orgqr[2];
  joist_lapack_gesdd *gesdd;
  joist_lapack_zgesdd *zgesdd;
  joist_lapack_syevr *syevr;
  joist_lapack_zheev *zheev;
  joist_lapack_dgeev *dgeev;
  joist_lapack_zgeev *zgeev;
};

extern struct joist_blas joist_blas;
extern struct joist_lapack joist_lapack;

/* Around calls of either: for their time the BLAS has our number of threads. */
int joist_blas_enter(int threads);
void joist_blas_leave(int before);

#endif
