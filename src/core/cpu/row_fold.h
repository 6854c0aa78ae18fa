/* The order in which rows are folded, and the folding of an array in memory in that order. */
#ifndef JOIST_CORE_CPU_ROW_FOLD_H
#define JOIST_CORE_CPU_ROW_FOLD_H

#include "core/kernels/kernel.h"
#include "core/plan/fold_space.h"

/* How many of `count` rows of `inner` elements are taken as one wide row. */
size_t joist_row_lanes(size_t inner, size_t count);

/* How many elements of rows are folded where `width` of them count: as many as fill vectors, if
 * that is not beyond `room`, what the last row and the results have. Elements are of `size` bytes.
 */
enum { JOIST_ROWS_ROUNDED = 64 }; /* bytes */
size_t joist_row_filled(size_t width, size_t size, size_t room);

/* What folds rows. Folded rows are numbered from 0; a function that fails returns false. */
struct joist_row_order {
  void *context;
  /* Folds `count` <= JOIST_ROWS_LEAF wide rows, the first of which begins with row `first`, to the
   * folded row `into`. */
  bool (*leaf)(void *context, size_t first, size_t count, uint32_t into);
  /* Folds `count` rows, fewer than a wide one has, to the start of the folded row 0. */
  bool (*rest)(void *context, size_t first, size_t count);
  /* Combines n elements of the folded row `from`, from element `at` on, into the row `into`. */
  void (*combine)(void *context, uint32_t into, uint32_t from, size_t at, size_t n);
};

enum { JOIST_ROWS_DEPTH = 12 }; /* folded rows that are in use at once, for every strip of rows */

/* Folds `count` rows of `width` elements, of which a wide row has `lanes`, to the first of the
 * folded row 0. */
bool joist_row_order_run(const struct joist_row_order *order, size_t width, size_t lanes,
                         size_t count);

/* The functions of a fold. */
struct joist_row_fold {
  joist_rows *rows;
  joist_kernel *combine;
  size_t from, accumulator; /* bytes of an element */
};

/* Of a space of one strip, whose rows are at most JOIST_ROWS_WIDTH elements: `out` gets inner x
 * outer accumulated values. */
void joist_row_fold_run(const struct joist_row_fold *fold, struct joist_fold_space space,
                        const void *in, void *out);

#endif
