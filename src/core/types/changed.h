/* Which values another dtype does not hold. Owns no memory, cannot fail. */
#ifndef JOIST_CORE_TYPES_CHANGED_H
#define JOIST_CORE_TYPES_CHANGED_H

#include "core/types/dtypes.h"
#include "core/types/host.h"

/* Whether the element at x is another value once it is converted, as an integer that wraps or a
 * number that is rounded; zeros of either sign, and NaN, are the same. */
bool joist_element_changes(joist_dtype from, joist_dtype to, const void *x);

/* How many of n elements change, and the first of them, if there is one. `mask`, or NULL, is 1
 * where an element is missing. */
size_t joist_count_changed(size_t n, const void *in, joist_dtype from, joist_dtype to,
                           const uint8_t *mask, size_t *first);

/* The same of elements that the dtype has no value near: beyond its range, or NaN or infinite where
 * it has none. R numbers that are so are refused by joist_import(). */
size_t joist_count_beyond(size_t n, const void *in, joist_dtype from, joist_dtype to,
                          const uint8_t *mask, size_t *first);

/* Replaces converted integers that changed by the bound of their dtype that is nearest; other
 * dtypes are left alone. */
void joist_saturate_changed(size_t n, const void *in, joist_dtype from, joist_dtype to, void *out);

/* Whether all of n doubles or integers of R can be elements of the dtype; NA and NaN count as such.
 * Doubles are rounded by floats of 32 bits and more, but for whole numbers beyond 2^24, and these
 * and what narrower floats hold in the 15 digits that dput() writes. */
bool joist_holds(joist_dtype dtype, joist_host host, const void *values, size_t n);

#endif
