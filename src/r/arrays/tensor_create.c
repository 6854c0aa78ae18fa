/* Makes tensors of R values. */
#include "r/arrays/tensor_create.h"

#include <string.h>

#include "core/types/host.h"
#include "r/audit/ledger.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/policy.h"
#include "r/base/session.h"
#include "r/base/tensor_fields.h"
#include "r/call/transfer.h"
#include "r/memory/payload.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/mask.h"
#include "r/tensor/names.h"
#include "r/tensor/operands.h"
#include "r/tensor/properties.h"
#include "r/tensor/rules.h"
#include "r/tensor/unknown.h"
#include "r/trace/strictness.h"
#include "r/trace/trace.h"
#include "r/trace/trace_mask.h"

/* Elements between two questions whether the user wants to stop. */
enum { INTERRUPT_EVERY = 1 << 16 };

joist_r_na_policy joist_r_na(SEXP na) {
  const char *const text = joist_r_string(na, "na");
  if (strcmp(text, "missing") == 0) return JOIST_R_NA_MISSING;
  if (strcmp(text, "error") == 0) return JOIST_R_NA_ERROR;
  if (strcmp(text, "nan") == 0) return JOIST_R_NA_NAN;
  joist_r_stop(JOIST_ERROR_VALUE, "`na` must be \"missing\", \"error\" or \"nan\", not \"%s\"",
               text);
}

/* What becomes of the NA of a literal, whose other elements were read. */
static void place_missing(const struct joist_r_value *value, joist_dtype dtype,
                          joist_r_na_policy policy, void *elements) {
  if (value->mask == NULL || policy == JOIST_R_NA_MISSING) return;
  const size_t size = joist_dtype_size(dtype);
  const uint8_t *const first = memchr(value->mask, 1, value->count);
  if (policy == JOIST_R_NA_ERROR || joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT)
    JOIST_R_FAIL(JOIST_E_NA_VALUE, .position = (size_t)(first - value->mask) + 1,
                 .type = {{dtype, false}});
  char nan[16];
  const double number = R_NaN;
  struct joist_error error;
  joist_r_raise_if(joist_import(JOIST_HOST_DOUBLE, &number, 1, dtype, nan, NULL, &error), &error);
  for (size_t k = 0; k < value->count; k++)
    if (value->mask[k]) memcpy((char *)elements + k * size, nan, size);
}

/* A tensor of an R value, with its names unless another shape was asked for. */
static SEXP made_tensor(const struct joist_r_value *value, SEXP payload, struct joist_type type,
                        const struct joist_shape *shape) {
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, shape));
  const struct joist_shape *const own = &value->argument.shape;
  const bool one = own->rank == 0 && shape->rank == 1; /* c(a = 1) */
  SEXP names = PROTECT(one ? Rf_getAttrib(value->object, R_NamesSymbol) : value->names);
  if (one || joist_shape_equal(own, shape)) joist_r_set_names(tensor, names, shape->rank);
  UNPROTECT(2);
  return tensor;
}

static size_t checked_count(const struct joist_shape *shape) {
  size_t count = 0;
  if (!joist_shape_count(shape, &count)) JOIST_R_FAIL(JOIST_E_ELEMENT_LIMIT, .shape = {*shape});
  return count;
}

void joist_r_check_filled(const struct joist_shape *shape, size_t count) {
  char text[JOIST_SHAPE_TEXT];
  if (checked_count(shape) != count)
    joist_r_stop(JOIST_ERROR_SHAPE,
                 "%.0f value%s do%s not fill shape %s; nv_fill() repeats one value", (double)count,
                 count == 1 ? "" : "s", count == 1 ? "es" : "", joist_shape_format(shape, text));
}

/* Whether the R vector can be the payload itself, unchanged. */
static bool is_payload(const struct joist_r_value *value, joist_dtype dtype) {
  const bool same = (value->host == JOIST_HOST_INTEGER && dtype == JOIST_I32) ||
                    (value->host == JOIST_HOST_DOUBLE && dtype == JOIST_F64) ||
                    (value->host == JOIST_HOST_COMPLEX && dtype == JOIST_C128) ||
                    (value->host == JOIST_HOST_RAW && dtype == JOIST_UI8);
  return same && !joist_r_has_attributes(value->object);
}

/* Text for a 64-bit integer dtype, which R has no numbers for. */
static SEXP made_from_text(SEXP x, joist_dtype dtype, SEXP shape, SEXP ambiguous,
                           joist_r_na_policy policy) {
  struct joist_shape wanted = {.rank = 1, .extent = {0}};
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  const R_xlen_t n = XLENGTH(x);
  if (shape != R_NilValue || dim != R_NilValue)
    joist_r_shape(shape != R_NilValue ? shape : dim, &wanted);
  else if (n <= INT32_MAX)
    wanted.extent[0] = (uint32_t)n;
  joist_r_check_filled(&wanted, (size_t)n);
  SEXP payload = PROTECT(joist_r_payload(dtype, (size_t)n));
  uint64_t *const values = joist_r_elements(payload);
  SEXP mask = PROTECT(joist_r_payload(JOIST_BOOL, (size_t)n));
  uint8_t *const missing = joist_r_elements(mask);
  for (R_xlen_t i = 0; i < n; i++) {
    struct joist_error error;
    const size_t position = (size_t)i + 1;
    if (position % INTERRUPT_EVERY == 0) R_CheckUserInterrupt();
    missing[i] = STRING_ELT(x, i) == NA_STRING;
    values[i] = 0;
    if (missing[i] && policy != JOIST_R_NA_MISSING)
      JOIST_R_FAIL(JOIST_E_NA_VALUE, .position = position, .type = {{dtype, false}});
    if (missing[i]) continue;
    const joist_status status = joist_parse_integer(Rf_translateCharUTF8(STRING_ELT(x, i)),
                                                    position, dtype, values + i, &error);
    joist_r_raise_if(status, &error);
  }
  const struct joist_type type = {
      dtype, ambiguous == R_NilValue ? false : joist_r_flag(ambiguous, "ambiguous")};
  SEXP tensor = PROTECT(joist_r_tensor(payload, type, &wanted));
  joist_r_set_mask(tensor, mask);
  SEXP names = Rf_getAttrib(x, dim == R_NilValue ? R_NamesSymbol : R_DimNamesSymbol);
  if (shape == R_NilValue) joist_r_set_names(tensor, PROTECT(names), wanted.rank);
  UNPROTECT(shape == R_NilValue ? 4 : 3);
  return tensor;
}

SEXP joist_r_make(SEXP x, SEXP dtype, SEXP shape, SEXP ambiguous, SEXP na, SEXP rules) {
  const struct joist_rules *const set = joist_r_rules(rules);
  if (TYPEOF(x) == STRSXP && !Rf_isObject(x) && dtype != R_NilValue) {
    const joist_dtype asked = joist_r_dtype(dtype);
    if (asked == JOIST_I64 || asked == JOIST_UI64)
      return made_from_text(x, asked, shape, ambiguous, joist_r_na(na));
  }
  struct joist_r_value value;
  joist_r_read_missing(set, x, &value);
  struct joist_shape wanted = value.argument.shape;
  if (shape != R_NilValue)
    joist_r_shape(shape, &wanted);
  else if ((value.form == JOIST_R_LITERAL || value.leaf) && wanted.rank == 0)
    wanted = (struct joist_shape){.rank = 1, .extent = {1}};
  joist_r_check_filled(&wanted, value.count);
  struct joist_type type = {value.argument.operand.type.dtype,
                            ambiguous == R_NilValue ? false : joist_r_flag(ambiguous, "ambiguous")};
  if (dtype != R_NilValue) type.dtype = joist_r_dtype(dtype);
  if (value.leaf) return joist_r_trace_read(&value, type, &wanted);
  if (value.form != JOIST_R_LITERAL) {
    if (type.dtype != value.argument.operand.type.dtype)
      joist_r_stop(
          JOIST_ERROR_DTYPE, "this tensor already has dtype %s; use nv_convert() to make it %s",
          joist_dtype_name(value.argument.operand.type.dtype), joist_dtype_name(type.dtype));
    if (ambiguous == R_NilValue) type.ambiguous = value.argument.operand.type.ambiguous;
    if (value.form == JOIST_R_CONCRETE || value.form == JOIST_R_REMOTE)
      return joist_r_same_payload(&value, type, &wanted);
    return x;
  }
  if (joist_r_session()->strict && dtype == R_NilValue) joist_r_judge_default(&value, type.dtype);
  joist_r_judge_doubles(&value, type.dtype, dtype == R_NilValue && ambiguous == R_NilValue);
  joist_r_judge_integers(&value, type.dtype);
  struct joist_error error;
  const joist_r_na_policy policy = joist_r_na(na);
  SEXP payload = value.object; /* unless there is something to convert */
  PROTECT_INDEX at;
  PROTECT_WITH_INDEX(payload, &at);
  if (!is_payload(&value, type.dtype) || (value.mask != NULL && policy != JOIST_R_NA_MISSING)) {
    REPROTECT(payload = joist_r_payload(type.dtype, value.count), at);
    joist_r_raise_if(joist_r_import_exact(&value, type.dtype, joist_r_elements(payload), &error),
                     &error);
    place_missing(&value, type.dtype, policy, joist_r_elements(payload));
  }
  SEXP tensor = PROTECT(made_tensor(&value, payload, type, &wanted));
  if (policy == JOIST_R_NA_MISSING) joist_r_copy_mask(tensor, &value);
  UNPROTECT(2);
  return tensor;
}

SEXP joist_r_scalar_like(SEXP number, SEXP x) {
  SEXP dtype = PROTECT(joist_r_dtype_of(x)), ambiguous = PROTECT(joist_r_is_ambiguous(x));
  SEXP shape = PROTECT(Rf_allocVector(INTSXP, 0)), na = PROTECT(Rf_mkString("missing"));
  SEXP made = PROTECT(joist_r_make(number, dtype, shape, ambiguous, na, R_NilValue));
  made = joist_r_made_beside(made, x);
  UNPROTECT(5);
  return made;
}

SEXP joist_r_make_aval(SEXP dtype, SEXP shape, SEXP ambiguous, SEXP missing) {
  struct joist_shape extents;
  joist_r_shape(shape, &extents);
  checked_count(&extents);
  const bool is_ambiguous = joist_r_flag(ambiguous, "ambiguous");
  SEXP aval =
      PROTECT(joist_r_aval((struct joist_type){joist_r_dtype(dtype), is_ambiguous}, &extents));
  if (joist_r_flag(missing, "missing")) joist_r_unknown_set_missing(aval, missing);
  UNPROTECT(1);
  return aval;
}

/* The same payload under another shape; only concrete and abstract tensors, and R values among the
 * arguments of a trace. */
SEXP joist_r_with_shape(SEXP x, SEXP shape) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  struct joist_shape extents;
  joist_r_shape(shape, &extents);
  const size_t count = checked_count(&extents);
  if (count != value.count)
    JOIST_R_FAIL(JOIST_E_RESHAPE, .shape = {value.argument.shape, extents},
                 .count = {value.count, count});
  if (value.leaf) {
    SEXP traced = PROTECT(joist_r_traced(value.payload, value.argument.value, true,
                                         value.argument.operand.type, &extents));
    value.argument.shape = extents;
    joist_value_id mask;
    joist_r_trace_masks(value.payload, &value, 1, &mask);
    traced = joist_r_traced_with(traced, value.payload, mask);
    UNPROTECT(1);
    return traced;
  }
  if (value.form == JOIST_R_CONCRETE || value.form == JOIST_R_REMOTE)
    return joist_r_same_payload(&value, value.argument.operand.type, &extents);
  if (value.form != JOIST_R_ABSTRACT)
    joist_r_stop(JOIST_ERROR_VALUE, "`x` must be a tensor that is not traced");
  SEXP copy = PROTECT(joist_r_aval(value.argument.operand.type, &extents));
  if (joist_r_has_missing(&value)) joist_r_unknown_set_missing(copy, value.missing);
  joist_r_record_same(x, copy);
  UNPROTECT(1);
  return copy;
}
