/* Matrix products by our own kernels: panels of both operands are packed into contiguous
 * memory, and a kernel multiplies them into a small tile of the result that stays in
 * registers. The way of Goto and van de Geijn, "Anatomy of high-performance matrix
 * multiplication", ACM TOMS 34 (2008).
 *
 * The sums of one element always run over the same blocks of JOIST_GEMM_DEPTH terms in the
 * same order, whatever the number of threads and the other extents: the same bits. They are
 * not the same for every instruction set, as some have a fused multiply-add. */
#ifndef JOIST_CORE_KERNELS_GEMM_KERNEL_H
#define JOIST_CORE_KERNELS_GEMM_KERNEL_H

#include "core/types/dtypes.h"

enum { JOIST_GEMM_DEPTH = 256 };

/* One operand: element (i, p) is at index i * across + p * along, where p counts the terms of
 * the sums. */
struct joist_gemm_operand {
  const void *data;
  size_t across, along;
};

/* Packs `count` lines (at most as many as a panel has; the rest is 0) of `depth` terms. */
typedef void joist_gemm_pack(size_t depth, size_t count, const void *data, size_t across,
                             size_t along, void *panel);

/* Multiplies two panels of `depth` terms into rows x columns elements at `result`, or adds
 * to what is there. */
typedef void joist_gemm_multiply(size_t depth, const void *row_panel, const void *column_panel,
                                 bool add, size_t rows, size_t columns, void *result,
                                 size_t stride);

/* The same for a full panel of columns that are not packed, the first `skipped` of which have no
 * result: term p of column j is at j * across + p * along, where across or along is 1. */
typedef void joist_gemm_direct(size_t depth, const void *row_panel, const void *columns,
                               size_t across, size_t along, bool add, size_t rows, size_t skipped,
                               void *result, size_t stride);

/* A matrix times a vector: result[i] = the sum over p of matrix[i * across + p * along] times
 * vector[p], where across or along is 1. */
typedef void joist_gemm_vector(size_t rows, size_t depth, const void *matrix, size_t across,
                               size_t along, const void *vector, void *result);

/* A product too small for panels; element (i, p) of an operand is at i * across + p * along. */
typedef void joist_gemm_tiny(size_t m, size_t n, size_t depth, const struct joist_gemm_operand *lhs,
                             const struct joist_gemm_operand *rhs, void *result);

/* The kernels of a dtype. Integers are unsigned: their products wrap alike. */
struct joist_gemm_kernel {
  size_t rows, columns; /* elements of a full tile */
  size_t size;          /* bytes of an element */
  joist_gemm_pack *pack_rows, *pack_columns;
  joist_gemm_multiply *multiply;
  joist_gemm_direct *direct; /* NULL for complex dtypes */
  joist_gemm_vector *vector; /* NULL for complex dtypes */
  joist_gemm_tiny *tiny;
};

/* One kernel per dtype; those without (f16, bf16, and 8 bits, which have no vector
 * product) are all zero. */
struct joist_gemm_table {
  struct joist_gemm_kernel kernel[JOIST_WORD_COUNT];
};

#endif
