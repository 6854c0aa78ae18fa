/* How a reduction sees its operand, and in which portions it is folded: by the shape alone, so that
 * results do not depend on threads or fusion. */
#ifndef JOIST_CORE_PLAN_FOLD_SPACE_H
#define JOIST_CORE_PLAN_FOLD_SPACE_H

#include "core/types/shape.h"

/* What the sinks of a group make of its index space: element (i, m, o) of (inner, middle,
 * outer), column-major, goes into result (i, o). `middle` is cut into strips whose length
 * depends on the space alone; each strip gives a partial result, and a reduction over the
 * remaining dims joins these. */
struct joist_fold_space {
  size_t inner, middle, outer;
};

/* The tile for sinks of a space, from one that would do for elements alone. */
size_t joist_fold_tile(struct joist_fold_space space, size_t tile);
/* Number of elements along `middle` that are joined before anything else. */
size_t joist_fold_strip(struct joist_fold_space space);
size_t joist_fold_strips(struct joist_fold_space space);

/* How rows are folded: so many below the tree of rows one after the other; short ones several at
 * once, up to so many elements; pieces of a row at most so wide. */
enum { JOIST_ROWS_LEAF = 8, JOIST_ROWS_WIDENED = 256, JOIST_ROWS_WIDTH = 512 };

/* The dims of an operand, of which those in `mask` are reduced: neighbours that are both reduced or
 * both kept are one, and extents of 1 are left out. */
struct joist_fold_dims {
  int rank;
  size_t extent[JOIST_RANK_MAX];
  bool reduced[JOIST_RANK_MAX];
};
struct joist_fold_dims joist_fold_dims(const struct joist_shape *shape, uint32_t mask);

/* The first dim that is still to be reduced, and the space that a pass over it sees. -1 when there
 * is none, with a middle of 1. */
int joist_fold_next(const struct joist_fold_dims *dims, struct joist_fold_space *space);

#endif
