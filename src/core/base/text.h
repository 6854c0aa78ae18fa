/* Growing text buffers. */
#ifndef JOIST_CORE_BASE_TEXT_H
#define JOIST_CORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/status.h"

/* All zero is empty. `data` ends with NUL once something was added; the caller frees it. */
struct joist_text {
  char *data;
  size_t length, capacity;
  bool failed; /* memory was out: the text is not whole */
};

void joist_text_add(struct joist_text *text, const char *format, ...) JOIST_PRINTF(2, 3);
void joist_text_free(struct joist_text *text);

/* Writes texts, separated by commas, into `room`, which it gives. */
const char *joist_list_texts(char *room, size_t size, const char *const *texts, int count);

/* The texts of a list X(ID, TEXT), in its order. */
#define JOIST_TEXTS(LIST) ((const char *const[]){LIST(JOIST_TEXT_OF)})
#define JOIST_TEXT_OF(ID, TEXT) TEXT,

#endif
