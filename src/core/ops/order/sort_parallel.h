/* Sorting one long line, by all threads: its elements, or their positions. */
#ifndef JOIST_CORE_OPS_ORDER_SORT_PARALLEL_H
#define JOIST_CORE_OPS_ORDER_SORT_PARALLEL_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/kernels/sort_kernels.h"

/* Sorts n > 0 elements of `size` bytes from `in` to `out`, fewer than 2^32, up to those that
 * equal others of other bits: *special says how many there are. Fails with JOIST_ERROR_MEMORY or
 * JOIST_INTERRUPTED. */
joist_status joist_sort_long(size_t size, size_t n, const void *in, struct joist_order order,
                             int threads, const struct joist_run *run, void *out,
                             struct joist_line *special,
                             struct joist_error *error) JOIST_MUST_CHECK;

/* The same for their positions, from 1 on; those of equal elements rise. */
joist_status joist_order_long(size_t size, size_t n, const void *in, struct joist_order order,
                              int threads, const struct joist_run *run, int32_t *out,
                              struct joist_error *error) JOIST_MUST_CHECK;

#endif
