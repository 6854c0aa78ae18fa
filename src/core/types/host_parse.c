/* Whole numbers of 64 bits from text: R has no number that holds all of them. */
#include "core/types/error.h"
#include "core/types/host.h"

#include <string.h>

/* The value of a digit, or 16 for what is none. */
static unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
  return 16;
}

joist_status joist_parse_integer(const char *text, size_t position, joist_dtype dtype,
                                 uint64_t *value, struct joist_error *error) {
  const bool negative = *text == '-';
  const char *digits = text + (negative || *text == '+');
  const bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (hexadecimal) digits += 2;
  const unsigned base = hexadecimal ? 16 : 10;
  const int64_t min = joist_dtype_min_int(dtype);
  const uint64_t most = negative ? 0 - (uint64_t)min : joist_dtype_max_int(dtype);
  uint64_t magnitude = 0;
  bool number = *digits != '\0', fits = true;
  for (const char *c = digits; *c != '\0' && number; c++) {
    const unsigned digit = digit_value(*c);
    number = digit < base;
    if (magnitude > (UINT64_MAX - digit) / base)
      fits = false;
    else
      magnitude = magnitude * base + digit;
  }
  if (!number)
    return JOIST_FAIL(error, JOIST_E_NOT_A_NUMBER, .text = {joist_quote(text)},
                      .position = position);
  if (!fits || magnitude > most)
    return JOIST_FAIL(error, JOIST_E_OUT_OF_RANGE, .text = {joist_quote(text)},
                      .position = position, .type = {{dtype, false}});
  *value = negative ? 0 - magnitude : magnitude;
  return JOIST_OK;
}
