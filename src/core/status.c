/* Formatting of core error messages. Owns no memory. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

joist_status joist_fail(struct joist_error *error, joist_status status, const char *format, ...) {
  if (error != NULL) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return status;
}
