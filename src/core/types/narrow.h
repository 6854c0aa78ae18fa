/* The floats that are stored in few bits, to and from f32 and f64, one value at a time, for any
 * loop to inline.
 *
 * No branches, no tables, no lane crosses another: compilers vectorise loops around
 * these. Bits equal those of F16C hardware, NaN included: it comes out quiet, with the
 * top bits of its payload. No subnormal f32 is ever an operand, so flush-to-zero modes
 * change nothing. Rounding is to nearest, ties to even. Knows nothing else. */
#ifndef JOIST_CORE_TYPES_NARROW_H
#define JOIST_CORE_TYPES_NARROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/base/target.h"
#include "core/types/dtypes.def"

JOIST_DEVICE static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

JOIST_DEVICE static inline float float_from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

JOIST_DEVICE static inline float narrow_F16_to_f32(uint16_t bits) {
  const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
  /* Signed, as baseline x86 compares signed vectors only. */
  const int32_t magnitude = bits & 0x7fff;
  const uint32_t rebias = 112u << 23; /* exponent bias 127 of f32 less 15 of f16 */
  const uint32_t normal = ((uint32_t)magnitude << 13) + rebias;
  const uint32_t special = (normal + rebias) | (magnitude > 0x7c00 ? 0x00400000u : 0u);
  const uint32_t subnormal = float_bits((float)magnitude * 0x1p-24f);
  uint32_t result = magnitude < 0x0400 ? subnormal : normal;
  result = magnitude >= 0x7c00 ? special : result;
  return float_from_bits(sign | result);
}

JOIST_DEVICE static inline uint16_t narrow_f32_to_F16(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const int32_t magnitude = (int32_t)(bits & 0x7fffffffu);
  const uint32_t quiet = 0x7e00u | (((uint32_t)magnitude >> 13) & 0x3ffu);
  /* Adding just under half a unit, and one more where the last bit kept is odd,
   * rounds to even; a carry moves on into the exponent, as it must. */
  const uint32_t normal =
      ((uint32_t)magnitude + 0xfffu + (((uint32_t)magnitude >> 13) & 1u) - (112u << 23)) >> 13;
  /* The unit in the last place of 0.5f is 2^-24, the unit of a subnormal f16: the
   * addition rounds. */
  const float small = float_from_bits(magnitude < 0x38800000 ? (uint32_t)magnitude : 0u);
  const uint32_t subnormal = float_bits(small + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000 ? subnormal : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00u : result; /* 65520, half way past 65504 */
  result = magnitude > 0x7f800000 ? quiet : result;
  return (uint16_t)(sign | result);
}

JOIST_DEVICE static inline float narrow_BF16_to_f32(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  const uint32_t quiet = (wide & 0x7fffffffu) > 0x7f800000u ? 0x00400000u : 0u;
  return float_from_bits(wide | quiet);
}

JOIST_DEVICE static inline uint16_t narrow_f32_to_BF16(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const int32_t magnitude = (int32_t)(bits & 0x7fffffffu);
  return (uint16_t)(magnitude > 0x7f800000 ? (bits >> 16) | 0x40u : rounded);
}

/* ---- floats of up to a byte ----
 *
 * A format has `digits` binary digits with the implied one, and a smallest positive value of
 * 2^least. These functions are the same for all; constants fold them to one each. What overflows
 * becomes infinity, or else NaN, or the largest value if the format lacks both; a format without
 * NaN gives zero for it, of the other sign, as ml_dtypes does. */
JOIST_DEVICE static inline float narrow_byte_to_f32(uint32_t code, unsigned bits, int digits,
                                                    int least, joist_special special) {
  const uint32_t sign_bit = 1u << (bits - 1);
  const uint32_t shift = (uint32_t)(24 - digits);
  if (special == JOIST_SPECIAL_FNU) { /* the exponent of f32, but for the smallest and NaN */
    const uint32_t number = code == 0 ? 0x00400000u : code << 23;
    return float_from_bits(code == 0xff ? 0x7fc00000u : number);
  }
  const uint32_t sign = (code & sign_bit) << (32 - bits);
  const int32_t magnitude = (int32_t)(code & (sign_bit - 1));
  /* The exponent field is 1 for 2^(least + digits - 1), which has 127 + that in f32. */
  const uint32_t rebias = (uint32_t)(127 + least + digits - 2) << 23;
  const uint32_t normal = ((uint32_t)magnitude << shift) + rebias;
  const float unit = float_from_bits((uint32_t)(127 + least) << 23);
  const uint32_t subnormal = float_bits((float)magnitude * unit);
  uint32_t result = magnitude < (1 << (digits - 1)) ? subnormal : normal;
  if (special == JOIST_SPECIAL_IEEE) {
    const int32_t infinity = (int32_t)(sign_bit - (1u << (digits - 1)));
    const uint32_t beyond = magnitude > infinity ? 0x7fc00000u : 0x7f800000u;
    result = magnitude >= infinity ? beyond | ((uint32_t)(magnitude - infinity) << shift) : result;
  }
  if (special == JOIST_SPECIAL_FN)
    result = magnitude == (int32_t)(sign_bit - 1) ? 0x7fc00000u : result;
  result |= sign;
  if (special == JOIST_SPECIAL_FNUZ) result = code == sign_bit ? 0xffc00000u : result;
  return float_from_bits(result);
}

JOIST_DEVICE static inline uint32_t narrow_f32_to_byte(float value, unsigned bits, int digits,
                                                       int least, float largest,
                                                       joist_special special) {
  const uint32_t word = float_bits(value);
  const int32_t magnitude = (int32_t)(word & 0x7fffffffu);
  const uint32_t sign_bit = 1u << (bits - 1);
  if (special == JOIST_SPECIAL_FNU) {
    /* Half way goes up; so does all between the two smallest, as in ml_dtypes. */
    const uint32_t up = ((uint32_t)magnitude + 0x00400000u) >> 23;
    const uint32_t number = magnitude <= 0x00400000 ? 0 : up;
    const int bad = ((int32_t)word <= 0) | (magnitude >= 0x7f400000);
    return bad ? 0xffu : number;
  }
  const uint32_t sign = (word >> 31) << (bits - 1);
  const uint32_t shift = (uint32_t)(24 - digits);
  const uint32_t rebias = (uint32_t)(127 + least + digits - 2) << 23;
  const int32_t least_normal = (127 + least + digits - 1) << 23;
  const uint32_t half = (1u << (shift - 1)) - 1;
  const uint32_t normal =
      ((uint32_t)magnitude + half + (((uint32_t)magnitude >> shift) & 1u) - rebias) >> shift;
  /* The unit in the last place of 2^(least + 23) is 2^least: the addition rounds. */
  const uint32_t rounder = (uint32_t)(127 + least + 23) << 23;
  const float small = float_from_bits(magnitude < least_normal ? (uint32_t)magnitude : 0u);
  const uint32_t subnormal = float_bits(small + float_from_bits(rounder)) - rounder;
  uint32_t result = magnitude < least_normal ? subnormal : normal;
  /* From half a unit in the last place above the largest value on; a tie goes to the even one. */
  const uint32_t top = float_bits(largest), odd = (top >> shift) & 1u;
  const int32_t overflow = (int32_t)(top + (1u << (shift - 1)) + (odd ? 0u : 1u));
  const uint32_t largest_code = (uint32_t)(top - rebias) >> shift;
  const uint32_t nan =
      special == JOIST_SPECIAL_IEEE ? (largest_code + 1) | (1u << (digits - 2)) : sign_bit - 1;
  const uint32_t beyond = special == JOIST_SPECIAL_IEEE     ? largest_code + 1
                          : special == JOIST_SPECIAL_FINITE ? largest_code
                                                            : nan;
  result = magnitude >= overflow ? beyond : result;
  if (special == JOIST_SPECIAL_FNUZ) {
    const int is_nan = magnitude >= overflow;
    return is_nan ? sign_bit : result == 0 ? 0u : sign | result;
  }
  if (special == JOIST_SPECIAL_FINITE)
    return magnitude > 0x7f800000 ? sign ^ sign_bit : sign | result;
  return sign | (magnitude > 0x7f800000 ? nan : result);
}

/* narrow_bits_ID() gives the byte as a word: compilers vectorise loops over words only. */
#define X(ID, KIND, T, FACTS, A, B)                                                    \
  JOIST_DEVICE static inline float narrow_##ID##_to_f32(T code) {                      \
    return narrow_byte_to_f32(code, (JOIST_BITS_IN FACTS), (JOIST_DIGITS_IN FACTS),    \
                              (JOIST_LEAST_IN FACTS), (JOIST_SPECIAL_IN FACTS));       \
  }                                                                                    \
  JOIST_DEVICE static inline uint32_t narrow_bits_##ID(float value) {                  \
    return narrow_f32_to_byte(value, (JOIST_BITS_IN FACTS), (JOIST_DIGITS_IN FACTS),   \
                              (JOIST_LEAST_IN FACTS), (float)(JOIST_LARGEST_IN FACTS), \
                              (JOIST_SPECIAL_IN FACTS));                               \
  }                                                                                    \
  JOIST_DEVICE static inline T narrow_f32_to_##ID(float value) {                       \
    return (T)narrow_bits_##ID(value);                                                 \
  }
JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X

/* An f32 that rounds to a narrower float as the f64 does. Rounding to odd (drop bits, then
 * set the last bit kept if any was set) makes a second rounding harmless when two or
 * more bits lie between: Boldo and Melquiond, "Emulation of FMA and correctly rounded
 * sums", IEEE Trans. Comput. 57 (2008). 14 bits of fraction are enough for f16 (10),
 * and few enough to be exact in f32 down to 2^-134, half the smallest bf16. */
JOIST_DEVICE static inline float narrow_f64_to_odd_f32(double value) {
  const uint64_t dropped = (UINT64_C(1) << 38) - 1;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = (bits | ((bits & dropped) + dropped)) & ~dropped;
  memcpy(&value, &bits, sizeof value);
  return (float)value;
}

/* An f64 that rounds to any narrower float as the integer does: likewise odd. */
JOIST_DEVICE static inline double narrow_ui64_to_odd_f64(uint64_t value) {
  const uint64_t dropped = 0x7ff;
  const uint64_t odd = (value | ((value & dropped) + dropped)) & ~dropped;
  return (double)(value >> 53 == 0 ? value : odd);
}

JOIST_DEVICE static inline double narrow_i64_to_odd_f64(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  const double odd = narrow_ui64_to_odd_f64(magnitude);
  return value < 0 ? -odd : odd;
}

/* An integer that is not exact in f32 goes by way of f64, unless it overflows the dtype anyway. */
#define OF_INTEGER(ID, T, FACTS, NAME, INTEGER, AS_F64)                             \
  JOIST_DEVICE static inline T narrow_##NAME##_to_##ID(INTEGER value) {             \
    if ((JOIST_LARGEST_IN FACTS) < 0x1p24) return narrow_f32_to_##ID((float)value); \
    return narrow_f64_to_##ID(AS_F64(value));                                       \
  }
#define X(ID, KIND, T, FACTS, A, B)                               \
  JOIST_DEVICE static inline T narrow_f64_to_##ID(double value) { \
    return narrow_f32_to_##ID(narrow_f64_to_odd_f32(value));      \
  }                                                               \
  OF_INTEGER(ID, T, FACTS, i32, int32_t, (double))                \
  OF_INTEGER(ID, T, FACTS, ui32, uint32_t, (double))              \
  OF_INTEGER(ID, T, FACTS, i64, int64_t, narrow_i64_to_odd_f64)   \
  OF_INTEGER(ID, T, FACTS, ui64, uint64_t, narrow_ui64_to_odd_f64)
JOIST_DTYPES_NARROW(X, , )
JOIST_DTYPES_BYTE_FLOAT(X, , )
#undef X
#undef OF_INTEGER

/* ---- complex numbers of two narrow floats: one word, the real part first in memory ---- */

JOIST_DEVICE static inline uint32_t narrow_halves(uint16_t real, uint16_t imaginary) {
  const uint16_t parts[2] = {real, imaginary};
  uint32_t word;
  memcpy(&word, parts, sizeof word);
  return word;
}

JOIST_DEVICE static inline uint16_t narrow_half(uint32_t word, int part) {
  uint16_t parts[2];
  memcpy(parts, &word, sizeof word);
  return parts[part];
}

/* ---- integers of fewer bits than their byte ---- */

/* The lowest bits of an integer, extended by its sign if it has one. On a GPU in words: CUDA 13.0's
 * compiler drops the extension of a byte that it packs into a word. */
#ifdef __CUDACC__
JOIST_DEVICE static inline int narrow_low_bits(int value, int bits, bool is_signed) {
  const uint32_t high = (uint32_t)value << (32 - bits);
  return is_signed ? (int32_t)high >> (32 - bits) : (int32_t)(high >> (32 - bits));
}
#else
JOIST_DEVICE static inline uint8_t narrow_low_bits(int value, int bits, bool is_signed) {
  const unsigned sign = is_signed ? 1u << (bits - 1) : 0;
  return (uint8_t)((((uint8_t)value & ((1u << bits) - 1)) ^ sign) - sign);
}
#endif

#define X(ID, KIND, T, FACTS, A, B)                                     \
  JOIST_DEVICE static inline T narrow_wrapped_##ID(T value) {           \
    return (T)narrow_low_bits(value, (JOIST_BITS_IN FACTS), (T)-1 < 0); \
  }
JOIST_DTYPES_BYTE_INT(X, , )
JOIST_DTYPES_BYTE_UINT(X, , )
#undef X

#endif
