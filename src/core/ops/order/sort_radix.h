/* Sorting of unsigned keys by their digits. Knows no dtype. */
#ifndef JOIST_CORE_OPS_ORDER_SORT_RADIX_H
#define JOIST_CORE_OPS_ORDER_SORT_RADIX_H

#include "core/base/bits.h"
#include "core/base/run.h"
#include "core/base/status.h"

/* Numbers that `counts` has room for, per thread. */
enum { JOIST_SORT_COUNTS = 1 << 14 };

/* Sorts fewer than 2^32 keys in place; `scratch` has room for as many. The shared ones use up
 * to `threads` threads, with `counts` for each, give the same result for any number of them,
 * and fail with JOIST_ERROR_MEMORY or JOIST_INTERRUPTED. */
#define JOIST_SORT_FUNCTIONS(KEY, SUFFIX)                                                      \
  void joist_sort_##SUFFIX(size_t n, KEY *keys, KEY *scratch, uint32_t *counts);               \
  joist_status joist_sort_shared_##SUFFIX(size_t n, KEY *keys, KEY *scratch, uint32_t *counts, \
                                          int threads, const struct joist_run *run,            \
                                          struct joist_error *error) JOIST_MUST_CHECK;
JOIST_SORT_FUNCTIONS(uint32_t, key32)
JOIST_SORT_FUNCTIONS(uint64_t, key64)
#undef JOIST_SORT_FUNCTIONS

#endif
