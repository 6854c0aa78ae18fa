/* What the host hands to a kernel, besides the steps of a group. The host's C, the device's C++ and
 * the compiler at run time all read this header. */
#ifndef JOIST_CUDA_KERNELS_DEVICE_CODE_H
#define JOIST_CUDA_KERNELS_DEVICE_CODE_H

#include <stdint.h>

#include "core/codegen/steps.h"

enum {
  JOIST_CUDA_REGISTERS = 48, /* of 16 bytes, per thread of the interpreter */
  JOIST_CUDA_SINKS = 8,      /* reductions of one group */
  JOIST_CUDA_LANES = 4,      /* accumulators of a thread; part of the order of a sum */
  JOIST_CUDA_BLOCK = 256,    /* threads of a block */
  JOIST_CUDA_OWN_BYTES = 3840,
  JOIST_CUDA_WALK_RANK = 32
};

/* What the parameter of an elementwise kernel begins with. */
struct joist_cuda_head {
  uint64_t count;   /* elements of the index space */
  uint64_t threads; /* that share them where the group has sinks, else 0 */
  /* Sinks: the element (i, m, o) of (inner, middle, outer) goes to thread (i, m % segments,
   * o). With segments 0 there is one result: the elements go to the threads round-robin,
   * LANES at a time. */
  uint64_t inner, middle, segments;
  /* The smallest position x 2^16 + number of the step that failed; 1 if a value that is watched
   * does not fit. */
  uint64_t *failure;
  const struct joist_code_step *steps;
  uint32_t step_count, array_count, gather_count, rank;
};

/* The parameter. The tables in `own`: array_count pointers (or elements of at most their size, for
 * GIVEN), gather_count x (rank strides, and along), rank extents; the interpreter finds the steps
 * behind them, or where they do not fit in `steps`, memory of the device. A launch copies all of
 * the parameter: that of a generated kernel ends with the tables. */
struct joist_cuda_group {
  struct joist_cuda_head head;
  uint64_t own[JOIST_CUDA_OWN_BYTES / 8];
};

/* The parameter of a pass of a reduction: element s + k * segments of the middle dim goes,
 * in the order of k, into result s. */
struct joist_cuda_pass {
  uint64_t inner, middle, outer, segments;
  const void *in;
  void *out;
  uint32_t op, from, accumulator;
};

/* Accumulated values to results: divides by `length` unless it is 0, then converts. */
struct joist_cuda_finish {
  uint64_t count;
  double length;
  const void *in;
  void *out;
  uint32_t from, to;
};

/* Moving `count` elements of `size` bytes by position; `step` is 0 when one value fills
 * all positions. `owner` has the number, from 1 on, of the last element that was put at
 * each position. */
struct joist_cuda_move {
  uint64_t count;
  const int64_t *index;
  const void *in;
  void *out;
  uint32_t *owner;
  uint32_t size, step;
};

/* Whether positions, each less `base`, are below `extent`: the number of the first that is
 * not is left in `failure`. */
struct joist_cuda_check {
  uint64_t count;
  const void *index;
  int64_t base;
  uint64_t extent;
  uint64_t *failure;
  uint32_t dtype;
};

/* Moving elements of `size` bytes along a walk of core/ops/move/walk.h without lists. */
struct joist_cuda_walk {
  uint64_t count;
  const void *in;
  void *out;
  int64_t in_base, out_base;
  uint32_t size, rank;
  uint64_t extent[JOIST_CUDA_WALK_RANK];
  int64_t in_stride[JOIST_CUDA_WALK_RANK], out_stride[JOIST_CUDA_WALK_RANK];
};

/* Element (i, k, o) of (inner, entries, outer) is (i, index[k] - 1, o) of (inner, extent,
 * outer). */
struct joist_cuda_gather {
  uint64_t count, inner, entries, extent;
  const void *index;
  const void *in;
  void *out;
  uint32_t size, dtype;
};

/* Element (i, k, o) of (inner, middle, outer) is `from` + k, or `first` + k in integers of 64
 * bits, which doubles do not count. */
struct joist_cuda_iota {
  uint64_t count, inner, middle;
  double from;
  uint64_t first;
  void *out;
  uint32_t dtype;
};

#endif
