/* Arrays of Arrow as tensors, and tensors as arrays of Arrow. */
#include "r/exchange/arrow.h"

#include <stdlib.h>
#include <string.h>

#include "core/exchange/arrow.h"
#include "r/arrays/tensor_create.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/finalizers.h"
#include "r/base/keep_alive.h"
#include "r/exchange/files.h"
#include "r/memory/foreign.h"
#include "r/memory/payload.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/mask.h"

/* ---- pointers ---- */

static void finalize_array(SEXP pointer) {
  struct ArrowArray *const array = R_ExternalPtrAddr(pointer);
  if (array == NULL) return;
  if (array->release != NULL) array->release(array);
  R_ClearExternalPtr(pointer);
  free(array);
}

static void finalize_schema(SEXP pointer) {
  struct ArrowSchema *const schema = R_ExternalPtrAddr(pointer);
  if (schema == NULL) return;
  if (schema->release != NULL) schema->release(schema);
  R_ClearExternalPtr(pointer);
  free(schema);
}

/* Not finalized when R exits: the maker of the contents may be gone by then. The tag is `what`. */
static SEXP new_pointer(const char *what, size_t size, R_CFinalizer_t finalize) {
  SEXP pointer = PROTECT(joist_r_owner(finalize));
  R_SetExternalPtrTag(pointer, Rf_install(what));
  void *const memory = calloc(1, size);
  if (memory == NULL) JOIST_R_FAIL(JOIST_E_OUT_OF_MEMORY, .bytes = size);
  R_SetExternalPtrAddr(pointer, memory);
  UNPROTECT(1);
  return pointer;
}

static const char array_tag[] = "arrow_array", schema_tag[] = "arrow_schema";

static SEXP new_array(void) {
  return new_pointer(array_tag, sizeof(struct ArrowArray), finalize_array);
}

static SEXP new_schema(void) {
  return new_pointer(schema_tag, sizeof(struct ArrowSchema), finalize_schema);
}

SEXP joist_r_arrow_pointers(void) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, 2)), pair = PROTECT(Rf_allocVector(VECSXP, 2));
  SET_STRING_ELT(names, 0, Rf_mkChar("array"));
  SET_STRING_ELT(names, 1, Rf_mkChar("schema"));
  Rf_setAttrib(pair, R_NamesSymbol, names);
  SET_VECTOR_ELT(pair, 0, new_array());
  SET_VECTOR_ELT(pair, 1, new_schema());
  UNPROTECT(2);
  return pair;
}

/* One of nanoarrow's, by its class, or of joist's, by its tag; another package's says neither. */
static bool may_be(SEXP pointer, const char *class, const char *tag) {
  if (TYPEOF(pointer) != EXTPTRSXP) return false;
  if (Rf_isObject(pointer)) return Rf_inherits(pointer, class);
  SEXP own = R_ExternalPtrTag(pointer);
  return own == R_NilValue || own == Rf_install(tag);
}

static void *address(SEXP pointer, bool known, const char *argument) {
  if (!known || R_ExternalPtrAddr(pointer) == NULL)
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be an external pointer to Arrow's structure",
                 argument);
  return R_ExternalPtrAddr(pointer);
}

static struct ArrowArray *array_of(SEXP pointer) {
  return address(pointer, may_be(pointer, "nanoarrow_array", array_tag), "array");
}

static struct ArrowSchema *schema_of(SEXP pointer) {
  return address(pointer, may_be(pointer, "nanoarrow_schema", schema_tag), "schema");
}

SEXP joist_r_arrow_address(SEXP pointer) {
  const void *const found = address(pointer, TYPEOF(pointer) == EXTPTRSXP, "pointer");
  return Rf_ScalarReal((double)(uintptr_t)found);
}

/* ---- to Arrow ---- */

static const struct joist_shape *read_item(SEXP item, struct joist_shape *shape) {
  if (item == R_NilValue) return NULL;
  joist_r_shape(item, shape);
  return shape;
}

SEXP joist_r_to_arrow_schema(SEXP dtype, SEXP item, SEXP pointer) {
  struct joist_shape shape;
  struct joist_error error;
  const struct joist_shape *const rows = read_item(item, &shape);
  struct ArrowSchema *const schema = schema_of(pointer);
  joist_r_raise_if(joist_arrow_write_schema(joist_r_dtype(dtype), rows, schema, &error), &error);
  return pointer;
}

/* The elements of a value: themselves, lent, or a copy where Arrow has them otherwise. */
static struct joist_arrow_owned own_elements(const struct joist_r_value *value) {
  const joist_dtype dtype = value->argument.operand.type.dtype;
  if (dtype != JOIST_BOOL && value->count > 0) {
    SEXP payload = PROTECT(joist_r_shared_payload(value));
    MARK_NOT_MUTABLE(payload);
    const struct joist_arrow_owned lent =
        joist_arrow_own_keep_alive(joist_r_elements(payload), joist_r_keep_alive(payload));
    UNPROTECT(1);
    return lent;
  }
  struct joist_arrow_owned owned;
  struct joist_error error;
  joist_r_raise_if(joist_arrow_own_copy(dtype, value->data, value->count, &owned, &error), &error);
  return owned;
}

static struct joist_arrow_owned own(const struct joist_r_value *value) {
  struct joist_arrow_owned owned = own_elements(value);
  struct joist_error error;
  if (value->mask != NULL)
    joist_r_raise_if(joist_arrow_own_mask(value->mask, value->count, &owned, &error), &error);
  return owned;
}

SEXP joist_r_to_arrow(SEXP x, SEXP item, SEXP pointers) {
  struct joist_r_value value;
  struct joist_shape shape;
  struct joist_error error;
  if (TYPEOF(pointers) != VECSXP || XLENGTH(pointers) != 2)
    joist_r_stop(JOIST_ERROR_VALUE, "`pointers` must be a list of an array and a schema");
  joist_r_release_returned();
  PROTECT(joist_r_read_here(x, &value));
  const struct joist_shape *const rows = read_item(item, &shape);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  struct ArrowArray *const array = array_of(VECTOR_ELT(pointers, 0));
  struct ArrowSchema *const schema = schema_of(VECTOR_ELT(pointers, 1));
  joist_r_raise_if(joist_arrow_write_schema(dtype, rows, schema, &error), &error);
  const struct joist_shape *const all = &value.argument.shape;
  const size_t n = rows == NULL ? value.count : all->extent[all->rank - 1];
  joist_r_raise_if(joist_arrow_write_array(n, rows, own(&value), array, &error), &error);
  UNPROTECT(1);
  return pointers;
}

/* ---- from Arrow ---- */

static struct ArrowArray *array_at(SEXP arrays, R_xlen_t k) {
  return array_of(VECTOR_ELT(arrays, k));
}

static joist_status read_part(SEXP arrays, R_xlen_t k, const struct joist_arrow_type *type,
                              struct joist_arrow_part *part, struct joist_error *error) {
  return joist_arrow_read_array(array_at(arrays, k), type, part, error);
}

/* What becomes of nulls by `na`. */
static joist_arrow_nulls nulls_of(SEXP na) {
  switch (joist_r_na(na)) {
    case JOIST_R_NA_ERROR:
      return JOIST_ARROW_ERROR;
    case JOIST_R_NA_NAN:
      return JOIST_ARROW_NAN;
    case JOIST_R_NA_MISSING:
      break;
  }
  return JOIST_ARROW_MISSING;
}

/* The elements where they are, if one array has them all; `owner` is to have that array. */
static SEXP payload_in_place(joist_dtype dtype, const struct joist_arrow_part *part,
                             joist_arrow_nulls nulls, SEXP owner) {
  const void *const elements = joist_arrow_elements(part, dtype);
  if (elements == NULL) return R_NilValue;
  if (nulls != JOIST_ARROW_MISSING && joist_arrow_first_null(part) < part->count) return R_NilValue;
  const SEXPTYPE type = joist_r_payload_type(dtype);
  const size_t n = part->count * (type == RAWSXP ? joist_dtype_size(dtype) : 1);
  return joist_r_foreign(type, elements, n, owner);
}

static SEXP payload_of_copies(SEXP arrays, const struct joist_arrow_type *type,
                              joist_arrow_nulls nulls, size_t count) {
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  struct joist_arrow_part part;
  SEXP payload = PROTECT(joist_r_payload(type->dtype, count));
  char *const to = joist_r_elements(payload);
  size_t done = 0;
  for (R_xlen_t k = 0; k < XLENGTH(arrays); k++) {
    joist_r_raise_if(read_part(arrays, k, type, &part, &error), &error);
    joist_r_raise_if(joist_arrow_copy(&part, type->dtype, nulls, done,
                                      to + done * joist_dtype_size(type->dtype), &run, &error),
                     &error);
    done += part.count;
  }
  UNPROTECT(1);
  return payload;
}

/* The mask of the arrays, R_NilValue if no element is null. */
static SEXP mask_of(SEXP arrays, const struct joist_arrow_type *type, size_t count) {
  struct joist_error error;
  struct joist_arrow_part part;
  bool any = false;
  for (R_xlen_t k = 0; k < XLENGTH(arrays) && !any; k++) {
    joist_r_raise_if(read_part(arrays, k, type, &part, &error), &error);
    any = joist_arrow_first_null(&part) < part.count;
  }
  if (!any) return R_NilValue;
  SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, count));
  uint8_t *to = joist_r_elements(mask);
  for (R_xlen_t k = 0; k < XLENGTH(arrays); k++) {
    joist_r_raise_if(read_part(arrays, k, type, &part, &error), &error);
    joist_arrow_mask(&part, to);
    to += part.count;
  }
  UNPROTECT(1);
  return mask;
}

/* Taken once nothing can fail any more. */
static void take_arrays(SEXP arrays, bool in_place, SEXP owner) {
  if (in_place) {
    struct ArrowArray *const array = array_at(arrays, 0);
    memcpy(R_ExternalPtrAddr(owner), array, sizeof *array);
    array->release = NULL;
  }
  for (R_xlen_t k = 0; k < XLENGTH(arrays); k++) {
    struct ArrowArray *const array = array_at(arrays, k);
    if (array->release != NULL) array->release(array);
  }
}

/* The items in reverse, and behind them the rows. */
static struct joist_shape shape_of(const struct joist_arrow_type *type, size_t rows) {
  struct joist_shape shape = {.rank = type->item.rank + 1};
  size_t count;
  for (int d = 0; d < type->item.rank; d++)
    shape.extent[d] = type->item.extent[type->item.rank - 1 - d];
  if (rows > INT32_MAX) JOIST_R_FAIL(JOIST_E_EXTENT_LIMIT, .dim = 1, .number = {(double)rows});
  shape.extent[shape.rank - 1] = (uint32_t)rows;
  if (!joist_shape_count(&shape, &count)) JOIST_R_FAIL(JOIST_E_ELEMENT_LIMIT, .shape = {shape});
  return shape;
}

static SEXP permutation_of(const struct joist_arrow_type *type) {
  const int rank = type->item.rank;
  if (!type->has_items) return R_NilValue;
  SEXP order = Rf_allocVector(INTSXP, rank + 1);
  INTEGER(order)[0] = rank + 1;
  for (int d = 0; d < rank; d++) INTEGER(order)[d + 1] = rank - type->permutation[d];
  return order;
}

SEXP joist_r_from_arrow(SEXP arrays, SEXP schema, SEXP na) {
  struct joist_arrow_type type;
  struct joist_arrow_part part = {0};
  struct joist_error error;
  const joist_arrow_nulls nulls = nulls_of(na);
  joist_r_raise_if(joist_arrow_read_schema(schema_of(schema), &type, &error), &error);
  size_t rows = 0, count = 0;
  for (R_xlen_t k = 0; k < XLENGTH(arrays); k++) {
    joist_r_raise_if(read_part(arrays, k, &type, &part, &error), &error);
    rows += part.rows;
    count += part.count;
    (void)shape_of(&type, rows); /* before the numbers overflow */
  }
  const struct joist_shape shape = shape_of(&type, rows);
  SEXP owner = PROTECT(new_array());
  SEXP payload =
      XLENGTH(arrays) == 1 ? payload_in_place(type.dtype, &part, nulls, owner) : R_NilValue;
  const bool in_place = payload != R_NilValue;
  PROTECT(payload);
  if (!in_place) payload = payload_of_copies(arrays, &type, nulls, count);
  PROTECT(payload);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 2));
  SEXP tensor = joist_r_tensor(payload, (struct joist_type){type.dtype, false}, &shape);
  SET_VECTOR_ELT(result, 0, tensor);
  if (nulls == JOIST_ARROW_MISSING) {
    SEXP mask = PROTECT(mask_of(arrays, &type, count));
    if (mask != R_NilValue) joist_r_set_mask(tensor, mask);
    UNPROTECT(1);
  }
  SET_VECTOR_ELT(result, 1, permutation_of(&type));
  take_arrays(arrays, in_place, owner);
  UNPROTECT(4);
  return result;
}
