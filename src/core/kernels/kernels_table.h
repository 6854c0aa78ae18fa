/* The kernel tables of the instruction sets; private to kernels*.c,
 * gemm_*.c and blocks_*.c. */
#ifndef JOIST_CORE_KERNELS_KERNELS_TABLE_H
#define JOIST_CORE_KERNELS_KERNELS_TABLE_H

#include "core/kernels/blocks.h"
#include "core/kernels/fft_kernel.h"
#include "core/kernels/gemm_kernel.h"
#include "core/kernels/kernel.h"
#include "core/kernels/random_kernels.h"
#include "core/kernels/sort_kernels.h"
#include "core/kernels/stream.h"
#include "core/program/ops.h"

/* How many operations have kernels: ops.def begins with them (asserted in kernels.c). */
enum {
  KERNEL_OPS = 0
#define OP(ID, NAME, OPERANDS, CLASS, KINDS, GENERIC) +1
#include "core/program/ops.def"
};

/* Operations that have other functions, too, and their rows of these; row 0 is empty. */
enum {
  COMBINES_NONE,
  COMBINES_ADD,
  COMBINES_MUL,
  COMBINES_MIN,
  COMBINES_MAX,
  COMBINES_AND,
  COMBINES_OR,
  COMBINES_ROWS
};
enum {
  WRAPS_NONE,
  WRAPS_ADD,
  WRAPS_SUB,
  WRAPS_MUL,
  WRAPS_DIV,
  WRAPS_ROUND_DIV,
  WRAPS_POW,
  WRAPS_FLOORDIV,
  WRAPS_NEGATE,
  WRAPS_ABS,
  WRAPS_SHIFT_LEFT,
  WRAPS_ROWS
};
enum { UNIFORM_NONE, UNIFORM_POW, UNIFORM_FLOORDIV, UNIFORM_MOD, UNIFORM_ROWS };

struct joist_kernel_table {
  joist_kernel *kernel[KERNEL_OPS][JOIST_WORD_COUNT];
  joist_kernel *uniform[UNIFORM_ROWS][JOIST_WORD_COUNT];   /* also of equal second operands */
  joist_kernel *by_number[UNIFORM_ROWS][JOIST_WORD_COUNT]; /* of one second operand */
  joist_may_wrap *may_wrap[WRAPS_ROWS][JOIST_WORD_COUNT];
  joist_may_wrap *stream_wrap[WRAPS_ROWS][JOIST_WORD_COUNT];
  joist_wraps *wraps[WRAPS_ROWS][JOIST_WORD_COUNT];
  joist_count_wraps *count_wraps[WRAPS_ROWS][JOIST_WORD_COUNT];
  joist_magnitudes *magnitudes[JOIST_WORD_COUNT];
  joist_changes *changes[JOIST_WORD_COUNT];
  joist_count_marks *count_marks;
  joist_fold *fold[COMBINES_ROWS][JOIST_WORD_COUNT];
  joist_rows *rows[COMBINES_ROWS][JOIST_WORD_COUNT];
  joist_fold *wide_sum[JOIST_WORD_COUNT]; /* by the dtype read; sum_in is the accumulator's */
  joist_rows *wide_rows[JOIST_WORD_COUNT];
  joist_masked_fold *masked_sum[JOIST_WORD_COUNT];
  joist_dtype sum_in[JOIST_WORD_COUNT];
  joist_scan *scan[COMBINES_ROWS][JOIST_WORD_COUNT];
  struct joist_random_kernels random;
  const struct joist_sort_kernels *sort[4]; /* of elements of 1, 2, 4 and 8 bytes */
  joist_deal *deal[3];                      /* of items of 4, 8 and 16 bytes */
  joist_stream_lines *stream;
};

#if defined(__GNUC__) && defined(__x86_64__) && !defined(JOIST_GENERIC_ONLY)
#define JOIST_X86_KERNELS 1
#else
#define JOIST_X86_KERNELS 0
#endif

#if JOIST_X86_KERNELS
#include <immintrin.h>
#endif

extern const struct joist_kernel_table joist_kernels_generic;
#if JOIST_X86_KERNELS
extern const struct joist_kernel_table joist_kernels_avx2;
extern const struct joist_kernel_table joist_kernels_avx512;
#endif

extern const struct joist_gemm_table joist_gemm_generic;
extern const struct joist_fft_table joist_fft_generic;
#if JOIST_X86_KERNELS
extern const struct joist_gemm_table joist_gemm_avx2;
extern const struct joist_gemm_table joist_gemm_avx512;
extern const struct joist_fft_table joist_fft_avx2;
extern const struct joist_fft_table joist_fft_avx512;
#endif

extern const struct joist_block_table joist_blocks_generic;
#if JOIST_X86_KERNELS
extern const struct joist_block_table joist_blocks_avx2;
extern const struct joist_block_table joist_blocks_avx512;
#endif

#endif
