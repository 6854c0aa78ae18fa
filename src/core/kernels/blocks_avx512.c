/* Block types for AVX-512 (x86-64-v4), whatever flags the package is compiled with. The
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
#pragma clang attribute push(                                                             \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c"))), \
    apply_to = function)
#else
#pragma GCC target( \
    "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,prefer-vector-width=512")
#endif
#define FLOATS_OF(P) \
  ((V)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(P)))))
#define JOIST_BLOCK_TABLE joist_blocks_avx512
#define VECTOR_BYTES 64
#include "core/kernels/blocks_x86.h"

#include "core/kernels/blocks.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int joist_no_avx512_here; /* ISO C forbids an empty translation unit */
#endif
