/* Sorting by AVX-512: keys are dealt to both sides of a pivot a vector at a time, as in
 * Gueron and Krasnov, "Fast quicksort implementation using AVX instructions", The Computer
 * Journal 59 (2016); few keys by the bitonic network of Batcher, "Sorting networks and their
 * applications", AFIPS 32 (1968). */
#include "core/kernels/sort_avx512.h"

#include "core/kernels/kernels.h"
#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS

/* System headers come first: the target must not reach the functions they define. */
#include <immintrin.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt"))), \
    apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")
#pragma GCC optimize("O3", "unroll-loops")
#endif

enum { VECTORS = 8, SAMPLE = 16, DEPTH = 64 };

/* Lanes whose number has that bit. */
enum { UPPER1 = 0xaaaa, UPPER2 = 0xcccc, UPPER4 = 0xf0f0, UPPER8 = 0xff00 };

#define KEY uint32_t
#define LANES 16
#define VECTOR __m512i
#define MASK __mmask16
#define NAME(function) function##_key32
#define SPLAT(x) _mm512_set1_epi32((int)(x))
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512(p, x)
#define LESS(a, b) _mm512_cmplt_epu32_mask(a, b)
#define NOT_MORE(a, b) _mm512_cmple_epu32_mask(a, b)
#define LOAD_WHERE(other, mask, p) _mm512_mask_loadu_epi32(other, mask, p)
#define STORE_WHERE(p, mask, x) _mm512_mask_storeu_epi32(p, mask, x)
#define NUMBERS _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PERMUTE(at, x) _mm512_permutexvar_epi32(at, x)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define MIN(a, b) _mm512_min_epu32(a, b)
#define MAX(a, b) _mm512_max_epu32(a, b)
#define BLEND(mask, a, b) _mm512_mask_blend_epi32((MASK)(mask), a, b)
#define COMPRESS(mask, x) _mm512_maskz_compress_epi32(mask, x)
#include "core/kernels/sort_avx512.inc"

#define KEY uint64_t
#define LANES 8
#define VECTOR __m512i
#define MASK __mmask8
#define NAME(function) function##_key64
#define SPLAT(x) _mm512_set1_epi64((long long)(x))
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512(p, x)
#define LESS(a, b) _mm512_cmplt_epu64_mask(a, b)
#define NOT_MORE(a, b) _mm512_cmple_epu64_mask(a, b)
#define LOAD_WHERE(other, mask, p) _mm512_mask_loadu_epi64(other, mask, p)
#define STORE_WHERE(p, mask, x) _mm512_mask_storeu_epi64(p, mask, x)
#define NUMBERS _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)
#define PERMUTE(at, x) _mm512_permutexvar_epi64(at, x)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define MIN(a, b) _mm512_min_epu64(a, b)
#define MAX(a, b) _mm512_max_epu64(a, b)
#define BLEND(mask, a, b) _mm512_mask_blend_epi64((MASK)(mask), a, b)
#define COMPRESS(mask, x) _mm512_maskz_compress_epi64(mask, x)
#include "core/kernels/sort_avx512.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif

static bool selected(void) { return strcmp(joist_kernels_name(), "avx512") == 0; }
joist_vector_sort *joist_vector_sort_key32(void) { return selected() ? sort_key32 : NULL; }
joist_vector_sort *joist_vector_sort_key64(void) { return selected() ? sort_key64 : NULL; }

#else

joist_vector_sort *joist_vector_sort_key32(void) { return NULL; }
joist_vector_sort *joist_vector_sort_key64(void) { return NULL; }

#endif
