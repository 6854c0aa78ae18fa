/* Sorting the elements of one long line, by all threads. */
#ifndef JOIST_CORE_SORT_LONG_H
#define JOIST_CORE_SORT_LONG_H

#include "core/engine.h"
#include "core/sort_kernels.h"

/* Sorts n > 0 elements of `size` bytes from `in` to `out`, fewer than 2^32, up to those that
 * equal others of other bits: *special says how many there are. `keys`, aligned to JOIST_LINE, is
 * room for n elements of 32 or 64 bits; `counts` has room for JOIST_SORT_COUNTS
 * numbers per thread. Fails with JOIST_ERROR_MEMORY or JOIST_INTERRUPTED. */
joist_status joist_sort_long(size_t size, size_t n, const void *in, struct joist_order order,
                             void *keys, uint32_t *counts, int threads, const struct joist_run *run,
                             void *out, struct joist_line *special,
                             struct joist_error *error) JOIST_MUST_CHECK;

#endif
