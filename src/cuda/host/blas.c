/* Calling cuBLAS through its C interface (version 2), which is found at run time. */
#include "cuda/host/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "core/types/error.h"
#include "cuda/host/loader.h"

/* The part of cublas_v2.h that is used; the library need not be there when joist is built. */
typedef int result;                                  /* 0 is success */
enum { NOT_INITIALIZED = 1, ALLOCATION_FAILED = 3 }; /* statuses */
enum { NOT_TRANSPOSED = 0, TRANSPOSED = 1 };
/* Nothing is rounded before it is multiplied, and sums of half floats stay f32 throughout. */
enum { EXACT_MATH = 16 };
enum { COMPUTE_F32 = 68, ANY_ALGORITHM = -1 };
enum { HALF_F16 = 2, HALF_BF16 = 14 }; /* of cudaDataType */
enum { BF16_ARCHITECTURE = 80 };       /* the first that multiplies them */
enum { PRODUCTS = 65535 }; /* of one call: more than these are refused by some releases */
typedef result gemm(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                    const void *alpha, const void *a, int lda, long long stride_a, const void *b,
                    int ldb, long long stride_b, const void *beta, void *c, int ldc,
                    long long stride_c, int count);

typedef result gemm_of_halves(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                              const void *alpha, const void *a, int type_a, int lda,
                              long long stride_a, const void *b, int type_b, int ldb,
                              long long stride_b, const void *beta, void *c, int type_c, int ldc,
                              long long stride_c, int count, int compute, int algorithm);

static struct cublas {
  bool tried, found, unused;
  result (*create)(void **);
  result (*destroy)(void *);
  result (*set_stream)(void *, cudaStream_t);
  result (*set_math_mode)(void *, int);
  const char *(*describe)(result);
  gemm *gemm[JOIST_DTYPE_COUNT];
  gemm_of_halves *halves;
} cublas;

/* Function pointers come as object pointers from dlsym. */
static bool find(void *library, const char *name, void *function) {
  void *const found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static bool is_found(void) {
  if (cublas.tried) return cublas.found;
  cublas.tried = true;
  void *const library = joist_cuda_cublas();
  cublas.found = library != NULL && find(library, "cublasCreate_v2", &cublas.create) &&
                 find(library, "cublasDestroy_v2", &cublas.destroy) &&
                 find(library, "cublasSetStream_v2", &cublas.set_stream) &&
                 find(library, "cublasSetMathMode", &cublas.set_math_mode) &&
                 find(library, "cublasGetStatusString", &cublas.describe) &&
                 find(library, "cublasSgemmStridedBatched", &cublas.gemm[JOIST_F32]) &&
                 find(library, "cublasDgemmStridedBatched", &cublas.gemm[JOIST_F64]) &&
                 find(library, "cublasCgemmStridedBatched", &cublas.gemm[JOIST_C64]) &&
                 find(library, "cublasZgemmStridedBatched", &cublas.gemm[JOIST_C128]) &&
                 find(library, "cublasGemmStridedBatchedEx", &cublas.halves);
  return cublas.found;
}

void joist_cuda_blas_use(bool use) { cublas.unused = !use; }

static bool has_dtype(const struct joist_cuda_state *state, joist_dtype dtype) {
  if (dtype == JOIST_BF16) return state->architecture >= BF16_ARCHITECTURE;
  return dtype == JOIST_F16 || cublas.gemm[dtype] != NULL;
}

bool joist_cuda_blas_fits(const struct joist_cuda_state *state, joist_dtype dtype,
                          const struct joist_cuda_matmul *p) {
  return !cublas.unused && is_found() && has_dtype(state, dtype) && p->k > 0 && p->m <= INT_MAX &&
         p->n <= INT_MAX && p->k <= INT_MAX && p->count <= INT_MAX;
}

static joist_status check(const struct joist_cuda_state *state, result status, const char *what,
                          struct joist_error *error) {
  if (status == 0) return JOIST_OK;
  if (status == ALLOCATION_FAILED)
    return JOIST_FAIL(error, JOIST_E_GPU_MEMORY, .number = {state->ordinal}, .name = {what});
  return JOIST_FAIL(error, JOIST_E_CUBLAS_FAILED, .name = {cublas.describe(status), what});
}

/* The handle of a device, made once; it works in the order of the device's stream. */
static joist_status open_handle(struct joist_cuda_state *state, struct joist_error *error) {
  if (state->blas != NULL) return JOIST_OK;
  void *handle = NULL;
  const result made = cublas.create(&handle);
  /* Mostly for want of memory, which a second attempt may find. */
  if (made == NOT_INITIALIZED)
    return JOIST_FAIL(error, JOIST_E_CUBLAS_OPENING, .name = {cublas.describe(made)});
  joist_status status = check(state, made, "opening cuBLAS", error);
  if (status != JOIST_OK) return status;
  status = check(state, cublas.set_stream(handle, state->stream), "opening cuBLAS", error);
  if (status == JOIST_OK)
    status = check(state, cublas.set_math_mode(handle, EXACT_MATH), "opening cuBLAS", error);
  if (status == JOIST_OK)
    state->blas = handle;
  else
    (void)cublas.destroy(handle);
  return status;
}

/* Products from number `product` on that one call multiplies: along the first dim of the batch. */
static uint64_t products_from(const struct joist_cuda_matmul *p, uint64_t product) {
  const uint64_t line = p->rank > 0 ? p->extent[0] : 1, left = line - product % line;
  return left < PRODUCTS ? left : PRODUCTS;
}

static result multiply_some(const struct joist_cuda_state *state, joist_dtype dtype,
                            const struct joist_cuda_matmul *p, uint64_t product, uint64_t count) {
  /* Real and complex, single and double: every dtype's 1 and 0 begin like one of these. */
  const float one_single[2] = {1, 0};
  const double one_double[2] = {1, 0}, zero[2] = {0, 0};
  const bool half = dtype == JOIST_F16 || dtype == JOIST_BF16;
  const bool single = half || joist_dtype_real(dtype) == JOIST_F32;
  const size_t size = joist_dtype_size(dtype);
  const uint64_t m = p->m, n = p->n, k = p->k;
  const long long lhs_stride = p->rank > 0 ? (long long)(p->lhs_stride[0] * m * k) : 0;
  const long long rhs_stride = p->rank > 0 ? (long long)(p->rhs_stride[0] * k * n) : 0;
  uint64_t lhs = 0, rhs = 0, rest = product;
  for (uint32_t d = 0; d < p->rank; d++) {
    lhs += rest % p->extent[d] * p->lhs_stride[d];
    rhs += rest % p->extent[d] * p->rhs_stride[d];
    rest /= p->extent[d];
  }
  const int lhs_turned = p->lhs_transposed ? TRANSPOSED : NOT_TRANSPOSED;
  const int rhs_turned = p->rhs_transposed ? TRANSPOSED : NOT_TRANSPOSED;
  const int lhs_lead = (int)(p->lhs_transposed ? k : m),
            rhs_lead = (int)(p->rhs_transposed ? n : k);
  const void *const one = single ? (const void *)one_single : one_double;
  const char *const left = (const char *)p->lhs + lhs * m * k * size;
  const char *const right = (const char *)p->rhs + rhs * k * n * size;
  char *const out = (char *)p->out + product * m * n * size;
  const int type = dtype == JOIST_F16 ? HALF_F16 : HALF_BF16;
  if (half)
    return cublas.halves(state->blas, lhs_turned, rhs_turned, (int)m, (int)n, (int)k, one, left,
                         type, lhs_lead, lhs_stride, right, type, rhs_lead, rhs_stride, zero, out,
                         type, (int)m, (long long)(m * n), (int)count, COMPUTE_F32, ANY_ALGORITHM);
  return cublas.gemm[dtype](state->blas, lhs_turned, rhs_turned, (int)m, (int)n, (int)k, one, left,
                            lhs_lead, lhs_stride, right, rhs_lead, rhs_stride, zero, out, (int)m,
                            (long long)(m * n), (int)count);
}

joist_status joist_cuda_blas_multiply(struct joist_cuda_state *state, joist_dtype dtype,
                                      const struct joist_cuda_matmul *matmul,
                                      struct joist_error *error) {
  joist_status status = open_handle(state, error);
  for (uint64_t at = 0, n; at < matmul->count && status == JOIST_OK; at += n) {
    n = products_from(matmul, at);
    status =
        check(state, multiply_some(state, dtype, matmul, at, n), "multiplying matrices", error);
  }
  return status;
}
