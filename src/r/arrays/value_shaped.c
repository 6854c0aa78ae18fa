/* Unique elements, repeated ones, those that are TRUE, and groups of equal ones. */
#include "r/arrays/value_shaped.h"

#include "core/ops/move/walk.h"
#include "core/ops/search/count.h"
#include "core/ops/search/duplicated.h"
#include "core/ops/search/group.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/call/transfer.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/mask.h"
#include "r/tensor/rules.h"

/* Elements on a device are copied. */
static void read_concrete(SEXP x, struct joist_r_value *value) {
  joist_r_read_missing(joist_r_rules(R_NilValue), x, value);
  joist_r_fetch_briefly(value);
  if (value->form != JOIST_R_CONCRETE)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "this function needs the values of a tensor, which are not known while jit() "
                 "traces and which an nv_aval() does not have");
  if (value->count > INT32_MAX)
    joist_r_stop(JOIST_ERROR_VALUE, "the positions of %.0f elements do not fit i32",
                 (double)value->count);
}

/* What was made of the elements of `x`, where these are. */
static SEXP beside(SEXP x, SEXP made) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  return joist_r_beside(&value, made);
}

static uint8_t *bytes(size_t n) { return (uint8_t *)R_alloc(n + 1, 1); }

static void find_repeated(joist_dtype dtype, size_t n, const void *elements, uint8_t *repeated) {
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_r_raise_if(joist_repeated(dtype, n, elements, repeated, &run, &error), &error);
}

/* One byte per element, from R's stack of transient memory. Missing elements equal one another, and
 * no other. */
static uint8_t *repeated_of(const struct joist_r_value *value) {
  const joist_dtype dtype = value->argument.operand.type.dtype;
  const size_t n = value->count, size = joist_dtype_size(dtype);
  uint8_t *const repeated = bytes(n);
  if (value->mask == NULL) {
    find_repeated(dtype, n, value->data, repeated);
    return repeated;
  }
  const size_t count = n - joist_count_true(n, value->mask);
  void *const present = R_alloc(count + 1, (int)size);
  uint8_t *const found = bytes(count);
  joist_compress(size, n, value->mask, value->data, present);
  find_repeated(dtype, count, present, found);
  bool seen = false;
  for (size_t k = 0, at = 0; k < n; k++) {
    repeated[k] = value->mask[k] ? seen : found[at++];
    seen |= value->mask[k];
  }
  return repeated;
}

SEXP joist_r_unique(SEXP x) {
  const void *vmax = vmaxget();
  struct joist_r_value value;
  read_concrete(x, &value);
  const struct joist_type type = value.argument.operand.type;
  const uint8_t *const repeated = repeated_of(&value);
  const size_t count = value.count - joist_count_true(value.count, repeated);
  const struct joist_shape shape = {1, {(uint32_t)count}};
  SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
  joist_compress(joist_dtype_size(type.dtype), value.count, repeated, value.data,
                 joist_r_elements(payload));
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, &shape));
  if (value.mask != NULL) {
    SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, count));
    joist_compress(1, value.count, repeated, value.mask, joist_r_elements(mask));
    joist_r_set_mask(tensor, mask);
    UNPROTECT(1);
  }
  tensor = beside(x, tensor);
  UNPROTECT(2);
  vmaxset(vmax);
  return tensor;
}

SEXP joist_r_duplicated(SEXP x) {
  const void *vmax = vmaxget();
  struct joist_r_value value;
  read_concrete(x, &value);
  const uint8_t *const repeated = repeated_of(&value);
  SEXP result = PROTECT(Rf_allocVector(LGLSXP, (R_xlen_t)value.count));
  int *const out = LOGICAL(result);
  for (size_t k = 0; k < value.count; k++) out[k] = repeated[k];
  UNPROTECT(1);
  vmaxset(vmax);
  return result;
}

SEXP joist_r_which(SEXP x, SEXP indices) {
  const void *vmax = vmaxget();
  struct joist_r_value value;
  read_concrete(x, &value);
  const struct joist_shape *const space = &value.argument.shape;
  const bool matrix = joist_r_flag(indices, "arr.ind");
  const joist_dtype dtype = value.argument.operand.type.dtype;
  if (dtype != JOIST_BOOL)
    joist_r_stop(JOIST_ERROR_DTYPE,
                 "nv_which() needs a bool tensor, not %s; compare it with something first",
                 joist_dtype_name(dtype));
  const uint8_t *const elements = joist_r_zeroed(&value);
  const size_t count = joist_count_true(value.count, elements);
  const size_t columns = matrix ? (size_t)space->rank : 1;
  struct joist_shape shape = {1, {(uint32_t)count}};
  if (matrix) shape = (struct joist_shape){2, {(uint32_t)count, (uint32_t)columns}};
  SEXP payload = PROTECT(joist_r_payload(JOIST_I32, count * columns));
  if (matrix)
    joist_which_indices(space, elements, count, joist_r_elements(payload));
  else
    joist_which(value.count, elements, joist_r_elements(payload));
  SEXP tensor = PROTECT(joist_r_tensor(payload, (struct joist_type){JOIST_I32, false}, &shape));
  tensor = beside(x, tensor);
  UNPROTECT(2);
  vmaxset(vmax);
  return tensor;
}

static SEXP positions(SEXP payload, size_t count) {
  const struct joist_shape shape = {1, {(uint32_t)count}};
  return joist_r_tensor(payload, (struct joist_type){JOIST_I32, false}, &shape);
}

SEXP joist_r_group(SEXP keys, SEXP rows) {
  const void *vmax = vmaxget();
  const R_xlen_t count = XLENGTH(keys);
  const size_t n = (size_t)Rf_asReal(rows);
  struct joist_group_key *const key = (void *)R_alloc((size_t)count + 1, sizeof *key);
  for (R_xlen_t k = 0; k < count; k++) {
    struct joist_r_value value;
    read_concrete(VECTOR_ELT(keys, k), &value);
    key[k] = (struct joist_group_key){value.argument.operand.type.dtype, value.data, value.mask};
  }
  SEXP numbers = PROTECT(joist_r_payload(JOIST_I32, n));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  size_t groups = 0;
  joist_r_raise_if(
      joist_group(key, (size_t)count, n, joist_r_elements(numbers), &groups, &run, &error), &error);
  SEXP firsts = PROTECT(joist_r_payload(JOIST_I32, groups));
  joist_group_firsts(n, joist_r_elements(numbers), joist_r_elements(firsts));
  size_t *const sizes = (void *)R_alloc(groups + 1, sizeof *sizes);
  memset(sizes, 0, groups * sizeof *sizes);
  joist_group_sizes(n, joist_r_elements(numbers), groups, sizes);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
  SET_VECTOR_ELT(result, 0, positions(numbers, n));
  SET_VECTOR_ELT(result, 1, positions(firsts, groups));
  SET_VECTOR_ELT(result, 2, Rf_allocVector(INTSXP, (R_xlen_t)groups));
  int *const counts = INTEGER(VECTOR_ELT(result, 2));
  for (size_t k = 0; k < groups; k++) counts[k] = (int)sizes[k];
  UNPROTECT(3);
  vmaxset(vmax);
  return result;
}
