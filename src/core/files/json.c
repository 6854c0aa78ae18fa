/* Reads tokens of JSON. */
#include "core/files/json.h"

#include <string.h>

static void skip_space(struct joist_json *json) {
  while (json->at < json->end &&
         (*json->at == ' ' || *json->at == '\n' || *json->at == '\t' || *json->at == '\r'))
    json->at++;
}

bool joist_json_take(struct joist_json *json, char what) {
  skip_space(json);
  if (json->at == json->end || *json->at != what) return false;
  json->at++;
  return true;
}

bool joist_json_is_done(struct joist_json *json) {
  skip_space(json);
  return json->at == json->end;
}

/* The bytes of the character that begins here (RFC 3629); 0 for what is none. */
static size_t utf8_length(const char *at, size_t left) {
  const unsigned char first = (unsigned char)at[0];
  const size_t length = first < 0x80                     ? 1
                        : first >= 0xc2 && first <= 0xdf ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  if (length == 0 || length > left) return 0;
  for (size_t k = 1; k < length; k++)
    if (((unsigned char)at[k] & 0xc0) != 0x80) return 0;
  const unsigned char second = length > 1 ? (unsigned char)at[1] : 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0, beyond = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

bool joist_is_utf8(const char *text, size_t length) {
  for (size_t step, at = 0; at < length; at += step)
    if ((step = utf8_length(text + at, length - at)) == 0) return false;
  return true;
}

static bool read_hex(struct joist_json *json, uint32_t *code) {
  if (json->end - json->at < 4) return false;
  *code = 0;
  for (int k = 0; k < 4; k++) {
    const char c = *json->at++;
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return false;
    *code = *code << 4 | (uint32_t)digit;
  }
  return true;
}

/* What is behind \u: one code, or the two of a pair. */
static bool read_code(struct joist_json *json, uint32_t *code) {
  uint32_t low;
  if (!read_hex(json, code) || *code == 0) return false;
  if (*code < 0xd800 || *code > 0xdfff) return true;
  if (*code > 0xdbff || json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
    return false;
  json->at += 2;
  if (!read_hex(json, &low) || low < 0xdc00 || low > 0xdfff) return false;
  *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

static size_t put_utf8(uint32_t code, char *to) {
  if (code < 0x80) {
    to[0] = (char)code;
    return 1;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(leads[more] | (unsigned char)(code >> (6 * more)));
  for (int k = 1; k <= more; k++) to[k] = (char)(0x80 | (code >> (6 * (more - k)) & 0x3f));
  return (size_t)more + 1;
}

static bool read_escape(struct joist_json *json, char *to, size_t *used) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (json->at == json->end) return false;
  const char letter = *json->at++;
  if (letter == 'u') {
    uint32_t code;
    if (!read_code(json, &code)) return false;
    *used += put_utf8(code, to + *used);
    return true;
  }
  const char *const found = letter == '\0' ? NULL : strchr(letters, letter);
  if (found == NULL) return false;
  to[(*used)++] = meant[found - letters];
  return true;
}

/* An escape is never shorter than the character it stands for. */
bool joist_json_string(struct joist_json *json, char *to, size_t *length) {
  if (!joist_json_take(json, '"')) return false;
  size_t used = 0;
  while (json->at < json->end && *json->at != '"') {
    if (*json->at == '\\') {
      json->at++;
      if (!read_escape(json, to, &used)) return false;
      continue;
    }
    const size_t bytes = utf8_length(json->at, (size_t)(json->end - json->at));
    if (bytes == 0 || (unsigned char)*json->at < 0x20) return false;
    memcpy(to + used, json->at, bytes);
    used += bytes;
    json->at += bytes;
  }
  if (json->at == json->end) return false;
  json->at++;
  to[used] = '\0';
  *length = used;
  return true;
}

bool joist_json_whole(struct joist_json *json, uint64_t *number) {
  skip_space(json);
  const char *const start = json->at;
  *number = 0;
  for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++) {
    const uint64_t digit = (uint64_t)(*json->at - '0');
    if (*number > (UINT64_MAX - digit) / 10) return false;
    *number = *number * 10 + digit;
  }
  const size_t digits = (size_t)(json->at - start);
  return digits > 0 && (digits == 1 || *start != '0');
}

static size_t skip_digits(struct joist_json *json) {
  const char *const start = json->at;
  while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
  return (size_t)(json->at - start);
}

static bool take_one_of(struct joist_json *json, const char *what) {
  if (json->at == json->end || *json->at == '\0' || strchr(what, *json->at) == NULL) return false;
  json->at++;
  return true;
}

bool joist_json_number(struct joist_json *json, const char **text, size_t *length) {
  skip_space(json);
  *text = json->at;
  (void)take_one_of(json, "-");
  const char *const start = json->at;
  const size_t digits = skip_digits(json);
  if (digits == 0 || (digits > 1 && *start == '0')) return false;
  if (take_one_of(json, ".") && skip_digits(json) == 0) return false;
  if (take_one_of(json, "eE")) {
    (void)take_one_of(json, "+-");
    if (skip_digits(json) == 0) return false;
  }
  *length = (size_t)(json->at - *text);
  return true;
}

bool joist_json_word(struct joist_json *json, const char *word) {
  skip_space(json);
  const size_t length = strlen(word);
  if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0) return false;
  json->at += length;
  return true;
}
