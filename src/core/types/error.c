/* Recording what failed. Owns no memory. */
#include "core/types/error.h"

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
