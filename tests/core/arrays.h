/* arrays.h: random elements of every dtype, and comparing elements, for the C tests of the
 * kernels and the engine. */
#ifndef JOIST_TESTS_ARRAYS_H
#define JOIST_TESTS_ARRAYS_H

#include "core/kernels/kernels.h"
#include "core/promotion/builtin_rules.h"
#include "core/types/convert.h"

#include "errors.h"
#include "formats.h"
#include "patterns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* 0 .. n - 1 */
CHECK_UNUSED static size_t random_below(size_t n) { return (size_t)((random_bits() >> 16) % n); }
CHECK_UNUSED static bool one_in(size_t n) { return random_below(n) == 0; }

typedef enum { FILL_SMALL, FILL_BITS, FILL_EXTREME, FILL_COUNT } fill_kind;

/* One part of a number that is interesting for some dtype. */
static double extreme_part(void) {
  static const double points[] = {0.0,
                                  -0.0,
                                  1,
                                  -1,
                                  2,
                                  -2,
                                  3,
                                  -3,
                                  0.5,
                                  -0.5,
                                  1.5,
                                  2.5,
                                  -2.5,
                                  7,
                                  8,
                                  -8,
                                  15,
                                  16,
                                  31,
                                  32,
                                  33,
                                  63,
                                  64,
                                  65,
                                  127,
                                  128,
                                  -128,
                                  -129,
                                  255,
                                  256,
                                  32767,
                                  -32768,
                                  65535,
                                  65504,
                                  2147483647,
                                  -2147483648.0,
                                  4294967295.0,
                                  0x1p53,
                                  -0x1p63,
                                  0x1.fffffffffffffp62,
                                  0x1p63,
                                  0x1p64,
                                  1e30,
                                  FLT_MAX,
                                  -FLT_MAX,
                                  DBL_MAX,
                                  DBL_MIN,
                                  FLT_MIN,
                                  0x1p-1074,
                                  0x1p-149,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  0.1,
                                  M_PI,
                                  -M_PI};
  return points[random_below(sizeof points / sizeof *points)];
}

/* The element of a dtype of one byte whose lowest bits are given: a signed one has copies of its
 * sign above them, others zeros. */
CHECK_UNUSED static uint8_t byte_of_bits(joist_dtype dtype, uint8_t bits) {
  const unsigned low = (1u << joist_dtype_bits(dtype)) - 1, sign = low - low / 2;
  const bool negative = joist_dtype_kind(dtype) == JOIST_KIND_INT && (bits & sign) != 0;
  return (uint8_t)((bits & low) | (negative ? ~low : 0));
}

/* Fills n elements. Small values are whole or halves, near zero. */
CHECK_UNUSED static void fill(joist_dtype dtype, size_t n, fill_kind kind, void *out) {
  const size_t size = joist_dtype_size(dtype);
  const joist_kind class = joist_dtype_kind(dtype);
  for (size_t i = 0; i < n; i++) {
    char *const at = (char *)out + i * size;
    const uint64_t bits = random_bits(), more = random_bits();
    double parts[2];
    switch (kind) {
      case FILL_SMALL:
        for (int p = 0; p < 2; p++) parts[p] = ((double)random_below(41) - 20) / 2;
        if (class == JOIST_KIND_UINT || class == JOIST_KIND_BOOL) parts[0] = (double)(bits % 14);
        if (class == JOIST_KIND_BOOL) parts[0] = (double)(bits >> 20 & 1);
        joist_convert_find_portable(JOIST_C128, dtype)(1, parts, at);
        break;
      case FILL_EXTREME:
        /* Half of the integers by their bits, because a double cannot hold all of them. */
        if ((class == JOIST_KIND_INT || class == JOIST_KIND_UINT) && bits % 2) {
          const uint64_t edge = (UINT64_C(1) << (more % 64)) - (more >> 60) % 3;
          joist_convert_find_portable(JOIST_UI64, dtype)(1, &edge, at);
          break;
        }
        for (int p = 0; p < 2; p++) parts[p] = extreme_part();
        joist_convert_find_portable(JOIST_C128, dtype)(1, parts, at);
        break;
      default:
        memcpy(at, &bits, size < 8 ? size : 8);
        if (size == 16) memcpy(at + 8, &more, 8);
        if (size == 1) *(unsigned char *)at = byte_of_bits(dtype, *(unsigned char *)at);
    }
  }
}

/* Operations that fail for some operands of an integer dtype. */
CHECK_UNUSED static bool is_checked(joist_op op) {
  return op == JOIST_OP_POW || op == JOIST_OP_DIV || op == JOIST_OP_FLOORDIV ||
         op == JOIST_OP_MOD || op == JOIST_OP_REMAINDER;
}

/* Whether two elements are the same: the same bits, or NaN in the same parts, or the zeros of both
 * signs that NaN becomes in a dtype without it. Which NaN an operation on two of them gives, C
 * leaves to the compiler. */
CHECK_UNUSED static bool same_element(joist_dtype dtype, const void *a, const void *b) {
  const size_t size = joist_dtype_size(dtype);
  if (memcmp(a, b, size) == 0) return true;
  if (joist_dtype_kind(dtype) != JOIST_KIND_FLOAT && joist_dtype_kind(dtype) != JOIST_KIND_COMPLEX)
    return false;
  const joist_dtype real = joist_dtype_real(dtype);
  const size_t part = joist_dtype_size(real);
  for (size_t at = 0; at < size; at += part) {
    double x, y;
    const char *const p = (const char *)a + at, *const q = (const char *)b + at;
    joist_convert_find_portable(real, JOIST_F64)(1, p, &x);
    joist_convert_find_portable(real, JOIST_F64)(1, q, &y);
    const bool zeros = x == 0 && y == 0 && !joist_dtype_has_nan(real);
    if (memcmp(p, q, part) != 0 && !(isnan(x) && isnan(y)) && !zeros) return false;
  }
  return true;
}

/* Index of the first element that differs, or n. */
CHECK_UNUSED static size_t first_difference(joist_dtype dtype, size_t n, const void *a,
                                            const void *b) {
  const size_t size = joist_dtype_size(dtype);
  if (n == 0 || memcmp(a, b, n * size) == 0) return n;
  for (size_t i = 0; i < n; i++)
    if (!same_element(dtype, (const char *)a + i * size, (const char *)b + i * size)) return i;
  return n;
}

/* An element as text, in hexadecimal, for messages. */
CHECK_UNUSED static const char *element_text(joist_dtype dtype, const void *element,
                                             char text[64]) {
  double parts[2];
  int64_t integer;
  if (joist_dtype_category(dtype) >= JOIST_CATEGORY_FLOAT) {
    joist_convert_find_portable(dtype, JOIST_C128)(1, element, parts);
    snprintf(text, 64, "%a%+ai", parts[0], parts[1]);
  } else {
    joist_convert_find_portable(dtype, JOIST_I64)(1, element, &integer);
    snprintf(text, 64, "%lld", (long long)integer);
  }
  return text;
}

/* Half the distance from 1 to the next number. */
CHECK_UNUSED static double half_unit(joist_dtype real) {
  const struct byte_format *const format = byte_format_of(real);
  if (format != NULL) return ldexp(0.5, -format->fraction);
  switch (real) {
    case JOIST_F16:
      return 0x1p-11;
    case JOIST_BF16:
      return 0x1p-8;
    case JOIST_F32:
      return 0x1p-24;
    default:
      return 0x1p-53;
  }
}

/* Dtypes of up to a byte that are computed in another one. */
CHECK_UNUSED static bool is_small(joist_dtype dtype) {
  return joist_dtype_bits(dtype) <= 8 && joist_dtype_compute(dtype) != dtype;
}

/* Whether a result that was computed as `want` is one that its dtype has no number for, up to an
 * error of `unsure`; then `right` says whether it has what it should have instead. */
CHECK_UNUSED static bool lacks_number(joist_dtype real, long double want, long double unsure,
                                      long double got, bool *right) {
  const struct byte_format *const format = byte_format_of(real);
  *right = isnan(got);
  if (isnan(want)) {
    if (format != NULL && format->special == NUMBERS) *right = got == 0;
    return true;
  }
  if (format == NULL || format->special != POWERS || want > unsure) return false;
  *right |= want >= -unsure;
  return true;
}

/* The smallest positive number of a dtype's parts, or a bit more. */
CHECK_UNUSED static double smallest_number(joist_dtype real) {
  const struct byte_format *const format = byte_format_of(real);
  if (format != NULL) return byte_number(format, format->special == POWERS ? 0 : 1);
  return real == JOIST_F16 ? 0x1p-24 : real == JOIST_F64 ? 0x1p-1074 : 0x1p-133;
}

#endif
