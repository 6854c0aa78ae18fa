/* Raises R conditions. */
#include "r/conditions.h"

#include <stdarg.h>

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

_Noreturn void joist_r_raise(joist_status status, const struct joist_error *error) {
  SEXP class = PROTECT(Rf_mkString(condition_class(status)));
  SEXP message = PROTECT(Rf_ScalarString(Rf_mkCharCE(error->message, CE_UTF8)));
  SEXP call = PROTECT(Rf_lang3(Rf_install("raise"), class, message));
  Rf_eval(call, namespace_of_package);
  Rf_error("%s", error->message); /* raise() does not return */
}

_Noreturn void joist_r_stop(joist_status status, const char *format, ...) {
  struct joist_error error;
  va_list arguments;
  va_start(arguments, format);
  (void)joist_fail_with(&error, status, format, arguments);
  va_end(arguments);
  joist_r_raise(status, &error);
}
