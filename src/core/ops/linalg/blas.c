/* The tables of routines, empty until somebody fills them in. */
#include "core/ops/linalg/blas.h"

struct joist_blas joist_blas;
struct joist_lapack joist_lapack;

int joist_blas_enter(int threads) {
  return joist_blas.set_threads != NULL ? joist_blas.set_threads(threads) : 0;
}

void joist_blas_leave(int before) {
  if (joist_blas.set_threads != NULL) (void)joist_blas.set_threads(before);
}
