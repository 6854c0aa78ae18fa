#include "r/arrays/assign.h"

#include <string.h>

#include "r/arrays/concatenate.h"
#include "r/arrays/selection.h"
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

static const struct joist_attributes no_attributes = {.count = 0};

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

static joist_status put(const struct joist_r_value *x, const struct joist_r_selection *selection,
                        const size_t *before, size_t size, const void *from, bool repeated,
                        void *out, const struct joist_run *run, struct joist_error *error) {
  if (selection->mask != NULL)
    return joist_mask_put(size, selection->mask, x->count, before, from, repeated, out, run, error);
  struct joist_walk walk;
  joist_r_selection_walk(x, selection, true, repeated, &walk);
  return joist_move(size, &walk, from, out, run, error);
}

/* The mask of a tensor after an assignment to it. */
static void assign_mask(SEXP tensor, const struct joist_r_value *x,
                        const struct joist_r_selection *selection, const size_t *before,
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

static SEXP assign_concrete(const struct joist_r_value *x,
                            const struct joist_r_selection *selection, const size_t *before,
                            const struct joist_r_value *value, bool in_place) {
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
                          const struct joist_r_selection *selection,
                          const struct joist_r_value *value) {
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
static SEXP positions_tensor(const struct joist_r_value *x,
                             const struct joist_r_selection *selection, size_t count) {
  SEXP payload = PROTECT(joist_r_payload(JOIST_I64, count));
  int64_t *const positions = joist_r_elements(payload);
  if (selection->linear) {
    joist_index_read(&selection->positions[0], 0, count, positions);
  } else {
    joist_positions(&x->argument.shape, selection->positions, positions);
  }
  if (count > INT32_MAX) joist_r_too_large();
  const struct joist_shape shape = {1, {(uint32_t)count}};
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){JOIST_I64, false}, &shape);
  UNPROTECT(1);
  return tensor;
}

static SEXP assign_by_operations(const struct joist_rules *rules, const struct joist_r_value *x,
                                 const struct joist_r_selection *selection, size_t count,
                                 const struct joist_r_value *value) {
  struct joist_r_value values[3] = {*x, *value};
  if (selection->ranges && !selection->linear) {
    struct joist_r_slice slice;
    for (int d = 0; d < selection->n; d++) joist_r_slice_range(&slice, d, &selection->positions[d]);
    const struct joist_attributes attributes = joist_r_slice_attributes(&slice, selection->n);
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
  struct joist_r_selection selection;
  /* As in base R, one value can be assigned by an index with NA, where it changes nothing. */
  bool missing = false;
  indices = PROTECT(joist_r_indices_by_number(indices, &tensor));
  joist_r_select(indices, &tensor, Rf_xlength(value) == 1 && !one ? &missing : NULL, &selection);
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
    before = joist_r_count_mask(selection.mask, tensor.count);
    count = before[joist_mask_blocks(tensor.count)];
    if (count == 0 && !one) { /* the value need not fit */
      UNPROTECT(2);
      return x;
    }
  }
  read_assigned(rules, value, &values);
  PROTECT(joist_r_fitted(rules, &tensor, &values, selection.traced));
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
    joist_r_select_listed(&selection);
    count = joist_r_selected_count(&selection);
  }
  if (one && count != 1) joist_r_stop(JOIST_ERROR_SHAPE, "[[<- replaces exactly one element");
  check_values(count, &values);
  result = count == 0 && concrete ? x
           : concrete             ? assign_concrete(&tensor, &selection, before, &values, reuse)
                      : assign_by_operations(rules, &tensor, &selection, count, &values);
  UNPROTECT(3);
  return result;
}

/* However it is done, it is one operation to a recording. */
SEXP joist_r_assign(SEXP x, SEXP indices, SEXP value, SEXP in_place, SEXP single) {
  if (!joist_r_recording()) return assign(x, indices, value, in_place, single);
  const uint32_t mark = joist_r_recorded();
  SEXP result = PROTECT(assign(x, indices, value, in_place, single));
  const SEXP operands[] = {x, value};
  joist_r_record_one(mark, JOIST_OP_UPDATE, operands, 2, result);
  UNPROTECT(1);
  return result;
}
