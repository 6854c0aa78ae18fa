/* Recording what failed. Owns no memory. */
#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* %zu */
#endif
#include "core/types/error.h"

#include <stdio.h>
#include <string.h>

joist_status joist_error_status(joist_error_code code) {
  static const joist_status statuses[] = {
#define X(CODE, STATUS, FACTS) JOIST_ERROR_##STATUS,
      JOIST_ERRORS(X)
#undef X
  };
  return statuses[code];
}

joist_status joist_fail_with(struct joist_error *error, const struct joist_error *facts) {
  if (error != NULL) *error = *facts;
  return joist_error_status(facts->code);
}

struct joist_quote joist_quote(const char *string) {
  static const char cut[] = "...";
  struct joist_quote text;
  const size_t length = strlen(string);
  size_t kept = length;
  if (length >= sizeof text.bytes) {
    kept = sizeof text.bytes - sizeof cut;
    /* Not within a character of UTF-8. */
    while (kept > 0 && ((unsigned char)string[kept] & 0xc0) == 0x80) kept--;
  }
  memcpy(text.bytes, string, kept);
  strcpy(text.bytes + kept, kept < length ? cut : "");
  return text;
}

joist_status joist_fail(struct joist_error *error, joist_status status, const char *format, ...) {
  va_list arguments;
  if (error == NULL) return status;
  error->code = JOIST_E_COUNT;
  va_start(arguments, format);
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}
