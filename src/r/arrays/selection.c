#include "r/arrays/selection.h"

#include "r/arrays/index.h"
#include "r/base/conditions.h"
#include "r/memory/run.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"

static const struct joist_attributes no_attributes = {.count = 0};

/* An index on the CPU goes with any tensor, as R's numbers do; one on a device with its own. */
static void check_device(SEXP index, const struct joist_r_value *x) {
  if (!Rf_inherits(index, "nv_tensor")) return;
  struct joist_r_value both[2] = {*x};
  joist_r_read_missing(joist_r_rules(R_NilValue), index, &both[1]);
  if (both[1].form == JOIST_R_REMOTE) (void)joist_r_common_device(both, 2);
}

void joist_r_select(SEXP indices, const struct joist_r_value *x, bool *missing,
                    struct joist_r_selection *selection) {
  const struct joist_shape *const shape = &x->argument.shape;
  const R_xlen_t n = TYPEOF(indices) == VECSXP ? XLENGTH(indices) : -1;
  selection->linear = n == 1 && shape->rank != 1;
  if (!selection->linear && n != shape->rank)
    joist_r_stop(JOIST_ERROR_SHAPE, "%ld indices for a tensor of rank %d", (long)n, shape->rank);
  selection->n = (int)n;
  selection->traced = false;
  selection->ranges = true;
  selection->of_itself = false;
  selection->mask = NULL;
  for (int d = 0; d < selection->n; d++) {
    selection->extent[d] = selection->linear ? x->count : shape->extent[d];
    struct joist_r_index index;
    check_device(VECTOR_ELT(indices, d), x);
    joist_r_read_index(VECTOR_ELT(indices, d), selection->extent[d], selection->linear ? 0 : d + 1,
                       n > 1, missing, &index);
    selection->positions[d] = index.positions;
    selection->index[d] = index.traced;
    selection->mask = index.mask;
    selection->traced |= index.traced != NULL;
    selection->of_itself |= index.positions.kind != JOIST_INDEX_RANGE
                                ? index.positions.list == x->data
                                : index.mask != NULL && (const void *)index.mask == x->data;
    selection->ranges &= index.traced == NULL && index.positions.kind == JOIST_INDEX_RANGE;
  }
}

void joist_r_select_listed(struct joist_r_selection *selection) {
  if (selection->mask == NULL) return;
  joist_r_list_mask(selection->mask, selection->extent[0], &selection->positions[0]);
  selection->mask = NULL;
  selection->ranges = selection->positions[0].kind == JOIST_INDEX_RANGE;
}

void joist_r_check_single(size_t count) {
  if (count != 1) joist_r_stop(JOIST_ERROR_SHAPE, "[[ selects exactly one element");
}

void joist_r_too_large(void) {
  joist_r_stop(JOIST_ERROR_SHAPE,
               "the subset would have an extent above 2^31 - 1; give one index per dimension");
}

/* How many positions the index of a dim selects: a traced one, as many as it has elements. */
size_t joist_r_index_count(const struct joist_r_selection *selection, int d) {
  if (selection->index[d] == NULL) return selection->positions[d].count;
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), selection->index[d], &value);
  return value.count;
}

/* Indices that repeat positions select more than the tensor has, so that their product may be
 * more than a size_t holds. */
size_t joist_r_selected_count(const struct joist_r_selection *selection) {
  const size_t limit = (size_t)PTRDIFF_MAX / 16; /* of the largest dtype */
  size_t count = 1;
  for (int d = 0; d < selection->n; d++)
    if (joist_r_index_count(selection, d) == 0) return 0;
  for (int d = 0; d < selection->n; d++) {
    const size_t extent = joist_r_index_count(selection, d);
    if (count > limit / extent)
      joist_r_stop(JOIST_ERROR_SHAPE, "the indices select more elements than memory can hold");
    count *= extent;
  }
  return count;
}

/* The walk refers to `selection`. */
void joist_r_selection_walk(const struct joist_r_value *x,
                            const struct joist_r_selection *selection, bool put, bool repeated,
                            struct joist_walk *walk) {
  if (selection->linear) {
    joist_walk_init(walk, put);
    joist_walk_add(walk, selection->positions[0].count, repeated ? 0 : 1, 1,
                   &selection->positions[0]);
  } else if (put) {
    joist_walk_put(&x->argument.shape, selection->positions, repeated, walk);
  } else {
    joist_walk_take(&x->argument.shape, selection->positions, walk);
  }
}

/* Replaces names among the indices by positions. Returns `indices` itself or, if there are names, a
 * copy, to be protected. */
SEXP joist_r_indices_by_number(SEXP indices, const struct joist_r_value *x) {
  const R_xlen_t n = TYPEOF(indices) == VECSXP ? XLENGTH(indices) : 0;
  const int rank = x->argument.shape.rank;
  bool named = false;
  for (R_xlen_t d = 0; d < n; d++) named |= TYPEOF(VECTOR_ELT(indices, d)) == STRSXP;
  if (!named || n != rank) return indices;
  SEXP numbers = PROTECT(Rf_shallow_duplicate(indices));
  for (int d = 0; d < (int)n; d++) {
    SEXP index = VECTOR_ELT(indices, d);
    if (TYPEOF(index) != STRSXP || Rf_isObject(index)) continue;
    SEXP names = joist_r_names_along(x->names, rank, d);
    if (names == R_NilValue)
      joist_r_stop(JOIST_ERROR_VALUE, "dimension %d has no names to be indexed by", d + 1);
    SEXP found = Rf_match(names, index, 0);
    SET_VECTOR_ELT(numbers, d, found);
    for (R_xlen_t k = 0; k < XLENGTH(found); k++)
      if (INTEGER(found)[k] == 0)
        joist_r_stop(JOIST_ERROR_VALUE, "there is no name \"%s\" in dimension %d",
                     Rf_translateCharUTF8(STRING_ELT(index, k)), d + 1);
  }
  UNPROTECT(1);
  return numbers;
}

size_t *joist_r_count_mask(const uint8_t *mask, size_t n) {
  const struct joist_run run = joist_r_run();
  const size_t blocks = joist_mask_blocks(n);
  size_t *const before = (size_t *)R_alloc(blocks + 1, (int)sizeof *before);
  struct joist_error error;
  joist_r_raise_if(joist_mask_count(mask, n, before, &run, &error), &error);
  return before;
}

void joist_r_slice_range(struct joist_r_slice *slice, int d, const struct joist_index *range) {
  slice->start[d] = range->start;
  slice->step[d] = range->count == 1 ? 1 : range->step;
  slice->stop[d] = range->start + ((int64_t)range->count - 1) * slice->step[d];
}

/* Steps of 1 are not said. */
struct joist_attributes joist_r_slice_attributes(const struct joist_r_slice *slice, int rank) {
  struct joist_attributes attributes = no_attributes;
  bool stepped = false;
  for (int d = 0; d < rank; d++) stepped |= slice->step[d] != 1;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_START, slice->start, (size_t)rank);
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_STOP, slice->stop, (size_t)rank);
  if (stepped)
    joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_STEP, slice->step, (size_t)rank);
  return attributes;
}
