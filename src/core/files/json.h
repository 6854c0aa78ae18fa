/* Reads JSON (RFC 8259) one token after the other. Knows no document: the caller asks for what has
 * to come next. Nothing is read behind the end, and nothing is allocated. */
#ifndef JOIST_CORE_FILES_JSON_H
#define JOIST_CORE_FILES_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct joist_json {
  const char *at, *end;
};

/* Whether this character comes next, after white space; passes it then. */
bool joist_json_take(struct joist_json *json, char what);
/* Whether nothing but white space is left. */
bool joist_json_is_done(struct joist_json *json);
/* Decodes the next string to UTF-8 into `to`, which must have room for as many bytes as are left,
 * and one more for a final NUL. False if it is not a JSON string, for invalid UTF-8 and for the
 * character 0. */
bool joist_json_string(struct joist_json *json, char *to, size_t *length);
/* A whole number without sign, point and exponent, below 2^64. */
bool joist_json_whole(struct joist_json *json, uint64_t *number);
/* The text of the next number: where it begins and its length. False if it is not valid JSON. */
bool joist_json_number(struct joist_json *json, const char **text, size_t *length);
/* Whether this word (true, false, null) comes next; passes it then. */
bool joist_json_word(struct joist_json *json, const char *word);

/* Whether all bytes are characters of UTF-8. */
bool joist_is_utf8(const char *text, size_t length);

#endif
