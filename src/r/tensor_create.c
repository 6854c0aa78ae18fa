/* .Call entry points that make tensors and read them back. */
#include <string.h>

#include "core/types/convert.h"
#include "r/device_payload.h"
#include "r/operations.h"
#include "r/tensor_fields.h"

/* Elements between two questions whether the user wants to stop. */
enum { INTERRUPT_EVERY = 1 << 16 };

static joist_na na_policy(SEXP na) {
  const char *const text = joist_r_string(na, "na");
  if (strcmp(text, "error") == 0) return JOIST_NA_ERROR;
  if (strcmp(text, "nan") == 0) return JOIST_NA_NAN;
  joist_r_stop(JOIST_ERROR_VALUE, "`na` must be \"error\" or \"nan\", not \"%s\"", text);
}

static size_t checked_count(const struct joist_shape *shape) {
  size_t count = 0;
  char text[JOIST_SHAPE_TEXT];
  if (!joist_shape_count(shape, &count))
    joist_r_stop(JOIST_ERROR_SHAPE, "shape %s has more elements than memory can hold",
                 joist_shape_format(shape, text));
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
static SEXP made_from_text(SEXP x, joist_dtype dtype, SEXP shape, SEXP ambiguous) {
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
  for (R_xlen_t i = 0; i < n; i++) {
    struct joist_error error;
    const size_t position = (size_t)i + 1;
    if (position % INTERRUPT_EVERY == 0) R_CheckUserInterrupt();
    if (STRING_ELT(x, i) == NA_STRING)
      joist_r_stop(JOIST_ERROR_VALUE,
                   "NA at position %.0f: a typed array has no NA; replace it first",
                   (double)position);
    const joist_status status = joist_parse_integer(Rf_translateCharUTF8(STRING_ELT(x, i)),
                                                    position, dtype, values + i, &error);
    if (status != JOIST_OK) joist_r_raise(status, &error);
  }
  const struct joist_type type = {
      dtype, ambiguous == R_NilValue ? false : joist_r_flag(ambiguous, "ambiguous")};
  SEXP tensor = joist_r_tensor(payload, type, &wanted);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_make(SEXP x, SEXP dtype, SEXP shape, SEXP ambiguous, SEXP na, SEXP rules) {
  const struct joist_rules *const set = joist_r_rules(rules);
  if (TYPEOF(x) == STRSXP && !Rf_isObject(x) && dtype != R_NilValue) {
    const joist_dtype asked = joist_r_dtype(dtype);
    if (asked == JOIST_I64 || asked == JOIST_UI64)
      return made_from_text(x, asked, shape, ambiguous);
  }
  struct joist_r_value value;
  joist_r_read_any(set, x, &value);
  struct joist_shape wanted = value.argument.shape;
  if (shape != R_NilValue)
    joist_r_shape(shape, &wanted);
  else if (value.form == JOIST_R_LITERAL && wanted.rank == 0)
    wanted = (struct joist_shape){.rank = 1, .extent = {1}};
  joist_r_check_filled(&wanted, value.count);
  struct joist_type type = {value.argument.operand.type.dtype,
                            ambiguous == R_NilValue ? false : joist_r_flag(ambiguous, "ambiguous")};
  if (dtype != R_NilValue) type.dtype = joist_r_dtype(dtype);
  if (value.form != JOIST_R_LITERAL) {
    if (type.dtype != value.argument.operand.type.dtype)
      joist_r_stop(
          JOIST_ERROR_DTYPE, "this is a tensor of dtype %s already; use nv_convert() to make it %s",
          joist_dtype_name(value.argument.operand.type.dtype), joist_dtype_name(type.dtype));
    if (ambiguous == R_NilValue) type.ambiguous = value.argument.operand.type.ambiguous;
    if (value.form == JOIST_R_CONCRETE || value.form == JOIST_R_REMOTE)
      return joist_r_same_payload(&value, type, &wanted);
    return x;
  }
  struct joist_error error;
  const joist_na policy = na_policy(na);
  /* Nothing to convert; an integer vector with NA fails below. */
  if (is_payload(&value, type.dtype) &&
      (type.dtype != JOIST_I32 ||
       joist_import_fits(value.host, value.data, value.count, JOIST_I32)))
    return joist_r_tensor(value.object, type, &wanted);
  SEXP payload = PROTECT(joist_r_payload(type.dtype, value.count));
  const struct joist_run run = joist_r_run();
  const joist_status status = joist_import(value.host, value.data, value.count, type.dtype, policy,
                                           joist_r_elements(payload), &run, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  SEXP tensor = joist_r_tensor(payload, type, &wanted);
  UNPROTECT(1);
  return tensor;
}

SEXP joist_r_make_aval(SEXP dtype, SEXP shape, SEXP ambiguous) {
  struct joist_shape extents;
  joist_r_shape(shape, &extents);
  checked_count(&extents);
  return joist_r_aval(
      (struct joist_type){joist_r_dtype(dtype), joist_r_flag(ambiguous, "ambiguous")}, &extents);
}

/* The integers after the first; false when they pass the largest. */
static bool count_on(uint64_t *values, size_t n, bool is_signed) {
  for (size_t k = 1; k < n; k++) {
    if (values[k - 1] == (is_signed ? (uint64_t)INT64_MAX : UINT64_MAX)) return false;
    values[k] = values[k - 1] + 1;
  }
  return true;
}

SEXP joist_r_iota(SEXP dim, SEXP dtype, SEXP shape, SEXP start, SEXP ambiguous) {
  struct joist_shape extents;
  joist_r_shape(shape, &extents);
  const size_t count = checked_count(&extents);
  const double at = joist_r_number(dim);
  const int d = at >= 1 && at <= extents.rank ? (int)at : 0;
  if (d == 0 || at != d)
    joist_r_stop(JOIST_ERROR_SHAPE, "`dim` must be one of the %d dimensions of the shape",
                 extents.rank);
  const struct joist_type type = {joist_r_dtype(dtype), joist_r_flag(ambiguous, "ambiguous")};
  const double first = joist_r_number(start);
  if (!R_FINITE(first)) joist_r_stop(JOIST_ERROR_VALUE, "`start` must be a number");
  const size_t length = count == 0 ? 0 : extents.extent[d - 1];
  /* One run of the counted dimension as doubles, or from 2^53 on in integers, then repeated. */
  double *const run = (double *)R_alloc(length == 0 ? 1 : length, sizeof *run);
  for (size_t k = 0; k < length; k++) run[k] = first + (double)k;
  const size_t size = joist_dtype_size(type.dtype);
  char *const typed = R_alloc(length == 0 ? 1 : length, (int)size);
  struct joist_error error;
  const bool wide = type.dtype == JOIST_I64 || type.dtype == JOIST_UI64;
  const size_t exact = wide && length > 0 ? 1 : length;
  const joist_status status =
      joist_import(JOIST_HOST_DOUBLE, run, exact, type.dtype, JOIST_NA_ERROR, typed, NULL, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  if (wide && !count_on((uint64_t *)(void *)typed, length, type.dtype == JOIST_I64))
    joist_r_stop(JOIST_ERROR_VALUE, "%.0f numbers from %.0f on do not fit %s", (double)length,
                 first, joist_dtype_name(type.dtype));
  SEXP payload = PROTECT(joist_r_payload(type.dtype, count));
  char *out = joist_r_elements(payload);
  size_t inner = 1, outer = 1, unasked = 0;
  for (int e = 0; e < d - 1; e++) inner *= extents.extent[e];
  for (int e = d; e < extents.rank; e++) outer *= extents.extent[e];
  for (size_t o = 0; o < outer && length > 0; o++)
    for (size_t k = 0; k < length; k++) {
      for (size_t i = 0; i < inner; i++, out += size) memcpy(out, typed + k * size, size);
      unasked += inner;
      if (unasked < INTERRUPT_EVERY) continue;
      unasked = 0;
      R_CheckUserInterrupt();
    }
  SEXP tensor = joist_r_tensor(payload, type, &extents);
  UNPROTECT(1);
  return tensor;
}

/* The same payload under another shape; only concrete and abstract tensors. */
SEXP joist_r_with_shape(SEXP x, SEXP shape) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  struct joist_shape extents;
  joist_r_shape(shape, &extents);
  char from[JOIST_SHAPE_TEXT], to[JOIST_SHAPE_TEXT];
  if (checked_count(&extents) != value.count)
    joist_r_stop(JOIST_ERROR_SHAPE, "shape %s cannot be reshaped to %s: %.0f and %.0f elements",
                 joist_shape_format(&value.argument.shape, from), joist_shape_format(&extents, to),
                 (double)value.count, (double)checked_count(&extents));
  if (value.form == JOIST_R_ABSTRACT) return joist_r_aval(value.argument.operand.type, &extents);
  return joist_r_same_payload(&value, value.argument.operand.type, &extents);
}

static void host_named(const char *as, joist_host *host) {
  static const struct {
    const char *name;
    joist_host host;
  } hosts[] = {{"logical", JOIST_HOST_LOGICAL}, {"integer", JOIST_HOST_INTEGER},
               {"double", JOIST_HOST_DOUBLE},   {"complex", JOIST_HOST_COMPLEX},
               {"raw", JOIST_HOST_RAW},         {"integer64", JOIST_HOST_INTEGER64}};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
    if (strcmp(as, hosts[i].name) == 0) {
      *host = hosts[i].host;
      return;
    }
  joist_r_stop(JOIST_ERROR_VALUE,
               "`as` must be \"logical\", \"integer\", \"double\", \"complex\", \"raw\", "
               "\"integer64\" or \"character\", not \"%s\"",
               as);
}

static joist_host natural_host(joist_dtype dtype) {
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
      return JOIST_HOST_LOGICAL;
    case JOIST_KIND_INT:
    case JOIST_KIND_UINT:
      return joist_dtype_max_int(dtype) <= INT32_MAX ? JOIST_HOST_INTEGER : JOIST_HOST_DOUBLE;
    case JOIST_KIND_FLOAT:
      return JOIST_HOST_DOUBLE;
    case JOIST_KIND_COMPLEX:
      break;
  }
  return JOIST_HOST_COMPLEX;
}

static SEXP host_vector(joist_host host, size_t n, void **elements) {
  static const SEXPTYPE types[] = {[JOIST_HOST_LOGICAL] = LGLSXP, [JOIST_HOST_INTEGER] = INTSXP,
                                   [JOIST_HOST_DOUBLE] = REALSXP, [JOIST_HOST_COMPLEX] = CPLXSXP,
                                   [JOIST_HOST_RAW] = RAWSXP,     [JOIST_HOST_INTEGER64] = REALSXP};
  SEXP vector = Rf_allocVector(types[host], (R_xlen_t)n);
  *elements = host == JOIST_HOST_LOGICAL ? (void *)LOGICAL(vector) : joist_r_elements(vector);
  return vector;
}

void joist_r_needs_data(const struct joist_r_value *value) {
  if (value->form == JOIST_R_TRACED)
    joist_r_stop(
        JOIST_ERROR_VALUE,
        "the value of a tensor is not known while jit() traces a function; use a function "
        "that gives a tensor, such as nv_outer() for outer(), make the argument static, or "
        "compute outside of jit()");
  if (value->form == JOIST_R_ABSTRACT)
    joist_r_stop(JOIST_ERROR_VALUE, "an nv_aval() has a dtype and a shape, but no values");
}

/* At most `first` elements. */
static void keep_first(struct joist_r_value *value, SEXP first) {
  const double limit = joist_r_number(first);
  if (!(limit >= 0)) joist_r_stop(JOIST_ERROR_VALUE, "`first` must be a number of elements");
  if (limit < (double)value->count) value->count = (size_t)limit;
}

/* The first elements as a vector without attributes: the payload itself where it is of
 * the type that is asked for and all of it is wanted. Raw vectors of a class of ours are copied:
 * R asks for the address of their elements before each one that it reads. */
SEXP joist_r_as_array(SEXP x, SEXP as, SEXP lossy, SEXP first) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  const size_t all = value.count;
  keep_first(&value, first);
  SEXP here = PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, value.count) : x);
  SEXP payload = here == x ? value.payload : here;
  const joist_dtype dtype = value.argument.operand.type.dtype;
  joist_host host = natural_host(dtype);
  if (as != R_NilValue) host_named(joist_r_string(as, "as"), &host);
  const bool whole = (dtype == JOIST_F64 && host == JOIST_HOST_DOUBLE) ||
                     (dtype == JOIST_C128 && host == JOIST_HOST_COMPLEX) ||
                     (dtype == JOIST_UI8 && host == JOIST_HOST_RAW && !ALTREP(payload)) ||
                     (dtype == JOIST_I32 && host == JOIST_HOST_INTEGER &&
                      joist_import_fits(JOIST_HOST_INTEGER, value.data, value.count, JOIST_I32));
  if (whole && value.count == all) {
    UNPROTECT(1);
    return payload;
  }
  void *elements;
  SEXP out = PROTECT(host_vector(host, value.count, &elements));
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  const joist_status status = joist_export(dtype, value.data, value.count, host,
                                           joist_r_flag(lossy, "lossy"), elements, &run, &error);
  if (status != JOIST_OK) joist_r_raise(status, &error);
  if (host == JOIST_HOST_INTEGER64) Rf_setAttrib(out, R_ClassSymbol, Rf_mkString("integer64"));
  UNPROTECT(2);
  return out;
}

/* The first elements as strings. `digits` 0 is as many as a value needs. */
SEXP joist_r_format(SEXP x, SEXP digits, SEXP first) {
  struct joist_r_value value;
  joist_r_read_any(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  const size_t size = joist_dtype_size(dtype);
  keep_first(&value, first);
  const size_t n = value.count;
  PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, n) : x);
  SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
  char text[JOIST_TEXT_SIZE];
  for (size_t k = 0; k < n; k++) {
    joist_format_element(dtype, (const char *)value.data + k * size, Rf_asInteger(digits), text);
    SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkChar(text));
    if (k % INTERRUPT_EVERY == 0) R_CheckUserInterrupt();
  }
  UNPROTECT(2);
  return out;
}

static joist_style style_of(SEXP style) {
  const joist_style s = joist_style_parse(joist_r_string(style, "style"));
  if (s == JOIST_STYLE_COUNT)
    joist_r_stop(JOIST_ERROR_VALUE,
                 "`style` must be \"anvil\", \"jax\", \"jep\", \"numpy\", \"torch\" or "
                 "\"stablehlo\"");
  return s;
}

SEXP joist_r_as_dtype(SEXP x, SEXP style) {
  return joist_r_dtype_object(joist_r_dtype_styled(x, style_of(style)));
}

SEXP joist_r_format_dtype(SEXP x, SEXP style) {
  return Rf_mkString(joist_dtype_format(joist_r_dtype(x), style_of(style)));
}

SEXP joist_r_dtype_kind(SEXP x) {
  return Rf_mkString(joist_kind_name(joist_dtype_kind(joist_r_dtype(x))));
}

SEXP joist_r_dtype_names(void) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, JOIST_DTYPE_COUNT));
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    SET_STRING_ELT(names, d, Rf_mkChar(joist_dtype_name((joist_dtype)d)));
  UNPROTECT(1);
  return names;
}
