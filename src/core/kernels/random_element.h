/* Random numbers of one element, from words of random bits.
 *
 * Straight-line arithmetic in double, without a call to the C library and without fused
 * multiply-adds (the includer sees to that, see vectorize.h): the bits are the same for
 * every instruction set and device. Errors are a few units in the last place of a double. */
#ifndef JOIST_CORE_KERNELS_RANDOM_ELEMENT_H
#define JOIST_CORE_KERNELS_RANDOM_ELEMENT_H

#include "core/kernels/math_f32.h"
#include "core/kernels/philox.h"

/* ---- uniform numbers ---- */

/* An integer below 2^32 as double: the low bits of 2^52, which is then taken away. */
JOIST_INLINE double double_of_word(uint32_t word) {
  return of_bits(UINT64_C(0x4330000000000000) | word) - 0x1p52;
}

/* Multiples of 2^-53 in [0, 1). */
JOIST_INLINE double unit_of_words(uint32_t low, uint32_t high) {
  return double_of_word(high) * 0x1p-32 + double_of_word(low >> 11) * 0x1p-53;
}

/* Multiples of 2^-24 in [0, 1). */
JOIST_INLINE float unit_of_word(uint32_t word) { return (float)(int32_t)(word >> 8) * 0x1p-24f; }

/* Multiples of 2^-bits in [0, 1) from 16 random bits. */
JOIST_INLINE float unit_of_half(uint32_t half, int bits) {
  return (float)(int32_t)(half >> (16 - bits)) * (1.0f / (float)(1 << bits));
}

/* The bits of the next number toward minus infinity of an IEEE 754 format of that width. */
JOIST_INLINE uint64_t next_below(uint64_t bits, unsigned width) {
  const uint64_t sign = UINT64_C(1) << (width - 1);
  if ((bits & ~sign) == 0) return sign | 1;
  return (bits & sign) != 0 ? bits + 1 : bits - 1;
}

/* low (1 - x) + high x, at least low and at most top. */
JOIST_INLINE double between(double low, double high, double top, double x) {
  const double mixed = low * (1.0 - x) + high * x;
  const double raised = mixed < low ? low : mixed;
  return raised > top ? top : raised;
}

/* Whether `between` gives numbers between them. */
JOIST_INLINE bool are_limits(double low, double high) {
  return low <= high && low - low == 0 && high - high == 0;
}

/* ---- normal numbers ---- */

/* The middle of one of 2^64 parts of (0, 1), rounded once; 1 at the upper end. */
JOIST_INLINE double open_unit_of_words(uint32_t low, uint32_t high) {
  return (double_of_word(high) * 0x1p32 + (double_of_word(low) + 0.5)) * 0x1p-64;
}

/* ln x for positive normal x. The series of the area tangent, as far as a double goes. */
JOIST_INLINE double log_fine(double x) {
  double k;
  const double m = split_for_log(x, &k);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 2.0 / 23;
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  /* ln 2 in two parts, so that k times the first is exact */
  return k * 0x1.62e42fefa38p-1 + (s * 2.0 + (s * (z * p) + k * 0x1.ef35793c7673p-45));
}

/* Two independent standard normal numbers from u in (0, 1] and an angle of `quarter` + f
 * right angles, f in [-1/2, 1/2): Box and Muller, Ann. Math. Statist. 29 (1958). */
struct joist_pair {
  double first, second;
};

JOIST_INLINE struct joist_pair normal_pair(double u, uint32_t quarter, double f) {
  const double radius = sqrt(-2.0 * log_fine(u));
  const double x = f * 1.57079632679489661923, z = x * x;
  double s = 1.0 / 355687428096000;
  s = s * z - 1.0 / 1307674368000;
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = x + x * (z * s);
  double c = -1.0 / 6402373705728000;
  c = c * z + 1.0 / 20922789888000;
  c = c * z - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 0.5;
  c = c * z + 1.0;
  const double across = (quarter & 1) != 0 ? s : c, up = (quarter & 1) != 0 ? c : s;
  const uint64_t left = (uint64_t)((quarter + 1) & 2) << 62, down = (uint64_t)(quarter & 2) << 62;
  const struct joist_pair pair = {radius * of_bits(bits_of(across) ^ left),
                                  radius * of_bits(bits_of(up) ^ down)};
  return pair;
}

/* A signed 32-bit integer in two's complement, as double. */
JOIST_INLINE double double_of_signed(uint32_t word) {
  return double_of_word(word ^ 0x80000000u) - 0x1p31;
}

/* The right angle that is next to an angle of `word` / 2^32 of a full turn. */
JOIST_INLINE uint32_t nearest_quarter(uint32_t word) { return (word + 0x20000000u) >> 30; }

/* With 32 bits for the radius and for the angle each: values up to 6.7. */
JOIST_INLINE struct joist_pair normal_narrow(uint32_t radius, uint32_t angle) {
  return normal_pair((double_of_word(radius) + 0.5) * 0x1p-32, nearest_quarter(angle),
                     (double_of_signed(angle << 2) + 2.0) * 0x1p-32);
}

/* With 64 bits each: values up to 9.5. */
JOIST_INLINE struct joist_pair normal_wide(uint32_t radius_low, uint32_t radius_high,
                                           uint32_t angle_low, uint32_t angle_high) {
  const double f = double_of_signed(angle_high << 2 | angle_low >> 30) * 0x1p-32 +
                   (double_of_word(angle_low << 2) + 2.0) * 0x1p-64;
  return normal_pair(open_unit_of_words(radius_low, radius_high), nearest_quarter(angle_high), f);
}

#define PART_SD 0.70710678118654752440 /* of the parts of a complex number of variance 1 */

JOIST_INLINE bool is_deviation(double sd) { return sd >= 0 && sd < (double)INFINITY; }

/* ---- integers ---- */

/* The high half of a 128-bit product, in halves of the factors. */
JOIST_INLINE uint64_t multiply_high_portable(uint64_t a, uint64_t b) {
  const uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu);
  const uint64_t one = (a >> 32) * (b & 0xffffffffu), other = (a & 0xffffffffu) * (b >> 32);
  const uint64_t middle = (low >> 32) + (one & 0xffffffffu) + (other & 0xffffffffu);
  return (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32) + (middle >> 32);
}

JOIST_INLINE uint64_t multiply_high(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 product;
  return (uint64_t)((product)a * b >> 64);
#else
  return multiply_high_portable(a, b);
#endif
}

/* Whole numbers in two's complement, of which `span` + 1 follow `low`. */
struct joist_range {
  uint64_t low, span;
};

/* Whole numbers from `smallest` to `largest`, as those that a dtype has all of. */
struct joist_whole {
  int64_t smallest;
  uint64_t largest;
};

/* A limit of a range, in two's complement; false when it is not among the whole numbers. */
JOIST_INLINE bool whole_of_unsigned(uint64_t given, struct joist_whole whole, uint64_t *limit) {
  *limit = given;
  return given <= whole.largest && (whole.smallest <= 0 || given >= (uint64_t)whole.smallest);
}
JOIST_INLINE bool whole_of_signed(int64_t given, struct joist_whole whole, uint64_t *limit) {
  *limit = (uint64_t)given;
  return given >= whole.smallest && (given < 0 || *limit <= whole.largest);
}
JOIST_INLINE bool whole_of_double(double given, struct joist_whole whole, uint64_t *limit) {
  *limit = 0;
  if (!(given == floor(given)) || !(given >= (double)whole.smallest) || !(given < 0x1p64))
    return false;
  *limit = given < 0 ? (uint64_t)(int64_t)given : (uint64_t)given;
  return given < 0 || *limit <= whole.largest;
}

/* A number from 0 to `span`, each equally likely: the high half of the product of random
 * bits and the number of values, redrawn where its low half is among those left over.
 * Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019). */
JOIST_INLINE uint64_t below_narrow(const struct joist_stream *stream, uint64_t element,
                                   uint32_t bits, uint64_t span) {
  const uint64_t values = span + 1;
  uint64_t product = bits * values;
  if ((uint32_t)product < values) {
    const uint64_t left_over = (UINT64_C(1) << 32) % values;
    for (uint32_t attempt = 1; (uint32_t)product < left_over; attempt++)
      product = element_block(stream, element, attempt).word[0] * values;
  }
  return product >> 32;
}

JOIST_INLINE uint64_t below_wide(const struct joist_stream *stream, uint64_t element, uint64_t bits,
                                 uint64_t span) {
  const uint64_t values = span + 1;
  if (values == 0) return bits;
  if (bits * values < values) {
    const uint64_t left_over = (0 - values) % values;
    for (uint32_t attempt = 1; bits * values < left_over; attempt++) {
      const struct joist_block block = element_block(stream, element, attempt);
      bits = wide_word(block.word[0], block.word[1]);
    }
  }
  return multiply_high(bits, values);
}

#endif
