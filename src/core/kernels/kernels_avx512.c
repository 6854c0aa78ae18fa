/* Kernels for AVX-512 (x86-64-v4), whatever flags the package is compiled with. The system
 * headers come first, so that the target applies to our own functions only. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/vectorize.h"
#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#ifdef __clang__
#pragma clang attribute push(                                                                  \
    __attribute__((                                                                            \
        target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi,bmi2,popcnt"))), \
    apply_to = function)
#else
#pragma GCC target( \
    "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,f16c,bmi,bmi2,popcnt,prefer-vector-width=512")
#endif
#define JOIST_FMA 1
#define RARE_ELSEWHERE 1
#define FLOATS_ONLY 1
#define KEEP_FILE "core/kernels/keep_avx512.inc"
#define JOIST_KERNEL_TABLE joist_kernels_avx512
#define STREAM(in, out) _mm512_stream_si512((void *)(out), _mm512_load_si512(in))
enum { STREAM_BYTES = 64 };
JOIST_UNROLL_BEGIN
#define BITS 32
#define LANES 16
#include "core/kernels/sort_avx512.inc"
#define BITS 64
#define LANES 8
#include "core/kernels/sort_avx512.inc"
JOIST_UNROLL_END
#define VECTOR_SORT_32 vector_sort_key32
#define VECTOR_SORT_64 vector_sort_key64
#undef KEY
#undef NAME
#include "core/kernels/kernels.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int joist_no_avx512_here; /* ISO C forbids an empty translation unit */
#endif
