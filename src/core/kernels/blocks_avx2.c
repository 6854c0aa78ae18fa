/* Block types for AVX2 (x86-64-v3), whatever flags the package is compiled with. The
 * system headers come first, so that the target applies to our own functions only. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c")
#endif
#define FLOATS_OF(P) \
  ((V)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(P)))))
#define JOIST_BLOCK_TABLE joist_blocks_avx2
#define VECTOR_BYTES 32
#include "core/kernels/blocks_x86.h"

#include "core/kernels/blocks.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int joist_no_avx2_here; /* ISO C forbids an empty translation unit */
#endif
