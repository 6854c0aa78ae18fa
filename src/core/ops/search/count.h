/* Counting and finding elements that are TRUE. */
#ifndef JOIST_CORE_OPS_SEARCH_COUNT_H
#define JOIST_CORE_OPS_SEARCH_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "core/types/shape.h"

/* How many of n bools are TRUE, and their positions from 1 on, of which the last must fit. */
size_t joist_count_true(size_t n, const uint8_t *in);
void joist_which(size_t n, const uint8_t *in, int32_t *positions);
/* The same as indices from 1 on: column d holds the indices of dim d, `count` elements each. */
void joist_which_indices(const struct joist_shape *shape, const uint8_t *in, size_t count,
                         int32_t *indices);

/* Copies the elements of `size` bytes whose `left_out` is 0. */
void joist_compress(size_t size, size_t n, const uint8_t *left_out, const void *in, void *out);

#endif
