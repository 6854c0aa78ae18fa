/* Neighbouring dims that are reduced together are one dim, so a pass over an operand sees (inner,
 * middle, outer) and reduces the middle, in strips. The first pass is fused with what computes the
 * operand; the next ones join the strips and reduce what is left of the dims. */
#include "core/plan/fold_space.h"

enum {
  RUN_STRIP = 1024,      /* elements of a contiguous run that are folded at once */
  ROW_STRIP = 256,       /* rows that are combined at once, at least, */
  ROW_ELEMENTS = 1 << 16 /* and as many as have about so many elements */
};

size_t joist_fold_strip(struct joist_fold_space space) {
  if (space.inner <= 1) return RUN_STRIP;
  const size_t rows = ROW_ELEMENTS / space.inner;
  return rows < ROW_STRIP ? ROW_STRIP : rows;
}

size_t joist_fold_strips(struct joist_fold_space space) {
  const size_t strip = joist_fold_strip(space);
  return space.middle / strip + (space.middle % strip != 0);
}

size_t joist_fold_tile(struct joist_fold_space space, size_t tile) {
  if (space.inner != 1) return tile;
  const size_t unit = space.middle == 0          ? 1
                      : space.middle < RUN_STRIP ? space.middle
                                                 : (size_t)RUN_STRIP;
  return tile < unit ? unit : tile / unit * unit;
}

struct joist_fold_dims joist_fold_dims(const struct joist_shape *shape, uint32_t mask) {
  struct joist_fold_dims dims;
  dims.rank = 0;
  for (int d = 0; d < shape->rank; d++) {
    const bool reduced = (mask >> d & 1) != 0;
    if (shape->extent[d] == 1) continue;
    if (dims.rank > 0 && dims.reduced[dims.rank - 1] == reduced) {
      dims.extent[dims.rank - 1] *= shape->extent[d];
    } else {
      dims.extent[dims.rank] = shape->extent[d];
      dims.reduced[dims.rank++] = reduced;
    }
  }
  return dims;
}

int joist_fold_next(const struct joist_fold_dims *dims, struct joist_fold_space *space) {
  int d = 0;
  while (d < dims->rank && (!dims->reduced[d] || dims->extent[d] == 1)) d++;
  const bool none = d == dims->rank;
  *space = (struct joist_fold_space){1, none ? 1 : dims->extent[d], 1};
  for (int e = 0; e < d && !none; e++) space->inner *= dims->extent[e];
  for (int e = none ? 0 : d + 1; e < dims->rank; e++) space->outer *= dims->extent[e];
  return none ? -1 : d;
}
