/* Which results of integer operations do not fit their dtype: the functions of the WRAPS lines of
 * ops.def. C and C++ of a device read this header. */
#ifndef JOIST_CORE_KERNELS_WRAPS_H
#define JOIST_CORE_KERNELS_WRAPS_H

#include <math.h>
#include <stdint.h>

#include "core/base/target.h"

/* A product of 64 bits: whether the exact one needs more. */
#if defined __GNUC__ && !defined __CUDACC__
static inline int64_t product_wraps_ui64(uint64_t a, uint64_t b) {
  return __builtin_mul_overflow(a, b, &a);
}
static inline int64_t product_wraps_i64(int64_t a, int64_t b) {
  return __builtin_mul_overflow(a, b, &a);
}
#else
JOIST_DEVICE static inline int product_wraps_ui64(uint64_t a, uint64_t b) {
  const uint64_t low = 0xffffffffu;
  const uint64_t a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  if (a1 == 0 && b1 == 0) return 0;
  if (a1 != 0 && b1 != 0) return 1;
  const uint64_t middle = a1 * b0 + a0 * b1; /* one of the two is 0 */
  return (middle >> 32) != 0 || (middle << 32) + a0 * b0 < a0 * b0;
}
JOIST_DEVICE static inline int product_wraps_i64(int64_t a, int64_t b) {
  const uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  const uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  const uint64_t most = ((uint64_t)1 << 63) - ((a < 0) == (b < 0));
  return product_wraps_ui64(x, y) || x * y > most;
}
#endif
/* What is lost of products of 16 bits, or only whether anything is: halves for which vector code
 * has instructions. */
JOIST_DEVICE static inline uint16_t product_may_wrap_i16(int16_t a, int16_t b) {
  const int16_t high = (int16_t)(((int32_t)a * b) >> 16), low = (int16_t)((int32_t)a * b);
  return (uint16_t)(high ^ (int16_t)(low >> 15));
}
JOIST_DEVICE static inline uint16_t product_may_wrap_ui16(uint16_t a, uint16_t b) {
  return (uint16_t)(((uint32_t)a * b) >> 16);
}
/* These are counted in numbers of the type they return, that of the exact product where vector code
 * is faster so. What is lost of products of i32 is 0 or at least 2^32, and floats round both terms
 * by far less. */
JOIST_DEVICE static inline int32_t product_wraps_i32(int32_t a, int32_t b) {
  const float kept = (float)(int32_t)((uint32_t)a * (uint32_t)b);
  return fabsf((float)a * (float)b - kept) > 0x1p31f;
}
JOIST_DEVICE static inline int64_t product_wraps_ui32(uint32_t a, uint32_t b) {
  return (uint64_t)a * b > UINT32_MAX;
}
JOIST_DEVICE static inline int16_t product_wraps_i16(int16_t a, int16_t b) {
  return product_may_wrap_i16(a, b) != 0;
}
JOIST_DEVICE static inline int16_t product_wraps_ui16(uint16_t a, uint16_t b) {
  return product_may_wrap_ui16(a, b) != 0;
}
JOIST_DEVICE static inline int16_t product_wraps_i8(int8_t a, int8_t b) {
  return (uint16_t)(a * b + 0x80) > 0xff;
}
JOIST_DEVICE static inline int16_t product_wraps_ui8(uint8_t a, uint8_t b) {
  return (uint16_t)(a * b) > 0xff;
}
/* Quick, for vector code: bits of many products, joined by |, and whether they say that one of the
 * products wraps. Some say so of others, close to the bounds: products of 32 bits as floats and
 * those of 64 bits as doubles round them. */
JOIST_DEVICE static inline uint16_t product_may_wrap_i8(int8_t a, int8_t b) {
  return (uint16_t)((uint16_t)(int16_t)(a * b) + 0x80u);
}
JOIST_DEVICE static inline int product_holds_i8(uint16_t bits) { return bits >> 8 != 0; }
JOIST_DEVICE static inline uint16_t product_may_wrap_ui8(uint8_t a, uint8_t b) {
  return (uint16_t)(a * b);
}
JOIST_DEVICE static inline int product_holds_ui8(uint16_t bits) { return bits >> 8 != 0; }
JOIST_DEVICE static inline int product_holds_i16(uint16_t bits) { return bits != 0; }
JOIST_DEVICE static inline int product_holds_ui16(uint16_t bits) { return bits != 0; }
JOIST_DEVICE static inline uint32_t product_may_wrap_i32(int32_t a, int32_t b) {
  const float product = (float)a * (float)b;
  return (product >= 0x1.fffffp30f) | (product <= -0x1.fffffp30f);
}
JOIST_DEVICE static inline int product_holds_i32(uint32_t bits) { return bits != 0; }
#ifdef __AVX512F__ /* which has an instruction for the conversion */
JOIST_DEVICE static inline uint32_t product_may_wrap_ui32(uint32_t a, uint32_t b) {
  return (float)a * (float)b >= 0x1.fffffp31f;
}
JOIST_DEVICE static inline int product_holds_ui32(uint32_t bits) { return bits != 0; }
#else
JOIST_DEVICE static inline uint64_t product_may_wrap_ui32(uint32_t a, uint32_t b) {
  return (uint64_t)a * b;
}
JOIST_DEVICE static inline int product_holds_ui32(uint64_t bits) { return bits >> 32 != 0; }
#endif
/* An integer of 64 bits, of which `sign` has the sign bit, as the nearest double: its halves are
 * the low bits of 2^84 and of 2^52, from which `base` is subtracted. */
JOIST_DEVICE static inline double double_of_halves(uint64_t a, uint64_t sign, double base) {
  union {
    uint64_t bits;
    double value;
  } high, low;
  high.bits = ((a ^ sign) >> 32) | 0x4530000000000000u;
  low.bits = (a & 0xffffffffu) | 0x4330000000000000u;
  return (high.value - base) + low.value;
}
JOIST_DEVICE static inline uint64_t product_may_wrap_i64(int64_t a, int64_t b) {
  const uint64_t sign = (uint64_t)1 << 63;
  const double base = 0x1p84 + 0x1p63 + 0x1p52;
  const double product =
      double_of_halves((uint64_t)a, sign, base) * double_of_halves((uint64_t)b, sign, base);
  return (product >= 0x1.fffffffffffep62) | (product <= -0x1.fffffffffffep62);
}
JOIST_DEVICE static inline int product_holds_i64(uint64_t bits) { return bits != 0; }
JOIST_DEVICE static inline uint64_t product_may_wrap_ui64(uint64_t a, uint64_t b) {
  const double base = 0x1p84 + 0x1p52;
  return double_of_halves(a, 0, base) * double_of_halves(b, 0, base) >= 0x1.fffffffffffep63;
}
JOIST_DEVICE static inline int product_holds_ui64(uint64_t bits) { return bits != 0; }

JOIST_DEVICE static inline uint64_t magnitude_of_int(int64_t a) {
  return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}
JOIST_DEVICE static inline uint64_t magnitude_of_uint(uint64_t a) { return a; }
/* Whether a^b of magnitudes is more than `most`. */
JOIST_DEVICE static inline int power_exceeds(uint64_t a, uint64_t b, uint64_t most) {
  if (a <= 1) return 0;
  uint64_t power = 1;
  for (; b > 0; b--) {
    if (power > most / a) return 1;
    power *= a;
  }
  return 0;
}
/* In a signed dtype of so many digits; negative exponents fail. */
JOIST_DEVICE static inline int power_wraps_int(int64_t a, int64_t b, int digits) {
  const uint64_t most = ((uint64_t)1 << digits) - 1 + (a < 0 && (b & 1) != 0);
  return b > 0 && power_exceeds(magnitude_of_int(a), (uint64_t)b, most);
}
JOIST_DEVICE static inline int power_wraps_uint(uint64_t a, uint64_t b, int digits) {
  return power_exceeds(a, b, ~(uint64_t)0 >> (64 - digits));
}
#define JOIST_POWERS(NAME, TYPE, KIND, WIDE, DIGITS)                  \
  JOIST_DEVICE static inline int power_wraps_##NAME(TYPE a, TYPE b) { \
    return power_wraps_##KIND((WIDE)a, (WIDE)b, DIGITS);              \
  }
JOIST_POWERS(i8, int8_t, int, int64_t, 7)
JOIST_POWERS(i16, int16_t, int, int64_t, 15)
JOIST_POWERS(i32, int32_t, int, int64_t, 31)
JOIST_POWERS(i64, int64_t, int, int64_t, 63)
JOIST_POWERS(ui8, uint8_t, uint, uint64_t, 8)
JOIST_POWERS(ui16, uint16_t, uint, uint64_t, 16)
JOIST_POWERS(ui32, uint32_t, uint, uint64_t, 32)
JOIST_POWERS(ui64, uint64_t, uint, uint64_t, 64)
#undef JOIST_POWERS

#ifndef __CUDACC__
/* a^b for |a| beyond limit[b] is more than the greatest value of a dtype of so many digits; the
 * last limit, 1, is the limit of all greater exponents, too. X(digits) */
#define JOIST_POWER_DIGITS(X) X(7) X(8) X(15) X(16) X(31) X(32) X(63) X(64)
static const uint64_t power_limit_7[] = {127, 127, 11, 5, 3, 2, 2, 1};
static const uint64_t power_limit_8[] = {255, 255, 15, 6, 3, 3, 2, 2, 1};
static const uint64_t power_limit_15[] = {32767, 32767, 181, 31, 13, 7, 5, 4,
                                          3,     3,     2,   2,  2,  2, 2, 1};
static const uint64_t power_limit_16[] = {65535, 65535, 255, 40, 15, 9, 6, 4, 3,
                                          3,     3,     2,   2,  2,  2, 2, 1};
static const uint64_t power_limit_31[] = {
    INT32_MAX, INT32_MAX, 46340, 1290, 215, 73, 35, 21, 14, 10, 8, 7, 5, 5, 4, 4,
    3,         3,         3,     3,    2,   2,  2,  2,  2,  2,  2, 2, 2, 2, 2, 1};
static const uint64_t power_limit_32[] = {
    UINT32_MAX, UINT32_MAX, 65535, 1625, 255, 84, 40, 23, 15, 11, 9, 7, 6, 5, 4, 4, 3,
    3,          3,          3,     3,    2,   2,  2,  2,  2,  2,  2, 2, 2, 2, 2, 1};
static const uint64_t power_limit_63[] = {
    INT64_MAX, INT64_MAX, 3037000499u, 2097151, 55108, 6208, 1448, 511, 234, 127, 78, 52, 38,
    28,        22,        18,          15,      13,    11,   9,    8,   7,   7,   6,  6,  5,
    5,         5,         4,           4,       4,     4,    3,    3,   3,   3,   3,  3,  3,
    3,         2,         2,           2,       2,     2,    2,    2,   2,   2,   2,  2,  2,
    2,         2,         2,           2,       2,     2,    2,    2,   2,   2,   2,  1};
static const uint64_t power_limit_64[] = {
    UINT64_MAX, UINT64_MAX, 4294967295u, 2642245, 65535, 7131, 1625, 565, 255, 138, 84, 56, 40,
    30,         23,         19,          15,      13,    11,   10,   9,   8,   7,   6,  6,  5,
    5,          5,          4,           4,       4,     4,    3,    3,   3,   3,   3,  3,  3,
    3,          3,          2,           2,       2,     2,    2,    2,   2,   2,   2,  2,  2,
    2,          2,          2,           2,       2,     2,    2,    2,   2,   2,   2,  2,  1};
#define JOIST_POWERS(NAME, TYPE, KIND, WIDE, DIGITS)                          \
  static inline int power_may_wrap_##NAME(TYPE a, TYPE b) {                   \
    return magnitude_of_##KIND((WIDE)a) >                                     \
           power_limit_##DIGITS[(uint64_t)b < DIGITS ? (uint64_t)b : DIGITS]; \
  }
JOIST_POWERS(i8, int8_t, int, int64_t, 7)
JOIST_POWERS(i16, int16_t, int, int64_t, 15)
JOIST_POWERS(i32, int32_t, int, int64_t, 31)
JOIST_POWERS(i64, int64_t, int, int64_t, 63)
JOIST_POWERS(ui8, uint8_t, uint, uint64_t, 8)
JOIST_POWERS(ui16, uint16_t, uint, uint64_t, 16)
JOIST_POWERS(ui32, uint32_t, uint, uint64_t, 32)
JOIST_POWERS(ui64, uint64_t, uint, uint64_t, 64)
#undef JOIST_POWERS
#endif

#endif
