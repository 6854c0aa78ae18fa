/* The kernels: pure loops over contiguous elements, compiled once per instruction
 * set and looked up once per instruction. */
#ifndef JOIST_CORE_KERNELS_H
#define JOIST_CORE_KERNELS_H

#include "core/ops.h"

/* Computes n elements. All operands have the kernel's dtype (but the condition of
 * IFELSE, which is bool); `out` may be one of the inputs, or overlap none of them.
 * Returns n, or the index of the first element for which the operation fails. */
typedef size_t joist_kernel(size_t n, const void *const *in, void *out);

/* NULL when the dtype has no such operation. f16 and bf16 have none of their own. */
joist_kernel *joist_kernel_find(joist_op op, joist_dtype compute);

/* The dtype that a kernel writes: bool for predicates and comparisons, the parts'
 * dtype where a complex operand gives a real result, else `compute`. */
joist_dtype joist_kernel_result(joist_op op, joist_dtype compute);

/* Folds `runs` runs of n >= 1 contiguous elements with a combining operation, each to one
 * element of `out`. Short runs are folded in lanes, these in a balanced tree: the error of a
 * sum grows with log n (Higham 1993), and the order depends on n alone. */
typedef void joist_fold(size_t runs, size_t n, const void *in, void *out);

/* The fold of elements of dtype `from` in an accumulator of another dtype, or the same. NULL
 * when the operation does not combine them; only sums widen what they read. */
joist_fold *joist_fold_find(joist_op combine, joist_dtype from, joist_dtype accumulator);

/* Joins `count` >= 1 rows of n elements, `stride` elements apart, one after the other onto the
 * accumulated row `out`, which is not read when `fresh`. */
typedef void joist_rows(size_t n, size_t count, size_t stride, bool fresh, const void *in,
                        void *out);

/* For the same dtypes as joist_fold_find. */
joist_rows *joist_rows_find(joist_op combine, joist_dtype from, joist_dtype accumulator);

/* Scans n contiguous elements in place with a combining operation: element i becomes element
 * i - stride combined with element i. `carry` is NULL, or the `stride` elements that come
 * before. The order depends on n and the stride alone. */
typedef void joist_scan(size_t n, size_t stride, const void *carry, void *x);

/* NULL when the operation does not combine elements of the dtype. */
joist_scan *joist_scan_find(joist_op combine, joist_dtype dtype);

/* Copies `lines` blocks of JOIST_LINE bytes, both ends aligned to that, past the caches: the
 * processor does not read what is overwritten. Other threads see it after joist_stream_end(). */
typedef void joist_stream_lines(size_t lines, const void *in, void *out);
enum { JOIST_LINE = 64 };

/* NULL where the processor has no such stores. */
joist_stream_lines *joist_stream_find(void);
void joist_stream_end(void);

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

#endif
