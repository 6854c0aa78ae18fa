/* Putting tensors together, and taking one apart. */
#include "r/arrays/concatenate.h"

#include <string.h>

#include "core/ops/search/group.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/session.h"
#include "r/call/apply.h"
#include "r/call/transfer.h"
#include "r/memory/payload.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/rules.h"
#include "r/trace/strictness.h"
#include "r/trace/trace_call.h"

/* The elements of an R value in that dtype, exactly. */
static SEXP imported(const struct joist_r_value *value, joist_dtype dtype) {
  joist_r_judge_doubles(value, dtype, false);
  joist_r_judge_integers(value, dtype);
  SEXP payload = PROTECT(joist_r_payload(dtype, value->count));
  struct joist_error error;
  joist_r_raise_if(joist_r_import_exact(value, dtype, joist_r_elements(payload), &error), &error);
  UNPROTECT(1);
  return payload;
}

/* A tensor of that type: an R number becomes it exactly, or fails; a tensor is converted. */
static SEXP read_as(const struct joist_rules *rules, SEXP object, struct joist_r_value *value,
                    struct joist_type type, bool assigns) {
  struct joist_type *const own = &value->argument.operand.type;
  struct joist_attributes attributes = {.count = 0};
  int64_t extents[JOIST_RANK_MAX];
  if (value->form == JOIST_R_LITERAL) {
    SEXP payload = PROTECT(imported(value, type.dtype));
    SEXP tensor = PROTECT(joist_r_tensor(payload, type, &value->argument.shape));
    joist_r_set_names(tensor, value->names, value->argument.shape.rank);
    joist_r_copy_mask(tensor, value);
    UNPROTECT(2);
    return tensor;
  }
  if (value->leaf) {
    *own = type; /* layout operations read a literal in the dtype it is said to have */
    joist_attributes_set_shape(&attributes, &value->argument.shape, extents);
    return joist_r_apply(rules, JOIST_OP_RESHAPE, value, 1, &attributes);
  }
  if (own->dtype == type.dtype) return object;
  return joist_r_apply_conversion(rules, value, type, assigns);
}

/* Whether an R value is nothing but NA, which fits every dtype. */
static bool is_all_missing(const struct joist_r_value *value) {
  return value->form == JOIST_R_LITERAL && value->mask != NULL &&
         memchr(value->mask, 0, value->count) == NULL;
}

/* Missing values alone, of a type and the shape of a value. */
static SEXP all_missing(const struct joist_r_value *value, struct joist_type type) {
  SEXP payload = PROTECT(joist_r_payload(type.dtype, value->count));
  memset(joist_r_elements(payload), 0, value->count * joist_dtype_size(type.dtype));
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, &value->argument.shape));
  joist_r_copy_mask(tensor, value);
  UNPROTECT(2);
  return tensor;
}

/* The value as one to be assigned: a new object, or its own. */
static SEXP fitted(const struct joist_rules *rules, const struct joist_r_value *x,
                   struct joist_r_value *value, bool at_once) {
  const struct joist_r_value values[] = {*x, *value};
  const struct joist_operand operands[] = {x->argument.operand, value->argument.operand};
  const struct joist_attributes none = {.count = 0};
  struct joist_signature signature;
  struct joist_error error;
  if (is_all_missing(value)) {
    SEXP missing = PROTECT(all_missing(value, x->argument.operand.type));
    missing = joist_r_beside(x, missing);
    UNPROTECT(1);
    return missing;
  }
  const joist_status status =
      joist_infer(rules, JOIST_OP_UPDATE, operands, 2, &none, &signature, &error);
  joist_r_raise_if(status, &error);
  if (joist_r_session()->strict) joist_r_judge(JOIST_OP_UPDATE, values, 2, &signature);
  const struct joist_type type = {signature.operand[1], value->argument.operand.type.ambiguous};
  const joist_category own = joist_dtype_category(value->argument.operand.type.dtype);
  if (!at_once && value->form != JOIST_R_LITERAL && own >= JOIST_CATEGORY_FLOAT &&
      joist_dtype_category(type.dtype) < JOIST_CATEGORY_FLOAT)
    return value->object;
  if (!at_once && value->form == JOIST_R_LITERAL && x->form == JOIST_R_CONCRETE) {
    value->payload = imported(value, type.dtype);
    value->data = joist_r_elements(value->payload);
    value->form = JOIST_R_CONCRETE;
    value->argument.operand.literal = false;
    value->argument.operand.type = type;
    return value->payload;
  }
  SEXP made = PROTECT(read_as(rules, value->object, value, type, true));
  if (value->form == JOIST_R_LITERAL) made = joist_r_beside(x, made);
  UNPROTECT(1);
  return made;
}

SEXP joist_r_fitted(const struct joist_rules *rules, const struct joist_r_value *x,
                    struct joist_r_value *value, bool at_once) {
  SEXP made = PROTECT(fitted(rules, x, value, at_once));
  if (made != value->object && made != value->payload) joist_r_read_missing(rules, made, value);
  UNPROTECT(1);
  return made;
}

bool joist_r_may_widen(const struct joist_rules *rules, const struct joist_r_value *x) {
  const struct joist_type own = x->argument.operand.type;
  return x->form == JOIST_R_CONCRETE && (own.ambiguous || rules->has_pairs[JOIST_PAIR_ASSIGN]);
}

SEXP joist_r_widened(const struct joist_rules *rules, const struct joist_r_value *x,
                     const struct joist_r_value *value) {
  if (!joist_r_may_widen(rules, x) || is_all_missing(value)) return x->object;
  const struct joist_operand operands[] = {x->argument.operand, value->argument.operand};
  const struct joist_attributes none = {.count = 0};
  struct joist_signature signature;
  struct joist_error error;
  struct joist_type common;
  if (joist_infer(rules, JOIST_OP_UPDATE, operands, 2, &none, &signature, &error) == JOIST_OK ||
      joist_common_type(rules, JOIST_PAIR_ASSIGN, operands, 2, &common, &error) != JOIST_OK)
    return x->object;
  struct joist_r_value read = *x;
  return read_as(rules, x->object, &read, common, false);
}

/* The names of a part that has one dim more where it is joined; R_NilValue if it is reshaped
 * otherwise. */
static SEXP names_around(const struct joist_r_value *value, const struct joist_shape *shape,
                         int along) {
  const struct joist_shape *const own = &value->argument.shape;
  if (value->names == R_NilValue || own->rank + 1 != shape->rank) return R_NilValue;
  SEXP list = PROTECT(joist_r_names_list(shape->rank));
  bool fits = true;
  for (int d = 0; d < own->rank; d++) {
    const int k = d < along ? d : d + 1;
    fits &= own->extent[d] == shape->extent[k];
    const struct joist_index all = {
        .kind = JOIST_INDEX_RANGE, .start = 0, .step = 1, .count = own->extent[d]};
    joist_r_select_names(value, d, &all, list, k);
  }
  UNPROTECT(1);
  return fits ? joist_r_names_in(list, shape->rank, false) : R_NilValue;
}

/* Reshapes a part before it is concatenated along a dim. A single element becomes a scalar, which
 * is repeated. */
static SEXP place(const struct joist_rules *rules, SEXP part, const struct joist_shape *shape,
                  int along, struct joist_r_value *value) {
  struct joist_shape *const own = &value->argument.shape;
  const struct joist_shape scalar = {.rank = 0}, one = {1, {1}};
  size_t count = 0;
  (void)joist_shape_count(shape, &count);
  if (value->count == 1 && count != 1) shape = &scalar;
  if (joist_shape_equal(own, shape)) return part;
  if (value->form == JOIST_R_LITERAL && own->rank == 0) { /* c(a = 1) */
    value->names = Rf_getAttrib(part, R_NamesSymbol);
    *own = one;
  }
  SEXP names = PROTECT(names_around(value, shape, along));
  if (value->form == JOIST_R_LITERAL || value->form == JOIST_R_ABSTRACT || value->leaf) {
    const struct joist_attributes none = {.count = 0};
    value->names =
        names != R_NilValue ? names : joist_r_names_among(JOIST_OP_RESHAPE, &none, value, 1, shape);
    *own = *shape;
    value->argument.operand.rank = shape->rank;
    UNPROTECT(1);
    return part;
  }
  struct joist_attributes attributes = {.count = 0};
  int64_t extents[JOIST_RANK_MAX];
  joist_attributes_set_shape(&attributes, shape, extents);
  const struct joist_r_value given = *value;
  part = PROTECT(value->form == JOIST_R_CONCRETE
                     ? joist_r_same_payload(value, value->argument.operand.type, shape)
                     : joist_r_apply(rules, JOIST_OP_RESHAPE, value, 1, &attributes));
  joist_r_read_missing(rules, part, value);
  joist_r_trace_note_reshaped(&given, &attributes, value);
  if (names != R_NilValue) value->names = names;
  UNPROTECT(2);
  return part;
}

SEXP joist_r_concatenate(SEXP tensors, SEXP along, SEXP shapes) {
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const R_xlen_t n = TYPEOF(tensors) == VECSXP ? XLENGTH(tensors) : 0;
  const double position = joist_r_number(along);
  if (n == 0) joist_r_stop(JOIST_ERROR_SHAPE, "there is nothing to concatenate");
  if (!(position >= 1 && position <= JOIST_RANK_MAX) || position != (double)(int)position)
    joist_r_stop(JOIST_ERROR_SHAPE, "`dim` must be a whole number, 1 or more");
  const bool listed = TYPEOF(shapes) == VECSXP, flat = TYPEOF(shapes) == LGLSXP;
  if (listed ? XLENGTH(shapes) != n : !flat && shapes != R_NilValue)
    joist_r_stop(JOIST_ERROR_SHAPE, "there must be one shape for each tensor");
  struct joist_r_value *const values = (struct joist_r_value *)R_alloc((size_t)n, sizeof *values);
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, 2 * n)); /* and their names */
  for (R_xlen_t k = 0; k < n; k++) {
    joist_r_read_missing(rules, VECTOR_ELT(tensors, k), &values[k]);
    struct joist_shape shape = values[k].argument.shape;
    if (flat && values[k].count > INT32_MAX)
      joist_r_stop(JOIST_ERROR_SHAPE, "argument %.0f has more than 2^31 - 1 elements",
                   (double)k + 1);
    if (flat)
      shape = (struct joist_shape){1, {(uint32_t)values[k].count}};
    else if (listed)
      joist_r_shape(VECTOR_ELT(shapes, k), &shape);
    else if (shape.rank == 0)
      shape = (struct joist_shape){1, {1}};
    SET_VECTOR_ELT(parts, k,
                   place(rules, VECTOR_ELT(tensors, k), &shape, (int)position - 1, &values[k]));
    SET_VECTOR_ELT(parts, n + k, values[k].names);
  }
  struct joist_attributes attributes = {.count = 0};
  joist_attributes_set(&attributes, JOIST_ATTRIBUTE_DIM, (int)position - 1);
  SEXP tensor = joist_r_apply(rules, JOIST_OP_CONCATENATE, values, (size_t)n, &attributes);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_piece(const struct joist_r_value *x, size_t first, size_t count,
                   const struct joist_shape *shape) {
  const struct joist_type type = x->argument.operand.type;
  const size_t size = joist_dtype_size(type.dtype);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
  if (count > 0)
    memcpy(joist_r_elements(payload), (const char *)x->data + first * size, count * size);
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, shape));
  if (x->mask != NULL && count > 0 && memchr(x->mask + first, 1, count) != NULL) {
    SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, count));
    memcpy(joist_r_elements(mask), x->mask + first, count);
    joist_r_set_mask(tensor, mask);
    UNPROTECT(1);
  }
  UNPROTECT(2);
  return tensor;
}

SEXP joist_r_pieces(SEXP x, SEXP shape, SEXP first, SEXP count) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  joist_r_fetch_briefly(&value);
  joist_r_needs_data(&value);
  struct joist_shape each;
  size_t n;
  joist_r_shape(shape, &each);
  const double from = joist_r_number(first), pieces = joist_r_number(count);
  if (!joist_shape_count(&each, &n) || !(from >= 1 && pieces >= 0) ||
      !((from - 1 + pieces) * (double)n <= (double)value.count))
    joist_r_stop(JOIST_ERROR_SHAPE, "the tensor does not have that many pieces");
  SEXP made = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)pieces));
  for (R_xlen_t k = 0; k < XLENGTH(made); k++)
    SET_VECTOR_ELT(made, k, joist_r_piece(&value, ((size_t)(from - 1) + (size_t)k) * n, n, &each));
  UNPROTECT(1);
  return made;
}

/* How many of n members each group has. */
static size_t *sizes_of(const int *numbers, size_t n, size_t groups) {
  size_t *const sizes = (size_t *)R_alloc(groups + 1, (int)sizeof *sizes);
  memset(sizes, 0, groups * sizeof *sizes);
  joist_group_sizes(n, numbers, groups, sizes);
  return sizes;
}

/* A payload for each group, filled with the elements of that dtype of its members. */
static SEXP dealt(joist_dtype dtype, const void *in, size_t n, const int *numbers,
                  const size_t *sizes, size_t groups) {
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)groups));
  char **const to = (char **)R_alloc(groups + 1, (int)sizeof *to);
  for (size_t g = 0; g < groups; g++) {
    SET_VECTOR_ELT(parts, (R_xlen_t)g, joist_r_payload(dtype, sizes[g]));
    to[g] = joist_r_elements(VECTOR_ELT(parts, (R_xlen_t)g));
  }
  joist_group_deal(joist_dtype_size(dtype), n, numbers, groups, in, to);
  UNPROTECT(1);
  return parts;
}

/* The names of the members of each group. */
static SEXP dealt_names(SEXP names, const int *numbers, const size_t *sizes, size_t groups) {
  SEXP parts = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)groups));
  R_xlen_t *const at = (R_xlen_t *)R_alloc(groups + 1, (int)sizeof *at);
  for (size_t g = 0; g < groups; g++) {
    SET_VECTOR_ELT(parts, (R_xlen_t)g, Rf_allocVector(STRSXP, (R_xlen_t)sizes[g]));
    at[g] = 0;
  }
  for (R_xlen_t i = 0; i < XLENGTH(names); i++) {
    const size_t g = joist_group_at(numbers[i]);
    if (g >= groups) continue;
    SET_STRING_ELT(VECTOR_ELT(parts, (R_xlen_t)g), at[g]++, STRING_ELT(names, i));
  }
  UNPROTECT(1);
  return parts;
}

SEXP joist_r_split(SEXP x, SEXP groups) {
  const void *vmax = vmaxget();
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  SEXP levels = Rf_getAttrib(groups, R_LevelsSymbol);
  const size_t count = (size_t)Rf_xlength(levels), n = value.count;
  if (value.form != JOIST_R_CONCRETE || TYPEOF(groups) != INTSXP || (size_t)XLENGTH(groups) != n)
    return R_NilValue;
  const int *const numbers = INTEGER_RO(groups);
  const size_t *const sizes = sizes_of(numbers, n, count);
  const struct joist_type type = value.argument.operand.type;
  SEXP parts = PROTECT(dealt(type.dtype, value.data, n, numbers, sizes, count));
  SEXP masks = PROTECT(
      value.mask == NULL ? R_NilValue : dealt(JOIST_BOOL, value.mask, n, numbers, sizes, count));
  SEXP names = PROTECT(value.names == R_NilValue ? R_NilValue
                                                 : dealt_names(value.names, numbers, sizes, count));
  for (size_t g = 0; g < count; g++) {
    const R_xlen_t at = (R_xlen_t)g;
    const struct joist_shape shape = {1, {(uint32_t)sizes[g]}};
    SEXP part = joist_r_tensor(VECTOR_ELT(parts, at), type, &shape);
    SET_VECTOR_ELT(parts, at, part);
    if (masks != R_NilValue) joist_r_set_mask(part, VECTOR_ELT(masks, at));
    if (names != R_NilValue) joist_r_set_names(part, VECTOR_ELT(names, at), 1);
  }
  Rf_setAttrib(parts, R_NamesSymbol, levels);
  UNPROTECT(3);
  vmaxset(vmax);
  return parts;
}

/* Parts of a tensor, each for the members of a group: where their elements and masks are, and the
 * bytes to the next one of each, 0 for one that all members have. */
struct parts {
  struct joist_type type;
  const char **data, **masks;
  size_t *steps, *mask_steps;
  bool masked;
};

/* False unless they are tensors of one type that fit groups of these sizes. */
static bool read_parts(SEXP list, const size_t *sizes, struct parts *parts) {
  static const char present = 0;
  const struct joist_rules *const rules = joist_r_rules(R_NilValue);
  const size_t groups = (size_t)XLENGTH(list);
  parts->data = (const char **)R_alloc(2 * groups + 1, (int)sizeof *parts->data);
  parts->masks = parts->data + groups;
  parts->steps = (size_t *)R_alloc(2 * groups + 1, (int)sizeof *parts->steps);
  parts->mask_steps = parts->steps + groups;
  parts->masked = false;
  for (size_t g = 0; g < groups; g++) {
    SEXP part = VECTOR_ELT(list, (R_xlen_t)g);
    struct joist_r_value value;
    if (!Rf_inherits(part, "nv_tensor") || TYPEOF(part) == S4SXP) return false;
    joist_r_read_missing(rules, part, &value);
    const struct joist_type type = value.argument.operand.type;
    if (g == 0) parts->type = type;
    if (value.form != JOIST_R_CONCRETE || type.dtype != parts->type.dtype ||
        type.ambiguous != parts->type.ambiguous || (value.count != sizes[g] && value.count != 1))
      return false;
    const bool masked = value.mask != NULL;
    parts->data[g] = value.data;
    parts->steps[g] = value.count == 1 ? 0 : joist_dtype_size(type.dtype);
    parts->masks[g] = masked ? (const char *)value.mask : &present;
    parts->mask_steps[g] = masked && value.count > 1;
    parts->masked |= masked;
  }
  return true;
}

SEXP joist_r_unsplit(SEXP groups, SEXP list) {
  const void *vmax = vmaxget();
  const size_t n = (size_t)XLENGTH(groups), count = (size_t)Rf_xlength(list);
  struct parts parts;
  SEXP tensor = R_NilValue;
  if (TYPEOF(groups) != INTSXP || TYPEOF(list) != VECSXP || count == 0 || n > INT32_MAX)
    return tensor;
  const int *const numbers = INTEGER_RO(groups);
  const size_t *const sizes = sizes_of(numbers, n, count);
  size_t members = 0;
  for (size_t g = 0; g < count; g++) members += sizes[g];
  if (members == n && read_parts(list, sizes, &parts)) {
    const struct joist_shape shape = {1, {(uint32_t)n}};
    SEXP payload = PROTECT(joist_r_payload(parts.type.dtype, n));
    joist_group_collect(joist_dtype_size(parts.type.dtype), n, numbers, parts.data, parts.steps,
                        joist_r_elements(payload));
    tensor = PROTECT(joist_r_tensor(payload, parts.type, &shape));
    if (parts.masked) {
      SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, n));
      joist_group_collect(1, n, numbers, parts.masks, parts.mask_steps, joist_r_elements(mask));
      joist_r_set_mask(tensor, mask);
      UNPROTECT(1);
    }
    UNPROTECT(2);
  }
  vmaxset(vmax);
  return tensor;
}
