/* Conversions against references that share no code with the kernels: powers of two by
 * ldexp, rounding by fmod and comparison, and long double, which holds every i64, ui64
 * and f64 exactly where it has a 64-bit significand. */
#include "core/types/convert.h"
#include "core/types/narrow.h"

#include "check.h"
#include "formats.h"
#include "patterns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct layout {
  int fraction, exponent; /* bits */
};
static const struct layout F16 = {10, 5}, BF16 = {7, 8}, F32 = {23, 8};

/* The value that a pattern of `layout` stands for. */
static double decode(struct layout layout, uint32_t bits) {
  const int bias = (1 << (layout.exponent - 1)) - 1;
  const uint32_t fraction = bits % (1u << layout.fraction);
  const int exponent = (int)(bits >> layout.fraction) % (1 << layout.exponent);
  const double sign = bits >> (layout.fraction + layout.exponent) ? -1.0 : 1.0;
  if (exponent == (1 << layout.exponent) - 1)
    return copysign(fraction ? (double)NAN : (double)INFINITY, sign);
  if (exponent == 0) return sign * ldexp(fraction, 1 - bias - layout.fraction);
  return sign * ldexp(ldexp(1, layout.fraction) + fraction, exponent - bias - layout.fraction);
}

static long double round_even(long double x) {
  const long double whole = floorl(x), rest = x - whole;
  if (rest < 0.5L) return whole;
  if (rest > 0.5L) return whole + 1;
  return fmodl(whole, 2) == 0 ? whole : whole + 1;
}

/* The nearest value of `layout`, as a long double (infinite on overflow). */
static long double nearest(struct layout layout, long double x) {
  const int bias = (1 << (layout.exponent - 1)) - 1;
  int exponent;
  if (isnan(x) || isinf(x) || x == 0) return x;
  frexpl(x, &exponent);
  if (exponent - 1 < 1 - bias) exponent = 2 - bias;
  const long double unit = ldexpl(1, exponent - 1 - layout.fraction);
  const long double rounded = copysignl(round_even(fabsl(x) / unit) * unit, x);
  return fabsl(rounded) >= ldexpl(1, bias + 1) ? copysignl(INFINITY, x) : rounded;
}

static bool same(long double a, long double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  return a == b && !signbit(a) == !signbit(b);
}

/* NaN in F16C hardware: sign and top of the payload stay, the quiet bit is set. */
static uint32_t quiet_wide(uint32_t bits, int fraction) {
  const uint32_t payload = (bits % (1u << fraction)) << (23 - fraction);
  return ((bits >> 15) << 31) | 0x7fc00000u | payload;
}

typedef joist_convert_kernel *finder(joist_dtype from, joist_dtype to);
static finder *const finders[] = {joist_convert_find, joist_convert_find_portable};

static void test_every_half(joist_dtype dtype, struct layout layout) {
  enum { ALL = 65536 };
  uint16_t *patterns = malloc(ALL * sizeof *patterns), *back = malloc(ALL * sizeof *back);
  float *wide = malloc(ALL * sizeof *wide);
  double *wider = malloc(ALL * sizeof *wider);
  for (uint32_t i = 0; i < ALL; i++) patterns[i] = (uint16_t)i;
  for (int which = 0; which < 2; which++) {
    finder *find = finders[which];
    find(dtype, JOIST_F32)(ALL, patterns, wide);
    find(dtype, JOIST_F64)(ALL, patterns, wider);
    find(JOIST_F32, dtype)(ALL, wide, back);
    for (uint32_t i = 0; i < ALL; i++) {
      const double want = decode(layout, i);
      const uint16_t quiet = (uint16_t)(i | 1u << (layout.fraction - 1));
      const float one =
          dtype == JOIST_F16 ? narrow_F16_to_f32((uint16_t)i) : narrow_BF16_to_f32((uint16_t)i);
      CHECK_MSG(same(wide[i], want) && same(wider[i], want), "pattern %04x: %g", i,
                (double)wide[i]);
      CHECK_MSG(back[i] == (isnan(want) ? quiet : i), "pattern %04x comes back %04x", i, back[i]);
      CHECK(bits_of_float(one) == bits_of_float(wide[i]));
      if (isnan(want)) CHECK(bits_of_float(wide[i]) == quiet_wide(i, layout.fraction));
    }
    find(JOIST_F64, dtype)(ALL, wider, back);
    for (uint32_t i = 0; i < ALL; i++)
      CHECK(back[i] == (isnan(wide[i]) ? (uint16_t)(i | 1u << (layout.fraction - 1)) : i));
    find(dtype, dtype)(ALL, patterns, back);
    CHECK(memcmp(patterns, back, ALL * sizeof *back) == 0);
  }
  free(patterns);
  free(back);
  free(wide);
  free(wider);
}

/* Rounds f32 and f64 values in all ways, and compares. */
static void check_rounding(joist_dtype dtype, struct layout layout, size_t n, const float *single,
                           const double *wide) {
  uint16_t *from_single = malloc(n * 2), *from_wide = malloc(n * 2);
  for (int which = 0; which < 2; which++) {
    finders[which](JOIST_F32, dtype)(n, single, from_single);
    finders[which](JOIST_F64, dtype)(n, wide, from_wide);
    for (size_t i = 0; i < n; i++) {
      const bool f16 = dtype == JOIST_F16;
      CHECK_MSG(same(decode(layout, from_single[i]), nearest(layout, single[i])), "f32 %a: %04x",
                (double)single[i], from_single[i]);
      CHECK_MSG(same(decode(layout, from_wide[i]), nearest(layout, wide[i])), "f64 %a: %04x",
                wide[i], from_wide[i]);
      CHECK((f16 ? narrow_f32_to_F16(single[i]) : narrow_f32_to_BF16(single[i])) == from_single[i]);
      CHECK((f16 ? narrow_f64_to_F16(wide[i]) : narrow_f64_to_BF16(wide[i])) == from_wide[i]);
      if (isnan(single[i])) {
        const uint32_t bits = bits_of_float(single[i]);
        const uint32_t top = bits % (1u << 23) >> (23 - layout.fraction);
        const uint32_t want = (bits >> 31 << 15) | (f16 ? 0x7e00u : 0x7fc0u) | top;
        CHECK_MSG(from_single[i] == want, "NaN %08x: %04x", bits, from_single[i]);
      }
    }
  }
  free(from_single);
  free(from_wide);
}

static void test_halfway(joist_dtype dtype, struct layout layout) {
  const uint32_t infinity = ((1u << layout.exponent) - 1) << layout.fraction;
  enum { EACH = 8 };
  const size_t n = (size_t)infinity * EACH;
  float *single = malloc(n * sizeof *single);
  double *wide = malloc(n * sizeof *wide);
  for (uint32_t i = 0; i < infinity; i++) {
    const double low = decode(layout, i);
    const double high =
        i + 1 < infinity ? decode(layout, i + 1) : ldexp(1, 1 << (layout.exponent - 1));
    const double middle = low / 2 + high / 2;
    const double sign = i % 2 ? -1 : 1;
    float *s = single + (size_t)i * EACH;
    double *w = wide + (size_t)i * EACH;
    s[0] = (float)middle, s[1] = nextafterf(s[0], 0), s[2] = nextafterf(s[0], INFINITY);
    s[3] = (float)low, s[4] = nextafterf(s[3], 0), s[5] = nextafterf(s[3], INFINITY);
    s[6] = (float)(low + (high - low) / 4), s[7] = (float)(low + (high - low) / 4 * 3);
    /* The neighbours in f64 are ties in f32: rounding twice gets half of them wrong. */
    w[0] = middle, w[1] = nextafter(middle, 0), w[2] = nextafter(middle, INFINITY);
    w[3] = middle * (1 + 0x1p-30), w[4] = middle * (1 - 0x1p-30);
    w[5] = nextafter(low, 0), w[6] = nextafter(low, INFINITY), w[7] = middle + (high - low) / 64;
    for (int k = 0; k < EACH; k++) s[k] *= (float)sign, w[k] *= sign;
  }
  check_rounding(dtype, layout, n, single, wide);
  free(single);
  free(wide);
}

static void test_random(joist_dtype dtype, struct layout layout) {
  enum { MANY = 1000003 }; /* not a multiple of a vector */
  float *single = malloc(MANY * sizeof *single);
  double *wide = malloc(MANY * sizeof *wide);
  for (size_t i = 0; i < MANY; i++) {
    single[i] = float_of((uint32_t)random_bits());
    /* Half of the f64 in the range of f16. */
    wide[i] = i % 2 ? ldexp((double)random_bits(), (int)(random_bits() % 48) - 90)
                    : (double)float_of((uint32_t)random_bits()) * (1 + 0x1p-40);
  }
  check_rounding(dtype, layout, MANY, single, wide);
  free(single);
  free(wide);
}

/* ---- floats of up to a byte ---- */

/* By dtype and code. */
static double byte_values[JOIST_DTYPE_COUNT][256];

static void make_byte_values(void) {
  for (int f = 0; f < BYTE_FORMATS; f++)
    for (int code = 0; code < byte_codes(&byte_formats[f]); code++)
      byte_values[byte_formats[f].dtype][code] = byte_value(&byte_formats[f], code);
}

/* Every code widens to its value, and returns; a NaN keeps its sign if the format has one. */
static void test_every_byte(const struct byte_format *format) {
  const joist_dtype dtype = format->dtype;
  const char *const name = joist_dtype_name(dtype);
  const int codes = byte_codes(format);
  uint8_t all[256], back[256];
  float wide[256];
  double wider[256];
  for (int code = 0; code < codes; code++) all[code] = (uint8_t)code;
  for (int which = 0; which < 2; which++) {
    finder *const find = finders[which];
    find(dtype, JOIST_F32)((size_t)codes, all, wide);
    find(dtype, JOIST_F64)((size_t)codes, all, wider);
    for (int code = 0; code < codes; code++) {
      const double want = byte_values[dtype][code];
      CHECK_MSG(same(wide[code], want) && same(wider[code], want), "%s %02x: %g and %g, not %g",
                name, code, (double)wide[code], wider[code], want);
      if (isnan(want) && format->special != POWERS)
        CHECK_MSG(
            signbit(wide[code]) && signbit(wider[code]) ? code >= codes / 2 : code < codes / 2,
            "%s %02x has another sign", name, code);
    }
    for (int double_too = 0; double_too < 2; double_too++) {
      memset(back, 0x5a, sizeof back);
      if (double_too)
        find(JOIST_F64, dtype)((size_t)codes, wider, back);
      else
        find(JOIST_F32, dtype)((size_t)codes, wide, back);
      for (int code = 0; code < codes; code++) {
        const int quiet = format->special == INFINITE ? 1 << (format->fraction - 1) : 0;
        const int want = isnan(byte_values[dtype][code]) && quiet != 0
                             ? byte_nearest(format, copysignl((long double)NAN, wide[code]))
                             : code;
        CHECK_MSG(back[code] == want, "%s %02x comes back %02x", name, code, back[code]);
      }
    }
    find(dtype, dtype)((size_t)codes, all, back);
    CHECK(memcmp(all, back, (size_t)codes) == 0);
  }
}

/* Where the nearest number changes, next to it, and at random. */
static void test_byte_rounding(const struct byte_format *format) {
  enum { EACH = 8, RANDOM = 5003, MOST = 257 * EACH + RANDOM + 40 };
  static double wide[MOST];
  static float single[MOST];
  static uint8_t from_wide[MOST], from_single[MOST];
  const int largest = byte_largest(format);
  const joist_dtype dtype = format->dtype;
  size_t n = 0;
  for (int code = 0; code <= largest; code++) {
    const double low = byte_number(format, code), high = byte_number(format, code + 1);
    const double middle = (low + high) / 2, sign = code % 2 ? -1 : 1;
    const double points[EACH] = {middle,
                                 nextafter(middle, 0),
                                 nextafter(middle, INFINITY),
                                 middle * (1 + 0x1p-23),
                                 middle * (1 - 0x1p-23),
                                 nextafter(low, 0),
                                 nextafter(low, INFINITY),
                                 middle + (high - low) / 64};
    for (int k = 0; k < EACH; k++) wide[n++] = (format->special == POWERS ? 1 : sign) * points[k];
  }
  const double others[] = {0,        NAN,     INFINITY, FLT_MAX,  DBL_MAX,         DBL_MIN,
                           0x1p-149, 0x1p127, 0x1p128,  1,        0x1.8p127,       0x1p-127,
                           0x1p-150, 1e-300,  1e300,    0x1p-126, 0x1.000002p-127, 0x1.7ffffep127};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    wide[n++] = others[i], wide[n++] = -others[i];
  /* Of the exponents of the format, and a few more. */
  for (int i = 0; i < RANDOM; i++) {
    const int exponent = (int)(random_bits() % (2 * (unsigned)byte_magnitudes(format) + 20)) - 10;
    const double fraction = 1 + (double)(random_bits() >> 12) * 0x1p-52;
    const double value =
        ldexp(fraction, exponent % (1 << format->exponent) - format->bias - format->fraction);
    wide[n++] = i % 2 && format->special != POWERS ? -value : value;
  }
  for (size_t i = 0; i < n; i++) single[i] = (float)wide[i];
  for (int which = 0; which < 2; which++) {
    finders[which](JOIST_F32, dtype)(n, single, from_single);
    finders[which](JOIST_F64, dtype)(n, wide, from_wide);
    for (size_t i = 0; i < n; i++) {
      const int want = byte_nearest(format, wide[i]), short_want = byte_nearest(format, single[i]);
      CHECK_MSG(from_wide[i] == want, "%s of %a: %02x, not %02x", joist_dtype_name(dtype), wide[i],
                from_wide[i], want);
      CHECK_MSG(from_single[i] == short_want, "%s of %a: %02x, not %02x", joist_dtype_name(dtype),
                (double)single[i], from_single[i], short_want);
    }
  }
}

/* An element of any dtype: exact parts. */
struct number {
  long double real, imaginary;
};

static struct number read_element(joist_dtype dtype, const void *element) {
  switch (dtype) {
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return (struct number){(long double)*(const T *)element, 0};
    JOIST_DTYPES_BOOL(X, , )
    JOIST_DTYPES_INT(X, , )
    JOIST_DTYPES_UINT(X, , )
    JOIST_DTYPES_FLOAT(X, , )
    JOIST_DTYPES_BYTE_INT(X, , )
    JOIST_DTYPES_BYTE_UINT(X, , )
#undef X
#define X(ID, KIND, T, FACTS, A, B) \
  case JOIST_##ID:                  \
    return (struct number){byte_values[JOIST_##ID][*(const uint8_t *)element], 0};
    JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X
    case JOIST_F16:
      return (struct number){decode(F16, *(const uint16_t *)element), 0};
    case JOIST_BF16:
      return (struct number){decode(BF16, *(const uint16_t *)element), 0};
    case JOIST_C32:
      return (struct number){decode(F16, ((const uint16_t *)element)[0]),
                             decode(F16, ((const uint16_t *)element)[1])};
    case JOIST_BC32:
      return (struct number){decode(BF16, ((const uint16_t *)element)[0]),
                             decode(BF16, ((const uint16_t *)element)[1])};
    case JOIST_C64:
      return (struct number){((const float *)element)[0], ((const float *)element)[1]};
    default:
      return (struct number){((const double *)element)[0], ((const double *)element)[1]};
  }
}

static long double round_part(joist_dtype real, long double x) {
  if (real == JOIST_F16) return nearest(F16, x);
  if (real == JOIST_BF16) return nearest(BF16, x);
  const struct byte_format *const format = byte_format_of(real);
  if (format != NULL) return byte_values[real][byte_nearest(format, x)];
  return real == JOIST_F32 ? nearest(F32, x) : (long double)(double)x;
}

static struct number reference(joist_dtype from, joist_dtype to, struct number x) {
  const joist_kind kind = joist_dtype_kind(to), source = joist_dtype_kind(from);
  if (kind == JOIST_KIND_BOOL) return (struct number){x.real != 0 || x.imaginary != 0, 0};
  if (kind == JOIST_KIND_FLOAT) return (struct number){round_part(to, x.real), 0};
  if (kind == JOIST_KIND_COMPLEX)
    return (struct number){round_part(joist_dtype_real(to), x.real),
                           round_part(joist_dtype_real(to), x.imaginary)};
  const long double max = (long double)joist_dtype_max_int(to);
  const long double min = (long double)joist_dtype_min_int(to);
  if (source == JOIST_KIND_FLOAT || source == JOIST_KIND_COMPLEX) {
    if (isnan(x.real)) return (struct number){0, 0};
    const long double whole = truncl(x.real);
    return (struct number){(whole > max ? max : whole < min ? min : whole) + 0.0L, 0};
  }
  const long double modulus = ldexpl(1, (int)joist_dtype_bits(to));
  long double wrapped = fmodl(x.real, modulus);
  if (wrapped < 0) wrapped += modulus;
  return (struct number){(wrapped > max ? wrapped - modulus : wrapped) + 0.0L, 0};
}

enum { EXTREMES = 1024 };

/* Elements of `dtype` at the edges of every dtype. */
static size_t extremes(joist_dtype dtype, void *elements) {
  static const double points[] = {0,
                                  1,
                                  2,
                                  3,
                                  0.1,
                                  0.5,
                                  0.99999999,
                                  1.5,
                                  2.5,
                                  100,
                                  126.5,
                                  127,
                                  127.5,
                                  128,
                                  254.99,
                                  255,
                                  255.5,
                                  256,
                                  257,
                                  2047,
                                  2049,
                                  32766.9,
                                  32767,
                                  32768,
                                  65503,
                                  65504,
                                  65519,
                                  65520,
                                  65535,
                                  65536,
                                  65537,
                                  16777215,
                                  16777216,
                                  16777217,
                                  16777219,
                                  2147483520,
                                  2147483647,
                                  2147483647.5,
                                  2147483648.0,
                                  2147483649.0,
                                  4294967040.0,
                                  4294967295.0,
                                  4294967295.5,
                                  4294967296.0,
                                  0x1p53,
                                  0x1p53 + 2,
                                  0x1.fffffep62,
                                  0x1.fffffffffffffp62,
                                  0x1p63,
                                  0x1.fffffep63,
                                  0x1.fffffffffffffp63,
                                  0x1p64,
                                  0x1.ffp127,
                                  0x1.fep127,
                                  0x1.ffffffp127,
                                  FLT_MAX,
                                  DBL_MAX,
                                  1e39,
                                  INFINITY,
                                  NAN,
                                  FLT_MIN,
                                  0x1p-149,
                                  0x1p-150,
                                  0x1.8p-150,
                                  0x1p-133,
                                  0x1p-134,
                                  0x1.8p-134,
                                  0x1p-24,
                                  0x1p-25,
                                  0x1.8p-25,
                                  0x1p-14,
                                  DBL_MIN,
                                  0x1p-1074};
  static const int64_t integers[] = {INT64_MAX,
                                     INT64_MIN,
                                     INT64_MIN + 1,
                                     (1LL << 53) + 1,
                                     -(1LL << 53) - 1,
                                     (1LL << 24) + 1,
                                     (1LL << 62) + (1LL << 38),
                                     (1LL << 62) + (1LL << 38) + 1,
                                     (1LL << 62) + (1LL << 54) + 1,
                                     (1LL << 62) + (1LL << 54),
                                     33685505,
                                     0x010100000000001LL};
  const size_t size = joist_dtype_size(dtype);
  char *out = elements;
  size_t n = 0;
  for (size_t i = 0; i < sizeof points / sizeof *points; i++)
    for (int sign = 0; sign < 2; sign++) {
      const double pair[2] = {sign ? -points[i] : points[i], i % 3 ? 0 : points[(i * 7) % 50]};
      joist_convert_find_portable(JOIST_C128, dtype)(1, pair, out + size * n++);
    }
  for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
    joist_convert_find_portable(JOIST_I64, dtype)(1, &integers[i], out + size * n++);
  for (int bit = 0; bit < 64; bit++)
    for (int64_t near = -1; near <= 1; near++) {
      const uint64_t value = (UINT64_C(1) << bit) + (uint64_t)near;
      joist_convert_find_portable(JOIST_UI64, dtype)(1, &value, out + size * n++);
    }
  for (int i = 0; i < 400; i++) {
    const uint64_t value = random_bits() >> (i % 64);
    joist_convert_find_portable(JOIST_UI64, dtype)(1, &value, out + size * n++);
  }
  return n;
}

static void test_pairs(void) {
  static joist_c128 input[EXTREMES], output[EXTREMES], portable[EXTREMES];
  for (int f = 0; f < JOIST_DTYPE_COUNT; f++)
    for (int t = 0; t < JOIST_DTYPE_COUNT; t++) {
      const joist_dtype from = (joist_dtype)f, to = (joist_dtype)t;
      const size_t n = extremes(from, input), size = joist_dtype_size(to);
      memset(output, 0, sizeof output);
      memset(portable, 0, sizeof portable);
      joist_convert_find(from, to)(n, input, output);
      joist_convert_find_portable(from, to)(n, input, portable);
      CHECK_MSG(memcmp(output, portable, sizeof output) == 0, "%s to %s: paths differ",
                joist_dtype_name(from), joist_dtype_name(to));
      for (size_t i = 0; i < n; i++) {
        const void *in = (const char *)input + i * joist_dtype_size(from);
        const struct number x = read_element(from, in), want = reference(from, to, x);
        const struct number got = read_element(to, (const char *)output + i * size);
        CHECK_MSG(same(got.real, want.real) && same(got.imaginary, want.imaginary),
                  "%s to %s: %La %La gives %La %La, not %La %La", joist_dtype_name(from),
                  joist_dtype_name(to), x.real, x.imaginary, got.real, got.imaginary, want.real,
                  want.imaginary);
      }
      /* In place where sizes are equal; no element is touched past the end. */
      if (size == joist_dtype_size(from)) {
        joist_convert_find(from, to)(n, input, input);
        CHECK(memcmp(input, output, n * size) == 0);
      }
      memset(output, 0x5a, sizeof output);
      joist_convert_find(from, to)(0, input, output);
      CHECK(*(const unsigned char *)output == 0x5a);
    }
}

int main(void) {
  test_every_half(JOIST_F16, F16);
  test_every_half(JOIST_BF16, BF16);
  test_halfway(JOIST_F16, F16);
  test_halfway(JOIST_BF16, BF16);
  test_random(JOIST_F16, F16);
  test_random(JOIST_BF16, BF16);
  make_byte_values();
  for (int f = 0; f < BYTE_FORMATS; f++) {
    test_every_byte(&byte_formats[f]);
    test_byte_rounding(&byte_formats[f]);
  }
#if LDBL_MANT_DIG >= 64
  test_pairs();
#endif
  return check_report("convert");
}
