/* Kernels for AVX2 (x86-64-v3), whatever flags the package is compiled with. The system
 * headers come first, so that the target applies to our own functions only. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,bmi,bmi2,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,popcnt")
#endif
#define JOIST_FMA 1
#define RARE_ELSEWHERE 1
#define KEEP_FILE "core/kernels/keep_avx2.inc"
#define JOIST_KERNEL_TABLE joist_kernels_avx2
#define STREAM(in, out)                         \
  _mm256_stream_si256((__m256i *)(void *)(out), \
                      _mm256_load_si256((const __m256i *)(const void *)(in)))
enum { STREAM_BYTES = 32 };
#include "core/kernels/kernels.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int joist_no_avx2_here; /* ISO C forbids an empty translation unit */
#endif
