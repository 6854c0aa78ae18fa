/* JSON, token by token, as the metadata of Zarr arrays is read: what is taken is what another
 * reader would take, and written anew it means the same. */
#include <errno.h>

#include "core/files/json.h"
#include "fuzz.h"

enum { DEEPEST = 64 };

static bool read_value(struct joist_json *json, char *text, int depth);

static void check_string(const char *text, size_t length) {
  HOLDS(strlen(text) == length);
  char *const quoted = malloc(6 * length + 3), *const back = malloc(6 * length + 3);
  HOLDS(quoted != NULL && back != NULL);
  size_t used = 0, again;
  quoted[used++] = '"';
  for (size_t k = 0; k < length; k++) {
    const unsigned char c = (unsigned char)text[k];
    if (c < 0x20 || c == '"' || c == '\\')
      used += (size_t)snprintf(quoted + used, 7, "\\u%04x", c);
    else
      quoted[used++] = (char)c;
  }
  quoted[used++] = '"';
  struct joist_json json = {quoted, quoted + used};
  HOLDS(joist_json_string(&json, back, &again) && json.at == json.end);
  HOLDS(again == length && memcmp(text, back, length) == 0);
  free(quoted);
  free(back);
}

static bool read_number(struct joist_json *json) {
  const char *text;
  size_t length;
  struct joist_json whole = *json;
  uint64_t number;
  const bool is_whole = joist_json_whole(&whole, &number);
  if (!joist_json_number(json, &text, &length)) return false;
  HOLDS(length > 0 && text + length == json->at && json->at <= json->end);
  char *const copy = malloc(length + 1), *end;
  HOLDS(copy != NULL);
  memcpy(copy, text, length);
  copy[length] = '\0';
  (void)strtod(copy, &end);
  HOLDS(*end == '\0');
  if (is_whole && whole.at == json->at) {
    errno = 0;
    HOLDS(strtoull(copy, &end, 10) == number && *end == '\0' && errno == 0);
  }
  free(copy);
  return true;
}

static bool read_members(struct joist_json *json, char *text, int depth, char end) {
  if (depth > DEEPEST) return false;
  if (joist_json_take(json, end)) return true;
  do {
    size_t length;
    if (end == '}') {
      if (!joist_json_string(json, text, &length)) return false;
      check_string(text, length);
      if (!joist_json_take(json, ':')) return false;
    }
    if (!read_value(json, text, depth)) return false;
  } while (joist_json_take(json, ','));
  return joist_json_take(json, end);
}

static bool read_value(struct joist_json *json, char *text, int depth) {
  size_t length;
  const char *const before = json->at;
  if (joist_json_take(json, '{')) return read_members(json, text, depth + 1, '}');
  if (joist_json_take(json, '[')) return read_members(json, text, depth + 1, ']');
  HOLDS(json->at >= before && json->at <= json->end);
  if (joist_json_word(json, "null") || joist_json_word(json, "true") ||
      joist_json_word(json, "false"))
    return true;
  if (json->at == json->end || *json->at != '"') return read_number(json);
  if (!joist_json_string(json, text, &length)) return false;
  check_string(text, length);
  return true;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  char *const bytes = malloc(size + 1), *const text = malloc(size + 1);
  HOLDS(bytes != NULL && text != NULL);
  if (size > 0) memcpy(bytes, data, size);
  struct joist_json json = {bytes, bytes + size};
  if (read_value(&json, text, 0) && joist_json_is_done(&json)) HOLDS(json.at == bytes + size);
  free(bytes);
  free(text);
  return 0;
}
