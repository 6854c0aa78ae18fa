/* Choosing the instruction set, and looking up its kernels, once per instruction. */
#ifndef JOIST_CORE_KERNELS_KERNELS_H
#define JOIST_CORE_KERNELS_KERNELS_H

#include "core/kernels/blocks.h"
#include "core/kernels/fft_kernel.h"
#include "core/kernels/gemm_kernel.h"
#include "core/kernels/kernel.h"
#include "core/kernels/random_kernels.h"
#include "core/kernels/sort_kernels.h"
#include "core/kernels/stream.h"
#include "core/program/ops.h"

/* NULL when the dtype has no such operation. f16 and bf16 have no separate kernels, but for kernels
 * of half_tables.h. */
joist_kernel *joist_kernel_find(joist_op op, joist_dtype compute);

/* The kernel that reads one element of its second operand, with the same bits as the kernel of an
 * array of equal ones. NULL where that gains nothing. */
joist_kernel *joist_kernel_by_number_find(joist_op op, joist_dtype compute);

/* What looks for results that do not fit the dtype; NULL where all fit, as of floats. */
joist_may_wrap *joist_may_wrap_find(joist_op op, joist_dtype compute);
/* The same of whole lines of memory at which `out` begins, whose results are written past the
 * caches. NULL unless it is fused with the kernel. */
joist_may_wrap *joist_stream_wrap_find(joist_op op, joist_dtype compute);
/* Whether it is fused with the kernel. */
bool joist_may_wrap_is_fused(joist_op op, joist_dtype compute);
/* The greatest magnitude whose power with the exponent is known to fit. */
uint64_t joist_power_limit(joist_dtype compute, uint64_t exponent);
joist_wraps *joist_wraps_find(joist_op op, joist_dtype compute);
/* NULL unless joist_may_wrap_is_fused(). */
joist_count_wraps *joist_count_wraps_find(joist_op op, joist_dtype compute);
/* NULL but for integers that are computed in their own dtype. */
joist_magnitudes *joist_magnitudes_find(joist_dtype dtype);
joist_changes *joist_changes_find(joist_dtype dtype);
joist_count_marks *joist_count_marks_find(void);

/* The fold of elements of dtype `from` in an accumulator of another dtype, or the same. NULL
 * when the operation does not combine them; only sums widen what they read. */
joist_fold *joist_fold_find(joist_op combine, joist_dtype from, joist_dtype accumulator);

/* NULL but for sums in the accumulator that reduce_sum has for the dtype. */
joist_masked_fold *joist_masked_fold_find(joist_op combine, joist_dtype from,
                                          joist_dtype accumulator);

/* For the same dtypes as joist_fold_find. */
joist_rows *joist_rows_find(joist_op combine, joist_dtype from, joist_dtype accumulator);

/* NULL when the operation does not combine elements of the dtype. */
joist_scan *joist_scan_find(joist_op combine, joist_dtype dtype);

/* NULL where the processor has no such stores. */
joist_stream_lines *joist_stream_find(void);

/* Of single precision, or of double. */
const struct joist_fft_kernel *joist_fft_find(bool wide);

/* NULL for a dtype without a kernel. */
const struct joist_gemm_kernel *joist_gemm_find(joist_dtype dtype);
const struct joist_block_table *joist_block_kernels(void);

const struct joist_random_kernels *joist_random_kernels(void);

/* For elements of that many bytes. */
const struct joist_sort_kernels *joist_sort_kernels(size_t size);
/* For items of 4, 8 or 16 bytes. */
joist_deal *joist_deal_find(size_t size);

/* Neutral element of a combining operation, written to `out`. False if there is none
 * (min and max). */
bool joist_identity(joist_op combine, joist_dtype dtype, void *out);

/* The bool that decides the result of combining bools, whatever else there is: 0 or 1. */
char joist_absorbing(joist_op combine);

/* Chooses the instruction set: NULL for the best the processor has, or a name
 * ("generic", "avx2", "avx512"). False when it is unknown or not supported. The
 * generic one is in use until the first call. */
bool joist_kernels_select(const char *name);
const char *joist_kernels_name(void);
/* The flags of a compiler for that instruction set, as its kernels are compiled. */
const char *joist_kernels_flags(void);
/* Its number, from 0 on, for what is kept for each. */
enum { JOIST_INSTRUCTION_SETS_MAX = 3 };
size_t joist_kernels_number(void);

#endif
