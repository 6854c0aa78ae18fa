/* Shapes: rank, extents, element counts and reducing. Column-major. */
#ifndef JOIST_CORE_TYPES_SHAPE_H
#define JOIST_CORE_TYPES_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOIST_RANK_MAX = 32, JOIST_SHAPE_TEXT = 256 };

struct joist_shape {
  int rank; /* 0 is a scalar */
  uint32_t extent[JOIST_RANK_MAX];
};

/* Number of elements; false when it does not fit size_t or PTRDIFF_MAX bytes of the
 * largest dtype. */
bool joist_shape_count(const struct joist_shape *shape, size_t *count);
bool joist_shape_equal(const struct joist_shape *lhs, const struct joist_shape *rhs);

/* "{2x3}", "{}" for a scalar. Returns `text`. */
const char *joist_shape_format(const struct joist_shape *shape, char text[JOIST_SHAPE_TEXT]);

/* A shape with elements seen as (inner, middle, outer): `middle` is dim `dim`, or everything if
 * that is negative. */
struct joist_lines {
  size_t inner, middle, outer;
};
struct joist_lines joist_shape_lines(const struct joist_shape *shape, int dim);

/* The shape after reducing the dims of `mask` (bit d: dim d). `drop` removes them,
 * otherwise they keep extent 1. */
void joist_shape_reduce(const struct joist_shape *shape, uint32_t mask, bool drop,
                        struct joist_shape *result);

#endif
