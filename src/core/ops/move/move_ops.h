/* What the operations that move elements are made of, for every device. */
#ifndef JOIST_CORE_OPS_MOVE_MOVE_OPS_H
#define JOIST_CORE_OPS_MOVE_MOVE_OPS_H

#include "core/ops/move/walk.h"
#include "core/program/attributes.h"
#include "core/program/call.h"

/* What slice, update and pad of ops.def move, by their attributes. */
void joist_walk_slice(const struct joist_shape *shape, const struct joist_attributes *attributes,
                      struct joist_walk *walk);
void joist_walk_update(const struct joist_shape *shape, const struct joist_attributes *attributes,
                       bool repeated, struct joist_walk *walk);
void joist_walk_pad(const struct joist_shape *from, const struct joist_shape *to,
                    const struct joist_attributes *attributes, struct joist_walk *walk);
/* Where the value of a pad goes, by walks that read one element: the edges 0, 1, ... that there
 * are. Between the elements there may be more of it; then edge 0 is the whole result. */
bool joist_walk_pad_edge(const struct joist_shape *from, const struct joist_shape *to,
                         const struct joist_attributes *attributes, int edge,
                         struct joist_walk *walk);
/* A part of what concatenate puts side by side along `dim`, from position `first` on; a scalar is
 * repeated. Returns the part's extent there. */
size_t joist_walk_part(const struct joist_shape *whole, const struct joist_shape *part, int dim,
                       size_t first, struct joist_walk *walk);

/* Positions of take, put and scatter_add are addresses, wherever they come from: an error for those
 * that are not less than `extent`. */
joist_status joist_check_positions(const struct joist_call *call, size_t extent,
                                   struct joist_error *error) JOIST_MUST_CHECK;

/* The errors of position k, from 0 on, of take, put and scatter_add, and of entry k of an index of
 * gather. */
joist_status joist_position_error(joist_op op, int64_t position, size_t k, size_t extent,
                                  struct joist_error *error) JOIST_MUST_CHECK;
joist_status joist_gather_error(int64_t entry, size_t k, int dim, size_t extent,
                                struct joist_error *error) JOIST_MUST_CHECK;

#endif
