/* Raises R conditions. */
#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* %zu */
#endif
#include "r/base/conditions.h"

#include <stdarg.h>
#include <stdio.h>

#include "r/base/error_text.h"
#include "r/base/interrupt.h"

/* The package's namespace, where raise() lives; set when the package is loaded. */
static SEXP namespace_of_package = NULL;

SEXP joist_r_init(SEXP namespace_object) {
  R_PreserveObject(namespace_object);
  namespace_of_package = namespace_object;
  joist_r_interrupt_init();
  return R_NilValue;
}

SEXP joist_r_eval(SEXP call) { return Rf_eval(call, namespace_of_package); }

SEXP joist_r_try_eval(SEXP call) {
  int failed = 0;
  SEXP value = R_tryEvalSilent(call, namespace_of_package, &failed);
  return failed ? R_NilValue : value;
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
    case JOIST_OK:
      break;
  }
  return "joist_error";
}

static _Noreturn void raise_text(joist_status status, const char *text) {
  SEXP class = PROTECT(Rf_mkString(condition_class(status)));
  SEXP message = PROTECT(Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)));
  joist_r_eval(PROTECT(Rf_lang3(Rf_install("raise"), class, message)));
  Rf_error("%s", text); /* raise() does not return */
}

_Noreturn void joist_r_raise(joist_status status, const struct joist_error *error) {
  if (status == JOIST_INTERRUPTED) joist_r_go_on_jumping();
  char text[JOIST_R_ERROR_TEXT_SIZE] = "";
  joist_r_error_text(error, text);
  raise_text(status, text);
}

void joist_r_raise_if(joist_status status, const struct joist_error *error) {
  if (status != JOIST_OK) joist_r_raise(status, error);
}

void joist_r_raise_called_if(joist_status status, struct joist_error *error) {
  if (status == JOIST_OK) return;
  SEXP name = R_NilValue;
  /* Facts of promotion rules are of operations. */
  if (status != JOIST_INTERRUPTED && error->op != NULL && error->code != JOIST_E_UNAVAILABLE_FACT &&
      error->code != JOIST_E_NO_FACT)
    name = joist_r_eval(PROTECT(Rf_lang1(Rf_install("called_operation"))));
  PROTECT(name);
  if (TYPEOF(name) == STRSXP) error->op = CHAR(STRING_ELT(name, 0));
  joist_r_raise(status, error);
}

_Noreturn void joist_r_fail(const struct joist_error *error) {
  joist_r_raise(joist_error_status(error->code), error);
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
