/* Formatting of core error messages. Owns no memory. */
#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* %zu */
#endif
#include "core/base/status.h"

#include <stdio.h>
#include <string.h>

/* Bytes of the UTF-8 character that starts with `first`. */
static size_t character_size(unsigned char first) {
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* A text that was cut off may end within a character, which no R string can have. */
static void end_between_characters(char *text) {
  const size_t length = strlen(text);
  size_t start = length;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) start--;
  if (start > 0 && character_size((unsigned char)text[start - 1]) > length - (start - 1))
    text[start - 1] = '\0';
}

joist_status joist_fail_with(struct joist_error *error, joist_status status, const char *format,
                             va_list arguments) {
  if (error == NULL) return status;
  const int wanted = vsnprintf(error->message, sizeof error->message, format, arguments);
  if (wanted >= (int)sizeof error->message) end_between_characters(error->message);
  return status;
}

joist_status joist_fail(struct joist_error *error, joist_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  joist_fail_with(error, status, format, arguments);
  va_end(arguments);
  return status;
}
