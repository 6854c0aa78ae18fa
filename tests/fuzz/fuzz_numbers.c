/* Numbers: whole ones from text, R's into dtypes, and elements as text. A number that is accepted
 * is the number that the C library reads; a number that is refused cannot be held by the dtype.
 *
 * The bytes: the dtype; then text, or the bits of doubles, which are elements of the dtype too. */
#include <errno.h>
#include <math.h>

#include "bytes.h"
#include "core/types/error.h"
#include "core/types/host.h"
#include "fuzz.h"

static bool is_whole(joist_dtype dtype) {
  return joist_dtype_category(dtype) <= JOIST_CATEGORY_INTEGER;
}

/* Digits behind a sign and 0x, or nothing else that strtoull() skips. */
static bool is_number(const char *text, bool *negative, const char **digits, int *base) {
  *negative = text[0] == '-';
  *digits = text + (text[0] == '-' || text[0] == '+');
  *base = 10;
  if ((*digits)[0] == '0' && ((*digits)[1] == 'x' || (*digits)[1] == 'X')) {
    *base = 16;
    *digits += 2;
  }
  const char *const all = *base == 10 ? "0123456789" : "0123456789abcdefABCDEF";
  return **digits != '\0' && strspn(*digits, all) == strlen(*digits);
}

static void read_text(const char *text, joist_dtype dtype) {
  struct joist_error error;
  uint64_t value = 0;
  bool negative;
  const char *digits;
  int base;
  const joist_status status = joist_parse_integer(text, 1, dtype, &value, &error);
  if (!is_number(text, &negative, &digits, &base)) {
    HOLDS(status == JOIST_ERROR_VALUE && error.code == JOIST_E_NOT_A_NUMBER);
    return;
  }
  errno = 0;
  const unsigned long long magnitude = strtoull(digits, NULL, base);
  const unsigned long long most =
      negative ? 0 - (unsigned long long)joist_dtype_min_int(dtype) : joist_dtype_max_int(dtype);
  if (errno == ERANGE || magnitude > most) {
    HOLDS(status == JOIST_ERROR_VALUE && error.code == JOIST_E_OUT_OF_RANGE);
    return;
  }
  HOLDS(status == JOIST_OK && value == (negative ? 0 - magnitude : magnitude));
}

/* A double as a number of a dtype: by C's own conversions where the dtype is one of C's. */
static void import_double(double x, joist_dtype dtype) {
  _Alignas(16) unsigned char element[16];
  struct joist_error error;
  if (joist_missing_count(JOIST_HOST_DOUBLE, &x, 1, NULL) > 0) return;
  const joist_status status = joist_import(JOIST_HOST_DOUBLE, &x, 1, dtype, element, NULL, &error);
  HOLDS(status == JOIST_OK || status == JOIST_ERROR_VALUE);
  HOLDS(joist_import_fits(JOIST_HOST_DOUBLE, &x, 1, dtype) <= (status == JOIST_OK));
  if (is_whole(dtype)) {
    const double below = (double)joist_dtype_min_int(dtype),
                 most = (double)joist_dtype_max_int(dtype);
    const bool wide = joist_dtype_size(dtype) == 8;
    const bool has = trunc(x) == x && x >= below && (wide ? x < most : x <= most);
    HOLDS(has == (status == JOIST_OK));
  } else if (joist_dtype_real(dtype) == JOIST_F64) {
    HOLDS(status == JOIST_OK && memcmp(element, &x, sizeof x) == 0);
    return;
  } else if (dtype == JOIST_F32 && status == JOIST_OK) {
    const float nearest = (float)x;
    float read;
    memcpy(&read, element, sizeof read);
    HOLDS((isnan(x) && isnan(read)) || memcmp(&read, &nearest, sizeof read) == 0);
    HOLDS(isinf(read) == isinf(x));
  }
  if (status != JOIST_OK) return;
  double back[2] = {0};
  HOLDS(joist_export(
            dtype, element, 1,
            joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX ? JOIST_HOST_COMPLEX : JOIST_HOST_DOUBLE,
            false, back, NULL, &error) == JOIST_OK);
  HOLDS((isnan(x) && isnan(back[0])) || !is_whole(dtype) || back[0] == x);
}

/* Compares the real part of an element, as a double, with the number in its text. */
static void check_float(joist_dtype real, const char *text, const unsigned char *part) {
  double value = 0, read = strtod(text, NULL);
  float nearest = (float)read;
  struct joist_error error;
  HOLDS(joist_export(real, part, 1, JOIST_HOST_DOUBLE, true, &value, NULL, &error) == JOIST_OK);
  if (isnan(value) || isinf(value)) return;
  if (real == JOIST_F64) HOLDS(read == value);
  if (real == JOIST_F32) HOLDS((double)nearest == value);
  HOLDS(fabs(read - value) <= fabs(value) / 64 + 0x1p-24);
}

static void write_element(const unsigned char *bits, joist_dtype dtype) {
  _Alignas(16) unsigned char element[16];
  memcpy(element, bits, sizeof element);
  if (dtype == JOIST_BOOL) element[0] &= 1;
  char text[JOIST_TEXT_SIZE];
  for (int digits = 0; digits <= 22; digits++) {
    memset(text, 0x5a, sizeof text);
    const size_t length = joist_format_element(dtype, element, digits, text);
    HOLDS(length > 0 && length < sizeof text && strlen(text) == length);
    if (digits > 0) continue;
    if (joist_dtype_kind(dtype) == JOIST_KIND_FLOAT) check_float(dtype, text, element);
    if (joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER) {
      uint64_t value = 0;
      struct joist_error error;
      HOLDS(joist_parse_integer(text, 1, dtype, &value, &error) == JOIST_OK);
      HOLDS(memcmp(&value, element, joist_dtype_size(dtype)) == 0);
    }
  }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  if (size == 0) return 0;
  const joist_dtype dtype = (joist_dtype)(data[0] % JOIST_DTYPE_COUNT);
  char *const text = malloc(size);
  HOLDS(text != NULL);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  if (is_whole(dtype)) read_text(text, dtype);
  char *end;
  const double number = strtod(text, &end);
  if (end != text) import_double(number, dtype);
  struct bytes bytes = {data + 1, data + size};
  for (int k = 0; k < 16 && bytes_left(&bytes) > 0; k++) {
    const uint64_t pair[2] = {take_word(&bytes), take_word(&bytes)};
    double x;
    memcpy(&x, pair, sizeof x);
    import_double(x, dtype);
    write_element((const unsigned char *)pair, dtype);
  }
  free(text);
  return 0;
}
