/* Sorting unsigned keys by one thread: by their digits, and where the processor has them, by
 * vectors. Knows no dtype. */
#ifndef JOIST_CORE_OPS_ORDER_SORT_KEYS_H
#define JOIST_CORE_OPS_ORDER_SORT_KEYS_H

#include <stdint.h>

#include "core/kernels/sort_kernels.h"

/* Numbers that `counts` has room for. */
enum { JOIST_SORT_COUNTS = 1 << 14 };

/* Sorts fewer than 2^32 keys in place; `scratch` has room for as many. Keys that are alike but for
 * their `ordered` lowest bits are in order already. `vector` may be NULL. */
void joist_sort_key32(size_t n, uint32_t *keys, uint32_t *scratch, unsigned ordered,
                      uint32_t *counts, joist_vector_sort *vector);
void joist_sort_key64(size_t n, uint64_t *keys, uint64_t *scratch, unsigned ordered,
                      uint32_t *counts, joist_vector_sort *vector);

#endif
