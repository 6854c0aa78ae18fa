/* Exact sums of up to 2^32 integers each: those of the high and of the low halves of 64 bits, of
 * elements moved up by half the range of a dtype with a sign. */
#ifndef JOIST_CORE_CPU_HALVES_H
#define JOIST_CORE_CPU_HALVES_H

#include "core/types/dtypes.h"

struct joist_halves {
  uint64_t *high, *low;
};

/* What elements are moved up by. */
uint64_t joist_half_of_range(joist_dtype dtype);

/* Adds rows of elements, which lie one after the other, to `width` sums. */
void joist_halves_add(struct joist_halves sums, joist_dtype dtype, size_t width, size_t rows,
                      const void *elements);

#endif
