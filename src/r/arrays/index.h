/* Indices of R: vectors and tensors that choose positions. */
#ifndef JOIST_R_INDEX_H
#define JOIST_R_INDEX_H

#include "core/ops/move/index.h"
#include "r/base/sexp.h"

/* An index of one dim, or of all elements. What it points to is R's: the vector itself, or
 * memory that lives until .Call returns. */
struct joist_r_index {
  struct joist_index positions;
  const uint8_t *mask; /* a logical index: a byte per position; NULL when positions are known */
  SEXP traced;         /* a traced tensor, whose positions are not known yet, else NULL */
  bool *missing;       /* set where there is an NA and no position is read; NULL if that fails */
};

/* Reads an index into `extent` positions; NULL is all of them. `dim` counts from 1, 0 for the
 * whole array. A mask stays one unless positions are asked for by `listed`. An NA
 * sets `missing`, and is an error where this is NULL. */
void joist_r_read_index(SEXP object, size_t extent, int dim, bool listed, bool *missing,
                        struct joist_r_index *index);

/* The positions that a mask of `extent` bytes chooses. */
void joist_r_list_mask(const uint8_t *mask, size_t extent, struct joist_index *positions);

/* .Call: which of the n indices of a call of `[` or its kin are empty, as the first of
 * x[, 1] is. Indices that came through the dots of a caller are never empty. */
SEXP joist_r_empty_indices(SEXP call, SEXP n);

#endif
