/* formats.h: what the codes of the floats of up to a byte stand for, and the code that a number
 * rounds to, by looking among all of them. From the formats' definitions: the OCP 8-bit Floating
 * Point and Microscaling Formats (MX) specifications, and ml_dtypes for the others. */
#ifndef JOIST_TESTS_FORMATS_H
#define JOIST_TESTS_FORMATS_H

#include "core/types/dtypes.h"

#include <math.h>
#include <stdint.h>

#include "check.h"

enum special_codes {
  INFINITE, /* an exponent of ones: infinity, and NaN */
  ONES_NAN, /* all ones is NaN, of either sign */
  ZERO_NAN, /* what would be -0 is NaN */
  POWERS,   /* no sign and no zero; all ones is NaN */
  NUMBERS   /* nothing but numbers */
};

struct byte_format {
  joist_dtype dtype;
  int exponent, fraction; /* bits */
  int bias;
  enum special_codes special;
};

static const struct byte_format byte_formats[] = {
    {JOIST_F4E2M1FN, 2, 1, 1, NUMBERS},   {JOIST_F6E2M3FN, 2, 3, 1, NUMBERS},
    {JOIST_F6E3M2FN, 3, 2, 3, NUMBERS},   {JOIST_F8E3M4, 3, 4, 3, INFINITE},
    {JOIST_F8E4M3, 4, 3, 7, INFINITE},    {JOIST_F8E4M3B11FNUZ, 4, 3, 11, ZERO_NAN},
    {JOIST_F8E4M3FN, 4, 3, 7, ONES_NAN},  {JOIST_F8E4M3FNUZ, 4, 3, 8, ZERO_NAN},
    {JOIST_F8E5M2, 5, 2, 15, INFINITE},   {JOIST_F8E5M2FNUZ, 5, 2, 16, ZERO_NAN},
    {JOIST_F8E8M0FNU, 8, 0, 127, POWERS},
};
enum { BYTE_FORMATS = sizeof byte_formats / sizeof *byte_formats };

/* NULL for other dtypes. */
CHECK_UNUSED static const struct byte_format *byte_format_of(joist_dtype dtype) {
  for (int f = 0; f < BYTE_FORMATS; f++)
    if (byte_formats[f].dtype == dtype) return &byte_formats[f];
  return NULL;
}

/* The number of magnitudes, NaN and infinity among them: the codes without a sign. */
CHECK_UNUSED static int byte_magnitudes(const struct byte_format *format) {
  return 1 << (format->exponent + format->fraction);
}

CHECK_UNUSED static int byte_codes(const struct byte_format *format) {
  return (format->special == POWERS ? 1 : 2) * byte_magnitudes(format);
}

/* As if all codes were numbers, which includes the one after the last. */
static double byte_number(const struct byte_format *format, int magnitude) {
  const int exponent = magnitude >> format->fraction;
  const int fraction = magnitude % (1 << format->fraction);
  if (format->special == POWERS) return ldexp(1, exponent - format->bias);
  if (exponent == 0) return ldexp(fraction, 1 - format->bias - format->fraction);
  return ldexp((1 << format->fraction) + fraction, exponent - format->bias - format->fraction);
}

/* The code of the largest finite number. */
CHECK_UNUSED static int byte_largest(const struct byte_format *format) {
  const int magnitudes = byte_magnitudes(format);
  switch (format->special) {
    case INFINITE:
      return magnitudes - (1 << format->fraction) - 1;
    case ONES_NAN:
    case POWERS:
      return magnitudes - 2;
    default:
      return magnitudes - 1;
  }
}

CHECK_UNUSED static double byte_value(const struct byte_format *format, int code) {
  const int magnitudes = byte_magnitudes(format), magnitude = code % magnitudes;
  const double sign = code >= magnitudes ? -1 : 1;
  const int infinity = magnitudes - (1 << format->fraction);
  if (format->special == INFINITE && magnitude >= infinity)
    return copysign(magnitude == infinity ? (double)INFINITY : (double)NAN, sign);
  if (format->special == ZERO_NAN && code == magnitudes) return copysign(NAN, sign);
  if (magnitude > byte_largest(format)) return copysign(NAN, sign);
  return sign * byte_number(format, magnitude);
}

/* The code of the nearest number; of two, of the even one, and of the larger one among powers. */
CHECK_UNUSED static int byte_nearest(const struct byte_format *format, long double x) {
  const int magnitudes = byte_magnitudes(format), largest = byte_largest(format);
  const int sign = signbit(x) ? magnitudes : 0;
  const long double size = fabsl(x);
  if (format->special == POWERS) {
    /* What f32 has as 0 is 0. Between the two smallest, all goes up. */
    if (isnan(x) || !((float)x > 0)) return 0xff;
    if (x <= byte_number(format, 0)) return 0;
    if (x < byte_number(format, 1)) return 1;
  }
  if (isnan(x)) {
    switch (format->special) {
      case INFINITE:
        return sign | (largest + 1) | 1 << (format->fraction - 1);
      case ONES_NAN:
        return sign | (magnitudes - 1);
      case NUMBERS:
        return sign ^ magnitudes; /* as in ml_dtypes */
      default:
        return magnitudes;
    }
  }
  int low = 0;
  while (low < largest && size >= byte_number(format, low + 1)) low++;
  const double middle = (byte_number(format, low) + byte_number(format, low + 1)) / 2;
  const int up = format->special == POWERS ? size >= middle
                                           : size > middle || (size == middle && low % 2 == 1);
  const int nearest = low + up;
  if (nearest <= largest) return format->special == ZERO_NAN && nearest == 0 ? 0 : sign | nearest;
  switch (format->special) {
    case INFINITE:
    case ONES_NAN:
      return sign | nearest; /* infinity, NaN */
    case NUMBERS:
      return sign | largest;
    case POWERS:
      return 0xff;
    default:
      return magnitudes;
  }
}

/* The smallest magnitude that rounds beyond the largest number. */
CHECK_UNUSED static double byte_limit(const struct byte_format *format) {
  const int largest = byte_largest(format);
  const double middle = (byte_number(format, largest) + byte_number(format, largest + 1)) / 2;
  return largest % 2 == 1 || format->special == POWERS ? middle : nextafter(middle, INFINITY);
}

#endif
