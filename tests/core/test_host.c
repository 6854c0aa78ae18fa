/* Import, export and text: every rule of host.h, for every dtype. */
#include "core/cpu/engine.h"
#include "core/plan/plan.h"
#include "core/types/convert.h"
#include "core/types/host.h"
#include "core/types/narrow.h"

#include "errors.h"
#include "formats.h"
#include "patterns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define EACH_DTYPE(dtype) \
  for (joist_dtype dtype = JOIST_BOOL; dtype < JOIST_DTYPE_COUNT; dtype = (joist_dtype)(dtype + 1))

static struct joist_error error;
/* Allocated, so that it takes the type of whatever is written. */
enum { OUT_SIZE = 65536 };
static void *out;

static double na_real(void) { return double_of(UINT64_C(0x7ff00000000007a2)); }

static bool is_na_bits(double value) {
  return isnan(value) && (uint32_t)bits_of_double(value) == 1954;
}

static bool is_whole(joist_dtype dtype) {
  return joist_dtype_category(dtype) == JOIST_CATEGORY_BOOL ||
         joist_dtype_category(dtype) == JOIST_CATEGORY_INTEGER;
}

static bool is_wide(joist_dtype dtype) { return joist_dtype_real(dtype) == JOIST_F64; }

/* Whether a dtype has a number, by the definitions of those that lack small ones. */
static bool holds(joist_dtype dtype, double number) {
  const struct byte_format *const format = byte_format_of(dtype);
  if (format != NULL) return byte_value(format, byte_nearest(format, number)) == number;
  return dtype != JOIST_INT1 || number != 1;
}

static joist_status import(joist_host host, const void *values, size_t n, joist_dtype dtype) {
  memset(&error, 0, sizeof error);
  const joist_status status = joist_import(host, values, n, dtype, out, NULL, &error);
  CHECK(joist_import_fits(host, values, n, dtype) == (status == JOIST_OK));
  if (status != JOIST_OK) CHECK_INT(error.type[0].dtype, dtype);
  return status;
}

/* One double, put at the end of two blocks of numbers that fit, so that vector loops meet it. */
static joist_status import_double(double value, joist_dtype dtype) {
  enum { N = 1500 };
  static double values[N];
  for (int i = 0; i < N; i++) values[i] = dtype == JOIST_INT1 ? 0 : 1;
  values[1234] = value;
  const joist_status status = import(JOIST_HOST_DOUBLE, values, N, dtype);
  if (status != JOIST_OK) CHECK_INT(error.position, 1235);
  return status;
}

static void read_back(joist_dtype dtype, size_t index, double parts[2]) {
  joist_convert_find(dtype, JOIST_C128)(1, (const char *)out + index * joist_dtype_size(dtype),
                                        parts);
}

static void test_import_na(void) {
  const int logicals[] = {1, 0, INT32_MIN, INT32_MIN};
  const int64_t longs[] = {1, INT64_MIN};
  const double doubles[] = {1, NAN, na_real()}, numbers[] = {0, na_real(), 1};
  const double complexes[] = {1, 0, na_real(), 0}, imaginary[] = {1, na_real()};
  const uint32_t float_bits[] = {0x3f800000u, 0x7f8007a2u, 0x7fc00000u};
  float floats[3];
  memcpy(floats, float_bits, sizeof floats);
  EACH_DTYPE(dtype) {
    if (!holds(dtype, 0) || !holds(dtype, 1)) continue; /* see test_import_lacking() */
    const bool whole = is_whole(dtype), wide = is_wide(dtype);
    const bool takes_nan = !whole && joist_dtype_has_nan(dtype);
    double parts[2];
    CHECK_ERROR(import(JOIST_HOST_LOGICAL, logicals, 4, dtype), error, JOIST_E_NA_VALUE);
    CHECK_INT(error.position, 3);
    CHECK_ERROR(import(JOIST_HOST_INTEGER, logicals, 4, dtype), error, JOIST_E_NA_VALUE);
    CHECK_INT(error.position, 3);
    CHECK_ERROR(import(JOIST_HOST_INTEGER64, longs, 2, dtype), error, JOIST_E_NA_VALUE);
    CHECK_INT(error.position, 2);
    CHECK_INT(import(JOIST_HOST_DOUBLE, numbers, 3, dtype), wide ? JOIST_OK : JOIST_ERROR_VALUE);
    if (!wide) {
      CHECK_ERROR(JOIST_ERROR_VALUE, error, JOIST_E_NA_VALUE);
      CHECK_INT(error.position, 2);
    } else {
      read_back(dtype, 1, parts);
      CHECK(is_na_bits(parts[0]));
    }
    CHECK_INT(import(JOIST_HOST_DOUBLE, doubles, 2, dtype),
              takes_nan ? JOIST_OK : JOIST_ERROR_VALUE);
    CHECK_INT(import(JOIST_HOST_COMPLEX, complexes, 2, dtype), wide ? JOIST_OK : JOIST_ERROR_VALUE);
    CHECK_INT(import(JOIST_HOST_COMPLEX, imaginary, 1, dtype),
              dtype == JOIST_C128 ? JOIST_OK : JOIST_ERROR_VALUE);
    CHECK_INT(import(JOIST_HOST_FLOAT32, floats, 3, dtype), wide ? JOIST_OK : JOIST_ERROR_VALUE);
    if (!wide) CHECK(error.code == JOIST_E_NA_VALUE && error.position == 2);
    if (wide) {
      read_back(dtype, 1, parts);
      CHECK(is_na_bits(parts[0]));
      read_back(dtype, 2, parts);
      CHECK(isnan(parts[0]) && !is_na_bits(parts[0]));
    }
  }
}

static void test_import_integer_range(void) {
  EACH_DTYPE(dtype) {
    if (!is_whole(dtype)) continue;
    const int64_t min = joist_dtype_min_int(dtype);
    const uint64_t max = joist_dtype_max_int(dtype);
    /* At the limits and one past, from every host that can say so. */
    for (int64_t past = -1; past <= 2; past++) {
      const bool low_side = past <= 0;
      const bool fits = past == 0 || past == 1;
      if (low_side && min == INT64_MIN) continue;
      if (!low_side && max > INT64_MAX) continue;
      if (!low_side && max == INT64_MAX && past == 2) continue;
      const int64_t value = low_side ? min + past : (int64_t)max + (past - 1);
      const joist_status want = fits ? JOIST_OK : JOIST_ERROR_VALUE;
      const int64_t longs[2] = {0, value};
      const joist_status status = import(JOIST_HOST_INTEGER64, longs, 2, dtype);
      CHECK_INT(status, want);
      if (fits) {
        int64_t got;
        joist_convert_find(dtype, JOIST_I64)(1, (char *)out + joist_dtype_size(dtype), &got);
        CHECK_INT(got, value);
      } else {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)value);
        CHECK_ERROR(status, error, JOIST_E_OUT_OF_RANGE);
        CHECK_STR(error.text[0].bytes, text);
        CHECK_INT(error.position, 2);
      }
      if (value > INT32_MIN && value <= INT32_MAX) {
        const int integers[2] = {0, (int)value};
        CHECK_INT(import(JOIST_HOST_INTEGER, integers, 2, dtype), want);
      }
      if (value >= 0 && value <= 255) {
        const unsigned char bytes[2] = {0, (unsigned char)value};
        CHECK_INT(import(JOIST_HOST_RAW, bytes, 2, dtype), want);
      }
      if (value > -(1LL << 53) && value < (1LL << 53))
        CHECK_INT(import_double((double)value, dtype), want);
    }
    CHECK_ERROR(import_double(NAN, dtype), error, JOIST_E_NOT_FINITE);
    CHECK_ERROR(import_double(INFINITY, dtype), error, JOIST_E_NOT_FINITE);
    CHECK_ERROR(import_double(-INFINITY, dtype), error, JOIST_E_NOT_FINITE);
    CHECK_STR(error.text[0].bytes, "-Inf");
    CHECK_INT(import_double(-0.0, dtype), JOIST_OK);
    CHECK_INT(import_double(0.5, dtype), JOIST_ERROR_VALUE);
    CHECK_INT(import_double(0x1p52 - 0.5, dtype), JOIST_ERROR_VALUE);
    CHECK_INT(import_double(0x1p-1074, dtype), JOIST_ERROR_VALUE);
  }
  /* The edges of 64 bits, where double is coarser than the dtype. */
  CHECK_INT(import_double(0x1.fffffffffffffp62, JOIST_I64), JOIST_OK);
  CHECK_INT(import_double(0x1p63, JOIST_I64), JOIST_ERROR_VALUE);
  CHECK_INT(import_double(-0x1p63, JOIST_I64), JOIST_OK);
  CHECK_INT(import_double(-0x1.0000000000001p63, JOIST_I64), JOIST_ERROR_VALUE);
  CHECK_INT(import_double(0x1.fffffffffffffp63, JOIST_UI64), JOIST_OK);
  CHECK_INT(import_double(0x1p64, JOIST_UI64), JOIST_ERROR_VALUE);
  CHECK_INT(import_double(0x1.0000000000001p52, JOIST_I64), JOIST_OK);
  CHECK_INT(((int64_t *)out)[1234], (1LL << 52) + 1);
  CHECK_INT(import_double(0x1.0000000000001p53, JOIST_UI64), JOIST_OK);
  const double values[] = {1, 300}, part[] = {1.5};
  CHECK_ERROR(import(JOIST_HOST_DOUBLE, values, 2, JOIST_UI8), error, JOIST_E_OUT_OF_RANGE);
  CHECK_STR(error.text[0].bytes, "300");
  CHECK_ERROR(import(JOIST_HOST_DOUBLE, part, 1, JOIST_I32), error, JOIST_E_FRACTIONAL);
  CHECK_STR(error.text[0].bytes, "1.5");
}

static void test_import_float_range(void) {
  static const struct {
    joist_dtype dtype;
    double limit; /* rounds to Inf */
  } cases[] = {{JOIST_F16, 65520},
               {JOIST_BF16, 0x1.ffp127},
               {JOIST_F32, 0x1.ffffffp127},
               {JOIST_C64, 0x1.ffffffp127}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const joist_dtype dtype = cases[i].dtype;
    const double limit = cases[i].limit, below = nextafter(limit, 0);
    double parts[2];
    CHECK_ERROR(import_double(limit, dtype), error, JOIST_E_OUT_OF_RANGE);
    CHECK_INT(import_double(-limit, dtype), JOIST_ERROR_VALUE);
    CHECK_INT(import_double(DBL_MAX, dtype), JOIST_ERROR_VALUE);
    CHECK_INT(import_double(-below, dtype), JOIST_OK);
    CHECK_INT(import_double(below, dtype), JOIST_OK);
    read_back(dtype, 1234, parts);
    CHECK(parts[0] == joist_dtype_max_float(dtype));
    CHECK_INT(import_double(INFINITY, dtype), JOIST_OK);
    read_back(dtype, 1234, parts);
    CHECK(isinf(parts[0]));
    const double imaginary[] = {0, 1, 2, limit};
    CHECK_INT(import(JOIST_HOST_COMPLEX, imaginary, 2, dtype), JOIST_ERROR_VALUE);
    CHECK_INT(error.position, dtype == JOIST_C64 ? 2 : 1);
  }
  const int integers[] = {65519, -65519, 65520}, others[] = {INT32_MAX, -INT32_MAX};
  const int64_t longs[] = {65520}, largest[] = {INT64_MAX, -INT64_MAX};
  CHECK_INT(import(JOIST_HOST_INTEGER, integers, 2, JOIST_F16), JOIST_OK);
  CHECK_ERROR(import(JOIST_HOST_INTEGER, integers, 3, JOIST_F16), error, JOIST_E_OUT_OF_RANGE);
  CHECK_STR(error.text[0].bytes, "65520");
  CHECK_INT(error.position, 3);
  CHECK_INT(import(JOIST_HOST_INTEGER64, longs, 1, JOIST_F16), JOIST_ERROR_VALUE);
  EACH_DTYPE(dtype) {
    if (is_whole(dtype) || joist_dtype_real(dtype) == JOIST_F16 || byte_format_of(dtype) != NULL)
      continue;
    CHECK_INT(import(JOIST_HOST_INTEGER, others, 2, dtype), JOIST_OK);
    CHECK_INT(import(JOIST_HOST_INTEGER64, largest, 2, dtype), JOIST_OK);
    CHECK_INT(import_double(0.1, dtype), JOIST_OK);
  }
}

static void test_import_byte_float(const struct byte_format *format) {
  const joist_dtype dtype = format->dtype;
  const double limit = byte_limit(format), below = nextafter(limit, 0);
  const bool powers = format->special == POWERS, finite = format->special == NUMBERS;
  const uint8_t *const codes = out;
  CHECK_ERROR(import_double(limit, dtype), error, JOIST_E_OUT_OF_RANGE);
  CHECK_ERROR(import_double(-limit, dtype), error, JOIST_E_OUT_OF_RANGE);
  CHECK_ERROR(import_double(DBL_MAX, dtype), error, JOIST_E_OUT_OF_RANGE);
  CHECK_INT(import_double(-below, dtype), powers ? JOIST_ERROR_VALUE : JOIST_OK);
  CHECK_INT(import_double(below, dtype), JOIST_OK);
  CHECK_INT(codes[1234], byte_largest(format));
  CHECK_INT(import_double(0.1, dtype), JOIST_OK);
  CHECK_INT(codes[1234], byte_nearest(format, 0.1));
  for (int sign = -1; sign <= 1; sign += 2) {
    const double infinite = copysign(INFINITY, sign);
    const joist_status status = import_double(infinite, dtype);
    if (format->special == INFINITE)
      CHECK(status == JOIST_OK && codes[1234] == byte_nearest(format, infinite));
    else
      CHECK_ERROR(status, error, JOIST_E_NOT_FINITE);
  }
  const joist_status status = import_double(NAN, dtype);
  if (finite)
    CHECK_ERROR(status, error, JOIST_E_NOT_FINITE);
  else
    CHECK(status == JOIST_OK && isnan(byte_value(format, codes[1234])));
  /* Whole numbers, from all types that hold them. */
  for (int number = -500; number <= 500; number++) {
    const bool fits = abs(number) < limit && (!powers || number > 0);
    const int integers[] = {1, number};
    const int64_t longs[] = {1, number};
    const double doubles[] = {1, number}, complexes[] = {1, 0, number, 0};
    const float floats[] = {1, (float)number};
    const unsigned char bytes[] = {1, (unsigned char)number};
    const void *const hosts[] = {integers, integers, doubles, complexes, bytes, longs, floats};
    for (int host = JOIST_HOST_INTEGER; host <= JOIST_HOST_FLOAT32; host++) {
      if (host == JOIST_HOST_RAW && (number < 0 || number > 255)) continue;
      const joist_status status = import((joist_host)host, hosts[host], 2, dtype);
      CHECK_MSG((status == JOIST_OK) == fits, "%d as %s", number, joist_dtype_name(dtype));
      if (status == JOIST_OK)
        CHECK_INT(codes[1], byte_nearest(format, number));
      else
        CHECK(error.code == JOIST_E_OUT_OF_RANGE && error.position == 2);
    }
  }
}

/* Dtypes that lack 0 or 1, from all types. */
static void test_import_lacking(void) {
  const int integers[] = {0, 1}, ones[] = {-1, 0};
  const double doubles[] = {0, 1}, complexes[] = {0, 0, 1, 0};
  const float floats[] = {0, 1};
  const unsigned char bytes[] = {0, 1};
  const int64_t longs[] = {0, 1};
  const void *const hosts[] = {integers, integers, doubles, complexes, bytes, longs, floats};
  for (int host = JOIST_HOST_LOGICAL; host <= JOIST_HOST_FLOAT32; host++) {
    const joist_host from = (joist_host)host;
    const char *const second = (const char *)hosts[host] + joist_host_size(from);
    CHECK_ERROR(import(from, hosts[host], 2, JOIST_INT1), error, JOIST_E_OUT_OF_RANGE);
    CHECK_INT(error.position, 2);
    CHECK_INT(import(from, hosts[host], 1, JOIST_INT1), JOIST_OK);
    CHECK_INT(*(int8_t *)out, 0);
    CHECK_ERROR(import(from, hosts[host], 2, JOIST_F8E8M0FNU), error, JOIST_E_OUT_OF_RANGE);
    CHECK_INT(error.position, 1);
    CHECK_INT(import(from, second, 1, JOIST_F8E8M0FNU), JOIST_OK);
    CHECK_INT(*(uint8_t *)out, 127);
  }
  CHECK_INT(import(JOIST_HOST_INTEGER, ones, 2, JOIST_INT1), JOIST_OK);
  CHECK(((int8_t *)out)[0] == -1 && ((int8_t *)out)[1] == 0);
}

static void test_import_others(void) {
  const int logicals[] = {0, 1, 7}; /* C code may store any non-zero number as TRUE */
  const double complexes[] = {0, 0, 1, -0.0}, imaginary[] = {1, 0, 1, 2};
  const float floats[] = {0, 1};
  const unsigned char bytes[] = {0, 1};
  const int integers[] = {0, 1};
  const int64_t longs[] = {0, 1};
  const double doubles[] = {0, 1};
  const void *const hosts[] = {logicals, integers, doubles, complexes, bytes, longs, floats};
  EACH_DTYPE(dtype) {
    double parts[2];
    if (!holds(dtype, 0) || !holds(dtype, 1)) continue;
    for (int host = JOIST_HOST_LOGICAL; host <= JOIST_HOST_FLOAT32; host++) {
      memset(out, 0x5a, OUT_SIZE);
      CHECK_INT(import((joist_host)host, hosts[host], 2, dtype), JOIST_OK);
      CHECK(((unsigned char *)out)[2 * joist_dtype_size(dtype)] == 0x5a);
      for (size_t i = 0; i < 2; i++) {
        read_back(dtype, i, parts);
        CHECK(parts[0] == (double)i && parts[1] == 0);
      }
      CHECK_INT(import((joist_host)host, NULL, 0, dtype), JOIST_OK);
    }
    CHECK_INT(import(JOIST_HOST_LOGICAL, logicals, 3, dtype), JOIST_OK);
    read_back(dtype, 2, parts);
    CHECK(parts[0] == 1);
    const bool complex_dtype = joist_dtype_kind(dtype) == JOIST_KIND_COMPLEX;
    const joist_status status = import(JOIST_HOST_COMPLEX, imaginary, 2, dtype);
    CHECK((status == JOIST_OK) == complex_dtype);
    if (complex_dtype) continue;
    CHECK_ERROR(status, error, JOIST_E_IMAGINARY);
    CHECK_STR(error.text[0].bytes, "1+2i");
    CHECK_INT(error.position, 2);
  }
  CHECK_INT(joist_host_category(JOIST_HOST_LOGICAL), JOIST_CATEGORY_BOOL);
  CHECK_INT(joist_host_category(JOIST_HOST_INTEGER), JOIST_CATEGORY_INTEGER);
  CHECK_INT(joist_host_category(JOIST_HOST_RAW), JOIST_CATEGORY_INTEGER);
  CHECK_INT(joist_host_category(JOIST_HOST_INTEGER64), JOIST_CATEGORY_INTEGER);
  CHECK_INT(joist_host_category(JOIST_HOST_DOUBLE), JOIST_CATEGORY_FLOAT);
  CHECK_INT(joist_host_category(JOIST_HOST_FLOAT32), JOIST_CATEGORY_FLOAT);
  CHECK_INT(joist_host_category(JOIST_HOST_COMPLEX), JOIST_CATEGORY_COMPLEX);
}

/* For each type of the host: zero, another value, and the value that is neither TRUE nor FALSE, at
 * the end of two blocks. */
static void test_import_truth(void) {
  enum { N = 1200 };
  static const size_t sizes[] = {4, 4, 8, 16, 1, 8, 4};
  static const int32_t ints[] = {0, 7, INT32_MIN};
  static const int64_t longs[] = {0, -(INT64_C(1) << 40), INT64_MIN};
  static const uint8_t bytes[] = {0, 200};
  static const float floats[] = {0, 1e-40f, NAN};
  const double doubles[] = {-0.0, 0x1p-1074, NAN}, infinite = -INFINITY, na = na_real();
  const double complexes[] = {0, -0.0, 0, -2, 1, NAN};
  const void *const values[] = {ints, ints, doubles, complexes, bytes, longs, floats};
  static const joist_host hosts[] = {JOIST_HOST_LOGICAL, JOIST_HOST_INTEGER, JOIST_HOST_DOUBLE,
                                     JOIST_HOST_COMPLEX, JOIST_HOST_RAW,     JOIST_HOST_INTEGER64,
                                     JOIST_HOST_FLOAT32};
  for (size_t h = 0; h < sizeof hosts / sizeof *hosts; h++)
    for (size_t which = 0; which < (hosts[h] == JOIST_HOST_RAW ? 2 : 3); which++) {
      char *const many = calloc(N, sizes[h]);
      uint8_t truth[N];
      memcpy(many + (N - 1) * sizes[h], (const char *)values[h] + which * sizes[h], sizes[h]);
      memset(&error, 0, sizeof error);
      const joist_status status = joist_import_truth(hosts[h], many, N, truth, NULL, &error);
      CHECK((status == JOIST_OK) == (which < 2));
      if (status == JOIST_OK)
        for (size_t i = 0; i < N; i++) CHECK(truth[i] == (i == N - 1 && which == 1));
      else
        CHECK_INT(error.position, 1200);
      if (hosts[h] == JOIST_HOST_DOUBLE && which == 2)
        CHECK_ERROR(status, error, JOIST_E_NO_TRUTH_VALUE);
      free(many);
    }
  uint8_t one = 0;
  CHECK(joist_import_truth(JOIST_HOST_DOUBLE, &infinite, 1, &one, NULL, &error) == JOIST_OK &&
        one == 1);
  CHECK_ERROR(joist_import_truth(JOIST_HOST_DOUBLE, &na, 1, &one, NULL, &error), error,
              JOIST_E_NA_VALUE);
}

static void test_host_range(void) {
  const int integers[] = {3, -7, 5, INT32_MIN};
  const double doubles[] = {1.5, -2, INFINITY, NAN}, complexes[] = {1, -3, 2, 0};
  const int64_t longs[] = {INT64_MIN + 1, INT64_MIN};
  struct joist_host_values found;
#define RANGE(HOST, VALUES, COUNT, LOW, HIGH)                                          \
  (joist_host_range(JOIST_HOST_##HOST, VALUES, COUNT, &found) && found.low == (LOW) && \
   found.high == (HIGH))
  CHECK(RANGE(INTEGER, integers, 3, -7, 5) && found.whole);
  CHECK(!joist_host_range(JOIST_HOST_INTEGER, integers, 4, &found));
  CHECK(!joist_host_range(JOIST_HOST_INTEGER, integers, 0, &found));
  CHECK(RANGE(DOUBLE, doubles, 2, -2, 1.5) && !found.whole && !found.has_infinity);
  CHECK(RANGE(DOUBLE, doubles, 3, -2, 1.5) && found.has_infinity && !found.has_nan);
  CHECK(RANGE(DOUBLE, doubles + 1, 1, -2, -2) && found.whole);
  CHECK(RANGE(DOUBLE, doubles + 2, 1, (double)INFINITY, (double)INFINITY) && !found.whole);
  CHECK(!joist_host_range(JOIST_HOST_DOUBLE, doubles, 4, &found));
  CHECK(found.has_nan && found.has_infinity && found.low == -2 && found.high == 1.5);
  CHECK(!joist_host_range(JOIST_HOST_DOUBLE, doubles + 3, 1, &found));
  CHECK(found.has_nan && found.low > found.high);
  CHECK(RANGE(COMPLEX, complexes, 2, -3, 2) && !found.whole);
  CHECK(RANGE(INTEGER64, longs, 1, -0x1p63, -0x1p63));
  CHECK(!joist_host_range(JOIST_HOST_INTEGER64, longs, 2, &found));
  CHECK(RANGE(LOGICAL, integers, 1, 1, 1));
#undef RANGE
}

static joist_status export(joist_dtype dtype, const void *elements, size_t n, joist_host host,
                           bool lossy) {
  memset(&error, 0, sizeof error);
  return joist_export(dtype, elements, n, host, lossy, out, NULL, &error);
}

static void test_export_hosts(void) {
  /* Rows as host.h lists them; L R I W D C F: logical raw integer integer64 double
   * complex float32; lower case only if lossy. */
  static const struct {
    joist_dtype dtype;
    const char *hosts;
  } rows[] = {{JOIST_BOOL, "LRIWDCF"},   {JOIST_I8, "IWDCF"},       {JOIST_I16, "IWDCF"},
              {JOIST_I32, "IWDCf"},      {JOIST_I64, "IWDCf"},      {JOIST_UI8, "RIWDCF"},
              {JOIST_UI16, "IWDCF"},     {JOIST_UI32, "IWDCf"},     {JOIST_UI64, "IWDCf"},
              {JOIST_F16, "DCF"},        {JOIST_BF16, "DCF"},       {JOIST_F32, "DCF"},
              {JOIST_F64, "DCf"},        {JOIST_C64, "C"},          {JOIST_C128, "C"},
              {JOIST_INT1, "IWDCF"},     {JOIST_I2, "IWDCF"},       {JOIST_I4, "IWDCF"},
              {JOIST_UINT1, "IWDCF"},    {JOIST_UI2, "IWDCF"},      {JOIST_UI4, "IWDCF"},
              {JOIST_F4E2M1FN, "DCF"},   {JOIST_F6E2M3FN, "DCF"},   {JOIST_F6E3M2FN, "DCF"},
              {JOIST_F8E3M4, "DCF"},     {JOIST_F8E4M3, "DCF"},     {JOIST_F8E4M3B11FNUZ, "DCF"},
              {JOIST_F8E4M3FN, "DCF"},   {JOIST_F8E4M3FNUZ, "DCF"}, {JOIST_F8E5M2, "DCF"},
              {JOIST_F8E5M2FNUZ, "DCF"}, {JOIST_F8E8M0FNU, "DCF"},  {JOIST_C32, "C"},
              {JOIST_BC32, "C"}};
  static const char letters[] = "LIDCRWF";
  CHECK_INT(sizeof rows / sizeof *rows, JOIST_DTYPE_COUNT);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const int source[2] = {holds(rows[r].dtype, 0) ? 0 : 2, holds(rows[r].dtype, 1) ? 1 : -1};
    joist_c128 elements[2];
    joist_convert_find(JOIST_I32, rows[r].dtype)(2, source, elements);
    for (int host = 0; host < 7; host++)
      for (int lossy = 0; lossy < 2; lossy++) {
        const char lower = (char)(letters[host] - 'A' + 'a');
        const bool can = strchr(rows[r].hosts, letters[host]) != NULL ||
                         (lossy && strchr(rows[r].hosts, lower) != NULL);
        const joist_status status = export(rows[r].dtype, elements, 2, (joist_host)host, lossy);
        if (!can) {
          CHECK_ERROR(status, error, JOIST_E_NO_EXPORT);
          CHECK_INT(error.type[0].dtype, rows[r].dtype);
          continue;
        }
        CHECK_INT(status, JOIST_OK);
        switch ((joist_host)host) {
          case JOIST_HOST_LOGICAL:
          case JOIST_HOST_INTEGER:
            CHECK(((int *)out)[0] == source[0] && ((int *)out)[1] == source[1]);
            break;
          case JOIST_HOST_DOUBLE:
            CHECK(((double *)out)[0] == source[0] && ((double *)out)[1] == source[1]);
            break;
          case JOIST_HOST_COMPLEX:
            CHECK(((double *)out)[2] == source[1] && ((double *)out)[3] == 0);
            break;
          case JOIST_HOST_RAW:
            CHECK(((unsigned char *)out)[0] == source[0] && ((unsigned char *)out)[1] == source[1]);
            break;
          case JOIST_HOST_INTEGER64:
            CHECK(((int64_t *)out)[0] == source[0] && ((int64_t *)out)[1] == source[1]);
            break;
          case JOIST_HOST_FLOAT32:
            CHECK(((float *)out)[0] == source[0] && ((float *)out)[1] == source[1]);
            break;
        }
      }
  }
}

static void test_export_values(void) {
  const int32_t ints[] = {-INT32_MAX, INT32_MAX, INT32_MIN};
  const uint32_t naturals[] = {INT32_MAX, 0x80000000u};
  const int64_t longs[] = {1LL << 53, -(1LL << 53) - 2, INT64_MAX - 1023, (1LL << 53) + 1};
  const int64_t edges[] = {-INT32_MAX, INT32_MAX, INT32_MIN};
  const int64_t minimum[] = {INT64_MIN};
  const uint64_t large[] = {INT64_MAX, 0x8000000000000000u}, odd[] = {UINT64_MAX};
  CHECK_INT(export(JOIST_I32, ints, 2, JOIST_HOST_INTEGER, false), JOIST_OK);
  CHECK_ERROR(export(JOIST_I32, ints, 3, JOIST_HOST_INTEGER, true), error, JOIST_E_EXPORT_INTEGER);
  CHECK_STR(error.text[0].bytes, "-2147483648");
  CHECK(error.position == 3 && error.type[0].dtype == JOIST_I32);
  CHECK_INT(export(JOIST_I32, ints, 3, JOIST_HOST_INTEGER64, false), JOIST_OK);
  CHECK_INT(export(JOIST_I32, ints, 3, JOIST_HOST_DOUBLE, false), JOIST_OK);
  CHECK_INT(export(JOIST_UI32, naturals, 1, JOIST_HOST_INTEGER, false), JOIST_OK);
  CHECK_INT(export(JOIST_UI32, naturals, 2, JOIST_HOST_INTEGER, false), JOIST_ERROR_VALUE);
  CHECK_INT(export(JOIST_I64, edges, 2, JOIST_HOST_INTEGER, false), JOIST_OK);
  CHECK_ERROR(export(JOIST_I64, edges, 3, JOIST_HOST_INTEGER, false), error,
              JOIST_E_EXPORT_INTEGER_WIDE);
  CHECK_INT(export(JOIST_I64, longs, 3, JOIST_HOST_DOUBLE, false), JOIST_OK);
  CHECK_ERROR(export(JOIST_I64, longs, 4, JOIST_HOST_DOUBLE, false), error, JOIST_E_EXPORT_INEXACT);
  CHECK_STR(error.text[0].bytes, "9007199254740993");
  CHECK_INT(error.position, 4);
  CHECK_INT(export(JOIST_I64, longs, 4, JOIST_HOST_COMPLEX, false), JOIST_ERROR_VALUE);
  CHECK_INT(export(JOIST_I64, longs, 4, JOIST_HOST_DOUBLE, true), JOIST_OK);
  CHECK(((double *)out)[3] == 0x1p53);
  CHECK_INT(export(JOIST_I64, longs, 4, JOIST_HOST_COMPLEX, true), JOIST_OK);
  CHECK_INT(export(JOIST_I64, minimum, 1, JOIST_HOST_DOUBLE, false), JOIST_OK);
  CHECK_INT(export(JOIST_I64, minimum, 1, JOIST_HOST_INTEGER64, false), JOIST_ERROR_VALUE);
  CHECK_INT(export(JOIST_UI64, large, 1, JOIST_HOST_INTEGER64, false), JOIST_OK);
  CHECK_ERROR(export(JOIST_UI64, large, 2, JOIST_HOST_INTEGER64, false), error,
              JOIST_E_EXPORT_INTEGER64);
  CHECK_STR(error.text[0].bytes, "9223372036854775808");
  CHECK(error.position == 2 && error.type[0].dtype == JOIST_UI64);
  CHECK_INT(export(JOIST_UI64, large + 1, 1, JOIST_HOST_DOUBLE, false), JOIST_OK);
  CHECK_INT(export(JOIST_UI64, odd, 1, JOIST_HOST_DOUBLE, false), JOIST_ERROR_VALUE);
  /* What stands for an integer that doubles do not hold is NA, and no NA that R makes. */
  double lost[] = {1, na_real(), 0};
  CHECK_INT(joist_check_lost(3, lost, &error), JOIST_OK);
  joist_set_lost(&lost[2], UINT64_C(9007199254740993));
  CHECK(lost[2] != lost[2] && joist_missing_count(JOIST_HOST_DOUBLE, lost, 3, NULL) == 2);
  CHECK_ERROR(joist_check_lost(3, lost, &error), error, JOIST_E_LOST);
  CHECK_INT(error.position, 3);
  lost[1] = lost[2] + 1; /* arithmetic keeps that it is lost */
  CHECK_ERROR(joist_check_lost(2, lost, &error), error, JOIST_E_LOST);
  CHECK(joist_is_lost(&lost[1]) && !joist_was_lost(&lost[1], UINT64_C(9007199254740993)));
  CHECK(joist_is_lost(&lost[2]) && joist_was_lost(&lost[2], UINT64_C(9007199254740993)));
  CHECK(!joist_was_lost(&lost[2], UINT64_C(9007199254740995)) && !joist_is_lost(&lost[0]));
  /* NA_real_ goes in and out with its bits; no NaN of a narrower dtype becomes NA. */
  double values[2] = {na_real(), 1};
  CHECK_INT(export(JOIST_F64, values, 2, JOIST_HOST_DOUBLE, false), JOIST_OK);
  CHECK(memcmp(out, values, sizeof values) == 0);
  for (uint32_t low = 0; low < 0x10000; low++) {
    const uint16_t half = (uint16_t)low;
    const uint32_t bits = 0x7fc00000u | low;
    CHECK(export(JOIST_F16, &half, 1, JOIST_HOST_DOUBLE, false) == JOIST_OK);
    CHECK(!is_na_bits(((double *)out)[0]));
    CHECK(export(JOIST_F32, &bits, 1, JOIST_HOST_DOUBLE, false) == JOIST_OK);
    CHECK(!is_na_bits(((double *)out)[0]));
  }
}

static const char *format_element(joist_dtype dtype, const void *element, int digits) {
  static char text[JOIST_TEXT_SIZE];
  memset(text, 'x', sizeof text);
  const size_t length = joist_format_element(dtype, element, digits, text);
  CHECK_INT(length, strlen(text));
  return text;
}

static const char *format_double(double value, int digits) {
  return format_element(JOIST_F64, &value, digits);
}

static void test_format_text(void) {
  const double complexes[][2] = {{1, 2}, {1.5, -2}, {na_real(), 0}, {NAN, 1}, {0, -INFINITY}};
  const double longest[2] = {-2.2250738585072014e-308, -1.7976931348623157e308};
  const float part[2] = {0.1f, 1e-10f}, tenth = 0.1f;
  const uint8_t bools[] = {0, 1};
  const int64_t least = INT64_MIN;
  const uint64_t most = UINT64_MAX;
  const int8_t negative = -128;
  CHECK_STR(format_double(0.1, 0), "0.1");
  CHECK_STR(format_double(100, 0), "100");
  CHECK_STR(format_double(1e5, 0), "1e+05");
  CHECK_STR(format_double(123456, 0), "123456");
  CHECK_STR(format_double(1e15, 0), "1e+15");
  CHECK_STR(format_double(0.0001, 0), "1e-04");
  CHECK_STR(format_double(0.00012, 0), "0.00012");
  CHECK_STR(format_double(-0.0, 0), "-0");
  CHECK_STR(format_double(0x1p-1074, 0), "5e-324");
  CHECK_STR(format_double(1.0 / 3, 7), "0.3333333");
  CHECK_STR(format_double(1.5, 7), "1.5");
  CHECK_STR(format_double(123456.789, 4), "123457");
  CHECK_STR(format_double(0.1, 17), "0.10000000000000001");
  CHECK_STR(format_double(NAN, 0), "NaN");
  CHECK_STR(format_double(na_real(), 0), "NA");
  CHECK_STR(format_double(INFINITY, 0), "Inf");
  CHECK_STR(format_double(-INFINITY, 7), "-Inf");
  CHECK_STR(format_element(JOIST_F32, &tenth, 0), "0.1");
  CHECK_STR(format_element(JOIST_C64, part, 0), "0.1+1e-10i");
  CHECK_STR(format_element(JOIST_C128, complexes[0], 0), "1+2i");
  CHECK_STR(format_element(JOIST_C128, complexes[1], 0), "1.5-2i");
  CHECK_STR(format_element(JOIST_C128, complexes[2], 0), "NA");
  CHECK_STR(format_element(JOIST_C128, complexes[3], 0), "NaN+1i");
  CHECK_STR(format_element(JOIST_C128, complexes[4], 0), "0-Infi");
  CHECK_STR(format_element(JOIST_C128, longest, 0),
            "-2.2250738585072014e-308-1.7976931348623157e+308i");
  CHECK_STR(format_element(JOIST_BOOL, &bools[0], 0), "FALSE");
  CHECK_STR(format_element(JOIST_BOOL, &bools[1], 0), "TRUE");
  CHECK_STR(format_element(JOIST_I8, &negative, 0), "-128");
  CHECK_STR(format_element(JOIST_I64, &least, 0), "-9223372036854775808");
  CHECK_STR(format_element(JOIST_UI64, &most, 0), "18446744073709551615");
}

/* Significant digits; 0 for a whole number in full, which may have more than needed. */
static int digits_in(const char *text) {
  if (strpbrk(text, ".e") == NULL) return 0;
  int digits = 0, trailing = 0;
  bool leading = true;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text < '0' || *text > '9') continue;
    if (leading && *text == '0') continue;
    leading = false;
    digits++;
    trailing = *text == '0' ? trailing + 1 : 0;
  }
  return digits - trailing;
}

static void check_double_trip(double value) {
  char text[JOIST_TEXT_SIZE];
  const char *got = format_double(value, 0);
  const double read = strtod(got, NULL);
  CHECK_MSG(memcmp(&read, &value, sizeof read) == 0, "%a as %s", value, got);
  /* No shorter text that printf writes reads back. */
  if (digits_in(got) > 1 && fabs(value) < 1e15) {
    snprintf(text, sizeof text, "%.*e", digits_in(got) - 2, value);
    CHECK_MSG(strtod(text, NULL) != value, "%s is shorter than %s", text, got);
  }
}

static bool reads_as(const struct byte_format *format, const char *text, int code) {
  const double number = strtod(text, NULL);
  return fabs(number) < byte_limit(format) && byte_nearest(format, number) == code;
}

/* Every number reads back, and none has a shorter text. */
static void test_format_bytes(const struct byte_format *format) {
  for (int code = 0; code < byte_codes(format); code++) {
    const uint8_t element = (uint8_t)code;
    const double value = byte_value(format, code);
    char text[JOIST_TEXT_SIZE], shorter[JOIST_TEXT_SIZE];
    strcpy(text, format_element(format->dtype, &element, 0));
    if (!isfinite(value)) {
      CHECK_STR(text, isnan(value) ? "NaN" : value > 0 ? "Inf" : "-Inf");
      continue;
    }
    CHECK_MSG(reads_as(format, text, code), "%s %02x as %s", joist_dtype_name(format->dtype), code,
              text);
    for (int digits = 1; digits < digits_in(text); digits++) {
      snprintf(shorter, sizeof shorter, "%.*e", digits - 1, value);
      CHECK_MSG(!reads_as(format, shorter, code), "%s is shorter than %s", shorter, text);
    }
  }
}

static void test_format_trips(void) {
  for (int f = 0; f < BYTE_FORMATS; f++) test_format_bytes(&byte_formats[f]);
  for (uint32_t i = 0; i < 65536; i++) {
    const uint16_t bits = (uint16_t)i;
    if ((bits & 0x7fff) <= 0x7c00) {
      const char *text = format_element(JOIST_F16, &bits, 0);
      const uint16_t read = narrow_f64_to_F16(
          text[text[0] == '-'] == 'I' ? (double)narrow_F16_to_f32(bits) : strtod(text, NULL));
      CHECK_MSG(read == bits && digits_in(text) <= 5, "f16 %04x as %s", i, text);
    }
    if ((bits & 0x7fff) < 0x7f80) {
      const char *text = format_element(JOIST_BF16, &bits, 0);
      CHECK_MSG(narrow_f64_to_BF16(strtod(text, NULL)) == bits && digits_in(text) <= 4,
                "bf16 %04x as %s", i, text);
    }
  }
  for (int i = 0; i < 100000; i++) {
    const uint64_t random = random_bits();
    const double value = double_of(random);
    if (isfinite(value)) check_double_trip(value);
    check_double_trip((double)(random >> 40) / 1000);
    const float narrow = float_of((uint32_t)(random >> 32));
    if (!isfinite(narrow)) continue;
    const char *text = format_element(JOIST_F32, &narrow, 0);
    const float read = strtof(text, NULL);
    CHECK_MSG(memcmp(&read, &narrow, sizeof read) == 0 && digits_in(text) <= 9, "%a as %s",
              (double)narrow, text);
  }
}

static void test_parse_integer(void) {
  static const struct {
    const char *text;
    joist_dtype dtype;
    bool reads;
    uint64_t value;
  } cases[] = {
      {"0", JOIST_I64, true, 0},
      {"-1", JOIST_I64, true, UINT64_MAX},
      {"+17", JOIST_UI64, true, 17},
      {"-9223372036854775808", JOIST_I64, true, UINT64_C(1) << 63},
      {"9223372036854775808", JOIST_I64, false, 0},
      {"18446744073709551615", JOIST_UI64, true, UINT64_MAX},
      {"18446744073709551616", JOIST_UI64, false, 0},
      {"0xffffFFFFffffffff", JOIST_UI64, true, UINT64_MAX},
      {"0x10000000000000000", JOIST_UI64, false, 0},
      {"-1", JOIST_UI64, false, 0},
      {"127", JOIST_I8, true, 127},
      {"128", JOIST_I8, false, 0},
      {"", JOIST_I64, false, 0},
      {"-", JOIST_I64, false, 0},
      {"0x", JOIST_I64, false, 0},
      {"1a", JOIST_I64, false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct joist_error error;
    uint64_t value = 1;
    const joist_status status =
        joist_parse_integer(cases[i].text, i + 1, cases[i].dtype, &value, &error);
    CHECK_MSG((status == JOIST_OK) == cases[i].reads, "case %zu", i);
    if (status == JOIST_OK) {
      CHECK_MSG(value == cases[i].value, "value of case %zu", i);
      continue;
    }
    const char *const digits = cases[i].text + (cases[i].text[0] == '-');
    const bool number = *digits != '\0' && strspn(digits, "0123456789") == strlen(digits);
    const bool hexadecimal = strncmp(digits, "0x", 2) == 0 && digits[2] != '\0';
    CHECK_ERROR(status, error, number || hexadecimal ? JOIST_E_OUT_OF_RANGE : JOIST_E_NOT_A_NUMBER);
    CHECK_STR(error.text[0].bytes, cases[i].text);
    CHECK_INT(error.position, i + 1);
  }
}

/* ---- bytes ---- */

/* What a byte of a file is in memory: the unused bits of a dtype are those of its sign, or 0. */
static unsigned char as_element(joist_dtype dtype, unsigned char byte) {
  const unsigned bits = joist_dtype_bits(dtype);
  if (dtype == JOIST_BOOL || joist_dtype_size(dtype) > 1 || bits == 8) return byte;
  const unsigned used = byte & ((1u << bits) - 1);
  const bool negative = joist_dtype_kind(dtype) == JOIST_KIND_INT && (used >> (bits - 1)) != 0;
  return (unsigned char)(negative ? used | ~((1u << bits) - 1) : used);
}

static void test_copy_bytes(void) {
  unsigned char bytes[16 * 9], read[16 * 9 + 1], back[16 * 9];
  EACH_DTYPE(dtype) {
    const size_t size = joist_dtype_size(dtype), unit = joist_dtype_size(joist_dtype_real(dtype));
    const size_t all = 9 * size;
    const unsigned bits = joist_dtype_bits(dtype);
    const unsigned used = dtype == JOIST_BOOL || size > 1 ? 0xff : (1u << bits) - 1;
    for (size_t i = 0; i < all; i++)
      bytes[i] = (unsigned char)(dtype == JOIST_BOOL ? i % 3 == 0 : 37 * i + 129);
    for (int swapped = 0; swapped < 2; swapped++) {
      /* at an odd address */
      CHECK_INT(joist_read_bytes(dtype, bytes, 9, swapped, read + 1, NULL, &error), JOIST_OK);
      for (size_t i = 0; i < all; i++) {
        const size_t from = swapped ? i / unit * unit + (unit - 1 - i % unit) : i;
        CHECK_INT(read[1 + i], as_element(dtype, bytes[from]));
      }
      CHECK_INT(joist_check_elements(dtype, read + 1, 9, &error), JOIST_OK);
      CHECK_INT(joist_write_bytes(dtype, read + 1, 9, swapped, back, NULL, &error), JOIST_OK);
      for (size_t i = 0; i < all; i++) CHECK_INT(back[i], bytes[i] & used);
      memcpy(read, bytes, all);
      CHECK_INT(joist_read_bytes(dtype, read, 9, swapped, read, NULL, &error), JOIST_OK);
      CHECK_INT(joist_write_bytes(dtype, read, 9, swapped, read, NULL, &error), JOIST_OK);
      CHECK(memcmp(read, back, all) == 0);
    }
  }
  const unsigned char truth[] = {0, 1, 255, 2}, four_bits[] = {7, 0xf8, 8};
  CHECK_INT(joist_check_elements(JOIST_BOOL, truth, 2, &error), JOIST_OK);
  CHECK_ERROR(joist_check_elements(JOIST_BOOL, truth, 4, &error), error, JOIST_E_BYTE_NOT_BOOL);
  CHECK_STR(error.text[0].bytes, "ff");
  CHECK_INT(error.position, 3);
  CHECK_ERROR(joist_read_bytes(JOIST_BOOL, truth, 4, false, read, NULL, &error), error,
              JOIST_E_BYTE_NOT_BOOL);
  CHECK_INT(error.position, 3);
  CHECK_INT(joist_check_elements(JOIST_I4, four_bits, 2, &error), JOIST_OK);
  CHECK(joist_check_elements(JOIST_I4, four_bits, 3, &error) == JOIST_ERROR_VALUE);
  CHECK_INT(error.position, 3);
  CHECK(joist_check_elements(JOIST_UI4, four_bits, 3, &error) == JOIST_ERROR_VALUE);
  CHECK_INT(error.position, 2);
}

/* ---- missing values ---- */

/* A value of a host in bytes, half of them near NA. */
static void some_value(joist_host host, size_t often, void *value) {
  static const uint64_t doubles[] = {
      UINT64_C(0x7ff00000000007a2), UINT64_C(0xfff80000000007a2), UINT64_C(0x7ff81234000007a2),
      UINT64_C(0x40000000000007a2), UINT64_C(0x7ff00000000007a3), UINT64_C(0x7ff8000000000000),
      UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff80000000107a2), UINT64_C(0x00000000000007a2)};
  static const uint32_t floats[] = {0x7f8007a2u, 0xffc007a2u, 0x7f8107a2u, 0x3f8007a2u,
                                    0x7fc00000u, 0x7f800000u, 0x7f8007a3u, 0x000007a2u};
  static const int32_t integers[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX, 0, -1};
  static const int64_t longs[] = {INT64_MIN, INT64_MIN + 1, INT32_MIN, INT64_MAX, 0};
  const size_t pick = (size_t)(random_bits() >> 20);
  const bool near = pick % often == 0;
  switch (host) {
    case JOIST_HOST_LOGICAL:
    case JOIST_HOST_INTEGER:
      *(int32_t *)value = near ? integers[pick / often % 5] : (int32_t)(pick % 1000);
      break;
    case JOIST_HOST_DOUBLE:
    case JOIST_HOST_COMPLEX:
      *(double *)value = near ? double_of(doubles[pick / often % 9]) : (double)(pick % 1000);
      break;
    case JOIST_HOST_INTEGER64:
      *(int64_t *)value = near ? longs[pick / often % 5] : (int64_t)pick;
      break;
    case JOIST_HOST_FLOAT32:
      *(float *)value = near ? float_of(floats[pick / often % 8]) : (float)(pick % 1000);
      break;
    case JOIST_HOST_RAW:
      *(uint8_t *)value = (uint8_t)pick;
  }
}

static bool want_missing(joist_host host, const void *value) {
  float narrow;
  int64_t whole;
  switch (host) {
    case JOIST_HOST_LOGICAL:
    case JOIST_HOST_INTEGER:
      return *(const int32_t *)value == INT32_MIN;
    case JOIST_HOST_DOUBLE:
      return is_na_bits(*(const double *)value);
    case JOIST_HOST_COMPLEX:
      return is_na_bits(((const double *)value)[0]) || is_na_bits(((const double *)value)[1]);
    case JOIST_HOST_INTEGER64:
      memcpy(&whole, value, sizeof whole);
      return whole == INT64_MIN;
    case JOIST_HOST_FLOAT32:
      memcpy(&narrow, value, sizeof narrow);
      return isnan(narrow) && (bits_of_float(narrow) & 0xffffu) == 1954;
    case JOIST_HOST_RAW:
      break;
  }
  return false;
}

static void check_missing(joist_host host, size_t n, size_t often, const char *values, char *filled,
                          uint8_t *mask) {
  const struct joist_run one = {.threads = 1}, three = {.threads = 3, .parallel_from = 1};
  const size_t size = joist_host_size(host);
  static const char zero[16] = {0};
  const char *first = zero;
  size_t count = 0, masks = 0, fills = 0;
  memset(mask, 2, n + 1);
  memset(filled, 0x5a, n * size + 1);
  joist_missing_mask(host, values, n, mask);
  joist_missing_filled(host, values, n, filled);
  for (size_t i = n; i-- > 0;)
    if (!want_missing(host, values + i * size)) first = values + i * size;
  for (size_t i = 0; i < n; i++) {
    const bool missing = want_missing(host, values + i * size);
    count += missing;
    masks += mask[i] != missing;
    fills += memcmp(filled + i * size, missing ? first : values + i * size, size) != 0;
  }
  CHECK_MSG(masks == 0 && fills == 0 && mask[n] == 2 && filled[n * size] == 0x5a,
            "host %d, %zu values, one in %zu: %zu of the mask and %zu of the values are wrong",
            (int)host, n, often, masks, fills);
  CHECK_INT(joist_missing_count(host, values, n, NULL), count);
  CHECK_INT(joist_missing_count(host, values, n, &one), count);
  CHECK_INT(joist_missing_count(host, values, n, &three), count);
}

static void test_missing(void) {
  enum { MOST = 3 * 65536 + 5 };
  static const size_t counts[] = {0,    1,    2,     7,     1023,  1024,          1025,
                                  2049, 5000, 65535, 65536, 65537, 3 * 65536 - 1, MOST};
  static const size_t rates[] = {1, 2, 50, 20000, MOST * 10};
  char *const values = malloc(16 * MOST + 16), *const filled = malloc(16 * MOST + 16);
  uint8_t *const mask = malloc(MOST + 1);
  if (values == NULL || filled == NULL || mask == NULL) abort();
  for (joist_host host = JOIST_HOST_LOGICAL; host <= JOIST_HOST_FLOAT32;
       host = (joist_host)(host + 1)) {
    const size_t size = joist_host_size(host), part = host == JOIST_HOST_COMPLEX ? 8 : size;
    for (size_t rate = 0; rate < sizeof rates / sizeof *rates; rate++) {
      for (size_t at = 0; at < MOST * size; at += part) some_value(host, rates[rate], values + at);
      for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        check_missing(host, counts[k], rates[rate], values, filled, mask);
    }
    /* All of them missing, then the last one not. */
    for (size_t i = 0; host != JOIST_HOST_RAW && i < MOST; i++) do
        some_value(host, 1, values + i * size);
      while (!want_missing(host, values + i * size));
    check_missing(host, MOST, 1, values, filled, mask);
    memset(values + (MOST - 1) * size, 1, size);
    check_missing(host, MOST, 1, values, filled, mask);
  }
  free(values);
  free(filled);
  free(mask);
}

/* ---- interrupts ---- */

static bool stop_at_once(void *calls) {
  ++*(int *)calls;
  return true;
}

static void test_interrupts(void) {
  enum { MANY = (1 << 24) + 1 };
  int calls = 0;
  const struct joist_run run = {.threads = 1, .poll = stop_at_once, .context = &calls};
  char *const from = calloc(MANY, 1), *const to = malloc(MANY);
  if (from == NULL || to == NULL) return;
  for (size_t n = MANY - 1; n <= MANY; n++) {
    const joist_status want = n == MANY ? JOIST_INTERRUPTED : JOIST_OK;
    CHECK_INT(joist_import(JOIST_HOST_RAW, from, n, JOIST_I8, to, &run, &error), want);
    CHECK_INT(joist_import_truth(JOIST_HOST_RAW, from, n, to, &run, &error), want);
    CHECK_INT(joist_export(JOIST_UI8, from, n, JOIST_HOST_RAW, false, to, &run, &error), want);
    CHECK_INT(joist_read_bytes(JOIST_UI8, from, n, true, to, &run, &error), want);
  }
  CHECK_INT(calls, 4);
  /* A misfit beyond the first blocks is named by its place among all. */
  from[MANY - 1] = (char)200;
  CHECK_ERROR(joist_import(JOIST_HOST_RAW, from, MANY, JOIST_I8, to, NULL, &error), error,
              JOIST_E_OUT_OF_RANGE);
  CHECK_STR(error.text[0].bytes, "200");
  CHECK_INT(error.position, MANY);
  free(from);
  free(to);
}

int main(void) {
  out = malloc(OUT_SIZE);
  if (out == NULL) return 1;
  test_import_na();
  test_import_integer_range();
  test_import_float_range();
  for (int f = 0; f < BYTE_FORMATS; f++) test_import_byte_float(&byte_formats[f]);
  test_import_lacking();
  test_import_others();
  test_import_truth();
  test_host_range();
  test_export_hosts();
  test_export_values();
  test_format_text();
  test_format_trips();
  test_parse_integer();
  test_copy_bytes();
  test_missing();
  test_interrupts();
  free(out);
  return check_report("host");
}
