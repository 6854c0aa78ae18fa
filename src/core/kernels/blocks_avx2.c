/* Block types for AVX2 (x86-64-v3), whatever flags the package is compiled with. The
 * system headers come first, so that the target applies to our own functions only. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/kernels/kernels_table.h"

#if JOIST_X86_KERNELS
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define JOIST_BLOCK_TABLE joist_blocks_avx2
#define VECTOR_BYTES 32
#include "core/kernels/blocks.inc"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int joist_no_avx2_here; /* ISO C forbids an empty translation unit */
#endif
