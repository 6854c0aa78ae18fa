/* Sorting one line, its elements or their positions. Equal elements stay in order. */
#ifndef JOIST_CORE_OPS_ORDER_SORT_LINE_H
#define JOIST_CORE_OPS_ORDER_SORT_LINE_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/kernels/sort_kernels.h"
#include "core/types/dtypes.h"

struct joist_sorting {
  const struct joist_sort_kernels *kernels;
  struct joist_order order;
  size_t size;    /* bytes of an element */
  bool positions; /* what comes out: positions from 1 on, as int32_t, or the elements */
};

struct joist_sorting joist_sorting_of(joist_dtype dtype, bool decreasing, bool positions);

/* Sorts fewer than 2^32 elements by one thread, in joist_sort_room() bytes aligned to
 * JOIST_LINE. */
void joist_sort_line(const struct joist_sorting *s, size_t n, const void *in, void *room,
                     void *out);
size_t joist_sort_room(const struct joist_sorting *s, size_t n);

/* The same for a long line, which is dealt into buckets that stay in a cache, by all threads.
 * Fails with JOIST_ERROR_MEMORY or JOIST_INTERRUPTED. */
joist_status joist_sort_long_line(const struct joist_sorting *s, size_t n, const void *in,
                                  int threads, const struct joist_run *run, void *out,
                                  struct joist_error *error) JOIST_MUST_CHECK;

#endif
