/* What the host hands to the kernels of cumulative operations. */
#ifndef JOIST_CUDA_KERNELS_SCAN_KINDS_H
#define JOIST_CUDA_KERNELS_SCAN_KINDS_H

#include <stdint.h>

/* What is accumulated how. */
typedef enum {
  JOIST_CUDA_SCAN_WRAP,         /* sums and products of integers and bool, in 64 bits */
  JOIST_CUDA_SCAN_ORDER,        /* extremes of integers and bool */
  JOIST_CUDA_SCAN_ORDER_F32,    /* extremes of f16, bf16 and f32 */
  JOIST_CUDA_SCAN_ORDER_F64,    /* and of f64 */
  JOIST_CUDA_SCAN_SUM_F64,      /* sums of floats */
  JOIST_CUDA_SCAN_PRODUCT_F64,  /* products of floats */
  JOIST_CUDA_SCAN_SUM_C128,     /* sums of complex numbers */
  JOIST_CUDA_SCAN_PRODUCT_C128, /* products of complex numbers */
  JOIST_CUDA_SCANS
} joist_cuda_scan_kind;

/* An array of (inner, middle, outer) elements is scanned along the middle, column by column. A
 * block has a unit of columns: `width` ones next to each other, of `slabs` outer indices. It goes
 * along one of the unit's segments, `tiles` tiles of `rows` rows each; a column of a tile is cut
 * into `runs` runs of at most `run` rows, with a thread each. All of these follow from the shape
 * and the kind, and with them the order in which elements are combined. */
struct joist_cuda_scan {
  uint64_t inner, middle, outer;
  const void *in;
  void *out;
  void *totals; /* of the unit's segments: (unit x segments + segment) x width + column */
  uint32_t from, to;
  uint32_t second; /* the second operation of its kind: product, maximum */
  uint32_t width, pieces, slabs, rows, runs, run;
  uint32_t units, segments, tiles;
  uint32_t only_totals;
};

#endif
