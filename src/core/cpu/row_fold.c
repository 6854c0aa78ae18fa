/* Rows are folded in a balanced tree of wide rows; then the lanes of the last wide row are. */
#include "core/cpu/row_fold.h"

#include <string.h>

#include "core/base/bits.h"

enum { ELEMENT_BYTES = 16 };

size_t joist_row_lanes(size_t inner, size_t count) {
  const size_t most = inner <= JOIST_ROWS_WIDENED ? JOIST_ROWS_WIDENED / inner : 1;
  return count >= 2 * most ? most : 1;
}

size_t joist_row_filled(size_t width, size_t size, size_t room) {
  const size_t filled = joist_round_up(width, JOIST_ROWS_ROUNDED / size);
  return filled <= room ? filled : width;
}

/* `count` wide rows, of `lanes` rows each. */
static bool run_tree(const struct joist_row_order *order, size_t width, size_t lanes, size_t first,
                     size_t count, uint32_t into) {
  if (count <= JOIST_ROWS_LEAF) return order->leaf(order->context, first, count, into);
  const size_t half = count / 2;
  if (!run_tree(order, width, lanes, first, half, into) ||
      !run_tree(order, width, lanes, first + half * lanes, count - half, into + 1))
    return false;
  order->combine(order->context, into, into + 1, 0, width * lanes);
  return true;
}

bool joist_row_order_run(const struct joist_row_order *order, size_t width, size_t lanes,
                         size_t count) {
  const size_t wide = count / lanes, rest = count % lanes;
  if (!run_tree(order, width, lanes, 0, wide, 0)) return false;
  if (rest > 0 && !order->rest(order->context, wide * lanes, rest)) return false;
  for (size_t k = lanes; k > 1; k = (k + 1) / 2)
    order->combine(order->context, 0, 0, (k + 1) / 2 * width, k / 2 * width);
  return true;
}

/* ---- an array in memory ---- */

struct memory {
  const struct joist_row_fold *fold;
  const char *in;
  size_t inner, width, elements; /* of a row, of a wide one, and of all */
  _Alignas(ELEMENT_BYTES) char row[JOIST_ROWS_DEPTH][JOIST_ROWS_WIDTH * ELEMENT_BYTES];
};

static const char *row_of(const struct memory *memory, size_t first) {
  return memory->in + first * memory->inner * memory->fold->from;
}

static bool fold_leaf(void *context, size_t first, size_t count, uint32_t into) {
  struct memory *const memory = context;
  const size_t last = first * memory->inner + (count - 1) * memory->width;
  const size_t n = joist_row_filled(memory->width, memory->fold->from,
                                    joist_smaller(memory->elements - last, JOIST_ROWS_WIDTH));
  memory->fold->rows(n, count, memory->width, true, row_of(memory, first), memory->row[into]);
  return true;
}

static bool fold_rest(void *context, size_t first, size_t count) {
  struct memory *const memory = context;
  memory->fold->rows(count * memory->inner, 1, memory->width, false, row_of(memory, first),
                     memory->row[0]);
  return true;
}

static void combine(void *context, uint32_t into, uint32_t from, size_t at, size_t n) {
  struct memory *const memory = context;
  char *const out = memory->row[into];
  const char *const other = memory->row[from] + at * memory->fold->accumulator;
  memory->fold->combine(n, (const void *[]){out, other}, out);
}

void joist_row_fold_run(const struct joist_row_fold *fold, struct joist_fold_space space,
                        const void *in, void *out) {
  const size_t lanes = joist_row_lanes(space.inner, space.middle);
  const size_t bytes = space.inner * fold->accumulator;
  struct memory memory;
  memory.fold = fold;
  memory.inner = space.inner;
  memory.width = space.inner * lanes;
  const struct joist_row_order order = {&memory, fold_leaf, fold_rest, combine};
  for (size_t o = 0; o < space.outer; o++) {
    memory.in = (const char *)in + o * space.middle * space.inner * fold->from;
    memory.elements = (space.outer - o) * space.middle * space.inner;
    (void)joist_row_order_run(&order, space.inner, lanes, space.middle);
    memcpy((char *)out + o * bytes, memory.row[0], bytes);
  }
}
