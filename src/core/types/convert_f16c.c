/* The conversion kernels once more, compiled for AVX2, with f16 converted by hardware. */
#include "core/types/convert_f16c.h"

#if JOIST_HAVE_F16C

/* System headers come first: the target must not reach the functions they define. */
#include <complex.h>
#include <immintrin.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif

#include "core/types/convert.inc"

static void widen_f16(size_t n, const uint16_t *in, float *out) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(in + i))));
  for (; i < n; i++) out[i] = narrow_F16_to_f32(in[i]);
}

static void narrow_f16(size_t n, const float *in, uint16_t *out) {
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) out[i] = narrow_f32_to_F16(in[i]);
}

static void f16_to_f32(size_t n, const void *in, void *out) { widen_f16(n, in, out); }
static void f32_to_f16(size_t n, const void *in, void *out) { narrow_f16(n, in, out); }

/* All other dtypes pass through f32, in blocks that stay in the first-level cache. That
 * rounds once: f16 is exact in f32, an integer that is not overflows f16 anyway, and
 * f64 and c128 are rounded to odd. */
enum { BLOCK = 1024 };

static void odd_F64_F32(size_t n, const double *in, float *out) {
  JOIST_VECTORIZE_LOOP for (size_t i = 0; i < n; i++) out[i] = narrow_f64_to_odd_f32(in[i]);
}

static void odd_C128_F32(size_t n, const joist_c128 *in, float *out) {
  JOIST_VECTORIZE_LOOP for (size_t i = 0; i < n; i++) out[i] = narrow_f64_to_odd_f32((double)in[i]);
}

#define FROM_F16(ID, T)                                                   \
  static void f16_through_f32_##ID(size_t n, const void *in, void *out) { \
    const uint16_t *x = in;                                               \
    T *y = out;                                                           \
    float block[BLOCK];                                                   \
    for (size_t i = 0; i < n; i += BLOCK) {                               \
      const size_t count = n - i < BLOCK ? n - i : BLOCK;                 \
      widen_f16(count, x + i, block);                                     \
      convert_F32_##ID(count, block, y + i);                              \
    }                                                                     \
  }
#define TO_F16(ID, T, TO_F32)                                             \
  static void ID##_through_f32_f16(size_t n, const void *in, void *out) { \
    const T *x = in;                                                      \
    uint16_t *y = out;                                                    \
    float block[BLOCK];                                                   \
    for (size_t i = 0; i < n; i += BLOCK) {                               \
      const size_t count = n - i < BLOCK ? n - i : BLOCK;                 \
      TO_F32(count, x + i, block);                                        \
      narrow_f16(count, block, y + i);                                    \
    }                                                                     \
  }

#define X(ID, KIND, T, FACTS, A, B) \
  FROM_F16(ID, T)                   \
  TO_F16(ID, T, convert_##ID##_F32)
JOIST_DTYPES_BOOL(X, , )
JOIST_DTYPES_INT(X, , )
JOIST_DTYPES_UINT(X, , )
JOIST_DTYPES_NARROW(X, , )
#undef X
FROM_F16(F64, double)
FROM_F16(C64, joist_c64)
FROM_F16(C128, joist_c128)
TO_F16(F64, double, odd_F64_F32)
TO_F16(C64, joist_c64, convert_C64_F32)
TO_F16(C128, joist_c128, odd_C128_F32)

#define F32_through_f32_f16 f32_to_f16
#define f16_through_f32_F32 f16_to_f32

static joist_convert_kernel *const from_f16[JOIST_DTYPE_COUNT] = {
#define X(ID, KIND, T, FACTS, A, B) [JOIST_##ID] = f16_through_f32_##ID,
    JOIST_DTYPES_WORD(X, , )
#undef X
};

static joist_convert_kernel *const to_f16[JOIST_DTYPE_COUNT] = {
#define X(ID, KIND, T, FACTS, A, B) [JOIST_##ID] = ID##_through_f32_f16,
    JOIST_DTYPES_WORD(X, , )
#undef X
};

joist_convert_kernel *joist_convert_find_f16c(joist_dtype from, joist_dtype to) {
  if (from == to) return find_in_table(from, to);
  if (from == JOIST_F16 && from_f16[to] != NULL) return from_f16[to];
  if (to == JOIST_F16 && to_f16[from] != NULL) return to_f16[from];
  return find_in_table(from, to);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
