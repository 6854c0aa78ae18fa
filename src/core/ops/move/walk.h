/* Moving elements: one walk over an index space with a place in an array to read and one to
 * write at every step. Elements are bytes here; nothing knows a dtype. Positions are
 * column-major, count from 0 and are valid: the caller has checked them. */
#ifndef JOIST_CORE_OPS_MOVE_WALK_H
#define JOIST_CORE_OPS_MOVE_WALK_H

#include "core/base/run.h"
#include "core/base/status.h"
#include "core/ops/move/index.h"
#include "core/types/shape.h"

/* The dims of a walk, the fastest first; neighbours that are one run are one dim. Strides
 * count elements of the arrays. Where `list` is not NULL, it gives the position along the dim
 * for each step: in the array written if `scatter` is true, else in the array read. */
struct joist_walk {
  int rank;
  bool scatter;
  size_t count; /* steps in all */
  int64_t in_base, out_base;
  size_t extent[JOIST_RANK_MAX];
  int64_t in_stride[JOIST_RANK_MAX], out_stride[JOIST_RANK_MAX];
  const struct joist_index *list[JOIST_RANK_MAX];
};

void joist_walk_init(struct joist_walk *walk, bool scatter);
/* The next slower dim. An index of kind RANGE is folded into the strides. */
void joist_walk_add(struct joist_walk *walk, size_t extent, int64_t in_stride, int64_t out_stride,
                    const struct joist_index *index);

/* The elements of an array of shape `shape` that one index per dim selects, in order. */
void joist_walk_take(const struct joist_shape *shape, const struct joist_index *indices,
                     struct joist_walk *walk);
/* The same elements, to be written; from one value for all of them when `repeated`. */
void joist_walk_put(const struct joist_shape *shape, const struct joist_index *indices,
                    bool repeated, struct joist_walk *walk);

/* Moves the elements. What is scattered is written in order: the last of equal positions
 * wins. Fails with JOIST_INTERRUPTED. */
joist_status joist_move(size_t size, const struct joist_walk *walk, const void *in, void *out,
                        const struct joist_run *run, struct joist_error *error) JOIST_MUST_CHECK;

/* What is written around each line of the first dim: so many times the value in front of it and
 * behind it. */
struct joist_edges {
  size_t low, high;
  const void *value;
};

/* The same for lines with edges, which are runs of the array written. */
joist_status joist_move_lines(size_t size, const struct joist_walk *walk,
                              const struct joist_edges *edges, const void *in, void *out,
                              const struct joist_run *run,
                              struct joist_error *error) JOIST_MUST_CHECK;

/* count elements in a row, if they are not there already; and one of them repeated. */
joist_status joist_copy_elements(size_t size, size_t count, const void *in, void *out,
                                 const struct joist_run *run,
                                 struct joist_error *error) JOIST_MUST_CHECK;
joist_status joist_repeat_element(size_t size, size_t count, const void *in, void *out,
                                  const struct joist_run *run,
                                  struct joist_error *error) JOIST_MUST_CHECK;

/* The column-major positions that one index per dim selects, in order. */
void joist_positions(const struct joist_shape *shape, const struct joist_index *indices,
                     int64_t *positions);

#endif
