/* Rows of an array in memory, folded in the order in which elementwise.c folds those of a group. */
#ifndef JOIST_CORE_CPU_ROW_FOLD_H
#define JOIST_CORE_CPU_ROW_FOLD_H

#include "core/kernels/kernel.h"
#include "core/plan/fold_space.h"

/* The functions of a fold. */
struct joist_row_fold {
  joist_rows *rows;
  joist_kernel *combine;
  size_t from, accumulator; /* bytes of an element */
};

/* Of a space of one chunk, whose rows are at most JOIST_ROWS_WIDTH elements: `out` gets inner x
 * outer accumulated values. */
void joist_row_fold_run(const struct joist_row_fold *fold, struct joist_fold_space space,
                        const void *in, void *out);

#endif
