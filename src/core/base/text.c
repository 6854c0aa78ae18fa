/* Text that grows. */
#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* %zu */
#endif
#include "core/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool reserve(struct joist_text *text, size_t more) {
  if (text->failed) return false;
  if (text->capacity - text->length > more) return true;
  const size_t larger = 2 * text->capacity + more + 64;
  char *const moved = realloc(text->data, larger);
  text->failed = moved == NULL;
  if (text->failed) return false;
  text->data = moved;
  text->capacity = larger;
  return true;
}

void joist_text_add(struct joist_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

void joist_text_free(struct joist_text *text) {
  free(text->data);
  *text = (struct joist_text){NULL, 0, 0, false};
}

const char *joist_list_texts(char *room, size_t size, const char *const *texts, int count) {
  size_t used = 0;
  for (int k = 0; k < count && used < size; k++)
    used += (size_t)snprintf(room + used, size - used, "%s%s", k > 0 ? ", " : "", texts[k]);
  return room;
}
