/* Facts about dtypes: names in every style, kinds, sizes and ranges. */
#include "core/types/dtypes.h"

#include "check.h"

#include "core/types/convert.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void test_names(void) {
  for (int s = 0; s < JOIST_STYLE_COUNT; s++) {
    const joist_style style = (joist_style)s;
    CHECK_INT(joist_style_parse(joist_style_name(style)), style);
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      const joist_dtype dtype = (joist_dtype)d;
      const char *const name = joist_dtype_format(dtype, style);
      CHECK_MSG(joist_dtype_parse(name, style) == dtype, "%s in the style %s", name,
                joist_style_name(style));
      for (int e = 0; e < d; e++)
        CHECK(strcmp(name, joist_dtype_format((joist_dtype)e, style)) != 0);
    }
    CHECK_INT(joist_dtype_parse("", style), JOIST_DTYPE_NONE);
    CHECK_INT(joist_dtype_parse("f128", style), JOIST_DTYPE_NONE);
    CHECK_INT(joist_dtype_parse("F32", style), JOIST_DTYPE_NONE);
  }
  CHECK_INT(joist_style_parse("fortran"), JOIST_STYLE_COUNT);
  /* Bits in one style, bytes in the other. */
  CHECK_INT(joist_dtype_parse("i8", JOIST_STYLE_ANVIL), JOIST_I8);
  CHECK_INT(joist_dtype_parse("i8", JOIST_STYLE_NUMPY), JOIST_I64);
  CHECK_INT(joist_dtype_parse("i1", JOIST_STYLE_ANVIL), JOIST_BOOL);
  CHECK_INT(joist_dtype_parse("i1", JOIST_STYLE_JEP), JOIST_I8);
  CHECK_INT(joist_dtype_parse("c8", JOIST_STYLE_NUMPY), JOIST_C64);
  CHECK_INT(joist_dtype_parse("half", JOIST_STYLE_ANVIL), JOIST_F16);
  CHECK_INT(joist_dtype_parse("u8", JOIST_STYLE_ANVIL), JOIST_UI8);
  CHECK_INT(joist_dtype_parse("float32", JOIST_STYLE_ANVIL), JOIST_F32);
  CHECK_STR(joist_dtype_format(JOIST_C64, JOIST_STYLE_STABLEHLO), "complex<f32>");
}

static void test_facts(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    const joist_kind kind = joist_dtype_kind(dtype);
    const int bits = 8 * (int)joist_dtype_size(dtype);
    const joist_dtype real = joist_dtype_real(dtype), compute = joist_dtype_compute(dtype);
    CHECK_INT(joist_dtype_compute(compute), compute);
    CHECK_INT(joist_dtype_real(real), real);
    if (kind == JOIST_KIND_COMPLEX) {
      CHECK_INT(joist_dtype_size(real) * 2, joist_dtype_size(dtype));
      CHECK_INT(joist_dtype_kind(real), JOIST_KIND_FLOAT);
      CHECK_INT(joist_dtype_category(dtype), JOIST_CATEGORY_COMPLEX);
    } else {
      CHECK_INT(real, dtype);
    }
    if (kind == JOIST_KIND_FLOAT) {
      CHECK_INT(joist_dtype_category(dtype), JOIST_CATEGORY_FLOAT);
      CHECK_INT(compute, bits <= 16 ? JOIST_F32 : dtype);
    } else {
      CHECK_INT(compute, dtype);
    }
    if (kind == JOIST_KIND_INT) {
      CHECK(joist_dtype_min_int(dtype) == INT64_MIN >> (64 - bits));
      CHECK(joist_dtype_max_int(dtype) == (uint64_t)(INT64_MAX >> (64 - bits)));
    }
    if (kind == JOIST_KIND_UINT) {
      CHECK(joist_dtype_min_int(dtype) == 0);
      CHECK(joist_dtype_max_int(dtype) == UINT64_MAX >> (64 - bits));
    }
    if (kind == JOIST_KIND_INT || kind == JOIST_KIND_UINT)
      CHECK_INT(joist_dtype_category(dtype), JOIST_CATEGORY_INTEGER);
  }
  CHECK_INT(joist_dtype_min_int(JOIST_BOOL), 0);
  CHECK_INT(joist_dtype_max_int(JOIST_BOOL), 1);
  CHECK_INT(joist_dtype_category(JOIST_BOOL), JOIST_CATEGORY_BOOL);
  CHECK(joist_dtype_max_float(JOIST_F16) == 65504.0);
  CHECK(joist_dtype_max_float(JOIST_BF16) == 0x1.fep127);
  CHECK(joist_dtype_max_float(JOIST_C64) == FLT_MAX);
  CHECK(joist_dtype_max_float(JOIST_C128) == DBL_MAX);
}

static void test_codes(void) {
  for (int f = 0; f < JOIST_FORMAT_COUNT; f++) {
    const joist_format format = (joist_format)f;
    for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
      const char *const code = joist_dtype_code((joist_dtype)d, format);
      if (code != NULL) CHECK_INT(joist_dtype_of_code(code, format), d);
    }
    CHECK_INT(joist_dtype_of_code("", format), JOIST_DTYPE_NONE);
    CHECK_INT(joist_dtype_of_code("float", format), JOIST_DTYPE_NONE);
  }
  CHECK_STR(joist_dtype_code(JOIST_BF16, JOIST_FORMAT_NPY), "V2");
  CHECK(joist_dtype_code(JOIST_C128, JOIST_FORMAT_SAFETENSORS) == NULL);
  CHECK(joist_dtype_code(JOIST_BF16, JOIST_FORMAT_ARROW) == NULL);
}

/* A value by way of a dtype. */
static double taken(joist_dtype dtype, double value) {
  double element;
  joist_convert_find(JOIST_F64, dtype)(1, &value, &element);
  joist_convert_find(dtype, JOIST_F64)(1, &element, &value);
  return value;
}

/* The conversions of a float agree with its row. */
static void test_floats(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    const int digits = joist_dtype_digits(dtype);
    if (joist_dtype_kind(dtype) != JOIST_KIND_FLOAT) {
      CHECK(joist_dtype_greatest_bits(dtype) == 0);
      continue;
    }
    const double largest = joist_dtype_max_float(dtype), overflow = joist_dtype_overflow(dtype);
    const double least = ldexp(1, joist_dtype_least_exponent(dtype));
    const double unit = ldexp(1, 1 - digits);
    CHECK(taken(dtype, largest) == largest);
    CHECK(taken(dtype, nextafter(overflow, 0)) == largest);
    CHECK(!isfinite(taken(dtype, overflow)));
    CHECK(taken(dtype, least) == least);
    CHECK(taken(dtype, least / 2) == 0);
    CHECK(taken(dtype, 1 + unit) == 1 + unit);
    CHECK(taken(dtype, 1 + unit / 2) == 1);
    const uint64_t greatest = joist_dtype_greatest_bits(dtype), beyond = greatest + 1;
    double value, nan;
    if (joist_dtype_size(dtype) == sizeof(uint64_t)) {
      memcpy(&value, &greatest, sizeof value);
      memcpy(&nan, &beyond, sizeof nan);
    } else {
      const uint8_t byte[] = {(uint8_t)greatest, (uint8_t)beyond};
      const uint16_t half[] = {(uint16_t)greatest, (uint16_t)beyond};
      const uint32_t single[] = {(uint32_t)greatest, (uint32_t)beyond};
      const size_t size = joist_dtype_size(dtype);
      const void *const elements = size == 1   ? (const void *)byte
                                   : size == 2 ? (const void *)half
                                               : single;
      double both[2];
      joist_convert_find(dtype, JOIST_F64)(2, elements, both);
      value = both[0];
      nan = both[1];
    }
    CHECK(value == largest || value == INFINITY);
    CHECK(isnan(nan));
  }
}

static void test_kinds(void) {
  CHECK_INT(joist_dtype_with(JOIST_KIND_INT, 16), JOIST_I16);
  CHECK_INT(joist_dtype_with(JOIST_KIND_UINT, 64), JOIST_UI64);
  CHECK_INT(joist_dtype_with(JOIST_KIND_COMPLEX, 64), JOIST_C64);
  CHECK_INT(joist_dtype_with(JOIST_KIND_INT, 24), JOIST_DTYPE_NONE);
  CHECK_INT(joist_dtype_bits(JOIST_BOOL), 1);
  CHECK_INT(joist_dtype_bits(JOIST_C128), 128);
}

int main(void) {
  test_codes();
  test_floats();
  test_kinds();
  test_names();
  test_facts();
  return check_report("dtypes");
}
