/* The `joist_dtype` objects, and what R asks about dtypes. */
#include "r/tensor/dtypes.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/tensor_fields.h"
#include "r/tensor/exact_mark.h"

/* The dtypes' objects, and the strings in them: R keeps one CHARSXP per string. */
struct dtype_object {
  SEXP object, name;
};

static const struct dtype_object *dtype_objects(void) {
  static struct dtype_object objects[JOIST_DTYPE_COUNT];
  for (int d = 0; d < JOIST_DTYPE_COUNT && objects[JOIST_DTYPE_COUNT - 1].object == NULL; d++) {
    SEXP object = PROTECT(Rf_mkString(joist_dtype_name((joist_dtype)d)));
    Rf_setAttrib(object, R_ClassSymbol, Rf_mkString("joist_dtype"));
    MARK_NOT_MUTABLE(object);
    R_PreserveObject(object);
    UNPROTECT(1);
    objects[d] = (struct dtype_object){object, STRING_ELT(object, 0)};
  }
  return objects;
}

SEXP joist_r_dtype_object(joist_dtype dtype) { return dtype_objects()[dtype].object; }

static joist_dtype dtype_of_char(SEXP name) {
  const struct dtype_object *const objects = dtype_objects();
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    if (objects[d].name == name) return (joist_dtype)d;
  return JOIST_DTYPE_NONE;
}

/* The dtype that a tensor has in its attributes, ambiguous or not. */
static joist_dtype dtype_of_mark(SEXP x) {
  struct joist_r_marks marks;
  joist_r_read_marks(x, &marks);
  SEXP mark = joist_r_plain_mark(marks.dtype);
  if (TYPEOF(mark) != STRSXP || XLENGTH(mark) == 0) return JOIST_DTYPE_NONE;
  const char *const text = CHAR(STRING_ELT(mark, 0));
  char name[32];
  const size_t length = strcspn(text, "?");
  if (length >= sizeof name) return JOIST_DTYPE_NONE;
  memcpy(name, text, length);
  name[length] = '\0';
  return joist_dtype_parse(name, JOIST_STYLE_ANVIL);
}

joist_dtype joist_r_dtype_styled(SEXP x, joist_style style) {
  if (TYPEOF(x) == STRSXP && XLENGTH(x) == 1 && STRING_ELT(x, 0) != NA_STRING) {
    SEXP name = STRING_ELT(x, 0);
    joist_dtype dtype = JOIST_DTYPE_NONE;
    if (style == JOIST_STYLE_ANVIL || Rf_inherits(x, "joist_dtype")) dtype = dtype_of_char(name);
    if (dtype == JOIST_DTYPE_NONE) dtype = joist_dtype_parse(Rf_translateCharUTF8(name), style);
    if (dtype != JOIST_DTYPE_NONE) return dtype;
    char known[256];
    size_t used = 0;
    for (int d = 0; d < JOIST_DTYPE_COUNT && used < sizeof known; d++)
      used += (size_t)snprintf(known + used, sizeof known - used, d == 0 ? "%s" : ", %s",
                               joist_dtype_format((joist_dtype)d, style));
    joist_r_stop(JOIST_ERROR_DTYPE, "there is no dtype '%s'; the dtypes are %s",
                 Rf_translateCharUTF8(name), known);
  }
  if (Rf_inherits(x, "nv_tensor")) {
    const joist_dtype dtype = dtype_of_mark(x);
    if (dtype != JOIST_DTYPE_NONE) return dtype;
  }
  joist_r_stop(JOIST_ERROR_DTYPE,
               "a dtype must be a single string such as \"f32\", not %s of length %.0f",
               Rf_type2char(TYPEOF(x)), (double)Rf_xlength(x));
}

joist_dtype joist_r_dtype(SEXP x) {
  const struct dtype_object *const objects = dtype_objects();
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    if (objects[d].object == x) return (joist_dtype)d;
  return joist_r_dtype_styled(x, JOIST_STYLE_ANVIL);
}

/* ---- .Call entry points ---- */

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

SEXP joist_r_dtype_has_nan(SEXP x) {
  const joist_dtype dtype = joist_r_dtype(x);
  const bool is_exact = joist_dtype_category(dtype) < JOIST_CATEGORY_FLOAT;
  return Rf_ScalarLogical(!is_exact && joist_dtype_has_nan(dtype));
}

SEXP joist_r_dtype_names(void) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, JOIST_DTYPE_COUNT));
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    SET_STRING_ELT(names, d, Rf_mkChar(joist_dtype_name((joist_dtype)d)));
  UNPROTECT(1);
  return names;
}

SEXP joist_r_dtype_size(SEXP dtype) {
  return Rf_ScalarInteger((int)joist_dtype_size(joist_r_dtype(dtype)));
}

/* ---- the row of a dtype ---- */

static SEXP text(const char *value) {
  return value == NULL ? Rf_ScalarString(NA_STRING) : Rf_mkString(value);
}

static bool is_of_floats(joist_dtype dtype) {
  return joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT;
}

/* The least or the greatest value of a dtype or of a complex number's parts: an integer that may
 * not be exact in double as text. */
static SEXP limit(joist_dtype dtype, bool greatest) {
  if (is_of_floats(dtype))
    return Rf_ScalarReal(greatest ? joist_dtype_max_float(dtype) : joist_dtype_min_float(dtype));
  const int64_t least_int = joist_dtype_min_int(dtype);
  const uint64_t greatest_int = joist_dtype_max_int(dtype);
  if (joist_dtype_digits(dtype) <= DBL_MANT_DIG)
    return Rf_ScalarReal(greatest ? (double)greatest_int : (double)least_int);
  char digits[32];
  if (greatest)
    (void)snprintf(digits, sizeof digits, "%" PRIu64, greatest_int);
  else
    (void)snprintf(digits, sizeof digits, "%" PRId64, least_int);
  return text(digits);
}

/* A power of 2, for floats and complex dtypes. */
static SEXP power_of(joist_dtype dtype, int exponent) {
  return Rf_ScalarReal(is_of_floats(dtype) ? ldexp(1, exponent) : NA_REAL);
}

static SEXP names_in_styles(joist_dtype dtype) {
  SEXP out = PROTECT(Rf_allocVector(STRSXP, JOIST_STYLE_COUNT));
  SEXP names = Rf_allocVector(STRSXP, JOIST_STYLE_COUNT);
  Rf_setAttrib(out, R_NamesSymbol, names);
  for (int s = 0; s < JOIST_STYLE_COUNT; s++) {
    SET_STRING_ELT(names, s, Rf_mkChar(joist_style_name((joist_style)s)));
    SET_STRING_ELT(out, s, Rf_mkChar(joist_dtype_format(dtype, (joist_style)s)));
  }
  UNPROTECT(1);
  return out;
}

SEXP joist_r_dtype_info(SEXP x) {
  const joist_dtype dtype = joist_r_dtype(x);
  const int digits = joist_dtype_digits(dtype);
  static const char *const names[] = {
      "dtype",   "kind", "bits",    "bytes", "digits", "min",         "max",   "eps", "smallest",
      "compute", "real", "complex", "names", "npy",    "safetensors", "arrow", ""};
  SEXP info = PROTECT(Rf_mkNamed(VECSXP, (const char **)names));
  int k = 0;
#define ADD(VALUE) SET_VECTOR_ELT(info, k++, VALUE)
  ADD(joist_r_dtype_object(dtype));
  ADD(text(joist_kind_name(joist_dtype_kind(dtype))));
  ADD(Rf_ScalarInteger((int)joist_dtype_bits(dtype)));
  ADD(Rf_ScalarInteger((int)joist_dtype_size(dtype)));
  ADD(Rf_ScalarInteger(digits));
  ADD(limit(dtype, false));
  ADD(limit(dtype, true));
  ADD(power_of(dtype, 1 - digits));
  ADD(power_of(dtype, joist_dtype_least_exponent(dtype)));
  ADD(joist_r_dtype_object(joist_dtype_compute(dtype)));
  ADD(joist_r_dtype_object(joist_dtype_real(dtype)));
  ADD(joist_r_dtype_object(joist_dtype_complex(dtype)));
  ADD(names_in_styles(dtype));
  for (int format = 0; format < JOIST_FORMAT_COUNT; format++)
    ADD(text(joist_dtype_code(dtype, (joist_format)format)));
#undef ADD
  UNPROTECT(1);
  return info;
}
