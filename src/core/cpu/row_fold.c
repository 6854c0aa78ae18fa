/* The tree of rows. */
#include "core/cpu/row_fold.h"

#include <string.h>

#include "core/base/bits.h"

enum { DEPTH = 12, ELEMENT_BYTES = 16 };

/* Combined rows, one per depth. */
struct rows {
  const struct joist_row_fold *fold;
  size_t width;
  _Alignas(ELEMENT_BYTES) char row[DEPTH][JOIST_ROWS_WIDTH * ELEMENT_BYTES];
};

static void combine(struct rows *rows, char *into, const char *other, size_t n) {
  rows->fold->combine(n, (const void *[]){into, other}, into);
}

static void run_tree(struct rows *rows, const char *in, size_t count, size_t depth) {
  const struct joist_row_fold *const fold = rows->fold;
  if (count <= JOIST_ROWS_LEAF) {
    fold->rows(rows->width, count, rows->width, true, in, rows->row[depth]);
    return;
  }
  const size_t half = count / 2;
  run_tree(rows, in, half, depth);
  run_tree(rows, in + half * rows->width * fold->from, count - half, depth + 1);
  combine(rows, rows->row[depth], rows->row[depth + 1], rows->width);
}

void joist_row_fold_run(const struct joist_row_fold *fold, struct joist_fold_space space,
                        const void *in, void *out) {
  const size_t most = space.inner <= JOIST_ROWS_WIDENED ? JOIST_ROWS_WIDENED / space.inner : 1;
  const size_t lanes = space.middle >= 2 * most ? most : 1;
  const size_t wide = space.middle / lanes, rest = space.middle % lanes;
  struct rows rows;
  rows.fold = fold;
  rows.width = space.inner * lanes;
  for (size_t o = 0; o < space.outer; o++) {
    const char *const own = (const char *)in + o * space.middle * space.inner * fold->from;
    run_tree(&rows, own, wide, 0);
    if (rest > 0)
      fold->rows(rest * space.inner, 1, rows.width, false, own + wide * rows.width * fold->from,
                 rows.row[0]);
    for (size_t k = lanes; k > 1; k = (k + 1) / 2)
      combine(&rows, rows.row[0], rows.row[0] + (k + 1) / 2 * space.inner * fold->accumulator,
              k / 2 * space.inner);
    memcpy((char *)out + o * space.inner * fold->accumulator, rows.row[0],
           space.inner * fold->accumulator);
  }
}
