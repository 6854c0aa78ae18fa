/* One element as text, as R would print it. */
#include "core/types/convert.h"
#include "core/types/host.h"
#include "core/types/host_scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENOUGH_DIGITS = 17 }; /* tell all values of f64 apart */

/* How many decimal digits a text may have that survives a trip through a float dtype
 * (C11 5.2.4.2.2), at least 1: fewer than 1 digit are none. Subnormals keep fewer. */
static int digits_kept(joist_dtype dtype, double value) {
  const int digits = joist_dtype_digits(dtype);
  const double smallest_normal = ldexp(1, joist_dtype_least_exponent(dtype) + digits - 1);
  /* log10(2) is 0.30103, and no power of 2 is one of 10. */
  const int kept = (digits - 1) * 30103 / 100000;
  return fabs(value) < smallest_normal || kept < 1 ? 1 : kept;
}

/* The scientific notation of a finite value with `digits` digits. */
static double write_scientific(double value, int digits, char text[JOIST_TEXT_SIZE]) {
  snprintf(text, JOIST_TEXT_SIZE, "%.*e", digits - 1, value);
  return strtod(text, NULL);
}

static bool reads_back(joist_dtype dtype, const char *text, double value) {
  /* Text is rounded to f32 once, not by way of f64. */
  if (dtype == JOIST_F32) return strtof(text, NULL) == (float)value;
  double read = strtod(text, NULL);
  if (fabs(read) >= joist_dtype_overflow(dtype)) return false; /* even if it saturates */
  uint64_t element;                                            /* of any float dtype */
  joist_convert_find(JOIST_F64, dtype)(1, &read, &element);
  joist_convert_find(dtype, JOIST_F64)(1, &element, &read);
  return read == value;
}

/* Digits left in "-d.ddde+xx" without the trailing zeros. */
static int significant_digits(const char *text) {
  int digits = 0, significant = 1;
  for (; *text != 'e'; text++) {
    if (*text < '0' || *text > '9') continue;
    digits++;
    if (*text != '0') significant = digits;
  }
  return significant;
}

static int fewest_digits(joist_dtype dtype, double value, char text[JOIST_TEXT_SIZE]) {
  int digits = digits_kept(dtype, value);
  for (; digits < ENOUGH_DIGITS; digits++) {
    write_scientific(value, digits, text);
    if (reads_back(dtype, text, value)) return significant_digits(text);
  }
  write_scientific(value, digits, text);
  return significant_digits(text);
}

static size_t format_real(joist_dtype dtype, double value, int digits, char text[JOIST_TEXT_SIZE]) {
  if (dtype == JOIST_F64 && is_na_real(value)) return (size_t)snprintf(text, JOIST_TEXT_SIZE, "NA");
  if (isnan(value)) return (size_t)snprintf(text, JOIST_TEXT_SIZE, "NaN");
  if (isinf(value))
    return (size_t)snprintf(text, JOIST_TEXT_SIZE, "%s", value < 0 ? "-Inf" : "Inf");
  if (digits <= 0) {
    digits = fewest_digits(dtype, value, text);
  } else {
    write_scientific(value, digits < ENOUGH_DIGITS ? digits : ENOUGH_DIGITS, text);
    digits = significant_digits(text);
  }
  /* R prefers fixed notation unless it is wider. */
  write_scientific(value, digits, text);
  const int exponent = atoi(strchr(text, 'e') + 1);
  const int decimals = digits - 1 > exponent ? digits - 1 - exponent : 0;
  const int fixed_width = (exponent > 0 ? exponent + 1 : 1) + (decimals > 0) + decimals;
  const int scientific_width = (int)strlen(text) - (text[0] == '-');
  if (fixed_width <= scientific_width) snprintf(text, JOIST_TEXT_SIZE, "%.*f", decimals, value);
  /* printf writes the decimal mark of the locale. */
  char *comma = strchr(text, ',');
  if (comma != NULL) *comma = '.';
  return strlen(text);
}

static size_t format_complex(joist_dtype part, double real, double imaginary, int digits,
                             char text[JOIST_TEXT_SIZE]) {
  char first[JOIST_TEXT_SIZE], second[JOIST_TEXT_SIZE];
  if (part == JOIST_F64 && (is_na_real(real) || is_na_real(imaginary)))
    return (size_t)snprintf(text, JOIST_TEXT_SIZE, "NA");
  format_real(part, real, digits, first);
  format_real(part, imaginary, digits, second);
  /* A part has at most 17 digits, sign, point and exponent: 24 characters. */
  return (size_t)snprintf(text, JOIST_TEXT_SIZE, "%.24s%s%.24si", first,
                          second[0] == '-' ? "" : "+", second);
}

size_t joist_format_element(joist_dtype dtype, const void *element, int digits,
                            char text[JOIST_TEXT_SIZE]) {
  switch (joist_dtype_kind(dtype)) {
    case JOIST_KIND_BOOL:
      return (size_t)snprintf(text, JOIST_TEXT_SIZE, "%s",
                              *(const uint8_t *)element != 0 ? "TRUE" : "FALSE");
    case JOIST_KIND_INT: {
      int64_t value;
      joist_convert_find(dtype, JOIST_I64)(1, element, &value);
      return (size_t)snprintf(text, JOIST_TEXT_SIZE, "%" PRId64, value);
    }
    case JOIST_KIND_UINT: {
      uint64_t value;
      joist_convert_find(dtype, JOIST_UI64)(1, element, &value);
      return (size_t)snprintf(text, JOIST_TEXT_SIZE, "%" PRIu64, value);
    }
    case JOIST_KIND_FLOAT: {
      double value;
      joist_convert_find(dtype, JOIST_F64)(1, element, &value);
      return format_real(dtype, value, digits, text);
    }
    case JOIST_KIND_COMPLEX:
      break;
  }
  double parts[2];
  joist_convert_find(dtype, JOIST_C128)(1, element, parts);
  return format_complex(joist_dtype_real(dtype), parts[0], parts[1], digits, text);
}
