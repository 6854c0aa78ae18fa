/* The order of keys: their positions go below them in words, which are then sorted. */
#ifndef JOIST_CORE_OPS_ORDER_ARGSORT_PACKED_H
#define JOIST_CORE_OPS_ORDER_ARGSORT_PACKED_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/ops/order/sort_radix.h"

/* Sorts the positions 0 .. n - 1 of keys, equal keys by their position: that of rank i is words[i]
 * & *mask. 0 < n < 2^32. There is room for n `words`, as much `scratch`, and JOIST_SORT_COUNTS
 * `counts` for each of up to `threads` threads, all of which give the same result. Fails with
 * JOIST_ERROR_MEMORY or JOIST_INTERRUPTED, but not where there is one thread. */
joist_status joist_order_words(size_t n, const uint64_t *keys, uint64_t *words, uint64_t *scratch,
                               uint32_t *counts, int threads, const struct joist_run *run,
                               uint64_t *mask, struct joist_error *error);

#endif
