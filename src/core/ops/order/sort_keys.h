/* Sorting unsigned keys by one thread: by their digits, and where the processor has them, by
 * vectors. Knows no dtype. */
#ifndef JOIST_CORE_OPS_ORDER_SORT_KEYS_H
#define JOIST_CORE_OPS_ORDER_SORT_KEYS_H

#include "core/kernels/sort_kernels.h"

/* Numbers that `counts` has room for. */
enum { JOIST_SORT_COUNTS = 1 << 14 };

/* What is known of keys, of elements of as many bytes. */
struct joist_line joist_look_at_keys(size_t size, size_t n, const void *keys);

/* Sorts fewer than 2^32 keys of `size` bytes, 4 or 8, in place; `scratch` has room for as many. */
void joist_sort_keys(size_t size, size_t n, void *keys, void *scratch, uint32_t *counts);

#endif
