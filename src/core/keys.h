/* Unsigned keys of elements that compare as the elements do, for sorting and searching. */
#ifndef JOIST_CORE_KEYS_H
#define JOIST_CORE_KEYS_H

#include "core/dtypes.h"

/* Keys in the order of the elements, or with `decreasing` in the opposite one. Both zeros have
 * one key; every NaN has the largest, which no number has. Not for complex dtypes. */
void joist_order_keys(joist_dtype dtype, bool decreasing, size_t n, const void *in, uint64_t *keys);

/* Keys that are equal where elements are: both zeros, and all NaN except R's NA_real_ in f64
 * and c128, which equals only itself; complex numbers part by part. Elements have
 * joist_match_parts() keys, the second ones from keys + n on. */
void joist_match_keys(joist_dtype dtype, size_t n, const void *in, uint64_t *keys);
size_t joist_match_parts(joist_dtype dtype);

#endif
