/* Makes R vectors of tensors. */
#include "r/arrays/tensor_export.h"

#include <string.h>

#include "core/types/changed.h"
#include "core/types/host.h"
#include "core/types/loss.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/vector.h"
#include "r/call/transfer.h"
#include "r/memory/mapped.h"
#include "r/memory/run.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/mask.h"
#include "r/tensor/operands.h"
#include "r/tensor/rules.h"
#include "r/tensor/view.h"

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

static SEXP host_vector(joist_host host, size_t n, void **elements) {
  static const SEXPTYPE types[] = {[JOIST_HOST_LOGICAL] = LGLSXP, [JOIST_HOST_INTEGER] = INTSXP,
                                   [JOIST_HOST_DOUBLE] = REALSXP, [JOIST_HOST_COMPLEX] = CPLXSXP,
                                   [JOIST_HOST_RAW] = RAWSXP,     [JOIST_HOST_INTEGER64] = REALSXP};
  SEXP vector = Rf_allocVector(types[host], (R_xlen_t)n);
  *elements = host == JOIST_HOST_LOGICAL ? (void *)LOGICAL(vector) : joist_r_elements(vector);
  return vector;
}

/* At most `first` elements. */
static void keep_first(struct joist_r_value *value, SEXP first) {
  const double limit = joist_r_number(first);
  if (!(limit >= 0))
    joist_r_stop(JOIST_ERROR_VALUE, "`first` must be a number of elements, 0 or more");
  if (limit < (double)value->count) value->count = (size_t)limit;
}

/* NA in the places of a mask. */
static void set_missing(joist_host host, const uint8_t *mask, size_t n, void *values) {
  const Rcomplex none = {.r = NA_REAL, .i = NA_REAL};
  const int64_t least = INT64_MIN;
  const int integer = NA_INTEGER;
  const bool real = host == JOIST_HOST_COMPLEX || host == JOIST_HOST_DOUBLE;
  const void *const na = real                           ? (const void *)&none
                         : host == JOIST_HOST_INTEGER64 ? (const void *)&least
                                                        : (const void *)&integer;
  joist_missing_put(host, mask, n, na, values);
}

/* Writes the elements; what a mask covers need not fit. */
static void export_elements(const struct joist_r_value *value, joist_host host, bool lossy,
                            void *out) {
  const joist_dtype dtype = value->argument.operand.type.dtype;
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  joist_status status =
      joist_export(dtype, value->data, value->count, host, lossy, out, &run, &error);
  if (status == JOIST_ERROR_VALUE && value->mask != NULL)
    status =
        joist_export(dtype, joist_r_zeroed(value), value->count, host, lossy, out, &run, &error);
  joist_r_raise_if(status, &error);
  if (value->mask != NULL) set_missing(host, value->mask, value->count, out);
}

/* The first elements as a vector without attributes. Where all of a payload of the type that is
 * asked for is wanted, R wraps it, if it is long, and copies it when a caller asks for a pointer to
 * write to: such callers check the references to their vector, not those to the payload.
 * A payload of a class of ours is copied: R saves what it wraps around one as that, so that the
 * same numbers would have another digest, and asks such a raw vector for its address before each
 * element that it reads. */
SEXP joist_r_as_array(SEXP x, SEXP as, SEXP lossy, SEXP first) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  const size_t all = value.count;
  keep_first(&value, first);
  PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, value.count) : x);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  joist_host host = joist_r_view_host(dtype);
  if (as != R_NilValue) host_named(joist_r_string(as, "as"), &host);
  if (value.mask != NULL && memchr(value.mask, 1, value.count) == NULL) {
    value.mask = NULL;
    value.missing = R_NilValue;
  }
  if (value.mask != NULL && host == JOIST_HOST_RAW)
    joist_r_stop(JOIST_ERROR_VALUE, "a raw vector has no NA; call nv_replace_na() first");
  const bool whole =
      value.mask == NULL && !ALTREP(value.payload) &&
      ((dtype == JOIST_F64 && host == JOIST_HOST_DOUBLE) ||
       (dtype == JOIST_C128 && host == JOIST_HOST_COMPLEX) ||
       (dtype == JOIST_UI8 && host == JOIST_HOST_RAW) ||
       (dtype == JOIST_I32 && host == JOIST_HOST_INTEGER &&
        joist_missing_count(JOIST_HOST_INTEGER, value.data, value.count, NULL) == 0));
  if (whole && value.count == all) {
    SEXP payload = PROTECT(joist_r_shared_payload(&value));
    joist_r_map_touch(payload); /* R may write to it once the tensor is gone */
    /* R wraps a long vector that others refer to, to give it other attributes. */
    SEXP none = PROTECT(Rf_lang3(Rf_install("attributes<-"), payload, R_NilValue));
    SEXP wrapped = joist_r_eval(none);
    SETCADR(none, R_NilValue); /* else the payload has one reference more */
    UNPROTECT(3);
    return wrapped;
  }
  void *elements;
  SEXP out = PROTECT(host_vector(host, value.count, &elements));
  export_elements(&value, host, joist_r_flag(lossy, "lossy"), elements);
  if (host == JOIST_HOST_INTEGER64) Rf_setAttrib(out, R_ClassSymbol, Rf_mkString("integer64"));
  UNPROTECT(2);
  return out;
}

/* All elements as doubles. NULL where one of them would be rounded, or they are not in R's memory:
 * for as.numeric() of one element, which others call for each. */
SEXP joist_r_exact_doubles(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  size_t at;
  if (value.form != JOIST_R_CONCRETE ||
      (joist_conversion_loss(dtype, JOIST_F64).losses != JOIST_LOSS_NONE &&
       joist_count_changed(value.count, value.data, dtype, JOIST_F64, value.mask, &at) > 0))
    return R_NilValue;
  SEXP as = PROTECT(Rf_mkString("double"));
  SEXP lossy = PROTECT(Rf_ScalarLogical(1));
  SEXP exact = joist_r_as_array(x, as, lossy, PROTECT(Rf_ScalarReal(R_PosInf)));
  UNPROTECT(3);
  return exact;
}

/* Elements between two questions whether the user wants to stop. */
enum { INTERRUPT_EVERY = 1 << 16 };

/* The first elements as strings. `digits` 0 is as many as a value needs. */
SEXP joist_r_format(SEXP x, SEXP digits, SEXP first) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  const size_t size = joist_dtype_size(dtype);
  keep_first(&value, first);
  const size_t n = value.count;
  PROTECT(value.form == JOIST_R_REMOTE ? joist_r_fetch(&value, n) : x);
  SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
  char text[JOIST_TEXT_SIZE];
  for (size_t k = 0; k < n; k++) {
    const bool missing = value.mask != NULL && value.mask[k];
    if (!missing)
      joist_format_element(dtype, (const char *)value.data + k * size, Rf_asInteger(digits), text);
    SET_STRING_ELT(out, (R_xlen_t)k, Rf_mkChar(missing ? "NA" : text));
    if (k % INTERRUPT_EVERY == 0) R_CheckUserInterrupt();
  }
  UNPROTECT(2);
  return out;
}

/* Integers that R's type holds as strings, which R makes when they are asked for; NULL for other
 * elements. */
SEXP joist_r_integer_text(SEXP x) {
  struct joist_r_value value;
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  const joist_dtype dtype = value.argument.operand.type.dtype;
  const joist_kind kind = joist_dtype_kind(dtype);
  if (value.form != JOIST_R_CONCRETE || (kind != JOIST_KIND_INT && kind != JOIST_KIND_UINT))
    return R_NilValue;
  SEXP numbers = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t)value.count)), text = R_NilValue;
  const struct joist_run run = joist_r_run();
  struct joist_error error;
  if (joist_export(dtype, value.data, value.count, JOIST_HOST_INTEGER, false, INTEGER(numbers),
                   &run, &error) == JOIST_OK) {
    if (value.mask != NULL)
      set_missing(JOIST_HOST_INTEGER, value.mask, value.count, INTEGER(numbers));
    text = Rf_coerceVector(numbers, STRSXP);
  }
  UNPROTECT(1);
  return text;
}

/* The position of the first element that another dtype does not hold, 0 if it holds all, and how
 * many there are. */
SEXP joist_r_first_change(SEXP x, SEXP dtype) {
  struct joist_r_value value;
  const joist_dtype to = joist_r_dtype(dtype);
  joist_r_read_missing(joist_r_rules(R_NilValue), x, &value);
  joist_r_needs_data(&value);
  const joist_dtype from = value.argument.operand.type.dtype;
  size_t first = 0, count = 0;
  if (joist_conversion_loss(from, to).losses != JOIST_LOSS_NONE) {
    joist_r_fetch_briefly(&value);
    count = joist_count_changed(value.count, value.data, from, to, value.mask, &first);
  }
  SEXP found = Rf_allocVector(REALSXP, 2);
  REAL(found)[0] = count == 0 ? 0 : (double)first + 1;
  REAL(found)[1] = (double)count;
  return found;
}
