/* Matrix products by the kernels of gemm_kernel.h: packing, blocking, and sharing among threads. */
#ifndef JOIST_CORE_OPS_LINALG_GEMM_H
#define JOIST_CORE_OPS_LINALG_GEMM_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/types/dtypes.h"

/* result (m x n, column-major, contiguous) = lhs (m x k) times rhs (k x n), `count` times:
 * product j reads lhs[j] and rhs[j] and writes the j-th m x n elements of `result`. Operands whose
 * dtype is not `dtype`, the result's, are converted while they are packed. */
struct joist_gemm {
  joist_dtype dtype, lhs_dtype, rhs_dtype;
  size_t m, n, k, count;
  bool lhs_transposed, rhs_transposed;
  const void *const *lhs, *const *rhs;
  void *result;
};

joist_status joist_gemm_run(const struct joist_gemm *product, const struct joist_run *run,
                            struct joist_error *error) JOIST_MUST_CHECK;

#endif
