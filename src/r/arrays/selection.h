/* What the indices of a subset or an assignment select. */
#ifndef JOIST_R_SELECTION_H
#define JOIST_R_SELECTION_H

#include "core/ops/move/mask.h"
#include "core/ops/move/walk.h"
#include "r/tensor/operands.h"

/* What a list of indices selects: one index per dim, or one for the tensor as a vector. */
struct joist_r_selection {
  bool linear;
  bool traced;    /* one of the indices is */
  bool ranges;    /* all of them are */
  bool of_itself; /* an index is read from the tensor's own memory, as in x[x] */
  int n;
  const uint8_t *mask; /* of a single index that is a mask and not yet turned into positions */
  size_t extent[JOIST_RANK_MAX]; /* what each index selects from */
  struct joist_index positions[JOIST_RANK_MAX];
  SEXP index[JOIST_RANK_MAX]; /* the traced ones, NULL for others */
};

/* Reads a list of indices. An NA sets `missing`, and is an error where this is NULL. */
void joist_r_select(SEXP indices, const struct joist_r_value *x, bool *missing,
                    struct joist_r_selection *selection);
/* Turns the mask of a selection into positions. */
void joist_r_select_listed(struct joist_r_selection *selection);

_Noreturn void joist_r_too_large(void);
void joist_r_check_single(size_t count);
/* How many positions the index of a dim selects: a traced one, as many as it has elements. */
size_t joist_r_index_count(const struct joist_r_selection *selection, int d);
/* How many elements all of them select; an error if memory cannot hold so many. */
size_t joist_r_selected_count(const struct joist_r_selection *selection);

/* The walk that takes elements from there or puts them there; it refers to `selection`. */
void joist_r_selection_walk(const struct joist_r_value *x,
                            const struct joist_r_selection *selection, bool put, bool repeated,
                            struct joist_walk *walk);

/* Replaces names among the indices by positions. Returns `indices` itself or, if there are names, a
 * copy, to be protected. */
SEXP joist_r_indices_by_number(SEXP indices, const struct joist_r_value *x);

/* How many elements of a mask are before each of its blocks, in memory that lives until .Call
 * returns. */
size_t *joist_r_count_mask(const uint8_t *mask, size_t n);

/* Room for the positions of a slice. */
struct joist_r_slice {
  int64_t start[JOIST_RANK_MAX], stop[JOIST_RANK_MAX], step[JOIST_RANK_MAX];
};

void joist_r_slice_range(struct joist_r_slice *slice, int d, const struct joist_index *range);
/* Steps of 1 are not said. */
struct joist_attributes joist_r_slice_attributes(const struct joist_r_slice *slice, int rank);

#endif
