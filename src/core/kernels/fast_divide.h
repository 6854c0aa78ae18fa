/* Division of narrow integers that compilers turn into vector code, which processors have for
 * floats only. The quotient of two integers of n bits is at least 2^-n of itself away from the
 * next whole number, unless it is one: a float of more bits rounds it to neither the one below
 * nor the one above, so that truncating it is exact. Divisors are not 0; as in element.h, the
 * quotient of the smallest integer and -1 wraps. */
#ifndef JOIST_CORE_KERNELS_FAST_DIVIDE_H
#define JOIST_CORE_KERNELS_FAST_DIVIDE_H

#include <stdint.h>

#include "core/base/target.h"

/* Truncated quotients. */
JOIST_INLINE int32_t quotient_i16(int32_t a, int32_t b) { return (int32_t)((float)a / (float)b); }
JOIST_INLINE int32_t quotient_i32(int32_t a, int32_t b) {
  const double q = (double)a / (double)b;
  return (int32_t)(q > INT32_MAX ? (double)INT32_MIN : q);
}
/* Conversion is fast for signed integers: an offset brings the quotient there. It may then be
 * truncated upwards, which the sign of the rest tells. */
JOIST_INLINE uint32_t quotient_ui32(uint32_t a, uint32_t b) {
  const int32_t shifted = (int32_t)((double)a / (double)b - 0x1p31);
  const double rest = (double)a - ((double)shifted + 0x1p31) * (double)b;
  return ((uint32_t)shifted ^ UINT32_C(0x80000000)) - (rest < 0);
}

/* From a truncated quotient; for 8 and 16 bits in 32. */
#define DIVIDE_SIGNED(SUFFIX, QUOTIENT)                                   \
  JOIST_INLINE int32_t rest_##SUFFIX(int32_t a, int32_t b, int32_t q) {   \
    return (int32_t)((uint32_t)a - (uint32_t)q * (uint32_t)b);            \
  }                                                                       \
  JOIST_INLINE int32_t floor_div_##SUFFIX(int32_t a, int32_t b) {         \
    const int32_t q = QUOTIENT(a, b), r = rest_##SUFFIX(a, b, q);         \
    return (int32_t)((uint32_t)q - (uint32_t)((r != 0) & ((r ^ b) < 0))); \
  }                                                                       \
  JOIST_INLINE int32_t mod_##SUFFIX(int32_t a, int32_t b) {               \
    const int32_t r = rest_##SUFFIX(a, b, QUOTIENT(a, b));                \
    return ((r != 0) & ((r ^ b) < 0)) ? r + b : r;                        \
  }                                                                       \
  JOIST_INLINE int32_t remainder_##SUFFIX(int32_t a, int32_t b) {         \
    return rest_##SUFFIX(a, b, QUOTIENT(a, b));                           \
  }
DIVIDE_SIGNED(i16, quotient_i16)
DIVIDE_SIGNED(i32, quotient_i32)

JOIST_INLINE uint32_t quotient_ui16(uint32_t a, uint32_t b) {
  return (uint32_t)quotient_i16((int32_t)a, (int32_t)b);
}
JOIST_INLINE uint32_t remainder_ui16(uint32_t a, uint32_t b) { return a - quotient_ui16(a, b) * b; }
JOIST_INLINE uint32_t remainder_ui32(uint32_t a, uint32_t b) { return a - quotient_ui32(a, b) * b; }

#undef DIVIDE_SIGNED

#endif
