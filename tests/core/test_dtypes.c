/* Facts about dtypes: names in every style, kinds, sizes and ranges. */
#include "core/types/dtypes.h"

#include "check.h"
#include "formats.h"

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
    CHECK_INT(joist_dtype_parse("F32", style), JOIST_F32); /* as safetensors writes it */
    CHECK_INT(joist_dtype_parse("Float32", style), JOIST_DTYPE_NONE);
  }
  CHECK_INT(joist_style_parse("fortran"), JOIST_STYLE_COUNT);
  /* Bits in one style, bytes in the other. */
  /* What Python prints of PyTorch's dtypes, and only that. */
  CHECK_INT(joist_dtype_parse("torch.float32", JOIST_STYLE_ANVIL), JOIST_F32);
  CHECK_INT(joist_dtype_parse("torch.uint8", JOIST_STYLE_NUMPY), JOIST_UI8);
  CHECK_INT(joist_dtype_parse("torch.float8_e4m3fn", JOIST_STYLE_JAX), JOIST_F8E4M3FN);
  CHECK_INT(joist_dtype_parse("torch.complex64", JOIST_STYLE_TORCH), JOIST_C64);
  CHECK_INT(joist_dtype_parse("torch.f4", JOIST_STYLE_NUMPY), JOIST_DTYPE_NONE);
  CHECK_INT(joist_dtype_parse("torch.", JOIST_STYLE_ANVIL), JOIST_DTYPE_NONE);
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
    const int bits = (int)joist_dtype_bits(dtype), room = 8 * (int)joist_dtype_size(dtype);
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
    } else if (bits < room && kind != JOIST_KIND_BOOL) {
      CHECK_INT(compute, kind == JOIST_KIND_INT ? JOIST_I8 : JOIST_UI8);
    } else if (kind == JOIST_KIND_COMPLEX) {
      CHECK_INT(compute, bits == 32 ? JOIST_C64 : dtype);
    } else {
      CHECK_INT(compute, dtype);
    }
    CHECK(bits == room || (bits < room && room == 8));
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

/* ---- dtypes of up to a byte ---- */

static void test_small_integers(void) {
  static const struct {
    joist_dtype dtype;
    int bits, min, max;
  } rows[] = {{JOIST_INT1, 1, -1, 0}, {JOIST_I2, 2, -2, 1}, {JOIST_I4, 4, -8, 7},
              {JOIST_UINT1, 1, 0, 1}, {JOIST_UI2, 2, 0, 3}, {JOIST_UI4, 4, 0, 15}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    CHECK_INT(joist_dtype_bits(rows[r].dtype), rows[r].bits);
    CHECK_INT(joist_dtype_min_int(rows[r].dtype), rows[r].min);
    CHECK_INT(joist_dtype_max_int(rows[r].dtype), rows[r].max);
    CHECK_INT(joist_dtype_size(rows[r].dtype), 1);
  }
}

/* The facts of a row follow from its format's fields. */
static void test_small_floats(void) {
  int floats = 0;
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++)
    floats += joist_dtype_kind((joist_dtype)d) == JOIST_KIND_FLOAT &&
              joist_dtype_bits((joist_dtype)d) <= 8;
  CHECK_INT(floats, BYTE_FORMATS);
  for (int f = 0; f < BYTE_FORMATS; f++) {
    const struct byte_format *const format = &byte_formats[f];
    const joist_dtype dtype = format->dtype;
    const char *const name = joist_dtype_name(dtype);
    const bool powers = format->special == POWERS;
    /* The name has the bits: f8E4M3FN. */
    const int sign = powers ? 0 : 1;
    CHECK_INT(name[1] - '0', sign + format->exponent + format->fraction);
    CHECK_INT(name[3] - '0', format->exponent);
    CHECK_INT(name[5] - '0', format->fraction);
    CHECK_INT(joist_dtype_bits(dtype), sign + format->exponent + format->fraction);
    CHECK_INT(joist_dtype_digits(dtype), format->fraction + 1);
    const double least = byte_number(format, powers ? 0 : 1);
    const int largest = byte_largest(format);
    CHECK(ldexp(1, joist_dtype_least_exponent(dtype)) == least);
    CHECK(joist_dtype_max_float(dtype) == byte_value(format, largest));
    CHECK(byte_nearest(format, (long double)joist_dtype_overflow(dtype)) != largest ||
          format->special == NUMBERS);
    CHECK_INT(byte_nearest(format, nextafter(joist_dtype_overflow(dtype), 0)), largest);
    CHECK_INT(joist_dtype_has_sign(dtype), !powers);
    bool has_nan = false, has_infinity = false, has_zero = false;
    double greatest = 0;
    for (int code = 0; code < byte_codes(format); code++) {
      const double value = byte_value(format, code);
      has_nan |= isnan(value);
      has_infinity |= isinf(value);
      has_zero |= value == 0;
      if (value > greatest) greatest = value;
    }
    CHECK_INT(joist_dtype_has_nan(dtype), has_nan);
    CHECK_INT(joist_dtype_has_infinity(dtype), has_infinity);
    CHECK_INT(joist_dtype_has_zero(dtype), has_zero);
    CHECK(byte_value(format, (int)joist_dtype_greatest_bits(dtype)) == greatest);
    const int nan = (int)joist_dtype_nan_bits(dtype);
    if (has_nan)
      CHECK(nan < byte_codes(format) && isnan(byte_value(format, nan)));
    else
      CHECK(nan >= byte_codes(format));
  }
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

/* The conversions of a float agree with its row; those of bytes are compared with their formats in
 * test_convert.c. */
static void test_floats(void) {
  for (int d = 0; d < JOIST_DTYPE_COUNT; d++) {
    const joist_dtype dtype = (joist_dtype)d;
    const int digits = joist_dtype_digits(dtype);
    if (joist_dtype_kind(dtype) != JOIST_KIND_FLOAT) {
      CHECK(joist_dtype_greatest_bits(dtype) == 0);
      continue;
    }
    if (byte_format_of(dtype) != NULL) continue;
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
      const uint16_t half[] = {(uint16_t)greatest, (uint16_t)beyond};
      const uint32_t single[] = {(uint32_t)greatest, (uint32_t)beyond};
      const bool is_half = joist_dtype_size(dtype) == sizeof *half;
      const void *const elements = is_half ? (const void *)half : single;
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
  CHECK_INT(joist_dtype_with(JOIST_KIND_INT, 8), JOIST_I8);
  CHECK_INT(joist_dtype_with(JOIST_KIND_INT, 4), JOIST_I4);
  CHECK_INT(joist_dtype_with(JOIST_KIND_UINT, 1), JOIST_UINT1);
  CHECK_INT(joist_dtype_bits(JOIST_BOOL), 1);
  CHECK_INT(joist_dtype_bits(JOIST_C128), 128);
}

int main(void) {
  test_codes();
  test_floats();
  test_kinds();
  test_names();
  test_facts();
  test_small_integers();
  test_small_floats();
  return check_report("dtypes");
}
