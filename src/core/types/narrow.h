/* The floats that are stored in few bits, to and from f32 and f64, one value at a time, for any
 * loop to inline.
 *
 * No branches, no tables, no lane crosses another: compilers vectorise loops around
 * these. Bits equal those of F16C hardware, NaN included: it comes out quiet, with the
 * top bits of its payload. No subnormal f32 is ever an operand, so flush-to-zero modes
 * change nothing. Rounding is to nearest, ties to even. Knows nothing else. */
#ifndef JOIST_CORE_TYPES_NARROW_H
#define JOIST_CORE_TYPES_NARROW_H

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
  /* The unit in the last place of 0.5f is 2^-24, that of a subnormal f16: the
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
#undef X
#undef OF_INTEGER

#endif
