/* Which R literals change in a dtype, against frexp() and a list of whole numbers. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "core/promotion/change.h"

/* Of IEEE 754 and of bfloat16. */
static const struct format {
  joist_dtype dtype, complex_dtype;
  int digits, least_exponent, most_exponent;
} formats[] = {{JOIST_F16, JOIST_DTYPE_NONE, 11, -24, 15},
               {JOIST_BF16, JOIST_DTYPE_NONE, 8, -133, 127},
               {JOIST_F32, JOIST_C64, 24, -149, 127},
               {JOIST_F64, JOIST_C128, 53, -1074, 1023}};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool fits_digits(double value, int digits) {
  int exponent;
  const double scaled = ldexp(frexp(value, &exponent), digits);
  return scaled == floor(scaled);
}

static bool expected(double value, const struct format *format) {
  if (!isfinite(value) || value == 0) return false;
  const double size = fabs(value);
  /* Half way from the largest value to the power of two above it. */
  const double overflow = 2 * ldexp(1 - ldexp(1, -format->digits - 1), format->most_exponent);
  if (size >= overflow) return true;
  if (size == floor(size)) return !fits_digits(size, format->digits);
  return size <= ldexp(1, format->least_exponent - 1);
}

static void check_double(double value, const struct format *format) {
  const bool want = expected(value, format);
  const char *const name = joist_dtype_name(format->dtype);
  CHECK_MSG(joist_literal_changes(JOIST_HOST_DOUBLE, &value, 1, format->dtype) == want,
            "%a in %s: want %d", value, name, want);
  if (format->complex_dtype == JOIST_DTYPE_NONE) return;
  const double parts[2][2] = {{value, 0.1}, {0.1, value}};
  for (int k = 0; k < 2; k++)
    CHECK_MSG(joist_literal_changes(JOIST_HOST_COMPLEX, parts[k], 1, format->complex_dtype) == want,
              "%a as part %d of complex: want %d", value, k, want);
}

/* Where rounding changes its mind: about powers of two, and what is half way to 0 or to Inf. */
static void test_doubles(void) {
  static const double some[] = {0.0,    -0.0,     0.1,        1.5,       1e300, -1e300,
                                1e5,    65519,    65520,      65504,     1e-8,  6e-8,
                                1e-300, 5e-324,   1e-45,      16777217,  1e22,  1e23,
                                257,    16777216, 2147483647, 123456789, 3e38,  4e38};
  for (size_t f = 0; f < FORMATS; f++) {
    for (size_t k = 0; k < sizeof some / sizeof *some; k++) check_double(some[k], &formats[f]);
    for (int exponent = -1074; exponent < 1024; exponent++) {
      const double power = ldexp(1, exponent);
      const double near[] = {power, nextafter(power, 0), nextafter(power, INFINITY), 1 + power};
      for (int k = 0; k < 4; k++) {
        check_double(near[k], &formats[f]);
        check_double(-near[k], &formats[f]);
      }
    }
    check_double(NAN, &formats[f]);
    check_double(INFINITY, &formats[f]);
    check_double(-INFINITY, &formats[f]);
  }
}

/* m * 2^e with m < 2^digits, counted up. */
static void test_integers(void) {
  enum { LIMIT = 1 << 19 };
  static bool exact[LIMIT];
  for (size_t f = 0; f < FORMATS; f++) {
    for (int32_t k = 0; k < LIMIT; k++) exact[k] = false;
    const int32_t largest = formats[f].dtype == JOIST_F16 ? 65504 : LIMIT - 1;
    for (int64_t step = 1; step < LIMIT; step *= 2)
      for (int64_t m = 0; m < INT64_C(1) << formats[f].digits && m * step <= largest; m++)
        exact[m * step] = true;
    for (int32_t k = 0; k < LIMIT; k++) {
      const int32_t negative = -k;
      const int64_t wide = k;
      const joist_dtype dtype = formats[f].dtype;
      CHECK_MSG(joist_literal_changes(JOIST_HOST_INTEGER, &k, 1, dtype) != exact[k], "%d", k);
      CHECK_MSG(joist_literal_changes(JOIST_HOST_INTEGER, &negative, 1, dtype) != exact[k], "-%d",
                k);
      CHECK_MSG(joist_literal_changes(JOIST_HOST_INTEGER64, &wide, 1, dtype) != exact[k],
                "integer64 %d", k);
    }
  }
  static const struct {
    int64_t value;
    bool f32, f64;
  } wide[] = {{INT64_MAX, true, true},
              {(INT64_C(1) << 53) + 1, true, true},
              {(INT64_C(1) << 53) - 1, true, false},
              {INT64_C(1) << 62, false, false},
              {-(INT64_C(1) << 62) - 2, true, true},
              {(INT64_C(1) << 40) + (INT64_C(1) << 17), false, false},
              {(INT64_C(1) << 40) + (INT64_C(1) << 16), true, false}};
  for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
    const int64_t value = wide[k].value;
    CHECK(joist_literal_changes(JOIST_HOST_INTEGER64, &value, 1, JOIST_F32) == wide[k].f32);
    CHECK(joist_literal_changes(JOIST_HOST_INTEGER64, &value, 1, JOIST_C128) == wide[k].f64);
  }
}

/* True if any of several numbers changes; never for raw and logical values, or integer dtypes. */
static void test_rest(void) {
  const double values[] = {0.5, 3, 16777217, 4};
  CHECK(joist_literal_changes(JOIST_HOST_DOUBLE, values, 4, JOIST_F32));
  CHECK(!joist_literal_changes(JOIST_HOST_DOUBLE, values, 2, JOIST_F32));
  CHECK(!joist_literal_changes(JOIST_HOST_DOUBLE, values, 0, JOIST_F32));
  const float single[] = {1.0f, 257.0f};
  CHECK(joist_literal_changes(JOIST_HOST_FLOAT32, single, 2, JOIST_BF16));
  CHECK(!joist_literal_changes(JOIST_HOST_FLOAT32, single, 2, JOIST_F16));
  const unsigned char bytes[] = {255, 129};
  const int32_t truth[] = {1, 0}, large = 2147483647;
  for (int dtype = 0; dtype < JOIST_DTYPE_COUNT; dtype++) {
    /* Floats of up to a byte have fewer than eight digits, and one has no 0. */
    const bool narrow = !joist_dtype_is_word((joist_dtype)dtype) &&
                        joist_dtype_category((joist_dtype)dtype) == JOIST_CATEGORY_FLOAT;
    CHECK_INT(joist_literal_changes(JOIST_HOST_RAW, bytes, 2, (joist_dtype)dtype), narrow);
    CHECK_INT(joist_literal_changes(JOIST_HOST_LOGICAL, truth, 2, (joist_dtype)dtype),
              !joist_dtype_has_zero((joist_dtype)dtype));
    if (joist_dtype_category((joist_dtype)dtype) < JOIST_CATEGORY_FLOAT)
      CHECK(!joist_literal_changes(JOIST_HOST_INTEGER, &large, 1, (joist_dtype)dtype));
  }
}

int main(void) {
  test_doubles();
  test_integers();
  test_rest();
  return check_report("literal changes");
}
