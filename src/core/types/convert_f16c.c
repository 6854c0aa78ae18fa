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

#define HARDWARE_F16 1
#include "core/types/convert.inc"

static void convert_F16_F32(size_t n, const void *in, void *out) {
  const uint16_t *const x = in;
  float *const y = out;
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
  for (; i < n; i++) y[i] = narrow_F16_to_f32(x[i]);
}

static void convert_F32_F16(size_t n, const void *in, void *out) {
  const float *const x = in;
  uint16_t *const y = out;
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128((__m128i *)(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) y[i] = narrow_f32_to_F16(x[i]);
}

joist_convert_kernel *joist_convert_find_f16c(joist_dtype from, joist_dtype to) {
  return find_in_table(from, to);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
