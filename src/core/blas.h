/* The routines of a BLAS and a LAPACK, which whoever has them fills in: Fortran's calling
 * convention, with the lengths of character arguments at the end (the ABI of gfortran 8 and
 * later). Without them, products run on our own kernels, and decompositions are errors. */
#ifndef JOIST_CORE_BLAS_H
#define JOIST_CORE_BLAS_H

#include <stddef.h>

#include "core/dtypes.h"

typedef void joist_blas_gemm(const char *transpose_a, const char *transpose_b, const int *m,
                             const int *n, const int *k, const void *alpha, const void *a,
                             const int *lda, const void *b, const int *ldb, const void *beta,
                             void *c, const int *ldc, size_t, size_t);

struct joist_blas {
  /* Products by dtype; NULL where our own kernel is to be used. */
  joist_blas_gemm *gemm[JOIST_DTYPE_COUNT];
  /* Sets the number of threads of the BLAS and returns the one before; NULL when it has none
   * or cannot tell. */
  int (*set_threads)(int threads);
};

extern struct joist_blas joist_blas;

#endif
