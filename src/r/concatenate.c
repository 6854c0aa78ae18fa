/* Putting tensors together and arranging their dims. */
#include "r/concatenate.h"

#include <string.h>

#include "core/ops/move/walk.h"
#include "r/arguments.h"
#include "r/conditions.h"
#include "r/operations.h"
#include "r/payload.h"
#include "r/rules.h"
#include "r/run.h"
#include "r/transfer.h"

/* A tensor of that type and shape: an R number becomes it exactly, or fails; a tensor is
 * converted and reshaped; a scalar is repeated. */
static SEXP read_as(const struct joist_rules *rules, SEXP object, struct joist_type type,
                    const struct joist_shape *shape) {
  struct joist_r_value value;
  joist_r_read_any(rules, object, &value);
  struct joist_type *const own = &value.argument.operand.type;
  size_t count = 0;
  (void)joist_shape_count(shape, &count);
  const bool literal = value.form == JOIST_R_LITERAL, repeated = value.count != count;
  const bool same_type = own->dtype == type.dtype && own->ambiguous == type.ambiguous;
  const bool same_shape = joist_shape_equal(&value.argument.shape, shape);
  if (!literal && !value.leaf && same_type && same_shape) return object;
  if (literal && !repeated) {
    SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
    const struct joist_run run = joist_r_run();
    struct joist_error error;
    const joist_status imported =
        joist_import(value.host, value.data, count, type.dtype, JOIST_NA_ERROR,
                     joist_r_elements(payload), &run, &error);
    if (imported != JOIST_OK) joist_r_raise(imported, &error);
    SEXP tensor = joist_r_tensor(payload, type, shape);
    UNPROTECT(1);
    return tensor;
  }
  if ((value.form == JOIST_R_CONCRETE || value.form == JOIST_R_REMOTE) &&
      own->dtype == type.dtype && !repeated)
    return joist_r_same_payload(&value, type, shape);
  struct joist_attributes attributes = joist_r_attributes();
  if (literal || value.leaf) {
    *own = type; /* layout operations read a literal in the dtype it is said to have */
  } else if (!same_type) {
    attributes.requested = type;
    object = joist_r_apply(rules, JOIST_OP_CONVERT, &value, &attributes);
    if (same_shape) return object;
  }
  PROTECT(object);
  if (!literal && !value.leaf) joist_r_read_any(rules, object, &value);
  attributes.shape = *shape;
  SEXP tensor =
      joist_r_apply(rules, repeated ? JOIST_OP_BROADCAST : JOIST_OP_RESHAPE, &value, &attributes);
  UNPROTECT(1);
  return tensor;
}

/* The value in the dtype of the tensor it is assigned to: what the rules join to that
 * dtype fits, anything else is refused. */
SEXP joist_r_fitted(const struct joist_rules *rules, const struct joist_r_value *x, SEXP object) {
  struct joist_r_value value;
  joist_r_read_any(rules, object, &value);
  if (joist_r_by_value(rules)) joist_r_read_range(&value);
  const struct joist_operand operands[] = {x->argument.operand, value.argument.operand};
  struct joist_type common;
  struct joist_error error;
  const joist_status status = joist_common_type(rules, operands, 2, &common, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  const joist_dtype dtype = x->argument.operand.type.dtype;
  const bool whole = value.form == JOIST_R_LITERAL && value.host == JOIST_HOST_DOUBLE &&
                     joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER;
  if (common.dtype != dtype)
    joist_r_stop(JOIST_ERROR_PROMOTION,
                 "%s%s cannot be assigned into %s: by the rules '%s' their common dtype is %s; "
                 "nv_convert() the value or the tensor%s",
                 joist_dtype_name(value.argument.operand.type.dtype),
                 value.argument.operand.type.ambiguous ? "?" : "", joist_dtype_name(dtype),
                 rules->id, joist_dtype_name(common.dtype),
                 whole ? ", or write whole numbers as 1L" : "");
  const struct joist_type wanted = {dtype, value.argument.operand.type.ambiguous};
  SEXP made = PROTECT(read_as(rules, object, wanted, &value.argument.shape));
  if (value.form == JOIST_R_LITERAL) made = joist_r_beside(x, made);
  UNPROTECT(1);
  return made;
}

/* The shape of tensors laid side by side along `dim`. */
static struct joist_shape concatenated_shape(const struct joist_r_value *values, R_xlen_t n,
                                             int dim) {
  struct joist_shape shape = values[0].argument.shape;
  double total = 0;
  for (R_xlen_t k = 0; k < n; k++) {
    struct joist_shape next = values[k].argument.shape;
    if (next.rank == 0 || dim >= next.rank)
      joist_r_stop(JOIST_ERROR_SHAPE, "argument %.0f has rank %d, there is no dimension %d",
                   (double)k + 1, next.rank, dim + 1);
    total += next.extent[dim];
    next.extent[dim] = shape.extent[dim];
    char first[JOIST_SHAPE_TEXT], other[JOIST_SHAPE_TEXT];
    if (!joist_shape_equal(&next, &shape))
      joist_r_stop(JOIST_ERROR_SHAPE, "shapes %s and %s do not fit side by side along dimension %d",
                   joist_shape_format(&values[0].argument.shape, first),
                   joist_shape_format(&values[k].argument.shape, other), dim + 1);
  }
  if (total > INT32_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE, "the result would have an extent of %.0f", total);
  shape.extent[dim] = (uint32_t)total;
  return shape;
}

SEXP joist_r_concatenate(SEXP tensors, SEXP along, SEXP shapes) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const R_xlen_t n = TYPEOF(tensors) == VECSXP ? XLENGTH(tensors) : 0;
  const double position = joist_r_number(along);
  if (n == 0) joist_r_stop(JOIST_ERROR_SHAPE, "there is nothing to concatenate");
  if (!(position >= 1 && position <= JOIST_RANK_MAX) || position != (double)(int)position)
    joist_r_stop(JOIST_ERROR_SHAPE, "`dimension` must be a whole number of at least 1");
  const int dim = (int)position - 1;
  const bool listed = TYPEOF(shapes) == VECSXP, flat = TYPEOF(shapes) == LGLSXP;
  if (listed ? XLENGTH(shapes) != n : !flat && shapes != R_NilValue)
    joist_r_stop(JOIST_ERROR_SHAPE, "there is one shape for each of the tensors");
  struct joist_r_value *const values = (struct joist_r_value *)R_alloc((size_t)n, sizeof *values);
  struct joist_operand *const operands =
      (struct joist_operand *)R_alloc((size_t)n, sizeof *operands);
  for (R_xlen_t k = 0; k < n; k++) {
    joist_r_read_any(rules, VECTOR_ELT(tensors, k), &values[k]);
    if (joist_r_by_value(rules)) joist_r_read_range(&values[k]);
    operands[k] = values[k].argument.operand;
    struct joist_shape *const shape = &values[k].argument.shape;
    if (flat && values[k].count > INT32_MAX)
      joist_r_stop(JOIST_ERROR_SHAPE, "argument %.0f has more than 2^31 - 1 elements",
                   (double)k + 1);
    if (flat)
      *shape = (struct joist_shape){1, {(uint32_t)values[k].count}};
    else if (listed)
      joist_r_shape(VECTOR_ELT(shapes, k), shape);
    else if (shape->rank == 0)
      *shape = (struct joist_shape){1, {1}};
  }
  struct joist_type type;
  struct joist_error error;
  const joist_status status = joist_common_type(rules, operands, (size_t)n, &type, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  const struct joist_shape shape = concatenated_shape(values, n, dim);
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, n));
  const struct joist_device *const device = joist_r_common_device(values, (int)n);
  for (R_xlen_t k = 0; k < n; k++) {
    const struct joist_shape part = values[k].argument.shape;
    const bool literal = values[k].form == JOIST_R_LITERAL;
    SET_VECTOR_ELT(parts, k, read_as(rules, VECTOR_ELT(tensors, k), type, &part));
    if (literal && device != NULL)
      SET_VECTOR_ELT(parts, k, joist_r_on_device(VECTOR_ELT(parts, k), device));
    joist_r_read_any(rules, VECTOR_ELT(parts, k), &values[k]);
  }
  bool concrete = true;
  for (R_xlen_t k = 0; k < n; k++) concrete &= values[k].form == JOIST_R_CONCRETE;
  SEXP tensor;
  if (concrete) {
    size_t count = 0;
    (void)joist_shape_count(&shape, &count);
    SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
    const struct joist_run run = joist_r_run();
    size_t first = 0;
    for (R_xlen_t k = 0; k < n; k++) {
      const uint32_t extent = values[k].argument.shape.extent[dim];
      const joist_status moved =
          joist_concatenate(joist_dtype_size(type.dtype), &shape, dim, first, extent,
                            values[k].data, joist_r_elements(payload), &run, &error);
      if (moved != JOIST_OK) joist_r_raise(moved, &error);
      first += extent;
    }
    tensor = joist_r_tensor(payload, type, &shape);
    UNPROTECT(1);
  } else {
    tensor = VECTOR_ELT(parts, 0);
    for (R_xlen_t k = 1; k < n; k++) {
      PROTECT(tensor);
      struct joist_r_value pair[JOIST_ARITY_MAX];
      joist_r_read_any(rules, tensor, &pair[0]);
      pair[1] = values[k];
      struct joist_attributes attributes = joist_r_attributes();
      attributes.parameter[0] = dim;
      tensor = joist_r_apply(rules, JOIST_OP_CONCATENATE, pair, &attributes);
      UNPROTECT(1);
    }
  }
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_permute(SEXP x, SEXP order) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value value;
  joist_r_read_any(rules, x, &value);
  const int rank = value.argument.shape.rank;
  const bool reversed = order == R_NilValue;
  if (!reversed && (TYPEOF(order) != INTSXP || XLENGTH(order) != rank))
    joist_r_stop(JOIST_ERROR_SHAPE, "the permutation has %.0f entries, the tensor %d dimensions",
                 (double)Rf_xlength(order), rank);
  struct joist_attributes attributes = joist_r_attributes();
  for (int d = 0; d < rank; d++) {
    const int given = reversed ? rank - d : INTEGER(order)[d];
    attributes.parameter[d] = given == NA_INTEGER ? -1 : given - 1;
  }
  return joist_r_apply(rules, JOIST_OP_PERMUTE, &value, &attributes);
}

SEXP joist_r_pad(SEXP x, SEXP value, SEXP edges) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  struct joist_r_value values[JOIST_ARITY_MAX];
  joist_r_read_any(rules, x, &values[0]);
  SEXP fitted = PROTECT(joist_r_fitted(rules, &values[0], value));
  joist_r_read_any(rules, fitted, &values[1]);
  struct joist_attributes attributes = joist_r_attributes();
  if (TYPEOF(edges) != INTSXP || XLENGTH(edges) > JOIST_RANK_MAX)
    joist_r_stop(JOIST_ERROR_SHAPE, "the padding is at most %d integers", JOIST_RANK_MAX);
  for (R_xlen_t k = 0; k < XLENGTH(edges); k++) attributes.parameter[k] = INTEGER(edges)[k];
  SEXP tensor = joist_r_apply(rules, JOIST_OP_PAD, values, &attributes);
  UNPROTECT(1);
  return tensor;
}
