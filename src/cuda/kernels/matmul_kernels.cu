/* Matrix products: the threads of a block make a tile of one product, reading tiles of both
 * operands from shared memory. Sums run over the terms in order: the same bits for any
 * device and grid. */
#include <cuda_runtime.h>

#include "cuda/kernels/target.cuh"

#define JOIST_INLINE JOIST_DEVICE JOIST_OUTLINE static
#define JOIST_COMPLEX_FUNCTION JOIST_DEVICE JOIST_OUTLINE static

#include "cuda/kernels/matmul_kernels.h"
#include "cuda/kernels/shared.cuh"
#include "cuda/kernels/stored.cuh"

enum {
  TILE = 64,          /* rows and columns of a tile */
  SIDE = 16,          /* threads along each of them */
  PART = TILE / SIDE, /* rows and columns of a thread, SIDE apart */
  DEPTH = 16,         /* terms that are in shared memory at a time */
  LINE = TILE + 1     /* one more, so that columns lie in different banks */
};
static_assert(SIDE * SIDE == JOIST_CUDA_BLOCK, "one thread for each place");

/* ---- how the elements of a dtype are multiplied: as core/kernels/gemm.inc does ----
 *
 * `stored` in memory, `factor` in shared memory, `sum` while terms are added up. */

struct product_bool {
  typedef uint8_t stored, factor, sum;
  JOIST_DEVICE static factor load(stored x) { return x; }
  JOIST_DEVICE static void add(sum &to, factor a, factor b) { to = (sum)(to | (a & b)); }
  JOIST_DEVICE static stored store(sum x) { return x; }
};

/* Integers are unsigned: their products wrap alike. Narrow ones are cut at the end. */
template <class T, class Sum>
struct product_integer {
  typedef T stored, factor;
  typedef Sum sum;
  JOIST_DEVICE static factor load(stored x) { return x; }
  JOIST_DEVICE static void add(sum &to, factor a, factor b) { to += (Sum)a * (Sum)b; }
  JOIST_DEVICE static stored store(sum x) { return (stored)x; }
};

JOIST_DEVICE static inline float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
JOIST_DEVICE static inline double multiply_add(double a, double b, double c) {
  return fma(a, b, c);
}

template <class T>
struct product_real {
  typedef T stored, factor, sum;
  JOIST_DEVICE static factor load(stored x) { return x; }
  JOIST_DEVICE static void add(sum &to, factor a, factor b) { to = multiply_add(a, b, to); }
  JOIST_DEVICE static stored store(sum x) { return x; }
};

/* Narrow floats are summed in f32 and rounded once. */
template <class Element>
struct product_narrow : product_real<float> {
  typedef typename Element::stored stored;
  JOIST_DEVICE static factor load(stored x) { return Element::read(x); }
  JOIST_DEVICE static stored store(sum x) { return Element::made(x); }
};

template <class T>
struct product_complex {
  typedef T stored, factor, sum;
  JOIST_DEVICE static factor load(stored x) { return x; }
  JOIST_DEVICE static void add(sum &to, factor a, factor b) {
    to.re = multiply_add(a.re, b.re, to.re);
    to.im = multiply_add(a.re, b.im, to.im);
    to.re = multiply_add(-a.im, b.im, to.re);
    to.im = multiply_add(a.im, b.re, to.im);
  }
  JOIST_DEVICE static stored store(sum x) { return x; }
};

/* ---- tiles ---- */

/* Lines (rows of the left operand, columns of the right one) and terms of a tile; what is
 * outside of the matrix is 0. Threads next to each other read elements next to each other. */
template <class P>
JOIST_DEVICE static inline void load_tile(const typename P::stored *matrix, uint64_t first_line,
                                          uint64_t lines, uint64_t first_term, uint64_t terms,
                                          uint64_t across, uint64_t along,
                                          typename P::factor *tile) {
  for (uint32_t t = threadIdx.x; t < TILE * DEPTH; t += JOIST_CUDA_BLOCK) {
    const uint32_t i = along == 1 ? t / DEPTH : t % TILE, p = along == 1 ? t % DEPTH : t / TILE;
    const uint64_t line = first_line + i, term = first_term + p;
    typename P::factor x = typename P::factor(0);
    if (line < lines && term < terms) x = P::load(matrix[line * across + term * along]);
    tile[p * LINE + i] = x;
  }
}

/* Where the matrices of product `number` are, in matrices. */
JOIST_DEVICE static inline void matrices_of(const joist_cuda_matmul &matmul, uint64_t number,
                                            uint64_t *lhs, uint64_t *rhs) {
  *lhs = *rhs = 0;
  for (uint32_t d = 0; d < matmul.rank; d++) {
    const uint64_t at = number % matmul.extent[d];
    *lhs += at * matmul.lhs_stride[d];
    *rhs += at * matmul.rhs_stride[d];
    number /= matmul.extent[d];
  }
}

template <class P>
JOIST_DEVICE static inline void multiply_tiles(const typename P::factor *lhs,
                                               const typename P::factor *rhs, uint32_t row,
                                               uint32_t column,
                                               typename P::sum (&sums)[PART][PART]) {
  for (uint32_t p = 0; p < DEPTH; p++) {
    typename P::factor a[PART], b[PART];
    JOIST_UNROLL for (int k = 0; k < PART; k++) {
      a[k] = lhs[p * LINE + row + (uint32_t)k * SIDE];
      b[k] = rhs[p * LINE + column + (uint32_t)k * SIDE];
    }
    JOIST_UNROLL for (int j = 0; j < PART; j++) JOIST_UNROLL for (int i = 0; i < PART; i++)
        P::add(sums[i][j], a[i], b[j]);
  }
}

template <class P>
JOIST_DEVICE static inline void multiply(const joist_cuda_matmul &matmul) {
  typedef typename P::stored T;
  typename P::factor *const lhs = (typename P::factor *)joist_shared, *const rhs =
                                                                          lhs + DEPTH * LINE;
  const uint32_t row = threadIdx.x % SIDE, column = threadIdx.x / SIDE;
  const uint64_t m = matmul.m, n = matmul.n, k = matmul.k;
  const uint64_t down = (m + TILE - 1) / TILE, right = (n + TILE - 1) / TILE;
  for (uint64_t tile = blockIdx.x; tile < down * right * matmul.count; tile += gridDim.x) {
    const uint64_t first_row = tile % down * TILE, first_column = tile / down % right * TILE;
    const uint64_t number = tile / down / right;
    uint64_t of_lhs, of_rhs;
    matrices_of(matmul, number, &of_lhs, &of_rhs);
    typename P::sum sums[PART][PART];
    for (int i = 0; i < PART; i++)
      for (int j = 0; j < PART; j++) sums[i][j] = typename P::sum(0);
    for (uint64_t first = 0; first < k; first += DEPTH) {
      load_tile<P>((const T *)matmul.lhs + of_lhs * m * k, first_row, m, first, k,
                   matmul.lhs_across, matmul.lhs_along, lhs);
      load_tile<P>((const T *)matmul.rhs + of_rhs * k * n, first_column, n, first, k,
                   matmul.rhs_across, matmul.rhs_along, rhs);
      __syncthreads();
      multiply_tiles<P>(lhs, rhs, row, column, sums);
      __syncthreads();
    }
    T *const out = (T *)matmul.out + number * m * n;
    for (int j = 0; j < PART; j++)
      for (int i = 0; i < PART; i++) {
        const uint64_t r = first_row + row + (uint64_t)i * SIDE;
        const uint64_t c = first_column + column + (uint64_t)j * SIDE;
        if (r < m && c < n) out[c * m + r] = P::store(sums[i][j]);
      }
  }
}

/* ---- a kernel for each dtype, and for those that wrap alike ---- */

struct entry {
  const void *kernel;
  size_t factor; /* bytes */
};

template <class T>
struct wrapping_sum {
  typedef typename unsigned_of<(sizeof(T) < 4 ? 4 : (int)sizeof(T))>::type type;
};

#define PRODUCT(ID, ...)                                                                   \
  JOIST_KERNEL(joist_matmul_##ID, joist_cuda_matmul) { multiply<__VA_ARGS__>(parameter); } \
  static const entry entry_##ID = {(const void *)joist_matmul_##ID, sizeof(__VA_ARGS__::factor)};
#define OF_BOOL(ID, KIND, T, FACTS, A, B) PRODUCT(ID, product_bool)
#define OF_UINT(ID, KIND, T, FACTS, A, B) PRODUCT(ID, product_integer<T, wrapping_sum<T>::type>)
#define OF_NARROW(ID, KIND, T, FACTS, A, B) PRODUCT(ID, product_narrow<element_##ID>)
#define OF_FLOAT(ID, KIND, T, FACTS, A, B) PRODUCT(ID, product_real<T>)
#define OF_COMPLEX(ID, KIND, T, FACTS, A, B) PRODUCT(ID, product_complex<T>)
JOIST_DTYPES_BOOL(OF_BOOL, , )
JOIST_DTYPES_UINT(OF_UINT, , )
JOIST_DTYPES_NARROW(OF_NARROW, , )
JOIST_DTYPES_FLOAT(OF_FLOAT, , )
JOIST_DTYPES_COMPLEX(OF_COMPLEX, , )

/* By the bytes of an integer, signed or not. */
template <size_t BYTES>
static inline entry entry_of_integer();
#define X(ID, KIND, T, FACTS, A, B)            \
  template <>                                  \
  inline entry entry_of_integer<sizeof(T)>() { \
    return entry_##ID;                         \
  }
JOIST_DTYPES_UINT(X, , )
#undef X

static entry entry_of(uint32_t dtype) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return entry_##ID;
    JOIST_DTYPES_BOOL(X, , )
    JOIST_DTYPES_UINT(X, , )
    JOIST_DTYPES_NARROW(X, , )
    JOIST_DTYPES_FLOAT(X, , )
    JOIST_DTYPES_COMPLEX(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return entry_of_integer<sizeof(T)>();
    JOIST_DTYPES_INT(X, , )
#undef X
  }
  return entry{nullptr, 0};
}

int joist_cuda_start_matmul(uint32_t dtype, const joist_cuda_matmul *matmul, void *stream) {
  const entry found = entry_of(dtype);
  const uint64_t down = (matmul->m + TILE - 1) / TILE, right = (matmul->n + TILE - 1) / TILE;
  const uint64_t blocks = down * right * matmul->count;
  const unsigned grid = blocks < 0x7fffffff ? (unsigned)blocks : 0x7fffffffu;
  void *arguments[] = {const_cast<joist_cuda_matmul *>(matmul)};
  return (int)cudaLaunchKernel(found.kernel, dim3(grid), dim3(JOIST_CUDA_BLOCK), arguments,
                               2 * DEPTH * LINE * found.factor, (cudaStream_t)stream);
}
