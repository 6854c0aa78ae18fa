/* Moving elements: by position, by index vectors per dim, along a dim. Elements are bytes
 * here; nothing knows a dtype. Positions are 0-based, column-major and valid: the
 * caller has checked them. */
#ifndef JOIST_CORE_LAYOUT_H
#define JOIST_CORE_LAYOUT_H

#include "core/shape.h"

/* out[k] = in[index[k]] */
void joist_take(size_t size, size_t count, const int64_t *index, const void *in, void *out);

/* out[index[k]] = values[k], or values[0] when there is only one; the last wins. */
void joist_put(size_t size, size_t count, const int64_t *index, const void *values,
               size_t value_count, void *out);

/* Copies `in`, whose extent along `dim` is `extent`, into `out` of shape `shape`, from
 * position `first` along that dim on. */
void joist_concatenate(size_t size, const struct joist_shape *shape, int dim, size_t first,
                       size_t extent, const void *in, void *out);

/* Positions that index vectors select: index[d] lists extent[d] positions along dim d of
 * `shape`, or is NULL for all of them. Writes the product of the extents. */
void joist_positions(const struct joist_shape *shape, const int64_t *const *index,
                     const uint32_t *extent, int64_t *positions);

/* Elements of an array of shape `shape` that index vectors select, in order. */
void joist_take_dims(size_t size, const struct joist_shape *shape, const int64_t *const *index,
                     const uint32_t *extent, const void *in, void *out);

/* Permutes the dims: dim d of `out` is dim order[d] of `in`, whose shape is `shape`. */
void joist_permute(size_t size, const struct joist_shape *shape, const int32_t *order,
                   const void *in, void *out);

#endif
