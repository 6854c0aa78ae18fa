/* Views of arrays. */
#include "core/plan/view.h"

#include <string.h>

struct joist_view joist_view_of_array(const struct joist_shape *shape) {
  struct joist_view view;
  int64_t product = 1;
  memset(&view, 0, sizeof view);
  for (int d = 0; d < shape->rank; d++) {
    view.stride[d] = product;
    product *= shape->extent[d];
  }
  return view;
}

/* Where the elements of a slice are. Extents of 1 may come and go; what is elsewhere in memory is
 * never asked for along them. False for another shape. */
static bool view_of_slice(const struct joist_program *program, const struct joist_instruction *i,
                          struct joist_view *view) {
  const struct joist_shape *const from = &program->values[i->operand[0]].shape;
  const struct joist_shape *const to = &program->values[i->result].shape;
  const struct joist_view all = joist_view_of_array(from);
  int next = 0;
  memset(view, 0, sizeof *view);
  for (int d = 0; d < from->rank; d++) {
    const int64_t start = joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_START, d);
    const int64_t stop = joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_STOP, d);
    const int64_t step = joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_STEP, d);
    view->offset += start * all.stride[d];
    const int64_t extent = step == 0 ? 1 : (stop - start) / step + 1;
    if (extent > 1) {
      while (next < to->rank && to->extent[next] == 1) next++;
      if (next == to->rank || to->extent[next] != extent) return false;
      view->stride[next++] = step * all.stride[d];
    }
  }
  while (next < to->rank && to->extent[next] == 1) next++;
  return next == to->rank;
}

static void view_of_permutation(const struct joist_program *program,
                                const struct joist_instruction *i, struct joist_view *view) {
  const struct joist_shape *const from = &program->values[i->operand[0]].shape;
  const struct joist_view all = joist_view_of_array(from);
  memset(view, 0, sizeof *view);
  for (int d = 0; d < from->rank; d++)
    view->stride[d] = all.stride[joist_attribute_at(i->attributes, JOIST_ATTRIBUTE_PERMUTATION, d)];
}

bool joist_view_is_listed(const struct joist_program *program, const struct joist_instruction *i) {
  if (i->op != JOIST_OP_GATHER && i->op != JOIST_OP_TAKE) return false;
  const joist_dtype positions = program->values[i->operand[1]].type.dtype;
  return positions == JOIST_I64 || (positions == JOIST_I32 && i->op == JOIST_OP_GATHER);
}

/* The dims of the positions are in the place of dim `dim` of the operand; of all dims, for a take.
 */
static void view_of_listed(const struct joist_program *program, const struct joist_instruction *i,
                           struct joist_view *view) {
  const bool whole = i->op == JOIST_OP_TAKE;
  const struct joist_shape *const from = &program->values[i->operand[0]].shape;
  const struct joist_shape *const positions = &program->values[i->operand[1]].shape;
  const struct joist_view all = joist_view_of_array(from), list = joist_view_of_array(positions);
  const int dim = whole ? 0 : joist_attribute_dim(i->attributes);
  int at = 0;
  memset(view, 0, sizeof *view);
  view->listed = true;
  view->first = whole ? 0 : 1;
  view->along = whole ? 1 : all.stride[dim];
  for (int d = 0; d < dim; d++) view->stride[at++] = all.stride[d];
  for (int d = 0; d < positions->rank; d++) view->list_stride[at++] = list.stride[d];
  for (int d = dim + 1; d < from->rank && !whole; d++) view->stride[at++] = all.stride[d];
}

bool joist_view_of_move(const struct joist_program *program, const struct joist_instruction *i,
                        struct joist_view *view) {
  if (i->op == JOIST_OP_SLICE) return view_of_slice(program, i, view);
  if (i->op == JOIST_OP_PERMUTE)
    view_of_permutation(program, i, view);
  else
    view_of_listed(program, i, view);
  return true;
}
