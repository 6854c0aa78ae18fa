/* The forms of kernels: pure loops over contiguous elements, compiled once per instruction set. */
#ifndef JOIST_CORE_KERNELS_KERNEL_H
#define JOIST_CORE_KERNELS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements computed before those that fail, or need repair, are looked at. */
enum { REPAIR_CHUNK = 512 };

/* Computes n elements. All operands have the kernel's dtype (but the condition of
 * IFELSE, which is bool); `out` may be one of the inputs, or overlap none of them.
 * Returns n, or the index of the first element for which the operation fails. */
typedef size_t joist_kernel(size_t n, const void *const *in, void *out);

/* Whether the result of any of n elements may not fit; false only if all fit. One that is fused
 * writes the results as well, to memory that overlaps no operand; others leave `out` alone. */
typedef bool joist_may_wrap(size_t n, const void *const *in, void *out);

/* Which results do not fit, and how. */
enum { JOIST_WRAPPED_ABOVE = 1, JOIST_WRAPPED_BELOW = 2 };
typedef void joist_wraps(size_t n, const void *const *in, uint8_t *wrapped);

/* The results, and how many of them do not fit. */
typedef size_t joist_count_wraps(size_t n, const void *const *in, void *out);

/* The bits of n integers, or'ed: of their complements where they are negative. */
typedef uint64_t joist_magnitudes(size_t n, const void *in);

/* The integers that a dtype holds: magnitudes of at most `above`, of negative ones `below`, and,
 * where it `rounds`, at most `digits` digits but for zeros at the end. */
struct joist_held {
  uint64_t above, below;
  bool rounds;
  int digits;
};
/* How many of n integers are not held. */
typedef size_t joist_changes(size_t n, const void *in, const struct joist_held *held);

/* How many of n elements are marked and not missing: up to JOIST_MARKS_MOST bytes that are 0 where
 * they are not. */
enum { JOIST_MARKS_MOST = 1024 };
typedef size_t joist_count_marks(size_t n, const uint8_t *marks, const uint8_t *missing);

/* Folds `runs` runs of n >= 1 contiguous elements with a combining operation, each to one
 * element of `out`. Short runs are folded in lanes, these in a balanced tree: the error of a
 * sum grows with log n (Higham 1993), and the order depends on n alone. */
typedef void joist_fold(size_t runs, size_t n, const void *in, void *out);

/* The same bits as a fold of what IFELSE makes of the three operands `in`: the mask (bool, one per
 * element), one value that stands for masked elements, the elements. Where `nan`, the value stands
 * for NaN, too. */
typedef void joist_masked_fold(size_t runs, size_t n, const void *const *in, bool nan, void *out);

/* Joins `count` >= 1 rows of n elements, `stride` elements apart, one after the other onto the
 * accumulated row `out`, which is not read when `fresh`. */
typedef void joist_rows(size_t n, size_t count, size_t stride, bool fresh, const void *in,
                        void *out);

/* Scans n contiguous elements in place with a combining operation: element i becomes element
 * i - stride combined with element i. `carry` is NULL, or the `stride` elements that come
 * before. The order depends on n and the stride alone. */
typedef void joist_scan(size_t n, size_t stride, const void *carry, void *x);

#endif
