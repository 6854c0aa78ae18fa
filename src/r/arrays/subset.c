/* Subsets of tensors. */
#include "r/arrays/subset.h"

#include <stdint.h>
#include <string.h>

#include "core/ops/move/mask.h"
#include "r/arrays/concatenate.h"
#include "r/arrays/selection.h"
#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/call/apply.h"
#include "r/call/transfer.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/tensor/view.h"

static size_t selected_shape(const struct joist_r_selection *selection, bool drop,
                             struct joist_shape *shape) {
  shape->rank = 0;
  for (int d = 0; d < selection->n; d++) {
    const size_t extent = joist_r_index_count(selection, d);
    if (extent > INT32_MAX) joist_r_too_large();
    if (drop && selection->n > 1 && extent == 1) continue;
    shape->extent[shape->rank++] = (uint32_t)extent;
  }
  return joist_r_selected_count(selection);
}
/* ---- subsets ---- */

/* The names at the positions of a selection, where the result of that shape has a dim for it. */
static void set_selected_names(SEXP tensor, const struct joist_r_value *x,
                               const struct joist_r_selection *selection,
                               const struct joist_shape *shape) {
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

static SEXP masked(const struct joist_r_value *x, const uint8_t *mask, bool single) {
  const struct joist_type type = x->argument.operand.type;
  const struct joist_run run = joist_r_run();
  const size_t *const before = joist_r_count_mask(mask, x->count);
  const size_t count = before[joist_mask_blocks(x->count)];
  if (count > INT32_MAX) joist_r_too_large();
  if (single) joist_r_check_single(count);
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
    struct joist_r_selection selection = {.n = 1, .mask = mask, .extent = {x->count}};
    joist_r_select_listed(&selection);
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
  if (value.count > INT32_MAX) joist_r_too_large();
  const struct joist_shape flat = {1, {(uint32_t)value.count}};
  index = reshaped(index, &flat);
  UNPROTECT(1);
  return index;
}

static bool is_range(const struct joist_r_selection *selection, int d) {
  return selection->index[d] == NULL && selection->positions[d].kind == JOIST_INDEX_RANGE;
}

/* Slices where the selection is a range, then a gather for every dim where it is not. */
static SEXP subset_by_operations(SEXP x, const struct joist_r_selection *selection,
                                 const struct joist_shape *result) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_missing(rules, x, &value);
  struct joist_shape shape = value.argument.shape;
  if (selection->linear) {
    if (value.count > INT32_MAX) joist_r_too_large();
    shape = (struct joist_shape){1, {(uint32_t)value.count}};
    x = reshaped(x, &shape);
  }
  PROTECT_INDEX at;
  PROTECT_WITH_INDEX(x, &at);
  bool whole = true;
  struct joist_r_slice slice;
  for (int d = 0; d < selection->n; d++) {
    struct joist_index range = joist_index_all(shape.extent[d]);
    if (is_range(selection, d)) range = selection->positions[d];
    whole &= range.count == shape.extent[d] && range.start == 0 && range.step == 1;
    joist_r_slice_range(&slice, d, &range);
    shape.extent[d] = (uint32_t)range.count;
  }
  if (!whole) {
    struct joist_attributes attributes = joist_r_slice_attributes(&slice, selection->n);
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
      joist_r_slice_range(&slice, d, &all);
    }
    struct joist_attributes attributes = joist_r_slice_attributes(&slice, shape.rank);
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

/* The values that R sees of a tensor which another caller may write to, and whose payload was read
 * without looking for that (joist_r_read_shown()). */
struct shown {
  bool stale;
  const void *values;
};

/* One element; NULL if its value does not fit the dtype. */
static SEXP shown_piece(const struct joist_r_value *x, const struct shown *shown, size_t at,
                        const struct joist_shape *shape) {
  const joist_dtype dtype = x->argument.operand.type.dtype;
  const size_t size = joist_dtype_size(dtype), each = joist_host_size(joist_r_view_host(dtype));
  const void *const value = shown->values == NULL ? NULL : (const char *)shown->values + at * each;
  _Alignas(16) char element[16];
  uint8_t missing = x->mask == NULL ? 0 : x->mask[at];
  memcpy(element, (const char *)x->data + at * size, size);
  if (!joist_r_refresh(x, value, 1, element, &missing)) return NULL;
  struct joist_r_value one = *x;
  one.data = element;
  one.mask = missing ? &missing : NULL;
  return joist_r_piece(&one, 0, 1, shape);
}

/* The elements at known positions of a tensor in memory; NULL if the value of one does not fit. */
static SEXP take(const struct joist_r_value *x, const struct shown *shown,
                 const struct joist_r_selection *selection, size_t count,
                 const struct joist_shape *shape) {
  const struct joist_type type = x->argument.operand.type;
  const struct joist_run run = joist_r_run();
  struct joist_walk walk;
  struct joist_error error;
  joist_r_selection_walk(x, selection, false, false, &walk);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, count)), mask = R_NilValue;
  void *const elements = joist_r_elements(payload);
  joist_r_raise_if(joist_move(joist_dtype_size(type.dtype), &walk, x->data, elements, &run, &error),
                   &error);
  if (x->mask != NULL || shown->stale) mask = joist_r_payload(JOIST_BOOL, count);
  PROTECT(mask);
  if (x->mask != NULL)
    joist_r_raise_if(joist_move(1, &walk, x->mask, joist_r_elements(mask), &run, &error), &error);
  else if (shown->stale && count > 0)
    memset(joist_r_elements(mask), 0, count);
  if (shown->stale) {
    const size_t each = joist_host_size(joist_r_view_host(type.dtype));
    void *const values = shown->values == NULL ? NULL : R_alloc(count + 1, (int)each);
    if (values != NULL)
      joist_r_raise_if(joist_move(each, &walk, shown->values, values, &run, &error), &error);
    if (!joist_r_refresh(x, values, count, elements, joist_r_elements(mask))) {
      UNPROTECT(2);
      return NULL;
    }
  }
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, shape));
  set_selected_names(tensor, x, selection, shape);
  if (mask != R_NilValue) joist_r_set_mask(tensor, mask);
  UNPROTECT(3);
  return tensor;
}

static SEXP abstract_subset(const struct joist_r_value *x, const struct joist_shape *shape) {
  SEXP chosen = PROTECT(joist_r_aval(x->argument.operand.type, shape));
  if (joist_r_has_missing(x)) joist_r_unknown_set_missing(chosen, x->missing);
  UNPROTECT(1);
  return chosen;
}

/* By a list with an index for each dim, or one for the tensor as a vector. NULL if that needs all
 * elements of a tensor of which few were to be read. */
static SEXP subset_by_list(SEXP x, const struct joist_r_value *value, const struct shown *shown,
                           SEXP indices, bool drop, bool one) {
  struct joist_r_selection selection;
  bool missing = false;
  joist_r_select(indices, value, one ? NULL : &missing, &selection);
  if (missing) return R_NilValue;
  if (shown->stale && (selection.traced || selection.mask != NULL)) return NULL;
  if (selection.mask != NULL && value->form == JOIST_R_CONCRETE)
    return masked(value, selection.mask, one);
  joist_r_select_listed(&selection);
  struct joist_shape result;
  const size_t count = selected_shape(&selection, drop, &result);
  if (one) {
    joist_r_check_single(count);
    result.rank = 0;
  }
  if (value->form == JOIST_R_TRACED || value->form == JOIST_R_REMOTE || selection.traced)
    return subset_by_operations(x, &selection, &result);
  if (value->form == JOIST_R_ABSTRACT) return abstract_subset(value, &result);
  if (shown->stale && count > value->count / 4) return NULL;
  return take(value, shown, &selection, count, &result);
}

/* `indices` is such a list, or a single index of a plain vector. R_NilValue where an index is NA.
 */
static SEXP subset_of(SEXP x, const struct joist_r_value *value, const struct shown *shown,
                      SEXP indices, SEXP drop, bool one) {
  PROTECT(indices);
  if (TYPEOF(indices) != VECSXP && indices != R_NilValue) {
    size_t at;
    const bool bare = one || (value->argument.shape.rank == 1 && value->names == R_NilValue);
    if (bare && is_position(indices, value, &at)) {
      const struct joist_shape shape = {one ? 0 : 1, {1}};
      UNPROTECT(1);
      return shown->stale ? shown_piece(value, shown, at, &shape)
                          : joist_r_piece(value, at, 1, &shape);
    }
    SEXP list = Rf_allocVector(VECSXP, 1);
    SET_VECTOR_ELT(list, 0, indices);
    UNPROTECT(1);
    PROTECT(indices = list);
  }
  const bool dropped = joist_r_flag(drop, "drop");
  SEXP numbers = PROTECT(joist_r_indices_by_number(indices, value));
  SEXP chosen = subset_by_list(x, value, shown, numbers, dropped, one);
  UNPROTECT(2);
  return chosen;
}

static SEXP subset(SEXP x, SEXP indices, SEXP drop, SEXP single) {
  struct joist_r_value value;
  struct shown shown = {.values = NULL};
  const bool one = joist_r_flag(single, "single");
  shown.stale = joist_r_read_shown(x, &value, &shown.values);
  if (shown.stale) {
    SEXP chosen = subset_of(x, &value, &shown, indices, drop, one);
    if (chosen != NULL) return chosen;
  }
  shown.stale = false;
  joist_r_read_missing(NULL, x, &value);
  return subset_of(x, &value, &shown, indices, drop, one);
}

/* However it is done, it is one operation to a recording. */
SEXP joist_r_subset(SEXP x, SEXP indices, SEXP drop, SEXP single) {
  if (!joist_r_recording()) return subset(x, indices, drop, single);
  const uint32_t mark = joist_r_recorded();
  SEXP result = PROTECT(subset(x, indices, drop, single));
  if (result != R_NilValue) joist_r_record_one(mark, JOIST_OP_SLICE, &x, 1, result);
  UNPROTECT(1);
  return result;
}
