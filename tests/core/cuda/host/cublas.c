/* The part of cuBLAS that src/cuda/blas.c calls, on the CPU: what each call means, by the
 * textbook's loops, with sums in double. */
#include <complex.h>
#include <stdbool.h>
#include <string.h>

#include "core/types/narrow.h"
#include "cuda_runtime_api.h"

struct host_blas host_blas;

int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSetStream_v2(void *handle, cudaStream_t stream);
int cublasSetMathMode(void *handle, int mode);
const char *cublasGetStatusString(int status);

static int once(int *status) {
  const int result = *status;
  *status = 0;
  return result;
}
int cublasCreate_v2(void **handle) {
  const int status = once(&host_blas.create);
  *handle = status == 0 ? &host_blas : NULL;
  host_blas.handles += status == 0;
  return status;
}
int cublasDestroy_v2(void *handle) {
  host_blas.handles--;
  return handle == &host_blas ? 0 : 7;
}
int cublasSetStream_v2(void *handle, cudaStream_t stream) {
  return handle == &host_blas && stream != NULL ? 0 : 7;
}
int cublasSetMathMode(void *handle, int mode) {
  const int status = once(&host_blas.mode);
  return status != 0 ? status : handle == &host_blas && mode == 16 ? 0 : 7;
}
const char *cublasGetStatusString(int status) {
  return status == 13 ? "execution failed" : "another status";
}

/* Element (i, j) of op(matrix), whose first dim has `lead` elements. */
#define GEMM(NAME, T)                                                                              \
  int NAME(void *handle, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, \
           long long stride_a, const T *b, int ldb, long long stride_b, const T *beta, T *c,       \
           int ldc, long long stride_c, int count);                                                \
  int NAME(void *handle, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, \
           long long stride_a, const T *b, int ldb, long long stride_b, const T *beta, T *c,       \
           int ldc, long long stride_c, int count) {                                               \
    const int status = once(&host_blas.next);                                                      \
    if (status != 0) return status;                                                                \
    if (count > 65535) return 13;                                                                  \
    host_flush();                                                                                  \
    if (handle != &host_blas || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m) return 7;     \
    if (*alpha != 1 || *beta != 0) return 7;                                                       \
    host_blas.calls++;                                                                             \
    for (int x = 0; x < count; x++)                                                                \
      for (int j = 0; j < n; j++)                                                                  \
        for (int i = 0; i < m; i++) {                                                              \
          double complex sum = 0;                                                                  \
          for (int p = 0; p < k; p++)                                                              \
            sum += (double complex)                                                                \
                       a[x * stride_a + (ta ? p + (long long)i * lda : i + (long long)p * lda)] *  \
                   (double complex)                                                                \
                       b[x * stride_b + (tb ? j + (long long)p * ldb : p + (long long)j * ldb)];   \
          c[x * stride_c + i + (long long)j * ldc] = (T)sum;                                       \
        }                                                                                          \
    return 0;                                                                                      \
  }
GEMM(cublasSgemmStridedBatched, float)
GEMM(cublasDgemmStridedBatched, double)
GEMM(cublasCgemmStridedBatched, float complex)
GEMM(cublasZgemmStridedBatched, double complex)

/* Of half floats (types 2 and 14), summed in f32 (68). */
int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k,
                               const float *alpha, const uint16_t *a, int type_a, int lda,
                               long long stride_a, const uint16_t *b, int type_b, int ldb,
                               long long stride_b, const float *beta, uint16_t *c, int type_c,
                               int ldc, long long stride_c, int count, int compute, int algorithm);
int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k,
                               const float *alpha, const uint16_t *a, int type_a, int lda,
                               long long stride_a, const uint16_t *b, int type_b, int ldb,
                               long long stride_b, const float *beta, uint16_t *c, int type_c,
                               int ldc, long long stride_c, int count, int compute, int algorithm) {
  const int status = once(&host_blas.next);
  const bool f16 = type_a == 2;
  if (status != 0) return status;
  if (count > 65535) return 13;
  host_flush();
  if (handle != &host_blas || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m) return 7;
  if (*alpha != 1 || *beta != 0 || compute != 68 || algorithm != -1) return 7;
  if ((type_a != 2 && type_a != 14) || type_b != type_a || type_c != type_a) return 15;
  host_blas.calls++;
  for (int x = 0; x < count; x++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        float sum = 0;
        for (int p = 0; p < k; p++) {
          const uint16_t left =
              a[x * stride_a + (ta ? p + (long long)i * lda : i + (long long)p * lda)];
          const uint16_t right =
              b[x * stride_b + (tb ? j + (long long)p * ldb : p + (long long)j * ldb)];
          sum += f16 ? narrow_F16_to_f32(left) * narrow_F16_to_f32(right)
                     : narrow_BF16_to_f32(left) * narrow_BF16_to_f32(right);
        }
        c[x * stride_c + i + (long long)j * ldc] =
            f16 ? narrow_f32_to_F16(sum) : narrow_f32_to_BF16(sum);
      }
  return 0;
}
