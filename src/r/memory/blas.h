/* The BLAS and the LAPACK that R is linked with, for the core to call. */
#ifndef JOIST_R_BLAS_H
#define JOIST_R_BLAS_H

#include "r/base/sexp.h"

/* Fills in the core's tables; once, when the package is loaded. */
void joist_r_blas_init(void);

/* What multiplies matrices of floats: the name of an optimized BLAS, or "joist" for our own
 * kernels. A string chooses: "auto", "blas" (whichever R has) or "joist"; NULL leaves it. */
SEXP joist_r_blas(SEXP choice);

#endif
