/* Subsets of tensors and assignment to them. */
#include "r/arrays/subset.h"

#include <stdint.h>
#include <string.h>

#include "core/ops/move/mask.h"
#include "core/ops/move/walk.h"
#include "r/arrays/concatenate.h"
#include "r/arrays/index.h"
#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/call/apply.h"
#include "r/call/transfer.h"
#include "r/memory/mapped.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/tensor/view.h"

/* What a list of indices selects: one index per dim, or one for the tensor as a vector. */
struct selection {
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

/* An index on the CPU goes with any tensor, as R's numbers do; one on a device with its own. */
static void check_device(SEXP index, const struct joist_r_value *x) {
  struct joist_r_value both[2] = {*x};
  if (!Rf_inherits(index, "nv_tensor")) return;
  joist_r_read_missing(joist_r_rules(R_NilValue), index, &both[1]);
  if (both[1].form == JOIST_R_REMOTE) (void)joist_r_common_device(both, 2);
}

/* An NA sets `missing`, and is an error where this is NULL. */
static void read_selection(SEXP indices, const struct joist_r_value *x, bool *missing,
                           struct selection *selection) {
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

/* Turns the mask of a selection into positions. */
static void list_mask(struct selection *selection) {
  if (selection->mask == NULL) return;
  joist_r_list_mask(selection->mask, selection->extent[0], &selection->positions[0]);
  selection->mask = NULL;
  selection->ranges = selection->positions[0].kind == JOIST_INDEX_RANGE;
}

static void check_single(size_t count) {
  if (count != 1) joist_r_stop(JOIST_ERROR_SHAPE, "[[ selects exactly one element");
}

static void too_large(void) {
  joist_r_stop(JOIST_ERROR_SHAPE,
               "the subset would have an extent above 2^31 - 1; give one index per dimension");
}

/* How many positions the index of a dim selects: a traced one, as many as it has elements. */
static size_t index_count(const struct selection *selection, int d) {
  if (selection->index[d] == NULL) return selection->positions[d].count;
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), selection->index[d], &value);
  return value.count;
}

/* Indices that repeat positions select more than the tensor has, so that their product may be
 * more than a size_t holds. */
static size_t selected_count(const struct selection *selection) {
  const size_t limit = (size_t)PTRDIFF_MAX / 16; /* of the largest dtype */
  size_t count = 1;
  for (int d = 0; d < selection->n; d++)
    if (index_count(selection, d) == 0) return 0;
  for (int d = 0; d < selection->n; d++) {
    const size_t extent = index_count(selection, d);
    if (count > limit / extent)
      joist_r_stop(JOIST_ERROR_SHAPE, "the indices select more elements than memory can hold");
    count *= extent;
  }
  return count;
}

static size_t selected_shape(const struct selection *selection, bool drop,
                             struct joist_shape *shape) {
  shape->rank = 0;
  for (int d = 0; d < selection->n; d++) {
    const size_t extent = index_count(selection, d);
    if (extent > INT32_MAX) too_large();
    if (drop && selection->n > 1 && extent == 1) continue;
    shape->extent[shape->rank++] = (uint32_t)extent;
  }
  return selected_count(selection);
}

/* The walk refers to `selection`. */
static void walk_of(const struct joist_r_value *x, const struct selection *selection, bool put,
                    bool repeated, struct joist_walk *walk) {
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

/* ---- subsets ---- */

/* The names at the positions of a selection, where the result of that shape has a dim for it. */
static void set_selected_names(SEXP tensor, const struct joist_r_value *x,
                               const struct selection *selection, const struct joist_shape *shape) {
  if (x->names == R_NilValue || shape->rank == 0 ||
      (selection->linear && x->argument.shape.rank > 1))
    return;
  const bool drops = shape->rank != selection->n;
  SEXP list = PROTECT(joist_r_names_list(shape->rank));
  for (int d = 0, k = 0; d < selection->n && k < shape->rank; d++)
    if (!drops || selection->positions[d].count != 1)
      joist_r_select_names(x, d, &selection->positions[d], list, k++);
  joist_r_set_names(tensor, joist_r_names_in(list, shape->rank, drops), shape->rank);
  UNPROTECT(1);
}

/* Replaces names among the indices by positions. Returns `indices` itself or, if there are names, a
 * copy, to be protected. */
static SEXP indices_by_number(SEXP indices, const struct joist_r_value *x) {
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

static size_t *count_mask(const uint8_t *mask, size_t n) {
  const struct joist_run run = joist_r_run();
  const size_t blocks = joist_mask_blocks(n);
  size_t *const before = (size_t *)R_alloc(blocks + 1, (int)sizeof *before);
  struct joist_error error;
  joist_r_raise_if(joist_mask_count(mask, n, before, &run, &error), &error);
  return before;
}

static SEXP masked(const struct joist_r_value *x, const uint8_t *mask, bool single) {
  const struct joist_type type = x->argument.operand.type;
  const struct joist_run run = joist_r_run();
  const size_t *const before = count_mask(mask, x->count);
  const size_t count = before[joist_mask_blocks(x->count)];
  if (count > INT32_MAX) too_large();
  if (single) check_single(count);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
  struct joist_error error;
  joist_r_raise_if(joist_mask_take(joist_dtype_size(type.dtype), mask, x->count, before, x->data,
                                   joist_r_elements(payload), &run, &error),
                   &error);
  const struct joist_shape shape = {single ? 0 : 1, {(uint32_t)count}};
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, &shape));
  if (x->mask != NULL) {
    SEXP missing = PROTECT(joist_r_payload(JOIST_BOOL, count));
    joist_r_raise_if(joist_mask_take(1, mask, x->count, before, x->mask, joist_r_elements(missing),
                                     &run, &error),
                     &error);
    joist_r_set_mask(tensor, missing);
    UNPROTECT(1);
  }
  if (!single && x->argument.shape.rank == 1 && x->names != R_NilValue) {
    struct selection selection = {.n = 1, .mask = mask, .extent = {x->count}};
    list_mask(&selection);
    set_selected_names(tensor, x, &selection, &shape);
  }
  UNPROTECT(2);
  return tensor;
}

static const struct joist_attributes no_attributes = {.count = 0};

static SEXP apply_one(joist_op op, SEXP x, const struct joist_attributes *attributes) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  return joist_r_apply(rules, op, &value, 1, attributes);
}

static SEXP reshaped(SEXP x, const struct joist_shape *shape) {
  struct joist_attributes attributes = no_attributes;
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  return apply_one(JOIST_OP_RESHAPE, x, &attributes);
}

/* Room for the positions of a slice. */
struct slice {
  int64_t start[JOIST_RANK_MAX], stop[JOIST_RANK_MAX], step[JOIST_RANK_MAX];
};

static void set_range(struct slice *slice, int d, const struct joist_index *range) {
  slice->start[d] = range->start;
  slice->step[d] = range->count == 1 ? 1 : range->step;
  slice->stop[d] = range->start + ((int64_t)range->count - 1) * slice->step[d];
}

/* Steps of 1 are not said. */
static struct joist_attributes slice_attributes(const struct slice *slice, int rank) {
  struct joist_attributes attributes = no_attributes;
  bool stepped = false;
  for (int d = 0; d < rank; d++) stepped |= slice->step[d] != 1;
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_START, slice->start, (size_t)rank);
  joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_STOP, slice->stop, (size_t)rank);
  if (stepped)
    joist_attributes_set_list(&attributes, JOIST_ATTRIBUTE_STEP, slice->step, (size_t)rank);
  return attributes;
}

/* The positions of an index as a tensor that counts from 1. */
static SEXP index_tensor(const struct joist_index *index) {
  const struct joist_shape shape = {1, {(uint32_t)index->count}};
  SEXP payload = PROTECT(joist_r_payload(JOIST_I64, index->count));
  int64_t *const positions = joist_r_elements(payload);
  joist_index_read(index, 0, index->count, positions);
  for (size_t k = 0; k < index->count; k++) positions[k]++;
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){JOIST_I64, false}, &shape);
  UNPROTECT(1);
  return tensor;
}

/* A traced index as integers of rank 1. */
static SEXP traced_index(SEXP index) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), index, &value);
  const joist_kind kind = joist_dtype_kind(value.argument.operand.type.dtype);
  if (kind == JOIST_KIND_BOOL || kind == JOIST_KIND_COMPLEX)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "an index that jit() traces must hold positions, because the number of elements "
                 "that a mask selects is not known yet; use nv_ifelse() with the mask");
  struct joist_attributes attributes = no_attributes;
  joist_attributes_set_type(&attributes, (struct joist_type){JOIST_I64, false});
  if (value.leaf || kind == JOIST_KIND_FLOAT)
    index = apply_one(JOIST_OP_CONVERT, index, &attributes);
  if (value.argument.shape.rank == 1) return index;
  PROTECT(index);
  if (value.count > INT32_MAX) too_large();
  const struct joist_shape flat = {1, {(uint32_t)value.count}};
  index = reshaped(index, &flat);
  UNPROTECT(1);
  return index;
}

static bool is_range(const struct selection *selection, int d) {
  return selection->index[d] == NULL && selection->positions[d].kind == JOIST_INDEX_RANGE;
}

/* Slices where the selection is a range, then a gather for every dim where it is not. */
static SEXP subset_by_operations(SEXP x, const struct selection *selection,
                                 const struct joist_shape *result) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  struct joist_shape shape = value.argument.shape;
  if (selection->linear) {
    if (value.count > INT32_MAX) too_large();
    shape = (struct joist_shape){1, {(uint32_t)value.count}};
    x = reshaped(x, &shape);
  }
  PROTECT_INDEX at;
  PROTECT_WITH_INDEX(x, &at);
  bool whole = true;
  struct slice slice;
  for (int d = 0; d < selection->n; d++) {
    struct joist_index range = joist_index_all(shape.extent[d]);
    if (is_range(selection, d)) range = selection->positions[d];
    whole &= range.count == shape.extent[d] && range.start == 0 && range.step == 1;
    set_range(&slice, d, &range);
    shape.extent[d] = (uint32_t)range.count;
  }
  if (!whole) {
    struct joist_attributes attributes = slice_attributes(&slice, selection->n);
    int64_t extents[JOIST_RANK_MAX];
    if (selection->ranges && !joist_shape_equal(&shape, result)) {
      shape = *result;
      joist_attributes_set_shape(&attributes, &shape, extents);
    }
    REPROTECT(x = apply_one(JOIST_OP_SLICE, x, &attributes), at);
  }
  for (int d = 0; d < selection->n && !selection->ranges; d++) {
    if (is_range(selection, d)) continue;
    SEXP positions = PROTECT(selection->index[d] != NULL ? traced_index(selection->index[d])
                                                         : index_tensor(&selection->positions[d]));
    positions = joist_r_beside(&value, positions);
    UNPROTECT(1);
    PROTECT(positions);
    struct joist_r_value values[2];
    joist_r_read_missing(rules, x, &values[0]);
    joist_r_read_missing(rules, positions, &values[1]);
    struct joist_attributes attributes = no_attributes;
    joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, d);
    shape.extent[d] = (uint32_t)values[1].count;
    REPROTECT(x = joist_r_apply(rules, JOIST_OP_GATHER, values, 2, &attributes), at);
    UNPROTECT(1);
  }
  if (!joist_shape_equal(&shape, result)) { /* a slice of all, since it keeps names */
    for (int d = 0; d < shape.rank; d++) {
      const struct joist_index all = joist_index_all(shape.extent[d]);
      set_range(&slice, d, &all);
    }
    struct joist_attributes attributes = slice_attributes(&slice, shape.rank);
    int64_t extents[JOIST_RANK_MAX];
    joist_attributes_set_shape(&attributes, result, extents);
    x = apply_one(JOIST_OP_SLICE, x, &attributes);
  }
  UNPROTECT(1);
  return x;
}

/* Whether the index is one position of a tensor with data; `at` counts from 0. */
static bool is_position(SEXP index, const struct joist_r_value *x, size_t *at) {
  if (x->form != JOIST_R_CONCRETE || (TYPEOF(index) != INTSXP && TYPEOF(index) != REALSXP))
    return false;
  if (XLENGTH(index) != 1 || Rf_isObject(index)) return false;
  const double position = TYPEOF(index) == REALSXP              ? REAL_ELT(index, 0)
                          : INTEGER_ELT(index, 0) == NA_INTEGER ? 0
                                                                : INTEGER_ELT(index, 0);
  if (!(position >= 1 && position < (double)x->count + 1)) return false;
  *at = (size_t)position - 1;
  return true;
}

/* The elements at known positions of a tensor in memory. */
static SEXP take(const struct joist_r_value *x, const struct selection *selection, size_t count,
                 const struct joist_shape *shape) {
  const struct joist_type type = x->argument.operand.type;
  const struct joist_run run = joist_r_run();
  struct joist_walk walk;
  struct joist_error error;
  walk_of(x, selection, false, false, &walk);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
  joist_r_raise_if(joist_move(joist_dtype_size(type.dtype), &walk, x->data,
                              joist_r_elements(payload), &run, &error),
                   &error);
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, shape));
  set_selected_names(tensor, x, selection, shape);
  if (x->mask != NULL) {
    SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, count));
    joist_r_raise_if(joist_move(1, &walk, x->mask, joist_r_elements(mask), &run, &error), &error);
    joist_r_set_mask(tensor, mask);
    UNPROTECT(1);
  }
  UNPROTECT(2);
  return tensor;
}

static SEXP abstract_subset(const struct joist_r_value *x, const struct joist_shape *shape) {
  SEXP chosen = PROTECT(joist_r_aval(x->argument.operand.type, shape));
  if (joist_r_has_missing(x)) joist_r_unknown_set_missing(chosen, x->missing);
  UNPROTECT(1);
  return chosen;
}

/* By a list with an index for each dim, or one for the tensor as a vector. */
static SEXP subset_by_list(SEXP x, const struct joist_r_value *value, SEXP indices, bool drop,
                           bool one) {
  struct selection selection;
  bool missing = false;
  read_selection(indices, value, one ? NULL : &missing, &selection);
  if (missing) return R_NilValue;
  if (selection.mask != NULL && value->form == JOIST_R_CONCRETE)
    return masked(value, selection.mask, one);
  list_mask(&selection);
  struct joist_shape result;
  const size_t count = selected_shape(&selection, drop, &result);
  if (one) {
    check_single(count);
    result.rank = 0;
  }
  if (value->form == JOIST_R_TRACED || value->form == JOIST_R_REMOTE || selection.traced)
    return subset_by_operations(x, &selection, &result);
  if (value->form == JOIST_R_ABSTRACT) return abstract_subset(value, &result);
  return take(value, &selection, count, &result);
}

/* `indices` is such a list, or a single index of a plain vector. NULL where an index is NA. */
static SEXP subset(SEXP x, SEXP indices, SEXP drop, SEXP single) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  const bool one = joist_r_flag(single, "single");
  PROTECT(indices);
  if (TYPEOF(indices) != VECSXP && indices != R_NilValue) {
    size_t at;
    const bool bare = one || (value.argument.shape.rank == 1 && value.names == R_NilValue);
    if (bare && is_position(indices, &value, &at)) {
      const struct joist_shape shape = {one ? 0 : 1, {1}};
      UNPROTECT(1);
      return joist_r_piece(&value, at, 1, &shape);
    }
    SEXP list = Rf_allocVector(VECSXP, 1);
    SET_VECTOR_ELT(list, 0, indices);
    UNPROTECT(1);
    PROTECT(indices = list);
  }
  const bool dropped = joist_r_flag(drop, "drop");
  SEXP numbers = PROTECT(indices_by_number(indices, &value));
  SEXP chosen = subset_by_list(x, &value, numbers, dropped, one);
  UNPROTECT(2);
  return chosen;
}

/* ---- assignment ---- */

static void check_values(size_t selected, const struct joist_r_value *value) {
  if (value->count != selected && value->count != 1)
    JOIST_R_FAIL(JOIST_E_REPLACEMENT, .shape = {value->argument.shape}, .count = {selected});
}

SEXP joist_r_writable(const struct joist_r_value *x, bool in_place, void **out) {
  if (in_place && joist_r_is_own(x)) {
    joist_r_map_touch(x->payload);
    joist_r_view_changed(x->object);
    *out = joist_r_elements(x->payload);
    return x->object;
  }
  const struct joist_type type = x->argument.operand.type;
  SEXP payload = PROTECT(joist_r_payload(type.dtype, x->count));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_r_raise_if(joist_copy_elements(joist_dtype_size(type.dtype), x->count, x->data,
                                       joist_r_elements(payload), &run, &error),
                   &error);
  SEXP tensor = PROTECT(joist_r_tensor_with(payload, type, &x->argument.shape, x->dim));
  joist_r_set_names(tensor, x->names, x->argument.shape.rank);
  joist_r_copy_mask(tensor, x);
  *out = joist_r_elements(payload);
  UNPROTECT(2);
  return tensor;
}

enum { LONG_WRITE = 1 << 16 };

static joist_status put(const struct joist_r_value *x, const struct selection *selection,
                        const size_t *before, size_t size, const void *from, bool repeated,
                        void *out, const struct joist_run *run, struct joist_error *error) {
  if (selection->mask != NULL)
    return joist_mask_put(size, selection->mask, x->count, before, from, repeated, out, run, error);
  struct joist_walk walk;
  walk_of(x, selection, true, repeated, &walk);
  return joist_move(size, &walk, from, out, run, error);
}

/* The mask of a tensor after an assignment to it. */
static void assign_mask(SEXP tensor, const struct joist_r_value *x,
                        const struct selection *selection, const size_t *before,
                        const struct joist_r_value *value, const struct joist_run *run) {
  if (x->mask == NULL && value->mask == NULL) return;
  const uint8_t present = 0;
  const bool repeated = value->count == 1 || value->mask == NULL;
  struct joist_error error;
  SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, x->count));
  uint8_t *const out = joist_r_elements(mask);
  if (x->mask == NULL)
    memset(out, 0, x->count);
  else
    memcpy(out, x->mask, x->count);
  joist_r_raise_if(put(x, selection, before, 1, value->mask == NULL ? &present : value->mask,
                       repeated, out, run, &error),
                   &error);
  joist_r_view_set_mask(tensor, R_NilValue);
  joist_r_set_mask(tensor, mask);
  UNPROTECT(1);
}

static SEXP assign_concrete(const struct joist_r_value *x, const struct selection *selection,
                            const size_t *before, const struct joist_r_value *value,
                            bool in_place) {
  const size_t size = joist_dtype_size(x->argument.operand.type.dtype);
  const bool repeated = value->count == 1;
  struct joist_run run = joist_r_run();
  struct joist_error error;
  void *out;
  const bool reads_itself = x->payload == value->payload || selection->of_itself;
  SEXP tensor = PROTECT(joist_r_writable(x, in_place && !reads_itself, &out));
  run.poll = NULL; /* what is written in place is written whole */
  joist_r_raise_if(put(x, selection, before, size, value->data, repeated, out, &run, &error),
                   &error);
  assign_mask(tensor, x, selection, before, value, &run);
  /* R itself may do many calls before it looks. */
  if (x->count >= LONG_WRITE) R_CheckUserInterrupt();
  UNPROTECT(1);
  return tensor;
}

/* A traced mask: one value takes the place of the elements it chooses. */
static SEXP assign_masked(const struct joist_rules *rules, const struct joist_r_value *x,
                          const struct selection *selection, const struct joist_r_value *value) {
  struct joist_r_value values[3];
  const bool one_mask = selection->n == 1 && selection->index[0] != NULL;
  if (one_mask) joist_r_read_missing(rules, selection->index[0], &values[0]);
  const bool whole = one_mask && values[0].count == x->count &&
                     values[0].argument.operand.type.dtype == JOIST_BOOL &&
                     joist_shape_equal(&values[0].argument.shape, &x->argument.shape);
  if (!whole || value->count != 1)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "while jit() traces the index, only one value can be assigned, and only to a mask "
                 "of the tensor's shape; use nv_ifelse()");
  values[1] = *value;
  values[1].argument.operand.type = x->argument.operand.type;
  values[1].argument.shape.rank = 0;
  values[2] = *x;
  return joist_r_apply(rules, JOIST_OP_IFELSE, values, 3, &no_attributes);
}

/* The column-major positions of a selection, counting from 0. */
static SEXP positions_tensor(const struct joist_r_value *x, const struct selection *selection,
                             size_t count) {
  SEXP payload = PROTECT(joist_r_payload(JOIST_I64, count));
  int64_t *const positions = joist_r_elements(payload);
  if (selection->linear) {
    joist_index_read(&selection->positions[0], 0, count, positions);
  } else {
    joist_positions(&x->argument.shape, selection->positions, positions);
  }
  if (count > INT32_MAX) too_large();
  const struct joist_shape shape = {1, {(uint32_t)count}};
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){JOIST_I64, false}, &shape);
  UNPROTECT(1);
  return tensor;
}

static SEXP assign_by_operations(const struct joist_rules *rules, const struct joist_r_value *x,
                                 const struct selection *selection, size_t count,
                                 const struct joist_r_value *value) {
  struct joist_r_value values[3] = {*x, *value};
  if (selection->ranges && !selection->linear) {
    struct slice slice;
    for (int d = 0; d < selection->n; d++) set_range(&slice, d, &selection->positions[d]);
    const struct joist_attributes attributes = slice_attributes(&slice, selection->n);
    return joist_r_apply(rules, JOIST_OP_UPDATE, values, 2, &attributes);
  }
  SEXP positions = PROTECT(positions_tensor(x, selection, count));
  positions = joist_r_beside(x, positions);
  UNPROTECT(1);
  PROTECT(positions);
  joist_r_read_any(rules, positions, &values[1]);
  values[2] = *value;
  SEXP tensor = joist_r_apply(rules, JOIST_OP_PUT, values, 3, &no_attributes);
  UNPROTECT(1);
  return tensor;
}

/* Reads the value that is assigned, unless that was done before. */
static void read_assigned(const struct joist_rules *rules, SEXP object,
                          struct joist_r_value *value) {
  if (value->object != NULL) return;
  joist_r_read_missing(rules, object, value);
  if (joist_r_by_value(rules)) joist_r_read_range(value);
}

static SEXP assign(SEXP x, SEXP indices, SEXP value, SEXP in_place, SEXP single) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value tensor, values = {.object = NULL};
  joist_r_read_missing(rules, x, &tensor);
  if (joist_r_may_widen(rules, &tensor)) read_assigned(rules, value, &values);
  SEXP widened = PROTECT(joist_r_widened(rules, &tensor, &values));
  if (widened != x) joist_r_read_missing(rules, x = widened, &tensor);
  const bool one = joist_r_flag(single, "single"), reuse = joist_r_flag(in_place, "in_place");
  struct selection selection;
  /* As in base R, one value can be assigned by an index with NA, where it changes nothing. */
  bool missing = false;
  indices = PROTECT(indices_by_number(indices, &tensor));
  read_selection(indices, &tensor, Rf_xlength(value) == 1 && !one ? &missing : NULL, &selection);
  if (missing) {
    SEXP known =
        PROTECT(joist_r_eval(PROTECT(Rf_lang3(Rf_install("known_positions"), x, indices))));
    SEXP result = assign(x, known, value, in_place, single);
    UNPROTECT(4);
    return result;
  }
  const size_t *before = NULL;
  size_t count = 0;
  if (selection.mask != NULL && tensor.form == JOIST_R_CONCRETE) {
    before = count_mask(selection.mask, tensor.count);
    count = before[joist_mask_blocks(tensor.count)];
    if (count == 0 && !one) { /* the value need not fit */
      UNPROTECT(2);
      return x;
    }
  }
  read_assigned(rules, value, &values);
  SEXP fitted = PROTECT(joist_r_fitted(rules, &tensor, &values, selection.traced));
  if (fitted != values.object) joist_r_read_missing(rules, fitted, &values);
  const bool concrete = tensor.form == JOIST_R_CONCRETE && values.form == JOIST_R_CONCRETE &&
                        values.argument.operand.type.dtype == tensor.argument.operand.type.dtype;
  SEXP result;
  if (selection.traced) {
    if (one) joist_r_stop(JOIST_ERROR_VALUE, "[[<- needs a known position");
    result = assign_masked(rules, &tensor, &selection, &values);
    UNPROTECT(3);
    return result;
  }
  if (before == NULL || !concrete) {
    list_mask(&selection);
    count = selected_count(&selection);
  }
  if (one && count != 1) joist_r_stop(JOIST_ERROR_SHAPE, "[[<- replaces exactly one element");
  check_values(count, &values);
  result = count == 0 && concrete ? x
           : concrete             ? assign_concrete(&tensor, &selection, before, &values, reuse)
                      : assign_by_operations(rules, &tensor, &selection, count, &values);
  UNPROTECT(3);
  return result;
}

/* ---- .Call entry points: however it is done, each is one operation to a recording ---- */

SEXP joist_r_subset(SEXP x, SEXP indices, SEXP drop, SEXP single) {
  if (!joist_r_recording()) return subset(x, indices, drop, single);
  const uint32_t mark = joist_r_recorded();
  SEXP result = PROTECT(subset(x, indices, drop, single));
  if (result != R_NilValue) joist_r_record_one(mark, JOIST_OP_SLICE, &x, 1, result);
  UNPROTECT(1);
  return result;
}

SEXP joist_r_assign(SEXP x, SEXP indices, SEXP value, SEXP in_place, SEXP single) {
  if (!joist_r_recording()) return assign(x, indices, value, in_place, single);
  const uint32_t mark = joist_r_recorded();
  SEXP result = PROTECT(assign(x, indices, value, in_place, single));
  const SEXP operands[] = {x, value};
  joist_r_record_one(mark, JOIST_OP_UPDATE, operands, 2, result);
  UNPROTECT(1);
  return result;
}
