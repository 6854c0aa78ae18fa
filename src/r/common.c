/* Conditions, dtypes and small arguments: what every file of src/r needs. */
#include "r/joist_r.h"

#include "r/error_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The package's namespace, where raise() lives; set when the package is loaded. */
static SEXP namespace_of_package = NULL;

SEXP joist_r_init(SEXP namespace_object) {
  namespace_of_package = namespace_object;
  R_PreserveObject(namespace_object);
  return R_NilValue;
}

static const char *condition_class(joist_status status) {
  switch (status) {
    case JOIST_ERROR_PROMOTION:
      return "joist_promotion_error";
    case JOIST_ERROR_DTYPE:
      return "joist_dtype_error";
    case JOIST_ERROR_SHAPE:
      return "joist_shape_error";
    case JOIST_ERROR_VALUE:
      return "joist_value_error";
    case JOIST_ERROR_DEVICE:
      return "joist_device_error";
    case JOIST_ERROR_MEMORY:
      return "joist_memory_error";
    case JOIST_INTERRUPTED:
      return "interrupt";
    case JOIST_OK:
      break;
  }
  return "joist_error";
}

static _Noreturn void raise_text(joist_status status, const char *text) {
  SEXP class = PROTECT(Rf_mkString(condition_class(status)));
  SEXP message = PROTECT(Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)));
  SEXP call = PROTECT(Rf_lang3(Rf_install("raise"), class, message));
  Rf_eval(call, namespace_of_package);
  Rf_error("%s", text); /* raise() does not return */
}

_Noreturn void joist_r_raise(joist_status status, const struct joist_error *error) {
  char text[JOIST_R_ERROR_TEXT_SIZE] = "";
  if (status != JOIST_INTERRUPTED) joist_r_error_text(error, text);
  raise_text(status, text);
}

_Noreturn void joist_r_stop(joist_status status, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
  va_end(again);
  char *const text = R_alloc(size, 1);
  vsnprintf(text, size, format, arguments);
  va_end(arguments);
  raise_text(status, text);
}

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
  if (TYPEOF(x) == S4SXP && Rf_inherits(x, "nv_tensor")) {
    SEXP field = joist_r_field(x, JOIST_R_DTYPE);
    const bool is_name = TYPEOF(field) == STRSXP && XLENGTH(field) == 1;
    const joist_dtype dtype = is_name ? dtype_of_char(STRING_ELT(field, 0)) : JOIST_DTYPE_NONE;
    if (dtype != JOIST_DTYPE_NONE) return dtype;
  }
  joist_r_stop(JOIST_ERROR_DTYPE,
               "a dtype is given as one string, such as \"f32\", not as %s of length %.0f",
               Rf_type2char(TYPEOF(x)), (double)Rf_xlength(x));
}

joist_dtype joist_r_dtype(SEXP x) {
  const struct dtype_object *const objects = dtype_objects();
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    if (objects[d].object == x) return (joist_dtype)d;
  return joist_r_dtype_styled(x, JOIST_STYLE_ANVIL);
}

bool joist_r_flag(SEXP x, const char *what) {
  if (TYPEOF(x) != LGLSXP || XLENGTH(x) != 1 || LOGICAL(x)[0] == NA_LOGICAL)
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be TRUE or FALSE", what);
  return LOGICAL(x)[0] != 0;
}

double joist_r_number(SEXP x) {
  const bool number = (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP) && !Rf_isObject(x);
  return number && XLENGTH(x) == 1 ? Rf_asReal(x) : R_NaN;
}

const char *joist_r_string(SEXP x, const char *what) {
  if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1 || STRING_ELT(x, 0) == NA_STRING)
    joist_r_stop(JOIST_ERROR_VALUE, "`%s` must be one string", what);
  return Rf_translateCharUTF8(STRING_ELT(x, 0));
}
